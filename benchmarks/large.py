"""Large finite problems: evaluation on counts, AAPI() on Garnets, queueing networks. Run by `make bench`.

`python benchmarks/large.py all` adds the Garnet of 100,000 states (10⁷ steps) and criss-cross in heavy traffic.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import aapi
from aapi.environments import deep_sea, garnet, river_swim
from aapi.environments.queueing import TableRule, cap_cost, criss_cross_network, simulate
from aapi.kernels.krylov import solve_sparse, sort_entries
from aapi.mdp import solve_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.array_types import Array
    from aapi.mdp import FiniteMDP


def seconds_of(repeats: int, work: Callable[[], object]) -> float:
    """The median time of a call, after a first one."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def equations(mdp: FiniteMDP, prior: float = 0.01) -> tuple[scipy.sparse.csr_array, Array]:
    """P_π and r_π of a random policy, with 50 visits of every pair and what the prior leaves to chance."""
    states, actions = mdp.rewards.shape
    policy = np.random.default_rng(0).dirichlet(np.full(actions, 0.1), size=states)
    pairs = np.arange(states * actions)
    choose = scipy.sparse.csr_array((policy.ravel(), (pairs // actions, pairs)), shape=(states, states * actions))
    rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, states))
    return choose @ rows * (50.0 / (50.0 + prior)), (policy * mdp.rewards).sum(axis=1)


def evaluation() -> None:
    """The equations of SelfConsistent by BiCGSTAB with incomplete factors, from 0 on, and by SuperLU."""
    print("V = r − λ + P V of a random policy, by BiCGSTAB with incomplete factors from 0 on, and by SuperLU")
    for name, mdp in (
        ("RiverSwim 1,000", river_swim(1000)), ("DeepSea 50", deep_sea(50)), ("Garnet 1,000", garnet(1000, 4, 3)),
        ("Garnet 4,000", garnet(4000, 4, 3)),
    ):  # fmt: skip
        moves, earned = equations(mdp)
        size = len(earned)
        share, leaving = np.full(size, 1.0 / size), np.asarray(moves.sum(axis=1)).ravel()
        entries = (scipy.sparse.eye_array(size) - moves).tocoo()
        given = entries.row.astype(np.int32), entries.col.astype(np.int32), entries.data, size
        whole = scipy.sparse.bmat([[entries, np.ones((size, 1))], [share[None, :], None]]).tocsc()

        def iterate(given: tuple[object, ...] = given, rest: tuple[Array, ...] = (leaving, share, earned)) -> Array:
            found = np.zeros(len(rest[2]))
            accuracy = 1e-10 * np.ptp(rest[2])
            solve_sparse(*sort_entries(*given), *rest, accuracy, 2000, found)
            return found

        def factorise(whole: scipy.sparse.csc_array = whole, earned: Array = earned) -> Array:
            return np.asarray(scipy.sparse.linalg.splu(whole).solve(np.append(earned, 0.0)))

        apart = np.abs((iterate() - share @ iterate()) - factorise()[:-1]).max() / np.ptp(factorise()[:-1])
        ours, theirs = seconds_of(3, iterate), seconds_of(1, factorise)
        print(f"  {name:16} {1e3 * ours:7.2f} ms, SuperLU {1e3 * theirs:8.2f} ms; ", end="")
        print(f"values differ by {apart:.0e} of their range")


def learning(num_states: int, num_steps: int) -> None:
    """AAPI() on a Garnet with 4 actions and 3 successors."""
    mdp = garnet(num_states, 4, 3)
    aapi.run(aapi.AAPI(), garnet(100, 4, 3), 50_000)  # compiles
    start = time.perf_counter()
    result = aapi.run(aapi.AAPI(), mdp, num_steps, progress=True)
    each = 1e6 * (time.perf_counter() - start) / num_steps
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    earned = float(result.cumulated[0, -1]) / num_steps
    print(f"  {num_states:7,} states, {num_steps:10,} steps: {each:5.2f} µs a step, ", end="")
    print(f"average reward {earned:.4f}, {held:,.0f} MiB at the most", flush=True)


def queueing(regime: str, published: float, check: bool = False) -> None:
    """The least average number of jobs, certified, also without caps; and what its policy has in a simulation."""
    capped = criss_cross_network(regime)
    start = time.perf_counter()
    solution = solve_events(capped.event_model(), 5e-5)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bounds = f"{-solution.upper:.5f} to {-solution.lower:.5f}, published {published}"
    print(f"  {regime} caps {capped.caps}, {solution.model.num_states:9,} states: {bounds}; ", end="")
    print(f"{time.perf_counter() - start:.0f} s, {held:,.0f} MiB at the most", flush=True)
    start = time.perf_counter()
    cost = cap_cost(capped, solution.policy, solution.lower, solution.upper, 1e-4)
    bounds = " to ".join("?" if bound is None else f"{-bound:.5f}" for bound in (cost.gain_upper, cost.gain_lower))
    print(f"    without caps {bounds}; {time.perf_counter() - start:.0f} s", flush=True)
    if check:
        found = simulate(capped.network, TableRule("optimal", capped, solution.policy), 2_000_000_000, 7, 200)
        print(f"    simulated without caps, 2·10⁹ events: {found.mean:.3f} ± {found.half_width:.3f}", flush=True)


if __name__ == "__main__":
    evaluation()
    print("AAPI() on Garnets × 4 actions × 3 successors, 1 run, 1 thread")
    learning(1_000, 200_000)
    learning(10_000, 1_000_000)
    print("Criss-cross network, least average number of jobs (published: Dai and Gluzman 2022)")
    queueing("IL", 0.671)
    queueing("BL", 0.843)
    queueing("IM", 2.084)
    queueing("BM", 2.829)
    if "all" in sys.argv:
        queueing("IH", 9.970, check=True)
        queueing("BH", 15.228, check=True)
        learning(100_000, 10_000_000)
