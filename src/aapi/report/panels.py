"""Figures of panels for print: our rules for Matplotlib, ticks and legends, and files written atomically."""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from aapi.errors import InvalidInput, install_extra
from aapi.files import atomic_write
from aapi.progress import progress_bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from aapi.report.colours import Style

FORMATS = ("pdf", "svg", "png")
WIDTHS = {"one-column": 3.35, "two-column": 6.9}  # inches
INK = "#44484d"
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
RULES: dict[Any, Any] = {  # the type of keys differs between versions of Matplotlib
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e6e8eb", "grid.linewidth": 0.5, "lines.linewidth": 1.2, "pdf.fonttype": 42,
    "svg.hashsalt": "aapi", "svg.fonttype": "none", "figure.constrained_layout.use": True, "figure.dpi": 200,
    "savefig.dpi": 200, "text.usetex": False,
}  # fmt: skip

# The same data shall give the same bytes, on any day.
UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}

Legend: TypeAlias = "dict[str, Artist]"  # by label
Panel: TypeAlias = "Callable[[Axes, Legend], None]"  # draws on axes, and adds what it drew to the legend
Panels: TypeAlias = "Mapping[str, Panel]"  # by title


@contextmanager
def drawing() -> Iterator[None]:
    """Within this block, Matplotlib follows our rules; an error if it is not installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise InvalidInput(f"figures need matplotlib: {install_extra('plots')}") from None
    except ValueError as error:  # MPLBACKEND, or a file of settings
        raise InvalidInput(f"matplotlib does not like its settings: {error}") from None
    with mpl.rc_context(RULES), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # an empty box says it, too
        yield


def make_folder(out: Path) -> None:
    """Make the folder that figures are written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if out.is_file() else error.strerror
        raise InvalidInput(f"cannot make the folder {out}: {why}; choose another with --out") from None


def draw_line(axes: Axes, x: ArrayLike, y: ArrayLike, style: Style, *, marker: str = "", size: float = 2.5) -> Artist:
    """A line in the colour and dashes of an algorithm."""
    (line,) = axes.plot(x, y, color=style.colour, linestyle=DASHES[style.dash], marker=marker, markersize=size)
    return line


def draw_band(axes: Axes, x: ArrayLike, lower: ArrayLike, upper: ArrayLike, colour: str) -> None:
    """The interval around a line."""
    axes.fill_between(x, lower, upper, color=colour, alpha=0.15, linewidth=0)


def write_panels(files: Sequence[tuple[Path, Panels, str]], formats: Sequence[str], *, progress: bool) -> list[Path]:
    """Write figures, and return the paths. files: for each, the path without its ending, panels, and one of WIDTHS."""
    paths: list[Path] = []
    with drawing(), progress_bars({"drawing": len(files)}, show=progress) as advance:
        for path, panels, width in files:
            figure = _laid_out(panels, width)
            for ending in formats:
                paths.append(path.with_name(f"{path.name}.{ending}"))
                with atomic_write(paths[-1]) as stream:
                    figure.savefig(stream, format=ending, metadata=UNDATED[ending])
            advance("drawing", 1, path.name)
    return paths


def _laid_out(panels: Panels, width: str) -> Figure:
    """A figure of panels, with one legend for all."""
    from matplotlib.figure import Figure

    figure = Figure()
    most = (1 if len(panels) <= 4 else 2) if width == "one-column" else (2 if len(panels) in (2, 4) else 3)
    across = min(len(panels), most)
    down = math.ceil(len(panels) / across)
    inches = WIDTHS[width]
    grid = figure.subplots(down, across, squeeze=False)
    legend: Legend = {}
    for axes, (title, draw) in zip(grid.flat, panels.items(), strict=False):
        draw(axes, legend)
        axes.set_title(_plain(title, int(16 * inches / across)), loc="left")
        for axis in (axes.xaxis, axes.yaxis):
            _format_ticks(axis)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    if "optimum" in legend:
        legend["optimum"] = legend.pop("optimum")  # last
    labels = [_plain(name, 40) for name in legend]
    columns = max(1, min(len(labels), 6, int(15 * inches / (max(map(len, labels)) + 6))))
    lines = math.ceil(len(labels) / columns)
    figure.set_size_inches(inches, 0.2 + 0.15 * lines + down * min(2.0, 0.72 * inches / across))
    figure.legend(legend.values(), labels, loc="outside upper center", ncols=columns, frameon=False)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, for all formats
    return figure


def _format_ticks(axis: Axis) -> None:
    """Short numbers, unless ticks have labels; on log axes at 1, 2, 5 over few decades, at powers of ten over many."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter, LogLocator, NullFormatter

    if not isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter):
        axis.set_major_formatter(_number)
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        decades = math.log10(high / low) if low > 0.0 else 3.0
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2.0 else (1.0,), numticks=6))
        axis.set_minor_formatter(NullFormatter())


def _number(value: float, _position: float) -> str:
    """100k, 0.01, −1.5, 1e+10."""
    thousands = 10_000 <= abs(value) < 1e9
    return f"{value / 1000 if thousands else value:g}{'k' if thousands else ''}".replace("-", "−")


def _plain(name: str, longest: int) -> str:
    """A name as it is, not as a formula, and cut off where it is too long."""
    return (name if len(name) <= longest else f"{name[: longest - 1]}…").replace("$", r"\$")
