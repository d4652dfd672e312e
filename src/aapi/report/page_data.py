"""The data of the page, as JSON: everything that report.html shows. `make js` checks the JavaScript against it."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from aapi.report.theory_data import Numbers, RegretDecomposition, RegretGrowth  # noqa: TC001 - tools/page_types.py


class PageData(TypedDict):
    """All of it. sensitivity: tuning runs; by_scale: the same of studies with rewards on several scales."""

    sentences: list[str]
    notices: list[str]
    detail: Detail
    status: StatusData | None
    styles: dict[str, StyleData]
    rows: list[RowData]
    comparisons: list[ComparisonData]
    ablations: list[AblationData]
    sensitivity: list[TunedPoint]
    by_scale: list[TunedPoint]
    decompositions: list[RegretDecomposition]
    growth: list[RegretGrowth]
    traces: list[TraceData]
    sessions: list[SessionData]


class Detail(TypedDict):
    """How much is shown: points of each curve, states × phases of each run. full: nothing was left out for size."""

    points: int
    cells: int
    full: bool


class StatusData(TypedDict):
    """How far the last session is. stored, needed: runs; share: of the work that is done, in [0, 1]."""

    state: Literal["running", "done", "stopped"]
    stored: int
    needed: int
    share: float
    seconds_left: float | None


class StyleData(TypedDict):
    """How an algorithm is drawn. dark: its colour on a dark page; dash: solid, dash, dot or dashdot."""

    colour: str
    dark: str
    dash: str


class RowData(TypedDict):
    """A row of the results: an algorithm on a problem. Rewards are averages over whole runs.

    chosen: what tuning chose, in words. runs: those that did not fail, of `planned` ones. lower, upper: the 95 %
    bootstrap interval of the mean. iqm: interquartile mean. fraction: of λ_*. score: 0 acting at random, 1 optimum.
    """

    study: str
    problem: str
    reward_scale: float
    algorithm: str
    steps: int
    chosen: str
    runs: int
    planned: int
    failed: int
    missing: int
    mean: float | None
    std: float | None
    lower: float | None
    upper: float | None
    iqm: float | None
    worst: float | None
    fraction: float | None
    score: float | None
    regret: float | None
    seconds: float
    optimal_gain: float | None
    settings: str
    curve: CurveData | None


class CurveData(TypedDict):
    """(1/t) Σ_{s≤t} r_s at steps t, over runs. quantiles: lines of 10, 25, 50, 75 and 90 %."""

    steps: list[int]
    mean: Numbers
    std: Numbers
    quantiles: list[Numbers]


class IntervalData(TypedDict):
    """An estimate with its 95 % interval."""

    estimate: float
    lower: float
    upper: float


class ComparisonData(TypedDict):
    """The first algorithm of a study, `ours`, against another one, `theirs`, on a problem.

    improvement: P(a run of ours earns more). verdict: 1 ours is better, −1 theirs, 0 neither, None too few runs.
    """

    study: str
    problem: str
    reward_scale: float
    ours: str
    theirs: str
    difference: IntervalData
    improvement: IntervalData
    verdict: int | None


class AblationColumn(TypedDict):
    """A learning rate: its group, its label within it, and both together."""

    group: str
    label: str
    name: str


class AblationProblem(TypedDict):
    """Cells, evaluators × columns: the index of a row in `rows`, or why there is no score."""

    title: str
    cells: list[list[int | str]]


class AblationData(TypedDict):
    """An ablation study. shown: labels whose curves are drawn at first; means: scores, evaluators × columns."""

    study: str
    evaluators: list[str]
    columns: list[AblationColumn]
    problems: list[AblationProblem]
    means: list[Numbers]
    effects: list[str]
    empty_cells: list[str]
    shown: list[str]


class TunedPoint(TypedDict):
    """The tuning runs of one candidate, x: its value, or the words for it; names: of the settings that were tuned.

    y: the score, or the average reward where scored is False. std: over runs, in the same unit. chosen: as the best.
    """

    problem: str
    reward_scale: float
    algorithm: str
    names: list[str]
    x: float | str
    y: float | None
    scored: bool
    std: float
    runs: int
    failed: int
    chosen: bool


class StateSpace(TypedDict):
    """What the states of a table are: those of a grid, points of a slice through observations, or a list.

    actions: their names. shape: of a grid or slice. axes: values along both sides of a slice. optimal: the action of
    the optimal policy in each state. run: the number of the run.
    """

    kind: Literal["grid", "slice", "states"]
    actions: list[str]
    run: int
    shape: NotRequired[list[int]]
    axes: NotRequired[list[list[float]]]
    optimal: NotRequired[list[int]]


class PackedTable(TypedDict):
    """Numbers between low and high, rounded to 12 bits, in base64: high bytes first, then low halves, two in a byte."""

    low: float
    high: float
    count: int
    packed: str


class TraceData(TypedDict):
    """Some phases of one run, which end at `steps`.

    tables, (phases, states[, actions]): visits, policy π_k, q_hat Q̂_k, temperature η_k(x), surprise ‖Q̂_k − M_k‖.
    """

    problem: str
    algorithm: str
    space: StateSpace
    phases: list[int]
    steps: list[int]
    tables: dict[str, PackedTable]


class SessionData(TypedDict):
    """A call of aapi that filled the store. began: seconds since 1970; seconds: None if it has not ended."""

    command: str
    began: float
    seconds: float | None
    running: bool
    details: dict[str, str]
