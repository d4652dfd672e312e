"""report.html in a real browser without a network: what it says is what the store and the learners say."""

import csv
import io
import json
import re

import numpy as np
import pytest
from browser import plot, table

import aapi
from aapi import theory
from aapi.environments import deep_sea, ergodic
from aapi.experiments import Store, summarise
from aapi.experiments.trace import median_run, read_trace
from aapi.mdp import solve
from studies import STUDY


@pytest.fixture
def stored(results):
    with Store(results, write=False) as store:
        yield store


def drawn(page, problem="deep-sea 4"):
    """A panel of learning curves: its lines by name, its bands, and all of it."""
    found = plot(page, f"#panels .panel:has(h3:text-is('{problem}')) .plot")
    lines = {trace["name"]: trace for trace in found.traces if trace.get("fill") is None}
    return lines, [trace for trace in found.traces if trace.get("fill")], found


def press(page, group, text):
    page.locator(f"{group} button", has_text=text).first.click()


def test_one_file_that_asks_nobody_for_anything(page, results):
    assert (results / "report.html").stat().st_size <= 3_000_000
    assert page.seen.requests == [(results / "report.html").as_uri()]
    assert page.locator("#sentences p").count() == 3
    for section in ("#short", "#table", "#curves", "#sensitivity", "#inside", "#making"):
        assert page.locator(section).is_visible()
    assert not page.locator("#loading").is_visible()
    text = page.locator("#sentences").inner_text()
    assert "aapi-paper, politex and rlsvi ran on deep-sea 4; ergodic 5 and cartpole, fourier:1, 3 times each" in text
    assert "the best eta for each was chosen on 2 other runs" in text


def test_numbers_of_the_table_are_the_stores(page, stored):
    press(page, "#studies", "all studies")
    shown, summary = table(page), summarise(stored, stored.plans())
    assert len(shown) == len(summary.rows) == 15
    lines = {(line["study"], line["problem"], line["algorithm"]): line for line in shown}
    for row in summary.rows:
        line = lines[row.plan.study, row.plan.title, row.plan.algorithm]
        runs = stored.runs(row.plan.candidates[row.chosen], row.plan.seed, row.plan.runs)
        rewards = [stored.curve(run.key)[1][-1] / stored.curve(run.key)[0][-1] for run in runs]
        assert float(line["mean"]) == pytest.approx(np.mean(rewards), rel=1e-12)
        assert float(line["worst"]) == min(rewards)
        assert float(line["regret"]) == pytest.approx(row.plan.steps * (row.plan.optimal_gain - np.mean(rewards)))
        assert line["interval"] == repr(row.rewards.mean.lower) or float(line["interval"]) == row.rewards.mean.lower
    assert {float(line["difference"]) for line in table(page, "#comparisons")} == {
        c.difference.estimate for c in summary.comparisons
    }


