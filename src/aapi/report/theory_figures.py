"""Figures of an examination: regret and its parts, and every lemma with what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.progress import progress_bars
from aapi.report.colours import styles
from aapi.report.drawing import INK, Draw, drawing, pen, write_figure
from aapi.statistics import band
from aapi.theory import mixing_bound, printed_constant, proven_constant
from aapi.theory.bound_checks import DELTA
from aapi.theory.summary import online_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aapi.theory import Examination

__all__ = ["theory_figures", "write_theory_figures"]

# Colours that colour-blind readers can tell apart (Okabe and Ito 2008).
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
LOOKS = {
    "regret": (INK, "-", "regret"),
    "noise": (SKY, "--", "noise"),
    "pseudo_regret": (BLUE, "-.", "pseudo-regret"),
    "estimation": (ORANGE, "--", "estimation R1"),
    "online_learning": (GREEN, "-", "online learning R2"),
    "confinement": (RED, "-.", "confinement"),
    "unevaluated": (PURPLE, ":", "not evaluated"),
}


def write_theory_figures(
    examined: Examination, out: Path, *, formats: Sequence[str] = ("pdf", "png"), progress: bool = False
) -> list[Path]:
    """Draw all figures into a folder, and return their paths."""
    figures, paths = dict(theory_figures(examined)), list[Any]()
    with drawing() as new_figure, progress_bars({"drawing": len(figures)}, show=progress) as advance:
        for name, panels in figures.items():
            width = "one-column" if len(panels) == 1 else "two-column"
            paths += write_figure(new_figure, out / f"theory-{name}", panels, width, formats)
            advance("drawing", 1, name)
    return paths


def theory_figures(examined: Examination) -> Iterator[tuple[str, dict[str, Draw]]]:
    """Names, and panels by title."""
    parts = examined.analysis.decomposition
    rest = [name for name in ("confinement", "unevaluated") if getattr(parts, name).any()]
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
        panels: dict[str, Draw] = {"errors of each phase": _errors(examined)}
        if examined.decays:
            panels["errors of phases of length τ"] = _decay(examined)
        yield "evaluation", panels
    if (terms := online_terms(examined.analysis)) is not None:
        yield "online-learning", {"regret of each state, and its bound": _states(terms)}
    if (examined.analysis.relative_q.policy_change > 0).any():
        yield "relative-q", {"how Q changes with the policy": _relative(examined)}
    growth: dict[str, Draw] = {}
    if examined.growth:
        growth["regret, with τ ~ T^⅔"] = _growth(examined)
    if examined.exact:
        growth["exact Q, τ = 1"] = _exact(examined)
    if growth:
        yield "growth", growth


def _parts(examined: Examination, names: Sequence[str]) -> Draw:
    steps = examined.analysis.phase_ends

    def draw(axes: Any, seen: Any) -> None:
        for name in names:
            colour, line, label = LOOKS[name]
            found = examined.analysis.decomposition.band(name)
            (seen[label],) = axes.plot(steps, found.mean, color=colour, linestyle=line)
            axes.fill_between(steps, found.lower, found.upper, color=colour, alpha=0.15, linewidth=0)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="step t", ylabel="sum so far", xlim=(0, steps[-1]))
        axes.locator_params(axis="x", nbins=5)

    return draw


def _noise(examined: Examination) -> Draw:
    analysis, known = examined.analysis, examined.constants
    steps, noise = analysis.phase_ends, np.abs(analysis.decomposition.cumulated("noise"))

    def draw(axes: Any, seen: Any) -> None:
        lines = axes.plot(steps, noise.T, color=SKY, linewidth=0.5, alpha=0.6)
        seen["|noise| of each run"] = lines[0]
        ours = analysis.noise.bound(DELTA).max(axis=0)
        if np.isfinite(ours).all():
            (seen["by Poisson's equation"],) = axes.plot(steps, ours, color=GREEN, linestyle="--")
        if known.contraction_time is not None:
            theirs = [
                known.reward_range * mixing_bound(known.contraction_time, k + 1, t, DELTA) for k, t in enumerate(steps)
            ]
            (seen["the paper's lemma"],) = axes.plot(steps, theirs, color=RED)
        axes.set(xlabel="step t", ylabel="absolute value", xlim=(0, steps[-1]), yscale="log")
        axes.set_ylim(bottom=max(float(noise[:, -1].max()) * 1e-3, 1e-300))
        axes.locator_params(axis="x", nbins=5)

    return draw


def _errors(examined: Examination) -> Draw:
    analysis = examined.analysis
    steps = analysis.phase_ends[analysis.evaluated]
    norms = {"sup": (RED, "-", "sup"), "optimal": (BLUE, "--", "μ*⊗π*"), "current": (GREEN, "-.", "μ*⊗π_k")}

    def draw(axes: Any, seen: Any) -> None:
        for norm, (colour, line, label) in norms.items():
            found = band(getattr(analysis.errors, norm))
            (seen[label],) = axes.plot(steps, found.mean, color=colour, linestyle=line)
            axes.fill_between(steps, found.lower, found.upper, color=colour, alpha=0.15, linewidth=0)
        axes.set(xlabel="step t", ylabel="‖Q̂ − Q‖")
        axes.set_ylim(bottom=0.0)
        axes.locator_params(axis="x", nbins=5)

    return draw


def _decay(examined: Examination) -> Draw:
    looks = {"uniform": (PURPLE, "o", "-"), "last": (ORANGE, "s", "--")}

    def draw(axes: Any, seen: Any) -> None:
        for name, decay in examined.decays.items():
            colour, marker, line = looks[name]
            lengths = np.geomspace(decay.phase_lengths[0], decay.phase_lengths[-1], 50)
            axes.plot(decay.phase_lengths, decay.quantiles, color=colour, marker=marker, linestyle="", markersize=3)
            (seen[f"sup, {name} policy, and fit"],) = axes.plot(
                lengths, [decay.at(length) for length in lengths], color=colour, linestyle=line
            )
        axes.set(xlabel="phase length τ", ylabel="‖Q̂ − Q‖, 95 % of runs", xscale="log", yscale="log")

    return draw


def _states(terms: dict[str, Any]) -> Draw:
    states = np.arange(len(terms["regret"]))

    def draw(axes: Any, seen: Any) -> None:
        up = np.zeros(len(states))
        for term, colour in (("stability", SKY), ("regularisation", PURPLE)):
            seen[term] = axes.bar(states, terms[term], bottom=up, color=colour, width=0.7)
            up = up + terms[term]
        seen["− movement"] = axes.bar(states, -terms["movement"], color=ORANGE, width=0.7)
        (seen["bound"],) = axes.plot(states, terms["bound"], color=INK, marker="_", linestyle="", markersize=7)
        (seen["regret"],) = axes.plot(states, terms["regret"], color=RED, marker="o", linestyle="", markersize=3)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="state x", ylabel="times τ μ*(x)", axisbelow=True)

    return draw


def _relative(examined: Examination) -> Draw:
    changes, known = examined.analysis.relative_q, examined.constants
    x, y = changes.policy_change.ravel(), changes.q_change.ravel()
    kept = (x > 1e-8) & (y > 0.0)
    x, y = x[kept][:20_000], y[kept][:20_000]

    def draw(axes: Any, seen: Any) -> None:
        if not len(x):
            return
        axes.scatter(x, y, color=SKY, s=2, alpha=0.4, linewidths=0, rasterized=True)
        (seen["phases"],) = axes.plot([], [], color=SKY, marker="o", linestyle="", markersize=3)
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
            (seen[label],) = axes.plot(span, slope * span, color=colour, linestyle=line)
        axes.set(xlabel="max ‖π_k − π_{k−1}‖₁", ylabel="max |Q_k − Q_{k−1}|", xscale="log", yscale="log")

    return draw


def _growth(examined: Examination) -> Draw:
    look = styles(examined.growth)

    def draw(axes: Any, seen: Any) -> None:
        for name, growth in examined.growth.items():
            found = band(growth.regrets.T)
            axes.errorbar(
                growth.steps, found.mean, yerr=[found.mean - found.lower, found.upper - found.mean], marker="o",
                color=look[name].colour, linestyle="", markersize=2.5, capsize=1.5,
            )  # fmt: skip
            (seen[f"{name}: T^{growth.exponent.estimate:.2f}"],) = axes.plot(
                growth.steps, growth.at(growth.steps), **pen(look[name])
            )
        axes.set(xlabel="T", ylabel="regret", xscale="log", yscale="log")

    return draw


def _exact(examined: Examination) -> Draw:
    look = styles(examined.exact)

    def draw(axes: Any, seen: Any) -> None:
        for name, regrets in examined.exact.items():
            (seen[f"{name}, exact"],) = axes.plot(
                list(regrets), list(regrets.values()), **pen(look[name]), marker="o", markersize=2.5
            )
        axes.set(xlabel="phases K", ylabel="regret", xscale="log", yscale="log")

    return draw
