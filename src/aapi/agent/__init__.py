"""An agent that learns on any Gymnasium environment with discrete actions."""

from aapi.agent.agent import Agent, Progress
from aapi.agent.judge import evaluate
from aapi.agent.representation import describe_choice
from aapi.agent.score import Comparison, Score
from aapi.agent.storage import copies_made, load, made_environment
from aapi.agent.tensorboard import TensorBoard

__all__ = [
    "Agent", "Comparison", "Progress", "Score", "TensorBoard", "copies_made", "describe_choice", "evaluate", "load",
    "made_environment",
]  # fmt: skip
