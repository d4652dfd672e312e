"""Rivals against other people's implementations of them, on the same problem for as many steps. Run by `make bench`."""

from __future__ import annotations

import random
from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from learning import in_turn, median_ratio

import aapi
from aapi.environments import ergodic
from aapi.learners.learner import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.learners.learner import AnyLearner
    from aapi.learners.model_based import EpisodeState
    from aapi.mdp import FiniteMDP


@dataclass(frozen=True, kw_only=True)
class PSRLDoubling(aapi.PSRL):
    """PSRL whose episodes end when visits double and not before, as StatisticalRL's do: the same number of draws."""

    def longest(self, state: EpisodeState) -> int:  # noqa: ARG002
        """Episodes are not bounded."""
        return LONGEST


def psrl_peer_steps(mdp: FiniteMDP, agent: object, steps: int) -> float:
    """Let an agent of StatisticalRL act, with rewards scaled to [0, 1]; the average reward."""
    P = np.reshape(mdp.transitions, (-1, mdp.num_states))
    sums, scaled = P.cumsum(axis=1).tolist(), ((mdp.rewards - mdp.rewards.min()) / np.ptp(mdp.rewards)).tolist()
    x, earned, last = mdp.initial_state, 0.0, mdp.num_states - 1
    agent.reset(x)
    for _ in range(steps):
        a = int(agent.play(x))
        y = min(bisect(sums[x * mdp.num_actions + a], random.random()), last)  # noqa: S311
        agent.update(x, a, scaled[x][a], y)
        earned += float(mdp.rewards[x, a])
        x = y
    return earned / steps


def psrl_compare(name: str, ours: Callable[[], float], theirs: Callable[[], float], steps: tuple[int, int]) -> None:
    """Print microseconds a step of both, for `steps` of ours and theirs, and the ratio."""
    times = in_turn(3, ours, theirs)
    each = [[1e6 * seconds / count for seconds in row] for row, count in zip(times, steps, strict=True)]
    print(f"  {name:8} aapi {min(each[0]):8.3f} µs a step, StatisticalRL {min(each[1]):8.1f} µs: ", end="")
    print(f"time ratio {median_ratio(each[1], each[0]):.0f}; average rewards {ours():.4f}, {theirs():.4f}")


def psrl_main(steps: int = 200_000, runs: int = 4) -> None:
    """PSRL with Beta rewards and the prior 1 for each successor, and IMED-RL; one thread.

    TSDE draws √(2T) models at least, StatisticalRL's PSRL one each time visits double: that is another algorithm.
    """
    from statisticalrl_learners.MDPs_discrete.IMED_RL import IMEDRL
    from statisticalrl_learners.MDPs_discrete.PSRL import PSRL

    for mdp, called in ((ergodic(10, 2), "ergodic (10, 2)"), (ergodic(20, 5), "ergodic (20, 5)")):
        print(f"{called}, {steps:,} steps, one thread; {runs} runs of ours, one of theirs")
        size, prior = (mdp.num_states, mdp.num_actions), float(mdp.num_states)
        for name, learner, make, part in (
            ("PSRL", PSRLDoubling(rewards="beta", prior=prior), lambda size=size: PSRL(*size, 0.05), 1),
            ("TSDE", aapi.PSRL(rewards="beta", prior=prior), lambda size=size: PSRL(*size, 0.05), 1),
            ("IMED-RL", aapi.IMEDRL(), lambda size=size: IMEDRL(*size), 50),  # the first 2 % of the steps
        ):
            count = steps // part

            def ours(learner: AnyLearner = learner, mdp: FiniteMDP = mdp, count: int = count) -> float:
                return float(aapi.run(learner, mdp, count, runs).cumulated[:, -1].mean() / count)

            def theirs(make: Callable[[], object] = make, mdp: FiniteMDP = mdp, count: int = count) -> float:
                return psrl_peer_steps(mdp, make(), count)

            psrl_compare(name, ours, theirs, (count * runs, count))


if __name__ == "__main__":
    psrl_main()
