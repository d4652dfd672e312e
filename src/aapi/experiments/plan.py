"""A line of the closing table as it was planned: words, numbers and keys, all that a reader of a store needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


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
