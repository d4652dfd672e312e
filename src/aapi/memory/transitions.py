"""All past transitions where states can be counted, the last ones elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aapi.memory.counts import Counts, CountTransitions
from aapi.memory.memory import MemorySpec
from aapi.memory.window import KeepSteps, Window

if TYPE_CHECKING:
    from aapi.approximation import QSpace


@dataclass(frozen=True)
class KeepTransitions(MemorySpec[Counts | Window]):
    """Counts of all transitions, which take bounded room, or the last `count` steps."""

    count: int

    def start(self, space: QSpace, runs: int) -> Counts | Window:
        """No transition yet."""
        return CountTransitions().start(space, runs) if space.countable else KeepSteps(self.count).start(space, runs)
