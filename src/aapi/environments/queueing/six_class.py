"""The extended six-class network: two streams of jobs pass all stations twice, or once (Bertsimas et al. 2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.checks import at_least
from aapi.environments.queueing.capped import CappedNetwork
from aapi.environments.queueing.network import Network
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP

ARRIVALS = 9.0 / 140.0
RATES = ((1 / 8, 1 / 2, 1 / 4), (1 / 6, 1 / 7, 1.0))  # of the three classes at stations 1, 3, … and 2, 4, …
EACH = 3  # classes of a station


def six_class_network(classes: int = 6, cap: int = 3) -> CappedNetwork:
    """The network of Dai and Gluzman (2022) with 6, 9, 12, … classes, three at each station; `cap` jobs of each."""
    at_least(6, classes=classes)
    if classes % EACH:
        raise InvalidInput(f"classes must be a multiple of {EACH}, three for each station, not {classes}")
    stations = classes // EACH
    last = classes - EACH
    routing: list[int | None] = [job + EACH for job in range(last)]  # the same place at the next station
    routing += [1, None, None]  # the first stream begins again, as the second class of station 1
    rates = [RATES[s % 2] for s in range(stations)]
    network = Network(
        classes=tuple(str(job + 1) for job in range(classes)),
        arrivals=tuple(ARRIVALS if job in (0, 2) else 0.0 for job in range(classes)),
        stations=tuple(tuple((EACH * s + k, rates[s][k]) for k in range(EACH)) for s in range(stations)),
        routing=tuple(routing), costs=(1.0,) * classes,
    )  # fmt: skip
    return CappedNetwork(network, (cap,) * classes)


def six_class(classes: int = 6, cap: int = 3) -> FiniteMDP:
    """Three classes at each of two stations, or more; jobs of class 1 pass all stations twice, those of class 3 once.

    They arrive at the rate 9/140 each. Rewards are minus the number of jobs, per unit of time. There is room for `cap`
    jobs of each class: in a finite model few, for there are (cap + 1)^classes states.

    Unichain, not ergodic: a queue that is always served first stays short.
    """
    return six_class_network(classes, cap).model()
