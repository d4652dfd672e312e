"""Run an algorithm on a problem: many runs at once, in threads, the same bits however they are split."""

from __future__ import annotations

import functools
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aapi.algorithms.result import Record, Result
from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.features import Coordinates, Features, Fourier, OneHot
from aapi.progress import progress_bar
from aapi.simulation import (
    ContinuousProblem,
    ContinuousSimulation,
    FiniteSimulation,
    LinearPolicy,
    Simulation,
    transition_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.algorithms.policy_iteration import Phase
    from aapi.features import VectorFeatures
    from aapi.mdp import FiniteMDP

__all__ = ["Algorithm", "check_features", "run", "simulator", "step_grid"]

NO_GRID = np.empty(0, dtype=np.int64)
# What a Record takes from a Phase: its name there, and whether it has an axis of actions.
RECORDED = {
    "policies": ("policy", True), "q_hats": ("q_hat", True), "temperatures": ("temperature", False),
    "surprises": ("surprise", False), "predictions": ("prediction", True),
}  # fmt: skip


class Algorithm(Protocol):
    """Anything that can be run: it yields phases."""

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def phases(self, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
        """Act in the simulation for `num_steps` and yield a Phase per policy."""


def run(
    algorithm: Algorithm,
    env: FiniteMDP | ContinuousProblem,
    num_steps: int,
    num_runs: int = 1,
    seed: int = 0,
    *,
    first_run: int = 0,
    features: Features | VectorFeatures | None = None,
    threads: int = 1,
    chunk: int | None = None,
    grid: Sequence[int] | NDArray[np.int64] | None = None,
    record: bool = False,
    progress: bool = False,
    callback: Callable[[int, NDArray[np.float64]], Any] | None = None,
) -> Result:
    """Run an algorithm `num_runs` times for `num_steps` each.

    Run i, counted from `first_run`, has the random stream (seed, i) and nothing else to itself: its bits are the same
    alone or among others, for any number of threads and any chunk, the number of runs that are advanced together.

    features: how Q-functions are represented; by default the model's coordinates where it has some (DeepSea), else
        one-hot; for continuous problems, the Fourier basis of order 4.
    grid: steps at which the curves are taken; by default about 300, evenly and geometrically spaced.
    record: keep policies, Q̂, temperatures, surprises and predictions of every phase; of finite problems only.
    callback: called after each phase of a chunk with the steps so far and the average rewards so far, one for each run
        of the chunk; what it raises ends the run.
    """
    at_least(1, num_steps=num_steps, num_runs=num_runs, threads=threads)
    at_least(0, seed=seed, first_run=first_run)
    algorithm.check()
    runs = range(first_run, first_run + num_runs)
    steps = step_grid(num_steps) if grid is None else _check_grid(grid, num_steps)
    if record and isinstance(env, ContinuousProblem):
        raise InvalidInput(f"record keeps tables of finite problems, and {env.name} has no such tables")
    simulate = simulator(env, features, seed, steps)
    size = -(-num_runs // threads) if chunk is None else chunk
    at_least(1, chunk=size)
    chunks = [runs[i : i + size] for i in range(0, num_runs, size)]
    start = time.perf_counter()
    stop, pool = threading.Event(), ThreadPoolExecutor(threads)
    try:
        with progress_bar("running", num_steps * num_runs, show=progress) as advance:
            # In the pool as well: it may compile, which a signal to the main thread must not break into.
            simulations = pool.submit(lambda: [simulate(part) for part in chunks]).result()
            work = [
                pool.submit(_run_chunk, algorithm, part, num_steps, record, advance, stop, callback)
                for part in simulations
            ]
            for future in wait(work, return_when=FIRST_EXCEPTION).done:
                future.result()  # raises what went wrong, without waiting for the others
            parts = [future.result() for future in work]
    finally:
        stop.set()  # after an error, or Ctrl-C, the chunks under way end with their phase, and nobody waits for them
        pool.shutdown(wait=False, cancel_futures=True)
    shared = {name: parts[0].pop(name) for name in ("phase_ends", "evaluated", "weights")}
    joined = {name: _join([part[name] for part in parts]) for name in parts[0]}
    names = ("starts", *RECORDED)
    arrays = {name: joined.pop(name) for name in names} if record else {}
    kept = Record(evaluated=shared["evaluated"], weights=shared["weights"], **arrays) if record else None
    return Result(
        algorithm=algorithm,
        env=env,
        seed=seed,
        runs=np.array(runs),
        num_steps=num_steps,
        phase_ends=shared["phase_ends"],
        grid=steps,
        seconds=time.perf_counter() - start,
        record=kept,
        **joined,
    )


def check_features(env: FiniteMDP | ContinuousProblem, features: Features | VectorFeatures | None) -> None:
    """Raise an error if these features are not for this problem."""
    simulator(env, features)


def simulator(
    env: FiniteMDP | ContinuousProblem, features: Any = None, seed: int = 0, grid: NDArray[np.int64] = NO_GRID
) -> Callable[[Sequence[int]], Simulation]:
    """A function that makes the simulation of a chunk of runs, for whoever wants to see phase after phase:

    for phase in algorithm.phases(simulator(env)([0]), num_steps): …
    """
    if isinstance(env, ContinuousProblem):
        chosen = features or Fourier(order=4)
        if not hasattr(chosen, "basis"):
            raise InvalidInput(
                f"{chosen!r} are features for finite problems: {env.name} takes Fourier, Tiles or Radial"
            )
        basis = chosen.basis(env.low, env.high).check(len(env.low))
        return lambda runs: ContinuousSimulation(env, basis, seed, runs, grid)
    chosen = features or (OneHot() if env.coordinates is None else Coordinates())
    if hasattr(chosen, "basis"):
        raise InvalidInput(
            f"{chosen!r} are features of vectors: a finite problem takes OneHot, Coordinates or a matrix"
        )
    active, tables = chosen(env).check(env), functools.cache(transition_tables)
    return lambda runs: FiniteSimulation(env, active, tables(env), seed, runs, grid)


def step_grid(num_steps: int, points: int = 200) -> NDArray[np.int64]:
    """Steps up to `num_steps`: `points` evenly spaced, tenths among them, and half as many geometrically."""
    even = np.arange(1, points + 1) * num_steps // points
    tenths = np.arange(1, 11) * num_steps // 10
    geometric = np.geomspace(1, num_steps, points // 2).round().astype(np.int64)
    return np.unique(np.concatenate([even[even > 0], tenths[tenths > 0], geometric]))


def _check_grid(grid: Sequence[int] | NDArray[np.int64], num_steps: int) -> NDArray[np.int64]:
    steps = np.unique(np.asarray(grid))
    if steps.size == 0 or steps.dtype.kind not in "iu" or steps[0] < 1 or steps[-1] > num_steps:
        raise InvalidInput(f"grid must be whole numbers in 1..{num_steps}")
    return np.unique(np.append(steps, num_steps)).astype(np.int64)


def _run_chunk(
    algorithm: Algorithm, simulation: Simulation, num_steps: int, record: bool, advance: Callable[[int], None],
    stop: threading.Event, callback: Callable[[int, NDArray[np.float64]], Any] | None,
) -> dict[str, Any]:  # fmt: skip
    """The fields of a Result that the runs of one simulation contribute."""
    marks: list[NDArray[np.int64]] = []
    sums: list[NDArray[np.float64]] = []
    earned, told = np.zeros(len(simulation.streams)), _Told(len(simulation.streams), record)
    for phase in algorithm.phases(simulation, num_steps):
        if simulation.time != (marks[-1][-1] if marks else 0) + phase.data.rewards.shape[1]:
            raise InvalidInput("an algorithm must yield one Phase for every rollout, with its data")
        marks.append(simulation.time - phase.data.rewards.shape[1] + phase.data.stretch_ends)
        sums.append(phase.data.reward_sums)
        told.add(phase)
        advance(phase.data.rewards.size)
        if callback:
            earned += sums[-1].sum(axis=1)
            callback(simulation.time, earned / simulation.time)
        if stop.is_set():
            return {}
    if simulation.time != num_steps:
        raise InvalidInput(f"an algorithm that was to act for {num_steps} steps acted for {simulation.time}")
    cumulated = np.cumsum(np.concatenate(sums, axis=1), axis=1)
    return told.fields(simulation.shape) | {
        "phase_ends": np.array([ends[-1] for ends in marks]),
        "rewards": np.stack([part.sum(axis=1) for part in sums], axis=1),
        "cumulated": cumulated[:, np.searchsorted(np.concatenate(marks), simulation.grid)],
    }


class _Told:
    """What phases tell of themselves, beside rewards."""

    def __init__(self, runs: int, record: bool) -> None:
        self.record = record
        self.kept: dict[str, list[Any]] = {name: [] for name in RECORDED}
        self.evaluated: list[bool] = []
        self.weights: list[float] = []
        self.starts: list[Any] = []
        self.surprises: list[Any] = []
        self.conditioning: Any = None
        self.explored = np.zeros(runs, dtype=np.int64)
        self.policy: Any = None
        self.next_policy: Any = None

    def add(self, phase: Phase) -> None:
        """Take in one phase."""
        self.evaluated.append(phase.q_hat is not None)
        self.next_policy = phase.next_policy
        if phase.exploring is not None:
            self.explored += phase.data.rewards.shape[1] * phase.exploring
        else:
            self.policy = phase.policy
        if self.evaluated[-1]:
            self.weights.append(phase.weight)
            self.surprises.append(None if phase.surprise is None else _root_mean_square(phase.surprise) / phase.weight)
        if phase.conditioning is not None:
            worst = 0.0 if self.conditioning is None else self.conditioning
            self.conditioning = np.maximum(phase.conditioning, worst)
        if self.record:
            self.starts.append(phase.data.states[:, 0])
            for name, (source, _) in RECORDED.items():
                if self.evaluated[-1] or name == "policies":
                    self.kept[name].append(getattr(phase, source))

    def fields(self, shape: tuple[int, int, int]) -> dict[str, Any]:
        """For a Result, and its Record if there is to be one."""
        surprising = bool(self.surprises) and self.surprises[0] is not None
        found: dict[str, Any] = {
            "evaluated": np.array(self.evaluated),
            "weights": np.array(self.weights),
            "explored": self.explored,
            "surprise": np.stack(self.surprises, axis=1) if surprising else None,
            "conditioning": self.conditioning,
            "final_policy": self.policy,
            "next_policy": self.next_policy,
        }
        if self.record:
            found["starts"] = np.stack(self.starts, axis=1).astype(np.int64)
            runs, *table = shape
            for name, values in self.kept.items():
                empty = np.empty((runs, 0, *(table if RECORDED[name][1] else table[:1])))
                found[name] = empty if not values else None if values[0] is None else np.stack(values, axis=1)
        return found


def _root_mean_square(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the last axis, without squares that over- or underflow."""
    largest = table.max(axis=1)
    scale = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(scale * np.sqrt(((table / scale[:, None]) ** 2).mean(axis=1)))


def _join(parts: list[Any]) -> Any:
    if isinstance(parts[0], LinearPolicy):
        return LinearPolicy.join(parts)
    return None if parts[0] is None else np.concatenate(parts)
