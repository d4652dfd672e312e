"""The rules that people use for a problem, as policies to compare the optimum with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Integers
    from aapi.environments.queueing import CappedNetwork, IndexRule
    from aapi.mdp import FiniteMDP

# The functions of aapi.environments that take a model and return rules by name: one action for each state.
RULES = {
    "admission": "admission_rules",
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


def network_rules(name: str, capped: CappedNetwork, accuracy: float) -> dict[str, float]:
    """The gains of the rules for a network, in its capped model, up to ± accuracy; of criss-cross, also a threshold."""
    from aapi.environments.queueing import best_threshold, standard_rules
    from aapi.mdp import solve_events

    jobs = capped.jobs()

    def gain(rule: IndexRule) -> float:
        return solve_events(capped.under(rule(jobs)), accuracy).gain

    gains = {rule.name: gain(rule) for rule in standard_rules(capped.network)}
    if name == "criss-cross":
        best, earned = best_threshold(capped.network, gain)
        gains[best.name] = earned
    return gains
