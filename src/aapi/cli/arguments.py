"""Arguments that subcommands share: the problem, the runs, and the algorithm with a flag for every setting."""

from __future__ import annotations

import argparse
import dataclasses
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput
from aapi.presets import problem_settings
from aapi.registry.problems import CHOICES, FILES, ON_VECTORS, PROBLEMS, SIZES, is_environment, make_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aapi.cli.parser import Parser
    from aapi.json_types import Setting, Settings
    from aapi.learners.learner import AnyLearner
    from aapi.registry.problems import Problem, Size


# How the command calls parameters of the library, where it is not by their names.
PARAMETERS = {
    "num_steps": "--steps",
    "num_runs": "--runs",
    "num_sampled": "--sampled",
    "ending": "--continuing",
    "groups": "--features aggregate:GROUPS",
}


def flag(option: str) -> str:
    """--phase-length for phase_length."""
    return "--" + option.replace("_", "-")


def to_words(settings: Mapping[str, object]) -> Iterator[str]:
    """Settings as one would type them: --eta 0.5 --no-centre."""
    for name, value in settings.items():
        if isinstance(value, bool):
            yield flag(name) if value else flag(f"no_{name}")
        else:
            yield from (flag(name), str(value))


@contextmanager
def errors_name_flags(options: argparse.Namespace) -> Iterator[None]:
    """Within this block, errors of the library call parameters and parts as the command does: --evaluation lstd."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(_with_words(_with_flags(str(error), vars(options)))) from None


def _with_flags(message: str, options: Mapping[str, object]) -> str:
    """A message with flags for parameters: for names such as reward_low wherever they are, for others where it begins.

    A name that is a plain word, such as rewards, is a parameter if the message begins with what it is or must be.
    """

    def flag_of(match: re.Match[str]) -> str:
        return flag(match[0]) if match[0] in options else PARAMETERS.get(match[0], match[0])

    return re.sub(r"^[a-z]+(?= must | [a-z_]+=)|(?<![\w/.-])[a-z]+_[a-z_]+(?![/.-]?\w)", flag_of, message)


def _with_words(message: str) -> str:
    """A message with the words for classes, after their flag where it is the first part of its kind."""
    from aapi.registry.parts import PARTS

    kinds = ("evaluation", "side_information", "exploration", "features", "learner")
    words = {place.rpartition(":")[2]: (kind, word) for kind in kinds for word, place in PARTS[kind].items()}
    named: set[str] = {"learner"}

    def word_of(match: re.Match[str]) -> str:
        kind, word = words[match[1]]
        called = word if kind in named else f"{flag(kind)} {word}"
        named.add(kind)
        return called

    return re.sub(rf"\b({'|'.join(words)})\b(\(.*?\))?", word_of, message)


def add_problem(command: Parser, others: str = f"or {FILES}", *, finite: bool = False) -> None:
    """Add the problem and its sizes to a subcommand. finite: whether only problems with a finite model are allowed."""
    names = [name for name in PROBLEMS if name not in ON_VECTORS or not finite]
    command.add_argument("problem", help=f"{', '.join(names)}, {others}")
    group = command.add_argument_group("size of a built-in problem")
    for size, (kind, meaning) in SIZES.items():
        owners = ", ".join(name for name in names if size in PROBLEMS[name])
        if kind is str:
            group.add_argument(flag(size), choices=CHOICES[size], help=f"{meaning} ({owners})")
            continue
        metavar = "S" if size == "model_seed" else "N" if kind is int else "X"
        if owners:
            group.add_argument(flag(size), type=kind, metavar=metavar, help=f"{meaning} ({owners})")


def given_sizes(options: argparse.Namespace) -> dict[str, Size]:
    """The sizes on the command line."""
    return {name: value for name in sorted(SIZES) if (value := vars(options).get(name)) is not None}


def read_problem(options: argparse.Namespace) -> Problem:
    """The model that the command line names."""
    if is_environment(options.problem):
        raise InvalidInput(f"{options.problem} is a Gymnasium environment: learn it with aapi train {options.problem}")
    return make_problem(options.problem, given_sizes(options), flag)


def add_runs(command: Parser) -> None:
    """Add the number of steps and runs, their seed, and the number of threads to a subcommand."""
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps of each run (default: 100000)")
    command.add_argument("--runs", type=int, default=20, metavar="N", help="number of runs (default: 20)")
    command.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="default: 1; changes no result")


def add_algorithm(command: Parser, *, exact: bool = True, default: str = "aapi") -> None:
    """Add the algorithm and its settings to a subcommand. exact: whether policies can be evaluated exactly."""
    command.defer(lambda: _add_algorithm(command, exact, default))


def _add_algorithm(command: Parser, exact: bool, default: str) -> None:
    from aapi.approximation import NORMS
    from aapi.evaluation.projected import REUSE
    from aapi.improvement.learning_rate import SCHEDULES
    from aapi.learners.psrl import REWARDS
    from aapi.learners.rlsvi import FORMS
    from aapi.registry.algorithms import ALGORITHMS, settings_for
    from aapi.registry.parts import PARTS

    command.add_argument(
        "--algorithm", default=default, metavar="A",
        help=f"{', '.join(ALGORITHMS)}; aapi needs no tuning, aapi-paper is the paper's (default: {default})",
    )  # fmt: skip
    group = command.add_argument_group("the algorithm (defaults depend on the problem, and are printed)")
    choices = {
        "norm": NORMS, "schedule": SCHEDULES, "reuse": REUSE, "form": FORMS, "rewards": REWARDS,
        "evaluation": tuple(each for each in PARTS["evaluation"] if exact or each != "exact"),
        "side_information": tuple(PARTS["side_information"]),
    }  # fmt: skip
    for name, usages in settings_for().items():
        text = "; ".join(f"{each.setting.help} ({', '.join(each.words)})".strip() for each in usages)
        kind = usages[0].setting.type
        if name == "phase_length":
            group.add_argument(flag(name), type=_length, metavar="TAU", help="steps between two policies, or growing")
        elif kind is bool:
            group.add_argument(flag(name), action=argparse.BooleanOptionalAction, help=text)
        elif name in choices:
            group.add_argument(flag(name), choices=choices[name], help=text)
        elif name == "exploration":
            parts = f"none, or {', '.join(PARTS[name])}, joined by +"
            group.add_argument(flag(name), action=_Once, metavar="E", help=parts)
        else:
            group.add_argument(flag(name), type=_reader(kind), metavar="N" if kind is int else "X", help=text)


class _Once(argparse.Action):
    """An option that looks as if it could be repeated, and cannot."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        if vars(namespace)[self.dest] is not None:
            parser.error(f"argument {option_string}: it is given twice; join parts by +")
        setattr(namespace, self.dest, values)


