"""Ablation studies: their maps, tables and figures show what is stored, and other studies have none."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot

from aapi.experiments import Store, Study, run_studies, summarise
from aapi.experiments.reproduce import reproduction
from aapi.experiments.summary import Row
from aapi.report.ablation import ablations, row_styles
from aapi.report.ablation_effects import ablation_effects
from aapi.report.build_page_data import build_page_data
from aapi.report.figures import _figures, write_figures
from aapi.report.folder import write_pages
from aapi.report.markdown import ablation_lines
from aapi.statistics import spread

EVALUATORS = ("monte-carlo", "lstd", "self-consistent")
ADAPTIVE = [("span", "previous"), ("span", "zero"), ("span", "predicted"), ("sup", "previous"), ("sup", "zero")]
COLUMNS = [
    "AAPI, span, η 1, previous", "AAPI, span, η 1, zero", "AAPI, span, η 1, predicted", "AAPI, sup, η 1, previous",
    "AAPI, sup, η 1, zero", "AAPI, span, η 0.1, previous", "constant η 0.5", "constant η 5", "greedy",
]  # fmt: skip
STUDY = Study(
    name="parts",
    problems=[
        {"name": "ergodic", "states": 3, "settings": {"phase_length": 50}},
        {"name": "river-swim", "states": 4, "settings": {"phase_length": 50}},
    ],
    algorithms=[
        entry | {"label": f"{evaluator}: {label}", "evaluation": evaluator}
        for evaluator in EVALUATORS
        for label, entry in [
            ("no rate", {"name": "greedy"}),
            ("hot", {"name": "politex", "eta": 5.0}),
            ("cold", {"name": "politex", "eta": 0.5}),
            ("careful", {"name": "aapi-paper", "norm": "span", "eta": 0.1}),  # its side information is a default
            *(
                (f"{norm} {guess}", {"name": "aapi-paper", "norm": norm, "side_information": guess, "eta": 1})
                for norm, guess in ADAPTIVE
            ),
        ]
        if (evaluator, label) != ("monte-carlo", "span predicted")
    ],
    steps=1000,
    runs=2,
)

OTHER = Study(
    name="other", problems=[{"name": "ergodic", "states": 3}], algorithms=[{"name": "uniform"}], steps=200, runs=2
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of such a study and of another one, with its pages."""
    path = tmp_path_factory.mktemp("ablation")
    run_studies([STUDY, OTHER], path, workers=2)
    write_pages(path)
    return path


@pytest.fixture
def summary(folder):
    with Store(folder, write=False) as store:
        yield summarise(store, store.plans())


def cell(summary, problem, label):
    return next(row for row in summary.rows if (row.plan.problem, row.plan.algorithm) == (problem, label))


def test_cells_are_rows_by_evaluator_and_learning_rate(folder, summary):
    (found,) = ablations(summary.rows)
    assert (found.study, found.evaluators) == ("parts", list(EVALUATORS))
    assert [found.name(column) for column in found.columns] == COLUMNS
    labels = ["span previous", "span zero", "span predicted", "sup previous", "sup zero", "careful", "cold", "hot"]
    for evaluator in EVALUATORS:
        for column, label in zip(found.columns, [*labels, "no rate"], strict=True):
            scores = [found.score(problem, evaluator, column) for problem in found.problems]
            if (evaluator, label) == ("monte-carlo", "span predicted"):
                assert scores == [None, None]
                assert "policies that have not acted" in found.why_empty(found.problems[0], evaluator, column)
                continue
            rows = [cell(summary, problem, f"{evaluator}: {label}") for problem in ("ergodic 3", "river-swim 4")]
            assert scores == [row.score for row in rows]
            assert found.mean(evaluator, column) == pytest.approx(np.mean(scores))
            assert not found.why_empty(found.problems[0], evaluator, column)
    with Store(folder, write=False) as store:
        (shown,) = build_page_data(store, summary)["ablations"]
    (first, *_), *_ = shown["problems"][1]["cells"]
    assert summary.rows[first].plan.algorithm == "monte-carlo: span previous"
    assert isinstance(shown["problems"][0]["cells"][0][2], str)
    assert shown["shown"] == sorted(f"{e}: {label}" for e in EVALUATORS for label in ("span previous", "no rate"))


