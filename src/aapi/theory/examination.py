"""An algorithm on a problem, with every result of the paper's analysis beside what was measured."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING

from aapi.errors import DoesNotExist, InvalidInput
from aapi.evaluation import ExactQ, as_evaluation
from aapi.learners import PolicyIteration, Politex
from aapi.theory import bounds
from aapi.theory.analysis import Analysis, analysed_runs
from aapi.theory.bounds import DELTA, BoundCheck, Constants, Theorem, attempt, check_bounds, constants
from aapi.theory.evaluation_error import ErrorDecay, error_decay
from aapi.theory.growth import Growth, doublings, exact_regret, regret_growth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.array_types import Array
    from aapi.features import Features
    from aapi.learners.learner import AnyLearner
    from aapi.mdp import FiniteMDP

DOUBLINGS = 5  # values of T
LENGTHS = 7  # values of τ
EXACT_PHASES = 1600
LARGEST_EXACT = 100  # states: beyond, thousands of exact evaluations take minutes


@dataclass(frozen=True, eq=False)
class Examination:
    """What `examine` found; `refused` has a reason for each part that is missing.

    checks: each lemma about runs with its bound, and what was measured.
    decays: errors of evaluating the first policy, which is uniform, and the last one of the first run.
    growth: of regret with T; exact: regret after K phases with exact Q, for several K; both by algorithm.
    phase_lengths: what the theorem recommends, by `mismatch` and by `optimal_mismatch`.
    """

    algorithm: str
    analysis: Analysis
    constants: Constants
    checks: list[BoundCheck]
    decays: dict[str, ErrorDecay]
    growth: dict[str, Growth]
    exact: dict[str, dict[int, float]]
    theorem: Theorem | None
    phase_lengths: dict[str, float]
    refused: dict[str, str]


def examine(
    algorithms: Mapping[str, AnyLearner], mdp: FiniteMDP, num_steps: int, num_runs: int = 20, seed: int = 0, *,
    features: Features | None = None, threads: int = 1,
) -> Examination:  # fmt: skip
    """Take the regret of the first of some algorithms apart, and compare its growth with that of the others."""
    if not algorithms:
        raise InvalidInput("algorithms must be a mapping from names to learners, and not empty")
    name, first = next(iter(algorithms.items()))
    analysis = analysed_runs(first, mdp, num_steps, num_runs, seed, features=features, threads=threads)
    known = constants(mdp)
    refused = analysis.refused | known.refused
    decays = _decays(first, mdp, seed, features, analysis, refused)
    growth: dict[str, Growth] = {}
    grow = partial(regret_growth, num_runs=num_runs, seed=seed, features=features, threads=threads)
    for each, algorithm in algorithms.items():
        compute = partial(grow, algorithm, mdp, doublings(num_steps, DOUBLINGS))
        if (grown := attempt(refused, f"growth_{each}", compute)) is not None:
            growth[each] = grown
    length = analysis.lengths.mean() if first.phase_steps is None else first.phase_steps  # of a schedule, the mean
    found = _theorem(num_steps, float(length), known, decays.get("uniform"), refused)
    exact = _exact(algorithms, mdp, known, refused)
    return Examination(name, analysis, known, check_bounds(analysis, known), decays, growth, exact, *found, refused)


def _decays(
    algorithm: AnyLearner, mdp: FiniteMDP, seed: int, features: Features | None, analysis: Analysis,
    refused: dict[str, str],
) -> dict[str, ErrorDecay]:  # fmt: skip
    """How errors decay with τ, for the first policy and a last one."""
    lengths = doublings(max(64 * algorithm.inner.shortest_phase, 1 << 14), LENGTHS)

    def decay(policy: Array | None) -> ErrorDecay:
        if not isinstance(algorithm.inner, PolicyIteration):
            raise DoesNotExist("the algorithm has no evaluation of policies by itself")
        evaluate = as_evaluation(algorithm.inner.evaluate)
        return error_decay(mdp, evaluate, lengths, policy=policy, seed=seed, delta=DELTA, features=features)

    policies = {"uniform": None, "last": analysis.last_policy}
    found = {name: attempt(refused, f"decay_{name}", partial(decay, policy)) for name, policy in policies.items()}
    return {name: each for name, each in found.items() if each is not None}


def _exact(
    algorithms: Mapping[str, AnyLearner], mdp: FiniteMDP, known: Constants, refused: dict[str, str]
) -> dict[str, dict[int, float]]:
    """Regret after K phases with exact Q, for several K; also of POLITEX at the temperature of its analysis."""
    if mdp.num_states > LARGEST_EXACT:
        refused["exact"] = f"exact Q-functions in every step are computed for at most {LARGEST_EXACT} states"
        return {}
    tuned = Politex(phase_length=1, evaluate=ExactQ(), eta=known.reward_range or 1.0, schedule="horizon")
    learners = {name: each for name, each in algorithms.items() if isinstance(each.inner, PolicyIteration)}
    return {
        name: {k: float(exact_regret(learner, mdp, k)[-1]) for k in doublings(EXACT_PHASES, DOUBLINGS)}
        for name, learner in (learners | {"politex, tuned to K": tuned}).items()
    }


def _theorem(
    num_steps: int, phase_length: float, known: Constants, decay: ErrorDecay | None, refused: dict[str, str]
) -> tuple[Theorem | None, dict[str, float]]:
    """The bound for rewards of this range, and the phase lengths that it recommends."""
    time, rho = known.mixing_time, known.mismatch
    if time is None or rho is None or decay is None:
        why = next(refused[name] for name in ("mixing_time", "mismatch", "decay_uniform") if name in refused)
        refused["theorem"] = f"the theorem does not apply: {why}"
        return None, {}
    scale = known.reward_range or 1.0  # it is about rewards in [0, 1]
    constant, floor = decay.constant.estimate / scale, decay.approximation_error.estimate / scale
    unit = bounds.theorem(
        num_steps, phase_length, mixing_time=time, mismatch=rho, constant=constant, approximation_error=floor
    )
    recommended = {
        name: bounds.recommended_phase_length(num_steps, mixing_time=time, mismatch=each, constant=constant)
        for name, each in (("mismatch", rho), ("optimal_mismatch", known.optimal_mismatch))
        if each is not None
    }
    return Theorem(*(scale * term for term in astuple(unit))), recommended