def _reader(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """A type of values, whose own words say what is wrong with one."""

    def read(text: str) -> Any:
        try:
            return kind(text)
        except InvalidInput as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return kind if isinstance(kind, type) else read


def _length(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        if text != "growing":
            raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor growing") from None
        return text


def given_settings(options: argparse.Namespace) -> dict[str, Setting]:
    """The settings on the command line."""
    from aapi.registry.algorithms import settings_for

    return {name: value for name in settings_for() if (value := vars(options)[name]) is not None}


def add_max_exploration(command: argparse.ArgumentParser) -> None:
    """Add a bound on exploration to a command."""
    command.add_argument(
        "--max-exploration", type=float, metavar="X",
        help="the share of all steps so far that may be explorations between phases, at any time; from 1 on, how many "
        "steps in all (none at all: --exploration none)",
    )  # fmt: skip


def bounded(options: argparse.Namespace, learner: AnyLearner) -> AnyLearner:
    """The learner with the bound on exploration that is given, if one is."""
    from aapi.learners import Exploring

    if options.max_exploration is None:
        return learner
    if not isinstance(learner, Exploring):
        raise InvalidInput(f"--max-exploration bounds explorations between phases, and {options.algorithm} has none")
    return dataclasses.replace(learner, max_exploration=options.max_exploration)


def read_algorithm(options: argparse.Namespace, defaults: Settings) -> tuple[AnyLearner, dict[str, Setting]]:
    """The algorithm that the command line describes, and its settings with all defaults filled in."""
    from aapi.registry.algorithms import make_algorithm

    return make_algorithm(options.algorithm, given_settings(options), defaults, flag)


def read_algorithm_for(options: argparse.Namespace, problem: Problem) -> tuple[AnyLearner, dict[str, Setting]]:
    """The same, with the defaults for a problem."""
    return read_algorithm(options, problem_settings(options.problem, problem, options.algorithm))
