"""Feature maps: how a Q-function is represented."""

from aapi.features.active import ActiveFeatures, Features
from aapi.features.coordinates import Coordinates
from aapi.features.matrix import FeatureMatrix
from aapi.features.one_hot import OneHot

__all__ = ["ActiveFeatures", "Coordinates", "FeatureMatrix", "Features", "OneHot"]
