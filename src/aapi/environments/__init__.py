"""The problems that algorithms are compared on: functions that return a model or a `ContinuousProblem`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.environments.access_control import access_control
from aapi.environments.bandit import bandit
from aapi.environments.battery import battery
from aapi.environments.car_rental import car_rental, car_rental_rules
from aapi.environments.cartpole import cartpole
from aapi.environments.chain import chain
from aapi.environments.changing_rewards import (
    ChangingRewards,
    RewardSequence,
    against_the_leader,
    against_the_policy,
)
from aapi.environments.combination_lock import combination_lock
from aapi.environments.continuous_problem import ContinuousProblem
from aapi.environments.deep_sea import deep_sea
from aapi.environments.double_loop import double_loop
from aapi.environments.ergodic import ergodic
from aapi.environments.garnet import garnet
from aapi.environments.inventory import inventory, inventory_rules
from aapi.environments.key_maze import key_maze
from aapi.environments.lottery import lottery
from aapi.environments.maintenance import maintenance, maintenance_rules
from aapi.environments.n_model import n_model
from aapi.environments.pig import pig
from aapi.environments.polling import polling
from aapi.environments.pricing import pricing
from aapi.environments.queueing import admission, admission_rules, criss_cross, six_class
from aapi.environments.repair_shop import repair_shop
from aapi.environments.river_swim import river_swim
from aapi.environments.rooms import rooms
from aapi.environments.routing import routing
from aapi.environments.six_arms import six_arms
from aapi.environments.suite.catch import catch, catch_bounds, catch_ceiling, catch_rules
from aapi.environments.suite.pendulum import pendulum
from aapi.environments.suite.puck_world import puck_world
from aapi.environments.suite.taxi import continuing_taxi
from aapi.environments.suite.windy_catch import windy_catch, windy_catch_rules
from aapi.environments.tabulate import tabulate
from aapi.environments.tandem_queue import tandem_queue
from aapi.environments.toy_text import cliff_walking, from_table, frozen_lake, taxi
from aapi.environments.trap_grid import trap_grid
from aapi.environments.tree import tree
from aapi.environments.windy_grid import windy_grid

if TYPE_CHECKING:
    from aapi.environments.continuing import Continuing

__all__ = [
    "ChangingRewards",
    "Continuing",
    "ContinuousProblem",
    "RewardSequence",
    "access_control",
    "admission",
    "admission_rules",
    "against_the_leader",
    "against_the_policy",
    "bandit",
    "battery",
    "car_rental",
    "car_rental_rules",
    "cartpole",
    "catch",
    "catch_bounds",
    "catch_ceiling",
    "catch_rules",
    "chain",
    "cliff_walking",
    "combination_lock",
    "continuing_taxi",
    "criss_cross",
    "deep_sea",
    "double_loop",
    "ergodic",
    "from_table",
    "frozen_lake",
    "garnet",
    "inventory",
    "inventory_rules",
    "key_maze",
    "lottery",
    "maintenance",
    "maintenance_rules",
    "n_model",
    "pendulum",
    "pig",
    "polling",
    "pricing",
    "puck_world",
    "repair_shop",
    "river_swim",
    "rooms",
    "routing",
    "six_arms",
    "six_class",
    "tabulate",
    "tandem_queue",
    "taxi",
    "trap_grid",
    "tree",
    "windy_catch",
    "windy_catch_rules",
    "windy_grid",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "Continuing":  # on first use, since it imports Gymnasium
        from aapi.environments.continuing import Continuing

        return Continuing
    raise AttributeError(f"module 'aapi.environments' has no attribute {name!r}")
