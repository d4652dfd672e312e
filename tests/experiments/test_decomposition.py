"""Where regret came from, kept beside the runs: what the theory says of the same runs."""

import numpy as np
import pytest

from aapi import theory
from aapi.environments import ergodic, river_swim
from aapi.experiments import Store, Study, run_studies
from aapi.experiments.diagnostics import decomposition_job, decomposition_key
from aapi.experiments.trace import stored_trace
from aapi.features import Aggregation
from aapi.theory.summary import summary
from studies import STUDY, TOGETHER


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("regret")
    run_studies([STUDY, TOGETHER], folder)
    return folder


def kept(folder):
    found = {}
    with Store(folder, write=False) as store:
        for cell in (*STUDY.cells(), *TOGETHER.cells()):
            for candidate in cell.candidates:
                if (stored := stored_trace(store, decomposition_key(candidate.key, cell.plan.seed))) is not None:
                    where = cell.problem.label, cell.problem.reward_scale, cell.algorithm
                    found[where] = (cell, candidate, stored.about)
    return found


def test_finite_problems_are_taken_apart_once(folder):
    names = list(kept(folder))
    assert names == [(p, 1.0, a) for p in ("deep-sea 4", "ergodic 5") for a in ("aapi-paper", "politex", "rlsvi")]


def test_it_says_what_the_theory_says(folder):
    cell, candidate, about = kept(folder)["ergodic 5", 1.0, "aapi-paper"]
    analysis = theory.analysed_runs(
        candidate.algorithm, ergodic(5), 4000, 3, cell.plan.seed, features=candidate.features
    )
    assert about == summary(analysis, theory.check_bounds(analysis, theory.constants(ergodic(5))))
    with Store(folder, write=False) as store:
        runs = store.runs(candidate.key, cell.plan.seed, 3)
    regrets = [4000 * (analysis.against.gain - run.average_reward) for run in runs]
    assert about["totals"]["regret"]["mean"] == pytest.approx(np.mean(regrets))


def test_what_goes_wrong_is_kept_and_tried_again(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("no exact values today")

    monkeypatch.setattr("aapi.experiments.diagnostics._decompose_runs", fail)
    run_studies(STUDY, tmp_path)
    assert all("no exact values today" in about["error"] for _, _, about in kept(tmp_path).values())
    monkeypatch.undo()
    run_studies(STUDY, tmp_path)
    assert all("totals" in about for _, _, about in kept(tmp_path).values())


def test_a_model_of_the_users_and_features_of_its_own(tmp_path):
    """Also from a file; with the features that the runs had; and again, when there are more runs."""
    river_swim(6).save(tmp_path / "river.npz")
    problem = {"name": str(tmp_path / "river.npz"), "features": "aggregate:3"}
    algorithm = {"name": "aapi-paper", "phase_length": 100}
    for runs in (1, 2):
        study = Study(name="file", problems=[problem], algorithms=[algorithm], steps=2000, runs=runs)
        run_studies(study, tmp_path / "out")
        (cell,) = study.cells()
        with Store(tmp_path / "out", write=False) as store:
            about = stored_trace(store, decomposition_key(cell.candidates[0].key, cell.plan.seed)).about
        assert about["runs"] == runs
    analysis = theory.analysed_runs(cell.candidates[0].algorithm, river_swim(6), 2000, 2, features=Aggregation(3))
    assert about["totals"]["estimation"]["mean"] == pytest.approx(analysis.decomposition.total("estimation").mean())


@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        ({"name": "deep-sea", "size": 11}, {}),  # 121 states
        ({"name": "ergodic", "states": 5}, {"phase_length": 1, "horizon": 1}),  # 25,000 phases
        ({"name": "ergodic", "states": 5, "reward_scale": 2.0}, {}),
    ],
)
def test_what_is_too_much_is_left(tmp_path, problem, settings):
    algorithm = {"name": "aapi-paper", **settings}
    study = Study(name="large", problems=[problem], algorithms=[algorithm], steps=25_000, runs=1)
    with Store(tmp_path) as store:
        cells = study.cells()
        store.begin([cell.plan for cell in cells])
        assert all(decomposition_job(cell, cell.candidates[0], AllThere(store)) is None for cell in cells)


class AllThere:
    """A store that has every run, and nothing else."""

    def __init__(self, store):
        self.trace = store.trace

    def runs(self, *_):
        return ["a run"]
