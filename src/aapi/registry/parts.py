"""The registry: a word for every learner and every part, and the fields of each as its settings.

To add a part, write its class, a frozen dataclass, and add one line to `PARTS`. It then has a flag on the command for
each of its fields, can be named in study files, is saved and loaded with agents, and has its label in reports.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.errors import InvalidInput, did_you_mean, one_line
from aapi.registry.problems import SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.evaluation import Evaluation


# Learners that an algorithm's word stands for as they are.
LEARNERS = {
    "rlsvi": "aapi.learners.rlsvi:RLSVI",
    "psrl": "aapi.learners.psrl:PSRL",
    "rmax": "aapi.learners.rmax:RMAX",
    "imed-rl": "aapi.learners.imed_rl:IMEDRL",
    "optimistic-q": "aapi.learners.optimistic_q:OptimisticQ",
    "differential-q": "aapi.learners.td:DifferentialQ",
    "differential-sarsa": "aapi.learners.td:DifferentialSarsa",
    "centred-q": "aapi.learners.td:CentredQ",
    "rvi-q": "aapi.learners.td:RVIQ",
    "r-learning": "aapi.learners.td:RLearning",
    "oomd": "aapi.learners.oomd:OOMD",
    "optimistic-grid": "aapi.learners.optimistic_grid:OptimisticGrid",
    "ucrl2": "aapi.learners.ucrl:UCRL2",
    "ucrl2b": "aapi.learners.ucrl:UCRL2B",
    "kl-ucrl": "aapi.learners.ucrl:KLUCRL",
    "scal": "aapi.learners.ucrl:SCAL",
    "uniform": "aapi.learners.uniform:Uniform",
}
# Kind, word, and where the class is.
PARTS: dict[str, dict[str, str]] = {
    "algorithm": {
        "aapi": "aapi.learners.aapi:AAPI",
        "aapi-paper": "aapi.learners.aapi:AAPI",
        "politex": "aapi.learners.rivals:Politex",
        "ftrl": "aapi.learners.rivals:AdaptiveFTRL",
        "greedy": "aapi.learners.rivals:GreedyAPI",
        **LEARNERS,
    },
    "evaluation": {
        "monte-carlo": "aapi.evaluation.monte_carlo:MonteCarlo",
        "importance": "aapi.evaluation.importance:ImportanceMonteCarlo",
        "lstd": "aapi.evaluation.lstd:LSTD",
        "lspe": "aapi.evaluation.lspe:LSPE",
        "self-consistent": "aapi.evaluation.self_consistent:SelfConsistent",
        "posterior": "aapi.evaluation.self_consistent:PosteriorSampled",
        "exact": "aapi.evaluation.exact:ExactQ",
        "automatic": "aapi.evaluation.automatic:Automatic",
    },
    "side_information": {
        "previous": "aapi.improvement.side_information:PreviousEstimate",
        "zero": "aapi.improvement.side_information:Zero",
        "average": "aapi.improvement.side_information:ExponentialAverage",
        "predicted": "aapi.improvement.side_information:Predicted",
    },
    "exploration": {
        "expeditions": "aapi.exploration.expeditions:Expeditions",
        "thompson": "aapi.exploration.thompson:ThompsonSampling",
        "discovery": "aapi.exploration.discovery:Discovery",
        "posterior": "aapi.exploration.budgeted:PosteriorSampling",
        "fewest-visits": "aapi.exploration.budgeted:FewestVisits",
        "uniform": "aapi.exploration.budgeted:UniformShare",
    },
    "schedule": {"growing": "aapi.schedules:Growing", "constant": "aapi.schedules:Constant"},
    "rate": {"decay": "aapi.schedules:Decay"},
    "learning_rate": {
        "adaptive": "aapi.improvement.learning_rate:Adaptive",
        "sampled": "aapi.improvement.learning_rate:SampledAdaptive",
        "scheduled": "aapi.improvement.learning_rate:Scheduled",
    },
    "learner": {
        "policy-iteration": "aapi.learners.policy_iteration:PolicyIteration",
        "exploring": "aapi.learners.exploring:Exploring",
        "conservative": "aapi.learners.conservative:Conservative",
        **LEARNERS,
    },
    "features": {
        "one-hot": "aapi.features.tables:OneHot",
        "grid": "aapi.features.vectors:Grid",
        "fourier": "aapi.features.vectors:Fourier",
        "tiles": "aapi.features.vectors:Tiles",
        "radial": "aapi.features.vectors:Radial",
    },
}
# Which kind of part stands in a field of another one, in files.
FIELDS = {
    "algorithm": "learner", "learner": "learner", "features": "features", "phase_length": "schedule",
    "evaluate": "evaluation", "learning_rate": "learning_rate", "side_information": "side_information",
    "exploration": "exploration", "step_size": "rate", "epsilon": "rate",
}  # fmt: skip
OR_NUMBERS = ("phase_length", "step_size", "epsilon")  # fields of parts in which a number will do
# What the commands that take an algorithm have for options of their own; no setting can have such a name.
COMMAND_OPTIONS = SIZES.keys() | {
    "algorithm", "checkpoint_every", "command", "continuing", "copies", "environment", "features", "from_log", "help",
    "high", "json", "limit", "log", "log_mask", "low", "max_exploration", "no_prune", "out", "overwrite", "parser",
    "problem", "processes", "resume", "rule", "run", "runs", "save", "search", "seed", "steps", "tensorboard",
    "threads", "trials", "workers",
}  # fmt: skip


def number_or_decay(text: str) -> float | str:
    """0.1 as a number, 0.5/n^0.7 as it is."""
    from aapi.schedules import Decay

    try:
        return float(text)
    except ValueError:
        return str(Decay.of(text))


TYPES: dict[str, Callable[[str], Any]] = {
    "int": int, "float": float, "bool": bool, "str": str, "DecayLike": number_or_decay,
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What can be told a part: a field of its class. help: what its docstring says of it."""

    name: str
    type: Callable[[str], Any]
    help: str


