"""Figures of an examination: regret and its parts, and every lemma with what was measured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.report import colours
from aapi.report.colours import styles
from aapi.report.panels import INK, Legend, Panel, Panels, draw_band, draw_line, write_panels
from aapi.statistics import ConfidenceBand, confidence_band
from aapi.theory import Examination, mixing_bound, printed_constant, proven_constant
from aapi.theory.bounds import DELTA
from aapi.theory.summary import growth_summary, online_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from aapi.report.theory_data import RegretGrowth
    from aapi.theory import Growth

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
        (out / f"theory-{name}", panels, "one-column" if len(panels) == 1 else "two-column")
        for name, panels in _theory_figures(examined)
    ]
    return write_panels(files, formats, progress=progress)


def write_growth_figure(
    panels: Mapping[str, Mapping[str, Growth]], path: Path, *, formats: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Draw the growth of regret, one panel for each title and one line for each algorithm. path: without its ending."""
    drawn = growth_panels({title: _drawn(growths) for title, growths in panels.items()})
    return write_panels([(path, drawn, "one-column" if len(panels) == 1 else "two-column")], formats, progress=False)


def growth_panels(growths: Mapping[str, Mapping[str, RegretGrowth]]) -> Panels:
    """Panels by title, each with a line for each algorithm; their exponents are in the legend where there is one."""
    return {title: partial(_draw_growth, each, exponents=len(growths) == 1) for title, each in growths.items()}


def _drawn(growths: Mapping[str, Growth]) -> dict[str, RegretGrowth]:
    """What is drawn of them, as it is stored."""
    return {name: cast("RegretGrowth", growth_summary(growth)) for name, growth in growths.items()}


def _theory_figures(examined: Examination) -> Iterator[tuple[str, Panels]]:
    """Names, and panels by title."""
    decomposition = examined.analysis.decomposition
    rest = [name for name in REST if decomposition.part(name).any()]
    whole, parts = ("regret", "noise", "pseudo_regret"), ("pseudo_regret", "estimation", "online_learning", *rest)
    panels: dict[str, Panel] = {
        "regret = noise + pseudo-regret": partial(_draw_parts, examined, whole),
        f"pseudo-regret = R1 + R2{' + rest' if rest else ''}": partial(_draw_parts, examined, parts),
    }
    yield "regret", panels
    yield "noise", {"noise and its bounds": partial(_draw_noise, examined)}
    if examined.analysis.evaluated.any():
        panels = {"errors of each phase": partial(_draw_errors, examined)}
        if examined.decays:
            panels["errors of phases of length τ"] = partial(_draw_decay, examined)
        yield "evaluation", panels
    if (terms := online_terms(examined.analysis)) is not None:
        yield "online-learning", {"regret of each state, and its bound": partial(_draw_states, terms)}
    if (examined.analysis.relative_q.policy_change > 0).any():
        yield "relative-q", {"how Q changes with the policy": partial(_draw_relative_q, examined)}
    panels = {}
    if examined.growth:
        panels["regret, with τ ~ T^⅔"] = partial(_draw_growth, _drawn(examined.growth))
    if examined.exact:
        panels["exact Q, τ = 1"] = partial(_draw_exact, examined)
    if panels:
        yield "growth", panels


def _draw_parts(examined: Examination, names: Sequence[str], axes: Axes, legend: Legend) -> None:
    steps, parts = examined.analysis.phase_ends, examined.analysis.decomposition
    _draw_bands(axes, legend, steps, {PARTS[name]: confidence_band(parts.cumulated(name)) for name in names})
    axes.axhline(0.0, color=INK, linewidth=0.5)
    axes.set(ylabel="sum so far", xlim=(0, steps[-1]))


def _draw_bands(
    axes: Axes, legend: Legend, steps: NDArray[np.int64], bands: dict[tuple[str, str, str], ConfidenceBand]
) -> None:
    """Means with 95 % intervals, by colour, line and label."""
    for (colour, line, label), found in bands.items():
        (legend[label],) = axes.plot(steps, found.mean, color=colour, linestyle=line)
        draw_band(axes, steps, found.lower, found.upper, colour)
    _label_steps(axes)


def _label_steps(axes: Axes) -> None:
    axes.set_xlabel("step t")
    axes.locator_params(axis="x", nbins=5)


def _draw_noise(examined: Examination, axes: Axes, legend: Legend) -> None:
    analysis, known = examined.analysis, examined.constants
    steps, noise = analysis.phase_ends, np.abs(analysis.decomposition.cumulated("noise"))
    legend["|noise| of each run"] = axes.plot(steps, noise.T, color=SKY, linewidth=0.5, alpha=0.6)[0]
    ours = analysis.noise.bound(DELTA).max(axis=0)
    if np.isfinite(ours).all():
        (legend["by Poisson's equation"],) = axes.plot(steps, ours, color=GREEN, linestyle="--")
    if (time := known.contraction_time) is not None and not analysis.mdp.has_random_rewards:
        theirs = [known.reward_range * mixing_bound(time, k, t, DELTA) for k, t in enumerate(steps, 1)]
        (legend["the paper's lemma"],) = axes.plot(steps, theirs, color=RED)
    _label_steps(axes)
    axes.set(ylabel="absolute value", xlim=(0, steps[-1]), yscale="log")
    axes.set_ylim(bottom=max(float(noise[:, -1].max()) * 1e-3, 1e-300))


