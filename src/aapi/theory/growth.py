"""How regret grows with T, and with the number of phases when Q-functions are exact."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.batch import run, space_of
from aapi.checks import at_least
from aapi.errors import DoesNotExist, InvalidInput
from aapi.evaluation import ExactQ, exact_q_values
from aapi.learners import PolicyIteration
from aapi.mdp import FiniteMDP, solve
from aapi.progress import progress_bar
from aapi.statistics import Interval, bootstrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.array_types import Array, Integers
    from aapi.environments import ChangingRewards
    from aapi.features import Features
    from aapi.learners.learner import AnyLearner


@dataclass(frozen=True, eq=False)
class Growth:
    """Regret for several T = steps, with τ = phase_lengths, both (T,); regrets: (T, runs).

    exponent: p in regret ≈ c T^p, the slope of the logarithm of the mean over runs; its interval is over runs.
    """

    steps: Integers
    phase_lengths: Integers
    regrets: Array
    exponent: Interval
    intercept: float

    def at(self, num_steps: Integers) -> Array:
        """The fitted regret."""
        return np.asarray(np.exp(self.intercept + self.exponent.estimate * np.log(num_steps)))


def doublings(largest: int, count: int) -> list[int]:
    """largest/2^(count − 1), …, largest/2, largest."""
    at_least(1, largest=largest, count=count)
    return [largest >> i for i in reversed(range(count)) if largest >> i]


def regret_growth(
    algorithm: AnyLearner, mdp: FiniteMDP | ChangingRewards, steps: Sequence[int], *, num_runs: int = 20, seed: int = 0,
    power: float = 2.0 / 3.0, features: Features | None = None, threads: int = 1,
) -> Growth:  # fmt: skip
    """Run an algorithm for several T, its phase length scaled as T^power, and fit the exponent of its regret.

    The algorithm's own phase length is that of the largest T. Shorter ones are no shorter than the horizon of its
    returns. A schedule stays as it is, and the phase lengths of the result are means. power=0: all of one length.
    """
    if len(set(steps)) < 2:
        raise DoesNotExist(f"regret has no exponent: steps must be two different numbers at least, not {list(steps)}")
    horizons = np.array(sorted(set(steps)))
    lengths = _phase_lengths(algorithm, mdp, horizons, power)
    found = []
    with progress_bar("growth of regret", int(horizons.sum())) as advance:
        for num_steps, length in zip(horizons.tolist(), lengths.tolist(), strict=True):
            result = run(
                algorithm.with_phase_steps(length), mdp, num_steps, num_runs, seed, grid=[num_steps],
                features=features, threads=threads, progress=False,
            )  # fmt: skip
            found.append(result.regret[:, -1])
            advance(num_steps)
    exponent, intercept = _fit_exponent(horizons, np.array(found))
    return Growth(horizons, lengths, np.array(found), exponent, intercept.estimate)


def _phase_lengths(
    algorithm: AnyLearner, mdp: FiniteMDP | ChangingRewards, horizons: Integers, power: float
) -> Integers:
    """τ for each T; of a schedule, the mean."""
    if algorithm.phase_steps is None:
        space = space_of(mdp)
        phases = [max(1, algorithm.count_phases(steps, space)) for steps in horizons.tolist()]
        return np.asarray(horizons // np.array(phases))
    scaled = algorithm.phase_steps * (horizons / horizons[-1]) ** power
    return np.asarray(np.maximum(scaled, algorithm.inner.shortest_phase).round().astype(int))


def _fit_exponent(horizons: Integers, regrets: Array) -> list[Interval]:
    """p and ln c in regret ≈ c T^p."""
    logs = np.log(horizons)
    if not regrets.mean(axis=1).min() > 0.0:
        raise DoesNotExist("regret has no exponent: its mean over runs is not positive for all T")

    def fitted(sample: Array) -> Array:
        means = sample.mean(axis=1)
        return np.polyfit(logs, np.log(means), 1) if means.min() > 0.0 else np.full(2, np.nan)

    return bootstrapped(fitted, regrets)


def exact_regret(algorithm: AnyLearner, mdp: FiniteMDP, num_phases: int) -> Array:
    """Σ_{s≤k} (λ_* − λ_{π_s}) for k = 1, …, K, when every Q̂ is exact and τ = 1: online learning, and nothing else.

    A temperature that is tuned to K makes each K a run of its own.
    """
    at_least(1, num_phases=num_phases)
    if not isinstance(algorithm.inner, PolicyIteration):
        why = f"regret with exact Q needs an algorithm that evaluates policies, which {algorithm!r} is not"
        raise InvalidInput(why)
    exact = dataclasses.replace(algorithm.inner, phase_length=1, evaluate=ExactQ())
    record = run(exact, mdp, num_phases, record=True, grid=[num_phases]).record
    gains = exact_q_values(mdp, record.policies[0])[0][:, mdp.initial_state]  # type: ignore[union-attr]
    return np.cumsum(solve(mdp).gains[mdp.initial_state] - gains)
