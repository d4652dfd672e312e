"""Learners that plan in a model of what they have seen, in episodes that end by what is seen."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.learners.learner import LONGEST, Learner, Phase
from aapi.memory import CountTransitions, empty_memories, remember
from aapi.simulation import Stretch
from aapi.values import changed

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Integers, Streams
    from aapi.memory import Counts, Memories, Memory, MemorySpec
    from aapi.simulation import PhaseData


COUNTS = CountTransitions()
ACCURACY = 1e-4  # of plans


class Plan(NamedTuple):
    """For one run: a policy and its Q-function, (1, states, actions), and the gain that is promised, (1,).

    gap: between the bounds on that gain which planning has reached.
    """

    policy: Policy
    q_hat: Array
    gain: Array
    gap: float = 0.0


@dataclass(frozen=True, eq=False)
class EpisodeState:
    """After episode k. start: when the next one begins; length: of the last one.

    q_hat, policy: what was planned for it, (1, states, actions); gain: what the plan promises, (1,); gap: between the
    bounds on that gain.
    """

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    start: int
    length: int
    q_hat: Array
    gain: Array
    gap: float
    policy: Policy


class ModelBased(Learner[EpisodeState]):
    """Count transitions, plan, follow the plan until an episode ends, and plan again. The first policy is uniform.

    Episodes of runs differ in length, so runs are simulated one by one.
    """

    @property
    def lockstep(self) -> bool:
        """Episodes end by what is seen."""
        return False

    @property
    def more_memory(self) -> tuple[MemorySpec[Memory], ...]:
        """What it wants to be remembered beside the counts of transitions."""
        return ()

    @abstractmethod
    def plan(self, state: EpisodeState, streams: Streams) -> Plan:
        """A policy for episode state.k + 1, from what is remembered. `counts_of(state)`: of all transitions."""

    @abstractmethod
    def limits(self, counts: Counts) -> Integers:
        """The visits of each pair, (1, states, actions), at which an episode that begins now ends; at least 1."""

    @property
    def look_ahead(self) -> bool:
        """Whether an episode ends only when a pair that has reached its limit is about to be taken again."""
        return False

    def longest(self, state: EpisodeState) -> int:
        """The steps after which the next episode ends in any case."""
        return LONGEST

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> EpisodeState:
        """The uniform policy, and no data yet."""
        space.require_countable(f"{type(self).__name__} needs")
        memories = empty_memories([COUNTS, *self.more_memory], space, runs)
        zeros = space.zeros(runs)
        return EpisodeState(0, memories, space, 0, 0, zeros, np.zeros(runs), 0.0, space.uniform(runs))

    def act(self, state: EpisodeState) -> Stretch:
        """Follow the plan until the episode ends."""
        limits = self.limits(counts_of(state))
        return Stretch(
            state.k + 1, state.start, self.longest(state), state.policy, limits=limits, look_ahead=self.look_ahead
        )

    def update(self, state: EpisodeState, data: PhaseData) -> tuple[EpisodeState, Phase]:
        """Count what was seen, and plan."""
        after = self.learn_from(state, data, state.policy)
        return after, Phase(after.k, state.policy, data, after.policy, after.q_hat)

    def off_policy(self, space: QSpace) -> bool:
        """A model is of steps, whoever took them."""
        return True

    def learn_from(self, state: EpisodeState, data: PhaseData, behaviour: Policy) -> EpisodeState:
        """Count what was seen, and plan."""
        memories = remember(state.memories, data, behaviour)
        after = changed(state, k=state.k + 1, memories=memories, start=data.time, length=data.steps)
        plan = self.plan(after, data.streams)
        return changed(after, q_hat=plan.q_hat, gain=plan.gain, gap=float(plan.gap), policy=plan.policy)


def counts_of(state: EpisodeState) -> Counts:
    """Of all transitions."""
    return cast("Counts", state.memories[COUNTS])
