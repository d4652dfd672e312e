"""Ablation studies: the same learner with its evaluator, side information, norm and learning rate exchanged."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.experiments.plan import Plan, group_by, score
from aapi.registry import PARTS
from aapi.registry.parts import evaluates_off_policy
from aapi.report.colours import PALETTE, Style, styles
from aapi.report.formatting import format_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aapi.experiments.summary import Row

ADAPTIVE, CONSTANT, GREEDY = "adaptive", "constant", "greedy"
NORMS = ("span", "sup")
ProblemKey = tuple[str, str, float, int]  # study, problem, reward scale, steps: `Plan.place`


@dataclass(frozen=True)
class Column:
    """A learning rate. kind: adaptive (AAPI), constant (POLITEX) or greedy (η = ∞).

    eta: None for greedy ones. norm, side_information: of adaptive ones. schedule: of constant ones.
    """

    kind: str
    eta: float | None = None
    norm: str = ""
    side_information: str = ""
    schedule: str = ""


def _evaluator_and_column(plan: Plan) -> tuple[str, Column] | None:
    """The evaluator and the learning rate of a plan, by its parts; None if it names no evaluator, or was tuned."""
    parts, eta = plan.parts, plan.parts.get("eta")
    if "evaluation" not in plan.settings or "rate" not in parts or plan.is_tuned or plan.shared_tuning:
        return None
    evaluator, rate = str(parts["evaluation"]), str(parts["rate"])
    if rate == GREEDY or not isinstance(eta, int | float):
        return evaluator, Column(GREEDY)
    if rate == ADAPTIVE:
        return evaluator, Column(ADAPTIVE, float(eta), str(parts["norm"]), str(parts["side_information"]))
    return evaluator, Column(CONSTANT, float(eta), schedule=rate)


def ablations(rows: Sequence[Row]) -> list[Ablation]:
    """The studies of these rows in which several evaluators meet several learning rates, each pair once."""
    found = []
    for study, mine in group_by(rows, lambda row: row.plan.study).items():
        cells: dict[tuple[ProblemKey, str, Column], Row] = {}
        for row in mine:
            if (pair := _evaluator_and_column(row.plan)) is not None:
                cells.setdefault((row.plan.place, *pair), row)
        ablation = Ablation(study, cells)
        if len(cells) == len(mine) and min(len(ablation.evaluators), len(ablation.columns)) > 1 and ablation.problems:
            found.append(ablation)
    return found


def row_styles(rows: Sequence[Row]) -> dict[str, Style]:
    """Styles by label. In ablations, evaluators have colours, and learning rates dashes."""
    found = styles(row.plan.algorithm for row in rows)
    studies = ablations(rows)
    names = {ablation.study for ablation in studies}
    others = {row.plan.algorithm for row in rows if row.plan.study not in names}
    for ablation in studies:
        first = ablation.columns[0]
        for (_, evaluator, column), row in ablation.cells.items():
            if row.plan.algorithm not in others:
                pair = PALETTE[ablation.evaluators.index(evaluator) % len(PALETTE)]
                usual = column.kind == ADAPTIVE and column.eta == first.eta
                dash = "dot" if column.kind == GREEDY else "dashdot" if not usual else "dash"
                found[row.plan.algorithm] = Style(*pair, "solid" if usual and column.norm == first.norm else dash)
    return found


@dataclass(frozen=True, eq=False)
class Ablation:
    """An ablation study: its rows by problem, evaluator and learning rate."""

    study: str
    cells: Mapping[tuple[ProblemKey, str, Column], Row]

    @functools.cached_property
    def problems(self) -> list[ProblemKey]:
        """Those with scores: the optimum is known, and above acting at random."""
        scored = (key for (key, *_), row in self.cells.items() if score(0.0, row.plan.references) is not None)
        return list(dict.fromkeys(scored))

    @functools.cached_property
    def evaluators(self) -> list[str]:
        """In the order of the study."""
        return list(dict.fromkeys(evaluator for _, evaluator, _ in self.cells))

    @functools.cached_property
    def columns(self) -> list[Column]:
        """Adaptive learning rates, the usual η first, then constant ones, then greedy."""
        found = dict.fromkeys(column for *_, column in self.cells)
        etas = Counter(column.eta for column in found if column.kind == ADAPTIVE)
        usual = etas.most_common(1)[0][0] if etas else None

        def order(column: Column) -> tuple[int, bool, str, int, float, int]:
            kind = (ADAPTIVE, CONSTANT, GREEDY).index(column.kind)
            other = column.kind == ADAPTIVE and column.eta != usual
            guess = _position(column.side_information, tuple(PARTS["side_information"]))
            return kind, other, column.schedule, _position(column.norm, NORMS), column.eta or 0.0, guess

        return sorted(found, key=order)

    @property
    def shown(self) -> set[str]:
        """Labels whose curves are drawn at first: of every evaluator the first learning rate and the last."""
        ends = (self.columns[0], self.columns[-1])
        return {row.plan.algorithm for (*_, column), row in self.cells.items() if column in ends}

    def title(self, problem: ProblemKey) -> str:
        """What a problem is called."""
        return next(row.plan.title for (key, *_), row in self.cells.items() if key == problem)

    def group(self, column: Column) -> str:
        """What several columns have in common."""
        if column.kind == GREEDY:
            return ""
        if column.kind == CONSTANT:
            return f"{column.schedule} η"
        several = len({each.eta for each in self.columns if each.kind == ADAPTIVE}) > 1
        return f"AAPI, {column.norm}" + (f", η {column.eta:g}" if several else "")

    @staticmethod
    def label(column: Column) -> str:
        """What differs between columns of a group."""
        if column.kind == ADAPTIVE:
            return column.side_information
        return GREEDY if column.eta is None else f"{column.eta:g}"

    def name(self, column: Column) -> str:
        """Group and label."""
        between = ", " if column.kind == ADAPTIVE else " "
        return f"{self.group(column)}{between}{self.label(column)}".strip()

    def score(self, problem: ProblemKey, evaluator: str, column: Column) -> float | None:
        """The score of one cell; None where there is none."""
        row = self.cells.get((problem, evaluator, column))
        return None if row is None else row.score

    def mean(self, evaluator: str, column: Column) -> float | None:
        """The mean score over all problems; None if one has none."""
        scores = [self.score(problem, evaluator, column) for problem in self.problems]
        known = [each for each in scores if each is not None]
        return float(np.mean(known)) if len(known) == len(scores) else None

    def why_empty(self, problem: ProblemKey, evaluator: str, column: Column) -> str:
        """Why a cell has no score; empty if it has one."""
        row = self.cells.get((problem, evaluator, column))
        if row is None:
            if column.side_information == "predicted" and not evaluates_off_policy(evaluator):
                return f"that needs values of policies that have not acted, and {evaluator} evaluation needs their data"
            return "not part of this study"
        if row.score is not None:
            return ""
        if row.failed:
            return f"{len(row.failed)} of {row.plan.runs} runs failed: {next(iter(row.failed.values()))}"
        return "no run yet"

    def empty_cells(self) -> Iterator[str]:
        """A line for each reason why cells have no score: which cells, and why."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for problem, evaluator, column in itertools.product(self.problems, self.evaluators, self.columns):
            if why := self.why_empty(problem, evaluator, column):
                which = self.label(column) if column.kind == ADAPTIVE else self.name(column)
                found.setdefault((why, f"{evaluator} with {which}"), {})[self.title(problem)] = None
        for (why, which), titles in found.items():
            where = "" if len(titles) == len(self.problems) else f" on {format_list(list(titles))}"
            yield f"{which}{where}: {why}"


def _position(word: str, order: tuple[str, ...]) -> int:
    """Where a word stands in an order; unknown ones come last."""
    return order.index(word) if word in order else len(order)
