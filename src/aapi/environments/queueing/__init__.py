"""Queueing networks: one description as data, from which come models, rules, bounds, simulations and environments."""

from __future__ import annotations

from aapi.environments.queueing.admission import admission, admission_rules
from aapi.environments.queueing.bounds import CapCost, cap_cost
from aapi.environments.queueing.capped import CappedNetwork
from aapi.environments.queueing.criss_cross import (
    best_threshold,
    criss_cross,
    criss_cross_network,
    criss_cross_threshold,
)
from aapi.environments.queueing.n_model import n_model_network
from aapi.environments.queueing.network import Network
from aapi.environments.queueing.rules import (
    FirstComeFirstServed,
    IndexRule,
    TableRule,
    c_mu,
    first_buffer,
    last_buffer,
    longest_queue,
    max_weight,
    standard_rules,
    threshold,
)
from aapi.environments.queueing.simulate import Simulated, simulate
from aapi.environments.queueing.six_class import six_class, six_class_network

__all__ = [
    "CapCost",
    "CappedNetwork",
    "FirstComeFirstServed",
    "IndexRule",
    "Network",
    "Simulated",
    "TableRule",
    "admission",
    "admission_rules",
    "best_threshold",
    "c_mu",
    "cap_cost",
    "criss_cross",
    "criss_cross_network",
    "criss_cross_threshold",
    "first_buffer",
    "last_buffer",
    "longest_queue",
    "max_weight",
    "n_model_network",
    "simulate",
    "six_class",
    "six_class_network",
    "standard_rules",
    "threshold",
]
