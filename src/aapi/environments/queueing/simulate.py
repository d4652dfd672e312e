"""Networks without caps in continuous time, under a rule: the average cost, with an interval. Compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least
from aapi.environments.queueing.rules import FirstComeFirstServed, IndexRule, TableRule
from aapi.errors import InvalidInput
from aapi.kernels.elementary import log
from aapi.kernels.jit import kernel, step_kernel
from aapi.kernels.random import draw, streams

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.environments.queueing.network import Network

ROOM = 1 << 20  # jobs at a station, of which first come first served remembers the order
WARM_UP = 1  # batches that do not count
Z95 = 1.96


@dataclass(frozen=True)
class Simulated:
    """The average cost per unit of time, and half of the width of its interval of 95 %, from batch means.

    time: how much of it was simulated, without the first batch, which does not count.
    """

    mean: float
    half_width: float
    time: float

    def __repr__(self) -> str:
        return f"Simulated({self.mean:.5g} ± {self.half_width:.2g} in {self.time:.3g} units of time)"


def simulate(
    network: Network, rule: IndexRule | TableRule | FirstComeFirstServed, num_events: int = 10_000_000, seed: int = 0,
    batches: int = 50,
) -> Simulated:  # fmt: skip
    """Let so many jobs arrive or be served, in all, beginning with none; the same seed gives the same bits."""
    at_least(2, batches=batches)
    at_least(batches, num_events=num_events)
    if network.together:
        raise InvalidInput("together must be False to simulate: one station serves a job at a time")
    listed, rates = _stations(network)
    routing = np.array([-1 if target is None else target for target in network.routing])
    order = np.zeros((len(network.stations), ROOM if isinstance(rule, FirstComeFirstServed) else 0), dtype=np.int16)
    if order.size and sum(map(len, network.stations)) != network.num_classes:
        raise InvalidInput("first come first served needs a network in which every class has one station")
    constant, slope = np.zeros(rates.shape), np.zeros((*rates.shape, network.num_classes))
    table, caps = np.zeros(0, dtype=np.int64), np.zeros(network.num_classes, dtype=np.int64)
    if isinstance(rule, IndexRule):
        constant, slope = rule.constant, rule.slope
    elif isinstance(rule, TableRule):
        table, caps = np.asarray(rule.policy, dtype=np.int64), np.array(rule.capped.caps)
    costs, times = np.zeros(batches + WARM_UP), np.zeros(batches + WARM_UP)
    complete = _simulate(
        np.array(network.arrivals), listed, rates, routing, np.array(network.costs), constant, slope, table, caps,
        network.choices, order, streams(seed, [0])[0], num_events // batches, costs, times,
    )  # fmt: skip
    if not complete:
        raise InvalidInput(f"{rule.name} has more than {ROOM} jobs at a station: the network is not stable under it")
    return _summary(costs[WARM_UP:], times[WARM_UP:])


def _summary(costs: Array, times: Array) -> Simulated:
    mean = costs.sum() / times.sum()
    errors = (costs - mean * times) / times.mean()  # of a ratio, by the delta method
    half_width = Z95 * errors.std(ddof=1) / np.sqrt(len(errors))
    return Simulated(float(mean), float(half_width), float(times.sum()))


def _stations(network: Network) -> tuple[Any, Array]:
    """The classes of each station, −1 beyond the last, and their rates: (stations, most classes)."""
    shape = (len(network.stations), max(map(len, network.stations)))
    listed, rates = np.full(shape, -1, dtype=np.int64), np.zeros(shape)
    for s, station in enumerate(network.stations):
        for place, (job, rate) in enumerate(station):
            listed[s, place], rates[s, place] = job, rate
    return listed, rates


@kernel
def _simulate(
    arrivals: Any, listed: Any, rates: Any, routing: Any, cost_rates: Any, constant: Any, slope: Any, table: Any,
    caps: Any, choices: Any, order: Any, stream: Any, num_events: Any, costs: Any, times: Any,
) -> Any:  # fmt: skip
    """The costs and the lengths of batches of events; whether the order of jobs always had room."""
    num_stations, num_classes = listed.shape[0], arrivals.size
    jobs, left = np.zeros(num_classes, dtype=np.int64), np.zeros(num_classes, dtype=np.int64)
    serves = np.full(num_stations, -1)
    home = np.zeros(num_classes, dtype=np.int64)
    for s in range(num_stations):
        for place in range(listed.shape[1]):
            if listed[s, place] >= 0:
                home[listed[s, place]] = s
    head, tail = np.zeros(num_stations, dtype=np.int64), np.zeros(num_stations, dtype=np.int64)
    stopping = arrivals.sum()
    for batch in range(costs.size):
        spent, length = 0.0, 0.0
        for _ in range(num_events):
            if order.shape[1]:
                _in_order(listed, order, head, tail, serves)
            else:
                _choose(jobs, left, listed, constant, slope, table, caps, choices, serves)
            total = stopping
            for s in range(num_stations):
                if serves[s] >= 0:
                    total += rates[s, serves[s]]
            stay = -log(1.0 - draw(stream)) / total
            length += stay
            for job in range(num_classes):
                spent += cost_rates[job] * jobs[job] * stay
            came, done = _event(arrivals, rates, serves, draw(stream) * total)
            if done >= 0:
                gone = listed[done, serves[done]]
                jobs[gone] -= 1
                head[done] += 1
                came = routing[gone]
            if came >= 0:
                jobs[came] += 1
                if order.shape[1]:
                    s = home[came]
                    if tail[s] - head[s] >= order.shape[1]:
                        return False
                    order[s, tail[s] % order.shape[1]] = came
                    tail[s] += 1
        costs[batch], times[batch] = spent, length
    return True


@step_kernel
def _event(arrivals: Any, rates: Any, serves: Any, point: Any) -> Any:
    """The class of a job that arrives, and −1; or −1 and the station that has served one."""
    last = -1
    for job in range(arrivals.size):
        if arrivals[job] > 0.0:
            point -= arrivals[job]
            last = job
            if point < 0.0:
                return job, -1
    for s in range(serves.size):
        if serves[s] >= 0:
            point -= rates[s, serves[s]]
            if point < 0.0:
                return -1, s
    return last, -1  # rounding


@step_kernel
def _choose(
    jobs: Any, left: Any, listed: Any, constant: Any, slope: Any, table: Any, caps: Any, choices: Any, serves: Any
) -> None:  # fmt: skip
    """The place of the class that each station serves, −1 for none, by a table or by indices."""
    action = -1
    if table.size:
        state = 0
        for job in range(jobs.size):
            state = state * (caps[job] + 1) + min(jobs[job], caps[job])
        action = table[state]
    for job in range(jobs.size):
        left[job] = jobs[job]
    for s in range(serves.size):
        best, found = -np.inf, -1
        for place in range(listed.shape[1]):
            job = listed[s, place]
            if job < 0 or jobs[job] == 0:
                continue
            if action >= 0:
                index = 1.0 if choices[action, s] == place else 0.0
            else:
                index = constant[s, place]
                for other in range(jobs.size):
                    index += slope[s, place, other] * jobs[other]
            if found < 0 or index > best:
                best, found = index, place
        if found >= 0 and left[listed[s, found]] == 0:  # all its jobs are served by stations before
            found = -1
            for place in range(listed.shape[1]):
                if found < 0 and listed[s, place] >= 0 and left[listed[s, place]] > 0:
                    found = place
        serves[s] = found
        if found >= 0:
            left[listed[s, found]] -= 1


@step_kernel
def _in_order(listed: Any, order: Any, head: Any, tail: Any, serves: Any) -> None:
    """Each station serves the job at the head of its line."""
    for s in range(serves.size):
        serves[s] = -1
        if head[s] < tail[s]:
            job = order[s, head[s] % order.shape[1]]
            for place in range(listed.shape[1]):
                if listed[s, place] == job:
                    serves[s] = place
