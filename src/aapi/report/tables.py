"""The closing tables in the terminal: 80 columns, plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.experiments.plan import group_by
from aapi.experiments.summary import Row, Summary, best_tuned, mean_score
from aapi.experiments.zoo_studies import ZOO_STUDIES
from aapi.report.formatting import format_setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHARES_HEAD = ("problem", "algorithm", "share", "worst", "ratio", "lost")
HEAD = ("problem", "algorithm", "chosen", "reward ± std", "of λ*", "regret", "time")


def closing_tables(summary: Summary) -> Iterator[str]:
    """A table for each study; where problems were tuned together, one line for each algorithm and reward scale."""
    zoo = {name for names in ZOO_STUDIES.values() for name in names}
    best = best_tuned([row for row in summary.rows if row.plan.study in zoo])
    for study, rows in summary.studies.items():
        first = rows[0].plan
        others = f"{first.tuning_runs} other{'s' if first.tuning_runs > 1 else ''}"
        tuned = f", tuned on {others}" if any(row.plan.is_tuned for row in rows) else ""
        yield f"\n{study}: {first.runs} runs{tuned}"
        if study in zoo:
            yield from aligned([SHARES_HEAD, *_shares(rows, best)], right=(2, 3, 4, 5))
            yield "share: of λ*, or, where λ* ≤ 0, of the way to it from acting at random;"
            yield "ratio: to the best tuned algorithm's share; lost: runs below half of the mean"
        elif any(row.plan.shared_tuning for row in rows):
            yield "score: 0 is acting at random, 1 the optimum; mean ± its error, and the worst"
            yield from aligned(_shared_choice(rows), right=(3, 4))
        else:
            yield from aligned([HEAD, *map(_line, rows)], right=(3, 4, 5, 6))
    yield from failures(summary)


def failures(summary: Summary, *, missing: bool = True) -> Iterator[str]:
    """A line for all runs of a row that failed, or that are missing. missing: False while runs are being made."""
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
        yield f"note: {summary.others} runs in the store are of another version of aapi, and are not used"


def format_choice(row: Row) -> str:
    """What tuning chose; – if nothing was tuned."""
    if row.chosen is None:
        return "tuning"
    return ", ".join(f"{name} {format_setting(value)}" for name, value in row.choice.items()) or "–"


def format_scores(rows: Sequence[Row]) -> str:
    """The mean score of some rows, with its standard error."""
    found = mean_score(rows)
    return "" if found is None else f"{found[0]:.3f} ± {found[1]:.3f}"


def format_regret(row: Row) -> tuple[str, str, str]:
    """The fraction of λ_*, the regret, and the time: the last three columns of tables."""
    fraction = "" if row.fraction is None else f"{row.fraction:.1%}"
    return fraction, "" if row.regret is None else f"{row.regret:,.0f}", f"{row.seconds:.1f} s"


def by_scale(rows: Sequence[Row]) -> dict[tuple[str, float], list[Row]]:
    """The rows of each algorithm and scale of rewards."""
    return group_by(rows, lambda row: (row.plan.algorithm, row.plan.reward_scale))


def _line(row: Row) -> tuple[str, ...]:
    plan, rewards = row.plan, row.rewards
    label = plan.problem + ("" if plan.reward_scale == 1.0 else f" ×{plan.reward_scale:g}")
    earned = "no run" if rewards is None else f"{rewards.mean.estimate:.4g} ± {rewards.std:.2g}"
    return label, plan.algorithm, format_choice(row), earned, *format_regret(row)


def _shares(rows: Sequence[Row], best: dict[str, float]) -> Iterator[tuple[str, ...]]:
    """Mean and worst share of each row, how that compares with the best tuned rival, and runs that were lost."""
    for row in rows:
        shares, rival = row.shares, best.get(row.plan.problem, 0.0)
        mean, worst = (f"{shares.mean():.3f}", f"{shares.min():.3f}") if shares.size else ("no run", "")
        ratio = f"{shares.mean() / rival:.3f}" if shares.size and rival > 0.0 else ""
        yield row.plan.problem, row.plan.algorithm, mean, worst, ratio, f"{row.lost} of {len(shares)}"


def _shared_choice(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Scores of settings that are the same for all problems, with the worst problem."""
    lines: list[tuple[str, ...]] = [("algorithm", "chosen", "rewards", "score", "worst", "on")]
    for (algorithm, scale), mine in by_scale(rows).items():
        scores = [(r.score, r.plan.problem) for r in mine if r.score is not None]
        if scores:
            worst, problem = min(scores)
            choice = format_choice(mine[0])
            lines.append((algorithm, choice, f"×{scale:g}", format_scores(mine), f"{worst:.3f}", problem))
    return lines


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Columns of equal width; those in `right` end together."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in cells).rstrip()
