"""An algorithm on a problem, with every result of the paper's analysis beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aapi.algorithms import Politex
from aapi.errors import DoesNotExist
from aapi.evaluation import ExactQ
from aapi.theory.analysis import Analysis, analysed_runs
from aapi.theory.bounds import Constants, Theorem, constants, recommended_phase_length, theorem
from aapi.theory.evaluation_error import ErrorDecay, error_decay
from aapi.theory.growth import Growth, doublings, exact_regret, regret_growth
from aapi.theory.pairs import DELTA, Pair, pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.mdp import FiniteMDP

__all__ = ["Study", "study"]

DOUBLINGS = 5  # values of T
LENGTHS = 7  # values of τ
EXACT_PHASES = 1600
LARGEST_EXACT = 100  # states: beyond, thousands of exact evaluations take minutes


@dataclass(frozen=True, eq=False)
class Study:
    """What `study` found; `refused` has a reason for each part that is missing."""

    algorithm: str
    analysis: Analysis
    constants: Constants
    pairs: list[Pair]
    decays: dict[str, ErrorDecay]
    growth: dict[str, Growth]
    exact: dict[str, dict[int, float]]
    theorem: Theorem | None
    phase_lengths: dict[str, float]
    refused: dict[str, str]


def study(
    algorithms: Mapping[str, Any],
    mdp: FiniteMDP,
    num_steps: int,
    num_runs: int = 20,
    seed: int = 0,
    *,
    features: Any = None,
    threads: int = 1,
) -> Study:
    """Take the regret of the first of some algorithms apart, and compare its growth with that of the others.

    C̃ and ε₀ are fitted to evaluations of the first policy, which is uniform, and of the last one of the first run.
    """
    name, algorithm = next(iter(algorithms.items()))
    analysis = analysed_runs(algorithm, mdp, num_steps, num_runs, seed, features=features, threads=threads)
    known = constants(mdp)
    refused = dict(analysis.refused) | known.refused
    decays: dict[str, ErrorDecay] = {}
    evaluate = getattr(algorithm, "evaluate", None)
    lengths = doublings(max(64 * int(getattr(evaluate, "horizon", 1)), 1 << 14), LENGTHS)
    for which, policy in (("uniform", None), ("last", analysis.last_policy)):
        try:
            if evaluate is None:
                raise DoesNotExist("the algorithm has no evaluation of policies by itself")
            decays[which] = error_decay(
                mdp, evaluate, lengths, policy=policy, num_runs=50, seed=seed, delta=DELTA, features=features
            )
        except DoesNotExist as error:
            refused[f"decay_{which}"] = str(error)
    growth, learners = {}, dict[str, Any]()
    for each, compared in algorithms.items():
        try:
            growth[each] = regret_growth(
                compared, mdp, doublings(num_steps, DOUBLINGS), num_runs=num_runs, seed=seed, features=features,
                threads=threads,
            )  # fmt: skip
        except DoesNotExist as error:
            refused[f"growth_{each}"] = str(error)
        if hasattr(compared, "evaluate"):
            learners[each] = compared
    exact = _exact(learners, mdp, known, refused)
    found = _theorem(num_steps, algorithm.phase_length, known, decays.get("uniform"), refused)
    return Study(name, analysis, known, pairs(analysis, known), decays, growth, exact, *found, refused)


def _exact(
    learners: Mapping[str, Any], mdp: FiniteMDP, known: Constants, refused: dict[str, str]
) -> dict[str, dict[int, float]]:
    """Regret after K phases with exact Q, for several K; also of POLITEX at the temperature of its analysis."""
    if mdp.num_states > LARGEST_EXACT:
        refused["exact"] = f"exact Q-functions in every step are computed for at most {LARGEST_EXACT} states"
        return {}
    tuned = Politex(phase_length=1, evaluate=ExactQ(), eta=known.reward_range or 1.0, schedule="horizon")
    return {
        name: {k: float(exact_regret(learner, mdp, k)[-1]) for k in doublings(EXACT_PHASES, DOUBLINGS)}
        for name, learner in (dict(learners) | {"politex, tuned to K": tuned}).items()
    }


def _theorem(
    num_steps: int, phase_length: int, known: Constants, decay: ErrorDecay | None, refused: dict[str, str]
) -> tuple[Theorem | None, dict[str, float]]:
    missing = [name for name in ("mixing_time", "mismatch") if getattr(known, name) is None]
    if missing or decay is None:
        why = refused.get(missing[0] if missing else "decay_uniform", "C̃ is not known")
        refused["theorem"] = f"the theorem does not apply: {why}"
        return None, {}
    known_time, constant, scale = float(known.mixing_time or 1), decay.constant.estimate, known.reward_range or 1.0
    recommended = {
        name: recommended_phase_length(num_steps, mixing_time=known_time, mismatch=rho, constant=constant / scale)
        for name, rho in (("mismatch", known.mismatch), ("optimal_mismatch", known.optimal_mismatch))
        if rho is not None
    }
    unit = theorem(
        num_steps, phase_length, mixing_time=known_time, mismatch=float(known.mismatch or 1.0),
        constant=constant / scale, approximation_error=decay.approximation_error.estimate / scale,
    )  # fmt: skip
    scaled = Theorem(*(scale * value for value in (unit.noise, unit.estimation, unit.online_learning, unit.rate)))
    return scaled, recommended
