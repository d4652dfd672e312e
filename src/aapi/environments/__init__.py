"""The problems that algorithms are compared on: functions that return a model or a `ContinuousProblem`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.environments.access_control import access_control
from aapi.environments.cartpole import cartpole
from aapi.environments.changing_rewards import (
    ChangingRewards,
    RewardSequence,
    against_the_leader,
    against_the_policy,
)
from aapi.environments.continuous_problem import ContinuousProblem
from aapi.environments.deep_sea import deep_sea
from aapi.environments.ergodic import ergodic
from aapi.environments.garnet import garnet
from aapi.environments.river_swim import river_swim

if TYPE_CHECKING:
    from aapi.environments.continuing import Continuing

__all__ = [
    "ChangingRewards", "Continuing", "ContinuousProblem", "RewardSequence", "access_control", "against_the_leader",
    "against_the_policy", "cartpole", "deep_sea", "ergodic", "garnet", "river_swim",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "Continuing":  # on first use, since it imports Gymnasium
        from aapi.environments.continuing import Continuing

        return Continuing
    raise AttributeError(f"module 'aapi.environments' has no attribute {name!r}")
