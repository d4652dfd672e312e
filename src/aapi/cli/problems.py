"""Problems by name: the built-in ones with their sizes, or a model file."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.cli.algorithms import flag
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    import argparse

    from aapi.mdp import FiniteMDP
    from aapi.simulation import ContinuousProblem

__all__ = ["PROBLEMS", "add_problem_arguments", "read_problem"]

# The command's options for each problem, and the parameters of aapi.environments they stand for.
PROBLEMS = {
    "ergodic": {"states": "num_states", "actions": "num_actions"},
    "deep-sea": {"size": "size"},
    "river-swim": {"states": "num_states"},
    "access-control": {"servers": "num_servers"},
    "cartpole": {},
    "garnet": {"states": "num_states", "actions": "num_actions", "branching": "branching", "model_seed": "seed"},
}


def add_problem_arguments(command: argparse.ArgumentParser) -> None:
    """Add the problem and its sizes to a subcommand."""
    command.add_argument("problem", help=f"{', '.join(PROBLEMS)}, or a model file (.npz)")
    group = command.add_argument_group("size of a built-in problem")
    group.add_argument("--states", type=int, metavar="N", help="number of states (ergodic, river-swim, garnet)")
    group.add_argument("--actions", type=int, metavar="N", help="number of actions (ergodic, garnet)")
    group.add_argument("--size", type=int, metavar="N", help="rows and columns (deep-sea)")
    group.add_argument("--servers", type=int, metavar="N", help="number of servers (access-control)")
    group.add_argument("--branching", type=int, metavar="N", help="successors of a state and action (garnet)")
    group.add_argument("--model-seed", type=int, metavar="S", help="which of the random models (garnet)")


def read_problem(options: argparse.Namespace) -> FiniteMDP | ContinuousProblem:
    """The model that the command line names."""
    from aapi import environments
    from aapi.mdp import FiniteMDP

    sizes = {option for parameters in PROBLEMS.values() for option in parameters}
    given = {option: value for option in sorted(sizes) if (value := getattr(options, option)) is not None}
    name = options.problem
    if name not in PROBLEMS and not (name.endswith(".npz") or Path(name).exists()):
        close = difflib.get_close_matches(name, PROBLEMS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise InvalidInput(f"unknown problem {name!r}: {hint}choose {', '.join(PROBLEMS)}, or a model file (.npz)")
    takes = PROBLEMS.get(name, {})
    for option in given.keys() - takes.keys():
        what = "has one size" if name in PROBLEMS else "is a file, which has its size in it"
        takes_what = f"takes {' and '.join(map(flag, takes))}, not" if takes else f"{what}: drop"
        raise InvalidInput(f"{name} {takes_what} {flag(option)}")
    if name not in PROBLEMS:
        return FiniteMDP.load(name)
    make = getattr(environments, name.replace("-", "_"))
    try:
        model: FiniteMDP | ContinuousProblem = make(**{takes[option]: value for option, value in given.items()})
    except InvalidInput as error:
        message = str(error)
        for option, parameter in takes.items():
            if message.startswith(f"{parameter} "):
                message = message.replace(parameter, flag(option), 1)
        raise InvalidInput(f"{name}: {message}") from None
    return model
