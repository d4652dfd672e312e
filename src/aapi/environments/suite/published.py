"""Settings of published runs on the suite, as facts, so that studies can be laid beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PublishedRuns:
    """Runs of one kind of learner in one environment: those of Naik et al., Reward Centering (2024).

    Settings are those of the files in abhisheknaik96/continuing-rl-exps, config_files/`source`. All are ε-greedy with
    ε = 0.1, without decay, on the environments of his fork of C-suite.

    environment, arguments: ours that has the same dynamics and rewards. steps, runs: of each setting that was tried.
    step_sizes, discounts, centring_rates: the sweep; a discount of 1 is differential Q-learning, a centring rate of 0
        none. features: of linear learners. layers, from the observation to the actions, and the rest: of networks,
        which Adam updates once in `update_every` steps with `batch` out of the last `buffer` steps, and whose target is
        renewed once in `target_every` steps.
    """

    environment: str
    source: str
    steps: int
    runs: int
    step_sizes: tuple[float, ...]
    discounts: tuple[float, ...]
    centring_rates: tuple[float, ...]
    arguments: Mapping[str, int] = field(default_factory=dict)
    features: str = ""
    layers: tuple[int, ...] = ()
    update_every: int = 1
    target_every: int = 0
    buffer: int = 0
    batch: int = 0
    epsilon: float = 0.1


_DISCOUNTS = (0.0, 0.5, 0.8, 0.9, 0.99, 0.999, 1.0)
_HALVES = tuple(2.0**-k for k in range(7, -1, -1))
_TENTHS = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1)
_ADAM = tuple(2.0**-k for k in range(9, 2, -1))
_PUCK_ADAM = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
_QUARTERS = (0.0, 2.0**-8, 2.0**-6, 2.0**-4, 2.0**-2, 1.0)
_LARGE = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

PUBLISHED_RUNS = (
    PublishedRuns(
        "aapi/AccessControl-v0", "accesscontrol/CDiscQ.json", 50_000, 50, _HALVES, _DISCOUNTS, _QUARTERS,
        features="one for each state",
    ),
    PublishedRuns(
        "aapi/Catch-v0", "catch_linear/CDiscQ.json", 20_000, 50, _HALVES, _DISCOUNTS, _QUARTERS,
        features="16 tilings of 3 × 3 × 3 over the paddle's column, and column and row of the lowest ball",
    ),
    PublishedRuns(
        "aapi/Catch-v0", "catch_nonlinear/CDQN.json", 80_000, 15, _ADAM, _DISCOUNTS, _LARGE,
        layers=(50, 128, 3), update_every=32, target_every=128, buffer=10_000, batch=64,
    ),
    PublishedRuns(
        "aapi/Pendulum-v0", "pendulum/CDiscSarsa.json", 100_000, 10, _TENTHS, _DISCOUNTS, _QUARTERS, {"dense": 1},
        features="8 tilings of 7 × 7 × 7 over cos θ, sin θ and θ'/10, the last from −10 to 10",
    ),
    PublishedRuns(
        "aapi/Pendulum-v0", "pendulum_nonlinear/CDQN.json", 100_000, 15, _ADAM, _DISCOUNTS, _LARGE, {"dense": 1},
        layers=(3, 64, 64, 3), update_every=32, target_every=128, buffer=10_000, batch=64,
    ),
    PublishedRuns(
        "aapi/PuckWorld-v0", "puckworld/CDiscQ.json", 300_000, 20, _TENTHS, _DISCOUNTS, _QUARTERS,
        features="32 tilings of 3⁶ over the observation",
    ),
    PublishedRuns(
        "aapi/PuckWorld-v0", "puckworld_nonlinear/cdqn.json", 400_000, 3, _PUCK_ADAM, (0.9,), (0.003, 0.01, 0.03, 0.1),
        layers=(6, 32, 32, 4), update_every=32, target_every=128, buffer=10_000, batch=64,
    ),
)  # fmt: skip
