"""Results as a Markdown page: tables with intervals, comparisons, settings, sensitivity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from aapi.experiments.plan import titled
from aapi.files import atomic_write
from aapi.report.numbers import told_number
from aapi.report.parts import Exchange, exchanges, told_digits
from aapi.report.tables import failures, told_choice, told_score, told_value
from aapi.theory import PARTS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from aapi.experiments.summary import Comparison, Row, Sensitivity, Summary
    from aapi.statistics import Interval

__all__ = [
    "comparison_lines",
    "decomposition_lines",
    "exchange_lines",
    "result_lines",
    "scale_lines",
    "sensitivity_lines",
    "settings_lines",
    "write_markdown",
]

FILE = "results.md"
Parts = tuple[str, str, dict[str, Any]]  # problem, algorithm, and what `theory.summary` said


def write_markdown(
    summary: Summary, folder: str | os.PathLike[str], commands: Sequence[str], parts: Sequence[Parts] = ()
) -> Path:
    """Write the page into the folder, and return its path. parts: of regret, by problem and algorithm."""
    path = Path(folder) / FILE
    with atomic_write(path) as file:
        file.write("\n".join([*_page(summary, commands, parts), ""]).encode())
    return path


def _page(summary: Summary, commands: Sequence[str], parts: Sequence[Parts]) -> Iterator[str]:
    yield "# Results"
    yield ""
    made = ", ".join(f"`{command}`" for command in dict.fromkeys(commands))
    yield f"Made by {made}. Means over runs with 95 % bootstrap intervals; std is over runs, as in the paper."
    for study in dict.fromkeys(row.plan.study for row in summary.rows):
        rows = [row for row in summary.rows if row.plan.study == study]
        yield from ("", f"## {study}", "")
        yield from result_lines(rows)
        comparisons = [comparison for comparison in summary.comparisons if comparison.study == study]
        if comparisons:
            yield ""
            yield from comparison_lines(comparisons)
        yield ""
        yield from settings_lines(rows)
    for exchange in exchanges(summary.rows):
        yield from ("", f"## What each part does: {exchange.study}", "")
        yield from exchange_lines(exchange)
    if summary.sensitivity:
        yield from ("", "## Sensitivity to what was tuned", "")
        yield from sensitivity_lines(summary.sensitivity)
    taken = [each for each in parts if "error" not in each[2]]
    if taken:
        yield from ("", "## Where regret comes from", "")
        yield from decomposition_lines(taken)
    failed = list(failures(summary))
    if failed:
        yield from ("", "## Failed and missing runs", "", *(f"- {line}" for line in failed))


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(' '.join(cell.split()).replace('|', '&#124;') for cell in line)} |"


def _interval(value: Interval, digits: str = ".4g") -> str:
    return f"{value.estimate:{digits}} [{value.lower:{digits}}, {value.upper:{digits}}]"


def result_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The closing table, with intervals."""
    head = ("problem", "algorithm", "chosen", "runs", "average reward", "std", "interquartile mean", "worst", "of λ*",
            "regret", "time")  # fmt: skip
    lines = []
    for row in rows:
        plan = row.plan
        start = [plan.title, plan.algorithm, told_choice(row)]
        end = [
            "" if row.fraction is None else f"{row.fraction:.1%}",
            "" if row.regret is None else f"{row.regret:,.0f}",
            f"{row.seconds:.1f} s",
        ]
        if row.rewards is None:
            lines.append([*start, f"0 of {row.plan.runs}", *[""] * 4, *end])
            continue
        rewards = row.rewards
        middle = [
            str(rewards.count), _interval(rewards.mean), f"{rewards.std:.2g}", _interval(rewards.interquartile_mean),
            f"{rewards.worst:.4g}",
        ]  # fmt: skip
        lines.append([*start, *middle, *end])
    yield from _table(head, lines)


