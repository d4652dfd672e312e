"""Figures of an examination: regret and its parts, and every lemma with what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.report import colours
from aapi.report.colours import styles
from aapi.report.panels import INK, FigureFile, draw_band, draw_line, drawing, write_panels
from aapi.statistics import band
from aapi.theory import mixing_bound, printed_constant, proven_constant
from aapi.theory.bound_checks import DELTA
from aapi.theory.summary import online_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from aapi.report.panels import Legend, Panel
    from aapi.statistics import Band
    from aapi.theory import Examination

BLUE, ORANGE, GREEN, RED, PURPLE, SKY = (
    pair[0] for pair in (colours.BLUE, colours.ORANGE, colours.GREEN, colours.VERMILION, colours.PURPLE, colours.SKY)
)
PARTS = {  # colour, line and label
    "regret": (INK, "-", "regret"),
    "noise": (SKY, "--", "noise"),
    "pseudo_regret": (BLUE, "-.", "pseudo-regret"),
    "estimation": (ORANGE, "--", "estimation R1"),
    "online_learning": (GREEN, "-", "online learning R2"),
    "confinement": (RED, "-.", "confinement"),
    "unevaluated": (PURPLE, ":", "not evaluated"),
}
REST = ("confinement", "unevaluated")  # parts that are mostly 0


def write_theory_figures(
    examined: Examination, out: Path, *, formats: Sequence[str] = ("pdf", "png"), progress: bool = False
) -> list[Path]:
    """Draw all figures into a folder, and return their paths."""
    files = [
        FigureFile(out / f"theory-{name}", panels, "one-column" if len(panels) == 1 else "two-column")
        for name, panels in theory_figures(examined)
    ]
    with drawing() as new_figure:
        return write_panels(new_figure, files, formats, progress=progress)


def theory_figures(examined: Examination) -> Iterator[tuple[str, dict[str, Panel]]]:
    """Names, and panels by title."""
    decomposition = examined.analysis.decomposition
    rest = [name for name in REST if decomposition.part(name).any()]
    yield (
        "regret",
        {
            "regret = noise + pseudo-regret": _parts(examined, ("regret", "noise", "pseudo_regret")),
            f"pseudo-regret = R1 + R2{' + rest' if rest else ''}": _parts(
                examined, ("pseudo_regret", "estimation", "online_learning", *rest)
            ),
        },
    )
    yield "noise", {"noise and its bounds": _noise(examined)}
    if examined.analysis.evaluated.any():
        panels: dict[str, Panel] = {"errors of each phase": _errors(examined)}
        if examined.decays:
            panels["errors of phases of length τ"] = _decay(examined)
        yield "evaluation", panels
    if (terms := online_terms(examined.analysis)) is not None:
        yield "online-learning", {"regret of each state, and its bound": _states(terms)}
    if (examined.analysis.relative_q.policy_change > 0).any():
        yield "relative-q", {"how Q changes with the policy": _relative(examined)}
    growth: dict[str, Panel] = {}
    if examined.growth:
        growth["regret, with τ ~ T^⅔"] = _growth(examined)
    if examined.exact:
        growth["exact Q, τ = 1"] = _exact(examined)
    if growth:
        yield "growth", growth


def _parts(examined: Examination, names: Sequence[str]) -> Panel:
    steps = examined.analysis.phase_ends
    bands = {PARTS[name]: examined.analysis.decomposition.band(name) for name in names}

    def draw(axes: Axes, legend: Legend) -> None:
        _draw_bands(axes, legend, steps, bands)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="step t", ylabel="sum so far", xlim=(0, steps[-1]))
        axes.locator_params(axis="x", nbins=5)

    return draw


def _draw_bands(
    axes: Axes, legend: Legend, steps: NDArray[np.int64], bands: Mapping[tuple[str, str, str], Band]
) -> None:
    """Means with 95 % intervals, by colour, line and label."""
    for (colour, line, label), found in bands.items():
        (legend[label],) = axes.plot(steps, found.mean, color=colour, linestyle=line)
        draw_band(axes, steps, found.lower, found.upper, colour)


def _noise(examined: Examination) -> Panel:
    analysis, known = examined.analysis, examined.constants
    steps, noise = analysis.phase_ends, np.abs(analysis.decomposition.cumulated("noise"))

    def draw(axes: Axes, legend: Legend) -> None:
        lines = axes.plot(steps, noise.T, color=SKY, linewidth=0.5, alpha=0.6)
        legend["|noise| of each run"] = lines[0]
        ours = analysis.noise.bound(DELTA).max(axis=0)
        if np.isfinite(ours).all():
            (legend["by Poisson's equation"],) = axes.plot(steps, ours, color=GREEN, linestyle="--")
        if known.contraction_time is not None:
            theirs = [
                known.reward_range * mixing_bound(known.contraction_time, k + 1, t, DELTA) for k, t in enumerate(steps)
            ]
            (legend["the paper's lemma"],) = axes.plot(steps, theirs, color=RED)
        axes.set(xlabel="step t", ylabel="absolute value", xlim=(0, steps[-1]), yscale="log")
        axes.set_ylim(bottom=max(float(noise[:, -1].max()) * 1e-3, 1e-300))
        axes.locator_params(axis="x", nbins=5)

    return draw


def _errors(examined: Examination) -> Panel:
    analysis = examined.analysis
    steps, errors = analysis.phase_ends[analysis.evaluated], analysis.errors
    bands = {
        (RED, "-", "sup"): band(errors.sup),
        (BLUE, "--", "μ*⊗π*"): band(errors.optimal),
        (GREEN, "-.", "μ*⊗π_k"): band(errors.current),
    }

    def draw(axes: Axes, legend: Legend) -> None:
        _draw_bands(axes, legend, steps, bands)
        axes.set(xlabel="step t", ylabel="‖Q̂ − Q‖")
        axes.set_ylim(bottom=0.0)
        axes.locator_params(axis="x", nbins=5)

    return draw


def _decay(examined: Examination) -> Panel:
    lines = {"uniform": (PURPLE, "o", "-"), "last": (ORANGE, "s", "--")}

    def draw(axes: Axes, legend: Legend) -> None:
        for name, decay in examined.decays.items():
            colour, marker, line = lines[name]
            lengths = np.geomspace(decay.phase_lengths[0], decay.phase_lengths[-1], 50)
            axes.plot(decay.phase_lengths, decay.quantiles, color=colour, marker=marker, linestyle="", markersize=3)
            (legend[f"sup, {name} policy, and fit"],) = axes.plot(
                lengths, [decay.at(length) for length in lengths], color=colour, linestyle=line
            )
        axes.set(xlabel="phase length τ", ylabel="‖Q̂ − Q‖, 95 % of runs", xscale="log", yscale="log")

    return draw


def _states(terms: Mapping[str, NDArray[np.float64]]) -> Panel:
    states = np.arange(len(terms["regret"]))

    def draw(axes: Axes, legend: Legend) -> None:
        up = np.zeros(len(states))
        for term, colour in (("stability", SKY), ("regularisation", PURPLE)):
            legend[term] = axes.bar(states, terms[term], bottom=up, color=colour, width=0.7).patches[0]
            up = up + terms[term]
        legend["− movement"] = axes.bar(states, -terms["movement"], color=ORANGE, width=0.7).patches[0]
        (legend["bound"],) = axes.plot(states, terms["bound"], color=INK, marker="_", linestyle="", markersize=7)
        (legend["regret"],) = axes.plot(states, terms["regret"], color=RED, marker="o", linestyle="", markersize=3)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="state x", ylabel="times τ μ*(x)", axisbelow=True)

    return draw


def _relative(examined: Examination) -> Panel:
    changes, known = examined.analysis.relative_q, examined.constants
    x, y = changes.policy_change.ravel(), changes.q_change.ravel()
    changed = (x > 1e-8) & (y > 0.0)
    x, y = x[changed][:20_000], y[changed][:20_000]

    def draw(axes: Axes, legend: Legend) -> None:
        if not len(x):
            return
        axes.scatter(x, y, color=SKY, s=2, alpha=0.4, linewidths=0, rasterized=True)
        (legend["phases"],) = axes.plot([], [], color=SKY, marker="o", linestyle="", markersize=3)
        span = np.array([x.min(), x.max()])
        lines = [("measured constant", changes.constant, GREEN, "-")]
        if known.mixing_time is not None:
            phases = len(examined.analysis.phase_ends)
            for label, constant, colour, line in (
                ("printed lemma", printed_constant, ORANGE, "--"),
                ("proven", proven_constant, RED, ":"),
            ):
                lines.append((label, known.reward_range * constant(known.mixing_time, phases), colour, line))
        for label, slope, colour, line in lines:
            (legend[label],) = axes.plot(span, slope * span, color=colour, linestyle=line)
        axes.set(xlabel="max ‖π_k − π_{k−1}‖₁", ylabel="max |Q_k − Q_{k−1}|", xscale="log", yscale="log")

    return draw


def _growth(examined: Examination) -> Panel:
    style = styles(examined.growth)

    def draw(axes: Axes, legend: Legend) -> None:
        for name, growth in examined.growth.items():
            found = band(growth.regrets.T)
            axes.errorbar(
                growth.steps, found.mean, yerr=[found.mean - found.lower, found.upper - found.mean], marker="o",
                color=style[name].colour, linestyle="", markersize=2.5, capsize=1.5,
            )  # fmt: skip
            label = f"{name}: T^{growth.exponent.estimate:.2f}"
            legend[label] = draw_line(axes, growth.steps, growth.at(growth.steps), style[name])
        axes.set(xlabel="T", ylabel="regret", xscale="log", yscale="log")

    return draw


def _exact(examined: Examination) -> Panel:
    style = styles(examined.exact)

    def draw(axes: Axes, legend: Legend) -> None:
        for name, regrets in examined.exact.items():
            legend[f"{name}, exact"] = draw_line(axes, list(regrets), list(regrets.values()), style[name], marker="o")
        axes.set(xlabel="phases K", ylabel="regret", xscale="log", yscale="log")

    return draw
