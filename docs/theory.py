"""Write docs/theory.md: the text of docs/theory.template.md, with what aapi.theory finds, and its pictures.

make theory
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np

import aapi
from aapi import theory
from aapi.cli.growth import COMPARED
from aapi.environments import access_control, deep_sea, ergodic, garnet, river_swim
from aapi.evaluation import MonteCarlo
from aapi.features import Aggregation
from aapi.presets import problem_settings
from aapi.registry.algorithms import ALGORITHMS, make_algorithm
from aapi.registry.problems import make_problem
from aapi.report.theory_figures import write_growth_figure, write_theory_figures
from aapi.statistics import confidence_band
from aapi.theory.errata import play, random_sequences
from aapi.theory.summary import online_terms

HERE = Path(__file__).parent
PROBLEMS = {"ergodic (5, 2)": ergodic(5, 2), "ergodic (10, 2)": ergodic(10, 2), "ergodic (20, 5)": ergodic(20, 5)}
STEPS, RUNS = 100_000, 20


def algorithm(name: str):
    """With the settings that `aapi theory ergodic` has."""
    return make_algorithm(name, {}, problem_settings("ergodic", PROBLEMS["ergodic (10, 2)"], name))[0]


def main() -> None:
    """Fill the template in."""
    rivals = {name: algorithm(name) for name in ("aapi-paper", "politex")}
    studies = {
        (problem, first): theory.examine({first: rivals[first]} | rivals, mdp, STEPS, RUNS)
        for (problem, mdp), first in product(PROBLEMS.items(), rivals)
    }
    inserts = {
        "identities": [identities()],
        "setup": [f"T = {STEPS:,}, {RUNS} runs"],
        "decomposition": decomposition(studies),
        "noise": pairs(studies, ("noise", "noise, by Poisson's equation")),
        "decay": decay(),
        "estimation": pairs(studies, ("estimation R1",)),
        "sequences": [sequences()],
        "online": online(studies),
        "relative": pairs(studies, ("relative Q, printed", "relative Q, proven"), digits=3),
        "exact": exact(),
        "theorem": the_theorem(studies),
        "ratios": [ratios(studies)],
        "growth": growth(rivals),
        "changing": changing(),
        "slips": slips(),
    }
    text = (HERE / "theory.template.md").read_text()
    filled = re.sub(r"<!-- (.+?) -->", lambda match: "\n".join(inserts[match[1]]), text)
    (HERE / "theory.md").write_text(filled)
    write_theory_figures(studies["ergodic (10, 2)", "aapi-paper"], HERE / "pictures", formats=("png",))
    for unused in ("noise", "online-learning"):
        (HERE / "pictures" / f"theory-{unused}.png").unlink()


def table(head, lines):
    """Markdown."""
    return [f"| {' | '.join(map(str, line))} |" for line in (head, ["---"] * len(head), *lines)]


def number(value, digits=4):
    """1,234 or 0.123."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.{digits}g}".replace("e+", "e")


def interval(values):
    """The mean over runs."""
    found = confidence_band(values)
    return f"{number(float(found.mean))} [{number(float(found.lower))}, {number(float(found.upper))}]"


def identities() -> str:
    """The largest residual over problems and algorithms."""
    problems = {
        "ergodic": ergodic(10, 2), "garnet": garnet(20, 3, 4), "river-swim": river_swim(6),
        "access-control": access_control(4), "deep-sea": deep_sea(5),
    }  # fmt: skip
    worst, count = 0.0, 0
    for (name, mdp), each in product(problems.items(), ALGORITHMS):
        made, _ = make_algorithm(each, {}, problem_settings(name, mdp, each) | {"phase_length": 200})
        found = theory.analysed_runs(made, mdp, 10_000, 5)
        worst, count = max(worst, float(found.decomposition.residual.max())), count + 1
    return (
        f"off by at most {worst:.0e} of the largest part, in {count} pairs of a problem and an algorithm "
        f"({', '.join(problems)}; {', '.join(ALGORITHMS)}; 5 runs of 10,000 steps each). "
        "Every analysis checks them to 1e-8."
    )