def test_sorting_by_mouse_and_by_keyboard(page):
    def column(name):
        return [float(line[name]) for line in table(page) if line[name]]

    press(page, "#studies", "small")
    page.locator("#results th[data-column=runs] button").click()
    head = page.locator("#results th[data-column=mean]")
    head.locator("button").click()
    assert column("mean") == sorted(column("mean"), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert column("mean") == sorted(column("mean"))
    assert head.get_attribute("aria-sort") == "ascending"
    page.locator("#results th[data-column=algorithm] button").click()
    names = [line["algorithm"] for line in table(page)]
    assert names == sorted(names)


def test_tables_are_copied_in_three_forms_as_they_are_sorted(page, stored):
    press(page, "#studies", "all studies")
    page.locator("#results th[data-column=regret] button").click()
    page.locator("#results [data-copy=CSV]").click()
    found = list(csv.DictReader(io.StringIO(page.copied())))
    shown = table(page)
    assert [row["regret"] for row in found] == [row["regret"] for row in shown]
    summary = summarise(stored, stored.plans())
    assert {float(row["mean"]) for row in found} == {row.rewards.mean.estimate for row in summary.rows}  # every digit
    assert {"problem", "reward_scale", "steps", "std", "lower", "upper"} <= found[0].keys()
    page.locator("#results [data-copy=Markdown]").click()
    head, rule, first, *_ = page.copied().splitlines()
    assert head.startswith("| study | problem | algorithm |")
    assert rule.count("---") == head.count("|") - 1
    assert shown[0]["algorithm"] in first
    page.locator("#results [data-copy=LaTeX]").click()
    lines = page.copied().splitlines()
    assert (lines[0][:15], lines[1], lines[-1]) == (r"\begin{tabular}", r"\toprule", r"\end{tabular}")
    assert r"of $\lambda$*" in lines[2]
    assert all(line.count("&") == lines[2].count("&") for line in lines[4:-2])
    assert "LaTeX is in the clipboard" in page.locator("#results .copy").inner_text()


def test_curves_of_three_metrics(page, stored):
    press(page, "#studies", "small")
    summary = summarise(stored, stored.plans())
    (row,) = (
        r
        for r in summary.rows
        if (r.plan.study, *r.plan.place[1:2], r.plan.algorithm) == ("small", "deep-sea 4", "aapi-paper")
    )
    curves = [stored.curve(run.key) for run in row.runs]
    averages = np.array([sums / grid for grid, sums in curves])
    grid, best = curves[0][0], row.plan.optimal_gain

    def compare(found, expected):
        places = np.searchsorted(grid, found["x"])
        assert np.allclose(found["y"], expected[places], rtol=2e-5, atol=1e-6)
        assert found["x"][-1] == 4000

    for group, text in (("#metric", "Σ r"), ("#band", "std"), ("#scale", "linear")):
        press(page, group, text)
    lines, bands, found = drawn(page)
    assert lines.keys() == {"aapi-paper", "politex", "rlsvi", "optimum"}
    assert (len(bands), found.axis) == (3, "−(1/t) Σ r")
    compare(lines["aapi-paper"], -averages.mean(axis=0))
    assert set(lines["optimum"]["y"]) == {-best}
    press(page, "#metric", "regret")
    lines, _, found = drawn(page)
    assert found.axis == "regret"
    compare(lines["aapi-paper"], (grid * (best - averages)).mean(axis=0))
    assert set(lines["optimum"]["y"]) == {0}
    press(page, "#metric", "fraction")
    compare(drawn(page)[0]["aapi-paper"], averages.mean(axis=0) / best)
    press(page, "#band", "quantiles")
    lines, bands, _ = drawn(page)
    compare(lines["aapi-paper"], np.median(averages, axis=0) / best)
    assert len(bands) == 6
    press(page, "#band", "lines only")
    press(page, "#scale", "log steps")
    lines, bands, found = drawn(page)
    assert (len(bands), found.kind) == (0, "log")


def test_algorithms_are_switched_in_all_panels_together(page):
    press(page, "#studies", "small")
    chip = page.locator("#legend [data-algorithm=politex]")
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    for problem in ("deep-sea 4", "ergodic 5", "cartpole, fourier:1"):
        assert drawn(page, problem)[0].keys() == {"aapi-paper", "rlsvi", "optimum"}
    page.keyboard.press("Enter")  # the chip has kept the focus
    assert drawn(page)[0].keys() == {"aapi-paper", "politex", "rlsvi", "optimum"}
    page.locator("#panels .plot").first.hover()
    buttons = page.locator("#panels .plot").first.locator(".modebar-btn")
    assert [each.get_attribute("data-title") for each in buttons.all()] == [
        "Download plot",
        "Zoom",
        "Pan",
        "Reset axes",
    ]
    colours = {drawn(page, problem)[0]["aapi-paper"]["line"]["color"] for problem in ("deep-sea 4", "ergodic 5")}
    assert colours == {"#56b4e9"}


def test_sensitivity_shows_tuning_runs_and_what_was_chosen(page, stored):
    summary = summarise(stored, stored.plans())
    found = plot(page, "#tuned .plot")
    (trace,) = (each for each in found.traces if each["name"] == "politex")
    expected = [
        e
        for e in summary.sensitivity
        if (e["problem"], e["algorithm"], e["reward_scale"]) == ("deep-sea 4", "politex", 1)
    ]
    assert (trace["x"], trace["y"]) == ([0.1, 1.0, 10.0], [e["score"] for e in expected])
    chosen = next(
        r.choice["eta"] for r in summary.rows if r.plan.algorithm == "politex" and r.plan.problem == "deep-sea 4"
    )
    assert trace["marker"]["size"] == [13 if x == chosen else 5 for x in trace["x"]]
    scales = plot(page, "#scales .plot")
    assert [each["name"] for each in scales.traces] == ["rewards × 0.01", "rewards × 1", "rewards × 100"]
    assert scales.traces[0]["y"] == pytest.approx(scales.traces[2]["y"])  # AAPI does not see the scale


def record(stored, problem, algorithm, env):
    """The phases of the median run, from the library, for comparison."""
    row = next(
        r for r in summarise(stored, stored.plans()).rows if (r.plan.problem, r.plan.algorithm) == (problem, algorithm)
    )
    cell = next(c for c in STUDY.cells() if (c.problem.label, c.algorithm) == (problem, algorithm))
    order = np.argsort(row.averages, kind="stable")
    number = row.runs[int(order[1])].number
    configuration = cell.candidates[row.chosen]
    return number, aapi.run(configuration.algorithm, env, 4000, 1, first_run=number, record=True).record


@pytest.mark.slow
def test_inside_deep_sea_is_what_the_learner_knew(page, stored):
    number, kept = record(stored, "deep-sea 4", "aapi-paper", deep_sea(4))
    page.select_option("#inside-problem", "deep-sea 4")
    page.select_option("#inside-left", "aapi-paper")
    slider = page.locator("#phase")
    slider.focus()
    page.keyboard.press("Home")
    shown = {}
    for _ in range(40):
        phase = int(page.locator("#phase-number").inner_text().split()[0])
        shown[phase] = {}
        for quantity in ("policy right", "temperature", "surprise", "q_hat left", "advantage"):
            page.locator(f"#quantity button[data-value='{quantity}']").click()
            shown[phase][quantity] = np.array(plot(page, "#left-map").traces[0]["z"]).ravel()
        slider.focus()
        page.keyboard.press("ArrowRight")
        if int(page.locator("#phase-number").inner_text().split()[0]) == phase or len(shown) == 5:
            break
    assert len(shown) == 5
    assert plot(page, "#left-map").title.startswith(f"aapi-paper, run {number}, phase ")
    scale = dict.fromkeys(("q_hat left", "advantage"), np.ptp(kept.q_hats)) | {
        "policy right": 1.0, "temperature": np.ptp(kept.temperatures), "surprise": np.ptp(kept.surprises),
    }  # fmt: skip
    for phase, found in shown.items():
        expected = {
            "policy right": kept.policies[0, phase - 1, :, 1],
            "temperature": kept.temperatures[0, phase - 1],
            "surprise": kept.surprises[0, phase - 1],
            "q_hat left": kept.q_hats[0, phase - 1, :, 0],
            "advantage": kept.q_hats[0, phase - 1, :, 1] - kept.q_hats[0, phase - 1, :, 0],
        }
        for quantity, values in expected.items():
            assert np.allclose(found[quantity], values, rtol=1e-6, atol=3e-4 * scale[quantity]), (phase, quantity)
    page.locator("#quantity button[data-value=temperature]").click()
    followed = plot(page, "#trace").traces[0]["y"]
    assert followed == sorted(followed)  # the sum of squared surprises never falls


def test_theory_is_what_the_library_says(page, stored):
    cell = next(c for c in STUDY.cells() if (c.problem.label, c.algorithm) == ("ergodic 5", "aapi-paper"))
    row = next(
        r
        for r in summarise(stored, stored.plans()).rows
        if (r.plan.problem, r.plan.algorithm) == ("ergodic 5", "aapi-paper")
    )
    candidate = cell.candidates[row.chosen]
    parts = theory.analyse(
        aapi.run(candidate.algorithm, ergodic(5), 4000, 3, cell.plan.seed, record=True)
    ).decomposition
    page.select_option("#theory-problem", "ergodic 5")
    page.locator("#theory-view button[data-value=pseudo]").click()
    titles = page.locator("#theory-panels h3").all_inner_texts()
    assert titles == ["aapi-paper, 3 runs", "politex, 3 runs", "rlsvi, 3 runs"]
    drawn = {each["name"]: each["y"] for each in plot(page, "#theory-panels .plot").traces if each["name"]}
    for label, part in (
        ("pseudo-regret", "pseudo_regret"), ("estimation R1", "estimation"), ("online learning R2", "online_learning"),
    ):  # fmt: skip
        assert drawn[label][-1] == pytest.approx(parts.total(part).mean(), rel=1e-3)
    lemmas = page.locator("#theory-pairs tbody tr").all_inner_texts()
    assert "estimation R1" in lemmas[2]
    assert lemmas[3].count("≤") == 3  # the statement, and two algorithms
    assert "no bound" in lemmas[3]  # of RLSVI
    assert "No bound on online learning R2 for rlsvi: the algorithm does not follow the regularised leader" in (
        page.locator("#theory-notes").inner_text()
    )
    page.locator("#theory-view button[data-value=online]").click()
    assert page.locator("#theory-panels h3").all_inner_texts() == ["aapi-paper, 3 runs", "politex, 3 runs"]
    bars = plot(page, "#theory-panels .plot").traces
    assert [each["name"] for each in bars] == ["stability", "regularisation", "− movement", "bound", "regret"]
    assert sum(bars[4]["y"]) == pytest.approx(parts.total("online_learning").mean(), rel=1e-3)
    page.select_option("#theory-problem", "deep-sea 4")
    assert "periodic" in page.locator("#theory-notes").inner_text()


def click(page, selector, across, down):
    """On a plot, at a place given by shares of its width and height."""
    box = page.locator(f"{selector} .nsewdrag").bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])


