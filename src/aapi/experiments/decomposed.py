"""Where the regret of a cell came from: some of its runs done again, recorded, and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.experiments.description import described, digest
from aapi.experiments.inside import packed_inside, stored_inside
from aapi.experiments.jobs import Job
from aapi.experiments.work import run_key
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell
    from aapi.theory import Constants

__all__ = ["decomposition_jobs", "stored_decomposition"]

LARGEST = 100  # states: beyond, exact evaluations of every phase take longer than the runs did
RUNS = 10
BUDGET = 20_000  # phases of all runs
MOST = 36  # cells of a folder
_known: dict[str, Constants] = {}  # of problems, in this process


def decomposition_jobs(chosen: Sequence[tuple[Cell, Configuration]], store: Store) -> Iterator[Job]:
    """The first runs of each cell on a small finite problem are taken apart, unless that was done before."""
    seen: set[tuple[str, str]] = set()
    for cell, configuration in chosen:
        what = (cell.problem.label, cell.algorithm)
        length = getattr(configuration.algorithm, "phase_length", None)
        if what in seen or len(seen) == MOST or length is None or not _can_be_taken_apart(cell):
            continue
        if not store.runs(configuration.key, cell.seed, range(cell.runs)):
            continue
        seen.add(what)
        kept = stored_decomposition(store, configuration.key, cell.seed)
        if kept is None or "error" in kept:
            phases = -(-configuration.steps // length)
            runs = max(1, min(cell.runs, RUNS, BUDGET // phases))
            arguments = (configuration, cell.seed, runs)
            yield Job(_key(configuration.key, cell.seed), 1e-3 * phases * runs, _take_apart, arguments)


def stored_decomposition(store: Store, configuration: str, seed: int) -> dict[str, Any] | None:
    """What `theory.summary` said of a configuration, or {"error": …}; None if nobody asked."""
    kept = stored_inside(store, _key(configuration, seed))
    return None if kept is None else kept.about


def _key(configuration: str, seed: int) -> str:
    return f"regret-{run_key(configuration, seed, 0)}"


def _can_be_taken_apart(cell: Cell) -> bool:
    if cell.problem.is_foreign or cell.problem.reward_scale != 1.0:
        return False
    env = cell.problem.make()
    return isinstance(env, FiniteMDP) and env.num_states <= LARGEST


def _take_apart(configuration: Configuration, seed: int, runs: int) -> bytes:
    from aapi.theory import analysed_runs, constants, pairs
    from aapi.theory.summary import summary

    mdp: Any = configuration.problem.make()
    found = analysed_runs(
        configuration.algorithm, mdp, configuration.steps, runs, seed, features=configuration.features
    )
    problem = digest(described(configuration.problem))
    if problem not in _known:
        _known[problem] = constants(mdp)
    return packed_inside(summary(found, pairs(found, _known[problem])))
