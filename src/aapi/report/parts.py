"""What each part does: studies that exchange evaluators, side information, norms and learning rates, cell by cell."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi import evaluation
from aapi.experiments.choice import score
from aapi.experiments.summary import ENOUGH_RUNS
from aapi.registry.algorithms import EVALUATIONS, SIDE_INFORMATION
from aapi.report.colours import PALETTE, Style, styles
from aapi.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aapi.experiments.plan import Plan
    from aapi.experiments.summary import Row

__all__ = ["Column", "Exchange", "exchanges", "looks", "told_digits"]

ADAPTIVE, CONSTANT, GREEDY = "adaptive", "constant", "greedy"
NORMS = ("span", "sup")
Place = tuple[str, str, float, int]


@dataclass(frozen=True)
class Column:
    """A learning rate, with what belongs to it. eta: None for greedy ones; norm, guess: of adaptive ones."""

    kind: str
    eta: float | None = None
    norm: str = ""
    guess: str = ""
    schedule: str = ""


def _parts(plan: Plan) -> tuple[str, Column] | None:
    """The evaluator and the learning rate of a line; None if it does not say, or if they were tuned.

    Settings do not name the algorithm: only adaptive ones have a norm or side information, and greedy ones no η. The
    label helps where an adaptive one has all its defaults.
    """
    settings = plan.settings
    evaluator, eta = settings.get("evaluation"), settings.get("eta")
    if not isinstance(evaluator, str) or plan.is_tuned or plan.shared_tuning:
        return None
    if eta is None:
        return evaluator, Column(GREEDY)
    if not isinstance(eta, int | float):
        return None
    words = set(re.findall(r"[a-z]+", plan.algorithm.lower()))
    if {"norm", "side_information", "sampled"} & settings.keys() or {"aapi", "ftrl"} & words:
        guess = settings.get("side_information", "zero" if "ftrl" in words else "previous")
        return evaluator, Column(ADAPTIVE, float(eta), str(settings.get("norm", "sup")), str(guess))
    return evaluator, Column(CONSTANT, float(eta), schedule=str(settings.get("schedule", CONSTANT)))


def exchanges(rows: Sequence[Row]) -> list[Exchange]:
    """The studies of these rows in which several evaluators meet several learning rates, each pair once."""
    found = []
    for study in dict.fromkeys(row.plan.study for row in rows):
        cells: dict[tuple[Place, str, Column], Row] = {}
        mine = [row for row in rows if row.plan.study == study]
        for row in mine:
            parts = _parts(row.plan)
            if parts is not None:
                cells.setdefault((row.plan.place, *parts), row)
        exchange = Exchange(study, cells)
        if len(cells) == len(mine) and len(exchange.evaluators) > 1 and len(exchange.columns) > 1 and exchange.places:
            found.append(exchange)
    return found


def looks(rows: Sequence[Row]) -> dict[str, Style]:
    """Styles by label. Where parts are exchanged, evaluators have colours, and learning rates dashes."""
    found = styles(row.plan.algorithm for row in rows)
    studies = exchanges(rows)
    names = {exchange.study for exchange in studies}
    others = {row.plan.algorithm for row in rows if row.plan.study not in names}
    for exchange in studies:
        first = exchange.columns[0]
        for (_, evaluator, column), row in exchange.cells.items():
            if row.plan.algorithm not in others:
                pair = PALETTE[exchange.evaluators.index(evaluator) % len(PALETTE)]
                usual = column.kind == ADAPTIVE and column.eta == first.eta
                dash = "dot" if column.kind == GREEDY else "dashdot" if not usual else "dash"
                found[row.plan.algorithm] = Style(*pair, "solid" if usual and column.norm == first.norm else dash)
    return found


@dataclass(frozen=True, eq=False)
class Exchange:
    """A study that exchanges parts: its lines by place, evaluator and learning rate."""

    study: str
    cells: Mapping[tuple[Place, str, Column], Row]

    @functools.cached_property
    def places(self) -> list[Place]:
        """Where scores exist: between acting at random and the optimum."""
        known = {place for (place, *_), row in self.cells.items() if score(0.0, row.plan.references) is not None}
        return [place for place in dict.fromkeys(place for place, *_ in self.cells) if place in known]

    @functools.cached_property
    def evaluators(self) -> list[str]:
        """In the order of the study."""
        return list(dict.fromkeys(evaluator for _, evaluator, _ in self.cells))

    @functools.cached_property
    def columns(self) -> list[Column]:
        """Adaptive learning rates, the usual η first, then constant temperatures, then none."""
        found = dict.fromkeys(column for *_, column in self.cells)
        etas = Counter(column.eta for column in found if column.kind == ADAPTIVE)
        usual = etas.most_common(1)[0][0] if etas else None
        guesses = list(SIDE_INFORMATION)

        def order(column: Column) -> Any:
            kind = (ADAPTIVE, CONSTANT, GREEDY).index(column.kind)
            norm = NORMS.index(column.norm) if column.norm in NORMS else len(NORMS)
            guess = guesses.index(column.guess) if column.guess in guesses else len(guesses)
            other = column.kind == ADAPTIVE and column.eta != usual
            return kind, other, column.schedule, norm, column.eta if column.eta is not None else 0.0, guess

        return sorted(found, key=order)

    @property
    def shown(self) -> set[str]:
        """Labels of a few cells: of every evaluator the first learning rate and the last."""
        ends = (self.columns[0], self.columns[-1])
        return {row.plan.algorithm for (*_, column), row in self.cells.items() if column in ends}

    def title(self, place: Place) -> str:
        """What a problem is called."""
        return next(row.plan.title for (where, *_), row in self.cells.items() if where == place)

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
        """What tells a column from others of its group."""
        if column.kind == ADAPTIVE:
            return column.guess
        return GREEDY if column.eta is None else f"{column.eta:g}"

    def name(self, column: Column) -> str:
        """Both."""
        between = ", " if column.kind == ADAPTIVE else " "
        return f"{self.group(column)}{between}{self.label(column)}".strip()

    def score(self, place: Place, evaluator: str, column: Column) -> float | None:
        """Of one cell; None where there is none."""
        row = self.cells.get((place, evaluator, column))
        return None if row is None else row.score

    def mean(self, evaluator: str, column: Column) -> float | None:
        """Over all problems, or none."""
        scores = [self.score(place, evaluator, column) for place in self.places]
        known = [each for each in scores if each is not None]
        return float(np.mean(known)) if len(known) == len(scores) else None

    def why_not(self, place: Place, evaluator: str, column: Column) -> str:
        """Why a cell has no score; nothing if it has one."""
        row = self.cells.get((place, evaluator, column))
        if row is None:
            if column.guess == "predicted" and not _evaluates_off_policy(evaluator):
                return f"that needs values of policies that have not acted, and {evaluator} evaluation needs their data"
            return "not part of this study"
        if row.score is not None:
            return ""
        if row.failed:
            return f"{len(row.failed)} of {row.plan.runs} runs failed: {next(iter(row.failed.values()))}"
        return "no run yet"

    def reasons(self) -> Iterator[str]:
        """Why cells have no score, once for each reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for place in self.places:
            for evaluator in self.evaluators:
                for column in self.columns:
                    why = self.why_not(place, evaluator, column)
                    if why:
                        what = self.label(column) if column.kind == ADAPTIVE else self.name(column)
                        found.setdefault((why, f"{evaluator} with {what}"), []).append(self.title(place))
        for (why, what), titles in found.items():
            where = list(dict.fromkeys(titles))
            yield f"{what}{'' if len(where) == len(self.places) else f' on {_joined(where)}'}: {why}"

    def effects(self) -> list[str]:
        """A sentence for each part: mean scores of its levels over everything else, where all of them have scores."""
        told = [*self._told("Evaluator", self._by_evaluator()), *self._told("Side information", self._by("guess"))]
        told += [*self._told("Norm", self._by("norm")), *self._told("Learning rate", self._by_rate())]
        told += self._told_interplay()
        fewest = min((len(row.averages) for row in self.cells.values()), default=0)
        if told and fewest < ENOUGH_RUNS:
            told.append(
                f"Whether such differences are more than luck takes at least {ENOUGH_RUNS} runs of each to say."
            )
        elif told:
            told.append("In brackets: 95 % intervals over runs on these problems, each by itself.")
        return told

    def _by_evaluator(self) -> dict[str, list[Row]]:
        return self._matched(
            {
                evaluator: {
                    (place, column): row for (place, each, column), row in self.cells.items() if each == evaluator
                }
                for evaluator in self.evaluators
            }
        )

    def _by(self, part: str) -> dict[str, list[Row]]:
        """Adaptive cells by their norm or guess."""
        levels: dict[str, dict[Any, Row]] = {}
        for column in self.columns:
            if column.kind == ADAPTIVE:
                rest = (column.eta, column.guess if part == "norm" else column.norm)
                for place in self.places:
                    for evaluator in self.evaluators:
                        if (row := self.cells.get((place, evaluator, column))) is not None:
                            levels.setdefault(getattr(column, part), {})[place, evaluator, *rest] = row
        return self._matched(levels)

    def _by_rate(self) -> dict[str, list[Row]]:
        """Adaptive learning rates with the first norm and guess, and without a guess; constant ones; and none."""
        first = self.columns[0]
        columns = {
            f"{ADAPTIVE}, {first.norm}, η {column.eta:g}, {column.guess}": column
            for column in self.columns
            if column.kind == ADAPTIVE and column.norm == first.norm and column.guess in (first.guess, "zero")
        } | {self.name(column): column for column in self.columns if column.kind != ADAPTIVE}
        return self._matched(
            {
                name: {
                    (place, evaluator): row for (place, evaluator, each), row in self.cells.items() if each == column
                }
                for name, column in columns.items()
            }
        )

    def _told_interplay(self) -> Iterator[str]:
        """Which learning rate is highest with each evaluator, and what the best constant ones would have been."""
        levels = self._by_rate()
        if not levels:
            return
        highest = []
        for evaluator in self.evaluators:
            means = {
                level: float(np.mean([row.score for row in rows if row.plan.settings["evaluation"] == evaluator]))
                for level, rows in levels.items()
                if any(row.plan.settings["evaluation"] == evaluator for row in rows)
            }
            if means:
                best = max(means, key=lambda level: means[level])
                highest.append(f"with {evaluator}, {best} ({told_digits(means[best], 3)})")
        told = f"The highest of these: {_joined(highest)}"
        constant = [rows for level, rows in levels.items() if level in map(self.name, self._constant)]
        if len(constant) > 1:
            scores = [max(row.score or 0.0 for row in each) for each in zip(*constant, strict=True)]
            told += (
                f"; the best constant η, chosen afterwards for each problem and evaluator, would have had "
                f"{told_digits(float(np.mean(scores)), 3)}"
            )
        yield f"{told}."

    @property
    def _constant(self) -> list[Column]:
        return [column for column in self.columns if column.kind == CONSTANT]

    def _matched(self, levels: Mapping[str, Mapping[Any, Row]]) -> dict[str, list[Row]]:
        """The rows of each level, where all levels have a score with the same other parts."""
        rest = [{key for key, row in mine.items() if row.score is not None} for mine in levels.values()]
        if len(rest) < 2:
            return {}
        shared = set.intersection(*rest)
        kept = [key for key in next(iter(levels.values())) if key in shared]
        return {level: [mine[key] for key in kept] for level, mine in levels.items()} if kept else {}

    @staticmethod
    def _told(factor: str, levels: Mapping[str, Sequence[Row]]) -> Iterator[str]:
        if not levels:
            return
        means = {level: float(np.mean([row.score for row in rows])) for level, rows in levels.items()}
        order = sorted(means, key=lambda level: -means[level])
        cells = len(levels[order[0]])
        told = _joined([f"{level} ({told_digits(means[level], 3)})" for level in order])
        over = f"on average over {cells} cell{'' if cells == 1 else 's'} each"
        higher = ""
        if len(order) == 2:
            first, second = order
            count = sum((a.score or 0.0) > (b.score or 0.0) for a, b in zip(levels[first], levels[second], strict=True))
            higher = f"; {first} is higher in {count} of them"
        yield f"{factor}: {told}, {over}{higher}{_verdicts(levels, order)}."


