"""Learning beside a rule of thumb: the rule acts where the learner could lose more than is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.learners.exploring import Exploring
from aapi.learners.learner import Learner, Phase, cannot_learn_from_others
from aapi.learners.state import restored_parts
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Arrays
    from aapi.learners.learner import AnyLearner, LearnerState
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


SHORTEST = 100  # steps at a time: of the rule, and of a learner at the most; max_loss · t/2, where that is more
FEWEST = 10  # steps for which it is worth asking the learner
CONTROL = 10.0  # times √t: so many steps, at the least, are the rule's, so that what it earns stays known
BATCHES = 20  # of the rule's stretches, at the most, whose means tell how well it is known what the rule earns
TRUSTED = 2.0  # standard errors by which the learner must do better
LONGEST_MENDING = 10  # times the learner's steps in a turn, or the shortest stretch, that setting it right may take
ROUNDING = 1e-9  # of a step's reward, which is no less than usual
LARGEST = 1e150  # that sums in a file may be: they are squared
LEAST = 0.1  # of a step's reward: what each step of the learner may cost, however well it did


@dataclass(frozen=True, eq=False)
class Account:
    """What the rule earns when it is left alone, and what the turns of the learner earned.

    A turn is some steps of the learner, and those of the rule after it that set right what it left behind: until the
    rule earns in a stretch what is usual, but for a standard error, or has taken ten times as many.

    rule: n and R, steps and rewards of the rule while it was left alone, in batches; a row of zeros where there is none
        yet. A batch has `batch` steps or more, and two become one when there is room for no more: so they grow with
        time, and what is usual is known as well as their means agree. rule_size: its Σ|r|.
    turns: sums of n and R over the learner's turns. own_steps: of the learner in them.
    recent: the same sums without explorations, apart, over turns that ended since own_steps last reached a power of
        two, and those between the two powers before.
    turn_steps: of the learner in the turn under way; 0 if none is. mending: whether the rule sets it right already.
    begun: `turns` when it began. explored: n and R of the explorations in it.
    last_steps, last_cost: of the last turn: the learner's steps, and what it lost.
    """

    rule: Array = field(default_factory=lambda: np.zeros((BATCHES, 2)))
    batch: int = 1
    rule_size: float = 0.0
    turns: Array = field(default_factory=lambda: np.zeros(2))
    recent: Array = field(default_factory=lambda: np.zeros((2, 2)))
    own_steps: int = 0
    turn_steps: int = 0
    mending: bool = False
    begun: Array = field(default_factory=lambda: np.zeros(2))
    explored: Array = field(default_factory=lambda: np.zeros(2))
    last_steps: int = FEWEST
    last_cost: float = 0.0

    @property
    def steps(self) -> int:
        """All that were taken."""
        return int(self.rule_steps + self.turns[0])

    @property
    def rule_steps(self) -> float:
        """Those of the rule while it was left alone."""
        return float(self.rule[:, 0].sum())

    @property
    def usual(self) -> float:
        """What the rule earns in a step when it is left alone."""
        return float(self.rule[:, 1].sum() / max(1.0, self.rule_steps))

    @property
    def size(self) -> float:
        """The mean of |r| when the rule is left alone: what losses are measured by."""
        return self.rule_size / max(1.0, self.rule_steps)

    @property
    def error(self) -> float:
        """The standard error of what is usual, by the differences between batches."""
        apart = self.rule[:, 1] - self.usual * self.rule[:, 0]
        count = max(2, int(np.count_nonzero(self.rule[:, 0])))
        return float(np.sqrt(np.square(apart).sum() * count / (count - 1)) / max(1.0, self.rule_steps))

    @property
    def loss(self) -> float:
        """What the learner's turns earned less than is usual."""
        return self._lost(self.turns)

    def _lost(self, turns: Array) -> float:
        """What was earned less than is usual, of sums n and R."""
        return float(turns[0] * self.usual - turns[1])

    @property
    def doubt(self) -> float:
        """By how much the loss may be larger, for the rule earns more than it seems."""
        return float(self.turns[0] * self.error)

    @property
    def trusted(self) -> bool:
        """Whether the learner did better than the rule of late, and not by chance."""
        steps, reward = map(float, self.recent.sum(axis=0))
        error = self.error * math.sqrt(1.0 + self.rule_steps / max(1.0, steps))
        return steps > 0.0 and reward / steps > self.usual + max(TRUSTED * error, ROUNDING * self.size)

    def affordable(self, max_loss: float) -> int:
        """For how many steps the learner may act next; 0 if it may not.

        A turn of c times the length of the last one is taken to cost c² times as much, as it does in a queue that
        grows. It has at most twice the length.
        """
        left = max_loss * self.size * self.steps - self.loss - self.doubt
        if left < 0.0 or self.mending:
            return 0
        room = left + (self._lost(self.turns - self.begun) if self.turn_steps else 0.0)
        cost = max(self.last_cost, LEAST * self.size * self.last_steps)
        factor = 2.0 if 4.0 * cost <= room else math.sqrt(max(0.0, room) / cost)
        longest = int(factor * self.last_steps)
        return max(0, longest - self.turn_steps) if longest >= FEWEST else 0

    def after_learner(self, steps: int, reward: float, *, explored: bool) -> Account:
        """The learner acted."""
        own = np.array([steps, reward])
        return replace(
            self, turns=self.turns + own, own_steps=self.own_steps + steps, explored=self.explored + explored * own,
            begun=self.begun if self.turn_steps else self.turns, turn_steps=self.turn_steps + steps,
        )  # fmt: skip

    def after_rule(self, rewards: Array) -> Account:
        """The rule acted: what it earned is its own, unless it sets right what the learner left behind."""
        steps, reward = len(rewards), float(rewards.sum())
        if not self.turn_steps:
            rule, batch = self._with_batch(steps, reward)
            return replace(self, rule=rule, batch=batch, rule_size=self.rule_size + float(np.abs(rewards).sum()))
        after = replace(self, turns=self.turns + np.array([steps, reward]), mending=True)
        turn = after.turns - self.begun
        mended = turn[0] - self.turn_steps >= LONGEST_MENDING * max(SHORTEST, self.turn_steps)
        if reward < steps * (self.usual - self.error - ROUNDING * self.size) and not mended:
            return after
        phases = turn - self.explored
        doubled = self.own_steps.bit_length() > (self.own_steps - self.turn_steps).bit_length()
        recent = np.stack([self.recent[1], phases]) if doubled else self.recent + np.stack([np.zeros(2), phases])
        return replace(
            after, recent=recent, explored=np.zeros(2), turn_steps=0, mending=False,
            last_steps=max(FEWEST, self.turn_steps), last_cost=self._lost(turn),
        )  # fmt: skip

    def _with_batch(self, steps: int, reward: float) -> tuple[Array, int]:
        """The batches with a stretch more, and how long they are."""
        rule, batch = self.rule.copy(), self.batch
        last = max(0, int(np.count_nonzero(rule[:, 0])) - 1)
        if rule[last, 0] >= batch:
            last += 1
        if last == BATCHES:
            last, batch = BATCHES // 2, 2 * batch
            rule = np.concatenate([rule.reshape(last, 2, 2).sum(axis=1), np.zeros((last, 2))])
        rule[last] += steps, reward
        return rule, max(batch, steps)

    def restored(self, arrays: Arrays) -> Account:
        """What was stored, or an error if it does not add up."""
        found = restored_parts(self, arrays)
        turn, filled = found.turns - found.begun, np.count_nonzero(found.rule[:, 0])
        steps = [
            found.own_steps - found.turn_steps, found.turn_steps, found.turns[0] - found.own_steps, *found.rule[:, 0],
            *found.recent[:, 0], found.begun[0], turn[0] - found.turn_steps, found.explored[0],
            found.turn_steps - found.explored[0], found.batch - 1, found.last_steps - 1, 2**31 - found.last_steps,
        ]  # fmt: skip
        amounts = [value for value in vars(found).values() if isinstance(value, np.ndarray | float)]
        sound = all((np.abs(value) <= LARGEST).all() for value in amounts) and found.rule_size >= 0.0
        if not (sound and min(steps) >= 0 and not found.rule[filled:].any()):
            raise InvalidInput("the account of what the rule and the learner earned does not add up")
        return found


