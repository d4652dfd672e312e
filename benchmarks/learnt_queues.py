"""What is learnt of the criss-cross network in two million steps: python benchmarks/learnt_queues.py [runs [seed]].

The last policy of each run is evaluated exactly, in the model with caps in which it was learnt: no luck, and no cost of
exploration. Greedy policy iteration with the same parts is the control.
"""

import sys

import aapi
from aapi.experiments.operations_studies import LIGHT, MEDIUM
from aapi.experiments.paper_studies import PARTS
from aapi.registry.algorithms import make_algorithm
from aapi.registry.problems import make_problem

STEPS = 2_000_000


def main(runs="5", seed="1"):
    """Print a table in Markdown."""
    learners = {"`AAPI()`": aapi.AAPI(), "greedy, same parts": make_algorithm("greedy", PARTS, {})[0]}
    print(f"{runs} runs of {STEPS:,} steps, seed {seed}; numbers of jobs, and how far above the optimum:\n")
    print("| regime, cap | learner | optimum | policy learnt, mean | worst | above the optimum, mean | worst |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for table in [*LIGHT, *MEDIUM]:
        sizes = {name: value for name, value in table.items() if name != "name"}
        model = make_problem(str(table["name"]), sizes)
        for name, learner in learners.items():
            result = aapi.run(learner, model, STEPS, int(runs), int(seed), threads=2)
            best, jobs = -result.optimal_gain, -result.learnt_gains
            numbers = f"{best:.4f} | {jobs.mean():.4f} | {jobs.max():.4f}"
            above = " | ".join(f"{100 * (found / best - 1):.2f} %" for found in (jobs.mean(), jobs.max()))
            print(f"| {', '.join(map(str, sizes.values()))} | {name} | {numbers} | {above} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
