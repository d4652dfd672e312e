"""`aapi solve`: the exact optimum of a finite problem."""

from __future__ import annotations

import itertools
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli import arguments
from aapi.cli.parser import add_command, add_json
from aapi.cli.pictures import solution_picture
from aapi.cli.solve_network import solve_network
from aapi.cli.text import plural, print_picture, print_table, printable
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.progress import showing_progress
from aapi.registry.problems import FILES, is_environment

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aapi.cli.parser import Commands
    from aapi.json_types import Json, JsonObject
    from aapi.mdp import FiniteMDP, Solution


EXAMPLES = """examples:
  aapi solve ergodic --states 10 --actions 2
  aapi solve deep-sea --size 20
  aapi solve ergodic --states 5 --measures       also worst mixing time, mismatch and diameter
  aapi solve criss-cross --regime BM --cap 20    a queueing network: also what the cap costs
  aapi solve model.npz --json                    a file with the arrays transitions and rewards
  aapi solve model.csv                           rows of state, action, next_state, probability, reward
  aapi solve log.parquet                         logged transitions: the optimum with an interval
  aapi solve FrozenLake-v1 --continuing          a Gymnasium environment that has a table of its transitions
"""


def add_solve(commands: Commands) -> None:
    """Add `solve` to the command line."""
    command = add_command(
        commands, "solve", solve, epilog=EXAMPLES, help="optimal gain and policy of a finite problem, certified",
        description="Solve a finite problem exactly: optimal average reward, policy, bias, and how its chain mixes.",
    )  # fmt: skip
    others = f"{FILES}, a log of transitions (.parquet or .csv), or a Gymnasium id"
    arguments.add_problem(command, others, finite=True)
    command.add_argument(
        "--continuing", action="store_true",
        help="where an episode ends, the next one begins: of a Gymnasium environment, or in a log",
    )  # fmt: skip
    command.add_argument("--save", metavar="FILE", help="write the model: .npz, .csv, or P.npy with R.npy beside it")
    command.add_argument("--overwrite", action="store_true", help="let --save replace a file that exists")
    command.add_argument("--measures", action="store_true", help="also how hard the model is, over all its policies")
    add_json(command, "print one JSON object instead of the table")


def solve(options: argparse.Namespace) -> None:
    """Solve and print."""
    from aapi.mdp import solve as optimum
    from aapi.registry.problems import is_log, make_network

    _check_save(options)
    if is_log(options.problem):
        _solve_log(options)
        return
    capped = make_network(options.problem, arguments.given_sizes(options), arguments.flag)
    if capped is not None and not (options.measures or options.save or options.continuing):
        solve_network(options, capped)
        return
    mdp = _model(options)
    solution = optimum(mdp)
    summary = _summary(mdp, solution) | _rules(options.problem, mdp)
    if options.measures:
        with showing_progress(not options.json and sys.stderr.isatty()):
            summary |= _measures(mdp, solution)
    _save(options, mdp)
    if options.json:
        print(json.dumps(summary, allow_nan=False))
    else:
        size = f": {plural(mdp.num_states, 'state')}, {plural(mdp.num_actions, 'action')}"
        print_table(options.problem, size, _rows(solution, summary))
        print_picture(solution_picture(mdp, solution))


def _solve_log(options: argparse.Namespace) -> None:
    """The optimum of a log, as far as it is known."""
    from aapi.cli.solve_log import print_log, read_model_of_log

    for option in ("measures", *arguments.given_sizes(options)):
        if vars(options)[option]:
            raise InvalidInput(f"{options.problem} is a log of transitions: drop {arguments.flag(option)}")
    model = read_model_of_log(options.problem, options.continuing, options.json)
    best = model.optimum()
    _save(options, model.model)
    text = _policy(best.policy.tolist(), model.log.action_names, model.log.state_names)
    print_log(options.problem, model, text, best, options.json)


def _model(options: argparse.Namespace) -> FiniteMDP:
    """The finite model that the command line names."""
    from aapi.mdp import FiniteMDP

    name = options.problem
    if is_environment(name):
        if not options.continuing:
            raise InvalidInput(
                f"{name} may have episodes, and a gain is of a task that never ends: add --continuing for the task in "
                f"which an episode begins where one ends, or learn with aapi train {name}"
            )
        return _of_environment(options)
    if options.continuing:
        raise InvalidInput(f"{name} has no episodes: drop --continuing")
    mdp = arguments.read_problem(options)
    if not isinstance(mdp, FiniteMDP):
        what = "has no finite model" if mdp.reward_sequence is None else "has rewards that change, and no one optimum"
        raise InvalidInput(f"{name} {what} to solve: learn it with aapi run {name}")
    return mdp


def _of_environment(options: argparse.Namespace) -> FiniteMDP:
    """The model of a Gymnasium environment with a table."""
    from aapi.environments import from_table
    from aapi.registry.gymnasium_ids import make_environment

    for option in arguments.given_sizes(options):
        raise InvalidInput(f"{options.problem} is a Gymnasium environment: drop {arguments.flag(option)}")
    with closing(make_environment(options.problem)) as env:
        try:
            return from_table(env)
        except InvalidInput as error:
            raise InvalidInput(
                f"{options.problem} cannot be solved exactly, only learned by aapi train: {error}"
            ) from None


