"""CartPole as a continuing problem, as in Hao et al. (2021): the task of Barto, Sutton and Anderson (1983)."""

from __future__ import annotations

import math
from typing import Any

from aapi.environments.continuous_problem import ContinuousProblem
from aapi.kernels.elementary import sin_cos
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw

GRAVITY, CART_MASS, POLE_MASS, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
MASS, MOMENT = CART_MASS + POLE_MASS, POLE_MASS * HALF_LENGTH
MAX_POSITION, MAX_ANGLE = 2.4, math.radians(15.0)
LIMIT = 200  # steps of the longest episode
START = 0.05


def cartpole() -> ContinuousProblem:
    """Balance a pole on a cart by pushing it to the left (action 0) or to the right (action 1).

    The observation is (x, ẋ, θ, θ̇); the state also has the number of steps in the episode. Every step pays 1, but one
    that ends an episode after h steps pays h − 200: |x| > 2.4, |θ| > 15°, or the 200th step. Its successor is a new
    start, uniform in ±0.05. Pushing at random earns about −6.2 a step; no policy earns more than 199/200.
    """
    return ContinuousProblem(
        name="cartpole",
        start=start,
        step=step,
        state_size=5,
        low=(-MAX_POSITION, -3.0, -MAX_ANGLE, -3.5),
        high=(MAX_POSITION, 3.0, MAX_ANGLE, 3.5),
        action_names=("left", "right"),
        best_gain=(LIMIT - 1) / LIMIT,
    )


@kernel
def start(state: Any, stream: Any) -> None:
    """Put the cart near the middle, with the pole nearly upright: a new start."""
    for j in range(4):
        state[j] = START * (2.0 * draw(stream) - 1.0)
    state[4] = 0.0


@kernel
def step(state: Any, action: Any, stream: Any) -> Any:
    """The reward; `state` becomes its successor, by Euler's method."""
    x, speed, angle, turn = state[0], state[1], state[2], state[3]
    push = FORCE if action == 1 else -FORCE
    sine, cosine = sin_cos(angle)
    pressed = (push + MOMENT * (turn * turn) * sine) / MASS
    bend = (GRAVITY * sine - cosine * pressed) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / MASS))
    state[0] = x + SECONDS * speed
    state[1] = speed + SECONDS * (pressed - MOMENT * bend * cosine / MASS)
    state[2] = angle + SECONDS * turn
    state[3] = turn + SECONDS * bend
    state[4] += 1.0
    taken = state[4]
    if abs(state[0]) > MAX_POSITION or abs(state[2]) > MAX_ANGLE or taken >= LIMIT:
        start(state, stream)
        return taken - LIMIT
    return 1.0
