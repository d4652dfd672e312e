"""The rules that people use for a problem, as policies to compare the optimum with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from aapi.errors import InvalidInput, did_you_mean
from aapi.registry.problems import make_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Integers
    from aapi.environments.queueing import CappedNetwork, IndexRule, Network
    from aapi.mdp import FiniteMDP
    from aapi.registry.problems import Problem, Sizes

Found = TypeVar("Found")

RULE_HELP = "and as long as the learner might lose too much: module:function, or a built-in one by name"
CRISS_CROSS = (1, None, None)  # where its jobs go
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


def network_rule(word: str, network: Network) -> IndexRule:
    """The rule of that name for a network: c-mu, maxweight, …; for criss-cross, also threshold-4 and other levels."""
    from aapi.environments.queueing import criss_cross_threshold, standard_rules

    level = re.fullmatch(r"threshold-(\d{1,9})", word)
    if level and network.routing == CRISS_CROSS:
        return criss_cross_threshold(network, int(level[1]))
    rules = {rule.name: rule for rule in standard_rules(network)}
    return _find(word, rules, "threshold-N, module:function" if network.routing == CRISS_CROSS else "module:function")


def problem_rule(word: str, name: str, problem: Problem, sizes: Sizes) -> Integers:
    """The rule of that name for a built-in problem: one action for each state."""
    from aapi.mdp import FiniteMDP

    capped = make_network(name, sizes)
    if capped is not None:
        return network_rule(word, capped.network)(capped.jobs())
    rules = rules_of(name, problem) if isinstance(problem, FiniteMDP) else {}
    return _find(word, rules, "module:function")


def _find(word: str, rules: Mapping[str, Found], others: str) -> Found:
    """The rule whose name in the command's letters is this word, or the only one that begins with it."""
    words, word = {_as_word(name): rule for name, rule in rules.items()}, _as_word(word)
    begin = [each for each in words if each == word] or [each for each in words if word and each.startswith(word)]
    if len(begin) != 1:
        raise InvalidInput(f"rule must be {', '.join([*words, others])}, not {word!r}{did_you_mean(word, words)}")
    return words[begin[0]]


def _as_word(name: str) -> str:
    return re.sub(r"[\s,]+", "-", name.strip().lower().replace("μ", "-mu"))
