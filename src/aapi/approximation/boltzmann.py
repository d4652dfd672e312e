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
    """Run by run; false if a sum is not finite. In loops over states, which become vector instructions."""
    num_runs, num_states, num_actions = index.shape
    columns, top, total = np.empty((num_actions, num_states)), np.empty(num_states), np.empty(num_states)
    for run in range(num_runs):
        divisor = temperature[run]
        for a in range(num_actions):
            column = columns[a]
            for x in range(num_states):
                column[x] = index[run, x, a]
            for x in range(num_states):
                top[x] = column[x] if a == 0 else max(top[x], column[x])
        total[:] = 0.0
        for a in range(num_actions):
            column = columns[a]
            for x in range(num_states):
                below = column[x] - top[x]
                column[x] = exp(0.0 if below == 0.0 else below / divisor[x])
                total[x] += column[x]
        for x in range(num_states):
            if not (abs(top[x]) < math.inf and total[x] < math.inf):
                return False
        for a in range(num_actions):
            column = columns[a]
            for x in range(num_states):
                column[x] /= total[x]
            for x in range(num_states):
                policy[run, x, a] = column[x]
    return True
