"""How policies do that do not learn: one by one, and side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from gymnasium.spaces import Discrete

from aapi.environments.gymnasium import FiniteMDPEnv
from aapi.errors import InvalidInput, did_you_mean
from aapi.long_run import long_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Array, Integers
    from aapi.environments.continuing import Continuing
    from aapi.json_types import JsonObject
    from aapi.long_run import LongRun


@dataclass(frozen=True, eq=False)
class Score:
    """Rewards and actions of each step, (runs, steps), and the lengths and returns of the episodes that ended.

    actions: 0 … num_actions − 1; none of them if actions are not discrete. states: of each step, where no more of the
    past matters to what follows. setting: of what, in words.
    """

    rewards: Array
    actions: Integers
    num_actions: int
    lengths: tuple[int, ...]
    returns: tuple[float, ...]
    states: Integers | None = None
    setting: str = ""

    def __str__(self) -> str:
        found = self.long_run
        by = f" (95 %, {found.method})" if found.half_width is not None else ""
        return f"{found} a step{by}{f'; {self.setting}' if self.setting else ''}"

    __repr__ = __str__

    @property
    def average_reward(self) -> float:
        """(1/T) Σ r, of all runs."""
        return float(self.rewards.mean())

    @cached_property
    def long_run(self) -> LongRun:
        """The average with its interval, unless the run is too short for one; see `aapi.long_run`."""
        return long_run(self.rewards, self.states)

    @property
    def episode_length(self) -> float | None:
        """The mean, if an episode ended."""
        return float(np.mean(self.lengths)) if self.lengths else None

    @property
    def episode_return(self) -> float | None:
        """The mean sum of the environment's own rewards, if an episode ended."""
        return float(np.mean(self.returns)) if self.returns else None

    @property
    def action_shares(self) -> list[float]:
        """How often each action was taken."""
        counts = np.bincount(self.actions.ravel(), minlength=self.num_actions)
        return [float(share) for share in counts / max(1, self.actions.size)]

    def to_dict(self) -> JsonObject:
        """All of it, as JSON."""
        return {
            "average_reward": self.average_reward,
            "standard_error": self.long_run.standard_error,
            "half_width": self.long_run.half_width,
            "method": self.long_run.method,
            "episodes": len(self.lengths),
            "episode_length": self.episode_length,
            "episode_return": self.episode_return,
            "actions": self.action_shares,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores by name, of policies that had the same random numbers. setting: of what, in words."""

    scores: Mapping[str, Score]
    setting: str

    def __getitem__(self, name: str) -> Score:
        if name not in self.scores:
            raise InvalidInput(
                f"{name!r} was not judged{did_you_mean(name, self.scores)}: {', '.join(self.scores)} were"
            )
        return self.scores[name]

    def difference(self, ours: str, theirs: str) -> LongRun:
        """What one earns a step more than another, with an interval: from the difference in every step."""
        return long_run(self[ours].rewards - self[theirs].rewards)

    def to_dict(self) -> JsonObject:
        """All of it, by name, as JSON."""
        first = next(iter(self.scores))
        policies: JsonObject = {
            name: score.to_dict() | {"difference": found.mean, "difference_half_width": found.half_width}
            for name, score in self.scores.items()
            for found in [self.difference(name, first)]
        }
        return {"setting": self.setting, "compared_with": first, "policies": policies}

    def __str__(self) -> str:
        """A table: the average rewards, and the differences from the first policy."""
        first = next(iter(self.scores))
        rows = [("", "a step", f"less {first}" if len(self.scores) > 1 else "", "")]
        for name, score in self.scores.items():
            difference = self.difference(name, first)
            less = "" if name == first else str(difference) if difference.mean else "0"
            rows.append((name, str(score.long_run), less, verdict(difference)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, "", f"± 95 %; {self.setting}"])

    __repr__ = __str__


def shows_state(env: Continuing) -> bool:
    """Whether what is observed is the state of a finite model, and all that matters to what follows."""
    timed = env.rule["limit"] is not None or (env.spec is not None and env.spec.max_episode_steps is not None)
    base = env.unwrapped
    return isinstance(base, FiniteMDPEnv) and env.observation_space == Discrete(base.model.num_states) and not timed


def verdict(difference: LongRun) -> str:
    """What an interval of a difference says."""
    lower, upper = difference.lower, difference.upper
    if lower is None or upper is None:
        return ""
    return "better" if lower > 0.0 else "worse" if upper < 0.0 else "cannot be told apart"
