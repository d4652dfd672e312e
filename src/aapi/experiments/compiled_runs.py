"""Runs of built-in problems and models, in the library's compiled loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from aapi.batch import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration
    from aapi.result import Result

__all__ = ["compiled_curves", "compiled_result"]


def compiled_result(
    configuration: Configuration, seed: int, first: int, count: int,
    callback: Callable[[int, NDArray[np.float64]], None] | None = None,
) -> Result:  # fmt: skip
    """The runs `first` … `first + count − 1`; callback: called with the steps and average rewards so far."""
    return run(
        configuration.algorithm, configuration.problem.make_model(), configuration.steps, count, seed,
        first_run=first, features=configuration.compiled_features, callback=callback,
    )  # fmt: skip


def compiled_curves(
    configuration: Configuration, seed: int, numbers: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The steps of the grid, (grid,), and the sum of rewards up to each of them, (runs, grid)."""
    results = [compiled_result(configuration, seed, first, count) for first, count in _consecutive(numbers)]
    return results[0].grid, np.concatenate([result.cumulated for result in results])


def _consecutive(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """(first, how many) of numbers that follow each other: these are run as one batch."""
    breaks = [0, *(i for i in range(1, len(numbers)) if numbers[i] != numbers[i - 1] + 1), len(numbers)]
    return [(numbers[start], end - start) for start, end in itertools.pairwise(breaks)]
