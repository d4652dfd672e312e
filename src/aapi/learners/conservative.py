"""Learning beside a rule of thumb: the rule acts where the learner could lose more than is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.learners.learner import Learner, Phase, cannot_learn_from_others
from aapi.learners.state import restored_parts
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Arrays
    from aapi.learners.learner import AnyLearner
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


SHORTEST = 100  # steps of the rule at a time; √t, where that is more
CONTROL = 10.0  # times √t: so many steps, at the least, are the rule's, so that what it earns stays known
FEWEST = 10  # steps for which it is worth asking the learner
TURNS = 5  # of the learner, the worst of which says what the next one may cost
LEAST = 0.1  # of a step's reward: what each step of the learner may cost, however well it did
UNUSUAL = 2.0  # standard deviations by which the rule must earn less than usual for the learner to be blamed twice


@dataclass(frozen=True, eq=False)
class Account:
    """Who acted for how long, and what that earned.

    steps, reward: all of them. rule_steps, rule_reward, rule_size: of the rule, when it was left alone: the sums of r
    and of |r|. rule_stretches, rule_mean, rule_spread: how many there were, the mean of their means, and the sum of
    squared differences from it.
    own_steps: of the learner. charged_steps, charged_reward: the same, with the steps by which the rule set right what
    the learner had left behind.
    turn_steps, turn_charged, turn_reward: of the learner's turn under way, or the one that is being set right.
    mending: whether the rule is setting something right. longest: turn so far. costs: what a step of the learner cost
    in its last turns, compared with the rule.
    """

    steps: int
    reward: float
    rule_steps: int
    rule_reward: float
    rule_size: float
    rule_stretches: int
    rule_mean: float
    rule_spread: float
    own_steps: int
    charged_steps: int
    charged_reward: float
    turn_steps: int
    turn_charged: int
    turn_reward: float
    mending: bool
    longest: int
    costs: Array

    @property
    def usual(self) -> float:
        """What the rule earns in a step when it is left alone."""
        return self.rule_reward / max(1, self.rule_steps)

    @property
    def deviation(self) -> float:
        """The standard deviation of what it earns, on average, in one of its stretches."""
        return math.sqrt(self.rule_spread / max(1, self.rule_stretches - 1))

    @property
    def size(self) -> float:
        """The mean of |r| when the rule is left alone: what losses are measured by."""
        return self.rule_size / max(1, self.rule_steps)

    @property
    def loss(self) -> float:
        """What the learner lost so far, in comparison with the rule; the rule gets the benefit of the doubt."""
        doubt = self.deviation / math.sqrt(max(1, self.rule_stretches))
        return self.charged_steps * (self.usual + doubt) - self.charged_reward

    @property
    def trusted(self) -> bool:
        """Whether the learner did better than the rule in its last turns."""
        return bool(self.own_steps and self.loss <= 0.0 and self.costs.mean() <= 0.0)

    def affordable(self, max_loss: float) -> int:
        """For how many steps the learner may act next."""
        left = max_loss * self.size * self.steps - self.loss
        if left <= 0.0:
            return 0
        cost = self.size if not self.costs.size else max(float(self.costs.max()), self._turn_cost, LEAST * self.size)
        return int(min(left / cost if cost > 0.0 else math.inf, 2 * max(FEWEST, self.longest, max_loss * self.steps)))

    @property
    def _turn_cost(self) -> float:
        """What a step of the learner costs in this turn."""
        return (self.turn_charged * self.usual - self.turn_reward) / max(1, self.turn_steps)

    def after_learner(self, steps: int, reward: float) -> Account:
        """The learner acted."""
        return replace(
            self, steps=self.steps + steps, reward=self.reward + reward, own_steps=self.own_steps + steps,
            charged_steps=self.charged_steps + steps, charged_reward=self.charged_reward + reward,
            turn_steps=self.turn_steps + steps, turn_charged=self.turn_charged + steps,
            turn_reward=self.turn_reward + reward, longest=max(self.longest, self.turn_steps + steps),
        )  # fmt: skip

    def after_rule(self, rewards: Array) -> Account:
        """The rule acted: what it earned is its own, unless it sets right what the learner left behind.

        The first stretch after a turn of the learner is charged to it, whatever that earned; and so is the next one, as
        long as the rule earns much less than usual.
        """
        steps, reward = len(rewards), float(rewards.sum())
        now = replace(self, steps=self.steps + steps, reward=self.reward + reward)
        if self.turn_steps:
            mean = reward / steps
            charged = replace(
                now, charged_steps=self.charged_steps + steps, charged_reward=self.charged_reward + reward,
                turn_charged=self.turn_charged + steps, turn_reward=self.turn_reward + reward, mending=True,
            )  # fmt: skip
            return charged if mean < self.usual - UNUSUAL * self.deviation else charged._closed()
        stretches, apart = self.rule_stretches + 1, reward / steps - self.rule_mean
        mean = self.rule_mean + apart / stretches
        return replace(
            now, rule_steps=self.rule_steps + steps, rule_reward=self.rule_reward + reward,
            rule_size=self.rule_size + float(np.abs(rewards).sum()), rule_stretches=stretches, rule_mean=mean,
            rule_spread=self.rule_spread + apart * (reward / steps - mean),
        )  # fmt: skip

    def _closed(self) -> Account:
        """After a turn of the learner, and all that it left behind."""
        costs = np.append(self.costs, self._turn_cost)[-TURNS:]
        return replace(self, costs=costs, turn_steps=0, turn_charged=0, turn_reward=0.0, mending=False)

    def restored(self, arrays: Arrays) -> Account:
        """What was stored, or an error if it does not add up."""
        like = replace(self, costs=np.zeros(min(TURNS, np.size(arrays.get("costs", ())))))
        found = restored_parts(like, arrays)
        numbers = [value for value in vars(found).values() if isinstance(value, int | float)]
        sound = all(math.isfinite(number) for number in numbers) and np.isfinite(found.costs).all()
        counts = found.rule_steps, found.own_steps, found.charged_steps, found.turn_steps, found.rule_stretches
        adds_up = found.rule_steps + found.charged_steps == found.steps and found.own_steps <= found.charged_steps
        if not (sound and adds_up and min(counts) >= 0 and min(found.rule_size, found.rule_spread) >= 0.0):
            raise InvalidInput("the account of what the rule and the learner earned does not add up")
        return found


NOTHING = Account(0, 0.0, 0, 0.0, 0.0, 0, 0.0, 0.0, 0, 0, 0.0, 0, 0, 0.0, False, 0, np.zeros(0))


@dataclass(frozen=True, eq=False)
class ConservativeState:
    """inner: the learner's state. start: when the stretch under way begins."""

    space: QSpace = field(metadata=NOT_STORED)
    inner: Any
    start: int
    account: Account

    @property
    def k(self) -> int:
        """Phases learnt from so far."""
        return int(self.inner.k)

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

    learner: the learner. max_loss: how much the whole may earn less than the rule alone would have, as a share of the
        rule's mean |reward|; 0.05 for 5 %. warm_up: steps of the rule before the learner acts.

    What the rule would have earned is not known, but estimated from when it acts. So the bound holds up to what the
    learner does in one stretch, which is kept short as long as it may lose; and up to chance.
    """

    learner: AnyLearner
    max_loss: float = 0.05
    warm_up: int = 1000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        if isinstance(self.learner, Conservative):
            raise InvalidInput(f"Conservative goes around another learner, not {self.learner!r}")
        self.learner.check()
        finite(0.0, max_loss=self.max_loss)
        at_least(SHORTEST, warm_up=self.warm_up)

    @property
    def lockstep(self) -> bool:
        """Who acts depends on what was earned."""
        return False

    @property
    def inner(self) -> AnyLearner:
        """The learner inside."""
        return self.learner.inner

    def off_policy(self, space: QSpace) -> bool:
        """If the learner can learn from others."""
        return self.learner.off_policy(space)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> ConservativeState:
        """The learner's own start, and an empty account."""
        if space.rule is None:
            raise InvalidInput(f"{self!r} acts beside a rule of thumb: give one, rule=…")
        if not self.learner.off_policy(space):
            raise InvalidInput(cannot_learn_from_others(self.learner))
        return ConservativeState(space, self.learner.init(space, runs, num_steps, gap), 0, NOTHING)

    def act(self, state: ConservativeState) -> Stretch:
        """What the learner does next, for as long as that is affordable; else the rule."""
        wished, account = self.learner.act(state.inner), state.account
        steps = self._affordable(account)
        if steps:
            return replace(wished, start=state.start, steps=min(wished.steps, steps))
        turn = max(SHORTEST, math.isqrt(state.start))
        return Stretch(wished.number, state.start, turn, wished.policy, state.space.rule, np.ones(1, dtype=bool))

    def _affordable(self, account: Account) -> int:
        """For how many steps the learner may act next; 0 if it may not."""
        control = max(float(self.warm_up), CONTROL * math.sqrt(account.steps))
        if account.mending or account.rule_steps < control:
            return 0
        steps = account.affordable(self.max_loss)
        return steps if steps >= FEWEST else 0

    def update(self, state: ConservativeState, data: PhaseData) -> tuple[ConservativeState, Phase]:
        """Learn from what the learner did, or the rule."""
        stretch, account, rewards = self.act(state), state.account, data.rewards[0]
        if not self._affordable(account):
            account = account.after_rule(rewards)
            return self._learnt_from(state, data, stretch, account)
        account, wished = account.after_learner(data.steps, float(rewards.sum())), self.learner.act(state.inner)
        if stretch.steps < wished.steps and data.steps == stretch.steps:
            return self._learnt_from(state, data, stretch, account)
        inner, phase = self.learner.update(state.inner, data)
        return ConservativeState(state.space, inner, data.time, account), phase

    def _learnt_from(
        self, state: ConservativeState, data: PhaseData, stretch: Stretch, account: Account
    ) -> tuple[ConservativeState, Phase]:  # fmt: skip
        """After a stretch that is not one that the learner asked for."""
        inner = self.learner.learn_from(state.inner, data, stretch.acting)
        after = ConservativeState(state.space, inner, data.time, account)
        policy = self.learner.current_policy(inner)
        return after, Phase(stretch.number, stretch.acting, data, policy, exploring=stretch.exploring)

    def learn_from(self, state: ConservativeState, data: PhaseData, behaviour: Policy) -> ConservativeState:
        """The learner's. Who acted was neither it nor the rule, so that it is on nobody's account."""
        inner = self.learner.learn_from(state.inner, data, behaviour)
        return replace(state, inner=inner, start=data.time)

    def current_policy(self, state: ConservativeState) -> Policy:
        """The learner's, if it is better than the rule, as far as can be told; else the rule."""
        return self.learner.current_policy(state.inner) if state.account.trusted else state.space.rule
