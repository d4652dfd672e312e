"""The tables of docs/operations.md on the criss-cross network: optima, what caps cost, rules, and published numbers."""

from __future__ import annotations

import math

from aapi.environments.queueing import cap_cost, criss_cross_network
from aapi.mdp import solve_events
from aapi.registry.rules import network_rules

# Average numbers of jobs on the criss-cross network: Dai and Gluzman (2022), of an optimal policy, a threshold policy,
# the robust fluid policy, and PPO after 200 × 50 × 5,000 regenerative cycles.
PUBLISHED = {
    "IL": (0.671, 0.679, 0.677, 0.671),
    "BL": (0.843, 0.857, 0.855, 0.844),
    "IM": (2.084, 2.129, 2.133, 2.084),
    "BM": (2.829, 2.895, 2.920, 2.833),
}


def solved():
    """The networks by regime, with their solutions, bounds and rules."""
    return {regime: _network(regime) for regime in PUBLISHED}


def table_lines(head, lines):
    """A table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(line)} |"


def percent(share):
    """For readers."""
    return f"{100 * share:.1f} %"


def between(lower, upper):
    """Both bounds, rounded outwards."""
    return f"{math.floor(1e7 * lower) / 1e7:.7f} to {math.ceil(1e7 * upper) / 1e7:.7f}"


def _network(regime):
    """The network with the default caps: solution, what the caps cost, and rules."""
    capped = criss_cross_network(regime)
    solution = solve_events(capped.event_model(), 4e-10)
    cost = cap_cost(capped, solution.policy, solution.lower, solution.upper)
    return {"capped": capped, "solution": solution, "cost": cost, "rules": network_rules("criss-cross", capped, 1e-6)}


def bounds(networks):
    """Optima, with room for so many jobs and without caps."""
    lines = []
    for regime, each in networks.items():
        capped, solution, cost = each["capped"], each["solution"], each["cost"]
        arrivals, second = capped.network.arrivals[0], capped.network.stations[1][0][1]
        lines.append([
            regime, f"{arrivals:g}", f"{second:g}", str(capped.caps[0]), f"{capped.num_states:,}",
            f"{-solution.gain:.7f} ± {0.5 * (solution.upper - solution.lower):.0e}",
            between(-cost.gain_upper, -cost.gain_lower), f"{cost.at_cap:.0e}",
        ])  # fmt: skip
    head = ("regime", "λ", "μ₂", "cap", "states", "optimal jobs, capped", "without caps", "time at a cap")
    yield from table_lines(head, lines)


def _best_threshold(each):
    return next((name, gain) for name, gain in each["rules"].items() if name.startswith("threshold"))


def beside_published(networks):
    """Ours beside those of the paper; jobs."""
    lines = []
    for regime, each in networks.items():
        optimum, threshold, fluid, ppo = PUBLISHED[regime]
        name, earned = _best_threshold(each)
        others = [f"{-each['rules'][rule]:.4f}" for rule in ("cμ", "MaxWeight", "longest queue")]
        lines.append([
            regime, f"{-each['solution'].gain:.4f}", f"{optimum:.3f}", f"{-earned:.4f} ({name.split()[-1]})",
            f"{threshold:.3f}", *others, f"{fluid:.3f}", f"{ppo:.3f}",
        ])  # fmt: skip
    head = (
        "regime", "optimum", "published", "best threshold (its level)", "published", "cμ", "MaxWeight",
        "longest queue", "robust fluid, published", "PPO, published",
    )  # fmt: skip
    yield from table_lines(head, lines)


def verdict(networks):
    """How far ours are from published numbers."""
    optimum = max(abs(-each["solution"].gain - PUBLISHED[regime][0]) for regime, each in networks.items())
    shares = [1.0 + _best_threshold(each)[1] / PUBLISHED[regime][1] for regime, each in networks.items()]
    return (
        f"Our optima differ from the published ones by at most {optimum:.4f}; those have three "
        f"decimals. Our best thresholds have {percent(min(shares))} to {percent(max(shares))} fewer jobs than the "
        "published ones."
    )