def _check_save(options: argparse.Namespace) -> None:
    """Raise if a model could not be saved in the end."""
    from aapi.mdp.storage import rewards_beside

    if options.save is None:
        if options.overwrite:
            raise InvalidInput("--overwrite is for --save, which is not given")
        return
    path = Path(options.save)
    if path.suffix.lower() not in (".npz", ".csv", ".npy"):
        raise InvalidInput(f"--save {path} must end in .npz, .csv or .npy, which says the format")
    written = [path, rewards_beside(path)] if path.suffix.lower() == ".npy" else [path]
    for file in written:
        if file.exists() and not options.overwrite:
            raise InvalidInput(f"--save {file} exists: replace it by --overwrite")


def _save(options: argparse.Namespace, mdp: FiniteMDP) -> None:
    if options.save is not None:
        mdp.save(options.save)


def _summary(mdp: FiniteMDP, solution: Solution) -> JsonObject:
    """What `--json` prints; what does not exist is None, with a reason."""
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


def _rules(problem: str, mdp: FiniteMDP) -> JsonObject:
    """The gain of every rule that people use for the problem, from where it starts."""
    from aapi.mdp import policy_values
    from aapi.registry.rules import rules_of

    start, rules = mdp.initial_state, rules_of(problem, mdp)
    return {"rules": {name: float(policy_values(mdp, rules[name]).gains[start]) for name in rules}} if rules else {}


def _measures(mdp: FiniteMDP, solution: Solution) -> JsonObject:
    """What `--measures` adds."""
    from aapi.mdp import diameter, mismatch, optimal_mismatch, worst_mixing_time

    summary = {
        **_if_exists("mismatch", lambda: mismatch(mdp)),
        **_if_exists("mismatch_optimal", lambda: optimal_mismatch(solution)),
        **_if_exists("diameter", lambda: diameter(mdp)),
    }
    try:
        worst = worst_mixing_time(mdp)
    except (DoesNotExist, TooLarge) as error:
        return summary | {"worst_mixing_time": None, "worst_mixing_time_reason": str(error)}
    return summary | {"worst_mixing_time": worst.time, "worst_mixing_time_exact": worst.exact}


def _if_exists(name: str, compute: Callable[[], Json]) -> JsonObject:
    try:
        return {name: compute()}
    except (DoesNotExist, TooLarge) as error:
        return {name: None, f"{name}_reason": str(error)}


def _one_or_all(values: NDArray[np.float64]) -> float | list[float]:
    """The number that all states have in common, or that of each state."""
    return float(values[0]) if (values == values[0]).all() else [float(value) for value in values]


def _rows(solution: Solution, summary: JsonObject) -> list[tuple[str, str]]:
    lower, upper = _one_or_all(solution.gains_lower), _one_or_all(solution.gains_upper)
    if isinstance(lower, float) and isinstance(upper, float):
        certificate = f"[{lower:.15g}, {upper:.15g}]"
    else:
        certificate = f"within {(solution.gains_upper - solution.gains_lower).max():.1e} in every state"
    if isinstance(summary["gain"], list):
        gains = solution.gains
        gain = f"{gains.min():.12g} to {gains.max():.12g}, by state (all with --json)"
    else:
        gain = _value(summary, "gain", 12)
    chain = solution.values.chain
    classes = chain.recurrent_classes
    sizes = ", ".join(str(len(states)) for states in classes[:6]) + (", …" if len(classes) > 6 else "")
    rows = [
        ("optimal gain", gain),
        ("certificate", certificate),
        ("optimal policy", _policy(solution.policy.tolist(), solution.mdp.action_names)),
        ("span of the bias", f"{solution.bias_span:.6g}"),
        ("recurrent classes", f"{len(classes)}, of {sizes} state{'' if sizes == '1' else 's'}"),
        ("period", str(chain.period)),
        ("mixing time", _value(summary, "mixing_time")),
    ]
    rules = summary.get("rules", {})
    if isinstance(rules, dict):
        rows[2:2] = [("rule", f"{name}: {gain:.6g}") for name, gain in rules.items()]
    if "mismatch" in summary:
        exact = summary.get("worst_mixing_time_exact")
        bound = (
            "" if exact is None else ", over all deterministic policies" if exact else ", a lower bound from a search"
        )
        of_optimal = " for the optimal policy" if summary["mismatch_optimal"] else ""
        rows += [
            ("worst mixing time", _value(summary, "worst_mixing_time") + bound),
            ("mismatch ρ", _value(summary, "mismatch") + (" over all policies" if summary["mismatch"] else "")),
            ("", _value(summary, "mismatch_optimal") + of_optimal),
            ("diameter", _value(summary, "diameter")),
        ]
    return rows


def _value(summary: JsonObject, name: str, digits: int = 6) -> str:
    """A number, or the reason why it does not exist."""
    value = summary[name]
    if value is None:
        return str(summary[f"{name}_reason"])
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _policy(policy: list[int], names: Sequence[str] | None, states: Sequence[str] | None = None) -> str:
    """The states of each action, as ranges; by their names, if they are given."""
    parts = []
    for action in sorted(set(policy)):
        if states:
            shown = [state for state, chosen in zip(states, policy, strict=True) if chosen == action]
        else:
            shown = [str(a) if a == b else f"{a}–{b}" for a, b in _stretches(policy, action)]
        text = ", ".join(shown if len(shown) <= 8 else [*shown[:7], "…"])
        parts.append(f"{names[action] if names else f'action {action}'} in {text}")
    return printable("; ".join(parts if len(parts) <= 6 else [*parts[:6], "…"]))


def _stretches(policy: list[int], action: int) -> Iterator[tuple[int, int]]:
    """The first and the last of the states, in a row, that have an action."""
    for chosen, group in itertools.groupby(range(len(policy)), key=policy.__getitem__):
        if chosen == action:
            first, *rest = group
            yield first, rest[-1] if rest else first
