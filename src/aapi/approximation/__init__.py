"""How Q-functions are held: as tables, or linear in features of observation vectors."""

from aapi.approximation.interpolated import GridPolicy, Interpolated
from aapi.approximation.linear import Linear, LinearTemperature
from aapi.approximation.linear_policy import LinearPolicy
from aapi.approximation.space import NORMS, Policy, QSpace, Surprise, Temperature
from aapi.approximation.tabular import Tabular
from aapi.array_types import Array

__all__ = [
    "NORMS", "Array", "GridPolicy", "Interpolated", "Linear", "LinearPolicy", "LinearTemperature", "Policy", "QSpace",
    "Surprise", "Tabular", "Temperature",
]  # fmt: skip
