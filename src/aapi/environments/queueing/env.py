"""Networks as Gymnasium environments: no ends, and whole numbers of jobs as observations."""

from __future__ import annotations

import operator
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from gymnasium import spaces

from aapi.environments.problem_env import ProblemEnv, check_action
from aapi.environments.queueing.capped import CappedNetwork
from aapi.environments.queueing.criss_cross import criss_cross_network
from aapi.environments.queueing.n_model import n_model_network
from aapi.environments.queueing.pictures import network_picture, network_text
from aapi.environments.queueing.six_class import six_class_network
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.array_types import Integers
    from aapi.environments.problem_env import SavedState
    from aapi.environments.queueing.network import Network
    from aapi.gymnasium_types import Action, Info

MOST_JOBS = 2**31 - 1  # of a class: a bound that spaces ask for


class NetworkEnv(ProblemEnv):
    """Any network: without caps, if some policy keeps it stable, or with room for caps[k] jobs of class k.

    A step is an event of the uniformised process. A job that finds no room is lost, and costs what `lost_costs` says.

    The observation is the number of jobs of each class. The reward is minus their cost per unit of time, so that the
    average reward is minus the average cost: the average number of jobs, where each costs 1. A step stands for
    1/network.rate units of time; in some of them nothing happens.
    """

    def __init__(self, network: Network, render_mode: str | None = None, caps: Sequence[int] | None = None) -> None:
        super().__init__(render_mode)
        self.network = network.check_stable() if caps is None else network
        self.caps = (MOST_JOBS,) * network.num_classes if caps is None else CappedNetwork(network, tuple(caps)).caps
        self.observation_space = spaces.Box(
            np.zeros(network.num_classes, np.int64), np.array(self.caps, np.int64), dtype=np.int64
        )
        self.action_space = spaces.Discrete(network.num_actions)
        self.observation_names = [f"class {name}" for name in network.classes]
        self.action_names = network.action_names
        speeds = [*network.arrivals, *network.speeds.tolist()]
        self._cumulated = [total / network.rate for total in accumulate(speeds)]
        self._choices = network.choices.tolist()
        self._jobs: list[int] | None = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Integers, Info]:
        """An empty network."""
        super().reset(seed=seed, options=options)
        self._jobs = [0] * self.network.num_classes
        return np.zeros(self.network.num_classes, dtype=np.int64), {}

    def step(self, action: Action) -> tuple[Integers, float, bool, bool, Info]:
        """One event: an arrival, a service, or nothing."""
        number = check_action(action, self.network.num_actions)
        if self._jobs is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        network, jobs = self.network, self._jobs
        reward = -float(sum(map(operator.mul, network.costs, jobs)))
        point = float(self.np_random.random())
        event = min(bisect_right(self._cumulated, point), len(self._cumulated) - 1)
        if event < network.num_classes:
            reward -= self._join(event)
        else:
            s = event - network.num_classes
            served = self._served(number)[s]
            below = self._cumulated[event - 1]
            if served is not None and (point - below) * network.rate < served[1]:
                jobs[served[0]] -= 1
                target = network.routing[served[0]]
                if target is not None:
                    reward -= self._join(target)
        return np.array(jobs, dtype=np.int64), reward, False, False, {}

    def _join(self, job: int) -> float:
        """One more job of a class; what is paid, in the unit of rewards, if it finds no room."""
        if self._jobs is not None and self._jobs[job] < self.caps[job]:
            self._jobs[job] += 1
            return 0.0
        return self.network.rate * self.network.lost_costs[job] if self.network.lost_costs else 0.0

    def _served(self, action: int) -> list[tuple[int, float] | None]:
        """The class that each station serves, and its rate there: `Network.served` for one state, without arrays."""
        left = list(self._jobs or ())
        found: list[tuple[int, float] | None] = []
        for station, place in zip(self.network.stations, self._choices[action], strict=True):
            first = station[place]
            if left[first[0]] <= 0:
                first = next((each for each in station if left[each[0]] > 0), (-1, 0.0))
            found.append(first if first[0] >= 0 else None)
            if first[0] >= 0 and not self.network.together:
                left[first[0]] -= 1
        return found

    def get_state(self) -> list[float]:
        """The number of jobs of each class, for `set_state`."""
        if self._jobs is None:
            raise gymnasium.error.ResetNeeded("call reset() before get_state()")
        return [*self._jobs]

    def set_state(self, state: SavedState) -> None:
        """Go to a state that `get_state` returned."""
        try:
            jobs = [int(number) for number in state]
            valid = all(0 <= number <= cap for number, cap in zip(jobs, self.caps, strict=True))
            valid = valid and all(whole == number for whole, number in zip(jobs, state, strict=True))
        except (TypeError, ValueError, OverflowError):
            valid = False
        if not valid:
            raise InvalidInput(f"state must be {self.network.num_classes} whole numbers of jobs, not {state!r}")
        self._jobs = jobs

    def _text(self) -> str:
        return network_text(self.network, self._jobs or [0] * self.network.num_classes)

    def _picture(self) -> NDArray[np.uint8]:
        return network_picture(self.network, self._jobs or [0] * self.network.num_classes)


class CrissCrossEnv(NetworkEnv):
    """`aapi.environments.criss_cross` without a cap."""

    def __init__(self, regime: str = "BM", render_mode: str | None = None) -> None:
        super().__init__(criss_cross_network(regime).network, render_mode)


class SixClassEnv(NetworkEnv):
    """`aapi.environments.six_class` without a cap: 6, 9, 12, … classes."""

    def __init__(self, classes: int = 6, render_mode: str | None = None) -> None:
        super().__init__(six_class_network(classes).network, render_mode)


class NModelEnv(NetworkEnv):
    """`aapi.environments.n_model` without a cap."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(n_model_network().network, render_mode)
