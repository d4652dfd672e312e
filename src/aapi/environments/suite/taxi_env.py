"""The taxi that never stops as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.environments.gymnasium import FiniteMDPEnv
from aapi.environments.suite import pictures
from aapi.environments.suite.taxi import NAMES, RANKS, RIDING, SIZE, WALLS, continuing_taxi

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aapi.gymnasium_types import Info


class TaxiEnv(FiniteMDPEnv):
    """`aapi.environments.continuing_taxi`, C-suite's taxi: the observation is the number of the state, and Markov.

    It starts anywhere, with a passenger at any rank, who wants to go to any.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(continuing_taxi(), render_mode)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[int, Info]:
        """The taxi anywhere, and a passenger who waits."""
        super().reset(seed=seed, options=options)
        cell, waiting, home = (int(self.np_random.integers(count)) for count in (SIZE**2, len(RANKS), len(RANKS)))
        self._state = (cell * (len(RANKS) + 1) + waiting) * len(RANKS) + home
        return self._state, {}

    def _ride(self) -> tuple[tuple[int, int], int, int]:
        """The taxi's cell, where the passenger is, and where to."""
        rest, home = divmod(self._state, len(RANKS))
        cell, passenger = divmod(rest, len(RANKS) + 1)
        return divmod(cell, SIZE), passenger, home

    def _text(self) -> str:
        taxi, passenger, home = self._ride()
        title = f"from {NAMES[passenger]} to {NAMES[home]}"
        return pictures.taxi_text(title, taxi, SIZE, RANKS, WALLS)

    def _picture(self) -> NDArray[np.uint8]:
        taxi, passenger, home = self._ride()
        return pictures.taxi_picture(taxi, None if passenger == RIDING else passenger, home, SIZE, RANKS, WALLS)
