import json
import re
import textwrap

import pytest
from commands import run

from aapi.cli.studies import SWEEP_EXAMPLES
from aapi.experiments import FIGURES, Store, Study, read_study, reproduction
from aapi.experiments.reproduce import PRESETS, Preset
from aapi.experiments.rival_studies import RIVALS_TUNED
from aapi.mdp import solve
from aapi.registry.algorithms import ALGORITHMS

STUDY = """
steps = 2000
runs = 3
tuning_runs = 2
[[problems]]
name = "ergodic"
states = [5, 10]
[[algorithms]]
name = "aapi-paper"
eta = [0.1, 1]
tune = ["eta"]
[[algorithms]]
name = "politex"
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return str(path)


def test_the_figures_are_those_of_the_paper():
    studies = {study.name: study for study in reproduction("all", "paper")}
    assert list(studies) == ["ergodic", "deep-sea", "cartpole", "one η for all", "one η, rewards scaled"]
    labels = {cell.problem.label for name in FIGURES for cell in studies[name].cells()}
    assert labels == {
        "ergodic 5,2", "ergodic 10,2", "ergodic 20,5", "ergodic 50,10", "deep-sea 10", "deep-sea 20", "deep-sea 30",
        "deep-sea 40", "cartpole",
    }  # fmt: skip
    shared = {}
    for name in FIGURES:
        for cell in studies[name].cells():
            assert (cell.plan.runs, len(cell.candidates)) == (50, 13)
            assert cell.plan.seed != cell.plan.tuning_seed
            if cell.algorithm != "rlsvi":
                settings = {k: v for k, v in cell.candidates[0].settings.items() if k != "eta"}
                assert shared.setdefault(cell.problem.label, settings) == settings
    assert {cell.problem.reward_scale for cell in studies["one η, rewards scaled"].cells()} == {0.01, 1.0, 100.0}


def test_every_rival_is_there_as_published_and_tuned_over_five_values():
    studies = reproduction("rivals", "paper")
    cells = [cell for study in studies for cell in study.cells()]
    problems = {
        "ergodic 5,2", "ergodic 10,2", "ergodic 20,5", "ergodic 50,10", "garnet 20,4", "river-swim 6", "river-swim 12",
        "access-control", "deep-sea 10, one-hot", "deep-sea 20, one-hot", "deep-sea 30, one-hot",
    }  # fmt: skip
    assert {cell.problem.label for cell in cells} == problems
    by_label = {cell.plan.algorithm: cell for cell in cells}
    rivals = set(RIVALS_TUNED)
    done = [(cell.plan.algorithm, cell.problem.label) for cell in cells]
    assert len(done) == len(set(done))
    for label in ("aapi", "greedy, same parts", *rivals, *(f"{name}, tuned" for name in rivals)):
        missing = problems - {problem for algorithm, problem in done if algorithm == label}
        expected = {"deep-sea 20, one-hot", "deep-sea 30, one-hot"} if label.startswith("imed-rl") else set()
        assert missing == expected, label
    for name in rivals:
        assert len(by_label[name].candidates) == 1
        assert len(by_label[f"{name}, tuned"].candidates) == 5
    others = {"aapi", "aapi-paper", "politex", "ftrl", "greedy", "rlsvi", "uniform", "optimistic-grid"}
    known = set(ALGORITHMS) - others
    assert known == rivals


def test_slow_rivals_have_fewer_runs_and_no_others():
    for runs, expected in ((None, {20, 6, 3}), (10, {10, 6, 3}), (2, {2})):
        assert {study.runs for study in reproduction("rivals", "paper", runs)} == expected
    assert {study.runs for study in reproduction("rivals", "quick")} == {5, 3}


def test_scal_is_told_a_span_that_is_not_too_small():
    for study in reproduction("rivals", "paper"):
        for cell in study.cells():
            if cell.algorithm == "scal":
                span = solve(cell.problem.make_model()).bias_span
                assert span <= cell.candidates[0].settings["span"] <= 1.2 * span + 0.1, cell.problem.label


def test_tuning_runs_are_never_reported_ones():
    for seed in (0, 777, 5):
        for study in reproduction("all", "quick", seed=seed):
            assert study.tuning_seed != study.seed == seed


@pytest.mark.slow
def test_reproduce_ends_with_the_table_and_the_path(capsys, tmp_path, monkeypatch):
    few = Preset(points=7, shorter=50, runs=2, tuning_runs=1, other_runs=1, other_tuning_runs=1)
    monkeypatch.setitem(PRESETS, "quick", few)
    status, out, err = run(capsys, "reproduce", "ergodic", "--out", str(tmp_path))
    assert status == 0
    assert re.search(r"^ergodic 10,2 +politex +eta \S+ +0\.\d+ ± 0\.\d+ +\d+\.\d% +[\d,]+ +\d+\.\d s$", out, re.M)
    assert re.search(r"^aapi-paper +eta \S+ +×100 ", out, re.M)
    assert max(map(len, out.splitlines()[:-2])) <= 80
    assert str(tmp_path) in out.splitlines()[-2]
    page = (tmp_path / "results.md").read_text()
    assert "## one η, rewards scaled" in page
    assert "| aapi-paper − politex |" in page
    status, out, err = run(capsys, "reproduce", "ergodic", "--out", str(tmp_path), "--json")
    facts = json.loads(out)
    assert (status, err) == (0, "")
    assert len(facts["rows"]) == 12 + 12 + 36
    assert {row["missing"] for row in facts["rows"]} == {0}
    scaled = {
        (row["problem"], row["reward_scale"]): row["score"]
        for row in facts["rows"]
        if row["study"] == "one η, rewards scaled" and row["algorithm"] == "aapi-paper"
    }
    for problem in ("ergodic 5,2", "ergodic 50,10"):  # AAPI does not see the scale of rewards
        assert scaled[problem, 100.0] == pytest.approx(scaled[problem, 1.0], abs=1e-9)


def test_sweep_prints_stores_and_goes_on(capsys, study, tmp_path):
    status, out, err = run(capsys, "sweep", study, "--out", str(tmp_path / "a"))
    assert (status, err) == (0, "")
    assert "study: 3 runs, tuned on 2 others" in out
    again = run(capsys, "sweep", study, "--out", str(tmp_path / "a"), "--json")[1]
    assert {row["runs"] for row in json.loads(again)["rows"]} == {3}
    with Store(tmp_path / "a", write=False) as store:
        commands = [session["plans"][0].study for session in store.sessions()]
    assert commands == ["study", "study"]
    more = run(capsys, "sweep", study, "--out", str(tmp_path / "a"), "--json", "--runs", "5", "--seed", "3")[1]
    assert {row["runs"] for row in json.loads(more)["rows"]} == {5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("reproduce nothing", "invalid choice: 'nothing'"),
        ("reproduce --preset slow", "invalid choice: 'slow'"),
        ("reproduce --runs 0", "--runs must be at least 1, not 0"),
        ("reproduce --workers 0", "--workers must be at least 1, not 0"),
        ("reproduce --seed -1", "--seed must be at least 0, not -1"),
        ("reproduce --seed 99999999999999999999999", "seed and tuning_seed must be at most"),
        ("reproduce --engine gpu", "invalid choice: 'gpu'"),
        ("reproduce ergodic --address tcp://127.0.0.1:1", "use --engine dask with it"),
        ("sweep missing.toml", "missing.toml cannot be read: No such file"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, tmp_path, arguments, message):
    out_folder = tmp_path / "out"
    status, out, err = run(capsys, *arguments.split(), "--out", str(out_folder))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not out_folder.exists()


def test_the_study_that_help_shows_is_one(tmp_path):
    text = textwrap.dedent(SWEEP_EXAMPLES.partition("a study file:\n")[2].partition("examples:")[0])
    (tmp_path / "study.toml").write_text(text)
    cells = read_study(tmp_path / "study.toml").cells()
    assert len(cells) == 2 * (1 + 2)


def test_settings_of_a_problem_go_to_the_algorithms_that_take_them():
    problem = {"name": "ergodic", "settings": {"ridge": 7.0}}
    names = ("aapi", "aapi-paper", "uniform")
    cells = Study(name="s", problems=[problem], algorithms=[{"name": name} for name in names]).cells()
    assert [cell.candidates[0].settings.get("ridge") for cell in cells] == [None, 7.0, None]
