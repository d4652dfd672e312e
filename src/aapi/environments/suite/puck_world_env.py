"""The puck world as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.environments.continuous_env import ContinuousEnv
from aapi.environments.suite import pictures
from aapi.environments.suite.puck_world import JUMP, RADIUS, SIDE, puck_world

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.array_types import Array


class PuckWorldEnv(ContinuousEnv):
    """`aapi.environments.puck_world`: observed are the puck's place and speed, and the goal."""

    metadata = ContinuousEnv.metadata | {"render_fps": 20}

    def __init__(self, render_mode: str | None = None) -> None:
        problem = puck_world()
        super().__init__(problem, np.array(problem.low), np.array(problem.high), render_mode)

    def _is_possible(self, state: Array) -> bool:
        taken = float(state[6])  # the number of steps since the goal was drawn
        return taken.is_integer() and 0 <= taken < JUMP

    def _text(self) -> str:
        x, y, right, down, goal_x, goal_y, taken = self._state.tolist()
        return (
            f"puck ({x:.3f}, {y:.3f}), speed ({right:+.3f}, {down:+.3f}), "
            f"goal ({goal_x:.3f}, {goal_y:.3f}) for {JUMP - taken:.0f} steps more\n"
        )

    def _picture(self) -> NDArray[np.uint8]:
        x, y, _, _, goal_x, goal_y, _ = self._state.tolist()
        return pictures.puck_picture(SIDE, RADIUS, (x, y), (goal_x, goal_y))
