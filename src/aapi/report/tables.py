"""The closing tables in the terminal: 80 columns, plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.experiments.summary import mean_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aapi.experiments.summary import Row, Summary

__all__ = ["aligned", "closing_tables", "failures", "told_choice", "told_score", "told_span", "told_value"]

HEAD = ("problem", "algorithm", "chosen", "reward ± std", "of λ*", "regret", "time")


def closing_tables(summary: Summary) -> Iterator[str]:
    """A table for each study; where problems were tuned together, one line for each algorithm and scale."""
    for study in dict.fromkeys(row.plan.study for row in summary.rows):
        rows = [row for row in summary.rows if row.plan.study == study]
        yield f"\n{study}: {_counted(rows)}"
        if any(row.plan.shared_tuning for row in rows):
            yield "score: 0 is acting at random, 1 the optimum; mean ± its error, and the worst"
            yield from aligned(_shared(rows), right=(3, 4))
        else:
            yield from aligned([HEAD, *map(_line, rows)], right=(3, 4, 5, 6))
    yield from failures(summary)


def failures(summary: Summary, *, missing: bool = True) -> Iterator[str]:
    """What failed or is missing, never left out silently. missing: not while runs are still being made."""
    for row in summary.rows:
        where = f"{row.plan.algorithm} on {row.plan.problem}"
        if row.failed:
            number, error = next(iter(row.failed.items()))
            yield f"failed: {len(row.failed)} of {row.plan.runs} runs of {where}; run {number}: {error}"
        if row.failed_tuning:
            yield f"failed: {row.failed_tuning} tuning runs of {where}; candidates with failures are never chosen"
        if missing and row.missing:
            yield f"missing: {row.missing} of {row.plan.runs} runs of {where}"
    if summary.others:
        yield f"note: {summary.others} runs in the store are of another version of aapi; they are kept, and not used"


def told_choice(row: Row) -> str:
    """What tuning chose, or nothing."""
    if row.chosen is None:
        return "tuning"
    return ", ".join(f"{name} {told_value(value)}" for name, value in row.choice.items()) or "–"


def told_value(value: Any) -> str:
    """A setting, with as few digits as will do."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def told_span(values: Iterable[int]) -> str:
    """5, or 5 to 50."""
    found = list(values)
    low, high = min(found), max(found)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def told_score(rows: Sequence[Row]) -> str:
    """The mean score of some rows, with its standard error."""
    found = mean_score(rows)
    return "" if found is None else f"{found[0]:.3f} ± {found[1]:.3f}"


def _counted(rows: Sequence[Row]) -> str:
    first = rows[0].plan
    others = f"{first.tuning_runs} other{'s' if first.tuning_runs > 1 else ''}"
    tuned = f", tuned on {others}" if any(row.plan.is_tuned for row in rows) else ""
    return f"{first.runs} runs{tuned}"


def _line(row: Row) -> tuple[str, ...]:
    plan = row.plan
    label = plan.problem + ("" if plan.reward_scale == 1.0 else f" ×{plan.reward_scale:g}")
    if row.rewards is None:
        return label, row.plan.algorithm, told_choice(row), "no run", "", "", f"{row.seconds:.1f} s"
    rewards = row.rewards
    return (
        label,
        row.plan.algorithm,
        told_choice(row),
        f"{rewards.mean.estimate:.4g} ± {rewards.std:.2g}",
        "" if row.fraction is None else f"{row.fraction:.1%}",
        "" if row.regret is None else f"{row.regret:,.0f}",
        f"{row.seconds:.1f} s",
    )


def _shared(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = [("algorithm", "chosen", "rewards", "score", "worst", "on")]
    places = dict.fromkeys((row.plan.algorithm, row.plan.reward_scale) for row in rows)
    for algorithm, scale in places:
        mine = [r for r in rows if (r.plan.algorithm, r.plan.reward_scale) == (algorithm, scale)]
        scores: list[tuple[float, Any]] = [(r.score, r.plan.problem) for r in mine if r.score is not None]
        if scores:
            worst, label = min(scores)
            lines.append((algorithm, told_choice(mine[0]), f"×{scale:g}", told_score(mine), f"{worst:.3f}", label))
    return lines


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Columns of equal width; those in `right` end together."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
