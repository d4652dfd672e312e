"""Rules of thumb for networks, as functions of what is observed: how many jobs of each class there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Actions, Array, Integers
    from aapi.environments.queueing.capped import CappedNetwork
    from aapi.environments.queueing.network import Network


@dataclass(frozen=True, eq=False)
class IndexRule:
    """Each station serves, of its classes that have jobs, the one with the largest index; in a tie the first listed.

    index = constant + slope · jobs, (stations, most classes of one), of the classes in the station's order.
    It is called with an observation, (classes,), or many, (states, classes); it returns an action, or one for each.
    """

    name: str
    network: Network
    constant: Array
    slope: Array

    def __repr__(self) -> str:
        return f"IndexRule({self.name})"

    def __call__(self, jobs: ArrayLike) -> Integers:
        """The action, or one for each state."""
        seen = np.asarray(jobs, dtype=np.int64)
        places = np.zeros((*seen.shape[:-1], len(self.network.stations)), dtype=np.int64)
        for s, station in enumerate(self.network.stations):
            listed, count = [job for job, _ in station], len(station)
            index = self.constant[s, :count] + seen @ self.slope[s, :count].T
            places[..., s] = np.where(seen[..., listed] > 0, index, -np.inf).argmax(axis=-1)
        return self.network.action(places)


@dataclass(frozen=True, eq=False)
class TableRule:
    """A policy of a capped model, one action per state, as a function of what is observed: beyond caps, as at them."""

    name: str
    capped: CappedNetwork
    policy: Actions | Integers

    def __repr__(self) -> str:
        return f"TableRule({self.name})"

    def __call__(self, jobs: ArrayLike) -> Integers:
        """The action, or one for each state."""
        return np.asarray(self.policy[self.capped.state(jobs)], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FirstComeFirstServed:
    """Each station serves the job that has been there longest. The order is not in the state: for `simulate` only."""

    network: Network
    name: str = "first come first served"


def index_rule(name: str, network: Network, constant: Array, slope: Array) -> IndexRule:
    """A rule of indices that are given by class: constant (classes,) or by station and class, slope (…, classes)."""
    count, most = network.num_classes, max(map(len, network.stations))
    by_place, slopes = np.zeros((len(network.stations), most)), np.zeros((len(network.stations), most, count))
    constant = np.broadcast_to(constant, (len(network.stations), count))
    slope = np.broadcast_to(slope, (len(network.stations), count, count))
    for s, station in enumerate(network.stations):
        for place, (job, _) in enumerate(station):
            by_place[s, place], slopes[s, place] = constant[s, job], slope[s, job]
    return IndexRule(name, network, by_place, slopes)


def c_mu(network: Network) -> IndexRule:
    """Serve what saves most: cost times rate."""
    return index_rule("cμ", network, np.array(network.costs) * _rates(network), _none(network))


def max_weight(network: Network) -> IndexRule:
    """Serve the largest rate × (cost × jobs, less that of the class where the job goes): Tassiulas, Ephremides (1992).

    It keeps the queues of every network finite that some policy can, for jobs have one route.
    """
    pressure = np.diag(np.array(network.costs))
    for job, target in enumerate(network.routing):
        if target is not None:
            pressure[job, target] -= network.costs[target]
    return index_rule("MaxWeight", network, np.zeros(network.num_classes), _rates(network)[:, :, None] * pressure)


def longest_queue(network: Network) -> IndexRule:
    """Serve the class that has most jobs."""
    return index_rule("longest queue", network, np.zeros(network.num_classes), np.eye(network.num_classes))


def last_buffer(network: Network) -> IndexRule:
    """Serve the class that is nearest to leaving, counted in services; in a tie the one with the higher number."""
    left = np.array([len(network.route(job)) for job in range(network.num_classes)])
    tie = np.arange(network.num_classes) / network.num_classes
    return index_rule("last buffer first", network, tie - left, _none(network))


def first_buffer(network: Network) -> IndexRule:
    """Serve the class that has most services to come."""
    left = np.array([len(network.route(job)) for job in range(network.num_classes)])
    return index_rule("first buffer first", network, left.astype(np.float64), _none(network))


def threshold(network: Network, first: int, watched: int, level: int) -> IndexRule:
    """Serve class `first` first as long as there are fewer than `level` jobs of the class `watched`; else others."""
    constant, slope = np.zeros(network.num_classes), _none(network)
    constant[first], slope[first, watched] = level - 0.5, -1.0
    return index_rule(f"threshold {level}", network, constant, slope)


def standard_rules(network: Network) -> tuple[IndexRule, ...]:
    """The rules that need no parameter."""
    return tuple(make(network) for make in (c_mu, max_weight, longest_queue, last_buffer, first_buffer))


def _none(network: Network) -> Array:
    return np.zeros((network.num_classes, network.num_classes))


def _rates(network: Network) -> Array:
    """(stations, classes), 0 where a station does not serve a class."""
    rates = np.zeros((len(network.stations), network.num_classes))
    for s, station in enumerate(network.stations):
        for job, rate in station:
            rates[s, job] = rate
    return rates
