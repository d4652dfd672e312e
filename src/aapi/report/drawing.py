"""Drawing for print: our rules for Matplotlib, and figures of panels that are written atomically."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput
from aapi.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from aapi.report.colours import Style

__all__ = ["FORMATS", "INK", "WIDTHS", "Draw", "drawing", "pen", "write_figure"]

FORMATS = ("pdf", "svg", "png")
WIDTHS = {"one-column": 3.35, "two-column": 6.9}  # inches
INK = "#44484d"
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
RULES: dict[Any, Any] = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e6e8eb", "grid.linewidth": 0.5, "lines.linewidth": 1.2, "pdf.fonttype": 42,
    "svg.hashsalt": "aapi", "svg.fonttype": "none", "figure.constrained_layout.use": True, "figure.dpi": 200,
    "savefig.dpi": 200, "text.usetex": False,
}  # fmt: skip

Draw = Callable[[Any, Any], None]  # on axes, one panel


@contextmanager
def drawing() -> Iterator[Any]:
    """A maker of figures, with our rules, and without a screen."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("figures need matplotlib: pip install 'aapi[plots]'") from None
    except ValueError as error:  # MPLBACKEND, or a file of settings
        raise InvalidInput(f"matplotlib does not like its settings: {error}") from None

    def new_figure(**options: Any) -> Any:
        figure = Figure(**options)
        FigureCanvasAgg(figure)
        return figure

    with mpl.rc_context(RULES), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # an empty box says it, too
        yield new_figure


def pen(style: Style) -> dict[str, Any]:
    """The colour and dashes of an algorithm."""
    return {"color": style.colour, "linestyle": DASHES[style.dash]}


def write_figure(
    new_figure: Any, path: Path, panels: Mapping[str, Draw], width: str, formats: Sequence[str]
) -> list[Path]:
    """Panels by title, with one legend for all, in one file for each format."""
    most = (1 if len(panels) <= 4 else 2) if width == "one-column" else (2 if len(panels) in (2, 4) else 3)
    across = min(len(panels), most)
    down = math.ceil(len(panels) / across)
    inches = WIDTHS[width]
    figure = new_figure()
    grid = figure.subplots(down, across, squeeze=False)
    seen: dict[str, Any] = {}
    for axes, (title, draw) in zip(grid.flat, panels.items(), strict=False):
        draw(axes, seen)
        axes.set_title(_plain(title, int(16 * inches / across)), loc="left")
        for axis in (axes.xaxis, axes.yaxis):
            if not _has_words(axis):
                axis.set_major_formatter(_number)
            if axis.get_scale() == "log":
                _place_ticks(axis)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    if "optimum" in seen:
        seen["optimum"] = seen.pop("optimum")  # last
    labels = [_plain(name, 40) for name in seen]
    columns = max(1, min(len(labels), 6, int(15 * inches / (max(map(len, labels)) + 6))))
    lines = math.ceil(len(labels) / columns)
    figure.set_size_inches(inches, 0.2 + 0.15 * lines + down * min(2.0, 0.72 * inches / across))
    figure.legend(seen.values(), labels, loc="outside upper center", ncols=columns, frameon=False)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, for all formats
    paths = []
    for ending in formats:
        target = path.with_name(f"{path.name}.{ending}")
        with atomic_write(target) as file:
            figure.savefig(file, format=ending, metadata=UNDATED[ending])
        paths.append(target)
    return paths


# The same data shall give the same bytes, on any day.
UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}


def _has_words(axis: Any) -> bool:
    """Whether ticks were given their labels."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    return isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter)


def _place_ticks(axis: Any) -> None:
    """Over few decades ticks at 1, 2 and 5, over many at some powers of ten; and at nothing else."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    decades = math.log10(high / low) if low > 0.0 else 3.0
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 2.0 else (1.0,), numticks=6))
    axis.set_minor_formatter(NullFormatter())


def _number(value: float, _place: Any) -> str:
    """100k, 0.01, −1.5, 1e+10."""
    thousands = 10_000 <= abs(value) < 1e9
    return f"{value / 1000 if thousands else value:g}{'k' if thousands else ''}".replace("-", "−")


def _plain(name: str, longest: int) -> str:
    """A name that shall be read as it is, not as a formula, and not beyond its place."""
    return (name if len(name) <= longest else f"{name[: longest - 1]}…").replace("$", r"\$")