def register(kind: str, word: str, where: str) -> None:
    """Give a part of your own a word in this process. where: "module:Class", a dataclass."""
    if kind not in PARTS:
        raise InvalidInput(f"unknown kind of part {kind!r}: choose {', '.join(PARTS)}")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", str(word)):
        raise InvalidInput(f"a word for a part has small letters, digits and hyphens, not {word!r}")
    try:
        target = _imported(where)
    except Exception as error:
        raise InvalidInput(f"{where!r} must be module:Class, and is not to be had: {one_line(error)}") from error
    others = {each: there for each, there in PARTS[kind].items() if there != where}
    name = where.rpartition(":")[2]
    if word in others or name in {there.rpartition(":")[2] for there in others.values()}:
        raise InvalidInput(f"the {kind} {word} or {name} exists already: choose another name")
    if not dataclasses.is_dataclass(target) and kind != "algorithm":
        raise InvalidInput(f"{where} must be a dataclass")
    if kind in ("evaluation", "algorithm"):
        _check_flags(where, _settings(target))
    PARTS[kind][word] = where
    settings_of.cache_clear()


def _check_flags(where: str, settings: dict[str, Setting]) -> None:
    """Raise an error if the command cannot have a flag for each of these settings of a new part."""
    from aapi.registry.algorithms import settings_for

    known = settings_for()
    for name, setting in settings.items():
        if name in COMMAND_OPTIONS:
            raise InvalidInput(f"{where} has a field {name}, an option of the command itself: choose another name")
        kind = known[name][0].setting.type if name in known and name != "phase_length" else setting.type
        if kind is not setting.type:
            raise InvalidInput(
                f"{where} has a field {name} of type {setting.type.__name__}, and the setting {name} of other parts is "
                f"of type {kind.__name__}: choose another name"
            )


