"""Tuning: the choice among candidates, made on tuning runs alone; and so, which runs are still to be done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput
from aapi.experiments.plan import Plan, group_by, run_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Store


def score(average_reward: float, references: tuple[float | None, float | None]) -> float | None:
    """(λ − λ_random)/(λ_* − λ_random): 0 for acting at random, 1 for the optimum; None where these are not known."""
    random, best = references
    if random is None or best is None or best - random <= 1e-9 * max(abs(random), abs(best)):
        return None
    return (average_reward - random) / (best - random)


def tuning_groups(plans: Sequence[Plan]) -> list[list[int]]:
    """The plans that share a choice, by their positions; most are alone in their group."""
    return list(group_by(range(len(plans)), lambda i: plans[i].shared_tuning or i).values())


def check_shared_tuning(plans: Sequence[Plan]) -> None:
    """Plans that share a choice need the same candidates, and scores by which problems can be compared."""
    for members in tuning_groups(plans):
        shared = [plans[i] for i in members]
        if any(plan.choices != shared[0].choices for plan in shared):
            raise InvalidInput(f"{shared[0].shared_tuning}: problems with other grids cannot be tuned together")
        for plan in shared if len(shared) > 1 else []:
            if score(0.0, plan.references) is None:
                needs = "together needs problems whose optimum is known, and above acting at random"
                raise InvalidInput(f"{needs}: {plan.problem} is none")


def tuning_scores(store: Store, plan: Plan) -> NDArray[np.float64] | None:
    """The mean average reward of each candidate over its tuning runs, −∞ if one failed; None while some are missing."""
    scores = []
    for candidate in plan.candidates:
        runs = store.runs(candidate, plan.tuning_seed, plan.tuning_runs)
        if len(runs) < plan.tuning_runs:
            return None
        scores.append(float(np.mean([-math.inf if run.average_reward is None else run.average_reward for run in runs])))
    return np.array(scores)


def choose(store: Store, plans: Sequence[Plan]) -> int | None:
    """The best candidate of plans that share a choice: by average reward if there is one plan, else by mean score.

    None while tuning runs are missing.
    """
    if not plans[0].is_tuned:
        return 0
    total = np.zeros(len(plans[0].candidates))
    for plan in plans:
        scores = tuning_scores(store, plan)
        if scores is None:
            return None
        if len(plans) > 1:
            scores = np.array([score(value, plan.references) for value in scores])
        total += scores
    return int(np.argmax(total))


def choices(store: Store, plans: Sequence[Plan]) -> list[int | None]:
    """The candidate that each of some plans chooses, with those that share its choice; None while it is not known."""
    found: dict[int, int | None] = {}
    for members in tuning_groups(plans):
        found |= dict.fromkeys(members, choose(store, [plans[i] for i in members]))
    return [found[i] for i in range(len(plans))]


def work_left(store: Store, plans: Sequence[Plan]) -> tuple[float, int, int]:
    """About how many seconds of work are left, how many runs are stored, and how many are needed."""
    needed: dict[str, float] = {}
    unchosen_runs, unchosen_seconds = 0, 0.0  # of plans whose candidate is not chosen yet
    for plan, chosen in zip(plans, choices(store, plans), strict=True):
        needed |= dict.fromkeys(plan.tuning_keys, plan.seconds)
        if chosen is None:
            unchosen_runs += plan.runs
            unchosen_seconds += plan.runs * plan.seconds
        else:
            needed |= dict.fromkeys(run_keys(plan.candidates[chosen], plan.seed, plan.runs), plan.seconds)
    stored = store.known(needed)
    seconds = sum(each for key, each in needed.items() if key not in stored) + unchosen_seconds
    return seconds, len(stored), len(needed) + unchosen_runs
