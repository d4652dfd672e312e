"""Taking regret apart, against the runs themselves: time and memory. Run by `make bench`."""

from __future__ import annotations

import tracemalloc

from learning import in_turn, median_ratio

import aapi
from aapi import theory
from aapi.environments import ergodic
from aapi.evaluation import MonteCarlo

NUM_RUNS, NUM_PHASES, PHASE_LENGTH = 50, 1000, 200


def main() -> None:
    """50 runs of 1,000 phases on ergodic (20, 5)."""
    mdp = ergodic(20, 5)
    algorithm = aapi.AAPI(phase_length=PHASE_LENGTH, eta=0.3, evaluate=MonteCarlo(10, centre=True))

    def learn() -> aapi.Result:
        return aapi.run(algorithm, mdp, NUM_PHASES * PHASE_LENGTH, NUM_RUNS, record=True)

    result = learn()
    runs, parts = in_turn(3, learn, lambda: theory.analyse(result))
    print(f"taking apart {NUM_RUNS} runs of {NUM_PHASES} phases on ergodic (20, 5)")
    print(f"  {min(parts):.2f} s, {median_ratio(parts, runs):.2f} x the time of the runs themselves")
    tracemalloc.start()
    theory.analyse(result)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = result.record
    size = sum(array.nbytes for array in vars(kept).values() if array is not None)
    print(f"  {peak / 2**20:.0f} MiB on top of a record of {size / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
