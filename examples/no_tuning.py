"""AAPI without tuning on four problems, and with rewards a hundred times as large."""

import aapi
from aapi.environments import access_control, deep_sea, ergodic, river_swim

for name, problem in {
    "ergodic": ergodic(num_states=10, num_actions=2),
    "RiverSwim": river_swim(num_states=12),
    "a queue": access_control(),
    "DeepSea": deep_sea(size=10),
}.items():
    for scale in (1, 100):
        result = aapi.run(aapi.AAPI(), problem.scaled(scale), num_steps=50_000, num_runs=10)
        shares = result.average_reward[:, -1] / result.optimal_gain
        explored = result.explored.mean() / result.num_steps
        print(f"{name} × {scale}: {shares.mean():.1%} of the optimum, the worst run {shares.min():.1%}, "
              f"{explored:.1%} of it exploring")  # fmt: skip
