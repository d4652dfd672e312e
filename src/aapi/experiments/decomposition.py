"""Regret decompositions: some runs of a cell repeated with a record of every phase, and their regret taken apart."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, cast

from aapi.experiments.costs import num_phases
from aapi.experiments.description import digest
from aapi.experiments.trace import DiagnosticJob, pack_trace, stored_trace
from aapi.experiments.worker import run_key
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell
    from aapi.features import Features
    from aapi.json_types import JsonObject
    from aapi.theory import Constants

VERSION = 2  # of what is stored: decompositions of another version are made again
MOST_STATES = 100  # beyond, exact evaluations of every phase take longer than the runs did
MOST_RUNS = 10
MOST_PHASES = 20_000  # of all runs together
MOST_NUMBERS = 4_000_000  # in a table of all phases of one run
MOST_CELLS = 36  # of a folder
_constants: dict[str, Constants] = {}  # of problems, in this process


def decomposition_jobs(chosen: Sequence[tuple[Cell, Configuration]], store: Store) -> Iterator[DiagnosticJob]:
    """The regret of the first runs of each cell on a small finite problem, unless it was taken apart before."""
    seen: set[tuple[str, str]] = set()
    for cell, configuration in chosen:
        what = (cell.problem.label, cell.algorithm)
        phases = _decomposable_phases(configuration) if what not in seen and len(seen) < MOST_CELLS else None
        if phases is None or not store.runs(configuration.key, cell.seed, range(cell.runs)):
            continue
        seen.add(what)
        runs = min(cell.runs, MOST_RUNS, MOST_PHASES // phases)
        stored = stored_decomposition(store, configuration.key, cell.seed)
        if stored is None or "error" in stored or cast("int", stored["runs"]) < runs:
            compute = functools.partial(_decompose_runs, configuration, cell.seed, runs)
            key = _key(configuration.key, cell.seed)
            yield DiagnosticJob("regret decompositions", key, 1e-3 * phases * runs, compute)


def stored_decomposition(store: Store, configuration: str, seed: int) -> JsonObject | None:
    """What `theory.summary` found of a configuration, or {"error": …}; None if it was not computed."""
    stored = stored_trace(store, _key(configuration, seed))
    return None if stored is None else stored.about


def _key(configuration: str, seed: int) -> str:
    return f"regret-{VERSION}-{run_key(configuration, seed, 0)}"


def _decomposable_phases(configuration: Configuration) -> int | None:
    """The number of phases of a run; None if its problem is not finite, or too large, or there are too many phases."""
    problem = configuration.problem
    if not configuration.algorithm.lockstep or problem.is_gymnasium or problem.reward_scale != 1.0:
        return None
    env, phases = problem.make_model(), num_phases(configuration)
    if not isinstance(env, FiniteMDP) or env.num_states > MOST_STATES or phases > MOST_PHASES:
        return None
    return phases if phases * env.rewards.size <= MOST_NUMBERS else None


def _decompose_runs(configuration: Configuration, seed: int, runs: int) -> bytes:
    from aapi.theory import analysed_runs, check_bounds, constants
    from aapi.theory.summary import summary

    mdp = cast("FiniteMDP", configuration.problem.make_model())
    features = cast("Features | None", configuration.features)
    analysis = analysed_runs(configuration.algorithm, mdp, configuration.steps, runs, seed, features=features)
    problem = digest(configuration.problem.description)
    if problem not in _constants:
        _constants[problem] = constants(mdp)
    return pack_trace(summary(analysis, check_bounds(analysis, _constants[problem])))
