"""`aapi run`: an algorithm on a finite problem, many runs at once."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import TYPE_CHECKING, Any

from aapi.cli.problems import add_problem_arguments, read_problem
from aapi.cli.text import plural, print_facts, text_plot
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.algorithms import Algorithm, Result
    from aapi.mdp import FiniteMDP

__all__ = ["add_command"]

EXAMPLES = """examples:
  aapi run deep-sea --size 20 --algorithm aapi --eta 0.3 --steps 200000 --runs 50
  aapi run ergodic --states 10 --algorithm politex --eta 1 --threads 2
  aapi run river-swim --algorithm rlsvi --ridge 0.1 --json
"""

# What each algorithm can be told, beside --phase-length.
EVALUATION = ("evaluation", "horizon", "centre", "ridge")
OPTIONS = {
    "aapi": ("eta", "norm", "sampled", *EVALUATION),
    "politex": ("eta", "schedule", *EVALUATION),
    "ftrl": ("eta", "norm", *EVALUATION),
    "greedy": EVALUATION,
    "rlsvi": ("form", "horizon", "ridge", "noise_variance"),
}
DEFAULTS = {"phase_length": 1000, "horizon": 10, "centre": True, "ridge": 0.1, "eta": 0.3}


def add_command(commands: Any) -> None:
    """Add `run` to the command line."""
    command = commands.add_parser(
        "run",
        help="run an algorithm on a finite problem",
        description="Run an algorithm on a finite problem, many runs at once, and compare with the exact optimum.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_problem_arguments(command)
    command.add_argument("--algorithm", choices=OPTIONS, default="aapi", help="default: aapi")
    command.add_argument("--steps", type=int, default=100_000, metavar="T", help="steps of each run (default: 100000)")
    command.add_argument("--runs", type=int, default=20, metavar="N", help="number of runs (default: 20)")
    command.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="default: 1; changes no result")
    command.add_argument("--features", choices=("one-hot", "coordinates"), help="default: coordinates for deep-sea")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of table and plot")
    group = command.add_argument_group("the algorithm (defaults depend on the problem, and are printed)")
    group.add_argument("--phase-length", type=int, metavar="TAU", help="steps between two policies")
    group.add_argument("--eta", type=float, help="scale of the temperature (aapi, politex, ftrl)")
    group.add_argument("--norm", choices=("sup", "span"), help="how surprise is measured (aapi, ftrl)")
    group.add_argument("--sampled", type=int, metavar="N", help="estimate the rate from N past differences (aapi)")
    group.add_argument("--schedule", choices=("constant", "sqrt", "horizon"), help="of the temperature (politex)")
    group.add_argument("--evaluation", choices=("monte-carlo", "exact"), help="of policies (all but rlsvi)")
    group.add_argument("--horizon", type=int, metavar="H", help="length of returns; for rlsvi, number of sweeps")
    group.add_argument("--centre", action=argparse.BooleanOptionalAction, help="subtract the mean reward from returns")
    group.add_argument("--ridge", type=float, help="of the regression")
    group.add_argument("--form", choices=("relative", "finite-horizon", "discounted"), help="of rlsvi")
    group.add_argument("--noise-variance", type=float, metavar="V", help="of rlsvi (default: 1)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run and print."""
    from aapi.algorithms import run as run_algorithm

    mdp = read_problem(options)
    algorithm, settings = make_algorithm(options, mdp)
    try:
        result = run_algorithm(
            algorithm, mdp, options.steps, options.runs, options.seed, threads=options.threads,
            features=make_features(options.features), progress=not options.json and sys.stderr.isatty(),
        )  # fmt: skip
    except InvalidInput as error:
        name, _, rest = str(error).partition(" ")
        flag = {"num_steps": "--steps", "num_runs": "--runs", "num_sampled": "--sampled"}.get(name)
        if hasattr(options, name):
            flag = "--" + name.replace("_", "-")
        raise InvalidInput(f"{flag or name} {rest}") from None
    facts = describe(result)
    if options.json:
        print(json.dumps(facts | {"settings": settings}, allow_nan=False))
    else:
        show(options, mdp, result, facts, settings)


