"""Policy improvement: history of Q-functions, side information, learning rate, Boltzmann policy."""

from aapi.improvement.boltzmann import boltzmann
from aapi.improvement.history import QHistory
from aapi.improvement.learning_rate import Adaptive, LearningRate, SampledAdaptive, Scheduled
from aapi.improvement.linear_history import LinearHistory, LinearTemperature, new_history
from aapi.improvement.side_information import (
    ExponentialAverage,
    Predicted,
    PreviousEstimate,
    SideInformation,
    Zero,
)

__all__ = [
    "Adaptive",
    "ExponentialAverage",
    "LearningRate",
    "LinearHistory",
    "LinearTemperature",
    "Predicted",
    "PreviousEstimate",
    "QHistory",
    "SampledAdaptive",
    "Scheduled",
    "SideInformation",
    "Zero",
    "boltzmann",
    "new_history",
]
