"""Machines that wear: when to stop one for repair."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from aapi.checks import at_least
from aapi.environments.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.array_types import Integers
    from aapi.mdp import FiniteMDP

Wear: TypeAlias = tuple[int, ...]

WEARS, FAILS = 0.3, 0.05  # a day's probability of wearing by one level; of failing at the highest level before
REPAIR, REPLACE = 1.0, 8.0


def maintenance(num_levels: int = 10, num_machines: int = 1) -> FiniteMDP:
    """A crew may repair one machine a day, which earns nothing then and is as new the day after.

    A machine at level w = 0 … num_levels − 1 earns 1 − (w/(num_levels − 1))² a day, nothing at the last one: failed. It
    fails with probability .05 · w/(num_levels − 2), and else wears by one level with .3. A repair costs 1, and 8 if the
    machine has failed.

    Communicating, not ergodic: machines that are never repaired fail.
    """
    at_least(3, num_levels=num_levels)
    at_least(1, num_machines=num_machines)
    last = num_levels - 1

    def tomorrow(wear: int) -> list[tuple[float, int]]:
        if wear == last:
            return [(1.0, last)]
        fails = FAILS * wear / (last - 1)
        wears = (1.0 - fails) * WEARS
        return [(fails, last), (wears, wear + 1), (1.0 - fails - wears, wear)]

    def outcomes(wear: Wear, action: int) -> Iterator[tuple[float, Wear, float]]:
        reward = sum(1.0 - (w / last) ** 2 for i, w in enumerate(wear) if i != action - 1)
        if action:
            reward -= REPLACE if wear[action - 1] == last else REPAIR
        days = [[(1.0, 0)] if i == action - 1 else tomorrow(w) for i, w in enumerate(wear)]
        for together in itertools.product(*days):
            chance = 1.0
            for each, _ in together:
                chance *= each
            yield chance, tuple(level for _, level in together), reward

    actions = ["run", *(["repair"] if num_machines == 1 else [f"repair {i + 1}" for i in range(num_machines)])]
    states: list[Wear] = list(itertools.product(range(num_levels), repeat=num_machines))
    return tabulate(
        states, actions, outcomes, start=states[0], coordinates=states,
        names=lambda x: ", ".join("failed" if w == last else f"worn {w}" for w in x),
    )  # fmt: skip


def maintenance_rules(mdp: FiniteMDP) -> dict[str, Integers]:
    """The best control limit: the machine that is worn most is repaired at that level or above. All are evaluated."""
    from aapi.mdp import policy_values

    wear = cast("Integers", mdp.coordinates)  # which the models of this file have
    worst, which = wear.max(axis=1), wear.argmax(axis=1) + 1

    def gain(limit: int) -> float:
        return float(policy_values(mdp, np.where(worst >= limit, which, 0)).gains[mdp.initial_state])

    best = max(range(1, int(worst.max()) + 2), key=gain)  # the last of them: never
    return {f"control limit {best}": np.where(worst >= best, which, 0)}