def _draw_errors(examined: Examination, axes: Axes, legend: Legend) -> None:
    analysis, errors = examined.analysis, examined.analysis.errors
    bands = {
        (RED, "-", "sup"): confidence_band(errors.sup),
        (BLUE, "--", "μ*⊗π*"): confidence_band(errors.optimal),
        (GREEN, "-.", "μ*⊗π_k"): confidence_band(errors.current),
    }
    _draw_bands(axes, legend, analysis.phase_ends[analysis.evaluated], bands)
    axes.set_ylabel("‖Q̂ − Q‖")
    axes.set_ylim(bottom=0.0)


def _draw_decay(examined: Examination, axes: Axes, legend: Legend) -> None:
    lines = {"uniform": (PURPLE, "o", "-"), "last": (ORANGE, "s", "--")}
    for name, decay in examined.decays.items():
        colour, marker, line = lines[name]
        lengths = np.geomspace(decay.phase_lengths[0], decay.phase_lengths[-1], 50)
        fitted = [decay.at(length) for length in lengths]
        axes.plot(decay.phase_lengths, decay.quantiles, color=colour, marker=marker, linestyle="", markersize=3)
        (legend[f"sup, {name} policy, and fit"],) = axes.plot(lengths, fitted, color=colour, linestyle=line)
    axes.set(xlabel="phase length τ", ylabel="‖Q̂ − Q‖, 95 % of runs", xscale="log", yscale="log")


def _draw_states(terms: Mapping[str, NDArray[np.float64]], axes: Axes, legend: Legend) -> None:
    states = np.arange(len(terms["regret"]))
    up = np.zeros(len(states))
    for term, colour in (("stability", SKY), ("regularisation", PURPLE)):
        legend[term] = axes.bar(states, terms[term], bottom=up, color=colour, width=0.7).patches[0]
        up = up + terms[term]
    legend["− movement"] = axes.bar(states, -terms["movement"], color=ORANGE, width=0.7).patches[0]
    (legend["bound"],) = axes.plot(states, terms["bound"], color=INK, marker="_", linestyle="", markersize=7)
    (legend["regret"],) = axes.plot(states, terms["regret"], color=RED, marker="o", linestyle="", markersize=3)
    axes.axhline(0.0, color=INK, linewidth=0.5)
    axes.set(xlabel="state x", ylabel="times τ μ*(x)", axisbelow=True)


def _draw_relative_q(examined: Examination, axes: Axes, legend: Legend) -> None:
    changes, known = examined.analysis.relative_q, examined.constants
    x, y = changes.policy_change.ravel(), changes.q_change.ravel()
    changed = (x > 1e-8) & (y > 0.0)
    x, y = x[changed][:20_000], y[changed][:20_000]
    if not len(x):
        return
    axes.scatter(x, y, color=SKY, s=2, alpha=0.4, linewidths=0, rasterized=True)
    (legend["phases"],) = axes.plot([], [], color=SKY, marker="o", linestyle="", markersize=3)
    lines = [("measured constant", changes.constant, GREEN, "-")]
    if (time := known.mixing_time) is not None:
        phases, scale = len(examined.analysis.phase_ends), known.reward_range
        lines.append(("printed lemma", scale * printed_constant(time, phases), ORANGE, "--"))
        lines.append(("proven", scale * proven_constant(time, phases), RED, ":"))
    span = np.array([x.min(), x.max()])
    for label, slope, colour, line in lines:
        (legend[label],) = axes.plot(span, slope * span, color=colour, linestyle=line)
    axes.set(xlabel="max ‖π_k − π_{k−1}‖₁", ylabel="max |Q_k − Q_{k−1}|", xscale="log", yscale="log")


def _draw_growth(growths: Mapping[str, RegretGrowth], axes: Axes, legend: Legend, exponents: bool = True) -> None:
    style, lowest = styles(growths), min((growth["fitted"][-1] or 0.0 for growth in growths.values()), default=0.0)
    for name, growth in growths.items():
        band = growth["regret"]
        mean, lower, upper = (np.array(band[part], dtype=float) for part in ("mean", "lower", "upper"))
        axes.errorbar(
            growth["steps"], mean, yerr=[mean - lower, upper - mean], marker="o", color=style[name].colour,
            linestyle="", markersize=2.5, capsize=1.5,
        )  # fmt: skip
        power, fitted = f"T^{growth['exponent']['estimate']:.2f}", np.array(growth["fitted"], dtype=float)
        legend[f"{name}: {power}" if exponents else name] = draw_line(axes, growth["steps"], fitted, style[name])
        if not exponents:  # the legend is shared: they stand at the lines' ends, above them, or below the lowest
            place = (0, -11) if fitted[-1] <= lowest else (0, 4)
            axes.annotate(
                power, (growth["steps"][-1], fitted[-1]), xytext=place, textcoords="offset points", ha="right",
                fontsize=6, color=style[name].colour,
            )  # fmt: skip
    axes.set(xlabel="T", ylabel="regret", xscale="log", yscale="log")


def _draw_exact(examined: Examination, axes: Axes, legend: Legend) -> None:
    style = styles(examined.exact)
    for name, regrets in examined.exact.items():
        legend[f"{name}, exact"] = draw_line(axes, list(regrets), list(regrets.values()), style[name], marker="o")
    axes.set(xlabel="phases K", ylabel="regret", xscale="log", yscale="log")
