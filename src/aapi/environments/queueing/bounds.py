"""What a cap costs: bounds on the optimum of a network without caps, from its model with room for so many jobs.

**The capped optimum is no larger (`lower_is_proven`).** Let the routes of jobs be fixed, every class have one station,
and costs never rise along a route. Let U_k(x) be the number of jobs in class k or before it on a route through k. Then
the total cost Σ_k c_k x_k is Σ_k (c_k − c_next(k)) U_k(x), a sum with weights ≥ 0. Run the network x under any policy
whatever, idle or not, and beside it the capped one, y, on the same arrivals and possible services: where x serves class
k and y has a job in k, y serves k, else anything that it has. Then U_k(y) ≤ U_k(x) for all k, always. An arrival adds
one to both sides, or to the right one alone, if y has no room. A service in k takes one from U_k and changes no other;
if it happens in x alone and there was equality, then y_k = U_k(y) − Σ U_before(y) ≥ U_k(x) − Σ U_before(x) = x_k > 0,
so y served k, too: a contradiction. Services in y alone, and losses on the way, only lower U(y). So the optimum of a
capped model, whose lost jobs cost nothing and whose stations work if they can, costs no more than any policy without
caps. (The controller of y imitates x in its head; in a finite model, stationary policies are as good as that.)

**A policy without caps that costs hardly more (`overflow_cost`).** Follow a policy of the capped model with the regular
jobs; those that it has no room for are the overflow, which a station serves when it has no regular job. Regular jobs
are as in the capped model and know nothing of the overflow, so the cost is the capped one plus that of the overflow.
Let w be the work that all overflow has left for a station, r(y) the rate at which overflow brings work in state y of
the capped chain, and b(y) = 1 where the station has no regular job. So w rises at r(y), and falls at b(y) while the
station has overflow. With f from Poisson's equation r − b + Lf ≤ −m, where L is the generator of the capped chain, and
f ≥ 0 wherever b = 1, look at the generator on w² + 2wf(y). This function is bounded below, so that the long-run average
is ≥ 0, which gives

    2 m E[w] ≤ E[Σ_e q_e M_e (M_e + 2 f(y_e))] + E[r] / min μ + 2 E[work left, of overflow that is at stations before].

Events e bring work M_e at the rate q_e and lead to y_e. All expectations are in the capped chain; they are found by
`solve_events` and certified by the largest residual. Stations must be in an order that all routes follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import DoesNotExist
from aapi.mdp import EventModel, solve_events

if TYPE_CHECKING:
    from aapi.array_types import Actions, Array, Integers, Mask
    from aapi.environments.queueing.capped import CappedNetwork, Moves
    from aapi.environments.queueing.network import Network

ROUNDING = float(np.finfo(float).eps)
SHARE = 1e-3  # the accuracy of the first of Poisson's equations, as a share of the time a station has left


@dataclass(frozen=True)
class CapCost:
    """Bounds on the optimal gain without caps; None where nothing is proven, with the reason.

    gain_upper: no policy earns more. gain_lower: some policy earns that much. at_cap: the share of the time in which
    some class has no room, under the capped policy, at the most; always there.
    """

    gain_lower: float | None
    gain_upper: float | None
    at_cap: float
    reason: str


def lower_is_proven(network: Network) -> str:
    """Why the capped optimum need not be a bound on the cost without caps; empty if it is one."""
    if not _one_station_each(network):
        return "some class has several stations"
    if any(network.lost_costs):
        return "lost jobs cost something"
    for job, target in enumerate(network.routing):
        if target is not None and network.costs[target] > network.costs[job]:
            return f"class {network.classes[target]} costs more than class {network.classes[job]} before it"
    return ""


def station_order(network: Network) -> tuple[int, ...] | None:
    """An order of the stations that all routes follow, or None if there is none."""
    if not _one_station_each(network):
        return None
    home = _homes(network)
    before: dict[int, set[int]] = {s: set() for s in range(len(network.stations))}
    for job, target in enumerate(network.routing):
        if target is not None and home[target] != home[job]:
            before[home[target]].add(home[job])
    try:
        return tuple(TopologicalSorter(before).static_order())
    except CycleError:
        return None


def overflow_cost(capped: CappedNetwork, policy: Actions | Integers, accuracy: float = 1e-6) -> float:
    """A bound on what the overflow costs on average, per unit of time, when a capped policy is followed without caps.

    Infinite if a station has no time left for it. accuracy: by how much, about, it may be larger than need be.
    """
    network, order = capped.network, station_order(capped.network)
    if order is None:
        raise DoesNotExist("there is no order of stations that all routes follow, and no bound on the overflow")
    if network.load >= 1.0:
        return float("inf")
    moves, jobs, work = capped.moves(np.arange(capped.num_states), policy), capped.jobs(), _work(network)
    mean_work: dict[int, float] = {}
    total = 0.0
    for s in order:
        before = sum(
            mean * max(work[job, s] * rate for job, rate in network.stations[p]) for p, mean in mean_work.items()
        )  # fmt: skip
        brings = np.append(work[:, s], 0.0)[moves.lost]  # −1, nothing lost: the last one
        idle = jobs[:, [job for job, _ in network.stations[s]]].sum(axis=1) == 0
        price = max(network.costs[job] * rate for job, rate in network.stations[s])
        each = accuracy / (len(order) * max(price, 1.0))
        mean_work[s] = _mean_work(network, s, moves, brings, idle, before, each)
        total += price * mean_work[s]
    return total


def cap_cost(
    capped: CappedNetwork, policy: Actions | Integers, gain_lower: float, gain_upper: float, accuracy: float = 1e-6
) -> CapCost:
    """Bounds for the network without caps, from those of the capped model; policy: what earns the lower one."""
    refused = lower_is_proven(capped.network)
    upper = None if refused else gain_upper
    share = _share_at_cap(capped, policy, accuracy)
    if station_order(capped.network) is None:
        return CapCost(None, upper, share, refused or "jobs come back to stations where they were")
    try:
        extra = np.inf if any(capped.network.lost_costs) else overflow_cost(capped, policy, accuracy)
    except DoesNotExist as error:
        return CapCost(None, upper, share, str(error))
    if not np.isfinite(extra):
        return CapCost(None, upper, share, refused or "stations have no time left for jobs that find no room")
    return CapCost(float(gain_lower - extra), upper, share, refused)


def _mean_work(
    network: Network, station: int, moves: Moves, brings: Array, idle: Mask, before: float, accuracy: float
) -> float:  # fmt: skip
    """The bound on E[w] of a station; infinite if it has no time left."""
    inflow = network.rate * (moves.probabilities @ brings)
    drift, values = _certified(moves, inflow - idle, SHARE * (1.0 - network.load))
    if drift >= 0.0:
        return float("inf")
    f = values / network.rate
    f -= f[idle].min()
    slowest = min(rate for _, rate in network.stations[station])
    hits = network.rate * (moves.probabilities @ (brings * (brings + 2.0 * f[moves.successors]))) + inflow / slowest
    mean = _certified(moves, hits, -2.0 * drift * accuracy)[0] if hits.any() else 0.0
    return (mean + 2.0 * before) / (-2.0 * drift)


def _certified(moves: Moves, rewards: Array, accuracy: float) -> tuple[float, Array]:
    """A bound from above on the average reward of the chain, and the values that prove it, by their residual."""
    values = solve_events(_chain(moves, rewards), accuracy).bias
    residual = rewards - values
    for chance, successors in zip(moves.probabilities, moves.successors, strict=True):
        residual += chance * values[successors]
    size = float(np.abs(values).max()) + float(np.abs(rewards).max())
    return float(residual.max()) + ROUNDING * (len(moves.probabilities) + 4) * size, values


def _share_at_cap(capped: CappedNetwork, policy: Actions | Integers, accuracy: float) -> float:
    moves = capped.moves(np.arange(capped.num_states), policy)
    full = (capped.jobs() == np.array(capped.caps)).any(axis=1).astype(np.float64)
    return solve_events(_chain(moves, full), accuracy).upper


def _chain(moves: Moves, rewards: Array) -> EventModel:
    """The chain under the policy, with these rewards, as a model with one action."""
    return EventModel(
        len(rewards), 1, lambda _states, _action: (moves.probabilities[:, None], moves.successors, rewards)
    )


def _one_station_each(network: Network) -> bool:
    return sum(map(len, network.stations)) == network.num_classes


def _homes(network: Network) -> dict[int, int]:
    """The station of each class."""
    return {job: s for s, station in enumerate(network.stations) for job, _ in station}


def _work(network: Network) -> Array:
    """The mean time that a job of each class will take of each station until it leaves, (classes, stations)."""
    work = np.zeros((network.num_classes, len(network.stations)))
    rates = {job: (s, rate) for s, station in enumerate(network.stations) for job, rate in station}
    for job in range(network.num_classes):
        for passed in network.route(job):
            s, rate = rates[passed]
            work[job, s] += 1.0 / rate
    return work
