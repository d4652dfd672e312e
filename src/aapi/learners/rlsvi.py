"""RLSVI: randomised least-squares value iteration (Osband, Van Roy and Wen 2016), for tasks without end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least, finite, one_of
from aapi.learners.learner import Learner, Phase
from aapi.memory import Counts, CountTransitions, Experience, KeepSteps, MemorySpec, Window, empty_memories, remember
from aapi.memory.randomised import Sweeps
from aapi.schedules import Constant
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


FORMS = ("relative", "finite-horizon", "discounted")


@dataclass(frozen=True)
class KeepTransitions(MemorySpec[Counts | Window]):
    """Counts of all transitions, which take bounded room, or the last `count` steps."""

    count: int

    def start(self, space: QSpace, runs: int) -> Counts | Window:
        """No transition yet."""
        return CountTransitions().start(space, runs) if space.countable else KeepSteps(self.count).start(space, runs)


@dataclass(frozen=True, eq=False)
class RLSVIState:
    """start: when the phase under way begins. q_hat: the last draw; policy: greedy in it."""

    k: int
    memories: Memories
    space: QSpace = field(metadata=NOT_STORED)
    start: int
    q_hat: Array
    policy: Policy


@dataclass(frozen=True, kw_only=True)
class RLSVI(Learner[RLSVIState]):
    """Act greedily in a randomised estimate of Q_*, drawn anew before each phase from past data.

    A draw is `horizon` sweeps of regression, from θ̃ = 0, each with its own noise:
    b_i = r_i + max_a φ(x'_i, a)ᵀθ̃,  Σ = (ΦᵀΦ/σ² + ridge · I)⁻¹,  θ̃ ~ N(Σ Φᵀb/σ², Σ).
    The paper does not say how it was run without a horizon. The relative form subtracts the visit-weighted mean value
    after each sweep; the finite-horizon form does not; the discounted one multiplies values by 1 − 1/horizon.

    The first policy is uniform, as in all other algorithms: without data, a draw is noise of size 1/√ridge.
    Where states can be counted all data enters, through counts of transitions; elsewhere the last `memory` transitions
    are kept. So the cost of a phase does not grow with time.

    horizon: number of sweeps. form: how it does without a horizon. ridge: ℓ2 penalty of the regression.
    noise_variance: σ². memory: transitions kept where states cannot be counted.
    """

    phase_length: int
    horizon: int
    form: str = "relative"
    ridge: float = 1.0
    noise_variance: float = 1.0
    memory: int = 10_000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length, horizon=self.horizon, memory=self.memory)
        one_of(FORMS, form=self.form)
        finite(0.0, strictly=True, ridge=self.ridge, noise_variance=self.noise_variance)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> RLSVIState:
        """The uniform policy, and no data yet."""
        memories = empty_memories([KeepTransitions(int(self.memory))], space, runs)
        return RLSVIState(0, memories, space, 0, space.zeros(runs), space.uniform(runs))

    @property
    def schedule(self) -> Constant:
        """Phases of τ steps."""
        return Constant(self.phase_length)

    def act(self, state: RLSVIState) -> Stretch:
        """Follow the last draw."""
        return Stretch(state.k + 1, state.start, int(self.phase_length), state.policy)

    def update(self, state: RLSVIState, data: PhaseData) -> tuple[RLSVIState, Phase]:
        """A draw from all past data, and the policy that is greedy in it."""
        after = self.learn_from(state, data, state.policy)
        return after, Phase(after.k, state.policy, data, after.policy, state.q_hat)

    def off_policy(self, space: QSpace) -> bool:
        """Steps are steps, whoever took them."""
        return True

    def learn_from(self, state: RLSVIState, data: PhaseData, behaviour: Policy) -> RLSVIState:
        """A draw from all past data, and the policy that is greedy in it."""
        memories = remember(state.memories, data, behaviour)
        past = Experience(state.space, data, memories).recall(KeepTransitions(int(self.memory)))
        discount = 1.0 - 1.0 / self.horizon if self.form == "discounted" else 1.0
        sweeps = Sweeps(
            int(self.horizon), discount, self.form == "relative", float(self.ridge), float(self.noise_variance)
        )
        q_hat = past.draw_q(state.space, sweeps, data.streams)
        policy = state.space.softmax(q_hat, 0.0)
        return RLSVIState(state.k + 1, memories, state.space, data.time, q_hat, policy)
