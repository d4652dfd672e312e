"""Results as a Markdown page: tables with intervals, comparisons, settings, sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.experiments.plan import titled
from aapi.report.ablation import Ablation, ablations
from aapi.report.ablation_effects import ablation_effects
from aapi.report.formatting import candidate_text, format_interval, format_number, format_score, format_settings
from aapi.report.tables import by_scale, failures, format_choice, format_regret, format_scores
from aapi.statistics import compare_all
from aapi.theory import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.experiments.summary import Comparison, Row, Sensitivity, Summary
    from aapi.report.stored import Diagnostic
    from aapi.statistics import Interval


def markdown_page(
    summary: Summary, commands: Sequence[str], parts: Sequence[Diagnostic] = (), grown: Sequence[Diagnostic] = ()
) -> str:
    """The page. commands: those that made the runs; parts: of regret; grown: regret for several T."""
    return "\n".join([*_page(summary, commands, parts, grown), ""])


def _page(
    summary: Summary, commands: Sequence[str], parts: Sequence[Diagnostic], grown: Sequence[Diagnostic]
) -> Iterator[str]:
    yield "# Results"
    yield ""
    made = ", ".join(f"`{command}`" for command in dict.fromkeys(commands))
    yield f"Made by {made}. Means over runs with 95 % bootstrap intervals; std is over runs, as in the paper."
    for study, rows in summary.studies.items():
        yield from ("", f"## {study}", "", *result_lines(rows))
        if comparisons := [comparison for comparison in summary.comparisons if comparison.study == study]:
            yield from ("", *comparison_lines(comparisons))
        yield from ("", *settings_lines(rows))
    for ablation in ablations(summary.rows):
        yield from ("", f"## Effect of each factor: {ablation.study}", "", *ablation_lines(ablation))
    if summary.sensitivity:
        yield from ("", "## Sensitivity to what was tuned", "", *sensitivity_lines(summary.sensitivity))
    if found := [each for each in parts if not each.error]:
        yield from ("", "## Where regret comes from", "", *decomposition_lines(found))
    if growths := [each for each in grown if not each.error]:
        yield from ("", "## Regret where rewards change", "", *growth_lines(growths))
    if failed := list(failures(summary)):
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
        plan, rewards = row.plan, row.rewards
        middle = [f"0 of {plan.runs}", "", "", "", ""]
        if rewards is not None:
            means = _interval(rewards.mean), f"{rewards.std:.2g}", _interval(rewards.interquartile_mean)
            middle = [str(rewards.count), *means, f"{rewards.worst:.4g}"]
        lines.append([plan.title, plan.algorithm, format_choice(row), *middle, *format_regret(row)])
    yield from _table(head, lines)


def comparison_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Differences of means, and how often a run of the first beats one of the second."""
    lines = [
        (c.title, f"{c.ours} − {c.theirs}", _interval(c.difference, ".3g"), _interval(c.improvement, ".2f"))
        for c in comparisons
    ]
    yield from _table(("problem", "comparison", "difference of means", "P(better)"), lines)


def share_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Algorithms down, problems across: mean and worst run, as shares of λ*; and of how many runs, where of fewer."""
    problems = list(dict.fromkeys(row.plan.problem for row in rows))
    by_place, most = {(row.plan.algorithm, row.plan.problem): row for row in rows}, max(row.plan.runs for row in rows)
    lines = [
        (algorithm, *(_share(by_place.get((algorithm, problem)), most) for problem in problems))
        for algorithm in dict.fromkeys(row.plan.algorithm for row in rows)
    ]
    yield from _table(("", *problems), lines)


def _share(row: Row | None, most: int) -> str:
    """Mean and worst run, as shares of λ*; nothing where an algorithm was not run. most: runs that others have."""
    if row is None or row.plan.optimal_gain is None:
        return ""
    found, runs = row.averages / row.plan.optimal_gain, row.plan.runs
    return f"{found.mean():.3f} ({found.min():.3f})" + (f", {runs} run{'s' if runs > 1 else ''}" if runs < most else "")


def pair_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Of each algorithm: how often it earns more than another one, and less, over all problems and all others.

    Verdicts are of permutation tests, corrected for all pairs on a problem (Holm).
    """
    counts: dict[str, list[int]] = {row.plan.algorithm: [0, 0, 0] for row in rows}
    for problem in dict.fromkeys(row.plan.problem for row in rows):
        found = {row.plan.algorithm: row.averages for row in rows if row.plan.problem == problem}
        for pair in compare_all(found):
            counts[pair.ours][1 - pair.verdict] += 1
            counts[pair.theirs][1 + pair.verdict] += 1
    order = sorted(counts, key=lambda name: counts[name][2] - counts[name][0])
    yield from _table(("", "earns more", "no difference", "earns less"), [(n, *map(str, counts[n])) for n in order])


