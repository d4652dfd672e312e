"""Errors of policy evaluation in the norms of the paper's condition, and how they decay with the phase length τ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.optimize

from aapi.batch import simulator
from aapi.checks import at_least, check_probability, one_of
from aapi.errors import DoesNotExist, InvalidInput
from aapi.evaluation import Evaluation, estimate, exact_q_values
from aapi.progress import progress_bar
from aapi.simulation import Stretch
from aapi.statistics import Interval, bootstrapped
from aapi.theory.phases import Comparator, Phases, make_comparator, policy_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers
    from aapi.features import Features
    from aapi.mdp import FiniteMDP

ERROR_NORMS = ("sup", "optimal", "current", "span")


@dataclass(frozen=True, eq=False)
class EvaluationErrors:
    """Norms of D_k = Q̂_k − Q_{π_k} in each evaluated phase, ([runs,] phases).

    sup: max |D_k(x, a)|; optimal: (Σ μ_*(x) π_*(a|x) D_k(x, a)²)^½; current: the same with π_k for π_*: the three of
    the condition. span: max_x (max_a − min_a) D_k(x, ·)/2, which is all that a Boltzmann policy notices of it.
    """

    sup: Array
    optimal: Array
    current: Array
    span: Array

    def norm(self, name: str) -> Array:
        """The errors in one of ERROR_NORMS."""
        return np.asarray(vars(self)[name])


def evaluation_errors(phases: Phases, against: Comparator) -> EvaluationErrors:
    """The errors of one run."""
    which = phases.evaluated
    return measure_errors(phases.q_hats - phases.q_values[which], phases.policies[which], against)


def measure_errors(errors: Array, policies: Array, against: Comparator) -> EvaluationErrors:
    """The norms of D, of shape (phases, states, actions)."""
    weights = against.distribution[:, None]
    return EvaluationErrors(
        sup=np.abs(errors).max(axis=(1, 2)),
        optimal=root_of_squares(errors, (1, 2), weights * against.policy),
        current=root_of_squares(errors, (1, 2), weights * policies),
        span=(np.ptp(errors, axis=2) / 2).max(axis=1),
    )


def root_of_squares(values: Array, axis: int | tuple[int, ...], weights: Array | float = 1.0) -> Array:
    """(Σ weights · values²)^½ over some axes; it neither over- nor underflows where the result does not."""
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    unit = np.where(np.isfinite(largest), 2.0 ** np.frexp(largest)[1].clip(-1000, 1000), 1.0)  # no digit is touched
    return np.asarray(np.squeeze(unit, axis) * np.sqrt((weights * (values / unit) ** 2).sum(axis=axis)))


@dataclass(frozen=True, eq=False)
class ErrorDecay:
    """Errors of the evaluation of one policy from phases of several lengths, and ε₀ + C̃ (ln(1/δ)/τ)^½ fitted to them.

    errors: (lengths, runs); quantiles: what a share 1 − δ of the runs stays below, (lengths,).
    approximation_error: ε₀, what more data does not mend; constant: C̃. Both are at least 0.
    """

    norm: str
    delta: float
    phase_lengths: Integers
    errors: Array
    quantiles: Array
    approximation_error: Interval
    constant: Interval

    def at(self, phase_length: float) -> float:
        """The fitted error for a phase of this length."""
        rate = math.sqrt(math.log(1.0 / self.delta) / phase_length)
        return self.approximation_error.estimate + self.constant.estimate * rate


def error_decay(
    mdp: FiniteMDP, evaluate: Evaluation, phase_lengths: Sequence[int], *, policy: ArrayLike | None = None,
    num_runs: int = 50, seed: int = 0, delta: float = 0.05, norm: str = "sup", features: Features | None = None,
) -> ErrorDecay:  # fmt: skip
    """Evaluate a policy, by default the uniform one, from phases of several lengths, and fit ε₀ and C̃.

    The fit is of relative errors, its intervals are over runs.
    """
    at_least(1, num_runs=num_runs)
    check_probability(delta=delta)
    one_of(ERROR_NORMS, norm=norm)
    for length in phase_lengths:
        at_least(1, phase_length=length)
    lengths = np.array(sorted(set(phase_lengths)))
    if len(lengths) < 2:
        raise InvalidInput(f"phase_lengths must be two different numbers at least, not {list(phase_lengths)}")
    evaluate.check(int(lengths[0]))
    uniform = np.full((mdp.num_states, mdp.num_actions), 1.0 / mdp.num_actions)
    table = policy_table(mdp, uniform if policy is None else policy)
    measured = _phase_errors(mdp, evaluate, table, lengths, num_runs, seed, features)
    errors = np.array([found.norm(norm) for found in measured])
    if not errors.min() > 0.0:
        raise DoesNotExist("the evaluation is exact: there is no error to fit")
    rates = np.sqrt(math.log(1.0 / delta) / lengths)
    constant, floor = bootstrapped(lambda sample: _fit(rates, np.quantile(sample, 1.0 - delta, axis=1)), errors)
    return ErrorDecay(norm, delta, lengths, errors, np.quantile(errors, 1.0 - delta, axis=1), floor, constant)


def _phase_errors(
    mdp: FiniteMDP, evaluate: Evaluation, table: Array, lengths: Integers, num_runs: int,
    seed: int, features: Features | None,
) -> Iterator[EvaluationErrors]:  # fmt: skip
    """The errors of evaluating a policy from one phase, (runs,), for each length of the phase."""
    against, exact = make_comparator(mdp), exact_q_values(mdp, table[None])[1][0]
    policies, simulate = np.repeat(table[None], num_runs, axis=0), simulator(mdp, features, seed)
    with progress_bar("phases of several lengths", int(lengths.sum())) as advance:
        for length in lengths.tolist():
            simulation = simulate(range(num_runs))
            data = simulation.rollout(Stretch(1, 0, length, policies), length)
            found = estimate(evaluate, simulation.space, policies, data)
            yield measure_errors(found.q_hat - exact, policies, against)
            advance(length)


def _fit(rates: Array, errors: Array) -> Array:
    """C̃ and ε₀, neither below zero, with the least squares of relative deviations."""
    columns = np.stack([rates, np.ones_like(rates)], axis=1) / errors[:, None]
    return np.asarray(scipy.optimize.nnls(columns, np.ones(len(errors)))[0])
