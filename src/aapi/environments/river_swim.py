"""RiverSwim: Strehl and Littman (2008), with the probabilities of Osband et al. (2013)."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from aapi.checks import at_least, finite
from aapi.mdp import FiniteMDP


def river_swim(num_states: int = 6, noise: float = 0.0) -> FiniteMDP:
    """Swim against the current to the large reward at the right bank, or drift to the small one at the left.

    Action 0 (left) moves left for sure, and pays .005 at the left bank. Action 1 (right) moves right with probability
    .6 in the first state (else stays); inside it moves right with .35, stays with .6 and is swept back with .05; at the
    right bank it stays with .6 (else moves left) and pays 1. noise: the standard deviation of normal noise on rewards.

    Communicating, not ergodic: "always left" never returns to the right. λ_* = .428622 for 6 states, .428571 for 12.
    """
    at_least(2, num_states=num_states)
    finite(0.0, noise=noise)
    last = num_states - 1
    transitions = np.zeros((num_states, 2, num_states))
    states, inside = np.arange(num_states), np.arange(1, last)
    transitions[states, 0, np.maximum(states - 1, 0)] = 1.0
    transitions[0, 1, :2] = 0.4, 0.6
    for step, probability in ((1, 0.35), (0, 0.6), (-1, 0.05)):
        transitions[inside, 1, inside + step] = probability
    transitions[last, 1, last - 1 :] = 0.4, 0.6
    rewards = np.zeros((num_states, 2))
    rewards[0, 0], rewards[last, 1] = 0.005, 1.0
    sparse = scipy.sparse.csr_array(transitions.reshape(-1, num_states))
    return FiniteMDP(sparse, rewards, reward_spread=noise or None, action_names=["left", "right"])
