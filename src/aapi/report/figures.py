"""Figures for print: the paper's, and ours, as PDF, SVG and PNG, in one column or two."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.experiments.plan import titled
from aapi.experiments.store import Store
from aapi.experiments.summary import summarise
from aapi.progress import progress_bars
from aapi.report.curves import Curve, read_curve
from aapi.report.drawing import FORMATS, INK, WIDTHS, Draw, drawing, pen, write_figure
from aapi.report.parts import Exchange, exchanges, looks, told_digits
from aapi.report.tables import told_value

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aapi.experiments.summary import Row, Summary
    from aapi.report.colours import Style

__all__ = ["write_figures"]

LIGHT = 0.47  # scores whose colours want black ink


def write_figures(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    formats: Sequence[str] = FORMATS,
    widths: Sequence[str] = tuple(WIDTHS),
    log_steps: bool = False,
    progress: bool = False,
) -> list[Path]:
    """Draw all figures of the studies in a folder into another one, and return their paths."""
    for given, known in ((formats, FORMATS), (widths, WIDTHS)):
        if wrong := [each for each in given if each not in known]:
            raise InvalidInput(f"a figure can be {', '.join(known)}, not {wrong[0]}")
    with drawing() as new_figure, Store(folder, write=False) as store:
        summary = summarise(store, store.plans())
        look = looks(summary.rows)
        figures = dict(_figures(store, summary, look, log_steps))
        if not figures:
            raise InvalidInput(f"there is nothing to draw in {folder} yet")
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"cannot make the folder {out}: {error.strerror}; choose another with --out") from None
        paths: list[Path] = []
        with progress_bars({"drawing": len(figures) * len(widths)}, show=progress) as advance:
            for name, panels in figures.items():
                for width in widths:
                    paths += write_figure(new_figure, Path(out) / f"{name}-{width}", panels, width, formats)
                    advance("drawing", 1, name)
    return paths


def _figures(
    store: Store, summary: Summary, look: Mapping[str, Style], log_steps: bool
) -> Iterator[tuple[str, dict[str, Draw]]]:
    """Names, and panels by title."""
    exchanged = {exchange.study: exchange for exchange in exchanges(summary.rows)}
    for study, slug in _file_names(dict.fromkeys(row.plan.study for row in summary.rows)).items():
        rows = [row for row in summary.rows if row.plan.study == study]
        if len({row.plan.reward_scale for row in rows}) > 1:
            continue  # too many panels; reward-scale has the gist
        if exchange := exchanged.get(study):
            yield f"{slug}-parts", {exchange.title(place): _scores(exchange, place) for place in exchange.places}
            rows = [row for row in rows if row.plan.algorithm in exchange.shown]  # of all curves nobody could tell one
        curves = {row: curve for row in rows if (curve := read_curve(store, row)) is not None}
        places = dict.fromkeys(row.plan.place for row in curves)
        unknown = {row.plan.place for row in curves if row.plan.optimal_gain is None}
        known = [place for place in places if place not in unknown]
        for name, metric, shown in (("curves", _averages, places), ("regret", _regret, known)):
            if shown:
                yield (
                    f"{slug}-{name}",
                    {titled(*place[1:3]): _curves(curves, place, metric, look, log_steps) for place in shown},
                )
    usual = [entry for entry in summary.sensitivity if entry["reward_scale"] == 1.0 and entry["mean"] is not None]
    if usual:
        yield (
            "sensitivity",
            {
                problem: _sensitivity([entry for entry in usual if entry["problem"] == problem], look)
                for problem in dict.fromkeys(entry["problem"] for entry in usual)
            },
        )
    scored = [entry for entry in summary.scaled if entry["score"] is not None or entry["mean"] is None]
    if scored:
        yield (
            "reward-scale",
            {
                algorithm: _scales([entry for entry in scored if entry["algorithm"] == algorithm], look[algorithm])
                for algorithm in dict.fromkeys(entry["algorithm"] for entry in scored)
            },
        )


def _averages(curve: Curve, best: float | None) -> tuple[str, Any, Any, float | None]:
    """The axis, the line, the half width of its band, and the optimum."""
    return "−(1/t) Σ r", -curve.mean, curve.std, None if best is None else -best


def _regret(curve: Curve, best: float) -> tuple[str, Any, Any, float | None]:
    return "regret", curve.steps * (best - curve.mean), curve.steps * curve.std, 0.0


def _curves(curves: Mapping[Row, Curve], place: Any, metric: Any, look: Mapping[str, Style], log_steps: bool) -> Draw:
    mine = [(row, curve) for row, curve in curves.items() if row.plan.place == place]
    last = max(curve.steps[-1] for _, curve in mine)

    def draw(axes: Any, seen: Any) -> None:
        levels: list[float] = []
        for row, curve in mine:
            style = look[row.plan.algorithm]
            label, middle, half, best = metric(curve, row.plan.optimal_gain)
            late = curve.steps >= last * (0.001 if log_steps else 0.02)  # the first steps are noise of another size
            levels += [*(middle - half)[late], *(middle + half)[late]] + ([] if best is None else [best])
            (seen[row.plan.algorithm],) = axes.plot(curve.steps, middle, **pen(style))
            axes.fill_between(curve.steps, middle - half, middle + half, color=style.colour, alpha=0.15, linewidth=0)
            if best is not None:
                seen["optimum"] = axes.axhline(best, color=INK, linestyle=":", linewidth=0.9)
        axes.set(xlabel="step t", ylabel=label, xlim=(max(1.0, last / 1000) if log_steps else 0.0, last))
        if log_steps:
            axes.set_xscale("log")
        else:
            axes.locator_params(axis="x", nbins=5)
        room = 0.05 * ((max(levels) - min(levels)) or 1.0)
        axes.set_ylim(min(levels) - room, max(levels) + room)

    return draw


def _scores(exchange: Exchange, place: Any) -> Draw:
    evaluators, columns = exchange.evaluators, exchange.columns
    scores = [[exchange.score(place, evaluator, column) for column in columns] for evaluator in evaluators]

    def draw(axes: Any, seen: Any) -> None:
        colours = axes.imshow(
            [[math.nan if score is None else score for score in line] for line in scores],
            cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto",
        )  # fmt: skip
        for i, line in enumerate(scores):
            for j, score in enumerate(line):
                text = "–" if score is None else told_digits(score)
                ink = "white" if score is not None and score < LIGHT else "black"
                axes.text(j, i, text, ha="center", va="center", fontsize=5, color=ink)
        axes.set_xticks(range(len(columns)), map(exchange.name, columns))
        axes.set_yticks(range(len(evaluators)), evaluators)
        axes.grid(visible=False)
        number, across = axes.get_subplotspec().num1, axes.get_gridspec().ncols
        last = min(len(exchange.places), axes.get_gridspec().nrows * across)  # labels are those of the panel below
        axes.tick_params(axis="x", length=0, labelsize=6, labelrotation=90, labelbottom=number + across >= last)
        axes.tick_params(axis="y", length=0, labelsize=6, labelleft=number % across == 0)
        for name, level in (("0: acting at random", 0.0), ("1: the optimum", 1.0)):
            (seen[name],) = axes.plot([], [], color=colours.cmap(level), marker="s", linestyle="", markersize=5)

    return draw


def _sensitivity(entries: Sequence[Mapping[str, Any]], look: Mapping[str, Style]) -> Draw:
    scored = all(entry["score"] is not None for entry in entries)

    def draw(axes: Any, seen: Any) -> None:
        place = _places(axes, _ordered(entries))
        for algorithm in dict.fromkeys(entry["algorithm"] for entry in entries):
            mine = _ordered([entry for entry in entries if entry["algorithm"] == algorithm])
            y = [entry["score" if scored else "mean"] for entry in mine]
            how = pen(look[algorithm]) | {"marker": "o", "markersize": 2.5}
            (seen[algorithm],) = axes.plot([place(entry) for entry in mine], y, **how)
        axes.set(xlabel=_tuned(entries), ylabel="score" if scored else "average reward")
        if scored:
            axes.set_ylim(min(0.0, *(entry["score"] for entry in entries)) - 0.05, 1.05)

    return draw


def _scales(entries: Sequence[Mapping[str, Any]], style: Style) -> Draw:
    problems = len({entry["problem"] for entry in entries})

    def draw(axes: Any, seen: Any) -> None:
        place = _places(axes, _ordered(entries))
        for i, scale in enumerate(sorted({entry["reward_scale"] for entry in entries})):
            found: dict[str, list[Any]] = {}
            for entry in _ordered([entry for entry in entries if entry["reward_scale"] == scale]):
                found.setdefault(str(entry["candidate"]), []).append(entry)
            first = [each[0] for each in found.values()]
            scores = [[e["score"] for e in each if not e["failed"]] for each in found.values()]
            # Over all problems, or none: a candidate that failed on one has no mean.
            means = [float(np.mean(each)) if len(each) == problems else math.nan for each in scores]
            how = {"linestyle": (":", "-", "--", "-.")[i % 4], "marker": "vo^s"[i % 4], "fillstyle": "none"}
            axes.plot([place(entry) for entry in first], means, color=style.colour, markersize=3.5, **how)
            (seen[f"rewards × {scale:g}"],) = axes.plot([], [], color=INK, markersize=3.5, **how)
        axes.set(xlabel=_tuned(entries), ylabel="mean score", ylim=(min(0.0, *axes.dataLim.intervaly) - 0.05, 1.05))

    return draw


def _ordered(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """In the order of the axis, where candidates are numbers."""
    values = [next(iter(entry["candidate"].values()), None) for entry in entries]
    if not all(isinstance(value, int | float) for value in values):
        return list(entries)
    return sorted(entries, key=lambda entry: float(next(iter(entry["candidate"].values()))))


def _tuned(entries: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(name for entry in entries for name in entry["candidate"]))


def _places(axes: Any, entries: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], Any]:
    """Where the candidates of a panel stand: on a logarithmic axis if all are positive numbers, else side by side."""
    values = [list(entry["candidate"].values()) for entry in entries]
    if all(len(each) == 1 and isinstance(each[0], int | float) and each[0] > 0 for each in values):
        axes.set_xscale("log")
        return lambda entry: next(iter(entry["candidate"].values()))
    words = list(dict.fromkeys(", ".join(map(told_value, each)) for each in values))
    axes.set_xticks(range(len(words)), words)
    axes.tick_params(axis="x", labelrotation=45)
    return lambda entry: words.index(", ".join(map(told_value, entry["candidate"].values())))


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
