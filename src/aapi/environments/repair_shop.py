"""The repairman's problem: several machines that break, and one who mends them one by one (Palm 1958)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.mdp import FiniteMDP

Broken: TypeAlias = tuple[int, ...]  # 1 for each machine that is

BREAKS, MENDED = 0.4, (0.6, 0.2)  # all machines together; those with odd and with even numbers


def repair_shop(num_machines: int = 6) -> FiniteMDP:
    """Choose which machine the repairman works on; he may leave it before he is done, and nothing is lost.

    Machine i = 1 … n earns i a step while it runs. A step is one event: each running machine breaks with probability
    .4/n; the one worked on runs again with .6 if i is odd, .2 if it is even, and work on a running one is idle.

    Unichain, not ergodic: machines on which nobody works stay broken.
    """
    at_least(2, num_machines=num_machines)
    breaks = BREAKS / num_machines

    def outcomes(broken: Broken, action: int) -> Iterator[tuple[float, Broken, float]]:
        earned = float(sum(i for i, is_broken in enumerate(broken, 1) if not is_broken))
        nothing = 1.0
        for i, is_broken in enumerate(broken):
            chance = breaks if not is_broken else MENDED[i % 2] if i == action else 0.0
            if chance:
                yield chance, (*broken[:i], 1 - is_broken, *broken[i + 1 :]), earned
            nothing -= chance
        yield nothing, broken, earned

    states: list[Broken] = list(itertools.product(range(2), repeat=num_machines))
    return tabulate(
        states, [f"mend {i + 1}" for i in range(num_machines)], outcomes, start=states[0], coordinates=states,
        names=lambda x: "broken: " + (", ".join(str(i) for i, is_broken in enumerate(x, 1) if is_broken) or "none"),
    )  # fmt: skip
