"""The pendulum as a Gymnasium environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.environments.continuous_env import ContinuousEnv
from aapi.environments.suite import pictures
from aapi.environments.suite.pendulum import DENSE, SPARSE, pendulum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.array_types import Array
    from aapi.gymnasium_types import Action, Info


class PendulumEnv(ContinuousEnv):
    """`aapi.environments.pendulum`: C-suite's, or with dense=1 Naik's. The observation is (cos θ, sin θ, θ')."""

    metadata = ContinuousEnv.metadata | {"render_fps": 5}

    def __init__(self, dense: int = 0, render_mode: str | None = None) -> None:
        problem = pendulum(dense)
        super().__init__(problem, np.array(problem.low), np.array(problem.high), render_mode)
        self._constants = [*(DENSE if dense else SPARSE), float(dense)]
        self._pushed = 1

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """At rest at the bottom."""
        self._pushed = 1
        return super().reset(seed=seed, options=options)

    def step(self, action: Action) -> tuple[Array, float, bool, bool, Info]:
        """Push by −τ (0), not at all (1) or by τ (2)."""
        result = super().step(action)
        self._pushed = int(action)
        return result

    def _is_possible(self, state: Array) -> bool:
        cosine, sine, _, angle = state[:4]
        on_circle = abs(np.cos(angle) - cosine) + abs(np.sin(angle) - sine) < 1e-12
        return bool(on_circle) and 0.0 <= angle <= 2 * np.pi and state[4:].tolist() == self._constants

    def _text(self) -> str:
        return pictures.pendulum_text(float(self._state[3]), float(self._state[2]))

    def _picture(self) -> NDArray[np.uint8]:
        return pictures.pendulum_picture(float(self._state[3]), self._pushed - 1)
