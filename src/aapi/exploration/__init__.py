"""Exploration: what to do before a phase where too little is known. Parts that are asked in turn."""

from aapi.exploration.budgeted import FewestVisits, PosteriorSampling, UniformShare
from aapi.exploration.discovery import Discovery
from aapi.exploration.expeditions import Expeditions
from aapi.exploration.exploration import Excursion, Exploration, Situation, as_exploration
from aapi.exploration.thompson import ThompsonSampling

__all__ = [
    "Discovery", "Excursion", "Expeditions", "Exploration", "FewestVisits", "PosteriorSampling", "Situation",
    "ThompsonSampling", "UniformShare", "as_exploration",
]  # fmt: skip
