"""Exploration: what to do before a phase where too little is known. Parts that are asked in turn."""

from aapi.exploration.discovery import Discovery
from aapi.exploration.exploration import Excursion, Exploration, Situation, as_exploration
from aapi.exploration.fewest_visits import FewestVisits
from aapi.exploration.posterior_sampling import PosteriorSampling
from aapi.exploration.uniform_share import UniformShare

__all__ = [
    "Discovery",
    "Excursion",
    "Exploration",
    "FewestVisits",
    "PosteriorSampling",
    "Situation",
    "UniformShare",
    "as_exploration",
]
