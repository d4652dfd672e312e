"""Bounds and ending rules for Gymnasium environments whose own bounds and rewards are not enough to learn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

    from aapi.gymnasium_types import Env


@dataclass(frozen=True)
class EnvDefaults:
    """Bounds for features, None for the environment's own; the ending rule, see `Continuing`; and names."""

    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    ending: str | float = "keep"
    limit: int | None = None
    observation_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()


# CartPole's speeds have no bounds, and its rewards are all 1, the same for every policy once episodes are joined: both
# are as in Hao et al. (2021). MountainCar and Acrobot pay −1 for every step, so that the goal needs a reward.
_HIGH = (2.4, 3.0, math.radians(15.0), 3.5)
_LOW = tuple(-bound for bound in _HIGH)
_CART = ("position", "speed", "angle", "turn"), ("left", "right")
_LAKE = EnvDefaults(action_names=("left", "down", "right", "up"))
_BY_ID = {
    "CartPole-v0": EnvDefaults(_LOW, _HIGH, "shortfall", 200, *_CART),
    "CartPole-v1": EnvDefaults(_LOW, _HIGH, "shortfall", 200, *_CART),
    "aapi/CartPole-v0": EnvDefaults(_LOW, _HIGH, "keep", None, *_CART),
    "MountainCar-v0": EnvDefaults(None, None, 100.0, None, ("position", "speed"), ("left", "none", "right")),
    "Acrobot-v1": EnvDefaults(ending=100.0),
    "FrozenLake-v1": _LAKE,
    "FrozenLake8x8-v1": _LAKE,
}


def env_defaults(env: Env) -> EnvDefaults:
    """The bounds and the ending rule of an environment, by its id."""
    return spec_defaults(env.spec)


def spec_defaults(spec: EnvSpec | None) -> EnvDefaults:
    """The same of an environment that is made like this."""
    return _BY_ID.get(spec.id if spec else "", EnvDefaults())
