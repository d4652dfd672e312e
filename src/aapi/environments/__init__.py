"""The problems that algorithms are compared on, each a function that returns a `FiniteMDP`."""

from aapi.environments.access_control import access_control
from aapi.environments.deep_sea import deep_sea
from aapi.environments.ergodic import ergodic
from aapi.environments.garnet import garnet
from aapi.environments.river_swim import river_swim

__all__ = ["access_control", "deep_sea", "ergodic", "garnet", "river_swim"]