def _verdicts(levels: Mapping[str, Sequence[Row]], order: Sequence[str]) -> str:
    """The best level against each other one, if there are enough runs; nothing if not."""
    runs = {tuple(run.number for run in row.runs if run.error is None) for rows in levels.values() for row in rows}
    if len(runs) != 1 or len(next(iter(runs))) < ENOUGH_RUNS:
        return ""
    best, *others = order
    series = {level: np.mean([_scores(row) for row in rows], axis=0) for level, rows in levels.items()}
    ahead, even = [], []
    for other in others:
        found = mean_interval(series[best] - series[other])  # a run with its own number: they may share their luck
        if found.lower > 0.0:
            numbers = (told_digits(each, 3) for each in (found.estimate, found.lower, found.upper))
            ahead.append("of {} by {} [{}, {}]".format(other, *numbers))
        else:
            even.append(other)
    told = [f"{best} is ahead {_joined(ahead)}"] if ahead else []
    told += [f"{'' if ahead else f'{best} '}cannot be told from {_joined(even)}"] if even else []
    return f"; {', and '.join(told)}"


def _scores(row: Row) -> Any:
    """Run by run."""
    return np.array([score(float(average), row.plan.references) for average in row.averages], dtype=np.float64)


def _evaluates_off_policy(evaluator: str) -> bool:
    part = EVALUATIONS.get(evaluator, ("",))[0]
    return bool(getattr(getattr(evaluation, part, None), "off_policy", False))


def _joined(words: Sequence[str]) -> str:
    """a, b and c; or a; b and c, if there are commas in them."""
    comma = "; " if any("," in word for word in words) else ", "
    return words[0] if len(words) == 1 else f"{comma.join(words[:-1])} and {words[-1]}"


def told_digits(value: float, digits: int = 2) -> str:
    """0.97, or −0.03."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "−")
