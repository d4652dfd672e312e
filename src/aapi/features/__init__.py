"""Feature maps: how a Q-function is represented."""

from aapi.features.active import ActiveFeatures, Features
from aapi.features.aggregation import Aggregation
from aapi.features.bounds import VectorFeatures
from aapi.features.coordinates import Coordinates
from aapi.features.fourier import Fourier
from aapi.features.matrix import FeatureMatrix
from aapi.features.one_hot import OneHot
from aapi.features.radial import Radial
from aapi.features.tiles import Tiles

__all__ = [
    "ActiveFeatures",
    "Aggregation",
    "Coordinates",
    "FeatureMatrix",
    "Features",
    "Fourier",
    "OneHot",
    "Radial",
    "Tiles",
    "VectorFeatures",
]
