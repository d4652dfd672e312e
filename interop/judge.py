"""Stable-Baselines3's PPO at its defaults and our agent at its own, trained for as long, and judged by the same call.

python interop/judge.py [--steps 100000]: a table for each of two queues, with rules of thumb beside what was learnt.
"""

from __future__ import annotations

import argparse

import gymnasium
import torch
import vector_tasks
from stable_baselines3 import PPO

import aapi

NETWORK = ("cμ", "MaxWeight", "longest queue", "random")


def offers_above(observation):
    """The rule of `AdmissionQueue`: accept offers above 0.8 + 0.4 for each who waits."""
    waiting, offer = observation
    return int(offer > 0.8 + 0.4 * waiting)


QUEUES = {
    "AdmissionQueue": (vector_tasks.AdmissionQueue, {"offers above .8 + .4 waiting": offers_above, "random": "random"}),
    "aapi/CrissCross-v0": (lambda: gymnasium.make("aapi/CrissCross-v0"), {name: name for name in NETWORK}),
}


def main():
    """Train, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="of training (default: 100000)")
    steps = parser.parse_args().steps
    torch.set_num_threads(1)  # faster for networks of this size
    for name, (make, rules) in QUEUES.items():
        ppo = PPO("MlpPolicy", make(), seed=1, device="cpu").learn(steps)
        agent = aapi.Agent(aapi.AAPI(), make(), seed=1).learn(steps)
        found = aapi.evaluate({"PPO": ppo, "aapi": agent, **rules}, make, num_steps=50_000)
        print(f"{name}, after {steps:,} steps of learning\n\n{found}\n", flush=True)


if __name__ == "__main__":
    main()
