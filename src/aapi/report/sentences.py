"""What was run and what came out of it, in three sentences that are computed from the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aapi.experiments.summary import mean_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.summary import Comparison, Row, Summary

__all__ = ["sentences"]


def sentences(summary: Summary) -> list[str]:
    """What was run; who earned more, where the data can tell; and how near the optimum that is."""
    apart = [row for row in summary.rows if row.plan.together is None]
    rows = apart or summary.rows
    studies = {row.plan.study for row in rows}
    comparisons = [comparison for comparison in summary.comparisons if comparison.study in studies]
    return [_what_was_run(rows), _who_earned_more(rows, comparisons), _how_near(summary.rows)]


def _what_was_run(rows: Sequence[Row]) -> str:
    algorithms = _distinct(row.plan.algorithm for row in rows)
    problems = _distinct(row.plan.problem for row in rows)
    tuned = _distinct(name.replace("_", " ") for row in rows if row.plan.is_tuned for name in row.plan.tuned)
    runs = _span([row.plan.runs for row in rows])
    steps = _span([row.plan.steps for row in rows])
    what = f"{_listed(algorithms, 'algorithms')} ran on {_listed(problems, 'problems')}"
    told = f"{what}, {_times(runs)} each, for {steps} steps"
    if not tuned:
        return f"{told}."
    tuning = _span([row.plan.tuning_runs for row in rows if row.plan.is_tuned])
    others = "one other run" if tuning == "1" else f"{tuning} other runs"
    return f"{told}; the best {_either(tuned)} for each was chosen on {others}."


def _who_earned_more(rows: Sequence[Row], comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return _best(rows)
    ours = comparisons[0].ours
    others = _distinct(c.theirs for c in comparisons if c.ours == ours)
    told = [_against(ours, them, [c for c in comparisons if (c.ours, c.theirs) == (ours, them)]) for them in others[:3]]
    return f"{'; '.join(told)} (95 % intervals of the differences)."


def _against(ours: str, theirs: str, comparisons: Sequence[Comparison]) -> str:
    more = [c.problem for c in comparisons if c.difference.lower > 0]
    less = [c.problem for c in comparisons if c.difference.upper < 0]
    count = len(comparisons)
    if not more and not less:
        where = f"any of {count} problems" if count > 1 else comparisons[0].problem
        return f"{ours} and {theirs} cannot be told apart on {where}"
    told = [f"more than {theirs} on {_some(more)}"] if more else []
    told += [f"less {'' if more else f'than {theirs} '}on {_some(less)}"] if less else []
    even = count - len(more) - len(less)
    return f"{ours} earned {' and '.join(told)}" + (f"; no difference is seen on {_count(even, count)}" if even else "")


def _best(rows: Sequence[Row]) -> str:
    """The best line of each problem, where there is nothing to compare."""
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        if row.rewards is not None:
            earned = row.rewards.mean.estimate
            if earned > best.get(row.plan.problem, (-math.inf, row))[0]:
                best[row.plan.problem] = earned, row
    if not best:
        return "No run is stored yet."
    told = [
        f"{row.plan.algorithm} earned {earned:.4g} a step on {problem}"
        + ("" if row.fraction is None else f", {row.fraction:.1%} of the optimum")
        for problem, (earned, row) in list(best.items())[:3]
    ]
    if len(best) > 3:
        told.append(f"{len(best) - 3} more problems are in the table")
    if len(rows) > len(best):
        told.append("there are too few runs to speak of differences")
    return f"{'; '.join(told)}."


def _how_near(rows: Sequence[Row]) -> str:
    together = [row for row in rows if row.plan.together is not None and row.plan.reward_scale == 1.0]
    used = together or [row for row in rows if row.plan.together is None]
    if together:  # the study with the most runs, if there are several
        most = max(together, key=lambda row: row.plan.tuning_runs).plan.study
        used = [row for row in together if row.plan.study == most]
    told = []
    for algorithm in _distinct(row.plan.algorithm for row in used)[:6]:
        found = mean_score([row for row in used if row.plan.algorithm == algorithm])
        if found is not None:
            told.append((found[0], f"{algorithm} {found[0]:.3f} ± {found[1]:.3f}"))
    if not told:
        return "The optimum of these problems is not known, so there is no regret to report."
    told.sort(reverse=True)
    count = len(_distinct(row.plan.problem for row in used))
    where = f"on average over {count} problems" if count > 1 else f"on {used[0].plan.problem}"
    how = "With one choice of settings for all problems, and" if together else "With"
    return f"{how} 0 for acting at random and 1 for the optimum, {where}: {', '.join(text for _, text in told)}."


def _distinct(words: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _listed(words: Sequence[str], noun: str) -> str:
    if len(words) > 4:
        return f"{len(words)} {noun}"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _some(problems: Sequence[str]) -> str:
    return f"{len(problems)} problems" if len(problems) > 3 else " and ".join(problems)


def _count(some: int, of: int) -> str:
    return f"{some} of {of} problems"


def _times(runs: str) -> str:
    return "once" if runs == "1" else f"{runs} times"


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
