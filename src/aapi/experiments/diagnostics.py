"""Diagnostics of stored runs: learner traces, regret decompositions, and growth of regret where rewards change.

They are made when all runs are there. A learner trace is of the median run of a cell. A regret decomposition is of some
of its runs, repeated with a record of every phase. Growth of regret is of all its runs, for doublings of T.
"""

from __future__ import annotations

import functools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from aapi.experiments.description import digest
from aapi.experiments.engines import Engine, Interrupted
from aapi.experiments.plan import choices, group_by, run_key
from aapi.experiments.trace import is_traceable, median_run, pack_trace, stored_trace, trace_run
from aapi.experiments.worker import describe_error
from aapi.mdp import FiniteMDP
from aapi.progress import progress_bars

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from aapi.environments import ChangingRewards
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
MOST_JOBS = 36  # of each kind, in a folder
_constants: dict[str, Constants] = {}  # of problems, in this process


@dataclass(frozen=True)
class DiagnosticJob:
    """Something to compute from stored runs, and to store under a key.

    kind: its progress bar; runs: how many it is of; seconds: about how long it takes; compute: makes the bytes.
    """

    kind: str
    key: str
    runs: int
    seconds: float
    compute: Callable[[], bytes]

    def run(self) -> bytes:
        """What is to be stored."""
        return self.compute()


def run_diagnostics(
    cells: Sequence[Cell], store: Store, engine: Engine, stop: threading.Event, *, progress: bool = False
) -> None:
    """Make the diagnostics that are not in the store yet.

    An error is stored in place of what it prevents, and the job is done again next time: no run is lost by it.
    stop: when it is set, jobs in flight are finished, and `Interrupted` is raised if there are others.
    """
    queue = deque(diagnostic_jobs(cells, store))
    kinds = group_by(queue, lambda job: job.kind)
    totals = {kind: sum(job.seconds for job in jobs) for kind, jobs in kinds.items()}
    with progress_bars(totals, show=progress) as advance:
        for job, future in engine.completed(queue, DiagnosticJob.run, stop):
            error = future.exception()
            found = future.result() if error is None else pack_trace({"error": describe_error(error)})
            store.add_trace(job.key, found)
            advance(job.kind, job.seconds, job.kind)
    if queue:
        raise Interrupted(f"all runs are stored in {store.folder}, but {len(queue)} diagnostics of them are left")


def diagnostic_jobs(cells: Sequence[Cell], store: Store) -> Iterator[DiagnosticJob]:
    """What is not stored yet, or is an error, or is of fewer runs; for each algorithm on each problem once."""
    chosen = choices(store, [cell.plan for cell in cells])
    for make in (trace_job, decomposition_job, growth_job):
        seen: set[tuple[str, str]] = set()
        for cell, i in zip(cells, chosen, strict=True):
            what = (cell.problem.label, cell.algorithm)
            if i is None or what in seen or len(seen) == MOST_JOBS:
                continue
            if (job := make(cell, cell.candidates[i], store)) is not None:
                seen.add(what)
                stored = stored_trace(store, job.key)
                if stored is None or "error" in stored.about or cast("int", stored.about.get("runs", 1)) < job.runs:
                    yield job


def trace_job(cell: Cell, configuration: Configuration, store: Store) -> DiagnosticJob | None:
    """A trace of the median run; None if no run is stored, or its problem has none, or too many, states to show."""
    run = median_run(store.runs(configuration.key, cell.plan.seed, cell.plan.runs))
    if run is None or not is_traceable(cell.problem):
        return None
    compute = functools.partial(trace_run, configuration, cell.plan.seed, run.number)
    return DiagnosticJob("learner traces", run.key, 1, configuration.expected_seconds, compute)


def decomposition_job(cell: Cell, configuration: Configuration, store: Store) -> DiagnosticJob | None:
    """The regret of the first runs, on a small finite problem; None if no run is stored, or it would be too much."""
    seed, phases = cell.plan.seed, _decomposable_phases(configuration)
    if phases is None or not store.runs(configuration.key, seed, cell.plan.runs):
        return None
    runs = min(cell.plan.runs, MOST_RUNS, MOST_PHASES // phases)
    compute = functools.partial(_decompose_runs, configuration, seed, runs)
    key = decomposition_key(configuration.key, seed)
    return DiagnosticJob("regret decompositions", key, runs, 1e-3 * phases * runs, compute)


def growth_job(cell: Cell, configuration: Configuration, store: Store) -> DiagnosticJob | None:
    """How regret in hindsight grows with T; None if rewards do not change, or no run is stored."""
    problem, plan = configuration.problem, cell.plan
    if problem.is_gymnasium or problem.reward_scale != 1.0 or problem.make_model().reward_sequence is None:
        return None
    if not store.runs(configuration.key, plan.seed, plan.runs):
        return None
    compute = functools.partial(_grow_regret, configuration, plan.seed, plan.runs)
    seconds = 2 * plan.runs * configuration.expected_seconds
    return DiagnosticJob("growth of regret", growth_key(configuration.key, plan.seed), plan.runs, seconds, compute)


def growth_key(configuration: str, seed: int) -> str:
    """The key in the store of what `theory.growth_summary` says of a configuration, or {"error": …}."""
    return f"growth-{VERSION}-{run_key(configuration, seed, 0)}"


def _grow_regret(configuration: Configuration, seed: int, runs: int) -> bytes:
    from aapi.theory import growth_over_doublings
    from aapi.theory.summary import growth_summary

    env, features = configuration.problem.make_model(), cast("Features | None", configuration.features)
    changing = cast("ChangingRewards", env)
    return pack_trace(
        growth_summary(
            growth_over_doublings(configuration.algorithm, changing, configuration.steps, runs, seed, features)
        )
    )


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
