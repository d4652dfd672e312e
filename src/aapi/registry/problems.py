"""Problems by name: the built-in ones with their sizes, or a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aapi.errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aapi.environments import ChangingRewards, ContinuousProblem
    from aapi.mdp import FiniteMDP

    Problem = FiniteMDP | ChangingRewards | ContinuousProblem


# The words for the size of each problem, and the parameters of aapi.environments they stand for.
PROBLEMS = {
    "ergodic": {"states": "num_states", "actions": "num_actions"},
    "deep-sea": {"size": "size"},
    "river-swim": {"states": "num_states", "noise": "noise"},
    "access-control": {"servers": "num_servers"},
    "cartpole": {},
    "garnet": {
        "states": "num_states", "actions": "num_actions", "branching": "branching", "model_seed": "seed",
        "paying": "num_rewards", "coins": "coins",
    },
    "chain": {"states": "num_states", "slip": "slip"},
    "double-loop": {"length": "length"},
    "combination-lock": {"length": "length", "actions": "num_actions", "model_seed": "seed"},
    "six-arms": {"arms": "num_arms"},
    "rooms": {"size": "size", "rooms": "num_rooms", "slip": "slip"},
    "windy-grid": {"actions": "num_actions", "slip": "slip"},
    "trap-grid": {"size": "size", "model_seed": "seed"},
    "frozen-lake": {"size": "size"},
    "taxi": {"rain": "rain"},
    "cliff-walking": {"goal": "goal", "slippery": "slippery"},
    "tandem-queue": {"capacity": "capacity", "arrivals": "arrivals"},
    "routing": {"capacity": "capacity", "arrivals": "arrivals"},
    "n-model": {"capacity": "capacity"},
    "inventory": {"capacity": "capacity", "demand": "demand", "lead_time": "lead_time"},
    "bandit": {"arms": "num_arms", "noise": "noise", "model_seed": "seed"},
    "lottery": {"length": "length", "chance": "chance"},
    "car-rental": {"cars": "max_cars", "moves": "max_moves"},
    "maintenance": {"levels": "num_levels", "machines": "num_machines"},
    "against-the-leader": {},
    "against-the-policy": {},
}  # fmt: skip
# What these words mean, and of which type they are.
SIZES: dict[str, tuple[type[int] | type[float], str]] = {
    "states": (int, "number of states"),
    "actions": (int, "number of actions"),
    "size": (int, "rows and columns"),
    "servers": (int, "number of servers"),
    "branching": (int, "successors of a state and action"),
    "model_seed": (int, "which of the random models"),
    "paying": (int, "number of pairs that pay, 0: all do"),
    "coins": (int, "1 if pairs pay 1 or 0, at random"),
    "noise": (float, "standard deviation of rewards"),
    "chance": (float, "probability of the prize"),
    "slip": (float, "probability that something else happens"),
    "length": (int, "steps to the reward"),
    "arms": (int, "number of arms"),
    "rooms": (int, "2 or 4 rooms"),
    "rain": (float, "probability that a move goes astray"),
    "goal": (float, "what reaching the goal pays"),
    "slippery": (int, "1 if moves go astray"),
    "capacity": (int, "room for so many"),
    "arrivals": (float, "probability of an arrival"),
    "demand": (float, "mean demand a day"),
    "lead_time": (int, "days until an order arrives"),
    "cars": (int, "room for so many cars at either place"),
    "moves": (int, "cars moved a night, at most"),
    "levels": (int, "levels of wear"),
    "machines": (int, "number of machines"),
}
FILES = "a model file (.npz, .npy or .csv)"
OTHERS = f"{FILES}, or a Gymnasium id"
ENDINGS = (".npz", ".npy", ".csv", ".tsv", ".parquet")


def is_file(name: str) -> bool:
    """Whether a name that is none of a built-in problem means a model file."""
    return name.lower().endswith(ENDINGS) or Path(name).exists()


def is_log(name: str) -> bool:
    """Whether a name means a file of logged transitions; an error if the file is neither these nor a model."""
    from aapi.mdp.storage import is_log as holds_log

    return name not in PROBLEMS and is_file(name) and holds_log(name)


def is_environment(name: str) -> bool:
    """Whether a name looks like a Gymnasium id."""
    return any(mark in name for mark in ("-v", ":", "/")) and name not in PROBLEMS and not is_file(name)


def unknown_problem(name: str, others: str) -> InvalidInput:
    """The error for a name that means nothing."""
    return InvalidInput(
        f"unknown problem {name!r}{did_you_mean(name, PROBLEMS)}: choose {', '.join(PROBLEMS)}, {others}"
    )


def make_problem(name: str, sizes: Mapping[str, float], word: Callable[[str], str] = str) -> Problem:
    """The built-in problem, or the model in a file. word: how a message calls a size."""
    from aapi import environments
    from aapi.mdp import FiniteMDP

    if name not in PROBLEMS and not is_file(name):
        raise unknown_problem(name, f"or {FILES}")
    takes = PROBLEMS.get(name, {})
    for option in sorted(sizes.keys() - takes.keys()):
        what = "has one size" if name in PROBLEMS else "is a file, which has its size in it"
        takes_what = f"takes {' and '.join(map(word, takes))}, not" if takes else f"{what}: drop"
        raise InvalidInput(f"{name} {takes_what} {word(option)}")
    if name not in PROBLEMS:
        return FiniteMDP.load(name)
    make = vars(environments)[name.replace("-", "_")]
    try:
        model: Problem = make(**{takes[option]: value for option, value in sizes.items()})
    except InvalidInput as error:
        message = str(error)
        for option, parameter in takes.items():
            if message.startswith(f"{parameter} "):
                message = message.replace(parameter, word(option), 1)
        raise InvalidInput(f"{name}: {message}") from None
    return model
