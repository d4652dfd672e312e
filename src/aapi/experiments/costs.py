"""About how long a run takes, and how many phases it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.batch import space_of
from aapi.learners import RLSVI, Exploring
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from aapi.experiments.configuration import Configuration


def expected_seconds(configuration: Configuration) -> float:
    """About how long a run takes on one processor: to cut work into batches, and to estimate the time left."""
    learner, steps = configuration.algorithm, configuration.steps
    if configuration.problem.is_gymnasium:
        return 5e-5 * steps
    sweeps = learner.horizon if isinstance(learner, RLSVI) else 0
    env, phases = configuration.problem.make_model(), num_phases(configuration)
    if isinstance(env, FiniteMDP):
        planning = 2e-5 * env.num_states if isinstance(learner, Exploring) else 0.0
        return 4e-8 * steps + phases * (env.num_states * env.num_actions * (5e-8 + 3e-8 * sweeps) + planning)
    return 1e-5 * steps + phases * sweeps * 4e-3


def num_phases(configuration: Configuration) -> int:
    """How many phases a compiled run has; about, where that depends on data."""
    space = space_of(configuration.problem.make_model(), configuration.compiled_features)
    return max(1, configuration.algorithm.count_phases(configuration.steps, space))
