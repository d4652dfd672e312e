"""What Algorithm 1 asks of a policy evaluation, the paper's G."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aapi.approximation.space import as_numbers
from aapi.checks import as_part
from aapi.errors import InvalidInput
from aapi.memory import empty_memories, remember
from aapi.memory.memory import Experience

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Integers
    from aapi.memory import Memory, MemorySpec
    from aapi.simulation import PhaseData

    EvaluationLike: TypeAlias = "Evaluation | Callable[[Policy, Experience], Array]"


@dataclass(frozen=True, eq=False)
class Estimate:
    """Q̂, of the space's shape; and of the equations behind it, where there are some, in every run:

    conditioning: an estimate of their condition number, (runs,); rank: how many of the features were linearly
    independent in the data, (runs,).
    """

    q_hat: Array
    conditioning: Array | None = None
    rank: Integers | None = None


class Evaluation:
    """G: an estimate of Q_π for every run of a batch. One of yours needs `__call__` alone; a function will do.

    memory: what it wants to be remembered of phases before the last; it is there by `seen.recall(self.memory)`.
    off_policy: whether it can evaluate any policy, not only the one that made the data.
    """

    @property
    def memory(self) -> MemorySpec[Memory] | None:
        """None: the last phase is enough."""
        return None

    off_policy: bool = False

    @property
    def shortest_phase(self) -> int:
        """No phase that it evaluates may be shorter."""
        return 1

    def check(self, phase_length: int) -> None:
        """Raise an error if an argument is wrong, or phases of this length cannot be evaluated."""

    def for_space(self, space: QSpace) -> Evaluation:
        """The evaluation to use where Q-functions are held like this; or an error if there is none."""
        return self

    def __call__(self, policy: Policy, seen: Experience) -> Estimate | Array:
        """Q̂ of a policy, an array of the shape `seen.space.shape(seen.runs)`, or an `Estimate`.

        policy: that which acted in `seen.data`; or, if `off_policy`, any.
        """
        raise NotImplementedError

    def estimate(self, policy: Policy, seen: Experience, what: str = "an evaluation") -> Estimate:
        """What `__call__` returns, checked: kernels check nothing."""
        found = self(policy, seen)
        whole = found if isinstance(found, Estimate) else Estimate(found)
        q_hat = seen.space.check(whole.q_hat, seen.runs, what).copy()  # it may use its array again
        conditioning = _check_per_run(whole.conditioning, seen.runs, f"as its conditioning, {what}")
        rank = _check_per_run(whole.rank, seen.runs, f"as its rank, {what}")
        return Estimate(q_hat, conditioning, None if rank is None else rank.astype(np.int64))


def _check_per_run(values: object, runs: int, what: str) -> Array | None:
    """What an evaluation says of each run, (runs,), if anything; or an error."""
    if values is None:
        return None
    array = as_numbers(values, what)
    if array.shape != (runs,):
        raise InvalidInput(f"{what} must return a number for each of {runs} runs, not an array of shape {array.shape}")
    return array


def as_evaluation(part: EvaluationLike) -> Evaluation:
    """An evaluation, or a function as one; or an error."""
    return as_part(part, Evaluation, "evaluate", "an evaluation such as SelfConsistent()")


def estimate(evaluate: EvaluationLike, space: QSpace, policy: Policy, data: PhaseData) -> Estimate:
    """Q̂ from one phase, without a past."""
    part = as_evaluation(evaluate).for_space(space)
    memories = remember(empty_memories([part.memory], space, len(data.rewards)), data, policy)
    return part.estimate(policy, Experience(space, data, memories))
