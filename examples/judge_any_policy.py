"""Whose policy earns more in the long run? A rule, a learnt agent, a table and the optimum, side by side."""

import gymnasium
import numpy as np

import aapi

QUEUE = "aapi/AccessControl-v0"  # observed: 4 · free servers + who is next, of those who pay 1, 2, 4 and 8


def threshold(observation):
    """Everybody while five servers are free, then only those who pay 4 or 8."""
    free, customer = divmod(observation, 4)
    return int(free >= 5 or customer >= 2)


class Cautious:
    """Anything with `predict`: agents of Stable-Baselines3, for example."""

    def predict(self, observation):
        """Accept those who pay 4 or 8; return (action, state), as they do."""
        return np.array(int(observation % 4 >= 2)), None


agent = aapi.Agent(aapi.AAPI(), gymnasium.make(QUEUE), seed=1).learn(20_000)
policies = {
    "threshold": threshold, "cautious": Cautious(), "agent": agent, "all": np.ones(44, dtype=int), "optimal": "optimal",
}  # fmt: skip
found = aapi.evaluate(policies, QUEUE, num_steps=10_000, seeds=4)
print(found)
print()
print("agent, less the threshold:", found.difference("agent", "threshold"))
print("ten steps:", aapi.evaluate(threshold, QUEUE, num_steps=10, seeds=1))