def test_inside_two_algorithms_side_by_side(page):
    page.select_option("#inside-problem", "deep-sea 4")
    page.select_option("#inside-left", "aapi-paper")
    page.select_option("#inside-right", "rlsvi")
    page.locator("#quantity button[data-value=temperature]").click()
    assert len(plot(page, "#left-map").traces) == 3
    assert plot(page, "#right-map").texts == ["rlsvi has no temperature"]
    page.select_option("#inside-right", "politex")
    assert len(np.unique(plot(page, "#right-map").traces[0]["z"])) == 1  # one temperature for all states
    click(page, "#left-map", 0.4, 0.9)
    assert "in row 3, column 1" in plot(page, "#trace").title
    assert {each["name"] for each in plot(page, "#trace").traces} == {"aapi-paper", "politex"}
    page.locator("#left-map").focus()
    for _ in range(4):
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert "in row 1, column 0" in plot(page, "#trace").title


def test_inside_ergodic_against_the_optimal_threshold(page, stored):
    _, kept = record(stored, "ergodic 5", "politex", ergodic(5))
    page.select_option("#inside-problem", "ergodic 5")
    page.select_option("#inside-left", "politex")
    page.locator("#quantity button[data-value=policy]").click()
    page.locator("#phase").focus()
    page.keyboard.press("End")
    heat, rings, _ = plot(page, "#left-map").traces
    assert np.allclose(np.array(heat["z"]).T, kept.policies[0, -1], atol=1 / 250)
    assert rings["y"] == [f"action {action}" for action in solve(ergodic(5)).policy]
    click(page, "#left-map", 0.5, 0.25)  # state 2, the action above
    assert plot(page, "#trace").title == "policy in state 2, action 1, over the run"
    assert np.allclose(plot(page, "#trace").traces[0]["y"][-1], kept.policies[0, -1, 2, 1], atol=3e-4)
    page.locator("#quantity button[data-value=visits]").click()
    assert "Rings" not in page.locator("#quantity-caption").inner_text()
    visits = plot(page, "#left-map").traces[0]["y"]
    assert (sum(visits), visits) == (1000, [round(count) for count in visits])
    click(page, "#left-map", 0.9, 0.99)
    assert plot(page, "#trace").title == "visits in state 4, over the run"


