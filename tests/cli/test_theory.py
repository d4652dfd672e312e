"""`aapi theory`, as people and machines meet it."""

import json
import re

import pytest

import aapi
from aapi import theory
from aapi.cli.main import main
from aapi.environments import ergodic
from aapi.evaluation import MonteCarlo

SMALL = ["--states", "5", "--steps", "8000", "--runs", "5", "--phase-length", "400"]


def said(capsys, *arguments):
    assert main(["theory", *arguments]) == 0
    out, error = capsys.readouterr()
    assert error == ""
    return out


def test_for_people(capsys):
    out = said(capsys, "ergodic", *SMALL)
    for words in (
        "aapi-paper on ergodic: 5 states, 2 actions", "= noise", "+ pseudo-regret", "= estimation R1",
        "+ online learning R2",
        "The identities hold to", "exceeded in 0 of 25 states of runs", "uniform policy", "recommended:", "p = ",
        "politex, tuned to K",
    ):  # fmt: skip
        assert words in out, words
    assert "EXCEEDS" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_for_machines_it_is_what_the_library_says(capsys):
    facts = json.loads(said(capsys, "ergodic", *SMALL, "--json", "--threads", "2"))
    algorithm = aapi.AAPI(phase_length=400, evaluate=MonteCarlo(horizon=10, centre=True, ridge=0.1), eta=0.3)
    found = theory.analysed_runs(algorithm, ergodic(5), 8000, 5).decomposition
    for part in ("regret", "noise", "pseudo_regret", "estimation", "online_learning"):
        assert facts["totals"][part]["mean"] == pytest.approx(found.total(part).mean(), rel=1e-12)
        assert facts["curves"][part]["mean"][-1] == facts["totals"][part]["mean"]
    assert facts["settings"]["phase_length"] == 400
    assert facts["constants"]["mixing_time"] == 6
    assert set(facts["growth"]) == {"aapi-paper", "politex"}
    assert all(pair["holds"] for pair in facts["pairs"])
    assert facts["recommended_phase_length"]["mismatch"] < facts["recommended_phase_length"]["optimal_mismatch"]


@pytest.mark.slow
def test_figures_and_numbers(capsys, tmp_path):
    out = said(capsys, "ergodic", *SMALL, "--out", str(tmp_path / "made"))
    names = {path.name for path in (tmp_path / "made").iterdir()}
    kinds = ("regret", "noise", "evaluation", "online-learning", "relative-q", "growth")
    assert names == {"theory.json"} | {f"theory-{kind}.{ending}" for kind in kinds for ending in ("pdf", "png")}
    assert "13 files" in out
    json.loads((tmp_path / "made" / "theory.json").read_text())


def test_a_problem_that_is_not_ergodic(capsys):
    out = said(capsys, "deep-sea", "--size", "4", "--steps", "3000", "--runs", "3")
    assert "periodic, with period 4" in " ".join(out.split())
    assert "the theorem does not apply" in out
    assert "no bound: there is no contraction time, see above" in " ".join(out.split())


@pytest.mark.parametrize("algorithm", ["rlsvi", "uniform", "greedy"])
def test_algorithms_that_the_lemmas_are_not_about(capsys, algorithm):
    out = said(capsys, "ergodic", *SMALL, "--algorithm", algorithm)
    expected = {
        "rlsvi": "the algorithm does not follow",
        "uniform": "no phase was evaluated",
        "greedy": "do not follow",
    }
    assert expected[algorithm] in out
    assert f"{algorithm:12}p = " in out
    assert "politex     p = " in out


@pytest.mark.slow
def test_one_run_has_no_intervals(capsys):
    facts = json.loads(said(capsys, "ergodic", *SMALL, "--runs", "1", "--json"))
    assert facts["totals"]["regret"]["lower"] is None
    assert "[" not in said(capsys, "ergodic", *SMALL, "--runs", "1").partition("taken apart")[2].partition("theorem")[0]


def test_rewards_that_change(capsys):
    out = said(capsys, "against-the-leader", "--steps", "51200", "--runs", "10")
    for name, lowest, highest in (("greedy", 0.95, 1.05), ("aapi-paper", 0.3, 0.6), ("politex", 0.3, 0.6)):
        p, lower, upper = re.search(rf"{name} +p = (\S+) \[(\S+), (\S+)\]", out).groups()
        assert lowest <= float(lower) <= float(p) <= float(upper) <= highest
    assert "against-the-leader: 2 states, 2 actions, rewards that change" in out
    assert "evaluation exact" in out
    assert max(map(len, out.splitlines())) <= 80


def test_rewards_that_change_for_machines_and_in_a_folder(capsys, tmp_path):
    small = ["--steps", "51200", "--runs", "5", "--algorithm", "ftrl", "--out", str(tmp_path / "made")]
    facts = json.loads(said(capsys, "against-the-policy", *small, "--json"))
    assert list(facts["growth"]) == ["ftrl", "greedy", "aapi-paper", "politex"]
    assert facts["growth"]["greedy"]["exponent"]["lower"] > 0.95
    assert facts["growth"]["greedy"]["steps"] == theory.doublings(51200, 7)
    assert facts["settings"]["phase_length"] == 100
    assert json.loads((tmp_path / "made" / "theory.json").read_text()) == facts
    names = {path.name for path in (tmp_path / "made").iterdir()}
    assert names == {"theory.json", "theory-growth.pdf", "theory-growth.png"}


def test_slips(capsys):
    out = said(capsys, "slips")
    assert out.count("printed  ") == out.count("shown") == 13
    assert len(json.loads(said(capsys, "slips", "--json"))) == 13


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cartpole"], "cartpole has no finite model"),
        (["ergodc"], "did you mean ergodic"),
        (["against-the-leder"], "did you mean against-the-leader"),
        (["against-the-leader", "--algorithm", "psrl"], "the theory is of phases, and psrl has none"),
        (["against-the-leader", "--states", "3"], "against-the-leader has one size: drop --states"),
        (["ergodic", "--runs", "0"], "--runs must be at least 1"),
        (["ergodic", "--steps", "x"], "invalid int value: 'x'"),
        (
            ["ergodic", "--features", "aggregate:99"],
            "--features aggregate:GROUPS must be at most the number of states, 10",
        ),
        (
            ["ergodic", "--features", "fourier:2"],
            "--features must be one-hot, coordinates or aggregate:GROUPS, not 'fourier:2'",
        ),
        (["ergodic", "--eta", "nan"], "--eta must be a finite number"),
        (["slips", "--out", "x"], "slips takes --json and nothing else"),
        (["ergodic", "--out", "/dev/null"], "cannot make the folder /dev/null"),
        (["ergodic", "--out", "/dev/null/x"], "cannot make the folder /dev/null/x"),
    ],
)
def test_mistakes(capsys, arguments, words):
    try:
        status = main(["theory", *arguments])
    except SystemExit as error:
        status = error.code
    assert status == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
