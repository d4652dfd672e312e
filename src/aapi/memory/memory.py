"""What is remembered of past phases, for the parts that look further back than the last one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from aapi.errors import InvalidInput
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from aapi.approximation import Array, Policy, QSpace
    from aapi.approximation.projected_equations import Equations
    from aapi.simulation import PhaseData


class Memory(ABC):
    """D_1 … D_k of a batch of runs, or what is kept of them. Its size does not grow with time."""

    @abstractmethod
    def add(self, data: PhaseData, policy: Policy) -> Memory:
        """The memory with what happened under a policy in it. It may use the room of the one before."""

    def check_steps(self, steps: int) -> None:  # noqa: ARG002 - for those that count
        """Raise an error if it can be told that this, which was stored, is not of so many steps."""
        return  # sums and windows do not count them


class LinearMemory(Memory):
    """A memory from which LSTD-Q(λ) can be solved."""

    @abstractmethod
    def equations(self, policy: Policy, trace: float) -> Iterator[Equations]:
        """The projected equations of a policy, run by run."""


M = TypeVar("M", bound=Memory)
Kept = TypeVar("Kept", bound=Memory, covariant=True)


class MemorySpec(ABC, Generic[Kept]):
    """What a part wants to be remembered. Parts with equal specs share one memory; so a spec is a frozen dataclass."""

    @abstractmethod
    def start(self, space: QSpace, runs: int) -> Kept:
        """An empty memory."""


Memories = dict[MemorySpec[Memory], Memory]


def empty_memories(specs: Iterable[MemorySpec[Memory] | None], space: QSpace, runs: int) -> Memories:
    """An empty memory for each spec."""
    return {spec: spec.start(space, runs) for spec in specs if spec is not None}


def remember(memories: Memories, data: PhaseData, policy: Policy) -> Memories:
    """All memories with what happened under a policy in them."""
    return {spec: memory.add(data, policy) for spec, memory in memories.items()}


@kernel
def successor(states: Any, last_states: Any, t: Any) -> Any:
    """The number of the state after step t of a run, in `PhaseData.successors`, which need not be made."""
    after = t + last_states.size
    return int(states[after]) if after < states.size else int(last_states[after - states.size])


@dataclass(frozen=True, eq=False)
class Experience:
    """What an evaluation may look at: the phase that ended, what is remembered of all, and how Q-functions are held.

    near: a Q-function that may be near the one sought, such as the prediction of it, for methods that improve on one.
    """

    space: QSpace
    data: PhaseData
    memories: Mapping[MemorySpec[Memory], Memory]
    near: Array | None = None

    @property
    def guess(self) -> Array:
        """Where an iterative method begins: near the Q-function sought, or at 0."""
        return self.space.zeros(self.runs) if self.near is None else self.near

    @property
    def runs(self) -> int:
        """How many there are in the batch."""
        return len(self.data.rewards)

    def recall(self, spec: MemorySpec[M]) -> M:
        """The memory of a spec."""
        if spec not in self.memories:
            raise InvalidInput(
                f"{spec!r} was not remembered: an evaluation that needs it is a subclass of aapi.evaluation.Evaluation "
                "with that as its `memory`"
            )
        return cast("M", self.memories[spec])
