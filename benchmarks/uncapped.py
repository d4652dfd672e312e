"""The criss-cross network in balanced heavy traffic, without caps: what is learnt from rules of thumb.

python benchmarks/uncapped.py [--steps 300000]: less than 15 minutes on one core. Policies are simulated without caps,
ten million events each; that of the learner is taken at up to 100 jobs of each class, and beyond as there. The optimum
has 15.10 jobs.
"""

from __future__ import annotations

import argparse

import gymnasium
import numpy as np

import aapi
from aapi.environments.queueing import TableRule, criss_cross_network, simulate
from aapi.learners.conservative import ConservativeState
from aapi.registry.rules import network_rule

EVENTS = 10_000_000
RULES = ("maxweight", "c-mu", "threshold-4")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300_000)
    steps = parser.parse_args().steps
    capped = criss_cross_network("BH")
    print(
        f"| rule | jobs under it | while learning, {steps} steps | learner's own policy | policy used | rule's steps |"
    )
    print("|---|---|---|---|---|---|")
    for word in RULES:
        rule = network_rule(word, capped.network)
        env = gymnasium.make("aapi/CrissCross-v0", regime="BH")
        agent = aapi.Agent(aapi.AAPI(), env, seed=1, rule=word).learn(steps)
        state = agent.session.state
        assert isinstance(state, ConservativeState)
        assert isinstance(agent.algorithm, aapi.Conservative)
        policy = agent.algorithm.learner.current_policy(state.inner)
        jobs = np.asarray(capped.jobs(), dtype=np.float64)
        chances = agent.space.probabilities(policy, jobs[None])[0]
        learnt = TableRule("learnt", capped, chances.argmax(axis=1))
        alone, own = (simulate(capped.network, each, EVENTS) for each in (rule, learnt))
        used = own if state.account.trusted else alone
        who = "the learner" if state.account.trusted else "the rule"
        numbers = " | ".join(
            [f"{alone.mean:.2f} ± {alone.half_width:.2f}", f"{-agent.total_reward / steps:.2f}",
             f"{own.mean:.2f} ± {own.half_width:.2f}", f"{used.mean:.2f} ± {used.half_width:.2f}, {who}",
             f"{state.rule_steps / steps:.0%}"]
        )  # fmt: skip
        print(f"| {word} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