def make_algorithm(options: argparse.Namespace, mdp: FiniteMDP) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm that the command line describes, and its settings with all defaults filled in."""
    from aapi import algorithms, evaluation

    takes = ("phase_length", *OPTIONS[options.algorithm])
    every = {name for names in OPTIONS.values() for name in names}
    for name in sorted(every - set(takes)):
        if getattr(options, name) is not None:
            flags = ", ".join("--" + allowed.replace("_", "-") for allowed in takes)
            raise InvalidInput(f"{options.algorithm} takes {flags}, not --{name.replace('_', '-')}")
    given = {name: getattr(options, name) for name in takes if getattr(options, name) is not None}
    exact = given.pop("evaluation", "monte-carlo") == "exact"
    if exact and (superfluous := [name for name in ("horizon", "centre", "ridge") if name in given]):
        raise InvalidInput(f"exact evaluation takes no --{superfluous[0]}")
    defaults = DEFAULTS | (_deep_sea_defaults(mdp) if options.problem == "deep-sea" else {})
    settings = {name: value for name, value in defaults.items() if name in takes} | given
    arguments = dict(settings)
    if options.algorithm == "rlsvi":
        return algorithms.RLSVI(**arguments), settings
    returns = {name: arguments.pop(name) for name in ("horizon", "centre", "ridge")}
    if exact:
        settings = {name: value for name, value in settings.items() if name not in returns} | {"evaluation": "exact"}
    arguments["evaluate"] = evaluation.ExactQ() if exact else evaluation.MonteCarlo(**returns)
    if "sampled" in arguments:
        arguments["num_sampled"] = arguments.pop("sampled")
    makers: dict[str, Any] = {
        "aapi": algorithms.AAPI,
        "politex": algorithms.Politex,
        "ftrl": algorithms.AdaptiveFTRL,
        "greedy": algorithms.GreedyAPI,
    }
    return makers[options.algorithm](**arguments), settings


def _deep_sea_defaults(mdp: FiniteMDP) -> dict[str, Any]:
    size = math.isqrt(mdp.num_states)
    return {"phase_length": 30 * size, "horizon": 2 * size, "centre": False, "ridge": 1.0}


def make_features(name: str | None) -> Any:
    """The feature map of that name; None leaves the choice to the model."""
    from aapi import features

    return {None: lambda: None, "one-hot": features.OneHot, "coordinates": features.Coordinates}[name]()


def describe(result: Result) -> dict[str, Any]:
    """What `--json` prints."""
    average = result.average_reward[:, -1]
    last_tenth = result.average_reward_since(0.9)
    return {
        "average_reward": _mean_and_std(average) | {"worst": float(average.min())},
        "optimal_gain": result.optimal_gain,
        "regret": _mean_and_std(result.regret[:, -1]),
        "last_tenth": float(last_tenth.mean()),
        "last_tenth_std": _mean_and_std(last_tenth)["std"],
        "runs": len(result.runs),
        "steps": result.num_steps,
        "seconds": result.seconds,
        "steps_per_second": len(result.runs) * result.num_steps / result.seconds,
    }


def _mean_and_std(values: Any) -> dict[str, float]:
    scale = float(abs(values).max()) or 1.0  # squares of large rewards would overflow
    deviation = scale * float((values / scale).std(ddof=1)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "std": deviation}


def show(
    options: argparse.Namespace, mdp: FiniteMDP, result: Result, facts: dict[str, Any], settings: dict[str, Any]
) -> None:
    """Print table and plot for people."""
    average, regret, gain = facts["average_reward"], facts["regret"], facts["optimal_gain"]
    share = f", {average['mean'] / gain:.1%} of the optimum" if gain > 0 else ""
    shown = (f"{name.replace('_', ' ')} {value}" for name, value in settings.items())
    size = f"{plural(mdp.num_states, 'state')}, {plural(mdp.num_actions, 'action')}"
    rows = [
        ("runs", f"{facts['runs']}, of {facts['steps']} steps; means ± standard deviations over runs"),
        ("average reward", f"{average['mean']:.5g} ± {average['std']:.2g}{share}; worst run {average['worst']:.5g}"),
        ("last tenth", f"{facts['last_tenth']:.5g} ± {facts['last_tenth_std']:.2g}"),
        ("optimal gain", f"{gain:.9g}"),
        ("regret", f"{regret['mean']:.5g} ± {regret['std']:.2g}"),
        ("settings", ", ".join(shown)),
        ("time", f"{facts['seconds']:.2f} s, {facts['steps_per_second'] / 1e6:.3g} million steps a second"),
    ]
    if settings["phase_length"] > options.steps:
        rows.insert(1, ("note", "the run is shorter than a phase: the first policy, uniform, was never improved"))
    title = f"{options.algorithm} on {options.problem}"
    print_facts(title, f": {size}", rows)
    print("\naverage reward so far, mean over runs:")
    print(text_plot(result.grid, -result.curve.mean(axis=0), reference=gain, label="optimum"))
