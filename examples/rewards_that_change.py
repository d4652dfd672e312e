"""Why averages: rewards that turn against the leader, and rewards that turn against whatever the policy does."""

import aapi
from aapi import theory
from aapi.environments import against_the_leader, against_the_policy
from aapi.evaluation import ExactQ

parts = {"phase_length": 100, "evaluate": ExactQ()}  # known dynamics; r_k is shown when phase k is over
learners = {
    "greedy": aapi.GreedyAPI(**parts),
    "AAPI": aapi.AAPI(**parts),
    "POLITEX": aapi.Politex(schedule="sqrt", **parts),
}
for title, problem in (("the leader", against_the_leader()), ("the policy", against_the_policy())):
    found = theory.hindsight_growth(learners, problem, 51_200, 20)
    for name, growth in found.growth.items():
        p, last, gains = growth.exponent, growth.regrets[-1].mean(), found.gain_regret[name].mean
        print(f"against {title}  {name:8} regret ~ T^{p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}]  {last:8.0f}, "
              f"of gains {gains:8.1f}")  # fmt: skip
    result = aapi.run(learners["AAPI"], problem, 51_200, num_runs=20)
    print(f"against {title}  the best fixed policy earns {result.optimal_gain:.3f} a step")
