"""Figures for print: learning curves, regret, ablations and sensitivity, as PDF, SVG and PNG, in one column or two."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aapi.errors import InvalidInput
from aapi.experiments.plan import group_by
from aapi.experiments.store import Store
from aapi.experiments.summary import Row, Sensitivity, Summary, summarise
from aapi.report.ablation import Ablation, ProblemKey, ablations, row_styles
from aapi.report.formatting import axis_position, candidate_text, format_score
from aapi.report.panels import FORMATS, INK, WIDTHS, draw_band, draw_line, drawing, make_folder, write_panels
from aapi.report.stored import growths, read_curve
from aapi.report.theory_figures import growth_panels

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from aapi.report.colours import Style
    from aapi.report.panels import Legend, Panels

    Styles = Mapping[str, Style]  # by label

LIGHT = 0.47  # scores above it have colours that want black text


def write_figures(
    folder: str | os.PathLike[str], out: str | os.PathLike[str], *, formats: Sequence[str] = FORMATS,
    widths: Sequence[str] = tuple(WIDTHS), log_steps: bool = False, progress: bool = False,
) -> list[Path]:  # fmt: skip
    """Draw all figures of the studies in a folder into another one, and return their paths."""
    for given, known in ((formats, FORMATS), (widths, WIDTHS)):
        if wrong := [each for each in given if each not in known]:
            raise InvalidInput(f"a figure can be {', '.join(known)}, not {wrong[0]}")
    with drawing(), Store(folder, write=False) as store:
        summary = summarise(store, store.plans())
        figures = dict(_figures(store, summary, row_styles(summary.rows), log_steps))
        if not figures:
            raise InvalidInput(f"there is nothing to draw in {folder} yet")
        make_folder(Path(out))
        files = [(Path(out) / f"{name}-{each}", panels, each) for name, panels in figures.items() for each in widths]
        return write_panels(files, formats, progress=progress)


def _figures(store: Store, summary: Summary, look: Styles, log_steps: bool) -> Iterator[tuple[str, Panels]]:
    """Names, and panels by title."""
    studies = {ablation.study: ablation for ablation in ablations(summary.rows)}
    for study, name in _file_names(summary.studies).items():
        rows = summary.studies[study]
        if len({row.plan.reward_scale for row in rows}) > 1:
            continue  # too many panels; the figure reward-scale sums them up
        if ablation := studies.get(study):
            panels = {ablation.title(key): partial(_draw_scores, ablation, key) for key in ablation.problems}
            yield f"{name}-scores", panels
            rows = [row for row in rows if row.plan.algorithm in ablation.shown]  # there are too many for all
        yield from _curve_figures(store, rows, name, look, log_steps)
    if growth := _growth_panels(store, summary):
        yield "growth", growth
    usual = [v for v in summary.sensitivity if v["reward_scale"] == 1.0 and v["mean"] is not None]
    if usual:
        groups = group_by(usual, lambda value: value["problem"])
        yield "sensitivity", {problem: partial(_draw_sensitivity, mine, look) for problem, mine in groups.items()}
    scored = [v for v in summary.scaled if v["score"] is not None or v["mean"] is None]
    if scored:
        groups = group_by(scored, lambda value: value["algorithm"])
        yield "reward-scale", {name: partial(_draw_scales, mine, look[name]) for name, mine in groups.items()}


def _growth_panels(store: Store, summary: Summary) -> Panels:
    """Regret in hindsight, of problems whose rewards change."""
    found = [each.growth for each in growths(store, summary.rows) if not each.error]
    problems = group_by(found, lambda growth: growth["problem"])
    return growth_panels({name: {each["algorithm"]: each for each in mine} for name, mine in problems.items()})


class _Line(NamedTuple):
    """A line with its band: middle ± half, (points); and the level of the optimum."""

    label: str
    style: Style
    steps: NDArray[np.int64]
    middle: NDArray[np.float64]
    half: NDArray[np.float64]
    optimum: float | None


def _curve_figures(
    store: Store, rows: Sequence[Row], name: str, look: Styles, log_steps: bool
) -> Iterator[tuple[str, Panels]]:
    """Learning curves of all problems of a study, and regret where the optimum is known."""
    averages: dict[str, list[_Line]] = {}
    regrets: dict[str, list[_Line]] = {}
    for row in rows:
        if (curve := read_curve(store, row)) is None:
            continue
        label, best, steps = row.plan.algorithm, row.plan.optimal_gain, curve.steps
        line = _Line(label, look[label], steps, -curve.mean, curve.std, None if best is None else -best)
        averages.setdefault(row.plan.title, []).append(line)
        if best is not None:
            line = _Line(label, look[label], steps, steps * (best - curve.mean), steps * curve.std, 0.0)
            regrets.setdefault(row.plan.title, []).append(line)
    for kind, label, found in (("curves", "−(1/t) Σ r", averages), ("regret", "regret", regrets)):
        panels = {title: partial(_draw_curves, lines, label, log_steps) for title, lines in found.items()}
        if panels:
            yield f"{name}-{kind}", panels


def _draw_curves(lines: Sequence[_Line], label: str, log_steps: bool, axes: Axes, legend: Legend) -> None:
    last = max(int(line.steps[-1]) for line in lines)
    levels: list[float] = []
    for algorithm, style, steps, middle, half, optimum in lines:
        late = steps >= last * (0.001 if log_steps else 0.02)  # the first steps are noise of another size
        levels += [*(middle - half)[late], *(middle + half)[late]]
        legend[algorithm] = draw_line(axes, steps, middle, style)
        draw_band(axes, steps, middle - half, middle + half, style.colour)
        if optimum is not None:
            levels.append(optimum)
            legend["optimum"] = axes.axhline(optimum, color=INK, linestyle=":", linewidth=0.9)
    axes.set(xlabel="step t", ylabel=label)
    axes.set_xlim(max(1.0, last / 1000) if log_steps else 0.0, last)
    if log_steps:
        axes.set_xscale("log")
    else:
        axes.locator_params(axis="x", nbins=5)
    room = 0.05 * ((max(levels) - min(levels)) or 1.0)
    axes.set_ylim(min(levels) - room, max(levels) + room)


def _draw_scores(ablation: Ablation, problem: ProblemKey, axes: Axes, legend: Legend) -> None:
    evaluators, columns = ablation.evaluators, ablation.columns
    scores = [[ablation.score(problem, evaluator, column) for column in columns] for evaluator in evaluators]
    levels = [[math.nan if score is None else score for score in line] for line in scores]
    colours = axes.imshow(levels, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for i, line in enumerate(scores):
        for j, score in enumerate(line):
            ink = "white" if score is not None and score < LIGHT else "black"
            axes.text(j, i, format_score(score), ha="center", va="center", fontsize=5, color=ink)
    axes.set_xticks(range(len(columns)), [ablation.name(column) for column in columns])
    axes.set_yticks(range(len(evaluators)), evaluators)
    axes.grid(visible=False)
    _label_outer_ticks(axes, len(ablation.problems))
    for name, level in (("0: acting at random", 0.0), ("1: the optimum", 1.0)):
        (legend[name],) = axes.plot([], [], color=colours.cmap(level), marker="s", linestyle="", markersize=5)


def _label_outer_ticks(axes: Axes, panels: int) -> None:
    """Labels below the lowest panels and left of the leftmost ones only; all panels have the same."""
    place = axes.get_subplotspec()
    if place is None:
        return
    number, (rows, across) = place.num1, place.get_gridspec().get_geometry()
    last = min(panels, rows * across)
    axes.tick_params(axis="x", length=0, labelsize=6, labelrotation=90, labelbottom=number + across >= last)
    axes.tick_params(axis="y", length=0, labelsize=6, labelleft=number % across == 0)


def _draw_sensitivity(values: Sequence[Sensitivity], look: Styles, axes: Axes, legend: Legend) -> None:
    scores = [value["score"] for value in values if value["score"] is not None]
    scored = len(scores) == len(values)
    position = _positions(axes, values)
    for algorithm, group in group_by(values, lambda value: value["algorithm"]).items():
        mine = _by_position(group)
        y = [value["score"] if scored else value["mean"] for value in mine]
        x = [position(value) for value in mine]
        legend[algorithm] = draw_line(axes, x, np.array(y, dtype=np.float64), look[algorithm], marker="o")
    axes.set_ylabel("score" if scored else "average reward")
    if scored:
        axes.set_ylim(min(0.0, *scores) - 0.05, 1.05)


def _draw_scales(values: Sequence[Sensitivity], style: Style, axes: Axes, legend: Legend) -> None:
    problems = len({value["problem"] for value in values})
    position = _positions(axes, values)
    for i, scale in enumerate(sorted({value["reward_scale"] for value in values})):
        mine = _by_position([value for value in values if value["reward_scale"] == scale])
        candidates = group_by(mine, lambda value: str(value["candidate"])).values()
        scores = [[v["score"] for v in each if v["score"] is not None and not v["failed"]] for each in candidates]
        # Over all problems, or none: a candidate that failed on one has no mean.
        means = [float(np.mean(each)) if len(each) == problems else math.nan for each in scores]
        x = [position(each[0]) for each in candidates]
        line, marker = (":", "-", "--", "-.")[i % 4], "vo^s"[i % 4]
        for places, levels, colour in ((x, means, style.colour), ([], [], INK)):
            (legend[f"rewards × {scale:g}"],) = axes.plot(
                places, levels, color=colour, linestyle=line, marker=marker, markersize=3.5, fillstyle="none"
            )
    axes.set_ylabel("mean score")
    axes.set_ylim(min(0.0, *axes.dataLim.intervaly) - 0.05, 1.05)


def _positions(axes: Axes, values: Sequence[Sensitivity]) -> Callable[[Sensitivity], float]:
    """Where candidates stand on the axis: a logarithmic one if all are positive numbers, else side by side."""
    axes.set_xlabel(", ".join(dict.fromkeys(name for value in values for name in value["candidate"])))
    places = [axis_position(value) for value in values]
    if all(isinstance(place, float) and place > 0.0 for place in places):
        axes.set_xscale("log")
        return lambda value: float(axis_position(value))
    words = list(dict.fromkeys(candidate_text(value) for value in _by_position(values)))
    axes.set_xticks(range(len(words)), words)
    axes.tick_params(axis="x", labelrotation=45)
    return lambda value: words.index(candidate_text(value))


def _by_position(values: Sequence[Sensitivity]) -> list[Sensitivity]:
    """In the order of the axis, where the first settings of all are numbers."""
    firsts = [next(iter(value["candidate"].values()), None) for value in values]
    numbers = [first for first in firsts if isinstance(first, int | float)]
    if len(numbers) < len(values):
        return list(values)
    return [value for _, value in sorted(zip(numbers, values, strict=True), key=lambda pair: pair[0])]


def _file_names(studies: Iterable[str]) -> dict[str, str]:
    """Names of studies as names of files, each its own."""
    found: dict[str, str] = {}
    for study in studies:
        plain = re.sub(r"[^a-z0-9]+", "-", study.lower().replace("η", "eta")).strip("-")[:60] or "study"
        name, number = plain, 1
        while name in found.values():
            number += 1
            name = f"{plain}-{number}"
        found[study] = name
    return found
