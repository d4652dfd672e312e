"""How long phases are; and how step sizes fall."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from aapi.checks import as_part, at_least, finite
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.approximation import QSpace

    ScheduleLike: TypeAlias = "int | Schedule | Callable[[int, int, QSpace], int]"
    DecayLike: TypeAlias = "float | str | Decay"


class Schedule:
    """The lengths of phases, the same in all runs. A phase counts in Algorithm 1's sums in proportion to its length.

    One of yours needs `__call__` alone; a function will do.
    """

    @property
    def shortest_phase(self) -> int | None:
        """No phase is shorter; None if that is not known."""
        return None

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    def __call__(self, phase: int, time: int, space: QSpace) -> int:
        """The length of a phase, counted from 1, that begins after `time` steps."""
        raise NotImplementedError

    def steps(self, phase: int, time: int, space: QSpace) -> int:
        """The length of a phase, checked."""
        steps = self(phase, time, space)
        if not (type(steps) is int and steps >= 1):
            at_least(1, **{f"the length of phase {phase}": steps})
        return int(steps)

    def weight(self, phase: int, time: int, space: QSpace) -> float:
        """What a phase counts, its length as a multiple of the first one's: τ_k/τ_1."""
        return self.steps(phase, time, space) / self.steps(1, 0, space)

    def count(self, num_steps: int, space: QSpace, gap: int) -> int:
        """How many whole phases there are in so many steps, if `gap` steps lie between them."""
        phases, time = 0, 0
        while True:
            time += self.steps(phases + 1, time, space)
            if time > num_steps:
                return phases
            phases, time = phases + 1, time + gap


@dataclass(frozen=True)
class Constant(Schedule):
    """Phases of τ steps."""

    length: int

    def check(self) -> None:
        """No phase may be empty."""
        at_least(1, phase_length=self.length)

    @property
    def shortest_phase(self) -> int:
        """τ."""
        return int(self.length)

    def __call__(self, phase: int, time: int, space: QSpace) -> int:
        """τ."""
        return int(self.length)

    def weight(self, phase: int, time: int, space: QSpace) -> float:
        """All are of one length."""
        return 1.0

    def count(self, num_steps: int, space: QSpace, gap: int) -> int:
        """⌊(T + gap)/(τ + gap)⌋."""
        return int((num_steps + gap) // (self.length + gap))


def as_schedule(part: ScheduleLike) -> Schedule:
    """A schedule, one length for all phases, or a function as a schedule; or an error."""
    if isinstance(part, numbers.Real):
        return Constant(cast("int", part))
    return as_part(part, Schedule, "phase_length", "a whole number or a schedule such as Growing()")


@dataclass(frozen=True)
class Decay:
    """start/n^power at the n-th time: a step size, or an ε. `Decay.of("0.5/n^0.7")` is Decay(0.5, 0.7)."""

    start: float
    power: float = 0.0

    def __str__(self) -> str:
        by = {0.0: "", 1.0: "/n"}.get(self.power, f"/n^{self.power:g}")
        return f"{self.start:g}{by}"

    @staticmethod
    def of(given: DecayLike, name: str = "a rate") -> Decay:
        """A number, or a text such as 0.5/n or 0.5/n^0.7, as a Decay; or an error."""
        if isinstance(given, Decay):
            return given
        start, _, by = str(given).partition("/")
        try:
            if isinstance(given, bool) or (by and by[0] != "n") or (len(by) > 1 and by[1] != "^"):
                raise ValueError
            return Decay(float(start), float(by[2:]) if len(by) > 1 else float(bool(by)))
        except ValueError:
            raise InvalidInput(f"{name} must be a number, or one such as 0.5/n or 0.5/n^0.7, not {given!r}") from None

    def check(self, name: str, most: float | None = None) -> None:
        """No number may be negative, nor the first one larger than `most`."""
        for what, value in ((name, self.start), (f"the power in {name}", self.power)):
            finite(0.0, **{what: value})  # type: ignore[arg-type]
        if most is not None and self.start > most:
            raise InvalidInput(f"{name} must be at most {most:g}, not {self}")


@dataclass(frozen=True)
class Growing(Schedule):
    """On tables, phases of max(shortest, min(most, per_pair · pairs), root · √t) steps after t steps.

    Early policies are bad and are soon replaced; late ones are good, and their data is little beside all data.
    root None: share · t in place of root · √t. first: if given, in place of per_pair in the first phase.

    Where Q-functions have weights instead of tables, max(shortest, min(most, per_weight · weights), share · t), since
    regressions have the data of one phase. most: however large a table is, much of it may never be seen. Where a run
    goes round several copies of its environment, each but the first adds `shortest` steps: about as many returns end
    within the phase as with one copy.
    """

    shortest: int = 50
    per_pair: float = 0.02
    root: float | None = 1.0
    share: float = 0.02
    per_weight: float = 0.4
    most: int = 5000
    first: float | None = None

    @property
    def shortest_phase(self) -> int:
        """The shortest length, as it is given."""
        return int(self.shortest)

    def check(self) -> None:
        """No number may be negative, and no phase empty."""
        at_least(1, shortest=self.shortest, most=self.most)
        finite(0.0, per_pair=self.per_pair, share=self.share, per_weight=self.per_weight)
        finite(0.0, root=self.root or 0.0, first=self.first or 0.0)

    def __call__(self, phase: int, time: int, space: QSpace) -> int:
        """The length of a phase."""
        size, tables = space.rows * space.num_actions, space.countable
        grown = self.root * math.sqrt(time) if tables and self.root is not None else self.share * time
        each = self.first if phase == 1 and self.first is not None else self.per_pair
        steps = max(self.shortest, min(self.most, (each if tables else self.per_weight) * size), grown)
        return int(steps + self.shortest * (space.copies - 1))
