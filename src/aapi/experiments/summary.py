"""What came out, from the store: the closing table, comparisons, and how sensitive algorithms are to what was tuned."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.experiments.choice import choose, groups, score
from aapi.statistics import Interval, Spread, compare, deviation, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.plan import Plan
    from aapi.experiments.store import Run, Store

ENOUGH_RUNS = 10  # to say that one earns more than another

__all__ = ["Comparison", "Row", "Summary", "mean_score", "summarise"]


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the closing table. Rewards are of whole runs.

    chosen: which candidate; None while it is being tuned. failed: what went wrong, by number of the run.
    """

    plan: Plan
    chosen: int | None
    rewards: Spread | None
    runs: list[Run]
    failed: dict[int, str]
    missing: int
    failed_tuning: int
    seconds: float

    @property
    def choice(self) -> dict[str, Any]:
        """What tuning chose; nothing while it has not."""
        return {} if self.chosen is None else self.plan.choices[self.chosen]

    @property
    def fraction(self) -> float | None:
        """Of the optimal gain, if that is known and positive."""
        if self.rewards is None or self.plan.optimal_gain is None or self.plan.optimal_gain <= 0.0:
            return None
        return self.rewards.mean.estimate / self.plan.optimal_gain

    @property
    def score(self) -> float | None:
        """On the scale from acting at random (0) to the optimum (1)."""
        if self.rewards is None:
            return None
        return score(self.rewards.mean.estimate, self.plan.references)

    @property
    def score_error(self) -> float | None:
        """The standard error of the score."""
        random, best = self.plan.references
        if self.rewards is None or self.score is None or random is None or best is None:
            return None
        return self.rewards.std / math.sqrt(self.rewards.count) / (best - random)

    @property
    def regret(self) -> float | None:
        """Σ_t (λ_* − r_t), mean over runs."""
        if self.rewards is None or self.plan.optimal_gain is None:
            return None
        return self.plan.steps * (self.plan.optimal_gain - self.rewards.mean.estimate)

    @property
    def averages(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The average reward of each run that did not fail."""
        return np.array([run.average_reward for run in self.runs if run.average_reward is not None])

    def facts(self) -> dict[str, Any]:
        """For machines."""
        plan = self.plan
        return {
            "study": plan.study,
            "problem": plan.problem,
            "reward_scale": plan.reward_scale,
            "algorithm": plan.algorithm,
            "chosen": self.choice,
            "settings": {**plan.settings, **self.choice},
            "steps": plan.steps,
            "runs": 0 if self.rewards is None else self.rewards.count,
            "failed": {str(number): error for number, error in self.failed.items()},
            "failed_tuning_runs": self.failed_tuning,
            "missing": self.missing,
            "average_reward": None if self.rewards is None else asdict(self.rewards),
            "random_gain": plan.random_gain,
            "optimal_gain": plan.optimal_gain,
            "fraction": self.fraction,
            "score": self.score,
            "regret": self.regret,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Comparison:
    """The first algorithm of a study against another one, on one problem; runs: of the one that has fewer."""

    study: str
    problem: str
    reward_scale: float
    ours: str
    theirs: str
    difference: Interval
    improvement: Interval
    runs: int

    @property
    def verdict(self) -> int | None:
        """1 if ours earns more, −1 if less, 0 if the interval has room for both; None where it is not to be trusted.

        Bootstrap intervals are too narrow for few runs: with 2 runs each of the same thing, every third excludes 0.
        """
        if self.runs < ENOUGH_RUNS:
            return None
        return int(self.difference.lower > 0.0) - int(self.difference.upper < 0.0)


@dataclass(frozen=True, eq=False)
class Summary:
    """Rows, comparisons, and the tuning runs behind them.

    sensitivity: of each algorithm on each problem, from the study that has most tuning runs of it; scaled: the same
        from studies with rewards on several scales alone, so that their scales have the same runs.
    others: runs in the store that another version made, and that are not used.
    """

    rows: list[Row]
    comparisons: list[Comparison]
    sensitivity: list[dict[str, Any]]
    scaled: list[dict[str, Any]]
    others: int = 0

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rows": [row.facts() for row in self.rows],
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "sensitivity": self.sensitivity,
            "scaled": self.scaled,
            "runs_of_other_versions": self.others,
        }


def summarise(store: Store, plans: Sequence[Plan]) -> Summary:
    """Everything that the store has of these plans; what is missing is counted, not guessed."""
    chosen: dict[int, int | None] = {}
    for members in groups(plans):
        chosen |= dict.fromkeys(members, choose(store, [plans[i] for i in members]))
    rows = [_row(store, plan, chosen[i]) for i, plan in enumerate(plans)]
    used = {key for plan in plans for key in plan.candidates}
    scales: dict[str, set[float]] = {}
    for plan in plans:
        scales.setdefault(plan.study, set()).add(plan.reward_scale)
    scaled = [plan for plan in plans if len(scales[plan.study]) > 1]
    others = store.others(used)
    return Summary(rows, _comparisons(rows), _sensitivity(store, plans), _sensitivity(store, scaled), others)


def mean_score(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The mean of the scores of several rows, with its standard error; nothing if none is known."""
    known = [(row.score, row.score_error) for row in rows if row.score is not None and row.score_error is not None]
    if not known:
        return None
    scores, errors = np.array(known).T
    return float(scores.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def _row(store: Store, plan: Plan, chosen: int | None) -> Row:
    runs = [] if chosen is None else store.runs(plan.candidates[chosen], plan.seed, range(plan.runs))
    rewards = np.array([run.average_reward for run in runs if run.average_reward is not None])
    tuning = [run for key in plan.candidates for run in store.runs(key, plan.tuning_seed, range(plan.tuning_runs))]
    return Row(
        plan=plan,
        chosen=chosen,
        rewards=spread(rewards) if rewards.size else None,
        runs=runs,
        failed={run.number: run.error for run in runs if run.error is not None},
        missing=plan.runs - len(runs),
        failed_tuning=sum(run.error is not None for run in tuning),
        seconds=sum(run.seconds for run in runs) + sum(run.seconds for run in tuning),
    )


def _comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """The first algorithm of each study with each other one, problem by problem."""
    first: dict[Any, Row] = {}
    found = []
    for row in rows:
        place = row.plan.place
        ours = first.setdefault(place, row)
        runs = min(len(ours.averages), len(row.averages))
        if ours is row or runs < 2:
            continue
        intervals = compare(ours.averages, row.averages)
        found.append(Comparison(*place[:3], ours.plan.algorithm, row.plan.algorithm, *intervals, runs))
    return found


def _sensitivity(store: Store, plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """The average reward of each candidate over its tuning runs, for each algorithm on each problem once."""
    best: dict[Any, Plan] = {}
    for plan in plans:
        place = (plan.problem, plan.reward_scale, plan.algorithm, plan.tuned)
        if plan.is_tuned and plan.tuning_runs > (best[place].tuning_runs if place in best else 0):
            best[place] = plan
    found: list[dict[str, Any]] = []
    for plan in best.values():
        for candidate, choice in zip(plan.candidates, plan.choices, strict=True):
            runs = store.runs(candidate, plan.tuning_seed, range(plan.tuning_runs))
            rewards = [run.average_reward for run in runs if run.average_reward is not None]
            found.append(
                {
                    "study": plan.study,
                    "problem": plan.problem,
                    "reward_scale": plan.reward_scale,
                    "algorithm": plan.algorithm,
                    "candidate": choice,
                    "runs": len(runs),
                    "failed": sum(run.error is not None for run in runs),
                    "mean": float(np.mean(rewards)) if rewards else None,
                    "std": float(deviation(rewards)),
                    "score": score(float(np.mean(rewards)), plan.references) if rewards else None,
                }
            )
    return found
