"""Optimistic planning in an interpolated model of observation vectors: what `AAPI()` does where these are observed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.interpolated import GridPolicy, Interpolated
from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, check_like, finite
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.learners.learner import Learner, Phase
from aapi.learners.state import restored
from aapi.memory import Interpolate, empty_memories, remember
from aapi.memory.interpolated import SUCCESSOR
from aapi.memory.layout import num_interpolated
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Arrays
    from aapi.memory import InterpolatedModel, Memories
    from aapi.simulation import PhaseData


PRIOR = 0.01  # visits of each pair that led to a mean reward and a mean value
FEWEST = 0.1  # what visits count at the least, in the bonus
PRECISE = 1e-3  # of the spread of rewards, up to which values are computed
FORGET = 0.1  # of what was known of noise, with each phase
TRIED = 12_500  # pairs of vertices and actions that time is enough to try; of 4 numbers and 3 actions there are 12,288
AFRESH = 4  # how many times as many sweeps where the grid was laid anew


@dataclass(frozen=True, eq=False)
class OptimisticGridState:
    """start: when the next phase begins. values, q: V and Q of the plan, (vertices,) and (vertices, actions).

    noise: the variance of what single steps returned, around the Q that they were predicted by.
    """

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    learner: OptimisticGrid = field(metadata=NOT_STORED)
    start: int
    values: Array
    q: Array
    noise: float

    @property
    def model(self) -> InterpolatedModel:
        """What was seen."""
        return cast("InterpolatedModel", self.memories[self.learner.memory])

    @property
    def policy(self) -> GridPolicy:
        """Greedy in the plan."""
        model = self.model
        return GridPolicy(model.grid, model.counts.slots, model.counts.numbers, self.q)

    def restored(self, arrays: Arrays) -> OptimisticGridState:
        """What was stored; or an error."""
        memories = restored(self.memories, arrays, "memories")
        k, start = (int(check_like(arrays, name, np.asarray(0))) for name in ("k", "start"))
        noise = float(check_like(arrays, "noise", np.asarray(0.0)))
        if not noise >= 0.0:
            raise InvalidInput(f"noise is a variance, and cannot be {noise!r}")
        found = replace(self, memories=memories, k=k, start=start, noise=noise)
        if not {"values", "q"} & arrays.keys():  # a file of an earlier format
            values, q = self.learner.plan(found.model, np.zeros(0), noise)
            return replace(found, values=values, q=q)
        size, actions = found.model.num_vertices, self.space.num_actions
        values, q = check_like(arrays, "values", np.empty(size)), check_like(arrays, "q", np.empty((size, actions)))
        return replace(found, values=values, q=q)


@dataclass(frozen=True, kw_only=True)
class OptimisticGrid(Learner[OptimisticGridState]):
    """Act greedily in an optimistic plan of a model that is interpolated on a grid over all that was observed.

    Q(v, a) = [S + discount · (Σ_w C(v, a, w) V(w) + p V̄)]/(N + p) + bonus · sd(r)/n + noise_bonus · σ/√n,
    V = max_a Q, of the visits N, n = N + 0.1, rewards S above their mean, and transitions C that were counted at
    vertex v; V̄ is the mean of V over visits, p = 0.01; σ is the standard deviation of r + discount · V(y) − Q(x, a)
    over new steps, before they are learnt from. Constants added to rewards, and factors, change nothing. It is greedy
    in one plan after the other, and so not Algorithm 1: on vectors that explored too little, and sums of Q-functions
    need a grid that stays.

    Both bonuses are multiplied by min(1, 12,500/P) for the P pairs of the grid along numbers that are interpolated: on
    six of them P is about 60,000, and to try all of that takes longer than what it could gain is worth.

    phase_length: steps between two plans. bonus: of a pair, for each visit that it has not had, in standard deviations
    of the last fifth of rewards: for what was never tried. noise_bonus: of a pair, in standard errors of what was seen
    of it: for what had bad luck. discount: of values. sweeps: of value iteration in each plan, which begins where the
    last one ended. window: steps that are remembered, half of them the last.
    """

    phase_length: int = 300
    bonus: float = 0.5
    noise_bonus: float = 0.5
    discount: float = 0.995
    sweeps: int = 50
    window: int = 100_000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length, sweeps=self.sweeps, window=self.window)
        finite(0.0, bonus=self.bonus, noise_bonus=self.noise_bonus, discount=self.discount)
        if self.discount >= 1.0:
            raise InvalidInput(f"discount must be below 1, not {self.discount!r}")

    @property
    def memory(self) -> Interpolate:
        """What is remembered."""
        return Interpolate(int(self.window))

    @property
    def lockstep(self) -> bool:
        """Runs have grids of their own."""
        return False

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> OptimisticGridState:
        """Nothing was seen, and all actions are equally good."""
        if not isinstance(space, Interpolated):
            raise InvalidInput("OptimisticGrid lays a grid over observation vectors: take features=Grid()")
        memories = empty_memories([self.memory], space, runs)
        return OptimisticGridState(0, memories, space, self, 0, np.zeros(1), np.zeros((1, space.num_actions)), 0.0)

    def act(self, state: OptimisticGridState) -> Stretch:
        """Follow the optimistic plan."""
        return Stretch(state.k + 1, state.start, int(self.phase_length), state.policy)

    def update(self, state: OptimisticGridState, data: PhaseData) -> tuple[OptimisticGridState, Phase]:
        """Count what was seen, and plan anew."""
        after = self.learn_from(state, data, state.policy)
        return after, Phase(after.k, state.policy, data, after.policy)

    def off_policy(self, space: QSpace) -> bool:
        """A model is of steps, whoever took them."""
        return True

    def learn_from(self, state: OptimisticGridState, data: PhaseData, behaviour: Policy) -> OptimisticGridState:
        """Count what was seen, and plan anew."""
        noise, memories = self._noise(state, data), remember(state.memories, data, behaviour)
        after = replace(state, k=state.k + 1, memories=memories, start=data.time, noise=noise)
        relaid = after.model.grid is not state.model.grid
        values, q = self.plan(after.model, np.zeros(0) if relaid else state.values, noise)
        return replace(after, values=values, q=q)

    def observe(self, state: OptimisticGridState, data: PhaseData, behaviour: Policy) -> OptimisticGridState:
        """Remember what was seen. Plans are on its grid, so that there is a new one, too."""
        return replace(self.learn_from(state, data, behaviour), k=state.k, start=state.start)

    def _noise(self, state: OptimisticGridState, data: PhaseData) -> float:
        """The mean over phases, later ones counting more, of the variance of r + discount · V(y) − Q(x, a)."""
        rewards, policy = data.rewards[0], state.policy
        predicted = policy.values(data.states[0])[np.arange(len(rewards)), data.actions[0]]
        returned = rewards - rewards[0] + float(self.discount) * policy.values(data.successors[0]).max(axis=1)
        forget = max(FORGET, 1.0 / (state.k + 1))
        return float((1.0 - forget) * state.noise + forget * (returned - predicted).var())

    def plan(self, model: InterpolatedModel, values: Array, noise: float) -> tuple[Array, Array]:
        """V, (vertices,), and Q, (vertices, actions), by value iteration. values: of some vertices, where it begins."""
        counts, rewards = model.counts, model.steps.rewards
        size, actions = model.num_vertices, model.space.num_actions
        q, start = np.empty((size, actions)), np.zeros(size)
        start[: len(values)] = values
        if not len(rewards):
            return start, np.zeros((size, actions))
        spread = spread_of(rewards)
        limit = int(self.sweeps) * (1 if len(values) else AFRESH)
        ends = np.searchsorted(counts.keys, np.arange(size * actions + 1) * SUCCESSOR)
        mean = counts.earned.sum() / counts.visits.sum()
        share = min(1.0, TRIED / (num_interpolated(model.grid, model.extent) * actions))
        _iterate(
            ends, counts.keys, counts.weights, counts.visits, counts.earned, mean, share * float(self.bonus) * spread,
            share * float(self.noise_bonus) * math.sqrt(noise), float(self.discount), limit, PRECISE * spread, start, q,
        )  # fmt: skip
        return start, q


def spread_of(rewards: Array) -> float:
    """The standard deviation of the last fifth of rewards, or of all if that is 0; 1 if no reward differs."""
    for part in (rewards[-max(1, len(rewards) // 5) :], rewards):
        apart = part - part[0]
        spread = float(np.sqrt(((apart - apart.mean()) ** 2).mean()))
        if spread > 0.0:
            return spread
    return 1.0


@kernel
def _iterate(
    ends: Any, keys: Any, weights: Any, visits: Any, earned: Any, mean_reward: Any, bonus: Any, noise_bonus: Any,
    discount: Any, sweeps: Any, precise: Any, values: Any, q: Any,
) -> None:  # fmt: skip
    """Sweeps through the vertices, forwards and backwards in turn, until all values change alike."""
    size, actions = q.shape
    shares = visits.reshape((size, actions)).sum(axis=1) / visits.sum()
    for sweep in range(sweeps):
        mean, low, high = 0.0, np.inf, -np.inf
        for x in range(size):
            mean += shares[x] * values[x]
        for turn in range(size):
            x = turn if sweep % 2 == 0 else size - 1 - turn
            best = -np.inf
            for a in range(actions):
                pair = x * actions + a
                after = PRIOR * mean
                for entry in range(ends[pair], ends[pair + 1]):
                    after += weights[entry] * values[keys[entry] % SUCCESSOR]
                count, n = visits[pair], visits[pair] + FEWEST
                value = (earned[pair] - count * mean_reward + discount * after) / (count + PRIOR)
                q[x, a] = value + bonus / n + noise_bonus / math.sqrt(n)
                best = max(best, q[x, a])
            if shares[x] > 0.0:
                low, high = min(low, best - values[x]), max(high, best - values[x])
            values[x] = best
        if high - low < precise:
            break
