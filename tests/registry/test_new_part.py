"""A part is one file and one line of the registry: then the command, studies, saved agents and reports know it."""

import json
import os
import shutil
from pathlib import Path

import processes
import pytest

import aapi

EVALUATOR = '''"""Discounted returns of the phase, regressed on features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aapi.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Discounted(Evaluation):
    """Q̂ = φᵀw on G_t = Σ_i γ^i r_{t+i}. fading: γ, what a reward is worth a step later. ridge: of the regression."""

    fading: float = 0.9
    ridge: float = 1.0

    def __call__(self, policy, seen):
        returns = np.array(seen.data.rewards)
        for t in range(returns.shape[1] - 2, -1, -1):
            returns[:, t] += self.fading * returns[:, t + 1]
        return seen.space.fit(seen.data.states, seen.data.actions, returns, self.ridge)
'''
LINE = '        "discounted": "aapi.evaluation.discounted:Discounted",\n'
STUDY = """
steps = 600
runs = 2

[[problems]]
name = "ergodic"
states = 4

[[algorithms]]
name = "aapi-paper"
evaluation = ["discounted", "self-consistent"]
phase_length = 100

[[algorithms]]
name = "greedy"
evaluation = ["discounted", "self-consistent"]
phase_length = 100
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A copy of the library with the part in it: a function that runs its command."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(Path(aapi.__file__).parent, folder / "aapi", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "aapi/evaluation/discounted.py").write_text(EVALUATOR)
    parts = folder / "aapi/registry/parts.py"
    text = parts.read_text()
    assert text.count('    "evaluation": {\n') == 1
    parts.write_text(text.replace('    "evaluation": {\n', '    "evaluation": {\n' + LINE))

    def command(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
        done = processes.run([*processes.AAPI, *map(str, arguments)], env=environment, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    command.folder = folder
    return command


def test_help_names_it_and_explains_its_settings(library):
    out = " ".join(library("run", "--help").split())
    assert "{discounted,monte-carlo," in out
    assert "--fading X γ, what a reward is worth a step later (discounted)" in out


def test_it_runs_by_its_name_on_tables_and_on_vectors(library):
    for problem in (["ergodic", "--states", "5"], ["cartpole", "--features", "fourier:1"]):
        settings = ["--evaluation", "discounted", "--fading", "0.8", "--phase-length", "100"]
        facts = json.loads(library("run", *problem, *settings, "--steps", "500", "--runs", "2", "--json"))
        assert facts["settings"].items() >= {"evaluation": "discounted", "fading": 0.8}.items()


def test_a_study_names_it_and_the_report_shows_it(library):
    (library.folder / "study.toml").write_text(STUDY)
    library("sweep", "study.toml", "--out", "results")
    text = (library.folder / "results/results.md").read_text()
    assert "aapi-paper, evaluation discounted" in text
    script = (
        "from aapi.experiments import Store, summarise\nfrom aapi.report.ablation import ablations\n"
        "store = Store('results', write=False)\n"
        "(found,) = ablations(summarise(store, store.plans()).rows)\n"
        "print(found.evaluators, [found.name(column) for column in found.columns])"
    )
    environment = {**os.environ, "PYTHONPATH": str(library.folder)}
    out = processes.python("-c", script, env=environment, cwd=library.folder, check=True).stdout
    assert out == "['discounted', 'self-consistent'] ['AAPI, sup, previous', 'greedy']\n"


def test_an_agent_with_it_is_saved_loaded_and_goes_on(library):
    settings = ["--evaluation", "discounted", "--fading", "0.7", "--phase-length", "100"]
    library("train", "FrozenLake-v1", *settings, "--steps", "250", "--save", "lake.aapi")
    script = "import aapi; print(aapi.load('lake.aapi').algorithm.evaluate)"
    environment = {**os.environ, "PYTHONPATH": str(library.folder)}
    out = processes.python("-c", script, env=environment, cwd=library.folder, check=True).stdout
    assert out == "Discounted(fading=0.7, ridge=1.0)\n"
    told = '"evaluation": "discounted", "fading": 0.7'
    assert told in library("train", "--resume", "lake.aapi", "--steps", "400", "--json")
