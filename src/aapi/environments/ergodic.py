"""The tabular ergodic MDP of Hao et al. (2021), section 6."""

from __future__ import annotations

import numpy as np

from aapi.checks import at_least
from aapi.mdp import FiniteMDP


def ergodic(num_states: int = 10, num_actions: int = 2) -> FiniteMDP:
    """Walk down to state 0, the only one with a reward.

    In state 0 every action pays 1 and leads to a uniformly drawn other state. Elsewhere action 0 leads from x to x − 1
    with probability .9 and to a uniformly drawn state, any of them, with probability .1; every other action leads to a
    uniformly drawn state. State 0 is the paper's state 1, action 0 its action 1.

    Ergodic under every policy. The optimal policy takes action 0 up to a threshold: walking costs more than a redraw
    from far away. λ_* = .306735 for (5, 2), .210478 for (10, 2), .140885 for (20, 5), .079256 for (50, 10).
    """
    at_least(3, num_states=num_states)  # with two states, the walk from 0 to 1 and back can be periodic
    at_least(1, num_actions=num_actions)
    transitions = np.full((num_states, num_actions, num_states), 1.0 / num_states)
    transitions[0] = 1.0 / (num_states - 1)
    transitions[0, :, 0] = 0.0
    walkers = np.arange(1, num_states)
    transitions[1:, 0] *= 0.1
    transitions[walkers, 0, walkers - 1] += 0.9
    rewards = np.zeros((num_states, num_actions))
    rewards[0] = 1.0
    return FiniteMDP(transitions, rewards)
