"""A bandit with normal rewards (Lai and Robbins 1985): one state, and nothing to learn but means."""

from __future__ import annotations

import numpy as np

from aapi.checks import at_least, finite
from aapi.mdp import FiniteMDP


def bandit(num_arms: int = 10, noise: float = 3.0, seed: int = 0) -> FiniteMDP:
    """Arms whose mean rewards are standard normal; what they pay has normal noise of the standard deviation `noise`.

    The same arguments give the same model. λ_* is the largest mean.
    """
    at_least(1, num_arms=num_arms)
    at_least(0, seed=seed)
    finite(0.0, noise=noise)
    means = np.random.default_rng(seed).standard_normal((1, num_arms))
    names = [f"arm {a + 1}" for a in range(num_arms)]
    return FiniteMDP(np.ones((1, num_arms, 1)), means, reward_spread=noise or None, action_names=names)