def test_inside_cartpole_is_a_slice(page, stored):
    page.select_option("#inside-problem", "cartpole, fourier:1")
    page.locator("#quantity button[data-value='policy right']").click()
    heat = plot(page, "#left-map").traces[0]
    row = next(r for r in summarise(stored, stored.plans()).rows if r.plan.problem.startswith("cartpole"))
    inside = read_trace(stored.trace(median_run(row.runs).key))
    frame = list(inside.phases).index(int(page.locator("#phase-number").inner_text().split()[0]))
    by_angle = inside.tables["policy"][frame, :, 1].reshape(33, 33)  # and velocity, which is the vertical axis
    assert np.allclose(np.transpose(heat["z"]), by_angle, atol=3e-4)
    assert not np.allclose(heat["z"], by_angle, atol=1e-2)
    click(page, "#left-map", 0.9, 0.05)
    assert re.search(r"in angle 0\.2\d, velocity 3\.\d\d", plot(page, "#trace").title)
    assert abs(heat["x"][0]) < np.radians(15) < abs(heat["x"][0]) * 1.05
    page.locator("#play").click()
    before = page.locator("#phase-number").inner_text()
    page.wait_for_function(f"() => document.getElementById('phase-number').textContent !== {json.dumps(before)}")
    page.locator("#play").click()
    assert page.locator("#play").get_attribute("aria-label") == "Play"