def test_means_of_each_factor_are_over_cells_that_differ_in_nothing_else(summary):
    (found,) = ablations(summary.rows)
    evaluator, guess, norm, rate, interplay, caution = ablation_effects(found)

    def mean(*labels, evaluators=EVALUATORS):
        problems = ("ergodic 3", "river-swim 4")
        scores = [cell(summary, p, f"{e}: {label}").score for p in problems for e in evaluators for label in labels]
        return f"({np.mean(scores):.3f})".replace("-", "−")

    shared = ("span previous", "span zero", "sup previous", "sup zero", "careful", "cold", "hot", "no rate")
    assert evaluator.startswith("Evaluator: ")
    assert evaluator.endswith(", on average over 16 cells each.")
    assert all(f"{each} {mean(*shared, evaluators=[each])}" in evaluator for each in EVALUATORS)
    assert guess.endswith("over 4 cells each.")  # those with a third guess: two problems, and two evaluators
    assert f"zero {mean('span zero', evaluators=EVALUATORS[1:])}" in guess
    assert f"span {mean('span previous', 'span zero')}" in norm
    assert f"sup {mean('sup previous', 'sup zero')}" in norm
    assert "over 12 cells each; " in norm
    assert f"constant η 5 {mean('hot')}" in rate
    assert f"adaptive, span, η 1, previous {mean('span previous')}" in rate
    best = [
        max(cell(summary, p, f"{e}: {label}").score for label in ("hot", "cold"))
        for p in ("ergodic 3", "river-swim 4")
        for e in EVALUATORS
    ]
    assert f"chosen afterwards for each problem and evaluator, would have had {np.mean(best):.3f}" in interplay
    assert [f"with {each}, " in interplay for each in EVALUATORS] == [True] * 3
    assert "at least 10 runs" in caution
    assert not any("ahead" in line or "significantly" in line for line in ablation_effects(found))


def with_runs(row, averages):
    """A row whose runs earned other rewards."""
    run = row.runs[0]
    runs = [replace(run, number=i, average_reward=float(each)) for i, each in enumerate(averages)]
    return Row(row.plan, 0, spread(averages), runs, {}, 0, 0, 1.0)


def test_verdicts_take_ten_runs(summary):
    noise = np.random.default_rng(0).normal(size=(2, 12))

    def rows(count):
        for row in summary.rows:
            random, best = row.plan.references
            level = 0.6 * ("lstd" in row.plan.algorithm) + 0.001 * noise[int("hot" in row.plan.algorithm), :count]
            yield with_runs(row, random + level * (best - random))

    evaluator, *_, rate, interplay, brackets = ablation_effects(ablations(list(rows(12)))[0])
    assert "lstd is ahead of " in evaluator
    assert "by 0.600 [0.600, 0.600]" in evaluator
    assert "does not differ significantly from" in rate
    assert "ahead" not in interplay  # what was chosen afterwards is no rival
    assert "95 % intervals" in brackets
    few = ablation_effects(ablations(list(rows(9)))[0])
    assert "ahead" not in few[0]
    assert "at least 10 runs" in few[-1]


def test_cells_that_failed_or_are_to_come_say_so(summary):
    def changed(row):
        if row.plan.algorithm == "lstd: hot":
            return replace(row, rewards=None, runs=[], failed={0: "it broke", 1: "it broke"})
        return replace(row, rewards=None, runs=[], missing=2) if row.plan.algorithm == "lstd: cold" else row

    rows = [changed(row) for row in summary.rows]
    (found,) = ablations(rows)
    assert {
        "lstd with constant η 5: 2 of 2 runs failed: it broke",
        "lstd with constant η 0.5: no run yet",
    } <= set(found.empty_cells())
    assert "over 12 cells each" in ablation_effects(found)[0]
    (nothing,) = ablations([replace(row, rewards=None, runs=[]) for row in rows])
    assert ablation_effects(nothing) == []


def test_other_studies_have_none(results, summary):
    with Store(results, write=False) as store:
        others = summarise(store, store.plans())
        assert ablations(others.rows) == []
        assert build_page_data(store, others)["ablations"] == []
    assert not any("Effect of each factor" in (results / name).read_text() for name in ("results.md",))
    one = [row for row in summary.rows if "lstd" in row.plan.algorithm]
    assert ablations(one) == []  # one evaluator
    twice = [*summary.rows, replace(summary.rows[0], plan=replace(summary.rows[0].plan, algorithm="again"))]
    assert ablations(twice) == []  # two rows of one cell
    unknown = [replace(row, plan=replace(row.plan, optimal_gain=None)) for row in summary.rows]
    assert ablations(unknown) == []


def test_the_studies_of_the_command():
    (study,) = reproduction("ablation", runs=1)
    rows = [Row(cell.plan, 0, None, [], {}, 1, 0, 0.0) for cell in study.cells()]
    (found,) = ablations(rows)
    assert len(found.problems) == 4
    assert len(found.columns) == 13
    assert len(found.evaluators) == 4
    assert {column.kind for column in found.columns} == {"adaptive", "constant", "greedy"}
    for other in reproduction("untuned"):
        assert ablations([Row(cell.plan, 0, None, [], {}, 1, 0, 0.0) for cell in other.cells()]) == []


def test_evaluators_have_colours_and_rates_dashes(summary):
    look = row_styles(summary.rows)
    assert len({look[f"{e}: {label}"].colour for e in EVALUATORS for label in ("hot", "no rate", "sup zero")}) == 3
    dashes = [look[f"lstd: {label}"].dash for label in ("span zero", "sup zero", "careful", "cold", "no rate")]
    assert dashes == ["solid", "dash", "dashdot", "dashdot", "dot"]
    assert look["uniform"].colour == "#777777"


