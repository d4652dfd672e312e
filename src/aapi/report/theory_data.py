"""The data of the page about theory, as JSON: parts of regret, what lemmas say of them, and how regret grows."""

from __future__ import annotations

from typing import NotRequired, TypedDict

Numbers = list[float | None]  # None where a number does not exist


class BandData(TypedDict):
    """Means over runs with 95 % intervals, point by point."""

    mean: Numbers
    lower: Numbers
    upper: Numbers


class TotalData(TypedDict):
    """A mean over runs with its 95 % interval."""

    mean: float | None
    lower: float | None
    upper: float | None


class PartCurves(TypedDict):
    """Sums over phases so far, at the ends of phases. Parts that are 0 are left out. Equations: docs/theory.md."""

    steps: list[int]
    regret: BandData
    noise: BandData
    pseudo_regret: BandData
    estimation: BandData
    online_learning: BandData
    confinement: NotRequired[BandData]
    unevaluated: NotRequired[BandData]


class ErrorCurves(TypedDict):
    """Norms of Q̂_k − Q_{π_k} at the ends of evaluated phases: sup, and mean squares under μ_*⊗π_* and μ_*⊗π_k."""

    steps: list[int]
    sup: BandData
    optimal: BandData
    current: BandData
    span: BandData


class OnlineTerms(TypedDict):
    """Regret of online learning and the terms of its bound in each state, means over runs, times τ μ_*(x)."""

    regret: Numbers
    stability: Numbers
    regularisation: Numbers
    movement: Numbers
    prediction: Numbers
    bound: Numbers
    exceeded: int


class BoundCheckData(TypedDict):
    """What a lemma bounds, as measured, and its bound; where there is none, `reason` says why."""

    name: str
    statement: str
    measured: float | None
    bound: float | None
    reason: str
    holds: bool | None


class RegretParts(TypedDict):
    """Where regret comes from. multichain: phases whose gain depends on the state; stiff: whose Q is too large."""

    runs: int
    multichain: int
    stiff: int
    totals: dict[str, TotalData]
    curves: PartCurves
    errors: ErrorCurves
    online_learning: OnlineTerms | None
    pairs: list[BoundCheckData]


class RegretDecomposition(RegretParts):
    """The same of one algorithm on one problem."""

    problem: str
    algorithm: str


class RegretGrowth(TypedDict):
    """Regret against the best fixed policy in hindsight, for several T, and c T^p, fitted to its means."""

    problem: str
    algorithm: str
    runs: int
    steps: list[int]
    regret: BandData
    exponent: ExponentData
    fitted: Numbers


class ExponentData(TypedDict):
    """p with its 95 % interval; None: of a single run."""

    estimate: float
    lower: float | None
    upper: float | None
