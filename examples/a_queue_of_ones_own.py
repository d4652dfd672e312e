"""A small service queue as data: its optimum, exactly, and how close learning comes."""

import numpy as np

import aapi
from aapi.evaluation import MonteCarlo
from aapi.mdp import FiniteMDP, solve

CAPACITY, ARRIVAL, SLOW, FAST = 8, 0.4, 0.45, 0.7  # chances per step

transitions = np.zeros((CAPACITY + 1, 2, CAPACITY + 1))
rewards = np.zeros((CAPACITY + 1, 2))
for waiting in range(CAPACITY + 1):
    for action, service in enumerate((SLOW, FAST)):
        served = service if waiting else 0.0
        up, down = ARRIVAL * (1 - served), served * (1 - ARRIVAL)
        transitions[waiting, action, min(waiting + 1, CAPACITY)] += up
        transitions[waiting, action, max(waiting - 1, 0)] += down
        transitions[waiting, action, waiting] += 1 - up - down
        rewards[waiting, action] = -waiting - 2.0 * action  # waiting costs 1 each, working fast 2

queue = FiniteMDP(transitions, rewards, action_names=["slow", "fast"])
solution = solve(queue)
print(f"optimal gain {solution.gain:.4f}, work fast from {int(np.argmax(solution.policy))} waiting on")

algorithm = aapi.AAPI(phase_length=500, evaluate=MonteCarlo(horizon=20, centre=True), eta=0.3)
result = aapi.run(algorithm, queue, num_steps=100_000, num_runs=20)
print(f"AAPI earned {result.average_reward[:, -1].mean():.4f} on average")
