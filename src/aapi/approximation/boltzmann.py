"""The Boltzmann policy π(a|x) ∝ exp(index(x, a) / temperature(x))."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.kernels.elementary import exp
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from aapi.array_types import Array


def boltzmann(index: Array, temperature: Array) -> Array:
    """Policies of shape (runs, states, actions) from an index of that shape and temperatures of shape (runs, states).

    Shifted by the largest index, so that nothing overflows. At temperature zero, and in the limit towards it, all
    probability is spread evenly over the actions of the largest index: greedy, or uniform where the index is level.
    """
    temperature = np.ascontiguousarray(temperature, dtype=np.float64)
    if not temperature.min() >= 0.0:
        raise InvalidInput(f"a learning rate must return temperatures of at least 0, not {temperature.min()}")
    policy = np.empty_like(index)
    if not _fill(index, temperature, policy):
        raise InvalidInput("the sum of Q-functions is no longer finite: scale the rewards down")
    return policy


@kernel
def _fill(index: Any, temperature: Any, policy: Any) -> Any:
    """Run by run; false if a sum is not finite. Divisions and `exp` are done in flat loops, by vector instructions."""
    num_runs, num_states, num_actions = index.shape
    divisors = np.empty((num_states, num_actions))
    flat_divisors = divisors.ravel()
    for run in range(num_runs):
        weights = policy[run].ravel()
        for x in range(num_states):
            top = index[run, x, 0]
            for a in range(1, num_actions):
                top = max(top, index[run, x, a])
            if not abs(top) < math.inf:
                return False
            for a in range(num_actions):
                policy[run, x, a] = index[run, x, a] - top
                divisors[x, a] = temperature[run, x]
        for i in range(weights.size):
            weights[i] = exp(0.0 if weights[i] == 0.0 else weights[i] / flat_divisors[i])
        for x in range(num_states):
            total = 0.0
            for a in range(num_actions):
                total += policy[run, x, a]
            if not total < math.inf:
                return False
            divisors[x] = total
        for i in range(weights.size):
            weights[i] /= flat_divisors[i]
    return True
