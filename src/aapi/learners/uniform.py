"""Acting at random: what learning is to be compared with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aapi.approximation.space import NOT_STORED
from aapi.checks import at_least
from aapi.learners.learner import Learner, Phase
from aapi.memory import remember
from aapi.schedules import Constant
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.memory import Memories
    from aapi.simulation import PhaseData


@dataclass(frozen=True, eq=False)
class UniformState:
    """start: when the phase under way begins."""

    k: int
    memories: Memories
    start: int
    policy: Policy = field(metadata=NOT_STORED)


@dataclass(frozen=True, kw_only=True)
class Uniform(Learner[UniformState]):
    """π(a|x) = 1/A, for ever."""

    phase_length: int = 1000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length)

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> UniformState:
        """The uniform policy."""
        return UniformState(0, {}, 0, space.uniform(runs))

    @property
    def schedule(self) -> Constant:
        """Phases of τ steps."""
        return Constant(self.phase_length)

    def act(self, state: UniformState) -> Stretch:
        """Follow the uniform policy."""
        return Stretch(state.k + 1, state.start, int(self.phase_length), state.policy)

    def update(self, state: UniformState, data: PhaseData) -> tuple[UniformState, Phase]:
        """The same policy again."""
        memories = remember(state.memories, data, state.policy)
        after = replace(state, k=state.k + 1, memories=memories, start=data.time)
        return after, Phase(after.k, state.policy, data, state.policy)
