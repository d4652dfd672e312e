"""`aapi run`: an algorithm on a built-in problem or a model, many runs at once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, cast

from aapi.cli import arguments
from aapi.cli.parser import add_command, add_json
from aapi.cli.pictures import learned_picture
from aapi.cli.text import plural, print_picture, print_table, text_plot
from aapi.errors import DoesNotExist, TooLarge
from aapi.registry.feature_words import FEATURES_HELP, FINITE_HELP, make_features
from aapi.registry.rules import RULE_HELP, problem_rule
from aapi.registry.user_code import load_function
from aapi.report.formatting import format_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from aapi.batch import Rule
    from aapi.cli.parser import Commands
    from aapi.json_types import JsonObject, Settings
    from aapi.registry.problems import Problem
    from aapi.result import Result


EXAMPLES = """examples:
  aapi run deep-sea --size 20 --algorithm aapi-paper --eta 0.3 --steps 200000 --runs 50
  aapi run river-swim --states 12 --steps 200000 --threads 2
  aapi run ergodic --states 10 --algorithm politex --eta 1 --threads 2
  aapi run cartpole --features fourier:4 --runs 10 --threads 2
  aapi run river-swim --algorithm rlsvi --ridge 0.1 --json
  aapi run admission --rule all --steps 50000
"""
MOST_EVALUATED = 100_000  # states of all runs together, in which policies learnt are evaluated


def add_run(commands: Commands) -> None:
    """Add `run` to the command line."""
    command = add_command(
        commands, "run", run, epilog=EXAMPLES, help="run an algorithm on a built-in problem or a model",
        description="Run an algorithm on a problem, many runs at once, and compare with the optimum.",
    )  # fmt: skip
    arguments.add_problem(command)
    arguments.add_runs(command)
    command.add_argument("--features", metavar="F", help=f"{FEATURES_HELP}; finite: {FINITE_HELP}")
    command.add_argument("--rule", metavar="R", help=f"start from a rule of thumb, which acts first, {RULE_HELP}")
    add_json(command, "print one JSON object instead of table and plot")
    arguments.add_max_exploration(command)
    arguments.add_algorithm(command)


def run(options: argparse.Namespace) -> None:
    """Run and print."""
    from aapi.batch import run as run_algorithm
    from aapi.environments import ContinuousProblem

    problem = arguments.read_problem(options)
    finite = not isinstance(problem, ContinuousProblem)
    features = make_features(options.features, finite=finite, vectors=not finite)
    algorithm, settings = arguments.read_algorithm_for(options, problem)
    algorithm = arguments.bounded(options, algorithm)
    with arguments.errors_name_flags(options):
        result = run_algorithm(
            algorithm, problem, options.steps, options.runs, options.seed, threads=options.threads, features=features,
            rule=_rule(options, problem), progress=not options.json and sys.stderr.isatty(),
        )  # fmt: skip
    if options.json:
        print(json.dumps({**_summary(result), "settings": settings}, allow_nan=False))
    else:
        _show(options, result, settings)


def _rule(options: argparse.Namespace, problem: Problem) -> Rule | None:
    """The rule on the command line, if there is one."""
    if options.rule is None:
        return None
    if ":" in options.rule:
        return load_function(options.rule)
    return problem_rule(options.rule, options.problem, problem, arguments.given_sizes(options))


def _summary(result: Result) -> JsonObject:
    """What `--json` prints, except for the settings."""
    average, last_tenth = result.average_reward[:, -1], result.average_reward_since(0.9)
    return {
        "average_reward": {"mean": float(average.mean()), "std": _std(average), "worst": float(average.min())},
        "optimal_gain": result.optimal_gain,
        "regret": {"mean": float(result.regret[:, -1].mean()), "std": _std(result.regret[:, -1])},
        "last_tenth": float(last_tenth.mean()),
        "last_tenth_std": _std(last_tenth),
        "learnt_gain": _learnt_summary(result),
        "explored": float(result.explored.mean()),
        "rule_steps": None if result.rule_steps is None else float(result.rule_steps.mean()),
        "trusted": None if result.trusted is None else int(result.trusted.sum()),
        "surprise": result.mean_surprise,
        "conditioning": None if result.conditioning is None else float(result.conditioning.max()),
        "runs": len(result.runs),
        "steps": result.num_steps,
        "seconds": result.seconds,
        "steps_per_second": _speed(result),
    }


def _learnt_gains(result: Result) -> NDArray[np.float64] | None:
    """What the policies learnt earn, exactly; None where there is no model, or evaluating them would take long."""
    from aapi.mdp import FiniteMDP

    small = isinstance(result.env, FiniteMDP) and result.env.num_states * len(result.runs) <= MOST_EVALUATED
    return result.learnt_gains if small else None


def _learnt_summary(result: Result) -> JsonObject | None:
    gains = _learnt_gains(result)
    return None if gains is None else {"mean": float(gains.mean()), "std": _std(gains), "worst": float(gains.min())}


def _speed(result: Result) -> float:
    return len(result.runs) * result.num_steps / result.seconds


def _std(values: NDArray[np.float64]) -> float:
    scale = float(abs(values).max()) or 1.0  # squares of large rewards would overflow
    return scale * float((values / scale).std(ddof=1)) if len(values) > 1 else 0.0


def _mean_and_std(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.5g} ± {_std(values):.2g}"


def _share(result: Result, earned: float) -> str:
    """The share of the optimum that was earned; where rewards can be negative, of the way to it from acting at random.

    Nothing for continuous problems, of whose optimum only a bound is known.
    """
    import numpy as np

    from aapi.mdp import FiniteMDP, policy_values

    env, best = result.env, result.optimal_gain
    if not isinstance(env, FiniteMDP):
        return ""
    start, of_what = 0.0, "of the optimum"
    if env.rewards.min() < 0.0:
        uniform = np.full((env.num_states, env.num_actions), 1.0 / env.num_actions)
        try:
            start = float(policy_values(env, uniform).gains[env.initial_state])
        except (DoesNotExist, TooLarge):
            return ""
        of_what = "of the way from acting at random to the optimum"
    differ = best - start > 1e-9 * max(abs(best), abs(start))
    return f", {(earned - start) / (best - start):.1%} {of_what}" if differ else ""


def _learnt(result: Result) -> Iterator[tuple[str, str]]:
    """A row about the policies learnt."""
    gains = _learnt_gains(result)
    if gains is not None:
        worst = f"; worst {gains.min():.5g}" if len(gains) > 1 else ""
        yield "policy learnt", f"earns {_mean_and_std(gains)} in the long run, by the model{worst}"


def _beside_rule(result: Result) -> Iterator[tuple[str, str]]:
    """A row about the rule of thumb, if there is one."""
    if result.rule_steps is not None and result.trusted is not None:
        steps = result.rule_steps.mean()
        trusted = f"the learner is trusted in {result.trusted.sum()} of {len(result.runs)} runs"
        yield "rule", f"acted in {steps:.4g} steps of a run, {steps / result.num_steps:.1%}; in the end {trusted}"


def _diagnostics(result: Result) -> Iterator[tuple[str, str]]:
    """Rows about exploration, predictions and equations, where the algorithm has them."""
    if explored := result.explored.mean():
        yield "explored", f"{explored:.4g} steps of a run, {explored / result.num_steps:.1%}"
    if result.mean_surprise is not None:
        yield "surprise", f"{result.mean_surprise:.4g}, ‖Q̂ − M‖ over states and phases: prediction error"
    if result.conditioning is not None:
        yield "conditioning", f"{result.conditioning.max():.2g}, the worst condition number of the equations"


def _sizes(env: Problem) -> tuple[str, int]:
    """What is observed, in words, and the number of actions."""
    from aapi.environments import ContinuousProblem

    if isinstance(env, ContinuousProblem):
        return f"{len(env.low)} numbers observed", env.num_actions
    return plural(env.dynamics.num_states, "state"), env.dynamics.num_actions


def _optimum(result: Result) -> tuple[str, str]:
    """The row about the optimal gain, or what stands for it."""
    from aapi.environments import ContinuousProblem

    gain = f"{result.optimal_gain:.9g}"
    if result.mean_rewards is not None:
        return "optimal gain", f"{gain}, of the best fixed policy in hindsight"
    return "optimal gain", f"at most {gain}" if isinstance(result.env, ContinuousProblem) else gain


def _show(options: argparse.Namespace, result: Result, settings: Settings) -> None:
    """Print the table and the plot."""
    from aapi.mdp import FiniteMDP

    env, gain, average = result.env, result.optimal_gain, result.average_reward[:, -1]
    observed, num_actions = _sizes(env)
    share = _share(result, float(average.mean()))
    rows = [
        ("runs", f"{len(result.runs)}, of {result.num_steps} steps; means ± standard deviations over runs"),
        ("average reward", f"{_mean_and_std(average)}{share}; worst run {average.min():.5g}"),
        ("last tenth", _mean_and_std(result.average_reward_since(0.9))),
        *_learnt(result),
        _optimum(result),
        ("regret", _mean_and_std(result.regret[:, -1])),
        *_beside_rule(result),
        *_diagnostics(result),
        ("settings", format_settings(settings) or "all as by default"),
        ("time", f"{result.seconds:.2f} s, {_speed(result) / 1e6:.3g} million steps a second"),
    ]
    length = settings.get("phase_length")
    if isinstance(length, int) and length > options.steps:
        rows.insert(1, ("note", "the run is shorter than a phase: the first policy, uniform, was never improved"))
    print_table(f"{options.algorithm} on {options.problem}", f": {observed}, {plural(num_actions, 'action')}", rows)
    print("\naverage reward so far, mean over runs:")
    print(text_plot(result.grid, -result.curve.mean(axis=0), reference=gain, label="optimum"))
    if isinstance(env, FiniteMDP):
        print_picture(learned_picture(env, cast("NDArray[np.float64]", result.final_policy)))
