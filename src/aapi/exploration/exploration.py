"""What an exploration is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aapi.checks import as_part, at_least
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.array_types import Array, Integers, Mask, Streams
    from aapi.exploration.survey import Survey
    from aapi.memory import Counts, Memories, Memory, MemorySpec

    ExplorationLike: TypeAlias = "Exploration | Callable[[Situation], Excursion | None]"
    Explorations: TypeAlias = "ExplorationLike | tuple[ExplorationLike, ...]"  # one part, or several, or none


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known before a phase. counts: all transitions so far. explored: steps spent on exploration, (runs,).

    free: the runs that no other part has sent out, (runs,). streams: random streams, (runs, 4).
    memories: what parts want to be remembered. survey: what plans of the first run have found, for parts that are not
    in lockstep.
    """

    counts: Counts
    explored: Integers
    free: Mask
    streams: Streams
    memories: Memories
    survey: Survey


@dataclass(frozen=True, eq=False)
class Excursion:
    """What some runs do before the next phase. runs: which, (runs,). policies: theirs, (runs, states, actions).

    steps: how long; None for the usual length. limits: end as soon as some pair was visited so often, (runs, states,
    actions). Both are for an `Exploration` that is not in lockstep.
    priced: what it loses is noted (`Outlook.lost`). compared: what it loses beyond what phases lose is noted
    (`Outlook.excess`).
    """

    runs: Mask
    policies: Array
    steps: int | None = None
    limits: Integers | None = None
    priced: bool = False
    compared: bool = False


def checked(out: object, shape: tuple[int, ...]) -> Excursion:
    """An excursion as kernels need it, which check nothing, for tables of this shape, (runs, states, actions)."""
    if not isinstance(out, Excursion):
        raise InvalidInput(f"an exploration returns an Excursion or None, not {type(out).__name__}")
    runs, policies = np.asarray(out.runs), np.asarray(out.policies)
    kinds = runs.dtype.kind == "b" and policies.dtype.kind in "iuf"
    sound = kinds and (runs.shape, policies.shape) == (shape[:1], shape)
    limits = None if out.limits is None else np.asarray(out.limits)
    if limits is not None:
        sound = sound and limits.shape == shape and limits.dtype.kind in "iu" and bool(limits.min() >= 1)
    if not sound:
        raise InvalidInput(
            f"an excursion has {shape[0]} truth values as `runs`, `policies` of shape {shape}, and, if it has limits, "
            "whole numbers of at least 1 of that shape"
        )
    if out.steps is not None:
        at_least(1, **{"the steps of an excursion": out.steps})
    whole = None if limits is None else limits.astype(np.int64)
    return Excursion(runs, policies.astype(np.float64), out.steps, whole, bool(out.priced), bool(out.compared))


class Exploration:
    """Decides, before each phase but the first and for each run by itself, whether and how a run explores.

    What is seen is remembered, and the sums of Algorithm 1 are left alone. One of yours needs `__call__` alone; a
    function will do.
    lockstep: whether all stretches have the usual length, so that runs can be simulated side by side; if not, each run
        is simulated alone.
    memory: what it wants to be remembered beside the counts of transitions. again: it is asked after every exploration,
        too, and not only after a phase.
    """

    memory: MemorySpec[Memory] | None = None
    again: bool = False

    @property
    def lockstep(self) -> bool:
        """True unless a subclass says otherwise."""
        return True

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, situation: Situation) -> Excursion | None:
        """What those of the `free` runs do that ought to explore; None if no run ought to."""
        raise NotImplementedError


def as_exploration(part: ExplorationLike) -> Exploration:
    """An exploration, or a function as one, whose excursions may be of any length; or an error."""
    return as_part(part, Exploration, "exploration", "of parts such as Discovery()", lockstep=False)


def sent_out(runs: Integers, policies: Array) -> Excursion:
    """An excursion of the usual length for the runs of these numbers."""
    mask = np.zeros(len(policies), dtype=bool)
    mask[runs] = True
    return Excursion(mask, policies)
