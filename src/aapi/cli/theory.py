"""`aapi theory`: the decomposition of regret, and the bounds of the paper."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from aapi.cli import arguments
from aapi.cli.growth import COMPARED, about, growth_lines, hand_out, theory_in_hindsight
from aapi.cli.parser import add_command, add_json
from aapi.cli.text import plural, print_lines, print_table
from aapi.errors import InvalidInput, install_extra
from aapi.presets import problem_settings
from aapi.progress import showing_progress
from aapi.registry.feature_words import FINITE_HELP, make_features
from aapi.report.formatting import format_interval, format_number, format_settings
from aapi.report.theory_data import RegretParts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from aapi.cli.parser import Commands
    from aapi.environments import ChangingRewards
    from aapi.features import Features
    from aapi.json_types import Setting
    from aapi.learners.learner import AnyLearner
    from aapi.mdp import FiniteMDP
    from aapi.theory import Examination


EXAMPLES = """examples:
  aapi theory ergodic --states 10 --actions 2               the decomposition of AAPI's regret, and the bounds
  aapi theory ergodic --algorithm politex --out theory      the same for POLITEX, with figures
  aapi theory ergodic --features aggregate:5                the cost of the wrong features
  aapi theory deep-sea --size 5 --json                      a problem that is not ergodic: some bounds do not exist
  aapi theory against-the-leader --out theory               rewards that change: greedy, AAPI and POLITEX in hindsight
  aapi theory slips                                         errors in the paper, with numbers that show them
