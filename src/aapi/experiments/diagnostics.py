"""Diagnostics of stored runs: learner traces and regret decompositions, made when all runs are there.

A regret decomposition is of some runs of a cell, repeated with a record of every phase.
"""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING, cast

from aapi.experiments.choice import choices
from aapi.experiments.description import digest
from aapi.experiments.engines import Engine, Interrupted
from aapi.experiments.trace import DiagnosticJob, pack_trace, stored_trace, trace_jobs
from aapi.experiments.worker import describe_error, run_key
from aapi.mdp import FiniteMDP
from aapi.progress import progress_bars

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell
    from aapi.features import Features
    from aapi.theory import Constants

VERSION = 2  # of what is stored: decompositions of another version are made again
MOST_STATES = 100  # beyond, exact evaluations of every phase take longer than the runs did
MOST_RUNS = 10
MOST_PHASES = 20_000  # of all runs together
MOST_NUMBERS = 4_000_000  # in a table of all phases of one run
MOST_CELLS = 36  # of a folder
_constants: dict[str, Constants] = {}  # of problems, in this process


def run_diagnostics(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False
) -> None:
    """Make the learner traces and regret decompositions that are not in the store yet.

    An error is stored in place of what it prevents, and the job is done again next time: no run is lost by it.
    stop: when it is set, jobs in flight are finished, and `Interrupted` is raised if there are others.
    """
    choice = choices(store, [cell.plan for cell in cells])
    chosen = [(cell, cell.candidates[i]) for cell, i in zip(cells, choice, strict=True) if i is not None]
    queue = deque([*trace_jobs(chosen, store), *decomposition_jobs(chosen, store)])
    totals: dict[str, float] = {}
    for job in queue:
        totals[job.kind] = totals.get(job.kind, 0.0) + job.seconds
    with progress_bars(totals, show=progress) as advance:
        for job, future in engine.completed(queue, DiagnosticJob.run, stop):
            error = future.exception()
            found = future.result() if error is None else pack_trace({"error": describe_error(error)})
            store.add_trace(job.key, found)
            advance(job.kind, job.seconds, job.kind)
    if queue:
        raise Interrupted(f"all runs are stored in {store.folder}, but {len(queue)} diagnostics of them are left")


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
        key = decomposition_key(configuration.key, cell.seed)
        stored = stored_trace(store, key)
        if stored is None or "error" in stored.about or cast("int", stored.about["runs"]) < runs:
            compute = functools.partial(_decompose_runs, configuration, cell.seed, runs)
            yield DiagnosticJob("regret decompositions", key, 1e-3 * phases * runs, compute)


def decomposition_key(configuration: str, seed: int) -> str:
    """The key in the store of what `theory.summary` found of a configuration, or {"error": …}."""
    return f"regret-{VERSION}-{run_key(configuration, seed, 0)}"


def _decomposable_phases(configuration: Configuration) -> int | None:
    """The number of phases of a run; None if its problem is not finite, or too large, or there are too many phases."""
    problem = configuration.problem
    if not configuration.algorithm.lockstep or problem.is_gymnasium or problem.reward_scale != 1.0:
        return None
    env, phases = problem.make_model(), configuration.num_phases
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
