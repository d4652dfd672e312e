"""Why averages: rewards that turn against the leader, and rewards that turn against whatever the policy does."""

import numpy as np

import aapi
from aapi import theory
from aapi.environments import ChangingRewards, against_the_leader
from aapi.evaluation import ExactQ

problem = against_the_leader()


def spiteful(_phase, policies):
    """The state that the policy of this phase visits less pays 1."""
    visits = policies[-1].mean(axis=0)
    return np.tile((np.arange(2) == visits.argmin())[:, None], 2)


parts = {"phase_length": 100, "evaluate": ExactQ()}  # known dynamics; r_k is shown when phase k is over
learners = {
    "greedy": aapi.GreedyAPI(**parts),
    "AAPI": aapi.AAPI(**parts),
    "POLITEX": aapi.Politex(schedule="sqrt", **parts),
}
for title, rewards in (("alternating", problem), ("spiteful", ChangingRewards(problem.mdp, spiteful))):
    for name, learner in learners.items():
        growth = theory.regret_growth(learner, rewards, theory.doublings(51_200, 6), num_runs=20, power=0.0)
        p, last = growth.exponent, growth.regrets[-1].mean()
        print(f"{title:12} {name:8} regret ~ T^{p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}]  {last:8.0f}")
    result = aapi.run(learners["AAPI"], rewards, 51_200, num_runs=20, record=True)
    found = theory.hindsight(result)
    print(f"{title:12} AAPI, of gains: {found.gain_regret.sum(axis=1).mean():.1f}, best policy earns "
          f"{result.optimal_gain:.3f} a step")  # fmt: skip