"""
NAMES = {
    "regret": ("regret", "Σ (λ* − r)"),
    "noise": ("= noise", "Σ (λ_π − r)"),
    "pseudo_regret": ("+ pseudo-regret", "Σ τ (λ* − λ_π)"),
    "estimation": ("  = estimation R1", "errors of Q̂"),
    "online_learning": ("  + online learning R2", "regret measured by Q̂"),
    "confinement": ("  + confinement", "gain varies by state"),
    "unevaluated": ("  + unevaluated", "phases without Q̂"),
}


class TheorySummary(RegretParts):
    """What the tables show of what `--json` prints; see `examination_summary`."""

    phases: int
    settings: dict[str, Setting]
    residual: float
    refused: dict[str, str]


def add_theory(commands: Commands) -> None:
    """Add `theory` to the command line."""
    command = add_command(
        commands, "theory", theory, epilog=EXAMPLES, help="the decomposition of regret, and the bounds of the paper",
        description="Run an algorithm on a finite problem, decompose its regret exactly, and check every lemma.",
    )  # fmt: skip
    arguments.add_problem(command, "a model file (.npz, .npy or .csv), or slips: the errors in the paper", finite=True)
    arguments.add_runs(command)
    command.add_argument("--features", metavar="F", help=f"one-hot, {FINITE_HELP}")
    figures = f"write figures ({install_extra('plots')}) and theory.json there"
    command.add_argument("--out", metavar="DIR", help=figures)
    add_json(command, "print one JSON object instead of tables")
    arguments.add_algorithm(command, default="aapi-paper")


def theory(options: argparse.Namespace) -> None:
    """Examine and print."""
    if options.problem == "slips":
        if options.parser.given(options) - {"problem", "json"}:
            raise InvalidInput("slips takes --json and nothing else")
        show_slips(options)
        return
    from aapi.environments import ContinuousProblem
    from aapi.mdp import FiniteMDP

    problem = arguments.read_problem(options)
    if isinstance(problem, ContinuousProblem):
        raise InvalidInput(f"{options.problem} has no finite model, and the theory needs one: choose another problem")
    features = make_features(options.features, finite=True, vectors=False)
    if options.out is not None:
        check_out(Path(options.out))
    algorithms, settings = read_algorithms(options, problem)
    if isinstance(problem, FiniteMDP):
        theory_of_model(options, problem, algorithms, settings, features)
    else:
        theory_in_hindsight(options, problem, algorithms, settings, features)


def theory_of_model(
    options: argparse.Namespace, problem: FiniteMDP, algorithms: Mapping[str, AnyLearner],
    settings: Mapping[str, Setting], features: Features | None,
) -> None:  # fmt: skip
    """Decompose the regret of the first algorithm, and check every lemma."""
    from aapi.report.theory_figures import write_theory_figures
    from aapi.theory import examine
    from aapi.theory.summary import examination_summary

    with arguments.errors_name_flags(options), showing_progress(not options.json and sys.stderr.isatty()):
        found = examine(
            algorithms, problem, options.steps, options.runs, options.seed, threads=options.threads, features=features
        )
    summary = about(options, settings) | examination_summary(found)
    if not options.json:
        show(options, problem, found, cast("TheorySummary", summary))
    hand_out(options, summary, lambda out: write_theory_figures(found, out, progress=not options.json))


def read_algorithms(
    options: argparse.Namespace, problem: FiniteMDP | ChangingRewards
) -> tuple[dict[str, AnyLearner], dict[str, Setting]]:
    """The algorithm of the command line, those that it is compared with, and the settings of the first."""
    from aapi.registry.algorithms import make_algorithm, takes

    algorithm, settings = arguments.read_algorithm_for(options, problem)
    if "phase_length" not in settings:
        raise InvalidInput(f"the theory is of phases, and {options.algorithm} has none: choose another algorithm")
    algorithms, given = {options.algorithm: algorithm}, arguments.given_settings(options)
    evaluates = "evaluation" in takes(options.algorithm)
    shared = {name: given[name] for name in takes("greedy") if name in given and evaluates}
    for name in COMPARED if problem.reward_sequence is not None else ("aapi-paper", "politex"):
        if name not in algorithms:
            rival = problem_settings(options.problem, problem, name) | {"phase_length": settings["phase_length"]}
            algorithms[name] = make_algorithm(name, shared, rival)[0]
    return algorithms, settings


def check_out(out: Path) -> None:
    """Raise an error now, before a long computation, if figures cannot be drawn or the folder cannot be made."""
    from aapi.report.panels import drawing, make_folder

    with drawing():
        pass
    make_folder(out)


def show_slips(options: argparse.Namespace) -> None:
    """Print each error in the paper: what is printed, the correction, and what shows it."""
    import dataclasses

    from aapi.theory import find_errata

    found = find_errata()
    if options.json:
        print(json.dumps([dataclasses.asdict(slip) for slip in found]))
        return
    for i, slip in enumerate(found):
        rows = [("printed", slip.printed), ("instead", slip.instead), ("shown", slip.shown)]
        print_table(("\n" if i else "") + slip.name, "", rows)


def show(options: argparse.Namespace, problem: FiniteMDP, found: Examination, summary: TheorySummary) -> None:
    """Print the tables."""
    constants, missing = found.constants, found.constants.refused
    length, of_length = summary["settings"]["phase_length"], "growing length"
    if isinstance(length, int):
        of_length = f"{'' if options.steps % length == 0 else 'at most '}{length}"
    exact = "" if constants.mixing_time_exact else ", a lower bound from a search"
    size = f": {plural(problem.num_states, 'state')}, {plural(problem.num_actions, 'action')}"
    rows = [
        ("runs", f"{summary['runs']}, of {options.steps} steps, {plural(summary['phases'], 'phase')} of {of_length}; "
                 "means over runs with 95 % intervals"),
        ("settings", format_settings(summary["settings"])),
        ("optimal gain", f"{constants.gain:.9g}"),
        ("mixing time", missing.get("mixing_time") or f"{constants.mixing_time} over deterministic policies{exact}"),
        ("contraction time", missing.get("contraction_time") or f"{constants.contraction_time:.4g} for all policies"),
        ("mismatch ρ", missing.get("mismatch") or f"{constants.mismatch:.5g} over all policies (the theorem's)"),
        ("", missing.get("optimal_mismatch") or f"{constants.optimal_mismatch:.5g} of the optimal one (its proof's)"),
    ]  # fmt: skip
    print_table(f"{options.algorithm} on {options.problem}", size, rows)
    print_lines("decomposition of regret", _decomposition(summary))
    print_lines("bounds and measurements, of the run that comes closest", _checks(summary, missing))
    print_lines("online learning: the bound on R2, term by term, means over runs", _terms(summary))
    print_lines("evaluation: a share of 95 % has sup-norm errors below ε₀ + C̃ (ln(1/δ)/τ)^½", _evaluation(found))
    print_lines("the theorem", _theorem(found, summary))
    refused = {key[7:]: why for key, why in found.refused.items() if key.startswith("growth_")}
    print_lines("growth: regret ~ T^p, with τ ~ T^⅔", growth_lines(found.growth, refused))
    print_lines("exact Q, τ = 1: regret after K phases", _exact(found))


def _decomposition(summary: TheorySummary) -> Iterator[str]:
    for part, value in summary["totals"].items():
        name, meaning = NAMES[part]
        yield f"{name:24}{format_interval(value['mean'], value['lower'], value['upper']):32}{meaning}".rstrip()
    yield f"The identities hold to {summary['residual']:.1e} of the largest part."
    notes = (
        (summary["stiff"], "Q is too large to check them: R1 is what they leave there."),
        (summary["multichain"], "the gain depends on the state: that of the first state is shown."),
    )
    for count, note in notes:
        if count:
            yield f"In {plural(count, 'phase')} of all runs {note}"


def _checks(summary: TheorySummary, above: dict[str, str]) -> Iterator[str]:
    """above: reasons that were printed already."""
    for pair in summary["pairs"]:
        name, measured = pair["name"], format_number(pair["measured"])
        if pair["bound"] is None:
            given = [what for what, reason in above.items() if reason == pair["reason"]]
            why = f"there is no {given[0].replace('_', ' ')}, see above" if given else pair["reason"]
            yield f"{name:30}{measured:>12}   no bound: {why}"
        else:
            yield f"{name:30}{measured:>12} {'≤' if pair['holds'] else 'EXCEEDS'} {format_number(pair['bound'])}"
        yield f"  {pair['statement']}"
    yield "Bounds of probability hold with 1 − δ = 95 %; those for rewards in [0, 1] are multiplied by their range."


def _terms(summary: TheorySummary) -> Iterator[str]:
    terms = summary["online_learning"]
    if terms is None:
        yield summary["refused"].get("online_learning", "phases of different lengths count the same")
        return
    exceeded = f"exceeded in {terms['exceeded']} of {summary['runs'] * len(terms['bound'])} states of runs"
    for sign, name, values, meaning in (
        (" ", "regret", terms["regret"], "R2, which the terms are a bound on"),
        (" ", "stability", terms["stability"], "the cost of errors of prediction"),
        ("+", "regularisation", terms["regularisation"], "the cost of staying near uniform"),
        ("−", "movement", terms["movement"], "the gain from moving policies"),
        ("+", "prediction", terms["prediction"], "the term of the last prediction"),
        ("=", "bound", terms["bound"], exceeded),
    ):
        yield f"{sign} {name:22}{format_number(sum(filter(None, values))):>10}   {meaning}"


def _evaluation(found: Examination) -> Iterator[str]:
    for name in ("uniform", "last"):
        if name not in found.decays:
            yield f"{name + ' policy':16}{found.refused[f'decay_{name}']}"
            continue
        decay = found.decays[name]
        floor, constant = decay.approximation_error, decay.constant
        shown = f"ε₀ {format_interval(floor.estimate, floor.lower, floor.upper)}"
        yield f"{name + ' policy':16}{shown:32}C̃ {format_interval(constant.estimate, constant.lower, constant.upper)}"


def _theorem(found: Examination, summary: TheorySummary) -> Iterator[str]:
    if found.theorem is None:
        yield found.refused["theorem"]
        return
    lengths = " or ".join(format_number(value) for value in found.phase_lengths.values())
    regret, rate = format_number(summary["totals"]["regret"]["mean"]), format_number(found.theorem.rate)
    yield f"regret        {regret:>8}   its rate t² (ρ C̃²)^⅓ T^⅔ + T ε₀: {rate}"
    yield f"{'':25}its proof's bound at this τ: {format_number(found.theorem.total)}"
    yield f"phase length  {summary['settings']['phase_length']:>8}   recommended: {lengths}, by either ρ"
    yield "C̃ and ε₀ are those of the uniform policy; rates leave out constants and logarithms."


def _exact(found: Examination) -> Iterator[str]:
    if not found.exact:
        yield found.refused["exact"]
        return
    counts = next(iter(found.exact.values()))
    yield "At the settings above; POLITEX also with the temperature that its analysis asks for."
    yield f"{'K':22}" + "".join(f"{k:>10}" for k in counts)
    for name, regrets in found.exact.items():
        yield f"{name:22}" + "".join(f"{format_number(regret):>10}" for regret in regrets.values())
