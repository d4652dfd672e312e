import numpy as np

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier
from aapi.improvement import SampledAdaptive
from aapi.learners import Session


def held(value):
    """The sizes of all arrays in a state, by the names of their fields."""
    if isinstance(value, np.ndarray):
        return value.size
    fields = value if isinstance(value, dict) else vars(value) if hasattr(value, "__dataclass_fields__") else {}
    return {name: held(part) for name, part in fields.items()}


def test_memory_does_not_grow_with_the_number_of_phases():
    learner = aapi.AAPI(phase_length=20, evaluate=MonteCarlo(5), num_sampled=2)
    session = Session(learner, simulator(cartpole(), Fourier(1))([0]))
    sizes = [held(session.state) for _ in session.play(60 * 20)]
    assert len(sizes) == session.state.k == 60
    assert session.state.surprise.differences.shape[1] == 20
    assert sizes[30] == sizes[59]


def test_sampling_with_the_first_difference_kept_runs_on_weights():
    rate = SampledAdaptive(0.3, num_sampled=2, keep_first=True)
    algorithm = aapi.PolicyIteration(phase_length=60, evaluate=MonteCarlo(horizon=9, ridge=0.8), learning_rate=rate)
    result = aapi.run(algorithm, cartpole(), 600, 2, features=Fourier(1))
    assert result.next_policy.differences.shape[2] == 4
