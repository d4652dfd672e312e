"""How long phases are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from aapi.checks import at_least, finite

__all__ = ["Growing", "Schedule"]


class Schedule(Protocol):
    """The lengths of phases, the same in all runs. A phase counts in Algorithm 1's sums in proportion to its length."""

    @property
    def shortest(self) -> int:
        """No phase is shorter."""

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, phase: int, time: int, size: int, tables: bool) -> int:
        """The length of a phase, counted from 1, that begins after `time` steps.

        size: of a Q-function, states · actions in a table; or, if not `tables`, features · actions.
        """


@dataclass(frozen=True)
class Growing:
    """Phases of max(shortest, min(most, per_pair · pairs), share · t) steps after t steps.

    In the first phase, `first` stands for per_pair: acting at random long enough to see most pairs. Early policies are
    bad and are soon replaced; late ones are good, and their data is little beside all data. So the number of phases
    grows as the logarithm of time, and with it the cost of all that is done between phases.

    Where Q-functions have weights instead of tables, it is per_weight · weights, in the first as well: regressions have
    the data of one phase. most: however large a table is, much of it may never be seen.
    """

    shortest: int = 50
    per_pair: float = 0.2
    share: float = 0.02
    first: float = 2.0
    per_weight: float = 0.4
    most: int = 5000

    def check(self) -> None:
        """No number may be negative, and no phase empty."""
        at_least(1, shortest=self.shortest, most=self.most)
        finite(0.0, per_pair=self.per_pair, share=self.share, first=self.first, per_weight=self.per_weight)

    def __call__(self, phase: int, time: int, size: int, tables: bool) -> int:
        """The length of a phase."""
        each = self.per_weight if not tables else self.first if phase == 1 else self.per_pair
        return int(max(self.shortest, min(self.most, each * size), self.share * time))
