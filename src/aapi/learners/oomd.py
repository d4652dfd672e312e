"""MDP-OOMD: optimistic mirror descent on returns of one trajectory (Wei, Jafarnia-Jahromi, Luo, Sharma, Jain 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel
from aapi.learners.learner import Learner, Phase
from aapi.memory import remember
from aapi.schedules import Constant
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import QSpace
    from aapi.array_types import Array
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


MOST_ROUNDS = 200  # of Newton's method, of which a handful are needed


@dataclass(frozen=True, eq=False)
class OOMDState:
    """start: when the phase under way begins. anchor: π'_k; policy: π_k, both (runs, states, actions)."""

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    start: int
    anchor: Array
    policy: Array


@dataclass(frozen=True, kw_only=True)
class OOMD(Learner[OOMDState]):
    """Optimistic mirror descent with the log barrier, in every state, on importance-weighted returns of the phase.

    β̂_k(x, a) = mean of 1{a_t = a} (r_t + … + r_{t+N}) / π_k(a|x) over visits t of x that are 2N steps apart or more,
    and 0 for a state without one (Algorithm 3 of the paper). With D(π, π') = Σ_a (π/π' − ln(π/π') − 1)(a|x), and the
    first policies uniform (Algorithms 2 and 4),
    π'_{k+1} = argmax_π η ⟨π, β̂_k⟩ − D(π, π'_k),  π_{k+1} = argmax_π η ⟨π, β̂_k⟩ − D(π, π'_{k+1}).

    The analysis has B = 16 t_mix t_hit (log₂ T)² and N = 4 t_mix log₂ T for rewards in [0, 1]. Mixing and hitting times
    are not known to a learner, so that B and N are given; the defaults, η among them, are those of the paper's
    experiments. η is what is left to tune. For tables, whatever the features.

    phase_length: B. window: N, one less than the number of rewards in a return. eta: η, the step of mirror descent.
    """

    phase_length: int = 30
    window: int = 10
    eta: float = 0.01

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length, window=self.window)
        finite(0.0, strictly=True, eta=self.eta)
        _check_window(self.window, int(self.phase_length), 1)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> OOMDState:
        """The uniform policies."""
        space.require_countable("OOMD needs")
        _check_window(self.window, int(self.phase_length), space.copies)
        return OOMDState(0, {}, space, 0, space.uniform(runs), space.uniform(runs))

    @property
    def schedule(self) -> Constant:
        """Phases of B steps."""
        return Constant(self.phase_length)

    @property
    def shortest_phase(self) -> int:
        """N + 1: a return must fit."""
        return int(self.window) + 1

    def act(self, state: OOMDState) -> Stretch:
        """Follow π_k for B steps."""
        return Stretch(state.k + 1, state.start, int(self.phase_length), state.policy)

    def update(self, state: OOMDState, data: PhaseData) -> tuple[OOMDState, Phase]:
        """From the data of π_k to π'_{k+1} and π_{k+1}."""
        returns, anchor, policy = (np.zeros_like(state.policy) for _ in range(3))
        _estimate(data.states, data.actions, data.rewards, state.policy, int(self.window), data.copies, returns)
        if not _descend(returns, state.anchor, float(self.eta), anchor, policy):
            raise InvalidInput(f"eta must be smaller: {self.eta} times returns of phase {state.k + 1} is not finite")
        memories = remember(state.memories, data, state.policy)
        after = OOMDState(state.k + 1, memories, state.space, data.time, anchor, policy)
        return after, Phase(after.k, state.policy, data, policy, returns)


def _check_window(window: int, phase_length: int, copies: int) -> None:
    """Raise an error if no return fits into a phase."""
    steps = -(-phase_length // copies)
    if window >= steps:
        where = "" if copies == 1 else f" of {phase_length} steps, which goes round {copies} copies"
        raise InvalidInput(
            f"window must be less than the phase length, {steps}, not {window}: no return would fit into a phase{where}"
        )


@kernel
def _estimate(states: Any, actions: Any, rewards: Any, policy: Any, window: Any, copies: Any, returns: Any) -> None:
    """β̂ of every run, from the returns of visits that are far enough apart; each copy is a trajectory of its own."""
    num_runs, num_states, num_actions = policy.shape
    steps, skip = rewards.shape[1], 2 * window * copies
    cumulated = np.zeros(steps + copies)
    for run in range(num_runs):
        found = returns[run]
        count = np.zeros(num_states)
        for copy in range(copies):
            earned = 0.0
            for t in range(copy, steps, copies):
                earned += rewards[run, t]
                cumulated[t + copies] = earned
            usable_from = np.zeros(num_states, dtype=np.int64)
            for t in range(copy, steps - window * copies, copies):
                x = states[run, t]
                if t >= usable_from[x]:
                    usable_from[x] = t + skip
                    count[x] += 1.0
                    found[x, actions[run, t]] += cumulated[t + (window + 1) * copies] - cumulated[t]
        for x in range(num_states):
            if count[x] > 0.0:
                for a in range(num_actions):
                    found[x, a] /= count[x] * policy[run, x, a]


@kernel
def _descend(returns: Any, before: Any, eta: Any, anchor: Any, policy: Any) -> Any:
    """Both steps of every run and state; false if a number on the way is not finite."""
    num_runs, num_states, num_actions = before.shape
    inverse = np.empty(num_actions)
    for run in range(num_runs):
        for x in range(num_states):
            gains = returns[run, x]
            if not _step(before[run, x], gains, eta, inverse, anchor[run, x]):
                return False
            if not _step(anchor[run, x], gains, eta, inverse, policy[run, x]):
                return False
    return True


@kernel
def _step(point: Any, gains: Any, eta: Any, inverse: Any, out: Any) -> Any:
    """argmax_π η ⟨π, gains⟩ − D(π, point): 1/π(a) = 1/point(a) − η gains(a) + ν, with ν such that Σ_a π(a) = 1.

    With d(a) ≥ 0 the excess of 1/point(a) − η gains(a) over its least value, Σ_a 1/(d(a) + z) = 1 has one solution, in
    [1, A]. The sum is convex in z and at least 1 at z = 1, so that Newton's method goes there from below.
    """
    size = point.size
    least = np.inf
    for a in range(size):
        inverse[a] = 1.0 / point[a] - eta * gains[a]
        least = min(least, inverse[a])
    for a in range(size):
        inverse[a] -= least
        if not inverse[a] < np.inf:
            return False
    z = 1.0
    for _ in range(MOST_ROUNDS):
        excess, slope = -1.0, 0.0
        for a in range(size):
            share = 1.0 / (inverse[a] + z)
            excess += share
            slope += share * share
        closer = min(z + excess / slope, float(size))
        if not closer > z:
            break
        z = closer
    for a in range(size):
        out[a] = 1.0 / (inverse[a] + z)
    return True
