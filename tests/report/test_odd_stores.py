"""Pages about stores that are not as one would like them: names full of markup, failures, one run, many curves."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from browser import plot

from aapi.errors import AapiError, InvalidInput
from aapi.experiments import Store, Study, run_studies, summarise
from aapi.learners import Uniform
from aapi.mdp import FiniteMDP
from aapi.report.build_page_data import build_page_data
from aapi.report.folder import write_pages
from aapi.report.page import LARGEST
from aapi.report.sentences import sentences

SMALL = Study(
    name="small", problems=[{"name": "ergodic", "states": 3}], algorithms=[{"name": "uniform"}], steps=300, runs=1
)
NASTY = [
    "<img src=x onerror=\"window.hacked = 1\">",
    "</script><script>window.hacked = 1</script>",
    '"; window.hacked = 1; //',
    "<b>bold</b> & $x^2$ \\",
    "__proto__",
]  # fmt: skip


def made(folder, study, **changes):
    summary = run_studies(Study(**vars(study) | changes), folder)
    return write_pages(folder)[0], summary


@pytest.mark.slow
def test_names_are_names_and_nothing_else(visit, tmp_path):
    algorithms = [{"name": "uniform", "label": label} for label in NASTY]
    path, _ = made(tmp_path, SMALL, name=NASTY[0], algorithms=algorithms, runs=2,
                   problems=[{"name": "ergodic", "states": 3, "label": NASTY[1]}])  # fmt: skip
    page = visit(path)
    plot(page, "#panels .plot")
    shown = page.locator("#results tbody td[data-column=algorithm]").all_inner_texts()
    assert shown == NASTY
    assert page.locator("#panels h3").first.inner_text() == f"ergodic 3, {NASTY[1]}"
    plot(page, "#left-map")
    assert page.locator("#inside-left option").all_inner_texts() == NASTY
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("main b, main script").count() == 0
    assert page.locator("#left-map text", has_text=NASTY[0]).count() == 1  # Plotly shows it as it is, too
    for name, form in (("CSV", '"<img src=x onerror=""window'), ("LaTeX", r"\& \$x\textasciicircum{}2\$ \textback")):
        page.locator(f"#results [data-copy={name}]").click()
        assert form in page.copied()


def test_one_run(visit, tmp_path):
    page = visit(made(tmp_path, SMALL)[0])
    assert page.locator("#results tbody tr").count() == 1
    assert [trace["name"] for trace in plot(page, "#panels .plot").traces] == ["uniform", "optimum"]  # and no band
    assert not page.locator("#comparing").is_visible()
    assert not page.locator("#sensitivity").is_visible()
    assert "uniform ran on ergodic 3, once, for 300 steps" in page.locator("#sentences").inner_text()


@dataclass(frozen=True)
class Fragile(Uniform):
    """Fails in some runs, with a message that would like to be markup."""

    phase_length: int = 100

    def update(self, state, data):
        if data.streams[0, 0] % 2 and state.k == 0:
            raise AapiError("<i>it broke</i>")
        return super().update(state, data)


def test_failed_runs_are_told_and_the_others_shown(visit, tmp_path):
    algorithms = [{"name": "fragile", "make": Fragile}, {"name": "uniform"}]
    path, summary = made(tmp_path, SMALL, algorithms=algorithms, runs=12)
    failed = summary.rows[0].failed
    assert 0 < len(failed) < 12
    page = visit(path)
    assert f"failed: {len(failed)} of 12 runs of fragile on ergodic 3" in page.locator("#notices").inner_text()
    assert "<i>it broke</i>" in page.locator("#notices").inner_text()
    assert page.locator("#results td[data-column=runs]").first.inner_text() == f"{12 - len(failed)} of 12"
    assert f"{len(failed)} runs of those in the table failed." == page.locator("#failures").inner_text()
    assert f"so far {24 - len(failed)} of 24 runs without failure" in page.locator("#sentences").inner_text()


class Hopeless(Fragile):
    """Never comes to an end."""

    def update(self, state, data):
        raise AapiError("never")


def test_where_all_runs_failed_the_page_says_so(visit, tmp_path):
    page = visit(made(tmp_path, SMALL, algorithms=[{"name": "hopeless", "make": Hopeless}], runs=2)[0])
    assert page.locator("#results td[data-column=mean]").inner_text() == "no run"
    assert "All runs failed." in page.locator("#sentences").inner_text()
    assert not page.locator("#curves").is_visible()
    assert not page.locator("#inside").is_visible()


@pytest.mark.slow
def test_two_hundred_curves(visit, tmp_path):
    algorithms = [{"name": "greedy", "ridge": np.geomspace(0.01, 10, 200).tolist(), "phase_length": 100}]
    path, _ = made(tmp_path, SMALL, algorithms=algorithms, problems=[{"name": "ergodic", "states": 3}], runs=2)
    assert path.stat().st_size <= LARGEST
    page = visit(path)
    found = plot(page, "#panels .plot")
    assert (len(found.traces), found.hover) == (201, "closest")
    assert page.locator("#results tbody tr").count() == 200
    page.locator("#legend [data-all=no]").click()
    page.locator("#legend [data-algorithm]").nth(7).click()
    found = plot(page, "#panels .plot")
    assert (sum(bool(trace.get("name")) for trace in found.traces), found.hover) == (2, "x unified")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_a_page_that_would_be_too_large_gives_up_detail(results, monkeypatch):
    from aapi.report import page

    with Store(results, write=False) as store:
        summary = summarise(store, store.plans())
        whole = page.page(store, summary)
        monkeypatch.setattr(page, "LARGEST", len(whole) - 1)
        smaller = page.page(store, summary)
    assert len(smaller) < len(whole) <= LARGEST


def test_a_page_of_the_same_store_is_the_same_page(results):
    with Store(results, write=False) as store:
        from aapi.report.page import page

        summary = summarise(store, store.plans())
        assert page(store, summary) == page(store, summary)


def test_rewards_beyond_squaring(visit, tmp_path):
    model = FiniteMDP(np.full((2, 2, 2), 0.5), [[0.0, 1e200], [2e200, 0.0]])
    path, summary = made(tmp_path, SMALL, problems=[{"name": "huge", "model": model}], runs=3)
    page, (row,) = visit(path), summary.rows
    assert row.rewards.std == pytest.approx(1e200 * (row.averages / 1e200).std(ddof=1))
    assert float(page.locator("#results td[data-column=mean]").get_attribute("data-value")) == row.rewards.mean.estimate
    assert plot(page, "#panels .plot").traces


def test_a_folder_without_results_and_one_without_plans(tmp_path):
    with pytest.raises(InvalidInput, match="there are no results in"):
        write_pages(tmp_path)
    Store(tmp_path).close()
    with pytest.raises(InvalidInput, match="nothing was planned in"):
        write_pages(tmp_path)


def test_plans_of_another_version_name_the_command_that_helps(tmp_path):
    run_studies(SMALL, tmp_path)
    with Store(tmp_path) as store:
        old = json.dumps([{"study": "small", "runs": 1}])
        store.connection.execute("UPDATE sessions SET plan = ?, command = 'aapi sweep old.toml'", (old,))
    with pytest.raises(AapiError, match=r"give the command again that made it.*: aapi sweep old\.toml"):
        write_pages(tmp_path)
    run_studies(SMALL, tmp_path)
    assert write_pages(tmp_path)[0].exists()


def test_a_folder_has_the_latest_plan_of_each_study(tmp_path):
    run_studies(SMALL, tmp_path)
    run_studies(Study(**vars(SMALL) | {"name": "other", "runs": 2}), tmp_path)
    run_studies(Study(**vars(SMALL) | {"runs": 3}), tmp_path)
    with Store(tmp_path, write=False) as store:
        assert [(plan.study, plan.runs) for plan in store.plans()] == [("other", 2), ("small", 3)]


def test_sentences_say_what_the_intervals_say(tmp_path):
    politex = {"name": "politex", "eta": 0.01}
    algorithms = [politex, {"name": "uniform"}, {**politex, "label": "twin"}]
    _, summary = made(tmp_path, SMALL, steps=20_000, runs=10, algorithms=algorithms, problems=[{"name": "ergodic"}])
    what, who, near = sentences(summary)
    assert what == "politex, uniform and twin ran on ergodic, 10 times each, for 20,000 steps."
    assert "politex earned more than uniform on ergodic" in who
    assert "politex and twin cannot be told apart on ergodic" in who
    assert near.startswith("With 0 for acting at random and 1 for the optimum, on ergodic: ")
    assert f"politex {summary.rows[0].score:.3f}" in near
    assert near.endswith("(± standard error, 10 runs each).")


def test_one_line_for_an_algorithm_from_left_to_right(visit, tmp_path):
    """However a grid is written, and however many studies tuned the same."""
    tuned = {"name": "politex", "eta": [10.0, 0.1, 1.0], "tune": ["eta"]}
    made(tmp_path, SMALL, algorithms=[tuned], tuning_runs=1)
    path, _ = made(tmp_path, SMALL, name="longer", algorithms=[tuned], steps=600, tuning_runs=2)
    page = visit(path)
    (trace,) = plot(page, "#tuned .plot").traces
    with Store(tmp_path, write=False) as store:
        entries = summarise(store, store.plans()).sensitivity
    assert [entry["study"] for entry in entries] == ["longer"] * 3  # which has more tuning runs
    assert trace["x"] == [0.1, 1.0, 10.0]
    assert trace["y"] == [entry["score"] for entry in sorted(entries, key=lambda entry: entry["candidate"]["eta"])]
    assert trace["marker"]["size"].count(13) == 1


def test_models_of_one_name_are_not_taken_for_one(visit, tmp_path):
    rng = np.random.default_rng(0)
    for name, states in (("small", 3), ("large", 6)):
        model = FiniteMDP(rng.dirichlet(np.ones(states), (states, 2)), rng.random((states, 2)))
        path, _ = made(tmp_path, SMALL, name=name, problems=[{"name": "queue", "model": model}])
    page = visit(path)
    assert page.locator("#inside-problem option").all_inner_texts() == ["queue", "queue (large)"]
    page.select_option("#inside-problem", "queue (large)")
    page.locator("#quantity button[data-value=visits]").click()
    assert len(plot(page, "#left-map").traces[0]["y"]) == 6


def test_sections_that_are_not_there_have_no_link(visit, tmp_path):
    page = visit(made(tmp_path, SMALL)[0])
    assert page.locator("nav a:visible").all_inner_texts() == [
        "Table", "Learning curves", "Theory", "Inside the learner", "How it was made",
    ]  # fmt: skip


def test_few_runs_are_no_ground_for_a_verdict(visit, tmp_path):
    algorithms = [{"name": "politex", "eta": 0.01}, {"name": "uniform"}]
    path, summary = made(tmp_path, SMALL, steps=20_000, runs=9, algorithms=algorithms)
    assert summary.comparisons[0].difference.lower > 0.0
    assert "differences take at least 10 runs of each to speak of" in sentences(summary)[1]
    page = visit(path)
    assert page.locator("#comparisons td[data-column=verdict]").inner_text() == "too few runs"


def test_sentences_of_a_store_that_is_being_filled(tmp_path):
    study = replace(SMALL, algorithms=[{"name": "politex", "eta": [0.1, 1.0], "tune": ["eta"]}], runs=3)
    plans = [cell.plan for cell in study.cells()]
    with Store(tmp_path) as store:
        store.begin(plans)
        summary = summarise(store, plans)
        text = "politex ran on ergodic 3, so far 0 of 3 runs, for 300 steps, and tuning is not complete"
        assert sentences(summary)[0] == f"{text} yet."
        (row,) = build_page_data(store, summary)["rows"]
    assert (row["chosen"], row["runs"], row["missing"]) == ("tuning", 0, 3)


def test_a_mean_score_is_over_the_same_problems_for_all(tmp_path):
    problems = [
        {"name": "ergodic", "states": 3},
        {"name": "ergodic", "states": 4, "settings_for": {"mine": {"bad": 1}}},
    ]
    algorithms = [{"name": "uniform"}, {"name": "mine", "label": "mine", "make": sometimes, "bad": 0}]
    _, summary = made(tmp_path, SMALL, problems=problems, algorithms=algorithms, runs=2)
    assert [row.rewards is None for row in summary.rows] == [False, False, False, True]
    assert "on ergodic 3: " in sentences(summary)[2]


def sometimes(bad):
    return Hopeless() if bad else Fragile2()


class Fragile2(Uniform):
    """Not fragile at all."""
