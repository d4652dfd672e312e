"""What the problems have in common as Gymnasium environments."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium
import numpy as np

from aapi.checks import one_of
from aapi.errors import InvalidInput
from aapi.gymnasium_types import Action, Observation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium.envs.registration import EnvSpec
    from numpy.typing import NDArray

SavedState: TypeAlias = "Sequence[Any]"  # what get_state() returned, perhaps read from a file

RENDER_MODES = ("ansi", "rgb_array")


class ProblemEnv(gymnasium.Env[Observation, Action]):
    """Base of the environments: checks the render mode, and keeps specs that can be written as JSON."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as Gymnasium declares it
    _spec: EnvSpec | None = None

    def __init__(self, render_mode: str | None) -> None:
        if render_mode is not None:
            one_of(RENDER_MODES, render_mode=render_mode)
        self.render_mode = render_mode

    @property
    def spec(self) -> EnvSpec | None:
        """How this environment was made."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            spec.kwargs = {name: _to_json(value) for name, value in spec.kwargs.items()}
        self._spec = spec

    def render(self) -> str | NDArray[np.uint8] | None:
        """A text or a picture, depending on the render mode."""
        if self.render_mode is None:
            name = self.spec.id if self.spec else type(self).__name__
            gymnasium.logger.warn(
                f'render() needs a render mode, chosen when {name} is made: render_mode="ansi" or "rgb_array"'
            )
            return None
        return self._text() if self.render_mode == "ansi" else self._picture()

    def _text(self) -> str:
        raise NotImplementedError

    def _picture(self) -> NDArray[np.uint8]:
        raise NotImplementedError


def _to_json(value: object) -> object:
    """Paths as strings, and NumPy's integers as Python's."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return int(value) if isinstance(value, np.integer) else value


def check_action(action: Action, count: int) -> int:
    """The action as an integer, or an error."""
    try:
        index = operator.index(action)
    except TypeError:
        index = -1
    if not 0 <= index < count:
        raise InvalidInput(f"an action is a whole number in 0..{count - 1}, not {action!r}")
    return index
