"""Run a learner on a problem: many runs at once, in threads, the same bits however they are split."""

from __future__ import annotations

import copy
import functools
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.approximation import Linear, QSpace, Tabular
from aapi.approximation.rule_policy import RulePolicy
from aapi.checks import at_least, check_indices
from aapi.environments import ContinuousProblem
from aapi.errors import InvalidInput
from aapi.features import Coordinates, Features, Fourier, OneHot, VectorFeatures
from aapi.learners.conservative import beside_rule
from aapi.learners.learner import check_learner, play
from aapi.progress import progress_bar
from aapi.result import PhaseRecorder, Result, joined_result
from aapi.simulation import (
    ContinuousSimulation,
    FiniteSimulation,
    Simulation,
    transition_tables,
)
from aapi.simulation.data import NO_GRID

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers
    from aapi.environments import ChangingRewards
    from aapi.learners.learner import AnyLearner
    from aapi.mdp import FiniteMDP

    Rule = ArrayLike | Callable[[int], object]
    Callback = Callable[[int, Array], object]
    Problem = FiniteMDP | ChangingRewards | ContinuousProblem


SPACES = 64  # kept ready in a process


def run(
    learner: AnyLearner,
    env: Problem,
    num_steps: int,
    num_runs: int = 1,
    seed: int = 0,
    *,
    first_run: int = 0,
    features: Features | VectorFeatures | None = None,
    rule: Rule | None = None,
    threads: int = 1,
    chunk: int | None = None,
    grid: Sequence[int] | Integers | None = None,
    record: bool = False,
    progress: bool = False,
    callback: Callback | None = None,
) -> Result:
    """Run a learner `num_runs` times for `num_steps` each.

    Run i, counted from `first_run`, has the random stream (seed, i) and nothing else to itself: its bits are the same
    alone or among others, for any number of threads and any chunk, the number of runs that are advanced together.

    features: how Q-functions are represented; by default the model's coordinates where it has some (DeepSea), else
        one-hot; for continuous problems, the Fourier basis of order 4.
    rule: of finite problems, a rule of thumb, which acts first, and as long as the learner might lose too much: the
        learner becomes `Conservative(learner=learner)`, unless it is one. An action for each state, a table (states,
        actions) of probabilities, or a function from the number of a state to an action.
    grid: steps at which the curves are taken; by default about 300, evenly and geometrically spaced.
    record: keep policies, Q̂, temperatures, surprises and predictions of every phase; of finite problems only.
    callback: called after each phase of a chunk with the steps so far and the average rewards so far, one for each run
        of the chunk; what it raises ends the run.
    """
    at_least(1, num_steps=num_steps, num_runs=num_runs, threads=threads)
    at_least(0, seed=seed, first_run=first_run)
    check_learner(learner)
    if rule is not None:
        learner = beside_rule(learner)
    runs = range(first_run, first_run + num_runs)
    steps = step_grid(num_steps) if grid is None else _check_grid(grid, num_steps)
    if record and isinstance(env, ContinuousProblem):
        raise InvalidInput(f"record keeps tables of finite problems, and {env.name} has no such tables")
    if record and num_runs > 1 and not learner.lockstep:
        raise InvalidInput("record needs phases of the same length in all runs, and this learner's differ: num_runs=1")
    simulate = simulator(env, features, seed, steps, rule)
    if chunk is not None:
        at_least(1, chunk=chunk)
    size = 1 if not learner.lockstep else -(-num_runs // threads) if chunk is None else chunk
    chunks = [runs[i : i + size] for i in range(0, num_runs, size)]
    start = time.perf_counter()
    stop, pool = threading.Event(), ThreadPoolExecutor(threads)
    try:
        with progress_bar("running", num_steps * num_runs, show=progress) as advance:
            # In the pool as well: it may compile, which a signal to the main thread must not break into.
            simulations = pool.submit(lambda: [simulate(part) for part in chunks]).result()
            work = [
                pool.submit(_run_chunk, learner, part, num_steps, record, advance, stop, callback)
                for part in simulations
            ]
            for future in wait(work, return_when=FIRST_EXCEPTION).done:
                future.result()  # raises what went wrong, without waiting for the others
            recorders = [future.result() for future in work]
    finally:
        stop.set()  # after an error, or Ctrl-C, the chunks under way end with their phase, and nobody waits for them
        pool.shutdown(wait=False, cancel_futures=True)
    return joined_result(
        recorders, learner=learner, env=env, seed=seed, runs=np.array(runs), num_steps=num_steps, grid=steps,
        seconds=time.perf_counter() - start,
    )  # fmt: skip


def simulator(
    env: Problem, features: Features | VectorFeatures | None = None, seed: int = 0,
    grid: Integers = NO_GRID, rule: Rule | None = None,
) -> Callable[[Sequence[int]], Simulation]:  # fmt: skip
    """A function that makes the simulation of a chunk of runs, for whoever wants to see phase after phase:

    for phase in play(learner, simulator(env)([0]), num_steps): …
    """
    space = space_of(env, features)
    if rule is not None:
        space = with_rule(space, rule)
    if isinstance(env, ContinuousProblem):
        return lambda runs: ContinuousSimulation(env, cast("Linear", space), seed, runs, grid)
    tables = functools.cache(transition_tables)
    return lambda runs: FiniteSimulation(env, cast("Tabular", space), tables(env.dynamics), seed, runs, grid)


def with_rule(space: QSpace, rule: Rule) -> QSpace:
    """The same space with a rule of thumb: an action for each state, a table of probabilities, or a function."""
    space.require_countable("a rule needs")
    if callable(rule):
        act = RulePolicy(rule, int, space.num_actions)
        rule = [act.action(state) for state in range(space.rows)]
    given = np.asarray(rule)
    if given.shape == (space.rows,) and given.dtype.kind in "iu":
        check_indices(given, space.num_actions, "the actions of the rule")
        given = np.eye(space.num_actions)[given]
    if given.shape != (space.rows, space.num_actions):
        raise InvalidInput(
            f"a rule is an action for each of {space.rows} states, or a table {(space.rows, space.num_actions)} of "
            f"probabilities, not {given.dtype} of shape {given.shape}"
        )
    found = copy.copy(space)
    found.rule = space.check_policy(given[None], 1)
    return found


def space_of(env: Problem, features: Features | VectorFeatures | None = None) -> QSpace:
    """How Q-functions of a problem are held with these features; or an error if they are not for it."""
    held = env if isinstance(env, ContinuousProblem) else env.dynamics
    own = type(features).__module__.partition(".")[0] != "aapi" and features is not None  # they may change, or not hash
    return _space(held, features) if own else _cached_space(held, cast("Hashable", features))


def _space(env: FiniteMDP | ContinuousProblem, features: Features | VectorFeatures | None) -> QSpace:
    if isinstance(env, ContinuousProblem):
        chosen = features or Fourier(order=4)
        if not isinstance(chosen, VectorFeatures):
            raise InvalidInput(
                f"{chosen!r} are features for finite problems: {env.name} takes Fourier, Tiles or Radial"
            )
        return Linear(chosen.basis(env.low, env.high).check(len(env.low)), env.num_actions)
    chosen = features or (OneHot() if env.coordinates is None else Coordinates())
    if isinstance(chosen, VectorFeatures):
        raise InvalidInput(
            f"{chosen!r} are features of vectors: a finite problem takes OneHot, Coordinates or a matrix"
        )
    return Tabular(chosen(env).check(env), env.num_actions, env)


@functools.lru_cache(SPACES)
def _cached_space(env: FiniteMDP | ContinuousProblem, features: Features | VectorFeatures | None) -> QSpace:
    return _space(env, features)


def step_grid(num_steps: int, points: int = 200) -> Integers:
    """Steps up to `num_steps`: `points` evenly spaced, tenths among them, and half as many geometrically."""
    even = np.arange(1, points + 1) * num_steps // points
    tenths = np.arange(1, 11) * num_steps // 10
    geometric = np.geomspace(1, num_steps, points // 2).round().astype(np.int64)
    return np.unique(np.concatenate([even[even > 0], tenths[tenths > 0], geometric]))


def _check_grid(grid: Sequence[int] | Integers, num_steps: int) -> Integers:
    steps = np.unique(np.asarray(grid))
    if steps.size == 0 or steps.dtype.kind not in "iu" or steps[0] < 1 or steps[-1] > num_steps:
        raise InvalidInput(f"grid must be whole numbers in 1..{num_steps}")
    return np.unique(np.append(steps, num_steps)).astype(np.int64)


def _run_chunk(
    learner: AnyLearner, simulation: Simulation, num_steps: int, record: bool, advance: Callable[[int], None],
    stop: threading.Event, callback: Callback | None,
) -> PhaseRecorder:  # fmt: skip
    """What the runs of one simulation contribute to a Result."""
    recorder = PhaseRecorder(simulation.space, len(simulation.streams), simulation.grid, record)
    earned = np.zeros(len(simulation.streams))
    for phase in play(learner, simulation, num_steps):
        recorder.add(phase, simulation.time)
        advance(phase.data.rewards.size)
        if callback:
            with np.errstate(over="ignore", invalid="ignore"):
                earned = earned + phase.data.reward_sums.sum(axis=1)
            callback(simulation.time, earned / simulation.time)
        if stop.is_set():
            break
    return recorder
