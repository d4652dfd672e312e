"""The windy gridworld of Sutton and Barto, Reinforcement Learning (2018), example 6.5, without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import finite
from aapi.environments.grid import grid_model
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

WIND = (0, 0, 0, 1, 1, 1, 2, 2, 1, 0)
MAP = (*3 * ("..........",), "S......G..", *3 * ("..........",))


def windy_grid(num_actions: int = 4, slip: float = 0.0) -> FiniteMDP:
    """A map of 7 × 10 cells in which columns blow upwards. The goal pays 1 and leads back to the start.

    num_actions: 4, or 8 with diagonal moves. slip: the probability of a move drawn evenly from all.

    λ_* = 1/16 with four actions and 1/8 with eight, if no move slips: the ways of 15 and 7 steps, and back.
    """
    if num_actions not in (4, 8):
        raise InvalidInput(f"num_actions must be 4 or 8, not {num_actions}")
    finite(0.0, slip=slip)
    if slip >= 1.0:
        raise InvalidInput(f"slip must be below 1, not {slip}")
    return grid_model(MAP, slip=slip, wind=WIND, kings=num_actions == 8)
