"""The Boltzmann policy π(a|x) ∝ exp(index(x, a) / temperature(x))."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
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
    num_runs, num_states, num_actions = index.shape
    for run in range(num_runs):
        for x in range(num_states):
            top = index[run, x, 0]
            for a in range(1, num_actions):
                top = max(top, index[run, x, a])
            heat = temperature[run, x]
            total = 0.0
            for a in range(num_actions):
                below = index[run, x, a] - top
                if below == 0.0:
                    weight = 1.0
                elif heat == 0.0:
                    weight = 0.0
                else:
                    weight = math.exp(below / heat)
                policy[run, x, a] = weight
                total += weight
            if not total < math.inf or not abs(top) < math.inf:
                return False
            for a in range(num_actions):
                policy[run, x, a] /= total
    return True
