"""Problems by name: the built-in ones with their sizes, or a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from aapi.errors import AapiError, InvalidInput, did_you_mean

Size: TypeAlias = int | float | str
Sizes: TypeAlias = "Mapping[str, Size]"
Made = TypeVar("Made")

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aapi.environments import ChangingRewards, ContinuousProblem
    from aapi.environments.queueing import CappedNetwork
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
    "criss-cross": {"regime": "regime", "cap": "cap"},
    "six-class": {"classes": "classes", "cap": "cap"},
    "admission": {"servers": "servers"},
    "inventory": {"capacity": "capacity", "demand": "demand", "lead_time": "lead_time"},
    "bandit": {"arms": "num_arms", "noise": "noise", "model_seed": "seed"},
    "lottery": {"length": "length", "chance": "chance"},
    "car-rental": {"cars": "max_cars", "moves": "max_moves"},
    "maintenance": {"levels": "num_levels", "machines": "num_machines"},
    "polling": {"capacity": "capacity"},
    "pricing": {"capacity": "capacity", "days": "days"},
    "key-maze": {"size": "size", "slip": "slip"},
    "repair-shop": {"machines": "num_machines"},
    "battery": {"capacity": "capacity"},
    "pig": {"sides": "sides"},
    "tree": {"depth": "depth", "model_seed": "seed"},
    "catch": {"rows": "rows", "columns": "columns", "spawn": "spawn_probability"},
    "windy-catch": {
        "rows": "rows", "columns": "columns", "spawn": "spawn_probability", "change_every": "change_every",
    },
    "continuing-taxi": {},
    "pendulum": {"dense": "dense"},
    "puck-world": {},
    "against-the-leader": {},
    "against-the-policy": {},
}  # fmt: skip
# Those with observation vectors, which have no finite model.
ON_VECTORS = ("cartpole", "pendulum", "puck-world")
# What these words mean, and of which type they are.
SIZES: dict[str, tuple[type[int] | type[float] | type[str], str]] = {
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
    "days": (int, "days of a sale"),
    "sides": (int, "sides of the die"),
    "depth": (int, "decisions to a leaf"),
    "cars": (int, "room for so many cars at either place"),
    "moves": (int, "cars moved a night, at most"),
    "levels": (int, "levels of wear"),
    "machines": (int, "number of machines"),
    "rows": (int, "rows of the board"),
    "columns": (int, "columns of the board"),
    "spawn": (float, "probability of a new ball"),
    "change_every": (int, "mean steps from one wind to the next"),
    "dense": (int, "1 for the easier one, with a reward in every step"),
    "regime": (str, "balanced or imbalanced, in light, medium or heavy traffic"),
    "cap": (int, "room for so many jobs of each class"),
    "classes": (int, "6, 9, 12, … classes"),
}
# The words that sizes which are texts may be.
CHOICES = {"regime": ("IL", "BL", "IM", "BM", "IH", "BH")}
# The problems that are queueing networks with caps, and the functions of aapi.environments.queueing that make these.
NETWORKS = {"criss-cross": "criss_cross_network", "six-class": "six_class_network"}
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


def make_problem(name: str, sizes: Sizes, word: Callable[[str], str] = str) -> Problem:
    """The built-in problem, or the model in a file. word: how a message calls a size."""
    from aapi import environments
    from aapi.mdp import FiniteMDP

    if name not in PROBLEMS and not is_file(name):
        raise unknown_problem(name, f"or {FILES}")
    _check_sizes(name, sizes, word)
    if name not in PROBLEMS:
        return FiniteMDP.load(name)
    make: Callable[..., Problem] = vars(environments)[name.replace("-", "_")]
    return _made(make, name, sizes, word)


def make_network(name: str, sizes: Sizes, word: Callable[[str], str] = str) -> CappedNetwork | None:
    """The network that a built-in problem is, with its caps; None for other problems."""
    if name not in NETWORKS:
        return None
    from aapi.environments import queueing

    _check_sizes(name, sizes, word)
    make: Callable[..., CappedNetwork] = vars(queueing)[NETWORKS[name]]
    return _made(make, name, sizes, word)


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _check_sizes(name: str, sizes: Sizes, word: Callable[[str], str]) -> None:
    takes = PROBLEMS.get(name, {})
    for option in sorted(sizes.keys() - takes.keys()):
        what = "has one size" if name in PROBLEMS else "is a file, which has its size in it"
        takes_what = f"takes {_listed(list(map(word, takes)))}, not" if takes else f"{what}: drop"
        raise InvalidInput(f"{name} {takes_what} {word(option)}")


def _made(make: Callable[..., Made], name: str, sizes: Sizes, word: Callable[[str], str]) -> Made:
    """What a function makes of sizes; its errors call them as the user did."""
    takes = PROBLEMS[name]
    try:
        return make(**{takes[option]: value for option, value in sizes.items()})
    except AapiError as error:
        message = str(error)
        for option, parameter in takes.items():
            if message.startswith(f"{parameter} "):
                message = message.replace(parameter, word(option), 1)
        raise type(error)(f"{name}: {message}") from None
