"""How regret grows with T, for `aapi theory`; where rewards change, that is all that it shows."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import aapi
from aapi.cli import arguments
from aapi.cli.text import plural, print_lines, print_table
from aapi.progress import showing_progress
from aapi.report.formatting import format_interval, format_number, format_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from aapi.environments import ChangingRewards
    from aapi.features import Features
    from aapi.json_types import Json, Setting
    from aapi.learners.learner import AnyLearner
    from aapi.theory import Growth, HindsightGrowth

COMPARED = ("greedy", "aapi-paper", "politex")  # where rewards change
EVERY = 2  # of the values of T that are tried, every second is shown


def growth_lines(growth: Mapping[str, Growth], refused: Mapping[str, str], every: int = 1) -> Iterator[str]:
    """Exponents with intervals, and mean regrets, a line for each algorithm. refused: why others have none."""
    for grown in list(growth.values())[:1]:
        yield f"{'T':36}{' → '.join(map(format_number, grown.steps[::every]))}"
    for name, grown in growth.items():
        p, means = grown.exponent, grown.regrets.mean(axis=1)[::every]
        interval = "" if math.isnan(p.lower) else f" [{p.lower:.2f}, {p.upper:.2f}]"
        exponent = f"p = {p.estimate:.2f}{interval}"
        yield f"{name:12}{exponent:23} {' → '.join(map(format_number, means))}"
    for name, why in refused.items():
        yield f"{name:12}{why}"


def theory_in_hindsight(
    options: argparse.Namespace, problem: ChangingRewards, algorithms: Mapping[str, AnyLearner],
    settings: Mapping[str, Setting], features: Features | None,
) -> None:  # fmt: skip
    """Compare how regret against the best fixed policy in hindsight grows, print it, and draw it."""
    from aapi.theory import hindsight_growth
    from aapi.theory.summary import hindsight_summary

    with arguments.errors_name_flags(options), showing_progress(not options.json and sys.stderr.isatty()):
        found = hindsight_growth(
            algorithms, problem, options.steps, options.runs, options.seed, threads=options.threads, features=features
        )
    summary = about(options, settings) | {"runs": options.runs} | hindsight_summary(found)
    if not options.json:
        _show(options, problem, found, settings)

    def draw(out: Path) -> list[Path]:
        from aapi.report.theory_figures import write_growth_figure

        panels = {f"{options.problem}: regret in hindsight": found.growth}
        return write_growth_figure(panels, out / "theory-growth") if found.growth else []

    hand_out(options, summary, draw)


def about(options: argparse.Namespace, settings: Mapping[str, Setting]) -> dict[str, Json]:
    """What was asked for, as every JSON of `aapi theory` has it."""
    return {
        "problem": options.problem, "sizes": {**arguments.given_sizes(options)}, "features": options.features,
        "steps": options.steps, "seed": options.seed, "settings": {**settings}, "version": aapi.__version__,
    }  # fmt: skip


def hand_out(options: argparse.Namespace, summary: Mapping[str, Json], draw: Callable[[Path], list[Path]]) -> None:
    """Write figures, and all numbers as theory.json, if a folder was named; print the numbers, if they were wanted."""
    from aapi.files import atomic_write

    if options.out is not None:
        with atomic_write(Path(options.out) / "theory.json") as file:
            file.write(json.dumps(summary, allow_nan=False, indent=1).encode())
        written = 1 + len(draw(Path(options.out)))
        if not options.json:
            print(f"\n{options.out}: {plural(written, 'file')}")
    if options.json:
        print(json.dumps(summary, allow_nan=False))


def _show(
    options: argparse.Namespace, problem: ChangingRewards, found: HindsightGrowth, settings: Mapping[str, Setting]
) -> None:
    mdp = problem.dynamics
    rows = [
        ("runs", f"{options.runs}, of up to {options.steps} steps; means over runs with 95 % intervals"),
        ("settings", f"{format_settings(settings)} ({options.algorithm})"),
        ("regret", "against the best fixed policy for all rewards that a run met"),
    ]
    size = f": {plural(mdp.num_states, 'state')}, {plural(mdp.num_actions, 'action')}, rewards that change"
    print_table(options.problem, size, rows)
    print_lines("growth: regret ~ T^p", growth_lines(found.growth, found.refused, EVERY))
    print_lines("of gains, at the largest T: Σ τ (λ_π*(r) − λ_π(r)), exact, without luck", _gains(found))


def _gains(found: HindsightGrowth) -> Iterator[str]:
    for name, band in found.gain_regret.items():
        yield f"{name:12}{format_interval(float(band.mean), float(band.lower), float(band.upper))}"
