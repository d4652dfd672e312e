"""The problems that algorithms are compared on: functions that return a `FiniteMDP` or a `ContinuousProblem`."""

from aapi.environments.access_control import access_control
from aapi.environments.cartpole import cartpole
from aapi.environments.deep_sea import deep_sea
from aapi.environments.ergodic import ergodic
from aapi.environments.garnet import garnet
from aapi.environments.river_swim import river_swim

__all__ = ["access_control", "cartpole", "deep_sea", "ergodic", "garnet", "river_swim"]
