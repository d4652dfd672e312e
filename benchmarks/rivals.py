"""Rivals of AAPI against other implementations of them: the same problem, the same steps. Run by `make bench`.

UCRL2, UCRL2B, KL-UCRL, PSRL and IMED-RL of StatisticalRL (statisticalrl-learners, plain Python): our plans in the first
three are at least as exact as its own at every step. rlberry has no learner of this family. Where StatisticalRL is not
installed, it says so.

Its KL-UCRL earns more than ours on ergodic problems, as it is hardly optimistic about transitions: where the best state
was seen to follow, it looks for ν on the wrong side of the root of f(ν) = radius, which falls, and ends at ν ≈ 10⁷,
where p is p̂. With that turned round, and all else its own, it earns what ours does: .39 of λ_* on ergodic (20, 5) in
20,000 steps, against .71 before, and .36 and .38 in two runs of ours.
"""

from __future__ import annotations

import bisect
import contextlib
import io
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from learning import median_ratio

import aapi
from aapi.environments import ergodic, river_swim
from aapi.learners.learner import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.learners.learner import AnyLearner
    from aapi.learners.model_based import EpisodeState
    from aapi.mdp import FiniteMDP

DELTA, RUNS = 0.05, 20


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes, of a processor: other work on the machine matters little."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peers() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """Ours and theirs, by name."""
    vars(np).setdefault("infty", np.inf)  # theirs were written for NumPy 1
    from statisticalrl_learners.MDPs_discrete.KLUCRL import KLUCRL
    from statisticalrl_learners.MDPs_discrete.UCRL2 import UCRL2
    from statisticalrl_learners.MDPs_discrete.UCRL2B import UCRL2B

    return {"UCRL2": (aapi.UCRL2, UCRL2), "UCRL2B": (aapi.UCRL2B, UCRL2B), "KL-UCRL": (aapi.KLUCRL, KLUCRL)}


def play(peer: Any, model: FiniteMDP, num_steps: int) -> tuple[float, float]:
    """Let a learner of theirs act in a model: its average reward, and its seconds, of which the model takes few."""
    generator = np.random.default_rng(1)
    rows = scipy.sparse.csr_array(model.transitions.reshape(-1, model.num_states)).toarray()
    chances = np.cumsum(rows, axis=1).reshape(model.num_states, model.num_actions, -1).tolist()
    rewards = model.rewards.tolist()
    np.random.seed(1)  # noqa: NPY002 - theirs draw from it
    x, earned = int(model.initial_state), 0.0
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        peer.reset(x)
        for draw in generator.random(num_steps).tolist():
            a = int(peer.play(x))
            y, reward = bisect.bisect_right(chances[x][a], draw), rewards[x][a]
            peer.update(x, a, reward, y)
            x, earned = y, earned + reward
    return earned / num_steps, time.process_time() - start


@dataclass(frozen=True, kw_only=True)
class PSRLDoubling(aapi.PSRL):
    """PSRL whose episodes end when visits double and not before, as StatisticalRL's do: the same number of draws."""

    def longest(self, state: EpisodeState) -> int:  # noqa: ARG002
        """Episodes are not bounded."""
        return LONGEST


def psrl_compare(
    name: str, ours: Callable[[], float], theirs: Callable[[], tuple[float, float]], steps: tuple[int, int]
) -> None:
    """Print microseconds a step of both, for `steps` of ours and theirs, and the ratio."""
    found = [(seconds(ours), *theirs()) for _ in range(4)][1:]  # the first compiles
    mine = [1e6 * spent / steps[0] for spent, _, _ in found]
    peer = [1e6 * spent / steps[1] for _, _, spent in found]
    print(f"  {name:8} aapi {min(mine):8.3f} µs a step, StatisticalRL {min(peer):8.1f} µs: ", end="")
    print(f"time ratio {median_ratio(peer, mine):.0f}; average rewards {ours():.4f}, {found[0][1]:.4f}")


def psrl_main(steps: int = 200_000, runs: int = 4) -> None:
    """PSRL with Beta rewards and the prior 1 for each successor, and IMED-RL; one thread.

    TSDE draws √(2T) models at least, StatisticalRL's PSRL one each time visits double: that is another algorithm.
    On ergodic (20, 5), of the 106 µs that an episode takes us, the 2,000 Gamma variables of a draw take 23, its 900
    steps 21, and the plan 12.
    Its IMED-RL adds N log(1 + max φ) to the indices of actions that do not look best, which the paper does not: it
    tries them less often, and earns more at first. Without that, both earn the same.
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

            def theirs(
                make: Callable[[], object] = make, mdp: FiniteMDP = mdp, count: int = count
            ) -> tuple[float, float]:
                return play(make(), mdp, count)

            psrl_compare(name, ours, theirs, (count * runs, count))


def main() -> None:
    """Every learner on two problems, on one thread."""
    try:
        both = peers()
    except ImportError:
        print("StatisticalRL is not installed: pip install --no-deps statisticalrl-learners")
        return
    problems = (
        ("ergodic (10, 2)", ergodic(10, 2), 1_000_000),
        ("ergodic (20, 5)", ergodic(20, 5), 200_000),
        ("RiverSwim (6)", river_swim(6), 200_000),
    )
    print(f"seconds for a run, ours the mean of {RUNS} runs on one thread; in brackets, the share of λ_*")
    for name, (ours, theirs) in both.items():
        for called, model, num_steps in problems:
            learner = ours(delta=DELTA, accuracy=1.0 / math.sqrt(num_steps))  # theirs stops at a gap of 1/t or more
            best = aapi.run(learner, model, num_steps, RUNS)  # compiles, too
            spent = min(seconds(lambda: aapi.run(learner, model, num_steps, RUNS)) for _ in range(3)) / RUNS  # noqa: B023
            gain, slow = play(theirs(model.num_states, model.num_actions, DELTA), model, num_steps)
            share = best.cumulated[:, -1].mean() / num_steps / best.optimal_gain
            print(
                f"  {name:8} {called:16} {num_steps} steps: ours {spent:8.4f} s ({share:.3f}), StatisticalRL "
                f"{slow:7.2f} s ({gain / best.optimal_gain:.3f}), {slow / spent:6.0f} x",
                flush=True,
            )
    psrl_main()


if __name__ == "__main__":
    main()
