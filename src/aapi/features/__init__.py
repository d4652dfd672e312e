"""Feature maps: how a Q-function is represented."""

from aapi.features.active import ActiveFeatures, Features
from aapi.features.tables import Aggregation, Coordinates, FeatureMatrix, OneHot
from aapi.features.vectors import Fourier, Grid, Radial, Tiles, VectorFeatures

__all__ = [
    "ActiveFeatures", "Aggregation", "Coordinates", "FeatureMatrix", "Features", "Fourier", "Grid", "OneHot", "Radial",
    "Tiles", "VectorFeatures",
]  # fmt: skip
