"""A pendulum that is to be swung up and balanced, for ever (C-suite, Zhao et al. 2022)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aapi.environments.continuous_problem import ContinuousProblem
from aapi.errors import InvalidInput
from aapi.kernels.elementary import sin_cos
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAVITY, SECONDS, SUBSTEPS = 9.81, 0.05, 4
NEAR = math.radians(30.0)  # from upright
MAX_SPEED = 12.0  # pushing with the motion for ever leads to 10.98 rad/s
SPARSE = 1.0, 0.1  # torque and friction
DENSE = 2.0, 0.3


def pendulum(dense: int = 0) -> ContinuousProblem:
    """Swing a pendulum up and balance it, by a torque τ of −1, 0 or 1: θ'' = τ − 0.1 θ' − 9.81 sin θ.

    Being within 30° of upright pays 1, anything else nothing. The observation is (cos θ, sin θ, θ'), with θ = 0 at the
    bottom, where it starts at rest. A step is 0.2 s, four of Euler's method, the speed first. Speeds are cut at 12
    rad/s, where C-suite has no bound; pushing with the motion for ever leads to 10.98. At random it earns nothing, and
    torques that hold it upright swing it up only in time with its motion. `balance` earns 1, once it is up: λ_* = 1.

    dense: 1 for the easier one of Naik et al. (2024), with torques of ±2, a friction of 0.3, and −(π − θ)² − 0.1 θ'² as
    reward, 0 ≤ θ < 2π; no policy earns more than 0.
    """
    if dense not in (0, 1):
        raise InvalidInput(f"dense must be 0 or 1, not {dense!r}")
    return ContinuousProblem(
        name="pendulum",
        start=start_dense if dense else start_sparse,
        step=step,
        state_size=7,
        low=(-1.0, -1.0, -MAX_SPEED),
        high=(1.0, 1.0, MAX_SPEED),
        action_names=("negative", "none", "positive"),
        best_gain=0.0 if dense else 1.0,
    )


def balance(observation: Sequence[float]) -> int:
    """A rule: push with the motion until there is energy to get up, then against falling; an action, for dense=0.

    Near upright, φ'' = 9.81 φ + τ moves φ + φ'/√9.81 away from 0; in between, the energy ½ θ'² − 9.81 (cos θ + 1) is
    to be 0.
    """
    cosine, sine, speed = observation
    away = math.atan2(-sine, -cosine)  # from upright
    falling = away + speed / math.sqrt(GRAVITY)
    if abs(away) < 0.6 and abs(falling) < 0.35:
        return 0 if falling > 0.05 else 2 if falling < -0.05 else 1
    short = 0.5 * speed * speed < GRAVITY * (cosine + 1.0)
    return 2 if (speed >= 0.0) == short else 0


@kernel
def _start(state: Any, torque: Any, friction: Any, dense: Any) -> None:
    """At rest at the bottom: cos θ, sin θ, θ', θ, and the constants."""
    state[0], state[1], state[2], state[3] = 1.0, 0.0, 0.0, 0.0
    state[4], state[5], state[6] = torque, friction, dense


@kernel
def start_sparse(state: Any, stream: Any) -> None:  # noqa: ARG001 - nothing is random
    """The start of C-suite's."""
    _start(state, SPARSE[0], SPARSE[1], 0.0)


@kernel
def start_dense(state: Any, stream: Any) -> None:  # noqa: ARG001 - nothing is random
    """The start of Naik's."""
    _start(state, DENSE[0], DENSE[1], 1.0)


@kernel
def step(state: Any, action: Any, stream: Any) -> Any:  # noqa: ARG001 - nothing is random
    """The reward; `state` becomes its successor."""
    speed, angle = state[2], state[3]
    push = state[4] * (action - 1)
    for _ in range(SUBSTEPS):
        speed += SECONDS * (push - state[5] * speed - GRAVITY * sin_cos(angle)[0])
        angle += SECONDS * speed
    angle -= 2.0 * math.pi * math.floor(angle / (2.0 * math.pi))
    speed = min(max(speed, -MAX_SPEED), MAX_SPEED)
    sine, cosine = sin_cos(angle)
    state[0], state[1], state[2], state[3] = cosine, sine, speed, angle
    away = angle - math.pi
    if state[6] > 0.0:
        return -(away * away) - 0.1 * (speed * speed)
    return 1.0 if abs(away) < NEAR else 0.0
