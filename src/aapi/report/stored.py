"""What the store holds of the rows of a summary: learning curves, learner traces, parts and growth of regret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.experiments.diagnostics import decomposition_key, growth_key
from aapi.experiments.trace import LearnerTrace, median_run, stored_trace
from aapi.report.theory_data import RegretGrowth, RegretParts
from aapi.statistics import deviation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Store
    from aapi.experiments.summary import Row
    from aapi.json_types import JsonObject

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


@dataclass(frozen=True)
class Diagnostic:
    """What is stored of an algorithm on a problem: a learner trace; or parts or growth of regret, in its `about`."""

    problem: str
    algorithm: str
    trace: LearnerTrace

    @property
    def error(self) -> str:
        """Why it could not be made; empty if it was."""
        return str(self.trace.about.get("error", ""))

    @property
    def regret(self) -> RegretParts:
        """The parts of regret."""
        return cast("RegretParts", self._about(RegretParts))

    @property
    def growth(self) -> RegretGrowth:
        """Regret for several T."""
        named: JsonObject = {"problem": self.problem, "algorithm": self.algorithm}
        return cast("RegretGrowth", named | self._about(RegretGrowth))

    def _about(self, wanted: type) -> JsonObject:
        about = self.trace.about
        return {name: about[name] for name in wanted.__annotations__ if name in about}


def learner_traces(store: Store, rows: Sequence[Row]) -> Iterator[Diagnostic]:
    """The trace of the median run of each."""
    return _each(store, rows, lambda row: run.key if (run := median_run(row.runs)) is not None else None)


def decompositions(store: Store, rows: Sequence[Row]) -> Iterator[Diagnostic]:
    """Noise, estimation error and online learning in the regret of each, of some of its runs."""
    return _each(
        store, rows,
        lambda row: None if row.chosen is None else decomposition_key(row.plan.candidates[row.chosen], row.plan.seed),
    )  # fmt: skip


def growths(store: Store, rows: Sequence[Row]) -> Iterator[Diagnostic]:
    """How the regret of each grows with T, where rewards change."""
    return _each(
        store, rows,
        lambda row: None if row.chosen is None else growth_key(row.plan.candidates[row.chosen], row.plan.seed),
    )  # fmt: skip


def _each(store: Store, rows: Sequence[Row], key_of: Callable[[Row], str | None]) -> Iterator[Diagnostic]:
    """Each algorithm on each problem once. Problems of one name that differ in their gains have the study added."""
    seen: set[object] = set()
    models: dict[str, object] = {}  # the gains of the first problem of a name
    for row in rows:
        plan = row.plan
        what, key = (plan.problem, plan.references, plan.algorithm), key_of(row)
        found = None if key is None or what in seen else stored_trace(store, key)
        if found is not None:
            seen.add(what)
            first = models.setdefault(plan.problem, plan.references)
            problem = plan.problem if first == plan.references else f"{plan.problem} ({plan.study})"
            yield Diagnostic(problem, plan.algorithm, found)