def settings_lines(rows: Sequence[Row]) -> Iterator[str]:
    """All settings that were not tuned, once for each problem and algorithm."""
    yield "Settings:"
    yield ""
    lines: dict[str, None] = {}
    for row in rows:
        text = format_settings(row.plan.settings)
        features = "" if row.plan.features is None else f", features {row.plan.features}"
        lines[f"- {row.plan.problem}, {row.plan.algorithm}: {row.plan.steps:,} steps, {text}{features}"] = None
    yield from lines


def ablation_lines(ablation: Ablation) -> Iterator[str]:
    """Scores by problem, evaluator and learning rate, the mean effect of each factor, and why cells are empty."""
    yield "Scores: 0 is acting at random, 1 the optimum."
    yield ""
    columns = ablation.columns
    lines = [
        (ablation.title(problem), evaluator, *(format_score(ablation.score(problem, evaluator, c)) for c in columns))
        for problem in ablation.problems
        for evaluator in ablation.evaluators
    ]
    if len(ablation.problems) > 1:
        lines += [("mean", e, *(format_score(ablation.mean(e, c)) for c in columns)) for e in ablation.evaluators]
    yield from _table(("problem", "evaluator", *map(ablation.name, columns)), lines)
    yield ""
    empty = [f"No score of {line}." for line in ablation.empty_cells()]
    yield from (f"- {' '.join(line.split())}" for line in (*ablation_effects(ablation), *empty))


def sensitivity_lines(candidates: Sequence[Sensitivity]) -> Iterator[str]:
    """The average reward of tuning runs as a function of what was tuned, as scores where the optimum is known."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for value in candidates:
        place = titled(value["problem"], value["reward_scale"]), value["algorithm"]
        found.setdefault(place, {})[candidate_text(value)] = _tuned(value)
    columns = list(dict.fromkeys(text for scores in found.values() for text in scores))
    yield "On tuning runs; 0 is acting at random, 1 the optimum, where both are known; else the average reward."
    yield ""
    lines = [(*place, *(scores.get(text, "") for text in columns)) for place, scores in found.items()]
    yield from _table(("problem", "algorithm", *columns), lines)


def _tuned(value: Sensitivity) -> str:
    if value["mean"] is None:
        return "failed"
    return f"{value['mean']:.3g}" if value["score"] is None else f"{value['score']:.2f}"


def decomposition_lines(parts: Sequence[Diagnostic]) -> Iterator[str]:
    """Noise, pseudo-regret, and its parts, of some runs done again."""
    yield (
        "Of the first runs, done again; means with Student's 95 % intervals. Regret = noise + pseudo-regret, and that "
        "is the sum of the rest: R1, errors of evaluation; R2, online learning; confinement to states where a policy "
        "earns less; and phases that were not evaluated (docs/theory.md)."
    )
    yield ""
    lines = []
    for each in parts:
        found = (each.regret["totals"].get(name) for name in PARTS)
        totals = ["" if one is None else format_interval(one["mean"], one["lower"], one["upper"]) for one in found]
        lines.append((each.problem, each.algorithm, str(each.regret["runs"]), *totals))
    names = ("regret", "noise", "pseudo-regret", "R1", "R2", "confinement", "not evaluated")
    yield from _table(("problem", "algorithm", "runs", *names), lines)


def growth_lines(grown: Sequence[Diagnostic]) -> Iterator[str]:
    """Exponents of regret, and its means for the least and the largest T."""
    yield (
        "Regret against the best fixed policy in hindsight, over doublings of T; p in regret ~ T^p, with a 95 % "
        "interval over runs (docs/theory.md)."
    )
    yield ""
    lines = []
    for each in grown:
        growth = each.growth
        p, means, steps = growth["exponent"], growth["regret"]["mean"], growth["steps"]
        shown = "" if p["lower"] is None else f" [{p['lower']:.2f}, {p['upper']:.2f}]"
        ends = (f"{format_number(means[place])} at {steps[place]:,}" for place in (0, -1))
        lines.append((each.problem, each.algorithm, str(growth["runs"]), f"{p['estimate']:.2f}{shown}", *ends))
    head = ("problem", "algorithm", "runs", "p", "regret at the least T", "at the largest")
    yield from _table(head, lines)


def scale_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Algorithms and scales: the score of one choice for all problems, problem by problem."""
    problems = list(dict.fromkeys(row.plan.problem for row in rows))
    lines = []
    for (algorithm, scale), mine in by_scale(rows).items():
        scores = {r.plan.problem: r.score for r in mine}
        each = ["" if (score := scores.get(problem)) is None else f"{score:.2f}" for problem in problems]
        lines.append([algorithm, format_choice(mine[0]), f"× {scale:g}", format_scores(mine), *each])
    yield from _table(("algorithm", "chosen", "rewards", "mean score", *problems), lines)
