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
from aapi.experiments.plan import run_key

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

    @property
    def keys(self) -> list[str]:
        """The key of each run."""
        return [run_key(self.configuration.key, self.seed, number) for number in self.runs]

    def each(self) -> list[RunBatch]:
        """A batch for each run."""
        return [replace(self, runs=(number,), seconds=self.seconds / len(self.runs)) for number in self.runs]


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """One run of a batch: the sums of rewards up to each step of the grid, both (grid,); or the error, if it failed."""

    number: int
    seconds: float
    grid: NDArray[np.int64] | None = None
    cumulated: NDArray[np.float64] | None = None
    error: str | None = None


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
        return [RunOutcome(batch.runs[0], time.perf_counter() - start, error=describe_error(error))]
    seconds = (time.perf_counter() - start) / len(batch.runs)
    return [RunOutcome(number, seconds, grid, curve) for number, curve in zip(batch.runs, cumulated, strict=True)]


def describe_error(error: BaseException) -> str:
    """What went wrong in one line; with the place in the code, unless the message is one of the library's."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, AapiError):
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({place.filename.rsplit('/', 1)[-1]}, line {place.lineno})"
