"""The first steps of `AAPI()` from a rule of thumb, from the uniform policy, and of the rule alone: a Markdown table.

python benchmarks/warm_start.py [--runs 20]: about five minutes on one core. Rewards of queues are minus the number of
jobs, so that a ratio above 1 is worse there, and better in admission. The random numbers are the same until the learner
acts; intervals are of 95 %.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

import aapi
from aapi.registry.problems import make_problem
from aapi.registry.rules import problem_rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINITE = [  # problem, its sizes, rule, steps
    ("criss-cross", {"regime": "IM", "cap": 14}, "c-mu", 10_000),
    ("criss-cross", {"regime": "IM", "cap": 14}, "threshold-2", 10_000),
    ("admission", {}, "all", 100_000),
    ("admission", {}, "keep", 100_000),
]
UNCAPPED = [("maxweight", 10_000), ("threshold-4", 10_000)]  # rules for B.H., steps
PHASES = 1000  # steps: ten stretches of 100, each a phase that is learnt from


def finite(
    name: str, sizes: dict[str, Any], word: str, steps: int, runs: int, grid: list[int]
) -> list[NDArray[np.float64]]:
    """Average rewards of the rule, uniform start and warm start, (runs, grid) each."""
    model = make_problem(name, sizes)
    rule = problem_rule(word, name, model, sizes)
    alone = aapi.Conservative(learner=aapi.AAPI(), warm_up=steps)  # the rule warms up for as long as the run lasts
    starts = [(alone, rule), (aapi.AAPI(), None), (aapi.AAPI(), rule)]
    results = [
        aapi.run(learner, model, steps, runs, seed=1, first_run=1, rule=given, grid=grid) for learner, given in starts
    ]
    return [-each.curve for each in results]


def uncapped(word: str, steps: int, runs: int, grid: list[int]) -> list[NDArray[np.float64]]:
    """The same in the criss-cross network in B.H. without caps."""

    def earned(seed: int, learner: aapi.Learner[Any], rule: str | None) -> list[float]:
        env = gymnasium.make("aapi/CrissCross-v0", regime="BH")
        agent = aapi.Agent(learner, env, aapi.features.Grid(), seed, rule=rule)
        return [agent.learn(t - agent.num_steps).total_reward / t for t in grid]

    grid_learner = aapi.OptimisticGrid()
    alone = aapi.Conservative(learner=grid_learner, warm_up=steps)
    starts = [(alone, word), (grid_learner, None), (grid_learner, word)]
    return [np.array([earned(seed, *start) for seed in range(1, runs + 1)]) for start in starts]


def rows(name: str, word: str, grid: list[int], found: list[NDArray[np.float64]]) -> list[str]:
    """A row for each number of steps."""
    alone, uniform, warm = found
    lines = []
    for i, steps in enumerate(grid):
        ratio = warm[:, i].mean() / alone[:, i].mean()
        apart = (warm[:, i] - ratio * alone[:, i]) / abs(alone[:, i].mean())  # of a ratio of means, by the delta method
        margin = 1.96 * apart.std(ddof=1) / np.sqrt(len(apart))
        means = " | ".join(f"{each[:, i].mean():.4g}" for each in (alone, uniform, warm))
        lines.append(f"| {name} | {word} | {steps} | {means} | {ratio:.3f} ± {margin:.3f} |")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    print("| problem | rule | steps | rule alone | uniform start | warm start | warm start ÷ rule |")
    print("|---|---|---|---|---|---|---|")
    for name, sizes, word, steps in FINITE:
        grid = [each for each in (PHASES, 10_000, 100_000) if each <= steps]
        title = f"{name} I.M." if sizes else name
        print(*rows(title, word, grid, finite(name, sizes, word, steps, runs, grid)), sep="\n", flush=True)
    for word, steps in UNCAPPED:
        grid = [PHASES, steps]
        print(*rows("criss-cross B.H.", word, grid, uncapped(word, steps, runs, grid)), sep="\n", flush=True)


if __name__ == "__main__":
    main()
