"""A puck that is to be pushed to a goal, which jumps elsewhere (Naik et al. 2024, for C-suite)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aapi.environments.continuous_problem import ContinuousProblem
from aapi.kernels.jit import kernel
from aapi.kernels.random import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

SIDE, RADIUS = 5.0, 0.5  # of the arena and of the puck, whose middle stays so far from the walls
PUSH, FRICTION, BOUNCE = 0.1, 0.5, 0.5
SECONDS, SUBSTEPS = 0.05, 4
JUMP = 300  # steps from one goal to the next
MAX_SPEED = PUSH / FRICTION
# Minus the mean distance of a goal to the nearest place the puck can be at. Along each axis it is 0 with probability
# .8, and else uniform in [0, .5]; of the point of a square that is uniform, its corner's mean distance is known.
BEST_GAIN = -(2 * 0.8 * 0.2 * RADIUS / 2 + 0.2**2 * RADIUS * (math.sqrt(2.0) + math.asinh(1.0)) / 3)


def puck_world() -> ContinuousProblem:
    """Push a puck up, left, down or right towards a goal: each step pays minus their distance.

    v' = a − 0.5 v, with |a| = 0.1 along one axis, in an arena of 5 × 5. A step is 0.2 s, four of Euler's method, the
    speed first. The puck's middle keeps 0.5 from the walls; there it bounces with half of its speed. Every 300 steps
    the goal is drawn anew, evenly from the arena; how many are left is not observed. The observation is (x, y, v_x,
    v_y) of the puck and (x, y) of the goal, y pointing down; it starts at rest, anywhere.

    No policy earns more than −0.0953, minus the mean distance of a goal to the nearest place the puck can be at.
    `chase` is a rule.
    """
    return ContinuousProblem(
        name="puck-world",
        start=start,
        step=step,
        state_size=7,
        low=(0.0, 0.0, -MAX_SPEED, -MAX_SPEED, 0.0, 0.0),
        high=(SIDE, SIDE, MAX_SPEED, MAX_SPEED, SIDE, SIDE),
        action_names=("up", "left", "down", "right"),
        best_gain=BEST_GAIN,
    )


def chase(observation: Sequence[float]) -> int:
    """A rule: push along the axis on which the puck, if it slid on, would miss the goal by more. An action."""
    x, y, right, down, goal_x, goal_y = observation
    across, along = (
        min(max(goal, RADIUS), SIDE - RADIUS) - place - speed / FRICTION
        for goal, place, speed in ((goal_x, x, right), (goal_y, y, down))
    )
    if abs(across) > abs(along):
        return 3 if across > 0.0 else 1
    return 2 if along > 0.0 else 0


@kernel
def _jump(state: Any, stream: Any) -> None:
    """A new goal."""
    state[4] = SIDE * draw(stream)
    state[5] = SIDE * draw(stream)


@kernel
def start(state: Any, stream: Any) -> None:
    """The puck at rest, anywhere; a goal; no steps taken yet."""
    state[0] = SIDE * draw(stream)
    state[1] = SIDE * draw(stream)
    state[2], state[3], state[6] = 0.0, 0.0, 0.0
    _jump(state, stream)


@kernel
def step(state: Any, action: Any, stream: Any) -> Any:
    """The reward; `state` becomes its successor. Its last number counts steps to the next goal."""
    for axis in range(2):
        push = 0.0
        if action % 2 != axis:  # 0 and 2 are up and down, 1 and 3 left and right
            push = PUSH if action >= 2 else -PUSH
        place, speed = state[axis], state[2 + axis]
        for _ in range(SUBSTEPS):
            speed += SECONDS * (push - FRICTION * speed)
            place += SECONDS * speed
        if place < RADIUS or place > SIDE - RADIUS:
            speed *= -BOUNCE
            place = RADIUS if place < RADIUS else SIDE - RADIUS
        state[axis], state[2 + axis] = place, speed
    state[6] += 1.0
    if state[6] >= JUMP:
        state[6] = 0.0
        _jump(state, stream)
    x, y = state[0] - state[4], state[1] - state[5]
    return -math.sqrt(x * x + y * y)
