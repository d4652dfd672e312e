"""The learners: Algorithm 1 and its settings, exploration around a learner, their rivals, and acting at random."""

from aapi.learners.aapi import AAPI
from aapi.learners.conservative import Conservative
from aapi.learners.exploring import Exploring
from aapi.learners.imed_rl import IMEDRL
from aapi.learners.learner import Learner, LearnerState, Phase, Session, play
from aapi.learners.oomd import OOMD
from aapi.learners.optimistic_grid import OptimisticGrid
from aapi.learners.optimistic_q import OptimisticQ
from aapi.learners.policy_iteration import PolicyIteration
from aapi.learners.psrl import PSRL
from aapi.learners.rivals import AdaptiveFTRL, GreedyAPI, Politex
from aapi.learners.rlsvi import RLSVI
from aapi.learners.rmax import RMAX
from aapi.learners.td import RVIQ, CentredQ, DifferentialQ, DifferentialSarsa, RLearning
from aapi.learners.ucrl import KLUCRL, SCAL, UCRL2, UCRL2B
from aapi.learners.uniform import Uniform

__all__ = [
    "AAPI",
    "IMEDRL",
    "KLUCRL",
    "OOMD",
    "PSRL",
    "RLSVI",
    "RMAX",
    "RVIQ",
    "SCAL",
    "UCRL2",
    "UCRL2B",
    "AdaptiveFTRL",
    "CentredQ",
    "Conservative",
    "DifferentialQ",
    "DifferentialSarsa",
    "Exploring",
    "GreedyAPI",
    "Learner",
    "LearnerState",
    "OptimisticGrid",
    "OptimisticQ",
    "Phase",
    "PolicyIteration",
    "Politex",
    "RLearning",
    "Session",
    "Uniform",
    "play",
]  # fmt: skip
