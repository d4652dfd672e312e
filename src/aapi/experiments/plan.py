"""A line of the closing table as it was planned, all that a reader of a store needs; and what its tuning runs chose."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Store


Item = TypeVar("Item")
Key = TypeVar("Key")


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by a key of theirs, in the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def titled(problem: str, reward_scale: float) -> str:
    """What a problem is called where scales matter."""
    return problem if reward_scale == 1.0 else f"{problem}, rewards × {reward_scale:g}"


def run_key(configuration: str, seed: int, number: int) -> str:
    """The key of a run, from that of its configuration."""
    return f"{configuration}-{seed}-{number}"


def run_keys(configuration: str, seed: int, runs: int) -> list[str]:
    """The keys of the first runs of a configuration."""
    return [run_key(configuration, seed, number) for number in range(runs)]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An algorithm on a problem, for a number of steps and runs; and the candidates among which tuning chooses.

    candidates: the keys of their configurations; choices: the values of the tuned settings, for each of them;
        settings: those that all candidates share.
    shared_tuning: plans with the same word here choose the same candidate, the best on average over all of them.
    random_gain, optimal_gain: λ of the uniform policy, and of an optimal one; None where they are not known.
    seconds: about what a run takes.
    parts: what the learner is made of, in the words of the registry (`describe_learner`); empty for one of the user's.
    """

    study: str
    algorithm: str
    choices: tuple[dict[str, object], ...]
    tuned: tuple[str, ...]
    shared_tuning: str | None
    runs: int
    seed: int
    tuning_runs: int
    tuning_seed: int
    problem: str
    reward_scale: float
    steps: int
    settings: Mapping[str, object]
    features: str | None
    candidates: tuple[str, ...]
    random_gain: float | None
    optimal_gain: float | None
    seconds: float
    parts: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.choices) > 1

    @property
    def tuning_keys(self) -> list[str]:
        """The keys of all tuning runs; none, if there is nothing to choose."""
        candidates = self.candidates if self.is_tuned else ()
        return [key for each in candidates for key in run_keys(each, self.tuning_seed, self.tuning_runs)]

    @property
    def possible_keys(self) -> list[str]:
        """The keys of all runs that it may need, whichever candidate is chosen."""
        reported = [key for each in self.candidates for key in run_keys(each, self.seed, self.runs)]
        return [*self.tuning_keys, *reported]

    @property
    def place(self) -> tuple[str, str, float, int]:
        """Where it is compared with others: study, problem, scale of its rewards, and steps."""
        return self.study, self.problem, self.reward_scale, self.steps

    @property
    def title(self) -> str:
        """What the problem is called where scales matter."""
        return titled(self.problem, self.reward_scale)

    @property
    def references(self) -> tuple[float | None, float | None]:
        """The average reward of the uniform policy, and the optimal one."""
        return self.random_gain, self.optimal_gain

    def to_dict(self) -> dict[str, object]:
        """For the store, in which `shared_tuning` has the name of its key in study files."""
        written = asdict(self)
        return written | {"together": written.pop("shared_tuning")}

    @classmethod
    def from_dict(cls, stored: object) -> Plan:
        """A plan from the store; or an error, if another version wrote it."""
        wanted = {each.name for each in fields(cls)} - {"shared_tuning"} | {"together"}
        if not isinstance(stored, dict) or {"parts", *stored} != wanted:  # which earlier versions did not write
            raise InvalidInput("another version of aapi made this plan")
        values = stored | {name: tuple(stored[name]) for name in ("candidates", "choices", "tuned")}
        return cls(shared_tuning=values.pop("together"), **values)


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
