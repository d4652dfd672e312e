"""Algorithms by name, with their settings."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput, did_you_mean
from aapi.presets import AAPI_SETTINGS
from aapi.registry.parts import PARTS, Setting, find, settings_of, word_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aapi.learners.learner import AnyLearner

    Value = bool | int | float | str
    Settings = dict[str, Value]


ALGORITHMS = PARTS["algorithm"]
OLD_WORDS = {"untuned": "aapi (aapi.AAPI() without tuning; the paper's algorithm is aapi-paper)"}
FLAG_NAMES = {"num_sampled": "sampled"}  # where they are not the names of arguments
MADE_APART = ("phase_length", "evaluate", "exploration", "reward_range", "max_exploration")
# What algorithms are told that is no field of a part.
ALGORITHM_SETTINGS = {
    "phase_length": Setting("phase_length", str, "steps between two policies, or growing"),
    "eta": Setting("eta", float, "scale of the temperature"),
    "norm": Setting("norm", str, "how surprise is measured: sup or span"),
    "sampled": Setting("sampled", int, "estimate the rate from so many past differences; all, if not given"),
    "schedule": Setting("schedule", str, "how the temperature grows with k: constant, sqrt or horizon"),
    "evaluation": Setting("evaluation", str, "how Q of a policy is estimated"),
    "side_information": Setting("side_information", str, "what is predicted of the next Q-function"),
    "exploration": Setting("exploration", str, "none, or parts joined by +"),
}


@dataclass(frozen=True)
class Usage:
    """A setting, and by whom it is taken."""

    setting: Setting
    words: tuple[str, ...]


@functools.cache
def _signature(target: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(target)


def _parameters(name: str) -> tuple[str, ...]:
    """What the function or class behind an algorithm takes."""
    return tuple(_signature(find("algorithm", name)).parameters)


def _required(name: str) -> tuple[str, ...]:
    """What must be told the algorithm: settings without a default."""
    parameters = _signature(find("algorithm", name)).parameters
    return tuple(each.name for each in parameters.values() if each.default is inspect.Parameter.empty)


def _evaluates(name: str) -> bool:
    return "evaluate" in _parameters(name)


def _own(name: str) -> tuple[str, ...]:
    """What an algorithm itself is told, in the words of the command, beside the lengths of its phases."""
    return tuple(FLAG_NAMES.get(each, each) for each in _parameters(name) if each not in MADE_APART)


def _unexplained(name: str) -> set[str]:
    """What an algorithm is told that is no field of its class, whose docstring would say what it is."""
    length = {"phase_length"} & {*_parameters(name)}
    return length | set(_own(name)) - settings_of("algorithm", name).keys()


def takes(name: str, *, evaluation: bool = True) -> tuple[str, ...]:
    """The names of all settings of an algorithm; those of evaluations, too, unless `aapi` has its own evaluation."""
    if name not in ALGORITHMS:
        hint = f"{did_you_mean(name, ALGORITHMS)}: choose {', '.join(ALGORITHMS)}"
        successor = f": it is now {OLD_WORDS[name]}" if name in OLD_WORDS else hint
        raise InvalidInput(f"unknown algorithm {name!r}{successor}")
    settings = _evaluation_settings() if evaluation or name != "aapi" else ()
    parts = ("evaluation", *settings, "exploration") if _evaluates(name) else ()
    length = ("phase_length",) if "phase_length" in _parameters(name) else ()
    return (*length, *_own(name), *parts)


def _evaluation_settings() -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for word in PARTS["evaluation"] for name in settings_of("evaluation", word)))


def settings_for() -> dict[str, list[Usage]]:
    """Every setting there is, in order, with the algorithms and evaluations that take it."""
    found: dict[str, list[Usage]] = {}
    unexplained = {each: _unexplained(each) for each in ALGORITHMS}
    for name, setting in ALGORITHM_SETTINGS.items():
        owners = tuple(each for each in ALGORITHMS if name in unexplained[each])
        if name in ("evaluation", "exploration"):
            owners = tuple(each for each in ALGORITHMS if _evaluates(each))
        found[name] = [Usage(setting, owners)]
    for kind, word in [(each, word) for each in ("evaluation", "algorithm") for word in PARTS[each]]:
        for name, setting in settings_of(kind, word).items():
            if name == "phase_length":
                continue
            usages = found.setdefault(name, [])
            same = next((i for i, each in enumerate(usages) if each.setting.help == setting.help), None)
            if same is None:
                usages.append(Usage(setting, (word,)))
            else:
                usages[same] = Usage(usages[same].setting, (*usages[same].words, word))
    return found


def make_algorithm(
    name: str, given: Mapping[str, Any], defaults: Mapping[str, Any], word: Callable[[str], str] = str
) -> tuple[AnyLearner, dict[str, Any]]:
    """The algorithm of that name, and its settings with all defaults filled in. word: how a message calls a setting."""
    known = takes(name)
    for setting in sorted(given.keys() - set(known)):
        raise InvalidInput(f"{name} takes {', '.join(map(word, known))}, not {word(setting)}")
    make = find("algorithm", name)
    if not _evaluates(name):
        wanted = known if name == "rlsvi" else _required(name)  # others have defaults of their own
        learner = make(**{setting: value for setting, value in defaults.items() if setting in wanted} | {**given})
        found = {setting: vars(learner)[setting] for setting in known}
        return learner, {setting: value for setting, value in found.items() if value is not None}
    usual: str | None = defaults.get("evaluation", "monte-carlo")
    settings = {k: v for k, v in defaults.items() if k in known} | {**given}
    if name == "aapi":
        alone = {} if "evaluation" not in given else {"exploration": "none"}
        settings, usual = {**settings, **AAPI_SETTINGS, **alone, **given}, None
        settings = {k: v for k, v in settings.items() if k != "evaluation" or k in given}
    evaluate, settings = _evaluation(usual, given, settings, word)
    arguments = {k: v for k, v in settings.items() if k not in ("evaluation", *_evaluation_settings())}
    more = {} if evaluate is None else {"evaluate": evaluate}
    return make(**_parts(arguments, word), **more), settings


def _evaluation(
    usual: str | None, given: Mapping[str, Any], settings: dict[str, Any], word: Callable[[str], str]
) -> tuple[Any, dict[str, Any]]:
    """The evaluation, None for the algorithm's own; and the settings without those of other evaluations."""
    chosen, every = given.get("evaluation", usual), _evaluation_settings()
    if chosen is None:
        if wrong := [setting for setting in every if setting in given]:
            owners = [each for each in PARTS["evaluation"] if wrong[0] in settings_of("evaluation", each)]
            paper = ", or take aapi-paper, which has monte-carlo" if "monte-carlo" in owners else ""
            raise InvalidInput(
                f"{word(wrong[0])} belongs to {word('evaluation')} {' or '.join(owners)}: name it{paper}"
            )
        return None, {name: value for name, value in settings.items() if name not in every}
    part, fields = find("evaluation", chosen, word("evaluation")), settings_of("evaluation", chosen)
    if wrong := [setting for setting in every if setting in given and setting not in fields]:
        raise InvalidInput(f"{chosen} evaluation takes no {word(wrong[0])}")
    returns = "horizon" in fields
    kept = {
        setting: value
        for setting, value in settings.items()
        if setting not in every or (setting in fields and (returns or setting in given))
    }
    if returns and "horizon" not in given and isinstance(kept["phase_length"], int):
        kept["horizon"] = min(kept["horizon"], max(1, kept["phase_length"]))  # a default must not stand in the way
    return part(**{setting: kept[setting] for setting in fields if setting in kept}), kept