def test_how_it_was_made(page, stored):
    assert page.locator("#failures").inner_text() == "No run of those in the table failed."
    text = page.locator("#sessions").inner_text()
    (session,) = stored.sessions()
    for fact in (session["machine"]["system"], session["machine"]["sources"], "0 (tuning 777)", "2 to 3", "small"):
        assert fact in text
    page.locator("#making summary").click()
    assert "phase length 250" in page.locator("#settings").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_sticks_out(visit, results, theme):
    page = visit(results / "report.html", color_scheme=theme, screen={"width": 400, "height": 800})
    page.set_viewport_size({"width": 400, "height": 800})
    for section in ("#table", "#curves", "#sensitivity", "#inside", "#making"):
        page.locator(section).scroll_into_view_if_needed()
        assert page.evaluate("document.documentElement.scrollWidth") == 400
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (ink == "rgb(28, 30, 33)") == (theme == "light")
    line = drawn_colour(page)
    assert line == {"light": "#56b4e9", "dark": "#8fd0f5"}[theme]
    page.locator("#theme").click()  # light, whatever the system says
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 30, 33)"
    page.wait_for_function(
        "() => document.querySelector('#panels .plot').data.some((each) => each.line.color === '#56b4e9')"
    )


def drawn_colour(page):
    return next(each for each in plot(page, "#panels .plot").traces if each["name"] == "aapi-paper")["line"]["color"]


def test_it_can_be_printed(visit, results):
    page = visit(results / "report.html", color_scheme="dark")
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") + printed.count(b"/Type /Page/") >= 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for found in (plot(page, "#panels .plot"), plot(page, "#tuned .plot")):
        assert "#56b4e9" in {(trace.get("line") or {}).get("color") for trace in found.traces}  # on white paper
    assert page.locator("#panels .main-svg").first.get_attribute("viewBox")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