def find(kind: str, word: str, called: str | None = None) -> Callable[..., Any]:
    """The class that a word stands for. called: what a message calls the kind."""
    if word not in PARTS[kind]:
        hint = did_you_mean(word, PARTS[kind])
        raise InvalidInput(f"{called or kind} must be {' or '.join(PARTS[kind])}, not {word!r}{hint}")
    return _imported(PARTS[kind][word])


@functools.cache
def _imported(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    found: Callable[..., Any] = vars(importlib.import_module(module))[name]
    return found


def word_for(kind: str, part: object) -> str | None:
    """The word for a part's class; None if it has none."""
    name = f"{type(part).__module__}:{type(part).__qualname__}"
    return next((word for word, where in PARTS[kind].items() if where == name), None)


def evaluates_off_policy(word: str) -> bool:
    """Whether an evaluation can evaluate policies that did not make the data."""
    return word in PARTS["evaluation"] and bool(cast("type[Evaluation]", find("evaluation", word)).off_policy)


@functools.cache
def settings_of(kind: str, word: str) -> dict[str, Setting]:
    """The fields of a part that a word or a number can set."""
    return _settings(find(kind, word))


def _settings(target: Callable[..., Any]) -> dict[str, Setting]:
    if not dataclasses.is_dataclass(target):
        return {}
    found = {}
    for field in dataclasses.fields(target):
        written = field.type.__name__ if isinstance(field.type, type) else str(field.type)
        kind_of_value = TYPES.get(re.sub(r" \| None$|^(?:typing\.)?Optional\[|\]$", "", written))
        if kind_of_value is not None:
            found[field.name] = Setting(field.name, kind_of_value, _explained(target, field.name))
    return found


def _explained(target: Callable[..., Any], name: str) -> str:
    """What the docstring of a class, or of one it derives from, says after the name of a field."""
    for base in inspect.getmro(target):  # type: ignore[arg-type]
        text = inspect.cleandoc(base.__doc__ or "")
        match = re.search(
            rf"(?m)(?:^|[.;] )(?:\w+, )*{name}(?:, \w+)*: (.+?)(?=[.;:](?:\s|$)|\n\n|\Z)", text, re.DOTALL
        )
        if match:
            return " ".join(match[1].split())
    return ""


def part_to_json(part: Any) -> Any:
    """A part as its class and fields; one of the user's, which a file cannot hold, as what it calls itself."""
    if dataclasses.is_dataclass(part) and any(word_for(kind, part) for kind in PARTS):
        fields = {field.name: part_to_json(vars(part)[field.name]) for field in dataclasses.fields(part)}
        return {"part": type(part).__name__} | fields
    if part is None or isinstance(part, bool | int | float | str):
        return part
    if isinstance(part, list | tuple | np.ndarray):
        return [part_to_json(value) for value in part]
    if isinstance(part, np.generic):
        return part.item()
    return {"own": part.__name__ if inspect.isfunction(part) else type(part).__name__}


def part_from_json(described: Any, field: str) -> Any:
    """The part that `part_to_json` described, if it may stand in a field of this name."""
    if not isinstance(described, dict):
        raise InvalidInput(f"{field} is {described!r}, not a part")
    if "own" in described:
        what = field if field == "features" else "algorithm"
        raise InvalidInput(f"it was made with your own {described['own']}: pass {what}=… to load")
    places = [where for where in PARTS[FIELDS[field]].values() if where.rpartition(":")[2] == described.get("part")]
    if not places:
        raise InvalidInput(f"it names {described.get('part')!r} as {field}, which is unknown")
    values = {name: value for name, value in described.items() if name != "part"}
    for name, value in values.items():
        if name in FIELDS and isinstance(value, list):
            values[name] = tuple(part_from_json(each, name) for each in value)
        elif name in FIELDS and (name not in OR_NUMBERS or isinstance(value, dict)):
            values[name] = part_from_json(value, name)
        elif isinstance(value, dict):
            raise InvalidInput(f"{name} of {described['part']} is a part, which a file cannot hold there")
        elif isinstance(value, list):
            values[name] = tuple(value)
    return _imported(places[0])(**values)
