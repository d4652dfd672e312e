"""Figures of a theory study: regret and its parts, and every lemma with what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.progress import progress_bars
from aapi.report.colours import styles
from aapi.report.drawing import INK, Draw, drawing, pen, write_figure
from aapi.statistics import band
from aapi.theory import mixing_bound, printed_constant, proven_constant
from aapi.theory.pairs import DELTA
from aapi.theory.summary import TERMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aapi.theory import OnlineLearning, Study

__all__ = ["theory_figures", "write_theory_figures"]

FORMATS = ("pdf", "png")
# Colours that colour-blind readers can tell apart (Okabe and Ito 2008).
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
PARTS = {
    "regret": (INK, "-", "regret"),
    "noise": (SKY, "--", "noise"),
    "pseudo_regret": (BLUE, "-.", "pseudo-regret"),
    "estimation": (ORANGE, "--", "estimation R1"),
    "online_learning": (GREEN, "-", "online learning R2"),
}


def write_theory_figures(
    study: Study, out: Path, *, formats: Sequence[str] = FORMATS, progress: bool = False
) -> list[Path]:
    """Draw all figures of a study into a folder, and return their paths."""
    figures, paths = dict(theory_figures(study)), list[Any]()
    with drawing() as new_figure, progress_bars({"drawing": len(figures)}, show=progress) as advance:
        for name, panels in figures.items():
            width = "one-column" if len(panels) == 1 else "two-column"
            paths += write_figure(new_figure, out / f"theory-{name}", panels, width, formats)
            advance("drawing", 1, name)
    return paths


def theory_figures(study: Study) -> Iterator[tuple[str, dict[str, Draw]]]:
    """Names, and panels by title."""
    yield (
        "regret",
        {
            "regret = noise + pseudo-regret": _parts(study, ("regret", "noise", "pseudo_regret")),
            "pseudo-regret = R1 + R2": _parts(study, ("pseudo_regret", "estimation", "online_learning")),
        },
    )
    yield "noise", {"noise and its bounds": _noise(study)}
    if study.analysis.evaluated.any():
        panels: dict[str, Draw] = {"errors of each phase": _errors(study)}
        if study.decays:
            panels["errors of phases of length τ"] = _decay(study)
        yield "evaluation", panels
    if (online := study.analysis.online_learning) is not None:
        yield "online-learning", {"regret of each state, and its bound": _states(study, online)}
    if (study.analysis.relative_q.policy_change > 0).any():
        yield "relative-q", {"how Q changes with the policy": _relative(study)}
    growth: dict[str, Draw] = {}
    if study.growth:
        growth["regret, with τ ~ T^⅔"] = _growth(study)
    if study.exact:
        growth["exact Q, τ = 1"] = _exact(study)
    if growth:
        yield "growth", growth


def _parts(study: Study, names: Sequence[str]) -> Draw:
    steps = study.analysis.phase_ends

    def draw(axes: Any, seen: Any) -> None:
        for name in names:
            colour, line, label = PARTS[name]
            found = study.analysis.decomposition.band(name)
            (seen[label],) = axes.plot(steps, found.mean, color=colour, linestyle=line)
            axes.fill_between(steps, found.lower, found.upper, color=colour, alpha=0.15, linewidth=0)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="step t", ylabel="sum so far", xlim=(0, steps[-1]))
        axes.locator_params(axis="x", nbins=5)

    return draw


def _noise(study: Study) -> Draw:
    analysis, known = study.analysis, study.constants
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


def _errors(study: Study) -> Draw:
    analysis = study.analysis
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


def _decay(study: Study) -> Draw:
    looks = {"uniform": (PURPLE, "o", "-"), "last": (ORANGE, "s", "--")}

    def draw(axes: Any, seen: Any) -> None:
        for name, decay in study.decays.items():
            colour, marker, line = looks[name]
            lengths = np.geomspace(decay.phase_lengths[0], decay.phase_lengths[-1], 50)
            axes.plot(decay.phase_lengths, decay.quantiles, color=colour, marker=marker, linestyle="", markersize=3)
            (seen[f"sup, {name} policy, and fit"],) = axes.plot(
                lengths, [decay.at(length) for length in lengths], color=colour, linestyle=line
            )
        axes.set(xlabel="phase length τ", ylabel="‖Q̂ − Q‖, 95 % of runs", xscale="log", yscale="log")
        _few_decades(axes.yaxis)

    return draw


def _states(study: Study, found: OnlineLearning) -> Draw:
    analysis = study.analysis
    length = int(analysis.phase_ends[np.argmax(analysis.evaluated)])
    mean = {term: length * (getattr(found, term) * analysis.against.distribution).mean(axis=0) for term in TERMS}
    states = np.arange(len(mean["regret"]))

    def draw(axes: Any, seen: Any) -> None:
        up = np.zeros(len(states))
        for term, colour in (("stability", SKY), ("regularisation", PURPLE)):
            seen[term] = axes.bar(states, mean[term], bottom=up, color=colour, width=0.7)
            up = up + mean[term]
        seen["− movement"] = axes.bar(states, -mean["movement"], color=ORANGE, width=0.7)
        (seen["bound"],) = axes.plot(states, mean["bound"], color=INK, marker="_", linestyle="", markersize=7)
        (seen["regret"],) = axes.plot(states, mean["regret"], color=RED, marker="o", linestyle="", markersize=3)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        axes.set(xlabel="state x", ylabel="times τ μ*(x)", axisbelow=True)

    return draw


def _relative(study: Study) -> Draw:
    changes, known = study.analysis.relative_q, study.constants
    x, y = changes.policy_change.ravel(), changes.q_change.ravel()
    kept = (x > 1e-8) & (y > 0.0)
    x, y = x[kept][:20_000], y[kept][:20_000]

    def draw(axes: Any, seen: Any) -> None:
        if not len(x):
            return
        seen["phases"] = axes.scatter(x, y, color=SKY, s=2, alpha=0.4, linewidths=0, rasterized=True)
        span = np.array([x.min(), x.max()])
        lines = [("measured constant", changes.constant, GREEN, "-")]
        if known.mixing_time is not None:
            phases = len(study.analysis.phase_ends)
            for label, constant, colour, line in (
                ("printed lemma", printed_constant, ORANGE, "--"),
                ("proven", proven_constant, RED, ":"),
            ):
                lines.append((label, known.reward_range * constant(known.mixing_time, phases), colour, line))
        for label, slope, colour, line in lines:
            (seen[label],) = axes.plot(span, slope * span, color=colour, linestyle=line)
        axes.set(xlabel="max ‖π_k − π_{k−1}‖₁", ylabel="max |Q_k − Q_{k−1}|", xscale="log", yscale="log")

    return draw


def _growth(study: Study) -> Draw:
    look = styles(study.growth)

    def draw(axes: Any, seen: Any) -> None:
        for name, growth in study.growth.items():
            found = band(growth.regrets.T)
            axes.errorbar(
                growth.steps, found.mean, yerr=[found.mean - found.lower, found.upper - found.mean], marker="o",
                color=look[name].colour, linestyle="", markersize=2.5, capsize=1.5,
            )  # fmt: skip
            (seen[f"{name}: T^{growth.exponent.estimate:.2f}"],) = axes.plot(
                growth.steps, growth.at(growth.steps), **pen(look[name])
            )
        axes.set(xlabel="T", ylabel="regret", xscale="log", yscale="log")
        _few_decades(axes.yaxis)

    return draw


def _exact(study: Study) -> Draw:
    look = styles(study.exact)

    def draw(axes: Any, seen: Any) -> None:
        for name, regrets in study.exact.items():
            (seen[f"{name}, exact"],) = axes.plot(
                list(regrets), list(regrets.values()), **pen(look[name]), marker="o", markersize=2.5
            )
        axes.set(xlabel="phases K", ylabel="regret", xscale="log", yscale="log")

    return draw


def _few_decades(axis: Any) -> None:
    """Ticks at 1, 2 and 5, and at nothing else."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
