"""What came out, from the store: the closing table, comparisons, and how sensitive algorithms are to what was tuned."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from aapi.experiments.plan import Plan, choices, group_by, score, titled
from aapi.statistics import Interval, Spread, compare, deviation, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Run, Store
    from aapi.json_types import JsonObject

ENOUGH_RUNS = 10  # to say that one earns more than another


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
    def choice(self) -> dict[str, object]:
        """The tuned settings that were chosen; none while tuning runs are missing."""
        return {} if self.chosen is None else self.plan.choices[self.chosen]

    @property
    def fraction(self) -> float | None:
        """Of the optimal gain, if that is known and positive, and what was earned is not negative: no share of it."""
        best = self.plan.optimal_gain
        if self.rewards is None or best is None or best <= 0.0 or self.rewards.mean.estimate < 0.0:
            return None
        return self.rewards.mean.estimate / best

    @property
    def score(self) -> float | None:
        """On the scale from acting at random (0) to the optimum (1)."""
        return None if self.rewards is None else score(self.rewards.mean.estimate, self.plan.references)

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
    def averages(self) -> NDArray[np.float64]:
        """The average reward of each run that did not fail."""
        return np.array([run.average_reward for run in self.runs if run.average_reward is not None])

    @property
    def shares(self) -> NDArray[np.float64]:
        """What each run earned, of λ_*; where λ_* is not positive, of the way to it from acting at random.

        Empty where λ_* is not known.
        """
        random, best = self.plan.references
        if best is None or (best <= 0.0 and (random is None or random >= best)):
            return np.empty(0)
        start = 0.0 if best > 0.0 or random is None else random
        return (self.averages - start) / (best - start)

    @property
    def lost(self) -> int:
        """How many runs have less than half of the mean share, or of a positive one; all, if none is positive."""
        return int((self.shares < 0.5 * max(self.shares.mean(), 0.0)).sum()) if self.shares.size else 0

    def to_dict(self) -> JsonObject:
        """For machines."""
        plan, shares = self.plan, self.shares
        return {
            "study": plan.study, "problem": plan.problem, "reward_scale": plan.reward_scale,
            "algorithm": plan.algorithm, "chosen": cast("JsonObject", self.choice),
            "settings": cast("JsonObject", {**plan.settings, **self.choice}), "steps": plan.steps,
            "runs": 0 if self.rewards is None else self.rewards.count,
            "failed": {str(number): error for number, error in self.failed.items()},
            "failed_tuning_runs": self.failed_tuning, "missing": self.missing,
            "average_reward": None if self.rewards is None else asdict(self.rewards),
            "random_gain": plan.random_gain, "optimal_gain": plan.optimal_gain, "fraction": self.fraction,
            "share": float(shares.mean()) if shares.size else None,
            "worst_share": float(shares.min()) if shares.size else None, "runs_lost": self.lost,
            "score": self.score, "regret": self.regret, "seconds": self.seconds,
        }  # fmt: skip


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
    def title(self) -> str:
        """What the problem is called where scales matter."""
        return titled(self.problem, self.reward_scale)

    @property
    def verdict(self) -> int | None:
        """1 if ours earns more, −1 if less, 0 if the interval contains 0; None where there are too few runs to say.

        Bootstrap intervals are too narrow for few runs: with 2 runs each of the same thing, every third excludes 0.
        """
        if self.runs < ENOUGH_RUNS:
            return None
        return int(self.difference.lower > 0.0) - int(self.difference.upper < 0.0)


class Sensitivity(TypedDict):
    """A candidate's tuning runs: mean, standard deviation and score of their average rewards."""

    study: str
    problem: str
    reward_scale: float
    algorithm: str
    candidate: dict[str, object]
    runs: int
    failed: int
    mean: float | None
    std: float
    score: float | None