def _parts(settings: Mapping[str, Any], word: Callable[[str], str]) -> dict[str, Any]:
    """Settings as the arguments of an algorithm: words as the parts they stand for."""
    arguments = dict(settings)
    if "sampled" in arguments:
        arguments["num_sampled"] = arguments.pop("sampled")
    if isinstance(length := arguments.get("phase_length"), str):
        if length != "growing":  # a constant is written as its number
            raise InvalidInput(f"{word('phase_length')} must be a whole number or growing, not {length!r}")
        arguments["phase_length"] = find("schedule", length)()
    if "side_information" in arguments:
        arguments["side_information"] = find(
            "side_information", arguments["side_information"], word("side_information")
        )()
    if "exploration" in arguments:
        parts = [] if arguments["exploration"] == "none" else str(arguments["exploration"]).split("+")
        if wrong := [part for part in parts if part not in PARTS["exploration"]]:
            raise InvalidInput(
                f"{word('exploration')} must be none, or of {', '.join(PARTS['exploration'])}, joined by +, not "
                f"{wrong[0]!r}{did_you_mean(wrong[0], PARTS['exploration'])}"
            )
        arguments["exploration"] = tuple(find("exploration", part)() for part in parts)
    return arguments


def describe_learner(learner: AnyLearner) -> dict[str, Value]:
    """What a learner is made of, in the words of the registry; nothing for one of the user's own.

    algorithm, evaluation, side_information, exploration: words; rate: adaptive, constant, sqrt, horizon or greedy, with
    its eta and norm.
    """
    from aapi.improvement import Adaptive, Scheduled, Zero
    from aapi.learners import Exploring, PolicyIteration
    from aapi.learners.conservative import without_rule

    learner = without_rule(learner)
    inner = learner.learner if isinstance(learner, Exploring) else learner
    if not isinstance(inner, PolicyIteration):
        word = word_for("learner", inner)
        return {} if word is None else {"algorithm": word}
    evaluation, rate = word_for("evaluation", inner.evaluate), inner.learning_rate
    guess = word_for("side_information", inner.side_information)
    if evaluation is None or guess is None or not isinstance(rate, Adaptive | Scheduled):
        return {}
    rate.check()
    found: Settings = {"evaluation": evaluation, "side_information": guess, "eta": float(rate.eta)}
    parts = [word_for("exploration", part) for part in learner.exploration] if isinstance(learner, Exploring) else []
    found["exploration"] = "+".join(part or "own" for part in parts) or "none"
    if isinstance(rate, Scheduled):
        greedy = not inner.decay
        return found | {"algorithm": "greedy" if greedy else "politex", "rate": "greedy" if greedy else rate.schedule}
    name = "aapi" if evaluation == "automatic" else "ftrl" if isinstance(inner.side_information, Zero) else "aapi-paper"
    return found | {"algorithm": name, "rate": "adaptive", "norm": rate.norm}


def algorithm_word(learner: AnyLearner) -> str:
    """What an algorithm is called."""
    return str(describe_learner(learner).get("algorithm", type(learner).__name__))


def learner_settings(learner: AnyLearner) -> dict[str, Value]:
    """The settings of a learner, by the names that `make_algorithm` takes; nothing for one of the user's own."""
    from aapi.learners import Exploring
    from aapi.learners.conservative import without_rule

    learner = without_rule(learner)
    described, inner = describe_learner(learner), learner.learner if isinstance(learner, Exploring) else learner
    if not described:
        return {}
    fields = vars(inner)
    for part in ("evaluate", "learning_rate"):
        fields = fields | (vars(fields[part]) if part in fields else {})
    found = {FLAG_NAMES.get(name, name): value for name, value in fields.items()} | described
    if "phase_length" in fields:
        found["phase_length"] = word_for("schedule", fields["phase_length"]) or fields["phase_length"]
    known = takes(str(described["algorithm"]))
    return {name: found[name] for name in known if isinstance(found.get(name), bool | int | float | str)}
