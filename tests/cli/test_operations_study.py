import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from commands import run

from aapi.environments.queueing import criss_cross_network
from aapi.experiments import reproduction
from aapi.experiments.operations_studies import LIGHT, MEDIUM, PAPER_ONLY, SMALL, STOCK
from aapi.experiments.reproduce import MORE, PRESETS, Preset
from aapi.mdp import FiniteMDP, solve_events

FAMILIES = {
    "operations, queues": {
        "criss-cross IL,10", "criss-cross BL,12", "tandem-queue", "n-model", "routing", "admission", "access-control",
    },
    "operations, larger": {"criss-cross IM,18", "criss-cross BM,20", "car-rental 10", "continuing-taxi"},
    "operations, stock and machines": {
        "inventory", "inventory 12,3.0,1", "maintenance", "maintenance 6,2",
    },
    "operations, suite": {"catch 3", "windy-catch 3,3"},
}  # fmt: skip
FOUR = ["aapi", "greedy, same parts", "ucrl2b, tuned", "differential-q"]


def labels(study):
    """The algorithms, by problem."""
    found = {}
    for cell in study.cells():
        found.setdefault(cell.problem.label, []).append(cell.algorithm)
    return found


def test_every_family_has_ours_the_control_and_rivals():
    studies = {study.name: study for study in reproduction("operations", "paper")}
    for name, problems in FAMILIES.items():
        assert labels(studies[name]) == dict.fromkeys(problems, FOUR), name
    assert all(study.seed != study.tuning_seed for study in studies.values())
    psrl = labels(studies["operations, psrl"])
    assert (len(psrl), set(map(tuple, psrl.values()))) == (len(SMALL), {("psrl, tuned",)})
    tuned = {cell.algorithm: len(cell.candidates) for study in studies.values() for cell in study.cells()}
    assert tuned == {**dict.fromkeys(FOUR, 1), "ucrl2b, tuned": 5, "psrl, tuned": 2}


def test_psrl_has_problems_that_are_small():
    (study,) = (study for study in reproduction("operations") if study.name == "operations, psrl")
    assert max(cast("FiniteMDP", cell.problem.make_model()).num_states for cell in study.cells()) <= 100


def test_the_quick_preset_is_light():
    quick = {study.name: study for study in reproduction("operations", "quick")}
    paper = {study.name: study for study in reproduction("operations", "paper", runs=9)}
    assert paper.keys() - quick.keys() == set(PAPER_ONLY)
    assert {(study.runs, study.tuning_runs) for study in quick.values()} == {(5, 1)}
    assert {problem["steps"] for study in quick.values() for problem in study.problems} == {40_000}
    assert {study.runs for study in paper.values()} == {9}


@pytest.mark.parametrize("table", [*LIGHT, *MEDIUM], ids=lambda table: table["regime"])
def test_smaller_caps_keep_the_optimum_of_the_default_ones(table):
    small, large = (
        solve_events(criss_cross_network(str(table["regime"]), cap).event_model(), 1e-5)
        for cap in (int(str(table["cap"])), None)
    )
    assert abs(small.gain - large.gain) < 1e-3
    assert small.model.num_states < 0.5 * large.model.num_states


def test_the_command_runs_it(capsys, tmp_path, monkeypatch):
    few = [replace(STOCK, problems=STOCK.problems[2:3])]
    monkeypatch.setitem(MORE, "operations", few)
    preset = Preset(points=7, shorter=100, runs=2, tuning_runs=1, other_runs=1, other_tuning_runs=1)
    monkeypatch.setitem(PRESETS, "quick", preset)
    status, out, _ = run(capsys, "reproduce", "operations", "--runs", "2", "--out", str(tmp_path), "--json")
    assert status == 0
    written = json.loads(out)
    rows = written["rows"]
    assert [row["algorithm"] for row in rows] == FOUR
    assert {(row["problem"], row["steps"], row["runs"]) for row in rows} == {("maintenance", 2000, 2)}
    assert all(row["average_reward"]["mean"]["estimate"] < row["optimal_gain"] + 0.1 for row in rows)
    assert "maintenance" in Path(written["tables"]).read_text()
    assert Path(written["page"]).is_file()
