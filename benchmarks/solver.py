"""The exact solver against pymdptoolbox's relative value iteration, and at scale. Run by `make bench`."""

from __future__ import annotations

import statistics
import time
import tracemalloc
import warnings
from typing import TYPE_CHECKING

import numpy as np

from aapi.environments import deep_sea, garnet
from aapi.mdp import FiniteMDP, solve

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 31


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def against_pymdptoolbox() -> None:
    """500 states × 5 actions, dense: the two solvers in turn, so that noise meets both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mdptoolbox.mdp import RelativeValueIteration
    random = np.random.default_rng(0)
    transitions = random.dirichlet(np.full(500, 0.1), size=(500, 5))
    rewards = random.random((500, 5))
    by_action = np.ascontiguousarray(transitions.transpose(1, 0, 2))
    ours, theirs, ours_whole, theirs_whole = [], [], [], []
    for _ in range(REPEATS):
        start = time.perf_counter()
        mdp = FiniteMDP(transitions, rewards)
        ours.append(seconds(lambda mdp=mdp: solve(mdp)))
        ours_whole.append(time.perf_counter() - start)
        start = time.perf_counter()
        peer = RelativeValueIteration(by_action, rewards, epsilon=1e-9, max_iter=100_000)
        theirs.append(seconds(peer.run))
        theirs_whole.append(time.perf_counter() - start)
    solution = solve(mdp)
    width = (solution.gains_upper - solution.gains_lower).max()
    print("500 states × 5 actions, dense, median of", REPEATS)
    print(f"  aapi          {1e3 * statistics.median(ours):7.2f} ms   certified within {width:.1e}")
    error = abs(peer.average_reward - solution.gain)
    print(f"  pymdptoolbox  {1e3 * statistics.median(theirs):7.2f} ms   off by {error:.1e}")
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    whole = [a / b for a, b in zip(ours_whole, theirs_whole, strict=True)]
    print(f"  time ratio aapi / pymdptoolbox: {statistics.median(ratios):.2f} solving, ", end="")
    print(f"{statistics.median(whole):.2f} with construction and checks")


def deep_sea_100() -> None:
    """10,000 states, period 100: relative value iteration never settles here."""
    mdp = deep_sea(100)
    start = time.perf_counter()
    solution = solve(mdp)
    elapsed = time.perf_counter() - start
    width = (solution.gains_upper - solution.gains_lower).max()
    print(f"DeepSea 100: gain {solution.gain!r} in {elapsed:.2f} s, certified within {width:.1e}")


def garnets() -> None:
    """Sparse random models of growing size; memory is that of making and solving the model, at its peak."""
    for num_states in (25_000, 50_000, 100_000, 200_000):
        mdp = garnet(num_states, 4, 5)
        start = time.perf_counter()
        solution = solve(mdp)
        elapsed = time.perf_counter() - start
        tracemalloc.start()
        solve(garnet(num_states, 4, 5))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        width = (solution.gains_upper - solution.gains_lower).max()
        print(f"Garnet {num_states} × 4 × 5: {elapsed:.2f} s, certified within {width:.1e}, ", end="")
        print(f"{peak / (20 * num_states):.0f} bytes per transition at the peak")


if __name__ == "__main__":
    against_pymdptoolbox()
    deep_sea_100()
    garnets()