def test_the_table_as_text(folder, summary):
    text = (folder / "results.md").read_text()
    (found,) = ablations(summary.rows)
    lines = list(ablation_lines(found))
    assert "\n".join(["## Effect of each factor: parts", "", *lines]) in text
    assert lines[2] == f"| problem | evaluator | {' | '.join(COLUMNS)} |"
    score = cell(summary, "ergodic 3", "lstd: span previous").score
    line = next(each for each in lines if each.startswith("| ergodic 3 | lstd |"))
    assert line.split(" | ")[2] == f"{score:.2f}".replace("-", "−")
    assert next(each for each in lines if each.startswith("| ergodic 3 | monte-carlo |")).split(" | ")[4] == "–"
    assert lines[-1].startswith("- No score of monte-carlo with predicted: that needs values of policies that have not")


def test_the_figure(folder, summary, tmp_path):
    (found,) = ablations(summary.rows)
    with Store(folder, write=False) as store:
        figures = dict(_figures(store, summary, row_styles(summary.rows), log_steps=False))
    figure, axes = pyplot.subplots()
    seen = {}
    figures["parts-scores"]["river-swim 4"](axes, seen)
    texts = [text.get_text() for text in axes.texts]
    expected = [found.score(found.problems[1], e, c) for e in EVALUATORS for c in found.columns]
    assert texts == [
        "–" if each is None else f"{each:.2f}".replace("-0.00", "0.00").replace("-", "−") for each in expected
    ]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(EVALUATORS)
    assert list(seen) == ["0: acting at random", "1: the optimum"]
    figures["parts-curves"]["river-swim 4"](axes, seen)
    assert {"lstd: span previous", "lstd: no rate"} <= seen.keys()
    assert "lstd: hot" not in seen  # there are too many curves for all
    pyplot.close(figure)
    (path, *_) = write_figures(folder, tmp_path, formats=["svg"], widths=["one-column"])
    assert path.name == "parts-scores-one-column.svg"
    text = path.read_text()
    assert all(f">{word}<" in text for word in (*COLUMNS, *EVALUATORS))  # words are not replaced by numbers


def test_the_map_on_the_page(visit, folder, summary):
    page = visit(folder / "report.html")
    page.locator("#ablation").scroll_into_view_if_needed()
    assert page.locator("#ablation h2").inner_text() == "Ablation: the effect of each factor"
    assert page.locator("nav a[href='#ablation']").is_visible()
    (found,) = ablations(summary.rows)
    assert page.locator("#ablation .effects li").all_inner_texts() == ablation_effects(found)
    assert page.locator("#ablation tbody").count() == 3  # two problems, and their mean
    body = page.locator("#ablation tbody").nth(1)
    assert body.locator("th[colspan]").inner_text() == "river-swim 4"
    assert body.locator("th[scope=row]").all_inner_texts() == list(EVALUATORS)
    row = cell(summary, "river-swim 4", "lstd: hot")
    hot = body.locator("td").nth(9 + 7)
    assert hot.inner_text() == f"{row.score:.2f}".replace("-", "−")
    hot.hover()
    lines = page.locator("#tip").inner_text().splitlines()
    assert lines[0] == "river-swim 4: lstd, constant η 5"
    assert lines[1] == f"score {hot.inner_text()}"
    reward, deviation = (float(word) for word in lines[2].removeprefix("reward ").split(" ± "))
    assert reward == pytest.approx(row.rewards.mean.estimate, rel=1e-3)
    assert deviation == pytest.approx(row.rewards.std, rel=0.05)
    assert lines[3] == f"{row.fraction:.1%} of the optimum"
    assert float(lines[4].removeprefix("worst run ")) == pytest.approx(row.rewards.worst, rel=1e-3)
    assert lines[5] == "2 runs"
    page.locator("#ablation h2").hover()
    assert not page.locator("#tip").is_visible()

    page.locator("#ablation td[tabindex='0']").focus()  # the first cell
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    lines = page.locator("#tip").inner_text().splitlines()
    assert lines[0] == "ergodic 3: monte-carlo, AAPI, span, η 1, predicted"
    assert "policies that have not acted" in lines[1]
    assert page.locator("#ablation td[tabindex='0']").count() == 1
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()

    switched = page.locator("#legend [aria-pressed=true]").all_inner_texts()
    assert switched == [f"{e}: {label}" for e in EVALUATORS for label in ("no rate", "span previous")]
    page.locator("#legend [data-all=yes]").click()
    assert page.locator("#legend [aria-pressed=false]").count() == 0


def test_no_map_on_other_pages(page):
    assert not page.locator("#ablation").is_visible()
    assert not page.locator("nav a[href='#ablation']").is_visible()
