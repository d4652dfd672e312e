"""Windy Catch as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from aapi.checks import at_least
from aapi.environments.suite import pictures
from aapi.environments.suite.catch import COLUMNS, ROWS, SPAWN, WINDS
from aapi.environments.suite.catch_env import CatchEnv
from aapi.environments.suite.windy_catch import CHANGE_EVERY, DRIFT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WindyCatchEnv(CatchEnv):
    """C-suite's windy Catch, see `aapi.environments.windy_catch`: every `change_every` steps, another wind is drawn.

    Observed are the board, row by row, and the wind: one of three numbers is 1, for none, left and right. How many
    steps are left to the next wind is not observed, and all else is. It starts without wind.
    """

    def __init__(
        self,
        rows: int = ROWS,
        columns: int = COLUMNS,
        spawn_probability: float = SPAWN,
        change_every: int = CHANGE_EVERY,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(rows, columns, spawn_probability, render_mode)
        at_least(1, change_every=change_every)
        self.change_every = int(change_every)
        self.observation_space = spaces.Box(0, 1, (self.rows * self.columns + len(WINDS),), np.int8)
        self._wind, self._since = 0, 0

    def _observe(self) -> NDArray[np.int8]:
        wind = np.zeros(len(WINDS), dtype=np.int8)
        wind[self._wind] = 1
        return np.concatenate([self._board().ravel(), wind])

    def _begin(self) -> None:
        self._wind, self._since = 0, 0

    def _fall(self) -> None:
        if drift := DRIFT[self._wind]:
            self._balls = [ball if ball < 0 else (ball + drift) % self.columns for ball in self._balls]

    def _pass(self) -> None:
        self._since += 1
        if self._since == self.change_every:
            self._wind, self._since = self._draw(len(WINDS)), 0

    def _extra(self) -> list[int]:
        return [self._wind, self._since]

    def _is_extra(self, extra: list[int]) -> bool:
        return len(extra) == 2 and 0 <= extra[0] < len(WINDS) and 0 <= extra[1] < self.change_every

    def _set_extra(self, extra: list[int]) -> None:
        self._wind, self._since = extra

    def _text(self) -> str:
        return f"wind: {WINDS[self._wind]}\n{super()._text()}"

    def _picture(self) -> NDArray[np.uint8]:
        canvas = pictures.catch_picture(self.rows, self.columns, self._paddle, self._balls)
        return pictures.with_wind(canvas, DRIFT[self._wind]).pixels