@dataclass(frozen=True, eq=False)
class Summary:
    """Rows, comparisons, and the tuning runs behind them.

    sensitivity: of each algorithm on each problem, from the study that has most tuning runs of it; scaled: the same
        from studies with rewards on several scales alone, so that their scales have the same runs.
    others: runs in the store that are not used, because the code behind them has changed since.
    """

    rows: list[Row]
    comparisons: list[Comparison]
    sensitivity: list[Sensitivity]
    scaled: list[Sensitivity]
    others: int = 0

    @property
    def studies(self) -> dict[str, list[Row]]:
        """The rows of each study."""
        return group_by(self.rows, lambda row: row.plan.study)

    def to_dict(self) -> JsonObject:
        """For machines."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "sensitivity": cast("list[JsonObject]", self.sensitivity),
            "scaled": cast("list[JsonObject]", self.scaled),
            "runs_of_other_versions": self.others,
        }


def summarise(store: Store, plans: Sequence[Plan]) -> Summary:
    """The results of these plans, from the store; runs that are missing are counted."""
    rows = [_row(store, plan, chosen) for plan, chosen in zip(plans, choices(store, plans), strict=True)]
    studies = group_by(plans, lambda plan: plan.study)
    scaled = [plan for plan in plans if len({each.reward_scale for each in studies[plan.study]}) > 1]
    others = store.others({key for plan in plans for key in plan.candidates})
    return Summary(rows, _comparisons(rows), _sensitivity(store, plans), _sensitivity(store, scaled), others)


def best_tuned(rows: Sequence[Row]) -> dict[str, float]:
    """The largest mean share among the tuned algorithms on each problem."""
    best: dict[str, float] = {}
    for row in rows:
        if row.plan.is_tuned and row.shares.size:
            best[row.plan.problem] = max(float(row.shares.mean()), best.get(row.plan.problem, -math.inf))
    return best


def mean_score(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The mean of the scores of several rows, with its standard error; nothing if none is known."""
    known = [(row.score, row.score_error) for row in rows if row.score is not None and row.score_error is not None]
    if not known:
        return None
    scores, errors = np.array(known).T
    return float(scores.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def _row(store: Store, plan: Plan, chosen: int | None) -> Row:
    runs = [] if chosen is None else store.runs(plan.candidates[chosen], plan.seed, plan.runs)
    rewards = np.array([run.average_reward for run in runs if run.average_reward is not None])
    tuning = [run for key in plan.candidates for run in store.runs(key, plan.tuning_seed, plan.tuning_runs)]
    failed = {run.number: run.error for run in runs if run.error is not None}
    return Row(
        plan, chosen, spread(rewards) if rewards.size else None, runs, failed, missing=plan.runs - len(runs),
        failed_tuning=sum(run.error is not None for run in tuning),
        seconds=sum(run.seconds for run in runs) + sum(run.seconds for run in tuning),
    )  # fmt: skip


def _comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """The first algorithm of each study with each other one, problem by problem."""
    first: dict[tuple[str, str, float, int], Row] = {}
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


def _sensitivity(store: Store, plans: Sequence[Plan]) -> list[Sensitivity]:
    """The average reward of each candidate over its tuning runs, for each algorithm on each problem once."""
    best: dict[tuple[str, float, str, tuple[str, ...]], Plan] = {}
    for plan in plans:
        place = (plan.problem, plan.reward_scale, plan.algorithm, plan.tuned)
        if plan.is_tuned and plan.tuning_runs > (best[place].tuning_runs if place in best else 0):
            best[place] = plan
    found: list[Sensitivity] = []
    for plan in best.values():
        for candidate, choice in zip(plan.candidates, plan.choices, strict=True):
            runs = store.runs(candidate, plan.tuning_seed, plan.tuning_runs)
            rewards = [run.average_reward for run in runs if run.average_reward is not None]
            mean = float(np.mean(rewards)) if rewards else None
            found.append({
                "study": plan.study, "problem": plan.problem, "reward_scale": plan.reward_scale,
                "algorithm": plan.algorithm, "candidate": choice, "runs": len(runs),
                "failed": sum(run.error is not None for run in runs), "mean": mean, "std": float(deviation(rewards)),
                "score": None if mean is None else score(mean, plan.references),
            })  # fmt: skip
    return found
