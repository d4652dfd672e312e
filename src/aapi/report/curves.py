"""Learning curves over the runs of a row: mean, spread and quantiles of the average reward so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.statistics import deviation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.experiments.store import Store
    from aapi.experiments.summary import Row

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
POINTS = 120


@dataclass(frozen=True, eq=False)
class Curve:
    """(1/t) Σ_{s≤t} r_s at steps t, over runs. quantiles: a line for each of QUANTILES.

    Regret, t λ_* minus t times this, and the fraction of λ_* have their means and quantiles at the same runs.
    """

    steps: NDArray[np.int64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    quantiles: NDArray[np.float64]


def read_curve(store: Store, row: Row, points: int = POINTS) -> Curve | None:
    """The curve of a row; None if no run of it is stored."""
    found = [store.curve(run.key) for run in row.runs if run.error is None]
    if not found:
        return None
    grid = found[0][0]
    shown = _thinned(grid, points)
    averages = np.array([sums[shown] for _, sums in found]) / grid[shown]
    quantiles = np.quantile(averages, QUANTILES, axis=0)
    return Curve(grid[shown], averages.mean(axis=0), deviation(averages), quantiles)


def _thinned(grid: NDArray[np.int64], points: int) -> NDArray[np.int64]:
    """Which points of a grid to show: as many evenly as geometrically spaced, the last one among them."""
    even = np.linspace(0, grid[-1], points // 2 + 1)[1:]
    early = np.geomspace(max(1, grid[0]), grid[-1], points // 2)
    places = np.searchsorted(grid, np.concatenate([even, early]).round())
    return np.unique(np.minimum(places, len(grid) - 1))
