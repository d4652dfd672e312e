"""A learning rate of one's own in Algorithm 1, on tables and on features, compared with AAPI's."""

import aapi
from aapi.environments import cartpole, ergodic
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier


def harmonic(k, surprise):  # noqa: ARG001 - what a learning rate is given
    """η_k = 0.05 k: the policy stays that of the average Q-function, however many phases went into it."""
    return 0.05 * k


for problem, features, phase_length, evaluate in (
    (ergodic(num_states=10, num_actions=2), None, 500, MonteCarlo(horizon=10, centre=True)),
    (cartpole(), Fourier(order=2), 2000, MonteCarlo(horizon=50, ridge=100.0)),
):
    parts = {"phase_length": phase_length, "evaluate": evaluate}
    for name, learner in {
        "AAPI": aapi.AAPI(eta=0.3, **parts),
        "harmonic": aapi.PolicyIteration(learning_rate=harmonic, **parts),
    }.items():
        result = aapi.run(learner, problem, num_steps=50_000, num_runs=5, features=features)
        average = result.average_reward[:, -1]
        print(f"{name}: {average.mean():.4f} ± {average.std(ddof=1):.4f} of {result.optimal_gain:.4f}")
