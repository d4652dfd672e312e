"""A problem with observation vectors as a Gymnasium environment, by the compiled steps that the algorithms use."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from gymnasium import spaces

from aapi.environments.problem_env import RENDER_MODES, ProblemEnv, check_action
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.environments.continuous_problem import ContinuousProblem
    from aapi.environments.problem_env import SavedState
    from aapi.gymnasium_types import Action, Info


class ContinuousEnv(ProblemEnv):
    """The dynamics of a `ContinuousProblem`: it never terminates, and observations are in double precision.

    `reset` draws a new stream from the environment's generator. low, high: bounds that no observation leaves.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, problem: ContinuousProblem, low: Array, high: Array, render_mode: str | None) -> None:
        super().__init__(render_mode)
        self.problem = problem
        self.observation_space = spaces.Box(low, high, dtype=np.float64)
        self.action_space = spaces.Discrete(problem.num_actions)
        self._size = len(low)  # of an observation, with which the state begins
        self._state = np.zeros(problem.state_size)
        self._stream = np.zeros(4, dtype=np.uint64)
        self._started = False

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """A new start, with a new random stream."""
        super().reset(seed=seed, options=options)
        self._stream[:] = self.np_random.integers(2**64, size=4, dtype=np.uint64)
        self.problem.start(self._state, self._stream)
        self._started = True
        return self._state[: self._size].copy(), {}

    def step(self, action: Action) -> tuple[Array, float, bool, bool, Info]:
        """A step of the problem."""
        action = check_action(action, self.problem.num_actions)
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        reward = self.problem.step(self._state, action, self._stream)
        return self._state[: self._size].copy(), float(reward), False, False, {}

    def get_state(self) -> list[float]:
        """The state of the problem, and the four words of the stream, which are whole numbers."""
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before get_state()")
        return [*self._state.tolist(), *self._stream.tolist()]

    def set_state(self, state: SavedState) -> None:
        """Go to a state that `get_state` returned."""
        size = self.problem.state_size
        try:
            numbers = np.array(state[:size], dtype=np.float64)
            stream = np.array([operator.index(word) for word in state[size:]], dtype=np.uint64)
            valid = numbers.shape == (size,) and stream.shape == (4,) and bool(stream.any())
            valid = valid and self._is_possible(numbers)
        except (TypeError, ValueError, OverflowError, IndexError):
            valid = False
        if not valid:
            raise InvalidInput(f"state must be what get_state() returned, not {state!r}")
        observation = numbers[: self._size]
        if not self.observation_space.contains(observation):
            raise InvalidInput(f"the observation {observation.tolist()} lies outside {self.observation_space}")
        self._state[:], self._stream[:], self._started = numbers, stream, True

    def _is_possible(self, state: Array) -> bool:
        """Whether what is in a state besides the observation can be there."""
        raise NotImplementedError
