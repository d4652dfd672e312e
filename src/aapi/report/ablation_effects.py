"""The effect of each factor of an ablation, in sentences: mean scores of its levels over cells alike in all else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.experiments.plan import score
from aapi.experiments.summary import ENOUGH_RUNS, Row
from aapi.report.ablation import ADAPTIVE, CONSTANT, Ablation, Column, ProblemKey
from aapi.report.formatting import format_decimal, format_list
from aapi.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Levels = Mapping[str, Sequence[Row]]  # rows of each level of a factor; the i-th of all differ in nothing else


def ablation_effects(ablation: Ablation) -> list[str]:
    """A sentence for each factor, and how sure they are."""
    rates = _learning_rates(ablation)
    lines = [
        *_compare("Evaluator", _levels(ablation, lambda problem, evaluator, c: (evaluator, (problem, c)))),
        *_compare("Side information", _levels(ablation, _side_information)),
        *_compare("Norm", _levels(ablation, _norm)),
        *_compare("Learning rate", rates),
        *_interaction(ablation, rates),
    ]
    fewest = min((len(row.averages) for row in ablation.cells.values()), default=0)
    if lines and fewest < ENOUGH_RUNS:
        lines.append(f"Whether such differences are more than chance takes at least {ENOUGH_RUNS} runs of each to say.")
    elif lines:
        lines.append("In brackets: 95 % intervals over runs on these problems, each by itself.")
    return lines


def _levels(
    ablation: Ablation, split: Callable[[ProblemKey, str, Column], tuple[str, Hashable] | None]
) -> dict[str, list[Row]]:
    """The rows of each level, where all levels have a score with the same rest.

    split: the level and the rest of a cell; None for cells that do not count.
    """
    levels: dict[str, dict[Hashable, Row]] = {}
    for column in ablation.columns:
        for (problem, evaluator, each), row in ablation.cells.items():
            if each == column and (found := split(problem, evaluator, column)) is not None:
                scored = levels.setdefault(found[0], {})
                if row.score is not None:
                    scored[found[1]] = row
    if len(levels) < 2:
        return {}
    shared = set.intersection(*(set(rows) for rows in levels.values()))
    order = [rest for rest in next(iter(levels.values())) if rest in shared]
    return {level: [rows[rest] for rest in order] for level, rows in levels.items()} if order else {}


def _side_information(problem: ProblemKey, evaluator: str, column: Column) -> tuple[str, Hashable] | None:
    rest = problem, evaluator, column.eta, column.norm
    return (column.side_information, rest) if column.kind == ADAPTIVE else None


def _norm(problem: ProblemKey, evaluator: str, column: Column) -> tuple[str, Hashable] | None:
    rest = problem, evaluator, column.eta, column.side_information
    return (column.norm, rest) if column.kind == ADAPTIVE else None


def _learning_rates(ablation: Ablation) -> dict[str, list[Row]]:
    """Adaptive rates with the first norm, and the first side information or none; constant ones; and greedy."""
    first = ablation.columns[0]

    def level(problem: ProblemKey, evaluator: str, column: Column) -> tuple[str, Hashable] | None:
        if column.kind != ADAPTIVE:
            return ablation.name(column), (problem, evaluator)
        if column.norm != first.norm or column.side_information not in (first.side_information, "zero"):
            return None
        name = f"{ADAPTIVE}, {first.norm}, η {column.eta:g}, {column.side_information}"
        return name, (problem, evaluator)

    return _levels(ablation, level)


def _compare(factor: str, levels: Levels) -> Iterator[str]:
    """Mean scores of the levels, the highest first."""
    if not levels:
        return
    means = {level: _mean_score(rows) for level, rows in levels.items()}
    order = sorted(means, key=lambda level: -means[level])
    cells = len(levels[order[0]])
    ranking = format_list([f"{level} ({format_decimal(means[level], 3)})" for level in order])
    over = f"on average over {cells} cell{'' if cells == 1 else 's'} each"
    higher = ""
    if len(order) == 2:
        first, second = order
        count = sum((a.score or 0.0) > (b.score or 0.0) for a, b in zip(levels[first], levels[second], strict=True))
        higher = f"; {first} is higher in {count} of them"
    yield f"{factor}: {ranking}, {over}{higher}{_significance(levels, order)}."


def _interaction(ablation: Ablation, rates: Levels) -> Iterator[str]:
    """Which learning rate is highest with each evaluator, and what the best constant ones would have been."""
    if not rates:
        return
    highest = []
    for evaluator in ablation.evaluators:
        means = {
            rate: _mean_score(mine)
            for rate, rows in rates.items()
            if (mine := [row for row in rows if row.plan.settings["evaluation"] == evaluator])
        }
        if means:
            best = max(means, key=lambda rate: means[rate])
            highest.append(f"with {evaluator}, {best} ({format_decimal(means[best], 3)})")
    text = f"The highest of these: {format_list(highest)}"
    constant = {ablation.name(column) for column in ablation.columns if column.kind == CONSTANT}
    candidates = [rows for rate, rows in rates.items() if rate in constant]
    if len(candidates) > 1:
        scores = [max(row.score or 0.0 for row in cell) for cell in zip(*candidates, strict=True)]
        text += (
            "; the best constant η, chosen afterwards for each problem and evaluator, would have had "
            f"{format_decimal(float(np.mean(scores)), 3)}"
        )
    yield f"{text}."


def _significance(levels: Levels, order: Sequence[str]) -> str:
    """The best level against each other one, by 95 % intervals; empty if there are too few runs for them."""
    runs = {tuple(run.number for run in row.runs if run.error is None) for rows in levels.values() for row in rows}
    if len(runs) != 1 or len(next(iter(runs))) < ENOUGH_RUNS:
        return ""
    best, *others = order
    series = {level: np.mean([_run_scores(row) for row in rows], axis=0) for level, rows in levels.items()}
    ahead, even = [], []
    for other in others:
        found = mean_interval(series[best] - series[other])  # paired by run: they may share random numbers
        if found.lower > 0.0:
            numbers = (format_decimal(each, 3) for each in (found.estimate, found.lower, found.upper))
            ahead.append("of {} by {} [{}, {}]".format(other, *numbers))
        else:
            even.append(other)
    lines = [f"{best} is ahead {format_list(ahead)}"] if ahead else []
    lines += [f"{'' if ahead else f'{best} '}does not differ significantly from {format_list(even)}"] if even else []
    return f"; {', and '.join(lines)}"


def _mean_score(rows: Sequence[Row]) -> float:
    return float(np.mean([row.score for row in rows if row.score is not None]))


def _run_scores(row: Row) -> NDArray[np.float64]:
    """The score of each run, (runs)."""
    return np.array([score(float(average), row.plan.references) for average in row.averages], dtype=np.float64)
