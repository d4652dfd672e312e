"""What came out, from the store: the closing table, comparisons, and how sensitive algorithms are to what was tuned."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.experiments.choice import choose, groups, score
from aapi.experiments.statistics import Interval, Spread, compare, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.configuration import Configuration
    from aapi.experiments.store import Run, Store
    from aapi.experiments.study import Cell

__all__ = ["Comparison", "Row", "Summary", "mean_score", "summarise"]


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the closing table. Rewards are of whole runs; failed: what went wrong, by number of the run."""

    cell: Cell
    chosen: Configuration
    rewards: Spread | None
    runs: list[Run]
    failed: dict[int, str]
    missing: int
    failed_tuning: int
    random_gain: float | None
    optimal_gain: float | None
    seconds: float

    @property
    def choice(self) -> dict[str, Any]:
        """What tuning chose."""
        return self.cell.choices[self.cell.candidates.index(self.chosen)]

    @property
    def fraction(self) -> float | None:
        """Of the optimal gain, if that is known and positive."""
        if self.rewards is None or self.optimal_gain is None or self.optimal_gain <= 0.0:
            return None
        return self.rewards.mean.estimate / self.optimal_gain

    @property
    def score(self) -> float | None:
        """On the scale from acting at random (0) to the optimum (1)."""
        if self.rewards is None:
            return None
        return score(self.rewards.mean.estimate, (self.random_gain, self.optimal_gain))

    @property
    def score_error(self) -> float | None:
        """The standard error of the score."""
        if self.rewards is None or self.score is None or self.optimal_gain is None or self.random_gain is None:
            return None
        return self.rewards.std / math.sqrt(self.rewards.count) / (self.optimal_gain - self.random_gain)

    @property
    def regret(self) -> float | None:
        """Σ_t (λ_* − r_t), mean over runs."""
        if self.rewards is None or self.optimal_gain is None:
            return None
        return self.chosen.steps * (self.optimal_gain - self.rewards.mean.estimate)

    @property
    def averages(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The average reward of each run that did not fail."""
        return np.array([run.average_reward for run in self.runs if run.average_reward is not None])

    def facts(self) -> dict[str, Any]:
        """For machines."""
        problem = self.cell.problem
        return {
            "study": self.cell.study,
            "problem": problem.label,
            "reward_scale": problem.reward_scale,
            "algorithm": self.cell.algorithm,
            "chosen": self.choice,
            "settings": dict(self.chosen.settings),
            "steps": self.chosen.steps,
            "runs": 0 if self.rewards is None else self.rewards.count,
            "failed": {str(number): error for number, error in self.failed.items()},
            "failed_tuning_runs": self.failed_tuning,
            "missing": self.missing,
            "average_reward": None if self.rewards is None else asdict(self.rewards),
            "random_gain": self.random_gain,
            "optimal_gain": self.optimal_gain,
            "fraction": self.fraction,
            "score": self.score,
            "regret": self.regret,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Comparison:
    """The first algorithm of a study against another one, on one problem."""

    study: str
    problem: str
    reward_scale: float
    ours: str
    theirs: str
    difference: Interval
    improvement: Interval


@dataclass(frozen=True, eq=False)
class Summary:
    """Rows, comparisons, and the tuning runs behind them."""

    rows: list[Row]
    comparisons: list[Comparison]
    sensitivity: list[dict[str, Any]]
    others: int = 0  # runs in the store that another version made, which are not used

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rows": [row.facts() for row in self.rows],
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "sensitivity": self.sensitivity,
            "runs_of_other_versions": self.others,
        }


def summarise(store: Store, cells: Sequence[Cell]) -> Summary:
    """Everything that the store has of these cells; what is missing is counted, not guessed."""
    chosen = {i: choose(store, [cells[i] for i in members]) for members in groups(cells) for i in members}
    rows = [_row(store, cell, cell.candidates[chosen[i]]) for i, cell in enumerate(cells)]
    return Summary(rows, _comparisons(rows), _sensitivity(store, cells), store.others())


def mean_score(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The mean of the scores of several rows, with its standard error; nothing if none is known."""
    known = [(row.score, row.score_error) for row in rows if row.score is not None and row.score_error is not None]
    if not known:
        return None
    scores, errors = np.array(known).T
    return float(scores.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def _row(store: Store, cell: Cell, chosen: Configuration) -> Row:
    runs = store.runs(chosen.key, cell.seed, range(cell.runs))
    rewards = np.array([run.average_reward for run in runs if run.average_reward is not None])
    tuning = [run for c in cell.candidates for run in store.runs(c.key, cell.tuning_seed, range(cell.tuning_runs))]
    random, best = cell.problem.references()
    return Row(
        cell=cell,
        chosen=chosen,
        rewards=spread(rewards) if rewards.size else None,
        runs=runs,
        failed={run.number: run.error for run in runs if run.error is not None},
        missing=cell.runs - len(runs),
        failed_tuning=sum(run.error is not None for run in tuning),
        random_gain=random,
        optimal_gain=best,
        seconds=sum(run.seconds for run in runs) + sum(run.seconds for run in tuning),
    )


def _comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """The first algorithm of each study with each other one, problem by problem."""
    first: dict[Any, Row] = {}
    found = []
    for row in rows:
        problem = row.cell.problem
        place = (row.cell.study, problem.label, problem.reward_scale, row.chosen.steps)
        ours = first.setdefault(place, row)
        if ours is row or min(len(ours.averages), len(row.averages)) < 2:
            continue
        difference, improvement = compare(ours.averages, row.averages)
        found.append(Comparison(*place[:3], ours.cell.algorithm, row.cell.algorithm, difference, improvement))
    return found


def _sensitivity(store: Store, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The average reward of each candidate over its tuning runs, once for each cell that was tuned."""
    found: dict[Any, dict[str, Any]] = {}
    for cell in cells:
        if len(cell.candidates) == 1:
            continue
        random, best = cell.problem.references()
        for candidate, choice in zip(cell.candidates, cell.choices, strict=True):
            place = (cell.problem.label, cell.algorithm, cell.tuned, candidate.key)
            runs = store.runs(candidate.key, cell.tuning_seed, range(cell.tuning_runs))
            if len(runs) < found.get(place, {}).get("runs", 0):
                continue  # the same in another study, with more runs
            rewards = [run.average_reward for run in runs if run.average_reward is not None]
            found[place] = {
                "problem": cell.problem.label,
                "reward_scale": cell.problem.reward_scale,
                "algorithm": cell.algorithm,
                "candidate": choice,
                "runs": len(runs),
                "failed": sum(run.error is not None for run in runs),
                "mean": float(np.mean(rewards)) if rewards else None,
                "std": float(np.std(rewards, ddof=1)) if len(rewards) > 1 else 0.0,
                "score": score(float(np.mean(rewards)), (random, best)) if rewards else None,
            }
    return list(found.values())
