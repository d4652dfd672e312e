"""The environments under Stable-Baselines3: its checker, and its DQN on two of them. Run by `make interop`.

Exit status 1 if a check fails or training crashes. How well DQN does is printed, not judged: it maximises discounted
rewards, and DeepSea is made to be hard for ε-greedy exploration.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.env_checker import check_env

from aapi.environments.deep_sea import deep_sea
from aapi.environments.river_swim import river_swim
from aapi.mdp import solve
from aapi.registration import ENVIRONMENTS, register

STEPS = 5_000  # over which a policy is judged
SEA = 5
COMMON = {"learning_starts": 1000, "train_freq": 4, "seed": 0, "device": "cpu", "verbose": 0}
DEEP_SEA = COMMON | {
    "gamma": 0.97, "learning_rate": 1e-3, "target_update_interval": 500, "exploration_fraction": 0.5,
}  # fmt: skip
CART_POLE = COMMON | {
    "gamma": 0.97, "learning_rate": 5e-4, "target_update_interval": 1000, "exploration_fraction": 0.2,
    "exploration_final_eps": 0.04, "batch_size": 128, "policy_kwargs": {"net_arch": [128, 128]},
}  # fmt: skip


def check(name: str, arguments: dict[str, Any]) -> bool:
    """Stable-Baselines3's own check, in every render mode, with warnings as errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for mode in (None, "ansi", "rgb_array"):
                check_env(gymnasium.make(name, render_mode=mode, **arguments).unwrapped, warn=True)
    except Exception:  # noqa: BLE001 - whatever it is, the check has failed
        print(f"FAILED  {name}\n{traceback.format_exc()}")
        return False
    print(f"passed  {name}")
    return True


def average(env: gymnasium.Env[Any, Any], model: DQN | None) -> float:
    """The average reward of a trained policy, or of random actions."""
    observation, _ = env.reset(seed=1)
    env.action_space.seed(1)
    total = 0.0
    for _ in range(STEPS):
        action = env.action_space.sample() if model is None else int(model.predict(observation, deterministic=True)[0])
        observation, reward, *_ = env.step(action)
        total += float(reward)
    return total / STEPS


def train(name: str, arguments: dict[str, Any], steps: int, bound: str, settings: dict[str, Any]) -> bool:
    """Train DQN and print what it earns."""
    try:
        env = gymnasium.make(name, **arguments)
        model = DQN("MlpPolicy", env, **settings).learn(steps)
        fresh = gymnasium.make(name, **arguments)
        trained, random = average(fresh, model), average(fresh, None)
    except Exception:  # noqa: BLE001 - whatever it is, training has crashed
        print(f"FAILED  training on {name}\n{traceback.format_exc()}")
        return False
    print(f"trained {name}: DQN {trained:.4f} a step after {steps} steps, random actions {random:.4f}, {bound}")
    return bool(np.isfinite([trained, random]).all())


def main() -> int:
    """All checks, then training."""
    torch.set_num_threads(1)  # faster for networks of this size
    register()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.npz")
        river_swim().save(path)
        good = [check(name, {"model": path} if "FiniteMDP" in name else {}) for name in ENVIRONMENTS]
    gain = float(np.max(solve(deep_sea(SEA)).gains))
    good.append(train("aapi/DeepSea-v0", {"size": SEA}, 30_000, f"optimal gain {gain:.4f}", DEEP_SEA))
    good.append(train("aapi/CartPole-v0", {}, 50_000, "no policy earns more than 0.9950", CART_POLE))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
