"""A learning rate of one's own in Algorithm 1, compared with AAPI's over 20 runs."""

from dataclasses import dataclass

import numpy as np

import aapi
from aapi.environments import ergodic
from aapi.evaluation import MonteCarlo


@dataclass(frozen=True)
class Harmonic:
    """η_k = η k: the policy stays that of the average Q-function, however many phases went into it."""

    eta: float
    norm = "sup"
    num_sampled = 0

    def check(self) -> None:
        """Nothing can be wrong."""

    def __call__(self, history):
        """η k in every run and state."""
        return np.full_like(history.root_sum, self.eta * history.phase)


problem, evaluate = ergodic(num_states=10, num_actions=2), MonteCarlo(horizon=10, centre=True)
for name, algorithm in {
    "AAPI": aapi.AAPI(phase_length=500, eta=0.3, evaluate=evaluate),
    "harmonic": aapi.PolicyIteration(phase_length=500, evaluate=evaluate, learning_rate=Harmonic(0.05)),
}.items():
    result = aapi.run(algorithm, problem, num_steps=50_000, num_runs=20)
    average = result.average_reward[:, -1]
    print(f"{name}: {average.mean():.4f} ± {average.std(ddof=1):.4f} of {result.optimal_gain:.4f}")
