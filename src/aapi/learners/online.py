"""Learners that learn at every step: a rule, compiled into the step loop, and tables that move on with it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.errors import InvalidInput
from aapi.learners.learner import Learner, Phase
from aapi.learners.state import restored_parts
from aapi.simulation import StepRule, Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.approximation.temporal_differences import Rule
    from aapi.array_types import Array, Arrays, Integers
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


STEPS = 2000  # of a stretch, after which the policy is looked at; nothing that is learnt depends on it


@dataclass(frozen=True, eq=False)
class OnlineState:
    """After stretch k. start: when the next one begins, of `steps` steps.

    q, visits, numbers, next_actions: as in `StepRule`; a simulation writes to them while it takes steps.
    policy: greedy in Q as it was at the start.
    """

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    start: int
    steps: int
    q: Array
    visits: Integers
    numbers: Array
    next_actions: Integers
    rule: Rule = field(metadata=NOT_STORED)
    policy: Policy

    def restored(self, arrays: Arrays) -> OnlineState:
        """What was stored; or an error if kernels, which check nothing, could not work on it."""
        found = restored_parts(self, arrays)
        if found.next_actions.min() < -1 or found.next_actions.max() >= self.space.num_actions:
            raise InvalidInput(f"next_actions must lie in -1..{self.space.num_actions - 1}")
        if found.visits.min(initial=0) < 0:
            raise InvalidInput(f"visits must not be negative, and hold {found.visits.min()}")
        if self.rule.check is not None:
            self.rule.check(found.q, found.visits, found.numbers)
        return found


class OnlineLearner(Learner[OnlineState]):
    """A learner of which a subclass says by what rule it acts and learns, and which Q-function it has learnt."""

    on_policy: bool = False

    @abstractmethod
    def rule(self, space: QSpace, runs: int, num_steps: int | None) -> Rule:
        """The rule, with tables in which nothing is learnt yet."""

    def q_of(self, q: Array) -> Array:
        """The Q-function in which it is greedy, of the space's shape: what its rule calls so."""
        return q

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> OnlineState:
        """Tables in which nothing is learnt yet."""
        rule = self.rule(space, runs, num_steps)
        steps = STEPS if num_steps is None else max(1, num_steps // -(-num_steps // STEPS))
        none_chosen = np.full(runs * space.copies, -1, dtype=np.int64)
        policy = space.softmax(self.q_of(rule.q), 0.0)
        return OnlineState(0, {}, space, 0, steps, rule.q, rule.visits, rule.numbers, none_chosen, rule, policy)

    def act(self, state: OnlineState) -> Stretch:
        """Act and learn by the rule."""
        made = state.rule
        rule = StepRule(
            made.choose, made.learn, self.on_policy, state.q, state.visits, state.numbers, made.settings, made.work,
            state.next_actions,
        )  # fmt: skip
        return Stretch(state.k + 1, state.start, state.steps, state.policy, rule=rule)

    def update(self, state: OnlineState, data: PhaseData) -> tuple[OnlineState, Phase]:
        """All was learnt already; look at what."""
        q = self.q_of(state.q)
        policy = state.space.softmax(q, 0.0)
        after = replace(state, k=state.k + 1, start=data.time, policy=policy)
        return after, Phase(after.k, state.policy, data, policy, q.copy())

    def observe(self, state: OnlineState, data: PhaseData, behaviour: Policy) -> OnlineState:
        """Remember data that another policy made; actions that were chosen for where it left off are void."""
        state.next_actions[:] = -1
        return super().observe(replace(state, start=data.time), data, behaviour)

    def current_policy(self, state: OnlineState) -> Policy:
        """Greedy in what was learnt up to the last step."""
        return state.space.softmax(self.q_of(state.q), 0.0)

    def count_phases(self, num_steps: int, space: QSpace, gap: int = 0) -> int:
        """How many stretches there are, of which the last may be cut short."""
        return -(-num_steps // STEPS)
