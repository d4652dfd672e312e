"""Learners that learn at every step, against C. Run by `make bench`."""

from __future__ import annotations

import ctypes
import statistics
from typing import TYPE_CHECKING

import numpy as np
from learning import NUM_RUNS, Model, compiled, in_turn, median_ratio

import aapi
from aapi.environments import ergodic
from aapi.kernels.random import streams
from aapi.learners import CentredQ, DifferentialQ, DifferentialSarsa, OptimisticQ, RLearning
from aapi.learners.td import RVIQ
from aapi.simulation import transition_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.learners.learner import AnyLearner
    from aapi.mdp import FiniteMDP

STEPS = 200_000


def in_c(mdp: FiniteMDP, learner: DifferentialQ) -> Callable[[], np.ndarray]:
    """Differential Q-learning in C: a function that returns the average rewards of the runs."""
    numbers = [ctypes.c_double] * 3 + [ctypes.c_int64] * 3
    learn = compiled("differential_q.c", "learn", ctypes.POINTER(Model), *numbers, *[ctypes.c_void_p] * 2)

    def work() -> np.ndarray:
        tables = transition_tables(mdp)
        names = ("starts", "thresholds", "successors", "alternatives", "rewards")
        model = Model(mdp.num_states, mdp.num_actions, *(getattr(tables, name).ctypes.data for name in names))
        rewards, state = np.empty(NUM_RUNS), streams(0, range(NUM_RUNS))
        out = (array.ctypes.data for array in (state, rewards))
        settings = learner.step_size, learner.gain_rate, learner.epsilon
        assert learn(model, *settings, STEPS, NUM_RUNS, mdp.initial_state, *out) == 0
        return rewards / STEPS

    return work


def against_c(repeats: int = 7) -> None:
    """Differential Q-learning on 10 states × 2 actions."""
    mdp, learner = ergodic(10, 2), DifferentialQ(gain_rate=0.1)
    in_plain_c = in_c(mdp, learner)

    def ours() -> np.ndarray:
        return aapi.run(learner, mdp, STEPS, NUM_RUNS).cumulated[:, -1] / STEPS

    times = in_turn(repeats, ours, in_plain_c)
    apart = abs(ours().mean() - in_plain_c().mean()) / ours().mean()
    assert apart < 0.001
    ns = [1e9 * statistics.median(row) / (NUM_RUNS * STEPS) for row in times]
    print(f"Differential Q on 10 states × 2 actions, {NUM_RUNS} runs of {STEPS:,} steps, 1 thread, median of {repeats}")
    print(f"  aapi {ns[0]:.1f} ns a step, {1e3 / ns[0]:.0f} million steps a second; C {ns[1]:.1f} ns: ", end="")
    print(f"time ratio {median_ratio(*times):.2f}; average rewards equal up to {apart:.1e}")


def speeds() -> None:
    """All of them."""
    learners: tuple[AnyLearner, ...] = (
        DifferentialQ(), DifferentialSarsa(), CentredQ(), RLearning(), RVIQ(), OptimisticQ(),
        DifferentialQ(step_size="0.5/n^0.7", epsilon="1/n^0.5"),
    )  # fmt: skip
    for learner in learners:
        (times,) = in_turn(3, lambda learner=learner: aapi.run(learner, ergodic(10, 2), STEPS, NUM_RUNS))
        print(f"  {NUM_RUNS * STEPS / statistics.median(times) / 1e6:6.1f} million steps a second  {learner!r}")


if __name__ == "__main__":
    against_c()
    speeds()
