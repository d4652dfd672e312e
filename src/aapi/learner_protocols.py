"""What some learners and evaluations have beyond their interface; `isinstance` tells which of them do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from aapi.evaluation import Evaluation
    from aapi.exploration import Exploration
    from aapi.schedules import Schedule

__all__ = ["HasEvaluation", "HasExploration", "HasHorizon", "HasPhaseLength"]


@runtime_checkable
class HasPhaseLength(Protocol):
    """A learner that acts in phases of τ steps, or of the lengths of a schedule."""

    @property
    def phase_length(self) -> int | Schedule:
        """The length of a phase in steps, or the schedule of lengths."""


@runtime_checkable
class HasEvaluation(Protocol):
    """A learner that evaluates its policies, the paper's G."""

    @property
    def evaluate(self) -> Evaluation:
        """The evaluation."""


@runtime_checkable
class HasExploration(Protocol):
    """A learner that can explore between phases."""

    @property
    def exploration(self) -> tuple[Exploration, ...]:
        """The parts that are asked in turn whether to explore; empty for none."""


@runtime_checkable
class HasHorizon(Protocol):
    """An evaluation by returns of a fixed length."""

    @property
    def horizon(self) -> int:
        """The length of returns in steps."""
