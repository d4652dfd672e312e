"""`aapi solve`: the exact optimum of a finite problem."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from aapi.cli.pictures import solution_picture
from aapi.cli.problems import add_problem_arguments, read_problem
from aapi.cli.text import plural, print_facts, print_picture
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.progress import showing_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.mdp import FiniteMDP, Solution

__all__ = ["add_command"]

EXAMPLES = """examples:
  aapi solve ergodic --states 10 --actions 2
  aapi solve deep-sea --size 20
  aapi solve ergodic --states 5 --measures       also worst mixing time, mismatch and diameter
  aapi solve model.npz --json                    a file with the arrays transitions and rewards
"""


def add_command(commands: Any) -> None:
    """Add `solve` to the command line."""
    command = commands.add_parser(
        "solve",
        help="optimal gain and policy of a finite problem, certified",
        description="Solve a finite problem exactly: optimal average reward, policy, bias, and how its chain mixes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_problem_arguments(command)
    command.add_argument("--measures", action="store_true", help="also how hard the model is, over all its policies")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Solve and print."""
    from aapi.mdp import FiniteMDP, solve

    mdp = read_problem(options)
    if not isinstance(mdp, FiniteMDP):
        raise InvalidInput(f"{options.problem} has no finite model to solve: learn it with aapi run {options.problem}")
    solution = solve(mdp)
    facts = describe(mdp, solution)
    if options.measures:
        with showing_progress(not options.json and sys.stderr.isatty()):
            facts |= measure(mdp, solution)
    if options.json:
        print(json.dumps(facts, allow_nan=False))
    else:
        show(options.problem, mdp, facts)
        print_picture(solution_picture(mdp, solution))


def describe(mdp: FiniteMDP, solution: Solution) -> dict[str, Any]:
    """What `--json` prints."""
    chain = solution.values.chain
    return {
        "states": mdp.num_states,
        "actions": mdp.num_actions,
        **_if_exists("gain", lambda: _one_or_all(solution.gains)),
        "gain_lower": _one_or_all(solution.gains_lower),
        "gain_upper": _one_or_all(solution.gains_upper),
        "policy": solution.policy.tolist(),
        "bias_span": solution.bias_span,
        "recurrent_classes": [states.tolist() for states in chain.recurrent_classes],
        "period": chain.period,
        **_if_exists("mixing_time", lambda: chain.mixing_time),
    }


def measure(mdp: FiniteMDP, solution: Solution) -> dict[str, Any]:
    """What `--measures` adds."""
    from aapi.mdp import diameter, mismatch, optimal_mismatch, worst_mixing_time

    facts = {
        **_if_exists("mismatch", lambda: mismatch(mdp)),
        **_if_exists("mismatch_optimal", lambda: optimal_mismatch(solution)),
        **_if_exists("diameter", lambda: diameter(mdp)),
    }
    try:
        worst = worst_mixing_time(mdp)
    except (DoesNotExist, TooLarge) as error:
        return facts | {"worst_mixing_time": None, "worst_mixing_time_reason": str(error)}
    return facts | {"worst_mixing_time": worst.time, "worst_mixing_time_exact": worst.exact}


def _if_exists(name: str, compute: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {name: compute()}
    except (DoesNotExist, TooLarge) as error:
        return {name: None, f"{name}_reason": str(error)}


def _one_or_all(values: Any) -> Any:
    return float(values[0]) if (values == values[0]).all() else values.tolist()


def show(title: str, mdp: FiniteMDP, facts: dict[str, Any]) -> None:
    """Print the table for people."""
    size = f"{plural(mdp.num_states, 'state')}, {plural(mdp.num_actions, 'action')}"
    print_facts(title, f": {size}", _lines(mdp, facts))


def _lines(mdp: FiniteMDP, facts: dict[str, Any]) -> list[tuple[str, str]]:
    gain, lower, upper = facts["gain"], facts["gain_lower"], facts["gain_upper"]
    if isinstance(gain, list):
        width = max(u - low for low, u in zip(lower, upper, strict=True))
        spread = f"{min(gain):.12g} to {max(gain):.12g}, by state (all with --json)"
        lines = [("optimal gain", spread), ("certificate", f"within {width:.1e} in every state")]
    else:
        lines = [("optimal gain", _value(facts, "gain", 12)), ("certificate", f"[{lower:.15g}, {upper:.15g}]")]
    classes = facts["recurrent_classes"]
    sizes = ", ".join(str(len(states)) for states in classes[:6]) + (", …" if len(classes) > 6 else "")
    lines += [
        ("optimal policy", _policy(facts["policy"], mdp.action_names)),
        ("span of the bias", f"{facts['bias_span']:.6g}"),
        ("recurrent classes", f"{len(classes)}, of {sizes} state{'' if sizes == '1' else 's'}"),
        ("period", str(facts["period"])),
        ("mixing time", _value(facts, "mixing_time")),
    ]
    if "mismatch" in facts:
        exact = facts.get("worst_mixing_time_exact")
        bound = (
            "" if exact is None else ", over all deterministic policies" if exact else ", a lower bound from a search"
        )
        lines += [
            ("worst mixing time", _value(facts, "worst_mixing_time") + bound),
            ("mismatch ρ", _value(facts, "mismatch") + (" over all policies" if facts["mismatch"] else "")),
            ("", _value(facts, "mismatch_optimal") + (" for the optimal policy" if facts["mismatch_optimal"] else "")),
            ("diameter", _value(facts, "diameter")),
        ]
    return lines


def _value(facts: dict[str, Any], name: str, digits: int = 6) -> str:
    value = facts[name]
    if value is None:
        return str(facts[f"{name}_reason"])
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _policy(policy: list[int], names: tuple[str, ...] | None) -> str:
    """The states of each action, as ranges."""
    parts = []
    for action in sorted(set(policy)):
        states = [state for state, chosen in enumerate(policy) if chosen == action]
        ranges: list[list[int]] = []
        for state in states:
            if ranges and state == ranges[-1][1] + 1:
                ranges[-1][1] = state
            else:
                ranges.append([state, state])
        shown = [str(a) if a == b else f"{a}–{b}" for a, b in ranges]
        text = ", ".join(shown if len(shown) <= 8 else [*shown[:7], "…"])
        parts.append(f"{names[action] if names else f'action {action}'} in {text}")
    return "; ".join(parts if len(parts) <= 6 else [*parts[:6], "…"])