def decomposition(studies):
    """Totals."""
    lines = []
    for (problem, name), study in studies.items():
        parts = study.analysis.decomposition
        lines.append([problem, name, *(interval(parts.total(part)) for part in theory.PARTS[:5])])
    return table(["problem", "algorithm", "regret", "noise", "pseudo-regret", "R1", "R2"], lines)


def pairs(studies, names, digits=4):
    """Measurements beside their bounds."""
    lines = []
    for (problem, name), study in studies.items():
        found = {check.name: check for check in study.checks}
        chosen = [found[each] for each in names]
        texts = [f"{number(check.measured, digits)} ≤ {number(check.bound)}" for check in chosen]
        lines.append([problem, name, *texts])
    return table(["problem", "algorithm", *names], lines)


def decay():
    """ε₀ and C̃, for returns and features of several kinds."""
    mdp, lengths = ergodic(10, 2), [500 << i for i in range(7)]
    last = theory.analysed_runs(algorithm("aapi-paper"), mdp, STEPS, 1).last_policy
    kinds = [
        ("one-hot", 10, None, "uniform", None),
        ("one-hot", 40, None, "uniform", None),
        ("one-hot", 3, None, "uniform", None),
        ("5 groups of 2 states", 40, Aggregation(5), "uniform", None),
        ("2 groups of 5 states", 40, Aggregation(2), "uniform", None),
        ("one-hot", 40, None, "AAPI's last", last),
    ]
    lines = []
    for features, horizon, given, which, policy in kinds:
        evaluate = MonteCarlo(horizon=horizon, centre=True, ridge=0.1)
        found = theory.error_decay(mdp, evaluate, lengths, policy=policy, features=given)
        told = [
            f"{number(each.estimate, 2)} [{number(each.lower, 2)}, {number(each.upper, 2)}]"
            for each in (found.approximation_error, found.constant)
        ]
        lines.append([features, horizon, which, *told, number(found.quantiles[0], 2), number(found.quantiles[-1], 2)])
    head = ["features", "H", "policy", "ε₀", "C̃", f"error at τ = {lengths[0]}", f"at τ = {lengths[-1]:,}"]
    return table(head, lines)


def sequences() -> str:
    """Random games."""
    counts, total = dict.fromkeys(("corrected", "printed"), 0), 0
    for actions in (2, 3, 5, 10):
        game = play(*random_sequences(2500, 12, actions, seed=actions), theory.lemma_eta(actions))
        total += len(game.regret)
        counts["corrected"] += int((game.regret > game.bound).sum())
        counts["printed"] += int((game.regret > game.printed_lemma(actions)).sum())
    return (
        f"of {total:,} random sequences of twelve rounds, {counts['corrected']} exceed it, and {counts['printed']} "
        "the lemma as it is printed (tests/theory/test_online_learning.py)."
    )


def online(studies):
    """The terms of the bound on R2."""
    terms = ("regret", "stability", "regularisation", "movement", "prediction", "bound")
    lines = []
    for (problem, name), study in studies.items():
        found = online_terms(study.analysis)
        lines.append([problem, name, *(number(float(found[term].sum())) for term in terms)])
    return table(
        ["problem", "algorithm", "R2", "stability", "+ regularisation", "− movement", "+ prediction", "= bound"], lines
    )


def exact():
    """Regret after K phases."""
    mdp, counts = ergodic(10, 2), theory.doublings(3200, 6)
    parts = {"phase_length": 1, "evaluate": MonteCarlo(horizon=1)}
    learners = {
        "AAPI, η = 1": aapi.AAPI(eta=1.0, **parts),
        "POLITEX, temperature 10": aapi.Politex(eta=10.0, **parts),
        "POLITEX, tuned to K": aapi.Politex(eta=1.0, schedule="horizon", **parts),
    }
    lines = [
        [name, *(number(theory.exact_regret(learner, mdp, k)[-1]) for k in counts)]
        for name, learner in learners.items()
    ]
    return table(["K", *counts], lines)


