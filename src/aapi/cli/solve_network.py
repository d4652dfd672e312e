"""`aapi solve` for queueing networks: by events, without matrices, with what the cap costs and what rules earn."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from aapi.cli.text import plural, print_table
from aapi.progress import showing_progress

if TYPE_CHECKING:
    import argparse

    from aapi.environments.queueing import CapCost, CappedNetwork
    from aapi.json_types import JsonObject
    from aapi.mdp import EventSolution

SMALL = 100_000  # states: up to here, gains are as accurate as from matrices, and policies are listed
# The accuracy of gains, of what the cap costs, and of what rules earn, of small and of large models; in large ones,
# rules are simulated.
ACCURACY = (4e-10, 1e-6, 1e-6), (2e-5, 1e-3, None)
WITHOUT_MATRICES = "a network is solved by events, without matrices: ask for --measures"


def solve_network(options: argparse.Namespace, capped: CappedNetwork) -> None:
    """Solve, evaluate rules, and print."""
    from aapi.environments.queueing import cap_cost
    from aapi.mdp import solve_events
    from aapi.registry.rules import network_rules

    exact, bound, rule = ACCURACY[capped.num_states > SMALL]
    start = time.perf_counter()
    with showing_progress(not options.json and sys.stderr.isatty()):
        solution = solve_events(capped.event_model(), exact)
        cost = cap_cost(capped, solution.policy, solution.lower, solution.upper, bound)
        rules = network_rules(options.problem, capped, rule)
    summary = _summary(capped, solution, cost) | {"rules": {name: gain for name, (gain, _) in rules.items()}}
    if rule is None:
        summary["rules_half_widths"] = {name: half_width for name, (_, half_width) in rules.items()}
    if options.json:
        print(json.dumps(summary, allow_nan=False))
        return
    seconds = time.perf_counter() - start
    title = f": {plural(capped.num_states, 'state')}, {plural(capped.network.num_actions, 'action')}"
    print_table(options.problem, title, _rows(capped, solution, cost, rules, seconds))


def _summary(capped: CappedNetwork, solution: EventSolution, cost: CapCost) -> JsonObject:
    small = capped.num_states <= SMALL
    missing: JsonObject = {"policy_reason": f"not listed for more than {SMALL} states"}
    return {
        "states": capped.num_states,
        "actions": capped.network.num_actions,
        "caps": list(capped.caps),
        "gain": solution.gain,
        "gain_lower": solution.lower,
        "gain_upper": solution.upper,
        "uncapped_gain_lower": cost.gain_lower,
        "uncapped_gain_upper": cost.gain_upper,
        **({"uncapped_reason": cost.reason} if cost.reason else {}),
        "time_at_cap": cost.at_cap,
        "policy": solution.policy.tolist() if small else None,
        **({} if small else missing),
        "bias_span": float(solution.bias.max() - solution.bias.min()),
        "recurrent_classes": None,
        "recurrent_classes_reason": WITHOUT_MATRICES,
        "period": None,
        "period_reason": WITHOUT_MATRICES,
        "mixing_time": None,
        "mixing_time_reason": WITHOUT_MATRICES,
    }


def _rows(
    capped: CappedNetwork, solution: EventSolution, cost: CapCost, rules: dict[str, tuple[float, float]], seconds: float
) -> list[tuple[str, str]]:
    room = ", ".join(map(str, sorted(set(capped.caps))))
    rows = [
        ("optimal gain", f"{solution.gain:.9g}, with room for {room} jobs of each class"),
        ("certificate", f"[{solution.lower:.12g}, {solution.upper:.12g}]"),
        ("without caps", _proven(cost.gain_lower, cost.gain_upper)),
        *([("", cost.reason)] if cost.reason else []),
        ("time at a cap", f"{cost.at_cap:.2g} of it"),
        *(("rule", f"{name}: {_gain(*found, capped)}") for name, found in rules.items()),
        ("span of the bias", f"{float(solution.bias.max() - solution.bias.min()):.6g}"),
        ("solved", f"by events, without matrices: {solution.evaluations} policies, {seconds:.1f} s in all"),
    ]
    return [(name, text) for name, text in rows if text]


def _proven(lower: float | None, upper: float | None) -> str:
    if lower is None:
        return "nothing is proven" if upper is None else f"at most {upper:.9g}, proven"
    return f"at least {lower:.9g}, proven" if upper is None else f"between {lower:.9g} and {upper:.9g}, proven"


def _gain(gain: float, half_width: float, capped: CappedNetwork) -> str:
    """What a rule earns: exactly, or simulated."""
    return f"{gain:.6g}" if capped.num_states <= SMALL else f"{gain:.4g} ± {half_width:.2g}, simulated without caps"
