"""`aapi train`: an agent on a Gymnasium environment."""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from aapi.checks import at_least
from aapi.cli import arguments
from aapi.cli.parser import add_command, add_json
from aapi.cli.text import plural, print_table, text_plot
from aapi.errors import AapiError, InvalidInput, install_extra
from aapi.presets import agent_settings
from aapi.registration import ENVIRONMENTS
from aapi.registry.feature_words import FEATURES_HELP, make_features
from aapi.registry.gymnasium_ids import check_ending, make_continuing, make_copies, make_environment
from aapi.registry.problems import PROBLEMS
from aapi.registry.rules import RULE_HELP
from aapi.registry.user_code import load_function
from aapi.report.formatting import format_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from aapi.agent import Agent, Progress
    from aapi.cli.parser import Commands
    from aapi.environments.copies import Copies
    from aapi.json_types import Setting, Settings

    Earned = list[tuple[int, float]]  # steps, and the reward of all of them


# aapi/Taxi-v0 is C-suite's, and `taxi` is Gymnasium's own.
OTHERWISE_NAMED = {"continuing-taxi": "taxi", "taxi": ""}

EXAMPLES = """examples:
  aapi train CartPole-v1 --features fourier:4 --steps 100000 --save cart.aapi
  aapi train FrozenLake-v1 --steps 400000 --save lake.aapi
  aapi train Acrobot-v1 --features fourier:1 --continuing 100 --eta 0.1
  aapi train FrozenLake-v1 --copies 8 --steps 400000
  aapi train FrozenLake-v1 --from-log log.parquet --save lake.aapi
  aapi train --resume cart.aapi --steps 200000
  aapi train aapi/CrissCross-v0 --rule maxweight --steps 100000
"""


class TrainingSummary(TypedDict):
    """What `--json` prints, except for the settings and the file.

    average_reward: of all steps; last_tenth: of the phases that end in the last tenth of the steps, and of explorations
    between them; episode_length: of the episodes in those. rule_steps: in which the rule of thumb acted; trusted: the
    learner, or the rule; None if there is no rule.
    """

    steps: int
    phases: int
    average_reward: float | None
    last_tenth: float | None
    episode_length: float | None
    rule_steps: int | None
    trusted: str | None
    seconds: float
    steps_per_second: float


def add_train(commands: Commands) -> None:
    """Add `train` to the command line."""
    command = add_command(
        commands, "train", train, epilog=EXAMPLES, help="train an agent on a Gymnasium environment",
        description="Train an agent on a Gymnasium environment with discrete actions, as a continuing task.",
    )  # fmt: skip
    command.add_argument("environment", nargs="?", help="an id such as CartPole-v1, or module:Id-v0")
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps in all (default: 100000)")
    command.add_argument("--seed", type=int, metavar="S", help="default: 0")
    command.add_argument(
        "--copies", type=int, default=1, metavar="N",
        help="learn from N copies of the environment at once; their steps count together (default: 1)",
    )  # fmt: skip
    command.add_argument(
        "--processes", action="store_true",
        help="step each copy in a process of its own, which pays where a step takes longer than about 0.1 ms",
    )  # fmt: skip
    default_features = "one-hot; on vectors, grid for aapi, else fourier:3, or radial:300 from 5 numbers on"
    command.add_argument("--features", metavar="F", help=f"{FEATURES_HELP} (default: {default_features})")
    command.add_argument("--low", metavar="A,B,…", help="lower bounds of the observation, where it has none")
    command.add_argument("--high", metavar="A,B,…", help="upper bounds of the observation")
    command.add_argument(
        "--continuing", nargs="?", const="shortfall", metavar="RULE",
        help="reward of a step that ends an episode: keep (the environment's own), shortfall (steps − limit, as in the "
        "paper), or a number that is added where the episode was terminated",
    )  # fmt: skip
    command.add_argument("--limit", type=int, metavar="N", help="truncate episodes after N steps")
    command.add_argument(
        "--from-log", metavar="FILE",
        help="learn first from logged transitions, a .csv or .parquet file with the columns state, action, reward and "
        "next_state, where observations are numbers from 0 on",
    )  # fmt: skip
    command.add_argument("--rule", metavar="R", help=f"start from a rule of thumb, which acts first, {RULE_HELP}")
    command.add_argument(
        "--log-mask", metavar="M:F",
        help="module:function, from an observation of the log to 1 or 0 for each action, if not all were allowed",
    )  # fmt: skip
    command.add_argument("--save", metavar="FILE", help="where to save the agent, and checkpoints (default: --resume)")
    command.add_argument(
        "--checkpoint-every", type=int, metavar="N", help="also save after every N phases (default: 10000 steps or so)"
    )
    command.add_argument("--resume", metavar="FILE", help="continue a saved agent, until it has --steps steps in all")
    command.add_argument("--overwrite", action="store_true", help="let --save replace a file that exists")
    logs = f"write logs for TensorBoard there ({install_extra('tensorboard')})"
    changes = "append a line of JSON there after each phase, with what changed in the policy"
    command.add_argument("--log", metavar="FILE", help=changes)
    command.add_argument("--tensorboard", metavar="FOLDER", help=logs)
    add_json(command, "print one JSON object instead of table and plot")
    arguments.add_max_exploration(command)
    arguments.add_algorithm(command, exact=False)
    # So that -1,-2 after --low is not taken for an option.
    command._negative_number_matcher = re.compile(r"-[\d.][\d.,eE+-]*")


