"""The criss-cross network: two stations, three classes, six regimes of traffic (Harrison and Wein 1990)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from aapi.environments.queueing.capped import CappedNetwork
from aapi.environments.queueing.network import Network
from aapi.environments.queueing.rules import IndexRule, threshold
from aapi.errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.mdp import FiniteMDP

# Imbalanced or balanced, in light, medium or heavy traffic: λ of both streams, μ of station 2, and room for jobs.
REGIMES = {
    "IL": (0.3, 1.5, (16, 16, 16)),
    "BL": (0.3, 1.0, (18, 18, 18)),
    "IM": (0.6, 1.5, (26, 26, 26)),
    "BM": (0.6, 1.0, (30, 30, 30)),
    "IH": (0.9, 1.5, (100, 100, 100)),
    "BH": (0.9, 1.0, (100, 100, 100)),
}
SPEED = 2.0  # of station 1


def criss_cross_network(regime: str = "BM", cap: int | None = None) -> CappedNetwork:
    """The network of a regime, IL, BL, IM, BM, IH or BH, with room for `cap` jobs of each class."""
    if regime not in REGIMES:
        raise InvalidInput(f"regime must be one of {', '.join(REGIMES)}, not {regime!r}{did_you_mean(regime, REGIMES)}")
    arrivals, second, caps = REGIMES[regime]
    network = Network(
        classes=("1", "2", "3"), arrivals=(arrivals, 0.0, arrivals),
        stations=(((0, SPEED), (2, SPEED)), ((1, second),)), routing=(1, None, None), costs=(1.0, 1.0, 1.0),
    )  # fmt: skip
    return CappedNetwork(network, caps if cap is None else (cap,) * 3)


def criss_cross(regime: str = "BM", cap: int | None = None) -> FiniteMDP:
    """Station 1 serves class 1, whose jobs then go to station 2 as class 2, or class 3, whose jobs leave.

    λ₁ = λ₃ = .3, .6 or .9 and μ₁ = μ₃ = 2; μ₂ = 1.5 (imbalanced) or 1 (balanced). Rewards are minus the number of jobs,
    per unit of time. There is room for `cap` jobs of each class; what finds none is lost (see `bounds`).

    Unichain, not ergodic: a queue that is always served first stays short.
    """
    return criss_cross_network(regime, cap).model()


def criss_cross_threshold(network: Network, level: int) -> IndexRule:
    """Class 1 first where fewer than `level` jobs are at station 2, so that it does not run dry; else class 3."""
    return threshold(network, first=0, watched=1, level=level)


def best_threshold(network: Network, gain: Callable[[IndexRule], float]) -> tuple[IndexRule, float]:
    """The threshold of the highest gain, and the gain: the level is raised from 0 as long as that helps."""
    best = criss_cross_threshold(network, 0)
    earned = gain(best)
    for level in itertools.count(1):
        rule = criss_cross_threshold(network, level)
        if (more := gain(rule)) <= earned:
            break
        best, earned = rule, more
    return best, earned
