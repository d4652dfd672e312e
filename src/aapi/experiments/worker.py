"""A batch of runs of one configuration: what an engine executes, in a thread, a process or on a cluster."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import AapiError
from aapi.experiments.agent_runs import agent_curves
from aapi.experiments.compiled_runs import compiled_curves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration


@dataclass(frozen=True)
class RunBatch:
    """Some runs of a configuration, by number. seconds: about how long they take together.

    label: the algorithm's name in tables; study: whose progress bar it advances.
    """

    configuration: Configuration
    seed: int
    runs: tuple[int, ...]
    seconds: float = 0.0
    label: str = ""
    study: str = ""

    def each(self) -> list[RunBatch]:
        """A batch for each run."""
        return [replace(self, runs=(number,), seconds=self.seconds / len(self.runs)) for number in self.runs]

    def outcomes(self, seconds: float, error: str | None = None) -> list[RunOutcome]:
        """An outcome for each run, without a curve: all failed, if there is an error. seconds: of each run."""
        key = self.configuration.key
        return [
            RunOutcome(run_key(key, self.seed, number), key, self.seed, number, seconds, error=error)
            for number in self.runs
        ]


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """One run: the sums of rewards up to each step of the grid, both (grid,); or the error, if it failed."""

    key: str
    configuration: str
    seed: int
    run: int
    seconds: float
    grid: NDArray[np.int64] | None = None
    cumulated: NDArray[np.float64] | None = None
    error: str | None = None


def run_key(configuration: str, seed: int, run: int) -> str:
    """The key of a run, from that of its configuration."""
    return f"{configuration}-{seed}-{run}"


def run_keys(configuration: str, seed: int, runs: int) -> list[str]:
    """The keys of the first runs of a configuration."""
    return [run_key(configuration, seed, number) for number in range(runs)]


def run_batch(batch: RunBatch) -> list[RunOutcome]:
    """Execute a batch. If it fails as a whole, each run is tried alone, so that one bad run does not fail others."""
    start = time.perf_counter()
    curves = agent_curves if batch.configuration.problem.is_gymnasium else compiled_curves
    try:
        grid, cumulated = curves(batch.configuration, batch.seed, batch.runs)
        if not np.isfinite(cumulated).all():
            raise AapiError("the rewards are not finite numbers")
    except Exception as error:  # noqa: BLE001 - whatever a user's part or environment may raise
        if len(batch.runs) > 1:
            return [outcome for single in batch.each() for outcome in run_batch(single)]
        return batch.outcomes(time.perf_counter() - start, describe_error(error))
    seconds = (time.perf_counter() - start) / len(batch.runs)
    return [
        replace(outcome, grid=grid, cumulated=curve)
        for outcome, curve in zip(batch.outcomes(seconds), cumulated, strict=True)
    ]


def describe_error(error: BaseException) -> str:
    """What went wrong in one line; with the place in the code, unless the message is one of the library's."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, AapiError):
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({place.filename.rsplit('/', 1)[-1]}, line {place.lineno})"
