"""`aapi run`: an algorithm on a built-in problem or a model, many runs at once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TypedDict, cast

from aapi.cli.algorithms import add_algorithm_arguments, name_the_flag, read_algorithm
from aapi.cli.pictures import learned_picture
from aapi.cli.problems import add_problem_arguments, read_problem
from aapi.cli.text import plural, print_picture, print_table, text_plot
from aapi.errors import InvalidInput
from aapi.presets import problem_settings
from aapi.registry.feature_words import FEATURES_HELP, FINITE_HELP, make_features

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from aapi.cli.parser import Commands
    from aapi.json_types import Settings
    from aapi.result import Result


EXAMPLES = """examples:
  aapi run deep-sea --size 20 --algorithm aapi-paper --eta 0.3 --steps 200000 --runs 50
  aapi run river-swim --states 12 --steps 200000 --threads 2
  aapi run ergodic --states 10 --algorithm politex --eta 1 --threads 2
  aapi run cartpole --features fourier:4 --runs 10 --threads 2
  aapi run river-swim --algorithm rlsvi --ridge 0.1 --json
"""


class MeanAndStd(TypedDict):
    """Of a number, over runs."""

    mean: float
    std: float


class AverageReward(MeanAndStd):
    """Also of the worst run."""

    worst: float


class RunSummary(TypedDict):
    """What `--json` prints, except for the settings."""

    average_reward: AverageReward
    optimal_gain: float
    regret: MeanAndStd
    last_tenth: float
    last_tenth_std: float
    explored: float
    surprise: float | None
    conditioning: float | None
    runs: int
    steps: int
    seconds: float
    steps_per_second: float


def add_command(commands: Commands) -> None:
    """Add `run` to the command line."""
    command = commands.add_parser(
        "run",
        help="run an algorithm on a built-in problem or a model",
        description="Run an algorithm on a problem, many runs at once, and compare with the optimum.",
        epilog=EXAMPLES,
    )
    add_problem_arguments(command)
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps of each run (default: 100000)")
    command.add_argument("--runs", type=int, default=20, metavar="N", help="number of runs (default: 20)")
    command.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="default: 1; changes no result")
    command.add_argument("--features", metavar="F", help=f"{FEATURES_HELP}; finite: {FINITE_HELP}")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of table and plot")
    add_algorithm_arguments(command, exact=True)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run and print."""
    from aapi.batch import run as run_algorithm

    problem = read_problem(options)
    algorithm, settings = read_algorithm(options, problem_settings(options.problem, problem, options.algorithm))
    try:
        result = run_algorithm(
            algorithm, problem, options.steps, options.runs, options.seed, threads=options.threads,
            features=make_features(options.features, finite=True), progress=not options.json and sys.stderr.isatty(),
        )  # fmt: skip
    except InvalidInput as error:
        raise name_the_flag(error, options) from None
    summary = summarise(result)
    if options.json:
        print(json.dumps({**summary, "settings": settings}, allow_nan=False))
    else:
        show(options, result, summary, settings)


def summarise(result: Result) -> RunSummary:
    """Means over runs, and their standard deviations."""
    average = result.average_reward[:, -1]
    last_tenth = result.average_reward_since(0.9)
    return {
        "average_reward": {**_mean_and_std(average), "worst": float(average.min())},
        "optimal_gain": result.optimal_gain,
        "regret": _mean_and_std(result.regret[:, -1]),
        "last_tenth": float(last_tenth.mean()),
        "last_tenth_std": _mean_and_std(last_tenth)["std"],
        "explored": float(result.explored.mean()),
        "surprise": None if result.surprise is None else float(result.surprise.mean()),
        "conditioning": None if result.conditioning is None else float(result.conditioning.max()),
        "runs": len(result.runs),
        "steps": result.num_steps,
        "seconds": result.seconds,
        "steps_per_second": len(result.runs) * result.num_steps / result.seconds,
    }


def _mean_and_std(values: NDArray[np.float64]) -> MeanAndStd:
    scale = float(abs(values).max()) or 1.0  # squares of large rewards would overflow
    deviation = scale * float((values / scale).std(ddof=1)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "std": deviation}


def diagnostics(summary: RunSummary) -> Iterator[tuple[str, str]]:
    """Rows about exploration, predictions and equations, where the algorithm has them."""
    if summary["explored"]:
        yield "explored", f"{summary['explored']:.4g} steps of a run, {summary['explored'] / summary['steps']:.1%}"
    if summary["surprise"] is not None:
        yield "surprise", f"{summary['surprise']:.4g}, ‖Q̂ − M‖ over states and phases: prediction error"
    if summary["conditioning"] is not None:
        yield "conditioning", f"{summary['conditioning']:.2g}, the worst condition number of the equations"


def show(options: argparse.Namespace, result: Result, summary: RunSummary, settings: Settings) -> None:
    """Print the table and the plot."""
    from aapi.mdp import FiniteMDP

    average, regret, gain = summary["average_reward"], summary["regret"], summary["optimal_gain"]
    share = f", {average['mean'] / gain:.1%} of the optimum" if gain > 0 else ""
    shown = (f"{name.replace('_', ' ')} {value}" for name, value in settings.items())
    env = result.env
    finite = isinstance(env, FiniteMDP)
    observed = plural(env.num_states, "state") if isinstance(env, FiniteMDP) else f"{len(env.low)} numbers observed"
    size = f"{observed}, {plural(env.num_actions, 'action')}"
    rows = [
        ("runs", f"{summary['runs']}, of {summary['steps']} steps; means ± standard deviations over runs"),
        ("average reward", f"{average['mean']:.5g} ± {average['std']:.2g}{share}; worst run {average['worst']:.5g}"),
        ("last tenth", f"{summary['last_tenth']:.5g} ± {summary['last_tenth_std']:.2g}"),
        ("optimal gain", f"{gain:.9g}" if finite else f"at most {gain:.9g}"),
        ("regret", f"{regret['mean']:.5g} ± {regret['std']:.2g}"),
        *diagnostics(summary),
        ("settings", ", ".join(shown)),
        ("time", f"{summary['seconds']:.2f} s, {summary['steps_per_second'] / 1e6:.3g} million steps a second"),
    ]
    if isinstance(settings["phase_length"], int) and settings["phase_length"] > options.steps:
        rows.insert(1, ("note", "the run is shorter than a phase: the first policy, uniform, was never improved"))
    title = f"{options.algorithm} on {options.problem}"
    print_table(title, f": {size}", rows)
    print("\naverage reward so far, mean over runs:")
    print(text_plot(result.grid, -result.curve.mean(axis=0), reference=gain, label="optimum"))
    if isinstance(env, FiniteMDP):
        print_picture(learned_picture(env, cast("NDArray[np.float64]", result.final_policy)))