def the_theorem(studies):
    """Rates and phase lengths."""
    lines = []
    for (problem, name), study in studies.items():
        if name != "aapi-paper":
            continue
        known, lengths = study.constants, study.phase_lengths
        time = f"{'' if known.mixing_time_exact else '≥ '}{known.mixing_time}"
        lines.append(
            [
                problem, time, number(known.mismatch), number(known.optimal_mismatch),
                number(study.decays["uniform"].constant.estimate, 3),
                number(float(study.analysis.decomposition.total("regret").mean())), number(study.theorem.rate),
                number(study.theorem.total),
                f"{number(lengths['mismatch'], 2)} or {number(lengths['optimal_mismatch'], 2)}",
            ]
        )  # fmt: skip
    head = ["problem", "t_mix", "ρ over policies", "ρ = 1/min μ_*", "C̃", "AAPI's regret", "rate", "at this τ",
            "τ recommended"]  # fmt: skip
    return table(head, lines)


def ratios(studies) -> str:
    """How much larger the rate is than the regret."""
    ours = [study for (_, name), study in studies.items() if name == "aapi-paper"]
    found = [study.theorem.rate / study.analysis.decomposition.total("regret").mean() for study in ours]
    return f"{min(found):,.0f} to {max(found):,.0f}"


def growth(rivals):
    """Exponents over doublings."""
    steps, lines = theory.doublings(1_600_000, 8), []
    for (problem, mdp), (name, made) in product(PROBLEMS.items(), rivals.items()):
        length = round(1000 * 16 ** (2 / 3))
        found = theory.regret_growth(made.with_phase_steps(length), mdp, steps, num_runs=RUNS, threads=2)
        p = found.exponent
        means = [number(value, 3) for value in np.mean(found.regrets, axis=1)]
        lines.append([problem, name, f"{p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}]", *means])
    return table(["problem", "algorithm", "p", *(f"T = {step:,}" for step in steps)], lines)


CHANGING = {"against-the-leader": "in turn", "against-the-policy": "in answer to π_k"}
SEEN = {"exact": "exact", "phase k": "monte-carlo", "all phases": "self-consistent"}
LARGEST = 204_800


def changing():
    """Exponents where rewards change, and their picture."""
    lines, panels = [], {}
    for (name, kind), (seen, evaluation) in product(CHANGING.items(), SEEN.items()):
        compared = COMPARED if seen != "all phases" else ("aapi-paper",) if name == "against-the-policy" else ()
        problem = make_problem(name, {})
        rivals = {
            each: make_algorithm(each, {"evaluation": evaluation}, problem_settings(name, problem, each))[0]
            for each in compared
        }
        found = theory.hindsight_growth(rivals, problem, LARGEST, 50, threads=2)
        if seen == "exact":
            panels[f"rewards {kind}"] = found.growth
        for each, growth in found.growth.items():
            p, means = growth.exponent, [number(value, 3) for value in growth.regrets.mean(axis=1)[[0, 3, 6]]]
            gains = number(float(found.gain_regret[each].mean), 3)
            lines.append([kind, seen, each, f"{p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}]", *means, gains])
    write_growth_figure(panels, HERE / "pictures" / "theory-changing-rewards", formats=("png",))
    steps = theory.doublings(LARGEST, 7)
    head = ["rewards", "Q̂ from", "algorithm", "p", *(f"T = {steps[i]:,}" for i in (0, 3, 6)), "of gains"]
    return table(head, lines)


def slips():
    """What the paper says, what holds, what shows it."""
    lines = [[each.name, each.printed, each.instead, each.shown] for each in theory.find_errata()]
    escaped = [[cell.replace("|", "&#124;") for cell in line] for line in lines]
    return table(["slip", "printed", "instead", "shown"], escaped)


if __name__ == "__main__":
    main()
