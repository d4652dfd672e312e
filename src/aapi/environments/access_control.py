"""The access-control queue of Sutton and Barto, Reinforcement Learning (2018), example 10.2."""

from __future__ import annotations

import itertools

import numpy as np

from aapi.checks import at_least, check_probability
from aapi.mdp import FiniteMDP

PAYMENTS = (1.0, 2.0, 4.0, 8.0)


def access_control(num_servers: int = 10, free_probability: float = 0.06) -> FiniteMDP:
    """Accept or reject the customer at the head of a queue that never empties.

    A state is (free servers, the customer's priority). Accepting takes a server and earns the payment of the priority,
    1, 2, 4 or 8; with no server free it acts as rejecting. After the decision every busy server becomes free with
    probability `free_probability`, and the next customer has a uniformly drawn priority.

    Unichain and aperiodic under every policy, not ergodic: "always reject" ends with all servers free for ever.
    λ_* = 2.747642 with the defaults.
    """
    at_least(1, num_servers=num_servers)
    check_probability(free_probability=free_probability)
    chances = [np.ones(1)]  # of 0, 1, … servers becoming free, for 0, 1, … busy ones
    for _ in range(num_servers):
        chances.append(np.convolve(chances[-1], [1.0 - free_probability, free_probability]))
    priorities = range(len(PAYMENTS))
    pairs = list(itertools.product(range(num_servers + 1), priorities))
    transitions = np.zeros((len(pairs), 2, num_servers + 1, len(PAYMENTS)))
    rewards = np.zeros((len(pairs), 2))
    for state, (free, priority) in enumerate(pairs):
        for action in (0, 1):
            accepted = action == 1 and free > 0
            busy = num_servers - free + accepted
            freed = np.arange(busy + 1)
            transitions[state, action, free - accepted + freed] = chances[busy][:, None] / len(PAYMENTS)
            rewards[state, action] = PAYMENTS[priority] if accepted else 0.0
    names = [f"{free} free, pays {PAYMENTS[priority]:g}" for free, priority in pairs]
    return FiniteMDP(
        transitions.reshape(len(pairs), 2, len(pairs)), rewards, state_names=names, action_names=["reject", "accept"],
        initial_state=len(pairs) - len(PAYMENTS),
    )  # fmt: skip
