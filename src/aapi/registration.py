"""The problems as Gymnasium environments: importing `aapi` makes them known, and nothing heavier is imported for it.

    import aapi
    import gymnasium
    env = gymnasium.make("aapi/DeepSea-v0", size=20)

or, in one step, gymnasium.make("aapi:aapi/DeepSea-v0", size=20).
"""

from __future__ import annotations

__all__ = ["ENVIRONMENTS", "register"]

ENVIRONMENTS = {
    "aapi/AccessControl-v0": "AccessControlEnv",
    "aapi/CartPole-v0": "CartPoleEnv",
    "aapi/DeepSea-v0": "DeepSeaEnv",
    "aapi/Ergodic-v0": "ErgodicEnv",
    "aapi/FiniteMDP-v0": "FiniteMDPEnv",
    "aapi/RiverSwim-v0": "RiverSwimEnv",
}


def register() -> None:
    """Make the environments known to Gymnasium, once; a second call changes nothing."""
    from gymnasium.envs import registration

    for name, environment in ENVIRONMENTS.items():
        if name not in registration.registry:  # which Gymnasium would warn about
            registration.register(id=name, entry_point=f"aapi.environments.gymnasium:{environment}")
