"""The learners: Algorithm 1 and its settings, exploration around a learner, RLSVI, and acting at random."""

from aapi.learners.aapi import AAPI
from aapi.learners.exploring import Exploring
from aapi.learners.learner import Learner, LearnerState, Phase, Session, play
from aapi.learners.policy_iteration import PolicyIteration
from aapi.learners.psrl import PSRL
from aapi.learners.rivals import AdaptiveFTRL, GreedyAPI, Politex
from aapi.learners.rlsvi import RLSVI
from aapi.learners.rmax import RMAX
from aapi.learners.uniform import Uniform

__all__ = [
    "AAPI", "PSRL", "RLSVI", "RMAX", "AdaptiveFTRL", "Exploring", "GreedyAPI", "Learner", "LearnerState", "Phase",
    "PolicyIteration", "Politex", "Session", "Uniform", "play",
]  # fmt: skip
