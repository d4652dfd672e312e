"""Exploration: what to do before a phase where too little is known. Parts that are asked in turn."""

from aapi.exploration.budgeted import FewestVisits, PosteriorSampling, UniformShare
from aapi.exploration.discovery import Discovery
from aapi.exploration.exploration import Excursion, Exploration, Situation, as_exploration

__all__ = [
    "Discovery", "Excursion", "Exploration", "FewestVisits", "PosteriorSampling", "Situation", "UniformShare",
    "as_exploration",
]  # fmt: skip
