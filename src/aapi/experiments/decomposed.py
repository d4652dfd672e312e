"""Where the regret of a cell came from: some of its runs done again, recorded, and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.experiments.description import digest
from aapi.experiments.inside import packed_inside, stored_inside
from aapi.experiments.jobs import Job
from aapi.experiments.work import phases_of, run_key
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell
    from aapi.theory import Constants

__all__ = ["decomposition_jobs", "stored_decomposition"]

VERSION = 2  # of what is said: decompositions of another one are made again
STATES = 100  # beyond, exact evaluations of every phase take longer than the runs did
RUNS = 10
PHASES = 20_000  # of all runs together
NUMBERS = 4_000_000  # in a table of all phases of one run
MOST = 36  # cells at a time
_known: dict[str, Constants] = {}  # of problems, in this process


def decomposition_jobs(chosen: Sequence[tuple[Cell, Configuration]], store: Store) -> Iterator[Job]:
    """The first runs of each cell on a small finite problem are taken apart, unless that was done before."""
    seen: set[tuple[str, str]] = set()
    for cell, configuration in chosen:
        what = (cell.problem.label, cell.algorithm)
        phases = _phases(configuration) if what not in seen and len(seen) < MOST else None
        if phases is None or not store.runs(configuration.key, cell.seed, range(cell.runs)):
            continue
        seen.add(what)
        runs = min(cell.runs, RUNS, PHASES // phases)
        kept = stored_decomposition(store, configuration.key, cell.seed)
        if kept is None or "error" in kept or kept["runs"] < runs:
            arguments = (configuration, cell.seed, runs)
            yield Job(_key(configuration.key, cell.seed), 1e-3 * phases * runs, _take_apart, arguments)


def stored_decomposition(store: Store, configuration: str, seed: int) -> dict[str, Any] | None:
    """What `theory.summary` said of a configuration, or {"error": …}; None if nobody asked."""
    kept = stored_inside(store, _key(configuration, seed))
    return None if kept is None else kept.about


def _key(configuration: str, seed: int) -> str:
    return f"regret-{VERSION}-{run_key(configuration, seed, 0)}"


def _phases(configuration: Configuration) -> int | None:
    """The number of phases; None for what is not taken apart: other than finite problems, large ones, too many."""
    phased = hasattr(configuration.algorithm, "phase_length")
    if not phased or configuration.problem.is_foreign or configuration.problem.reward_scale != 1.0:
        return None
    env, phases = configuration.problem.make(), phases_of(configuration)
    if not isinstance(env, FiniteMDP) or env.num_states > STATES or phases > PHASES:
        return None
    return phases if phases * env.rewards.size <= NUMBERS else None


def _take_apart(configuration: Configuration, seed: int, runs: int) -> bytes:
    from aapi.theory import analysed_runs, constants, check_bounds
    from aapi.theory.summary import summary

    mdp: Any = configuration.problem.make()
    found = analysed_runs(
        configuration.algorithm, mdp, configuration.steps, runs, seed, features=configuration.features
    )
    problem = digest(configuration.problem.description)
    if problem not in _known:
        _known[problem] = constants(mdp)
    return packed_inside(summary(found, check_bounds(found, _known[problem])))