def train(options: argparse.Namespace) -> None:
    """Train, save and print."""
    from aapi.agent import TensorBoard

    at_least(1, **{"--steps": options.steps, "--copies": options.copies})
    if options.checkpoint_every is not None:
        at_least(1, **{"--checkpoint-every": options.checkpoint_every})
    options.save = options.save or options.resume  # a continued agent is saved to its own file by default
    _check_paths(options)
    board = TensorBoard(options.tensorboard) if options.tensorboard else None
    with arguments.errors_name_flags(options):
        agent, settings = _resumed(options) if options.resume else _new(options)
    phases: list[Progress] = []
    earned = [(agent.num_steps, agent.total_reward)]  # so far: at the start, and at the end of each phase

    def log(progress: Progress) -> None:
        phases.append(progress)
        earned.append((agent.num_steps, agent.total_reward))
        if board:
            board(progress)

    start, first = time.perf_counter(), agent.num_steps
    try:
        with arguments.errors_name_flags(options):
            agent.learn(
                options.steps - first, not options.json and sys.stderr.isatty(), log, checkpoint=options.save,
                checkpoint_every=options.checkpoint_every, log=options.log,
            )  # fmt: skip
    except KeyboardInterrupt:
        if options.save:
            agent.save(options.save)
        raise KeyboardInterrupt(f"after {agent.num_steps} steps{_checkpoint(agent, options.save)}") from None
    except AapiError as error:
        raise InvalidInput(f"{error}{_checkpoint(agent, options.save)}") from error
    finally:
        cast("Copies", agent.copies).env.close()
        if board:
            board.close()
    summary = _summarise(agent, phases, earned, time.perf_counter() - start)
    if options.json:
        print(json.dumps({**summary, "settings": settings, "saved": options.save}, allow_nan=False))
    else:
        _show(options, agent, summary, settings, earned)


