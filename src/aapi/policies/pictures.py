"""Pictures of policies: the colour is the action, and the paler it is, the less it is to be relied on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput, install_extra
from aapi.files import atomic_write
from aapi.policies.table import ENOUGH

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as MatplotlibAxis
    from matplotlib.figure import Figure

    from aapi.array_types import AnyArray, Array, Mask
    from aapi.policies.table import PolicyTable

    Side = tuple["Axis", int]  # with the number of its coordinate

# Okabe and Ito's colours, which colour-blind people can tell apart; then others.
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c564b", "#f0e442", "#4b4b8c", "#7a9a01",
)  # fmt: skip
INK, NOWHERE = "#44484d", "#f4f5f7"
HATCH, HATCHED, LEVEL = "////", "#aab1b9", "#d3d7db"
PALEST = 0.30  # how much of its colour an action has that is hardly ahead
TIE, SURE = 1e-9, 0.95  # leads
MOST_PANELS = 6
SPREAD = 20.0  # visits of the observation with the most, in medians, from which on their scale is logarithmic
MOST_BARS = 400
MOST_FILLED = 400  # whole numbers from the lowest to the highest are all on an axis, up to so many
ENDINGS = ("png", "pdf", "svg")
RULES: dict[Any, Any] = {
    "font.size": 9, "axes.titlesize": 9, "axes.linewidth": 0.6, "text.usetex": False, "hatch.linewidth": 0.5,
    "hatch.color": HATCHED, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "text.color": INK, "svg.hashsalt": "aapi", "figure.dpi": 150, "savefig.dpi": 150,
}  # fmt: skip


def draw(table: PolicyTable, path: str | os.PathLike[str] | None) -> Figure:
    """The picture of a table, written to a file if there is a path."""
    ending = "png" if path is None else Path(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise InvalidInput(f"a picture is a .png, .pdf or .svg file, not {str(path)!r}")
    try:
        import matplotlib as mpl
    except ImportError:
        raise InvalidInput(f"pictures need matplotlib: {install_extra('plots')}") from None
    from matplotlib.figure import Figure

    if not len(table):
        raise InvalidInput("there is nothing to draw: the table has no rows")
    with mpl.rc_context(RULES):
        figure = Figure(layout="constrained")
        axes = [j for j, column in enumerate(table.observations.T) if len(np.unique(column)) > 1] or [0]
        if len(axes) == 1:
            _draw_bars(figure, table, axes[0])
        else:
            _draw_maps(figure, table, axes)
        figure.suptitle(_safe(table.title), x=0.01, ha="left", fontweight="bold")
        if path is not None:
            undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}[ending]
            with atomic_write(path) as file:
                figure.savefig(file, format=ending, metadata=undated)
    return figure


class Axis:
    """A coordinate along an axis, with cells of one size: all whole numbers of a range, or the values that there are.

    even: whether cells lie at their values; else they are numbered, and ticks have the values.
    """

    def __init__(self, numbers: Array, name: str) -> None:
        values = np.unique(numbers)
        self.whole = bool((values == np.floor(values)).all())
        if self.whole and values[-1] - values[0] < MOST_FILLED:
            values = np.arange(values[0], values[-1] + 1.0)
        steps = np.diff(values)
        self.even = len(steps) == 0 or bool(np.ptp(steps) <= 1e-6 * steps[0])
        self.values, self.name, self.step = values, _safe(name), float(steps[0]) if self.even and len(steps) else 1.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ends(self) -> tuple[float, float]:
        """The edges of the first and the last cell."""
        first, last = (self.values[0], self.values[-1]) if self.even else (0.0, len(self) - 1.0)
        return float(first) - 0.5 * self.step, float(last) + 0.5 * self.step

    def cells(self, numbers: Array) -> AnyArray:
        """In which cells numbers are, that are among the values."""
        return np.searchsorted(self.values, numbers)

    def set_ticks(self, axis: MatplotlibAxis, most: int) -> None:
        """About so many ticks, at round numbers."""
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        axis.set_major_locator(MaxNLocator(most, integer=self.whole or not self.even))
        if not self.even:
            axis.set_major_formatter(FuncFormatter(self._value_text))

    def _value_text(self, place: float, _position: int | None) -> str:
        k = round(place)
        return f"{self.values[k]:.3g}".replace("-", "−") if 0 <= k < len(self) else ""


def _draw_bars(figure: Figure, table: PolicyTable, j: int) -> None:
    """Probabilities of the actions above each other, along one coordinate; how often it was there, below."""
    axis = Axis(table.observations[:, j], table.names.observations[j])
    order = np.argsort(table.observations[:, j], kind="stable")[:MOST_BARS]
    places = axis.cells(table.observations[order, j])
    figure.set_size_inches(7.0, 4.1 if table.been is not None else 3.1)
    if table.been is None:
        (top,) = figure.subplots(1, 1, squeeze=False)[0]
        lowest = top
    else:
        top, lowest = figure.subplots(2, 1, sharex=True, height_ratios=[5, 2])
    chances = table.probabilities[order]
    at, width = axis.values if axis.even else np.arange(len(axis)), axis.step * (0.92 if len(axis) <= 60 else 1.0)
    bottom = np.zeros(len(order))
    for a in range(chances.shape[1]):
        top.bar(at[places], chances[:, a], width, bottom, color=COLOURS[a % len(COLOURS)], linewidth=0)
        bottom += chances[:, a]
    been = table.been
    missing = np.setdiff1d(np.arange(len(axis)), places if been is None else places[been[order] > 0.0])
    top.bar(at[missing], np.ones(len(missing)), width, fill=False, hatch=HATCH, edgecolor=HATCHED, linewidth=0)
    top.set(ylabel="probability", ylim=(0.0, 1.0), xlim=axis.ends)
    if been is not None:
        lowest.bar(at[places], been[order], width, color=INK, linewidth=0)
        lowest.set(ylabel=table.counted)
        if been.max() > SPREAD * max(float(np.median(been)), 1e-9 * been.max()):
            lowest.set_yscale("log")
    lowest.set_xlabel(axis.name if table.labels is None else "state")
    if table.labels is not None and len(axis) <= 24:
        lowest.set_xticks(at[places], [_safe(table.labels[i]) for i in order])
        lowest.tick_params(axis="x", labelrotation=90 if max(map(len, table.labels)) > 3 else 0)
    else:
        axis.set_ticks(lowest.xaxis, 14)
    for each in {top, lowest}:
        each.spines[["top", "right"]].set_visible(False)
    _add_legend(figure, table, [*range(chances.shape[1])], nowhere=len(missing) > 0, pale=False)


def _draw_maps(figure: Figure, table: PolicyTable, axes: Sequence[int]) -> None:
    """A map of two coordinates; one for each of the slices where there are more."""
    across, up = _two_of(table, axes)
    rest = [j for j in axes if j not in (across, up)]
    horizontal, vertical = (Axis(table.observations[:, j], table.names.observations[j]) for j in (across, up))
    slices = list(_slices(table, rest))
    shown = slices[:MOST_PANELS]
    columns = min(3, len(shown)) if len(shown) != 4 else 2
    lines = math.ceil(len(shown) / columns)
    side = {1: 4.6, 2: 3.4}.get(columns, 2.6)
    ratio = min(1.6, max(0.5, len(vertical) / len(horizontal)))
    figure.set_size_inches(max(5.0, columns * side + 0.6), lines * (side * ratio + 0.5) + 0.7)
    panels = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    holes = False
    for k, panel in enumerate(panels.flat):
        if k >= len(shown):
            panel.set_visible(False)
            continue
        holes |= _draw_map(panel, table, (horizontal, across), (vertical, up), shown[k][1])
        horizontal.set_ticks(panel.xaxis, 8 if columns < 3 else 5)
        vertical.set_ticks(panel.yaxis, 8 if columns < 3 else 6)
        panel.set_title(shown[k][0], loc="left")
        if vertical.name == "row" and not panel.yaxis_inverted():
            panel.invert_yaxis()
        if k + columns >= len(shown):
            panel.set_xlabel(horizontal.name)
            panel.tick_params(labelbottom=True)
        if k % columns == 0:
            panel.set_ylabel(vertical.name)
    few = f"the {len(shown)} of {len(slices)} slices where it was most" if len(shown) < len(slices) else None
    _add_legend(figure, table, np.unique(table.actions[table.lead > TIE]).tolist(), nowhere=holes, pale=True, note=few)


def _two_of(table: PolicyTable, axes: Sequence[int]) -> tuple[int, int]:
    """The two coordinates with the most values, in their order; a column goes across."""
    counts = {j: len(np.unique(table.observations[:, j])) for j in axes}
    first, second = sorted(sorted(axes, key=lambda j: -counts[j])[:2])
    return (second, first) if table.names.observations[first] == "row" else (first, second)


def _slices(table: PolicyTable, rest: Sequence[int]) -> Iterator[tuple[str, Mask]]:
    """Titles and rows of slices at fixed values of the other coordinates; those where it was most often first."""
    if not rest:
        yield "", np.ones(len(table), dtype=bool)
        return
    values, which = np.unique(table.observations[:, rest], axis=0, return_inverse=True)
    weights = np.bincount(which.reshape(-1), weights=table.been)
    most = sorted(np.argsort(-weights, kind="stable")[:MOST_PANELS].tolist())
    others = [k for k in range(len(values)) if k not in set(most)]
    for k in [*most, *others]:
        where = ", ".join(
            f"{table.names.observations[j]} = {value:.3g}" for j, value in zip(rest, values[k], strict=True)
        )
        yield _safe(where).replace("-", "−"), np.asarray(which.reshape(-1) == k)


def _draw_map(panel: Axes, table: PolicyTable, across: Side, up: Side, rows: Mask) -> bool:
    """One map; whether there are cells in it where the policy never was."""
    from matplotlib.colors import to_rgb

    (horizontal, i), (vertical, j) = across, up
    shape, been = (len(vertical), len(horizontal)), table.been
    x, y = horizontal.cells(table.observations[:, i]), vertical.cells(table.observations[:, j])
    colours = np.array([to_rgb(COLOURS[a % len(COLOURS)]) for a in range(table.probabilities.shape[1])])
    strength = PALEST + (1.0 - PALEST) * table.certainty[:, None]
    painted = np.where(table.lead[:, None] > TIE, 1.0 - strength * (1.0 - colours[table.actions]), to_rgb(LEVEL))
    cells = np.full((*shape, 3), to_rgb(NOWHERE))
    cells[y[rows], x[rows]] = painted[rows]
    extent = (*horizontal.ends, *vertical.ends)
    panel.imshow(cells, origin="lower", aspect="auto", interpolation="nearest", extent=extent)
    known = np.zeros(shape, dtype=bool)
    seen = rows if been is None else rows & (been > 0.0)
    known[y[seen], x[seen]] = True
    _hatch(panel, ~known, extent)
    return not known.all()


def _hatch(panel: Axes, cells: Mask, extent: tuple[float, float, float, float]) -> None:
    """Hatch some cells, in runs along rows."""
    from matplotlib.patches import Rectangle

    left, right, low, high = extent
    width, height = (right - left) / cells.shape[1], (high - low) / cells.shape[0]
    for k, row in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
        for first, last in edges.reshape(-1, 2).tolist():
            corner, size = (left + first * width, low + k * height), ((last - first) * width, height)
            panel.add_patch(Rectangle(corner, *size, fill=False, hatch=HATCH, edgecolor=HATCHED, linewidth=0))


def _add_legend(
    figure: Figure, table: PolicyTable, actions: Sequence[int], *, nowhere: bool, pale: bool, note: str | None = None
) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(color=COLOURS[a % len(COLOURS)], label=_safe(table.names.actions[a])) for a in actions]
    if pale and bool((table.lead <= TIE).any()):
        patches.append(Patch(color=LEVEL, label="a tie"))
    if nowhere:
        patches.append(Patch(facecolor="white", edgecolor=HATCHED, hatch=HATCH, label=table.unseen))
    notes = [] if note is None else [note]
    paler = {
        "less ahead of the next action": (table.lead > TIE) & (table.lead < SURE),
        f"tried fewer than {ENOUGH} times": (table.lead > TIE) & (table.certainty < SURE * table.lead),
    }
    if pale and (reasons := [reason for reason, rows in paler.items() if rows.any()]):
        notes.append(f"paler: {', or '.join(reasons)}")
    longest = max((len(str(patch.get_label())) for patch in patches), default=0)
    fit = int(figure.get_figwidth() / (0.075 * longest + 0.6))  # inches, at 9 points
    figure.legend(
        handles=patches, loc="outside lower center", ncols=max(1, min(6, fit, len(patches))), frameon=False,
        title="; ".join(notes) or None, title_fontsize=8,
    )  # fmt: skip


def _safe(text: str) -> str:
    """A name as it is, not as a formula, and not too long."""
    return (text if len(text) <= 60 else f"{text[:59]}…").replace("$", r"\$")
