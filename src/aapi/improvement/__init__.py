"""Policy improvement: history of Q-functions, side information, learning rate, Boltzmann policy."""

from aapi.improvement.boltzmann import boltzmann
from aapi.improvement.history import QHistory
from aapi.improvement.learning_rate import Adaptive, LearningRate, SampledAdaptive, Scheduled
from aapi.improvement.side_information import PreviousEstimate, SideInformation, Zero

__all__ = [
    "Adaptive",
    "LearningRate",
    "PreviousEstimate",
    "QHistory",
    "SampledAdaptive",
    "Scheduled",
    "SideInformation",
    "Zero",
    "boltzmann",
]
