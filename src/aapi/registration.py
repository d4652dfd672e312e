"""The problems as Gymnasium environments: importing `aapi` makes them known, and imports nothing heavy for it.

    import aapi
    import gymnasium
    env = gymnasium.make("aapi/DeepSea-v0", size=20)

or, in one step, gymnasium.make("aapi:aapi/DeepSea-v0", size=20).
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


ENVIRONMENTS = {  # the classes, by modules of `aapi.environments`
    "aapi/AccessControl-v0": "gymnasium:AccessControlEnv",
    "aapi/CartPole-v0": "gymnasium:CartPoleEnv",
    "aapi/Catch-v0": "suite.catch_env:CatchEnv",
    "aapi/CrissCross-v0": "queueing.env:CrissCrossEnv",
    "aapi/DancingCatch-v0": "suite.shuffled_catch_env:DancingCatchEnv",
    "aapi/DeepSea-v0": "gymnasium:DeepSeaEnv",
    "aapi/Ergodic-v0": "gymnasium:ErgodicEnv",
    "aapi/FiniteMDP-v0": "gymnasium:FiniteMDPEnv",
    "aapi/NModel-v0": "queueing.env:NModelEnv",
    "aapi/Pendulum-v0": "suite.pendulum_env:PendulumEnv",
    "aapi/PuckWorld-v0": "suite.puck_world_env:PuckWorldEnv",
    "aapi/RiverSwim-v0": "gymnasium:RiverSwimEnv",
    "aapi/Routing-v0": "gymnasium:RoutingEnv",
    "aapi/SixClass-v0": "queueing.env:SixClassEnv",
    "aapi/SwappedCatch-v0": "suite.shuffled_catch_env:SwappedCatchEnv",
    "aapi/TandemQueue-v0": "gymnasium:TandemQueueEnv",
    "aapi/Taxi-v0": "suite.taxi_env:TaxiEnv",
    "aapi/WindyCatch-v0": "suite.windy_catch_env:WindyCatchEnv",
}


def register() -> None:
    """Make the environments known to Gymnasium, once; a second call changes nothing."""
    from gymnasium.envs import registration

    for name, environment in ENVIRONMENTS.items():
        if name not in registration.registry:  # which Gymnasium would warn about
            registration.register(id=name, entry_point=f"aapi.environments.{environment}")


def register_when_imported() -> None:
    """Make the environments known now, if Gymnasium is imported already; else as soon as somebody imports it."""
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _GymnasiumFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _GymnasiumFinder())


class _GymnasiumFinder(MetaPathFinder):
    """Finds Gymnasium as it would be found without it, and registers the environments once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None  # noqa: ARG002 - the interface
    ) -> ModuleSpec | None:  # fmt: skip
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
