"""Acting at random: what learning is to be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.algorithms.policy_iteration import Phase, in_phases
from aapi.checks import at_least
from aapi.improvement import QHistory, new_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.simulation import PhaseData, Simulation

__all__ = ["Uniform"]


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """π(a|x) = 1/A, for ever."""

    phase_length: int = 1000

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        at_least(1, phase_length=self.phase_length)

    def start(self, simulation: Simulation, num_phases: int | None = None) -> QHistory:
        """The uniform policy."""
        history = new_history(simulation, num_phases, norm="sup", decay=0.0, num_sampled=0)
        history.steps = int(self.phase_length)
        return history

    def improve(self, simulation: Simulation, history: Any, data: PhaseData) -> Phase:  # noqa: ARG002 - offered to all
        """The same policy again."""
        history.phase += 1
        return Phase(history.phase, history.policy, data, history.policy)

    def phases(self, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
        """One Phase after the other."""
        return in_phases(self, simulation, num_steps)
