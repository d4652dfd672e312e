"""Where regret came from, kept beside the runs: what the theory says of the same runs."""

import numpy as np
import pytest

from aapi import theory
from aapi.environments import ergodic
from aapi.experiments import Store, run_studies
from aapi.experiments.decomposed import stored_decomposition
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
                about = stored_decomposition(store, candidate.key, cell.seed)
                if about is not None:
                    found[cell.problem.label, cell.problem.reward_scale, cell.algorithm] = (cell, candidate, about)
    return found


def test_finite_problems_are_taken_apart_once(folder):
    names = list(kept(folder))
    assert names == [(p, 1.0, a) for p in ("deep-sea 4", "ergodic 5") for a in ("aapi", "politex", "rlsvi")]


def test_it_says_what_the_theory_says(folder):
    cell, candidate, about = kept(folder)["ergodic 5", 1.0, "aapi"]
    analysis = theory.analysed_runs(candidate.algorithm, ergodic(5), 4000, 3, cell.seed, features=candidate.features)
    assert about == summary(analysis, theory.pairs(analysis, theory.constants(ergodic(5))))
    with Store(folder, write=False) as store:
        runs = store.runs(candidate.key, cell.seed, range(3))
    regrets = [4000 * (analysis.against.gain - run.average_reward) for run in runs]
    assert about["totals"]["regret"]["mean"] == pytest.approx(np.mean(regrets))


def test_what_goes_wrong_is_kept_and_tried_again(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("no exact values today")

    monkeypatch.setattr("aapi.experiments.decomposed._take_apart", fail)
    run_studies(STUDY, tmp_path)
    assert all("no exact values today" in about["error"] for _, _, about in kept(tmp_path).values())
    monkeypatch.undo()
    run_studies(STUDY, tmp_path)
    assert all("totals" in about for _, _, about in kept(tmp_path).values())
