"""What was run and what came out of it, in three sentences that are computed from the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aapi.experiments.summary import ENOUGH_RUNS, Comparison, Row, Summary, mean_score
from aapi.report.ablation import ablations
from aapi.report.formatting import format_decimal, format_list, format_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_RIVALS = 3
MOST_SCORES = 6


def sentences(summary: Summary) -> list[str]:
    """What was run; who earned more, where the data can tell; and how near the optimum that is."""
    together = _with_one_choice(summary.rows)
    apart = [row for row in summary.rows if row.plan.study not in together]
    rows = apart or summary.rows
    # In an ablation the first row is no baseline to compare all others with.
    studies = {row.plan.study for row in rows} - {ablation.study for ablation in ablations(rows)}
    comparisons = [comparison for comparison in summary.comparisons if comparison.study in studies]
    return [_what_was_run(rows), _who_earned_more(rows, comparisons), _how_near(summary.rows)]


def _what_was_run(rows: Sequence[Row]) -> str:
    algorithms = _listed(_distinct(row.plan.algorithm for row in rows), "algorithms")
    problems = _listed(_distinct(row.plan.problem for row in rows), "problems")
    steps = format_range(row.plan.steps for row in rows)
    planned, stored = sum(row.plan.runs for row in rows), sum(len(row.averages) for row in rows)
    runs = format_range(row.plan.runs for row in rows)
    each = "once" if runs == "1" else f"{runs} times each"
    well = " without failure" if any(row.failed for row in rows) else ""
    how = each if stored == planned else f"so far {stored:,} of {planned:,} runs{well}"
    return f"{algorithms} ran on {problems}, {how}, for {steps} steps{_how_tuned(rows)}."


def _how_tuned(rows: Sequence[Row]) -> str:
    tuned = [row for row in rows if row.plan.is_tuned]
    if not tuned:
        return ""
    if any(row.chosen is None for row in tuned):
        return ", and tuning is not complete yet"
    what = " or ".join(_distinct(name.replace("_", " ") for row in tuned for name in row.plan.tuned))
    runs = format_range(row.plan.tuning_runs for row in tuned)
    others = "one other run" if runs == "1" else f"{runs} other runs"
    together = all(row.plan.shared_tuning is not None for row in tuned)
    best = f"one {what} for all problems was" if together else f"the best {what} for each was"
    return f"; {best} chosen on {others}"


def _who_earned_more(rows: Sequence[Row], comparisons: Sequence[Comparison]) -> str:
    sure = [comparison for comparison in comparisons if comparison.verdict is not None]
    if not sure:
        few = f"; differences take at least {ENOUGH_RUNS} runs of each to speak of" if comparisons else ""
        return f"{_best(rows)}{few}."
    ours = sure[0].ours
    rivals = _distinct(c.theirs for c in sure if c.ours == ours)
    texts = [_against([c for c in sure if (c.ours, c.theirs) == (ours, them)]) for them in rivals[:MOST_RIVALS]]
    rest = len({(c.ours, c.theirs) for c in sure}) - len(texts)
    more = f"; {rest} more {'comparison is' if rest == 1 else 'comparisons are'} in the table" if rest else ""
    return f"{'; '.join(texts)}{more} (95 % intervals, each by itself)."


def _against(comparisons: Sequence[Comparison]) -> str:
    """Of one pair of algorithms."""
    ours, theirs = comparisons[0].ours, comparisons[0].theirs
    more = [c.title for c in comparisons if c.verdict == 1]
    less = [c.title for c in comparisons if c.verdict == -1]
    count = len(comparisons)
    if not more and not less:
        where = f"any of {count} problems" if count > 1 else comparisons[0].title
        return f"{ours} and {theirs} cannot be told apart on {where}"
    texts = [f"more than {theirs} on {_some(more)}"] if more else []
    texts += [f"less {'' if more else f'than {theirs} '}on {_some(less)}"] if less else []
    even = count - len(more) - len(less)
    rest = f", and no difference is seen on {even} of {count}" if even else ""
    return f"{ours} earned {' and '.join(texts)}{rest}"


def _best(rows: Sequence[Row]) -> str:
    """The best line of each problem, where there is nothing to compare."""
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        if row.rewards is not None:
            earned = row.rewards.mean.estimate
            if earned > best.get(row.plan.title, (-math.inf, row))[0]:
                best[row.plan.title] = earned, row
    if not best:
        return "All runs failed" if any(row.failed for row in rows) else "There is nothing to report yet"
    texts = [
        f"{row.plan.algorithm} earned {f'{earned:.4g}'.replace('-', '−', 1)} a step on {title}"
        + ("" if row.fraction is None else f", {row.fraction:.1%} of the optimum")
        for title, (earned, row) in list(best.items())[:3]
    ]
    rest = len(best) - len(texts)
    return "; ".join(texts) + (f"; {rest} more problem{'s are' if rest > 1 else ' is'} in the table" if rest else "")


def _with_one_choice(rows: Sequence[Row]) -> set[str]:
    """The studies in which all problems are tuned together."""
    return {row.plan.study for row in rows if row.plan.shared_tuning is not None}


def _how_near(rows: Sequence[Row]) -> str:
    studies = _with_one_choice(rows)
    together = [row for row in rows if row.plan.study in studies]
    used = _largest_unscaled(together) if together else rows
    scored = [row for row in used if row.score is not None]
    if not scored:
        return _why_no_score(used)
    algorithms = _distinct(row.plan.algorithm for row in scored)
    shared = [
        key
        for key in dict.fromkeys(row.plan.place for row in scored)
        if {row.plan.algorithm for row in scored if row.plan.place == key} == set(algorithms)
    ] or [scored[0].plan.place]  # a mean over other problems for each would compare nothing
    scored = [row for row in scored if row.plan.place in shared]
    where = f"on average over {len(shared)} problems" if len(shared) > 1 else f"on {scored[0].plan.title}"
    how = "With one choice of settings for all problems, and" if together else "With"
    runs = format_range(len(row.averages) for row in scored)
    errors = "" if runs == "1" else f" (± standard error, {runs} runs each)"
    ranking = _ranking(scored, algorithms)
    return f"{how} 0 for acting at random and 1 for the optimum, {where}: {ranking}{errors}."


def _largest_unscaled(rows: Sequence[Row]) -> list[Row]:
    """The rows of the study with most runs, with rewards as they are if it has them."""
    usual = [row for row in rows if row.plan.reward_scale == 1.0] or rows
    first = max(usual, key=lambda row: row.plan.runs).plan
    return [row for row in usual if (row.plan.study, row.plan.reward_scale) == (first.study, first.reward_scale)]


def _ranking(rows: Sequence[Row], algorithms: Sequence[str]) -> str:
    """Mean scores, the highest first."""
    scores = []
    for algorithm in algorithms:
        if (found := mean_score([row for row in rows if row.plan.algorithm == algorithm])) is not None:
            mean, error = found
            scores.append((mean, f"{algorithm} {format_decimal(mean, 3)}" + (f" ± {error:.3f}" if error else "")))
    scores.sort(key=lambda each: -each[0])
    comma = "; " if any("," in algorithm for algorithm in algorithms) else ", "
    rest = f" and {len(scores) - MOST_SCORES} more" if len(scores) > MOST_SCORES else ""
    return comma.join(text for _, text in scores[:MOST_SCORES]) + rest


def _why_no_score(rows: Sequence[Row]) -> str:
    if any(row.plan.optimal_gain is None for row in rows):
        return "The optimum of these problems is not known, so the table has no regret."
    if all(row.rewards is None for row in rows):
        return "How near the optimum that is cannot be said before there are runs."
    return "On these problems no policy earns more than acting at random."


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _listed(words: Sequence[str], noun: str) -> str:
    return f"{len(words)} {noun}" if len(words) > 4 else format_list(words)


def _some(problems: Sequence[str]) -> str:
    return f"{len(problems)} problems" if len(problems) > 3 else " and ".join(problems)
