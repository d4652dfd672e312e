"""Catch of any size as a Gymnasium environment."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from gymnasium import spaces

from aapi.environments.problem_env import ProblemEnv, check_action
from aapi.environments.suite import pictures
from aapi.environments.suite.catch import ACTIONS, COLUMNS, ROWS, SPAWN, check_board
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.environments.problem_env import SavedState
    from aapi.gymnasium_types import Action, Info


class CatchEnv(ProblemEnv):
    """C-suite's Catch, see `aapi.environments.catch`: observed is the board, 1 where a ball is or the paddle.

    The observation, (rows, columns), is the state, and Markov. It starts with the paddle in the middle, and one ball in
    the highest row. `catch_bounds` has what the best policy earns.
    """

    def __init__(
        self,
        rows: int = ROWS,
        columns: int = COLUMNS,
        spawn_probability: float = SPAWN,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(render_mode)
        check_board(rows, columns, spawn_probability)
        self.rows, self.columns, self.spawn_probability = int(rows), int(columns), float(spawn_probability)
        self.observation_space = spaces.Box(0, 1, (self.rows, self.columns), np.int8)
        self.action_space = spaces.Discrete(len(ACTIONS))
        self._paddle = -1  # until reset
        self._balls: list[int] = []  # the column of the ball in each row, from the highest down, −1 for none

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[np.int8], Info]:
        """One ball, in the highest row."""
        super().reset(seed=seed, options=options)
        self._paddle = self.columns // 2
        self._balls = [self._draw(self.columns), *[-1] * (self.rows - 2)]
        self._begin()
        return self._observe(), {}

    def step(self, action: Action) -> tuple[NDArray[np.int8], float, bool, bool, Info]:
        """Move the paddle, and let all balls fall."""
        action = check_action(action, len(ACTIONS))
        if self._paddle < 0:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        self._paddle = min(max(self._paddle + action - 1, 0), self.columns - 1)
        self._fall()
        lowest = self._balls.pop()
        new = self._draw(self.columns) if self.np_random.random() < self.spawn_probability else -1
        self._balls.insert(0, new)
        self._pass()
        reward = 0.0 if lowest < 0 else 1.0 if lowest == self._paddle else -1.0
        return self._observe(), reward, False, False, {}

    def get_state(self) -> list[int]:
        """The paddle's column, and that of the ball in each row from the highest down, −1 for none."""
        if self._paddle < 0:
            raise gymnasium.error.ResetNeeded("call reset() before get_state()")
        return [self._paddle, *self._balls, *self._extra()]

    def set_state(self, state: SavedState) -> None:
        """Go to a state that `get_state` returned."""
        try:
            paddle, *rest = (operator.index(number) for number in state)
        except (TypeError, ValueError):
            paddle, rest = -1, []
        balls, extra = rest[: self.rows - 1], rest[self.rows - 1 :]
        possible = 0 <= paddle < self.columns and len(balls) == self.rows - 1
        if not (possible and all(-1 <= ball < self.columns for ball in balls) and self._is_extra(extra)):
            raise InvalidInput(f"state must be what get_state() returned, not {state!r}")
        self._paddle, self._balls = paddle, balls
        self._set_extra(extra)

    def _draw(self, count: int) -> int:
        return int(self.np_random.integers(count))

    def _board(self) -> NDArray[np.int8]:
        board = np.zeros((self.rows, self.columns), dtype=np.int8)
        for row, column in enumerate(self._balls):
            if column >= 0:
                board[row, column] = 1
        board[-1, self._paddle] = 1
        return board

    def _observe(self) -> NDArray[np.int8]:
        """What is seen of the state."""
        return self._board()

    def _begin(self) -> None:
        """Begin with what a variant has besides the board."""

    def _fall(self) -> None:
        """Move the balls sideways as they fall."""

    def _pass(self) -> None:
        """Let a step pass for what a variant has besides the board."""

    def _extra(self) -> list[int]:
        """What a variant has besides the board, as whole numbers."""
        return []

    def _is_extra(self, extra: list[int]) -> bool:
        """Whether these are such numbers."""
        return not extra

    def _set_extra(self, extra: list[int]) -> None:
        """Go back to them."""

    def _text(self) -> str:
        return pictures.catch_text(self.rows, self.columns, self._paddle, self._balls)

    def _picture(self) -> NDArray[np.uint8]:
        return pictures.catch_picture(self.rows, self.columns, self._paddle, self._balls).pixels