def _check_paths(options: argparse.Namespace) -> None:
    """Raise errors about files now rather than after hours of training."""
    if options.tensorboard is not None and Path(options.tensorboard).is_file():
        raise InvalidInput(f"--tensorboard {options.tensorboard} is a file: give a folder")
    if options.log is not None:
        log = Path(options.log)
        if log.is_dir() or not log.parent.is_dir():
            raise InvalidInput(f"--log {log} must be a file in a folder that exists")
        if options.overwrite and options.resume is None:
            log.unlink(missing_ok=True)
    if options.save is None:
        return
    path = Path(options.save)
    if not path.parent.is_dir():
        raise InvalidInput(f"--save {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InvalidInput(f"--save {path} is a folder: give a file in it")
    same = options.resume is not None and Path(options.resume).resolve() == path.resolve()
    if path.exists() and not options.overwrite and not same:
        raise InvalidInput(f"--save {path} exists: go on with it by --resume {path}, or replace it by --overwrite")


def _new(options: argparse.Namespace) -> tuple[Agent, dict[str, Setting]]:
    from aapi.agent import Agent
    from aapi.learners.conservative import without_rule
    from aapi.registry.algorithms import learner_settings

    ending = None if options.continuing is None else check_ending(options.continuing, "--continuing")
    if options.environment is None:
        raise InvalidInput("name an environment, such as CartPole-v1, or an agent to go on with, --resume FILE")
    if options.environment in PROBLEMS:
        raise _built_in(options.environment)
    features = make_features(options.features, options.low, options.high, finite=False)
    make = functools.partial(make_continuing, options.environment, ending, options.limit)
    env = make()
    algorithm, settings = arguments.read_algorithm(options, agent_settings(env, features, options.algorithm))
    algorithm = arguments.bounded(options, algorithm)
    several = options.copies > 1 or options.processes
    learnt_in = make_copies(make, options.copies, options.processes) if several else env
    agent = Agent(algorithm, learnt_in, features, options.seed or 0, rule=options.rule)
    if options.max_exploration is not None and not agent.space.countable:
        raise InvalidInput("--max-exploration is for observations that can be counted, and these are vectors")
    if options.from_log is not None:
        mask = None if options.log_mask is None else load_function(options.log_mask)
        agent.learn_from(options.from_log, not options.json and sys.stderr.isatty(), mask=mask)
    elif options.log_mask is not None:
        raise InvalidInput("--log-mask says what was allowed in a log: give one by --from-log FILE")
    same = without_rule(agent.algorithm) is algorithm
    return agent, _in_effect(settings if same else learner_settings(agent.algorithm), agent)


def _in_effect(settings: Settings, agent: Agent) -> dict[str, Setting]:
    """The settings, without an exploration that there is none of: where states cannot be counted."""
    never = {"exploration": "none"} if "exploration" in settings and not agent.space.countable else {}
    return {**settings, **never}


def _built_in(problem: str) -> InvalidInput:
    """The error for a problem that `aapi run` takes, with its name as an environment, if it has one."""
    name = OTHERWISE_NAMED.get(problem, problem).replace("-", "")
    same = [each for each in ENVIRONMENTS if each.lower() == f"aapi/{name}-v0"]
    other = f", or as a Gymnasium environment with aapi train {same[0]}" if same else ""
    return InvalidInput(f"{problem} is a built-in problem: learn it with aapi run {problem}{other}")


def _resumed(options: argparse.Namespace) -> tuple[Agent, dict[str, Setting]]:
    from aapi.agent import copies_made, load, made_environment
    from aapi.registry.algorithms import learner_settings

    free = {
        "environment", "steps", "save", "checkpoint_every", "resume", "overwrite", "rule", "tensorboard", "log", "json",
    }  # fmt: skip
    if fixed := sorted(options.parser.given(options) - free):
        raise InvalidInput(f"--resume goes on as the agent began: drop {arguments.flag(fixed[0])}")
    make = functools.partial(made_environment, options.resume, options.environment, make_environment)
    env, (copies, processes) = make(), copies_made(options.resume)
    learnt_in = make_copies(make, copies, processes) if copies > 1 or processes else env
    agent = load(options.resume, env=learnt_in, rule=options.rule)
    if options.steps <= agent.num_steps:
        raise InvalidInput(
            f"--steps is the number in all, and {options.resume} has {agent.num_steps} already: give more"
        )
    return agent, {"resumed": options.resume, **_in_effect(learner_settings(agent.algorithm), agent)}


def _ending(rule: Mapping[str, object]) -> str:
    """The ending rule, in words."""
    ending, limit = rule["ending"], rule["limit"]
    truncated = f", truncated after {limit} steps" if limit else ""
    if ending == "keep":
        return f"follow each other, if they end; rewards are the environment's own{truncated}"
    if ending == "shortfall":
        return f"pay steps − limit in their last step, as in the paper{truncated}"
    added = f"{ending:+g}" if isinstance(ending, float) else "what your function returns"
    return f"pay {added} where they are terminated{truncated}"


def _several(copies: Copies) -> str:
    """In what the steps were taken, if it was not one environment."""
    if copies.number == 1:
        return ""
    return f", of {copies.number} copies{', each in a process of its own' if copies.processes else ''}"


def _checkpoint(agent: Agent, save: str | None) -> str:
    if agent.saved is None and not agent.num_steps:
        return ""
    if agent.saved is None:
        return "; nothing was saved: " + ("no checkpoint was due yet" if save else "--save FILE would have kept it")
    path, steps = agent.saved
    return f"; the last checkpoint is {path}, after {steps} steps: go on with --resume {path}"


def _summarise(agent: Agent, phases: list[Progress], earned: Earned, seconds: float) -> TrainingSummary:
    first, last = earned[0][0], earned[-1][0]
    before = max((i for i, (steps, _) in enumerate(earned[:-1]) if steps <= last - (last - first) / 10), default=0)
    from aapi.learners.conservative import ConservativeState

    state = agent.session.state
    beside = isinstance(state, ConservativeState)
    lengths = [episode["length"] for phase in phases[before:] for episode in phase.episodes]
    return {
        "steps": agent.num_steps,
        "phases": agent.num_phases,
        "average_reward": agent.total_reward / agent.num_steps if phases else None,
        "last_tenth": _average(earned[before], earned[-1]) if phases else None,
        "episode_length": sum(lengths) / len(lengths) if lengths else None,
        "rule_steps": state.rule_steps if beside else None,
        "trusted": ("the learner" if state.account.trusted else "the rule") if beside else None,
        "seconds": seconds,
        "steps_per_second": (agent.num_steps - first) / seconds,
    }


def _average(before: tuple[int, float], after: tuple[int, float]) -> float:
    return (after[1] - before[1]) / (after[0] - before[0])


def _show(
    options: argparse.Namespace, agent: Agent, summary: TrainingSummary, settings: Settings, earned: Earned
) -> None:
    from aapi.agent import describe_choice
    from aapi.registry.algorithms import algorithm_word

    explored = f", and {agent.explored_steps} of them to explore" if agent.explored_steps else ""
    copies = cast("Copies", agent.copies)  # both new and resumed agents have some
    rows = [
        ("observations", f"{agent.features}: {agent.space.describe()}, {plural(agent.num_actions, 'action')}"),
        ("episodes", _ending(copies.rule)),
        ("steps", f"{summary['steps']}, in {plural(summary['phases'], 'phase')}{_several(copies)}{explored}"),
        ("settings", format_settings(settings)),
        ("time", f"{summary['seconds']:.1f} s, {summary['steps_per_second']:,.0f} steps a second"),
    ]
    if summary["rule_steps"] is not None:
        share = f"{summary['rule_steps'] / max(1, summary['steps']):.1%}; now {summary['trusted']} is trusted"
        rows.insert(3, ("rule", f"acted in {summary['rule_steps']} steps, {share}"))
    if not options.save:
        rows.append(("note", "the agent was not saved: use --save FILE"))
    if len(earned) > 1:
        length = "" if summary["episode_length"] is None else f"; episodes of {summary['episode_length']:.4g} steps"
        rows[3:3] = [
            ("average reward", f"{summary['average_reward']:.5g}"),
            ("last tenth", f"{summary['last_tenth']:.5g}{length}"),
        ]
    elif not agent.num_phases:
        rows.insert(3, ("note", "the run is shorter than a phase: the first policy, uniform, was never improved"))
    if options.save:
        file = options.save
        rows.append(("saved", f"{file}; try it with aapi evaluate {file}, see it with aapi show {file}"))
    if agent.logged_steps:
        rows.insert(2, ("log", f"{plural(agent.logged_steps, 'transition')}, learnt from first"))
    if chosen := describe_choice(agent):
        rows.insert(0, ("learner", chosen))
    spec = copies.inner_spec
    print_table(f"{algorithm_word(agent.algorithm)} on {spec.id if spec else options.environment}", "", rows)
    if len(earned) > 2:
        print("\naverage reward from phase to phase:")
        print(text_plot([steps for steps, _ in earned[1:]], [_average(*pair) for pair in itertools.pairwise(earned)]))
