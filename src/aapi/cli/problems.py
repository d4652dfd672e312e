"""The problem on the command line: a built-in one with its size, or a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.cli.algorithms import flag
from aapi.registry.problems import PROBLEMS, make_problem

if TYPE_CHECKING:
    import argparse

    from aapi.environments import ContinuousProblem
    from aapi.mdp import FiniteMDP


def add_problem_arguments(
    command: argparse.ArgumentParser, others: str = "or a model file (.npz)", *, finite: bool = False
) -> None:
    """Add the problem and its sizes to a subcommand. finite: whether only problems with a finite model are allowed."""
    names = [name for name in PROBLEMS if name != "cartpole" or not finite]
    command.add_argument("problem", help=f"{', '.join(names)}, {others}")
    group = command.add_argument_group("size of a built-in problem")
    group.add_argument("--states", type=int, metavar="N", help="number of states (ergodic, river-swim, garnet)")
    group.add_argument("--actions", type=int, metavar="N", help="number of actions (ergodic, garnet)")
    group.add_argument("--size", type=int, metavar="N", help="rows and columns (deep-sea)")
    group.add_argument("--servers", type=int, metavar="N", help="number of servers (access-control)")
    group.add_argument("--branching", type=int, metavar="N", help="successors of a state and action (garnet)")
    group.add_argument("--model-seed", type=int, metavar="S", help="which of the random models (garnet)")


def given_sizes(options: argparse.Namespace) -> dict[str, int]:
    """The sizes on the command line."""
    names = sorted({option for parameters in PROBLEMS.values() for option in parameters})
    return {name: value for name in names if (value := vars(options)[name]) is not None}


def read_problem(options: argparse.Namespace) -> FiniteMDP | ContinuousProblem:
    """The model that the command line names."""
    return make_problem(options.problem, given_sizes(options), flag)
