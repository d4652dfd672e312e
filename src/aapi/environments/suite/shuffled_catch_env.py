"""Catch whose observations are shuffled little by little, as Gymnasium environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from aapi.checks import at_least, check_probability
from aapi.environments.suite import pictures
from aapi.environments.suite.catch import COLUMNS, ROWS, SPAWN
from aapi.environments.suite.catch_env import CatchEnv

if TYPE_CHECKING:
    from numpy.typing import NDArray

SWAP_EVERY, SWAP_PROBABILITY = 10_000, 0.01


class ShuffledCatchEnv(CatchEnv):
    """Base of the two: observed are the cells of the board, row by row at first, and then in an order that changes.

    A swap exchanges the places of two cells, each drawn evenly, so that they may be the same one. Board and order
    together are Markov; the observation alone is not, for the order is not observed. What is earned depends on the
    board alone: who knows the order earns what is earned in Catch, see `catch_bounds`, and nobody earns more.
    """

    def __init__(self, rows: int, columns: int, spawn_probability: float, render_mode: str | None) -> None:
        super().__init__(rows, columns, spawn_probability, render_mode)
        self.observation_space = spaces.Box(0, 1, (self.rows * self.columns,), np.int8)
        self._order = np.arange(self.rows * self.columns)  # observation i is of this cell

    def _observe(self) -> NDArray[np.int8]:
        return self._board().ravel()[self._order]

    def _begin(self) -> None:
        self._order = np.arange(self.rows * self.columns)

    def _swap(self) -> None:
        first, second = self._draw(self._order.size), self._draw(self._order.size)
        self._order[[first, second]] = self._order[[second, first]]

    def _extra(self) -> list[int]:
        return [int(cell) for cell in self._order]

    def _is_extra(self, extra: list[int]) -> bool:
        return sorted(extra) == list(range(self.rows * self.columns))

    def _set_extra(self, extra: list[int]) -> None:
        self._order = np.array(extra)

    def _text(self) -> str:
        rows = ("".join(".#"[mark] for mark in row) for row in self._observe().reshape(self.rows, self.columns))
        return super()._text() + "observed:\n" + "\n".join(rows) + "\n"

    def _picture(self) -> NDArray[np.uint8]:
        canvas = pictures.catch_picture(self.rows, self.columns, self._paddle, self._balls)
        return pictures.beside(canvas, self._observe().reshape(self.rows, self.columns)).pixels


class DancingCatchEnv(ShuffledCatchEnv):
    """C-suite's dancing Catch: two cells of the observation are swapped every `swap_every` steps."""

    def __init__(
        self,
        rows: int = ROWS,
        columns: int = COLUMNS,
        spawn_probability: float = SPAWN,
        swap_every: int = SWAP_EVERY,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(rows, columns, spawn_probability, render_mode)
        at_least(1, swap_every=swap_every)
        self.swap_every = int(swap_every)
        self._since = 0

    def _begin(self) -> None:
        super()._begin()
        self._since = 0

    def _pass(self) -> None:
        self._since += 1
        if self._since == self.swap_every:
            self._swap()
            self._since = 0

    def _extra(self) -> list[int]:
        return [self._since, *super()._extra()]

    def _is_extra(self, extra: list[int]) -> bool:
        return bool(extra) and 0 <= extra[0] < self.swap_every and super()._is_extra(extra[1:])

    def _set_extra(self, extra: list[int]) -> None:
        self._since = extra[0]
        super()._set_extra(extra[1:])


class SwappedCatchEnv(ShuffledCatchEnv):
    """Catch with swaps (C-suite's catch_swap, as it first was): in each step with `swap_probability`."""

    def __init__(
        self,
        rows: int = ROWS,
        columns: int = COLUMNS,
        spawn_probability: float = SPAWN,
        swap_probability: float = SWAP_PROBABILITY,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(rows, columns, spawn_probability, render_mode)
        check_probability(swap_probability=swap_probability)
        self.swap_probability = float(swap_probability)

    def _pass(self) -> None:
        if self.np_random.random() < self.swap_probability:
            self._swap()
