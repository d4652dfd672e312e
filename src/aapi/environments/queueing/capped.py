"""Networks with room for so many jobs of each class: finite models, as matrices or as functions of events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.errors import InvalidInput, TooLarge
from aapi.mdp import EventModel, FiniteMDP

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Actions, Array, Integers
    from aapi.environments.queueing.network import Network

MOST_STATES = 200_000  # times actions, over two: of models as matrices


@dataclass(frozen=True, eq=False)
class Moves:
    """What may happen in states under an action each: events with the same probabilities everywhere.

    probabilities: (events,). successors: numbers of states, (events, states). lost: the class of the job that finds no
    room, −1 if none is lost, (events, states).
    """

    probabilities: Array
    successors: Integers
    lost: Integers


@dataclass(frozen=True)
class CappedNetwork:
    """A network with room for caps[k] jobs of class k. One that finds no room is lost, on arrival or on its way.

    By uniformisation: a step stands for 1/network.rate units of time, and rewards are minus the costs per unit of time,
    so that gains are.
    """

    network: Network
    caps: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.caps) != self.network.num_classes:
            raise InvalidInput(f"caps must be one for each of {self.network.num_classes} classes, not {self.caps}")
        for cap in self.caps:
            at_least(1, cap=cap)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many numbers of jobs each class may have."""
        return tuple(cap + 1 for cap in self.caps)

    @property
    def num_states(self) -> int:
        """The product of these."""
        return math.prod(self.shape)

    def jobs(self, states: Integers | None = None) -> Integers:
        """How many jobs of each class there are in states, all by default: (states, classes)."""
        if states is None:
            states = np.arange(self.num_states)
        return np.stack(np.unravel_index(states, self.shape), axis=1).astype(np.int64)

    def state(self, jobs: ArrayLike) -> Integers:
        """The number of the state with these jobs, (…, classes); where they have no room, as many as have."""
        inside = np.minimum(np.asarray(jobs), self.caps)
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(inside, -1, 0)), self.shape), dtype=np.int64)

    @cached_property
    def _strides(self) -> Integers:
        return np.array([math.prod(self.shape[k + 1 :]) for k in range(len(self.caps))], dtype=np.int64)

    def moves(self, states: Integers, actions: Actions | Integers | int) -> Moves:
        """What may happen: an arrival of each class, and services of each station.

        A station has an event for each of its rates, which happens at the difference to the next lower one, and serves
        a job if its rate is as high.
        """
        network, jobs = self.network, self.jobs(states)
        served = network.served(jobs, actions)
        rates, successors, lost = [], [], []
        for job, rate in enumerate(network.arrivals):
            if rate > 0.0:
                full = jobs[:, job] == self.caps[job]
                rates.append(rate)
                successors.append(np.where(full, states, states + self._strides[job]))
                lost.append(np.where(full, job, -1))
        for s, station in enumerate(network.stations):
            lower = 0.0
            for rate in sorted({rate for _, rate in station}):
                after, without = states.copy(), np.full(len(states), -1)
                for place, (job, own) in enumerate(station):
                    if own >= rate:
                        here = served[:, s] == place
                        self._serve(job, here, jobs, after, without)
                rates.append(rate - lower)
                successors.append(after)
                lost.append(without)
                lower = rate
        return Moves(np.array(rates) / network.rate, np.stack(successors), np.stack(lost))

    def _serve(self, job: int, here: Array, jobs: Integers, after: Integers, lost: Integers) -> None:
        after[here] -= self._strides[job]
        target = self.network.routing[job]
        if target is not None:
            full = jobs[:, target] == self.caps[target]
            after[here & ~full] += self._strides[target]
            lost[here & full] = target

    def rewards(self, jobs: Integers, moves: Moves) -> Array:
        """Minus the costs per unit of time, (states,)."""
        paid = -(jobs @ np.array(self.network.costs))
        if self.network.lost_costs:
            each = np.append(self.network.lost_costs, 0.0)[moves.lost]  # −1: the last one
            paid = paid - self.network.rate * (moves.probabilities @ each)
        return np.asarray(paid, dtype=np.float64)

    def event_model(self) -> EventModel:
        """The model as a function of events, for `solve_events`: no matrices, millions of states."""

        def events(states: Integers, action: int) -> tuple[Array, Integers, Array]:
            moves = self.moves(states, action)
            return moves.probabilities[:, None], moves.successors, self.rewards(self.jobs(states), moves)

        return EventModel(self.num_states, self.network.num_actions, events)

    def under(self, policy: Actions | Integers) -> EventModel:
        """The model in which nothing but the policy, one action per state, can be done: to evaluate it."""

        def events(states: Integers, _action: int) -> tuple[Array, Integers, Array]:
            moves = self.moves(states, policy[states])
            return moves.probabilities[:, None], moves.successors, self.rewards(self.jobs(states), moves)

        return EventModel(self.num_states, 1, events)

    def model(self) -> FiniteMDP:
        """The model as matrices."""
        size = self.num_states * self.network.num_actions
        if size > 2 * MOST_STATES:
            raise TooLarge(
                f"{self.num_states} states with {self.network.num_actions} actions are too many for matrices: choose a "
                "smaller cap, solve it by events (aapi solve), or learn the Gymnasium environment, which has no cap"
            )
        plain, jobs = self.event_model().to_model(), self.jobs()
        return FiniteMDP(
            plain.transitions, plain.rewards, action_names=self.network.action_names,
            state_names=[", ".join(map(str, each)) for each in jobs.tolist()], coordinates=jobs,
        )  # fmt: skip
