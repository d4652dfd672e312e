"""The rules that people use for a problem, as policies to compare the optimum with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Integers
    from aapi.mdp import FiniteMDP

# The functions of aapi.environments that take a model and return rules by name: one action for each state.
RULES = {
    "inventory": "inventory_rules",
    "maintenance": "maintenance_rules",
    "car-rental": "car_rental_rules",
    "catch": "catch_rules",
    "windy-catch": "windy_catch_rules",
}


def rules_of(name: str, mdp: FiniteMDP) -> Mapping[str, Integers]:
    """The rules for the problem of that name, none if it has none; their parameters are the best for this model."""
    from aapi import environments

    if name not in RULES:
        return {}
    rules: Mapping[str, Integers] = vars(environments)[RULES[name]](mdp)
    return rules
