"""Policy improvement: learning rates, side information, and the leader that they make."""

from aapi.improvement.learning_rate import Adaptive, LearningRate, SampledAdaptive, Scheduled, as_learning_rate
from aapi.improvement.side_information import (
    ExponentialAverage,
    Leader,
    Predicted,
    PreviousEstimate,
    SideInformation,
    Zero,
    as_side_information,
)

__all__ = [
    "Adaptive", "ExponentialAverage", "Leader", "LearningRate", "Predicted", "PreviousEstimate", "SampledAdaptive",
    "Scheduled", "SideInformation", "Zero", "as_learning_rate", "as_side_information",
]  # fmt: skip
