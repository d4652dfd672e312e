"""A multiclass queueing network as data: all models, rules, bounds and simulations of it are made from this."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import finite
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.array_types import Actions, Array, Integers

MOST_ACTIONS = 100_000


@dataclass(frozen=True)
class Network:
    """Jobs of several classes, and stations that choose which class to serve; times between events are exponential.

    An action is one choice for each station, the class that it serves first. Service is preemptive, and a station works
    if it can: where the class of its choice has no job to be served, it serves the first of its classes that has one.

    classes: a name for each class. arrivals: the rates at which jobs arrive, by class.
    stations: of each station, the classes that it may serve, with their rates: ((0, 2.0), (2, 2.0)).
    routing: the class that a job has next, by class; None if it leaves.
    costs: what a job costs per unit of time, by class.
    lost_costs: what a job costs that finds no room, by class, in models with room for so many only; empty: nothing.
    together: whether several stations may serve one job, at the sum of their rates.
    """

    classes: tuple[str, ...]
    arrivals: tuple[float, ...]
    stations: tuple[tuple[tuple[int, float], ...], ...]
    routing: tuple[int | None, ...]
    costs: tuple[float, ...]
    lost_costs: tuple[float, ...] = ()
    together: bool = False

    def __post_init__(self) -> None:
        count = len(self.classes)
        if (actions := self.num_actions) > MOST_ACTIONS:  # before anything takes long
            shown = actions if actions < MOST_ACTIONS**2 else f"about 10^{math.log10(actions):.0f}"
            raise InvalidInput(f"a network has at most {MOST_ACTIONS} actions, not {shown}: take fewer stations")
        for name in ("arrivals", "routing", "costs", "lost_costs"):
            given = vars(self)[name]
            if len(given) != count and (given or name != "lost_costs"):
                raise InvalidInput(f"{name} must have one entry for each of {count} classes, not {len(given)}")
        for name in ("arrivals", "costs", "lost_costs"):
            for value in vars(self)[name]:
                finite(0.0, **{name: value})
        if not any(self.arrivals):
            raise InvalidInput("arrivals must be larger than 0 for some class: no job ever comes")
        for station in self.stations:
            for job, rate in station:
                finite(0.0, strictly=True, rate=rate)
                self._check_class(job, "stations")
            if len({job for job, _ in station}) != len(station) or not station:
                raise InvalidInput(f"stations must serve one class or more, each listed once, not {station}")
        if unserved := set(range(count)) - {job for station in self.stations for job, _ in station}:
            raise InvalidInput(f"stations must serve all classes, and none serves {self.classes[min(unserved)]!r}")
        for target in self.routing:
            if target is not None:
                self._check_class(target, "routing")
        for job in range(count):
            self.route(job)  # an error, if it never ends

    def _check_class(self, job: int, what: str) -> None:
        if not 0 <= job < len(self.classes):
            raise InvalidInput(f"{what} must name classes in 0..{len(self.classes) - 1}, not {job}")

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def num_actions(self) -> int:
        """How many combinations of choices there are."""
        return math.prod(map(len, self.stations))

    @cached_property
    def choices(self) -> Integers:
        """The choice of each station, a place in its list, under each action: (actions, stations)."""
        sides = [len(station) for station in self.stations]
        return np.stack(np.unravel_index(np.arange(self.num_actions), sides), axis=1).astype(np.int64)

    @cached_property
    def speeds(self) -> Array:
        """The largest rate of each station, (stations,)."""
        return np.array([max(rate for _, rate in station) for station in self.stations])

    @property
    def rate(self) -> float:
        """The rate of all events together, arrivals and possible services, by which processes are uniformised."""
        return float(sum(self.arrivals) + self.speeds.sum())

    @property
    def action_names(self) -> list[str]:
        """What stations with a choice serve first."""
        open_ = [s for s, station in enumerate(self.stations) if len(station) > 1]
        if not open_:
            return ["serve"]
        named = [[self.classes[self.stations[s][place[s]][0]] for s in open_] for place in self.choices]
        return [f"serve {' and '.join(words)}" for words in named]

    def action(self, places: Integers) -> Integers:
        """The number of the action with these choices, (…, stations)."""
        sides = [len(station) for station in self.stations]
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), sides), dtype=np.int64)

    def served(self, jobs: Integers, actions: Actions | Integers | int) -> Integers:
        """The place in its list of the class that each station serves, −1 if none: (states, stations).

        jobs: how many there are of each class, (states, classes). actions: one for each state, or for all.
        """
        chosen = np.broadcast_to(self.choices[actions], (len(jobs), len(self.stations)))
        left = jobs.copy()
        found = np.full(chosen.shape, -1, dtype=np.int64)
        rows = np.arange(len(jobs))
        for s, station in enumerate(self.stations):
            listed = np.array([job for job, _ in station])
            there = left[:, listed] > 0
            place = np.where(there[rows, chosen[:, s]], chosen[:, s], there.argmax(axis=1))
            works = there.any(axis=1)
            found[works, s] = place[works]
            if not self.together:
                left[rows[works], listed[place[works]]] -= 1
        return found

    def route(self, job: int) -> tuple[int, ...]:
        """The classes that a job of this class has, from now on until it leaves."""
        passed = [job]
        while (after := self.routing[passed[-1]]) is not None:
            if after in passed:
                raise InvalidInput(f"routing must let jobs leave, and those of class {self.classes[job]!r} never do")
            passed.append(after)
        return tuple(passed)

    @cached_property
    def flows(self) -> Array:
        """The rate at which jobs come to each class, from outside or from other classes, if all are served."""
        flows = np.zeros(self.num_classes)
        for job, rate in enumerate(self.arrivals):
            flows[list(self.route(job))] += rate
        return flows

    @cached_property
    def load(self) -> float:
        """The share of time for which the busiest station must work, if work is shared out as evenly as possible.

        Below 1 some policy keeps all queues finite: the static planning problem of Harrison (2000), a linear program.
        """
        from scipy.optimize import linprog

        pairs = [(s, job, rate) for s, station in enumerate(self.stations) for job, rate in station]
        served, busy = np.zeros((self.num_classes, len(pairs) + 1)), np.zeros((len(self.stations), len(pairs) + 1))
        for place, (s, job, rate) in enumerate(pairs):
            served[job, place], busy[s, place] = rate, 1.0
        busy[:, -1] = -1.0
        cost = np.append(np.zeros(len(pairs)), 1.0)
        found = linprog(cost, A_ub=busy, b_ub=np.zeros(len(busy)), A_eq=served, b_eq=self.flows)
        return float(found.fun)

    def check_stable(self) -> Network:
        """The network; an error if no policy can serve all jobs."""
        if self.load >= 1.0 - 1e-12:
            raise InvalidInput(
                f"arrivals must be served, and a station would have to work {self.load:.4g} of the time, which must be "
                "below 1: lower arrivals or raise rates"
            )
        return self