def comparison_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Differences of means, and how often a run of the first beats one of the second."""
    head = ("problem", "comparison", "difference of means", "P(better)")
    lines = [
        (
            titled(c.problem, c.reward_scale),
            f"{c.ours} − {c.theirs}",
            _interval(c.difference, ".3g"),
            _interval(c.improvement, ".2f"),
        )
        for c in comparisons
    ]
    yield from _table(head, lines)


def settings_lines(rows: Sequence[Row]) -> Iterator[str]:
    """All settings that were not tuned, once for each problem and algorithm."""
    yield "Settings:"
    yield ""
    said: dict[str, None] = {}
    for row in rows:
        text = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.plan.settings.items())
        features = "" if row.plan.features is None else f", features {row.plan.features}"
        said[f"- {row.plan.problem}, {row.plan.algorithm}: {row.plan.steps:,} steps, {text}{features}"] = None
    yield from said


def exchange_lines(exchange: Exchange) -> Iterator[str]:
    """Scores by problem, evaluator and learning rate, what each part changes on average, and why cells are empty."""
    yield "Scores: 0 is acting at random, 1 the optimum."
    yield ""
    lines = [
        (exchange.title(place), evaluator, *(_digits(exchange.score(place, evaluator, c)) for c in exchange.columns))
        for place in exchange.places
        for evaluator in exchange.evaluators
    ]
    if len(exchange.places) > 1:
        lines += [
            ("mean", evaluator, *(_digits(exchange.mean(evaluator, column)) for column in exchange.columns))
            for evaluator in exchange.evaluators
        ]
    yield from _table(("problem", "evaluator", *map(exchange.name, exchange.columns)), lines)
    yield ""
    reasons = [f"No score of {line}." for line in exchange.reasons()]
    yield from (f"- {' '.join(line.split())}" for line in (*exchange.effects(), *reasons))


def _digits(score: float | None) -> str:
    return "–" if score is None else told_digits(score)


def sensitivity_lines(sensitivity: Sequence[Sensitivity]) -> Iterator[str]:
    """The average reward of tuning runs as a function of what was tuned, as scores where the optimum is known."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    values: dict[str, None] = {}
    for entry in sensitivity:
        value = ", ".join(map(told_value, entry["candidate"].values()))
        values[value] = None
        place = (titled(entry["problem"], entry["reward_scale"]), entry["algorithm"])
        found.setdefault(place, {})[value] = _score(entry)
    yield "On tuning runs; 0 is acting at random, 1 the optimum, where both are known; else the average reward."
    yield ""
    yield from _table(
        ("problem", "algorithm", *values),
        [(*place, *(scores.get(value, "") for value in values)) for place, scores in found.items()],
    )


def decomposition_lines(parts: Sequence[Parts]) -> Iterator[str]:
    """Noise, pseudo-regret, and its parts, of some runs done again."""
    yield (
        "Of the first runs, done again; means with Student's 95 % intervals. Regret = noise + pseudo-regret, and that "
        "is the sum of the rest: R1, errors of evaluation; R2, online learning; confinement to states where a policy "
        "earns less; and phases that were not evaluated (docs/theory.md)."
    )
    yield ""
    lines = []
    for problem, algorithm, found in parts:
        totals = [found["totals"].get(name) for name in PARTS]
        lines.append((problem, algorithm, str(found["runs"]), *map(_total, totals)))
    names = ("regret", "noise", "pseudo-regret", "R1", "R2", "confinement", "not evaluated")
    yield from _table(("problem", "algorithm", "runs", *names), lines)


def _total(total: dict[str, Any] | None) -> str:
    if total is None:
        return ""
    mean, lower, upper = (
        None if total[name] is None else told_number(total[name]) for name in ("mean", "lower", "upper")
    )
    return f"{mean}" if lower is None else f"{mean} [{lower}, {upper}]"


def _score(entry: Sensitivity) -> str:
    if entry["mean"] is None:
        return "failed"
    return f"{entry['mean']:.3g}" if entry["score"] is None else f"{entry['score']:.2f}"


def scale_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Algorithms and scales: the score of one choice for all problems, problem by problem."""
    problems = list(dict.fromkeys(row.plan.problem for row in rows))
    lines = []
    for algorithm, scale in dict.fromkeys((row.plan.algorithm, row.plan.reward_scale) for row in rows):
        mine = [r for r in rows if (r.plan.algorithm, r.plan.reward_scale) == (algorithm, scale)]
        scores = {r.plan.problem: r.score for r in mine}
        each = ["" if (score := scores.get(problem)) is None else f"{score:.2f}" for problem in problems]
        lines.append([algorithm, told_choice(mine[0]), f"× {scale:g}", told_score(mine), *each])
    yield from _table(("algorithm", "chosen", "rewards", "mean score", *problems), lines)
