"""A line of the closing table as it was planned: words, numbers and keys, all that a reader of a store needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Plan", "titled"]


def titled(problem: str, reward_scale: float) -> str:
    """What a problem is called where scales matter."""
    return problem if reward_scale == 1.0 else f"{problem}, rewards × {reward_scale:g}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An algorithm on a problem, for a number of steps and runs; and the candidates among which tuning chooses.

    settings: those that all candidates share. candidates: the keys of their configurations; choices: the values of the
        tuned settings, for each of them.
    together: plans with the same word here choose the same candidate, the best on average over all of them.
    random_gain, optimal_gain: of acting at random, and the best possible one; None where they are not known.
    seconds: about what a run takes.
    """

    study: str
    problem: str
    reward_scale: float
    algorithm: str
    steps: int
    settings: Mapping[str, Any]
    features: str | None
    candidates: tuple[str, ...]
    choices: tuple[dict[str, Any], ...]
    tuned: tuple[str, ...]
    together: str | None
    runs: int
    seed: int
    tuning_runs: int
    tuning_seed: int
    random_gain: float | None
    optimal_gain: float | None
    seconds: float

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
        """The average reward of acting at random, and the best possible one."""
        return self.random_gain, self.optimal_gain

    @property
    def is_tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.candidates) > 1

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def read(cls, facts: Any) -> Plan:
        """A plan from JSON; or an error, if it is another version's."""
        wanted = {field.name for field in fields(cls)}
        if not isinstance(facts, dict) or facts.keys() != wanted:
            raise InvalidInput("another version of aapi made this plan")
        return cls(**facts | {name: tuple(facts[name]) for name in ("candidates", "choices", "tuned")})
