"""About how long a run takes, and how many phases it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.algorithms import RLSVI, count_phases
from aapi.learner_protocols import HasExploration, HasPhaseLength
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from aapi.experiments.configuration import Configuration

__all__ = ["expected_seconds", "num_phases"]

TYPICAL_FEATURES = 629  # where their number is not known yet: CartPole's


def expected_seconds(configuration: Configuration) -> float:
    """About how long a run takes on one processor: to cut work into batches, and to estimate the time left."""
    algorithm, steps = configuration.algorithm, configuration.steps
    if configuration.problem.is_gymnasium:
        return 5e-5 * steps
    sweeps = algorithm.horizon if isinstance(algorithm, RLSVI) else 0
    env, phases = configuration.problem.make_model(), num_phases(configuration)
    if isinstance(env, FiniteMDP):
        explores = isinstance(algorithm, HasExploration) and algorithm.exploration
        planning = 2e-5 * env.num_states if explores else 0.0
        return 4e-8 * steps + phases * (env.num_states * env.num_actions * (5e-8 + 3e-8 * sweeps) + planning)
    return 1e-5 * steps + phases * sweeps * 4e-3


def num_phases(configuration: Configuration, features: int = TYPICAL_FEATURES) -> int:
    """How many phases a compiled run has; 1 if its algorithm has none. features: of each action, for vector states."""
    if not isinstance(configuration.algorithm, HasPhaseLength):
        return 1
    env = configuration.problem.make_model()
    tables = isinstance(env, FiniteMDP)
    shape = (1, *env.rewards.shape) if isinstance(env, FiniteMDP) else (1, features, env.num_actions)
    return max(1, count_phases(configuration.algorithm, configuration.steps, shape, tables))
