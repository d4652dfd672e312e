"""What an engine is given to do: a few runs of one configuration. It returns what is to be stored of each."""

from __future__ import annotations

import itertools
import pickle
import time
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.agent import Agent
from aapi.algorithms import RLSVI, count_phases, run
from aapi.errors import AapiError, InvalidInput
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration

__all__ = [
    "EngineLost",
    "Outcome",
    "Poison",
    "Task",
    "expected_seconds",
    "failed",
    "packed",
    "perform",
    "phases_of",
    "run_key",
    "run_seed",
    "told",
    "unpacked",
]


MANY_FEATURES = 629  # where their number is not known yet: CartPole's


class Poison(AapiError):
    """A task whose process died each time it was tried."""


class EngineLost(AapiError):
    """There is nothing left to run tasks on."""


@dataclass(frozen=True)
class Task:
    """Some runs of a configuration. seconds: about how long it will take."""

    configuration: Configuration
    seed: int
    runs: tuple[int, ...]
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Outcome:
    """One run: the sums of rewards up to the steps of the grid, or what went wrong."""

    key: str
    configuration: str
    seed: int
    run: int
    seconds: float
    grid: NDArray[np.int64] | None = None
    cumulated: NDArray[np.float64] | None = None
    error: str | None = None


def packed(dumps: Callable[[Any], bytes], fn: Any, *args: Any, **kwargs: Any) -> bytes:
    """A call for another process, in which `unpacked` can do it."""
    try:
        return dumps((fn, args, kwargs))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{error}: for processes and Dask, algorithms and problems must be picklable") from None


def unpacked(call: bytes) -> Any:
    """Do a call: what is not to be had here is an error of the call, and no death of the process that reads it."""
    try:
        fn, args, kwargs = pickle.loads(call)  # noqa: S301 - from this very program
    except (ImportError, AttributeError) as error:
        raise InvalidInput(f"a worker does not have what the study is made of: {error}") from None
    return fn(*args, **kwargs)


def run_key(configuration: str, seed: int, run: int) -> str:
    """The name of a run of a configuration, which is given by its key: of all that determines it."""
    return f"{configuration}-{seed}-{run}"


def perform(task: Task) -> list[Outcome]:
    """Do the runs of a task. Where they fail together, each is tried alone, so that only those that fail are failed."""
    start = time.perf_counter()
    try:
        grid, cumulated = (_episodes if task.configuration.problem.is_foreign else _compiled)(task)
        if not np.isfinite(cumulated).all():
            raise AapiError("the rewards are not finite numbers")
    except Exception as error:  # noqa: BLE001 - whatever a user's part or environment may raise
        if len(task.runs) > 1:
            return [outcome for number in task.runs for outcome in perform(replace(task, runs=(number,)))]
        return [_outcome(task, task.runs[0], time.perf_counter() - start, error=told(error))]
    each = (time.perf_counter() - start) / len(task.runs)
    return [
        _outcome(task, number, each, grid=grid, cumulated=curve)
        for number, curve in zip(task.runs, cumulated, strict=True)
    ]


def failed(task: Task, error: str) -> list[Outcome]:
    """All runs of a task failed, for a reason that is not in them."""
    return [_outcome(task, number, 0.0, error=error) for number in task.runs]


def _compiled(task: Task) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Runs that follow each other in number are one batch: the unit of the compiled loops."""
    configuration, parts = task.configuration, []
    env = configuration.problem.make()
    for first, count in _stretches(task.runs):
        result = run(
            configuration.algorithm, env, configuration.steps, count, task.seed, first_run=first,
            features=configuration.features,
        )  # fmt: skip
        parts.append(result.cumulated)
    return result.grid, np.concatenate(parts)


def _episodes(task: Task) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """An agent for each run; its grid is the ends of its phases."""
    configuration, curves = task.configuration, []
    for number in task.runs:
        steps: list[int] = []
        sums: list[float] = []
        env = configuration.problem.make()
        try:
            agent = Agent(configuration.algorithm, env, configuration.features, run_seed(task.seed, number))
            while agent.num_steps < configuration.steps:
                left = configuration.steps - agent.num_steps
                agent.learn(min(left, agent.steps_left))
                steps.append(agent.num_steps)
                sums.append(agent.total_reward)
        finally:
            env.close()
        curves.append(sums)
    return np.array(steps, dtype=np.int64), np.array(curves, dtype=np.float64)


def run_seed(seed: int, number: int) -> int:
    """The seed of an agent, and its environment, for a run: as far from others as the streams of compiled runs are."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _stretches(runs: tuple[int, ...]) -> list[tuple[int, int]]:
    """(first, how many) of runs that follow each other."""
    breaks = [0, *(i for i in range(1, len(runs)) if runs[i] != runs[i - 1] + 1), len(runs)]
    return [(runs[start], end - start) for start, end in itertools.pairwise(breaks)]


def _outcome(task: Task, number: int, seconds: float, **found: Any) -> Outcome:
    configuration = task.configuration.key
    return Outcome(run_key(configuration, task.seed, number), configuration, task.seed, number, seconds, **found)


def told(error: BaseException) -> str:
    """One line: what went wrong, and where, if it is not an error that speaks for itself."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, AapiError):
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({place.filename.rsplit('/', 1)[-1]}, line {place.lineno})"


def expected_seconds(configuration: Configuration) -> float:
    """About how long a run takes on one processor: for cutting work into tasks, and for the time left."""
    algorithm, steps = configuration.algorithm, configuration.steps
    if configuration.problem.is_foreign:
        return 5e-5 * steps
    sweeps = algorithm.horizon if isinstance(algorithm, RLSVI) else 0
    env = configuration.problem.make()
    phases = phases_of(configuration)
    if isinstance(env, FiniteMDP):
        solving = 2e-5 * env.num_states if getattr(algorithm, "exploration", ()) else 0.0
        return 4e-8 * steps + phases * (env.num_states * env.num_actions * (5e-8 + 3e-8 * sweeps) + solving)
    return 1e-5 * steps + phases * sweeps * 4e-3


def phases_of(configuration: Configuration, features: int = MANY_FEATURES) -> int:
    """How many phases a run has, of a problem that is not foreign; 1 if its algorithm has none.

    features: of each action, where states are vectors.
    """
    if not hasattr(configuration.algorithm, "phase_length"):
        return 1
    env = configuration.problem.make()
    tables = isinstance(env, FiniteMDP)
    shape = (1, *env.rewards.shape) if tables else (1, features, env.num_actions)
    return max(1, count_phases(configuration.algorithm, configuration.steps, shape, tables))
