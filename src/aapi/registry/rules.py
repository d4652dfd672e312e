"""The rules that people use for a problem, as policies to compare the optimum with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Integers
    from aapi.environments.queueing import CappedNetwork, IndexRule
    from aapi.mdp import FiniteMDP

EVENTS = 30_000_000  # that rules are simulated for
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


def network_rules(name: str, capped: CappedNetwork, accuracy: float | None) -> dict[str, tuple[float, float]]:
    """The gains of the rules for a network, and ± of each; of criss-cross, also of the best threshold.

    Exact up to ± accuracy in the capped model; if accuracy is None, simulated without caps, with the same random
    numbers for all, and ± half of the interval of 95 %.
    """
    from aapi.environments.queueing import best_threshold, simulate, standard_rules
    from aapi.mdp import solve_events

    def gain(rule: IndexRule) -> tuple[float, float]:
        if accuracy is None:
            simulated = simulate(capped.network, rule, EVENTS)
            return -simulated.mean, simulated.half_width
        return solve_events(capped.under(rule(capped.jobs())), accuracy).gain, accuracy

    rules = [*standard_rules(capped.network)]
    if name == "criss-cross":
        rules.append(best_threshold(capped.network, lambda rule: gain(rule)[0])[0])
    return {rule.name: gain(rule) for rule in rules}
