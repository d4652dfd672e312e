"""How an agent's Q-functions are held, by its features and what it observes; and how observations become states."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import scipy.sparse

from aapi.approximation import Interpolated, Linear, QSpace, Tabular
from aapi.environments.observations import check_vector
from aapi.errors import InvalidInput, one_line
from aapi.features import Coordinates, FeatureMatrix, Fourier, Grid, OneHot, Radial, VectorFeatures
from aapi.features.active import per_action
from aapi.features.basis import own_vectors
from aapi.learners import AAPI, Conservative, OptimisticGrid
from aapi.learners.conservative import state_without_rule, without_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aapi.agent.agent import Agent
    from aapi.environments.observations import Encoder, Observations
    from aapi.gymnasium_types import Observation, Space
    from aapi.learners.learner import AnyLearner
    from aapi.learners.optimistic_grid import OptimisticGridState

    Bounds = tuple[Sequence[float] | None, Sequence[float] | None]
    FeatureFunction = Callable[[Observation], object]  # which a vector can be made of
    AgentFeatures = OneHot | Grid | VectorFeatures | FeatureFunction


MOST_NAMED = 8  # sides of a grid, in words
FEW_NUMBERS = 4  # of an observation that a Fourier basis is for by default
ON_WEIGHTS = AAPI(eta=1.0)  # what AAPI() is on features: 0.3 was chosen on tables, and CartPole wants more
MOST_NUMBERS = 64  # of an observation over which a grid is laid by default


def choose(
    algorithm: AnyLearner, features: AgentFeatures | None, observations: Observations, bounds: Bounds
) -> tuple[AnyLearner, AgentFeatures]:
    """What an agent learns by, and with which features, where that is left to it.

    Tables where observations are countable. On vectors, `AAPI()`, if nothing of it was chosen otherwise, is
    `OptimisticGrid()`; except where bounds are known for features, in CartPole, the paper's own problem, in which
    Algorithm 1 balances longer, with the η = 1 that was chosen there. Other algorithms have a Fourier basis for few
    numbers, what does not explode for many. Beside a rule, a learner must learn from others, which Algorithm 1 cannot
    on weights.
    """
    if isinstance(algorithm, Conservative):
        learner, features = choose(algorithm.learner, features, observations, (None, None))
        return replace(algorithm, learner=learner), features
    untuned = algorithm == AAPI() and (bounds == (None, None) or isinstance(features, Grid))
    if features is None:
        if observations.fits_table or (all(observations.counts) and not (untuned or observations.boxed)):
            features = OneHot()
        elif isinstance(algorithm, OptimisticGrid) or (untuned and len(observations.low) <= MOST_NUMBERS):
            features = Grid()
        else:
            features = Fourier() if len(observations.low) <= FEW_NUMBERS else Radial()
    if untuned and isinstance(features, Grid):
        return OptimisticGrid(), features
    return ON_WEIGHTS if algorithm == AAPI() and not isinstance(features, OneHot) else algorithm, features


def describe_choice(agent: Agent) -> str:
    """What `AAPI()` became for what is observed, in words; nothing for other algorithms."""
    algorithm = without_rule(agent.algorithm)
    if isinstance(algorithm, OptimisticGrid):
        return _describe_grid(agent)
    if algorithm not in (AAPI(), ON_WEIGHTS):
        return ""
    if agent.space.countable:
        return (
            "observations are countable: Algorithm 1 on tables, evaluated on all data; between its phases it explores, "
            "by expeditions to what is new, and by Thompson sampling"
        )
    return (
        "Algorithm 1 on weights of features, evaluated by the returns of each phase; it does not explore between "
        "phases, since states cannot be counted"
    )


def _describe_grid(agent: Agent) -> str:
    model = cast("OptimisticGridState", state_without_rule(agent.session.state)).model
    sides = [str(side) for side in model.grid.sides[:MOST_NAMED]] + ["…"] * (len(model.grid.sides) > MOST_NAMED)
    features = "fourier:3" if model.space.state_shape[0] <= FEW_NUMBERS else "radial:300"
    return (
        "on vectors the default is not Algorithm 1, which explored too little there, but an optimistic plan in a model "
        f"on a grid over what was seen; for Algorithm 1, choose features, such as --features {features}; observed: "
        f"{model.extent.describe()}; grid: {' × '.join(sides)} vertices, of which {model.num_vertices - 1} were met"
    )


def represent(
    features: AgentFeatures, observations: Observations, num_actions: int, bounds: Bounds, space: Space
) -> tuple[QSpace, Encoder]:
    """The space of Q-functions, and a function from an observation to a state in it.

    bounds: lower and upper ones of the observation, where they are not those of its space.
    """
    if isinstance(features, OneHot):
        indicators = per_action(scipy.sparse.eye_array(observations.num_states), num_actions, one_hot=True)
        return Tabular(indicators, num_actions), observations.to_state
    if isinstance(features, Grid):
        return Interpolated(len(observations.low), num_actions), observations.to_vector
    if isinstance(features, VectorFeatures) and not isinstance(features, type):
        low, high = bounds
        basis = features.basis(low or observations.low, high or observations.high)
        return Linear(basis.check(len(observations.low)), num_actions), observations.to_vector
    if not callable(features) or isinstance(features, type | Coordinates | FeatureMatrix):
        raise InvalidInput(f"features must be OneHot, Grid, Fourier, Tiles, Radial or a function, not {features!r}")
    size = _vector_size(features, space)
    return Linear(own_vectors(size), num_actions), _encoder(features, size)


def _vector_size(function: FeatureFunction, space: Space) -> int:
    """How long the vectors of a user's function are, by what it returns for one observation."""
    try:
        sample = copy.deepcopy(space).sample()  # the space's own draws are the environment's
        vector = np.asarray(function(sample), dtype=np.float64)
    except Exception as error:
        raise InvalidInput(f"the feature function raised {one_line(error)}") from error
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise InvalidInput(f"features must return a vector of finite numbers, not {vector!r}")
    return vector.size


def _encoder(function: FeatureFunction, size: int) -> Encoder:
    return lambda observation: check_vector(np.array(function(observation), dtype=np.float64), size)