@dataclass(frozen=True, eq=False)
class ConservativeState:
    """inner: the learner's state. start: when the stretch under way begins. gathered: steps since it last learnt."""

    space: QSpace = field(metadata=NOT_STORED)
    inner: Any
    start: int
    account: Account
    gathered: int = 0

    @property
    def k(self) -> int:
        """Phases learnt from so far."""
        return int(self.inner.k)

    @property
    def rule_steps(self) -> int:
        """Those in which the rule acted."""
        return self.account.steps - self.account.own_steps

    @property
    def memories(self) -> Memories:
        """Those of the learner."""
        memories: Memories = self.inner.memories
        return memories

    def restored(self, arrays: Arrays) -> ConservativeState:
        """What was stored, or an error."""
        found = restored_parts(self, arrays)
        if found.account.steps > found.start:
            raise InvalidInput(f"the account is of {found.account.steps} steps, and {found.start} were taken")
        return found


@dataclass(frozen=True, kw_only=True)
class Conservative(Learner[ConservativeState]):
    """A learner beside a rule of thumb, which acts first, and whenever the learner might lose too much by acting.

    The rule comes with the problem: `aapi.run(…, rule=…)`, or `Agent(…, rule=…)`. The learner learns from what the rule
    does, too, and so must be able to learn from others.

    learner: the learner, `Exploring` or not. max_exploration: a bound for it, if it explores and has none itself: what
        it would explore on its own is made for who knows nothing, and does not pay beside a rule.
    max_loss: how much the whole may earn less than the rule alone would have, as a share of the rule's mean |reward|;
        0.05 for 5 %. warm_up: steps of the rule before the learner acts.

    As long as it is not known who is better, the rule has half of the steps, or more. What it would have earned in the
    others is estimated. So the bound holds up to what the learner does in one stretch, max_loss · t/2 steps at the
    most, and up to chance.
    """

    learner: AnyLearner
    max_loss: float = 0.05
    warm_up: int = 1000
    max_exploration: float = 0.05

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        if isinstance(self.learner, Conservative):
            raise InvalidInput(f"Conservative goes around another learner, not {self.learner!r}")
        self._learner.check()
        finite(0.0, max_loss=self.max_loss, max_exploration=self.max_exploration)
        if self.max_loss > 1.0:
            raise InvalidInput(f"max_loss is a share of what the rule earns, at most 1, not {self.max_loss!r}")
        at_least(SHORTEST, warm_up=self.warm_up)

    @property
    def lockstep(self) -> bool:
        """Who acts depends on what was earned."""
        return False

    @cached_property
    def _learner(self) -> AnyLearner:
        """The learner, with a bound on what it explores."""
        learner = self.learner
        if isinstance(learner, Exploring) and learner.max_exploration is None:
            return replace(learner, max_exploration=self.max_exploration)
        return learner

    @property
    def inner(self) -> AnyLearner:
        """The learner inside."""
        return self.learner.inner

    def off_policy(self, space: QSpace) -> bool:
        """If the learner can learn from others."""
        return self._learner.off_policy(space)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> ConservativeState:
        """The learner's own start, and an empty account."""
        if space.rule is None:
            raise InvalidInput(f"{self!r} acts beside a rule of thumb: give one, rule=…")
        if not self._learner.off_policy(space):
            raise InvalidInput(cannot_learn_from_others(self.learner))
        return ConservativeState(space, self._learner.init(space, runs, num_steps, gap), 0, Account())

    def act(self, state: ConservativeState) -> Stretch:
        """What the learner does next, for as long as that is affordable; else the rule."""
        wished, steps = self._learner.act(state.inner), self._affordable(state.account)
        longest = self._longest(state)
        if steps:
            return replace(wished, start=state.start, steps=min(wished.steps, steps, longest))
        if state.account.turn_steps:
            longest = min(longest, max(SHORTEST, state.account.turn_steps))
        return Stretch(wished.number, state.start, longest, wished.policy, state.space.rule, np.ones(1, dtype=bool))

    def _longest(self, state: ConservativeState) -> int:
        """How long a stretch may be."""
        return max(SHORTEST, int(0.5 * self.max_loss * state.account.steps))

    def _affordable(self, account: Account) -> int:
        """For how many steps the learner may act next; 0 if it may not."""
        control = CONTROL * math.sqrt(account.steps) if account.trusted else account.own_steps
        known = account.turn_steps or account.rule_steps >= max(self.warm_up, control)
        return account.affordable(self.max_loss) if known else 0

    def update(self, state: ConservativeState, data: PhaseData) -> tuple[ConservativeState, Phase]:
        """Learn from what the learner did, or the rule.

        What the rule did, and parts of what the learner asked for, are remembered until there is as much as in one of
        the learner's phases; then it learns from that. An exploration that was cut short has ended.
        """
        stretch, wished, rewards = self.act(state), self._learner.act(state.inner), data.rewards[0]
        explores = wished.exploring is not None
        if not self._affordable(state.account):
            account = state.account.after_rule(rewards)
        else:
            account = state.account.after_learner(data.steps, float(rewards.sum()), explored=explores)
            cut = stretch.steps < wished.steps and data.steps >= stretch.steps  # rounded up, where there are copies
            if explores or not cut:
                inner, phase = self._learner.update(state.inner, data)
                after = ConservativeState(state.space, inner, data.time, account, state.gathered if explores else 0)
                return after, replace(phase, next_policy=self.current_policy(after))
        gathered = state.gathered + data.steps
        if not explores and gathered >= min(wished.steps, self._longest(state)):
            inner, gathered = self._learner.learn_from(state.inner, data, stretch.acting), 0
        else:
            inner = self._learner.observe(state.inner, data, stretch.acting)
        after = ConservativeState(state.space, inner, data.time, account, gathered)
        return after, Phase(
            stretch.number, stretch.acting, data, self.current_policy(after), exploring=stretch.exploring
        )

    def learn_from(self, state: ConservativeState, data: PhaseData, behaviour: Policy) -> ConservativeState:
        """The learner's. Who acted was neither it nor the rule, so that it is on nobody's account."""
        inner = self._learner.learn_from(state.inner, data, behaviour)
        return replace(state, inner=inner, start=data.time)

    def current_policy(self, state: ConservativeState) -> Policy:
        """The learner's, if it is better than the rule, as far as can be told; else the rule."""
        return self._learner.current_policy(state.inner) if state.account.trusted else state.space.rule


def beside_rule(learner: AnyLearner) -> Conservative:
    """A learner with a rule beside it."""
    return learner if isinstance(learner, Conservative) else Conservative(learner=learner)


def without_rule(learner: AnyLearner) -> AnyLearner:
    """The learner alone."""
    return learner.learner if isinstance(learner, Conservative) else learner


def state_without_rule(state: LearnerState) -> LearnerState:
    """The state of the learner alone."""
    inner: LearnerState = state.inner if isinstance(state, ConservativeState) else state
    return inner
