"""Pictures and text of the continuing suite, drawn with NumPy alone."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from aapi.environments.drawing import AGENT, CELL, GOLD, INK, LINE, LONGEST, PAPER, RICH, STEEL, TRAIL, Canvas

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from aapi.environments.drawing import Colour, Point

    Cell = tuple[int, int]

EDGE = 8  # pixels around a board
HEADER = 40  # pixels above it, for the wind
RANK_COLOURS: tuple[Colour, ...] = ((236, 148, 142), (158, 210, 160), (244, 222, 130), (150, 186, 226))


def _cell(rows: int, columns: int) -> int:
    return max(2, min(40, LONGEST // max(rows, columns)))


def catch_picture(rows: int, columns: int, paddle: int, balls: Sequence[int]) -> Canvas:
    """Balls as discs, given from the highest row down, and the paddle as a bar in the lowest row."""
    cell = _cell(rows, columns)
    canvas = _empty_board(rows, columns, cell)
    for row, column in enumerate(balls):
        if column >= 0:
            canvas.disc((EDGE + (column + 0.5) * cell, EDGE + (row + 0.5) * cell), 0.32 * cell, AGENT)
    left, top = EDGE + paddle * cell, EDGE + (rows - 1) * cell
    canvas.box(left + 0.08 * cell, top + 0.35 * cell, left + 0.92 * cell, top + 0.65 * cell, STEEL)
    return canvas


def _empty_board(rows: int, columns: int, cell: int) -> Canvas:
    canvas = Canvas(columns * cell + 2 * EDGE + 1, rows * cell + 2 * EDGE + 1)
    canvas.box(EDGE, EDGE, EDGE + columns * cell, EDGE + rows * cell, CELL)
    if cell > 6:
        for row in range(rows + 1):
            canvas.box(EDGE, EDGE + row * cell, EDGE + columns * cell + 1, EDGE + row * cell + 1, LINE)
        for column in range(columns + 1):
            canvas.box(EDGE + column * cell, EDGE, EDGE + column * cell + 1, EDGE + rows * cell + 1, LINE)
    return canvas


def with_wind(canvas: Canvas, drift: int) -> Canvas:
    """The same below an arrow in the wind's direction, or below a dot where there is none."""
    height, width, _ = canvas.pixels.shape
    whole = Canvas(width, height + HEADER)
    whole.pixels[HEADER:] = canvas.pixels
    middle, y, reach = width / 2, 0.6 * HEADER, min(50.0, width / 3)
    if not drift:
        whole.disc((middle, y), 5.0, INK)
        return whole
    tip = (middle + drift * reach, y)
    whole.stroke((middle - drift * reach, y), tip, 2.5, INK)
    for side in (-9.0, 9.0):
        whole.stroke(tip, (tip[0] - drift * 11.0, y + side), 2.5, INK)
    return whole


def beside(canvas: Canvas, observed: NDArray[np.int8]) -> Canvas:
    """The same, and at its right what is observed: dark cells are 1."""
    rows, columns = observed.shape
    cell = _cell(rows, columns)
    board = _empty_board(rows, columns, cell)
    for row, column in np.argwhere(observed):
        left, top = EDGE + column * cell, EDGE + row * cell
        board.box(left + 1, top + 1, left + cell, top + cell, INK)
    height, width, _ = canvas.pixels.shape
    whole = Canvas(2 * width, height)
    whole.pixels[:, :width], whole.pixels[:, width:] = canvas.pixels, board.pixels
    return whole


def catch_text(rows: int, columns: int, paddle: int, balls: Sequence[int]) -> str:
    """The board as characters: o a ball, = the paddle."""
    lines = [["."] * columns for _ in range(rows)]
    for row, column in enumerate(balls):
        if column >= 0:
            lines[row][column] = "o"
    lines[-1][paddle] = "="
    return "\n".join("".join(line) for line in lines) + "\n"


def pendulum_picture(angle: float, push: int) -> NDArray[np.uint8]:
    """The pendulum, 0 at the bottom and turning to the right; a green sector that pays; an arc for the torque."""
    size, length = 256, 88.0
    canvas = Canvas(size, size)
    axle = (size / 2, size / 2)

    def place(turn: float, far: float) -> Point:
        return axle[0] + far * math.sin(turn), axle[1] + far * math.cos(turn)

    y, x = np.mgrid[:size, :size]
    x, y = x - axle[0], y - axle[1]
    sector = (np.hypot(x, y) < length + 18.0) & (np.arctan2(abs(x), -y) < math.radians(30.0))
    canvas.pixels[sector] = (214, 235, 219)
    bob = place(angle, length)
    canvas.stroke(axle, bob, 3.5, INK)
    canvas.disc(axle, 6.0, INK)
    canvas.disc(bob, 13.0, AGENT)
    if push:
        arc = [place(angle + push * turn, length + 28.0) for turn in np.linspace(0.1, 0.5, 9)]
        for start, end in itertools.pairwise(arc):
            canvas.stroke(start, end, 2.5, STEEL)
        for far in (length + 19.0, length + 37.0):
            canvas.stroke(arc[-1], place(angle + push * 0.4, far), 2.5, STEEL)
    return canvas.pixels


def pendulum_text(angle: float, speed: float) -> str:
    """The angle from upright, and the speed."""
    away = math.degrees(angle - math.pi)
    return f"{abs(away):.1f}° from upright, on the {'left' if away > 0 else 'right'}, speed {speed:+.3f}\n"


def puck_picture(side: float, radius: float, puck: Point, goal: Point) -> NDArray[np.uint8]:
    """The arena from above, the goal and the puck."""
    scale = 60.0
    size = round(side * scale)
    canvas = Canvas(size + 2 * EDGE, size + 2 * EDGE, INK)
    canvas.box(EDGE, EDGE, EDGE + size, EDGE + size, PAPER)
    (x, y), (goal_x, goal_y) = ((EDGE + a * scale, EDGE + b * scale) for a, b in (puck, goal))
    canvas.disc((x, y), radius * scale, STEEL)
    canvas.stroke((x, y), (goal_x, goal_y), 1.0, TRAIL)
    canvas.disc((goal_x, goal_y), 12.0, GOLD)
    return canvas.pixels


def taxi_picture(
    taxi: Cell, passenger: int | None, home: int, size: int, ranks: Sequence[Cell], walls: Collection[Cell]
) -> NDArray[np.uint8]:
    """The map with its ranks; the passenger as a red disc at one, or in the taxi; a golden diamond where to."""
    cell = 64
    canvas = _empty_board(size, size, cell)

    def middle(place: Cell) -> Point:
        return EDGE + (place[1] + 0.5) * cell, EDGE + (place[0] + 0.5) * cell

    for (row, column), colour in zip(ranks, RANK_COLOURS, strict=True):
        left, top = EDGE + column * cell, EDGE + row * cell
        canvas.box(left + 1, top + 1, left + cell, top + cell, colour)
    for row, column in walls:
        right, top = EDGE + (column + 1) * cell, EDGE + row * cell
        canvas.stroke((right, top), (right, top + cell), 3.0, INK)
    across, down = middle(taxi)
    canvas.box(across - 24, down - 14, across + 24, down + 14, INK)
    canvas.box(across - 12, down - 9, across + 12, down + 9, RICH)
    across, down = middle(ranks[home])
    canvas.diamond((across, down - 21), 10.0, GOLD)
    across, down = middle(taxi if passenger is None else ranks[passenger])
    canvas.disc((across, down if passenger is None else down + 22), 8.0, AGENT)
    return canvas.pixels


def taxi_text(title: str, taxi: Cell, size: int, ranks: Sequence[Cell], walls: Collection[Cell]) -> str:
    """The ride, and the map: T the taxi, the ranks by their letters, | walls."""
    marks = dict(zip(ranks, "RGYB", strict=True)) | {taxi: "T"}
    lines = [
        "".join(marks.get((row, column), ".") + ("|" if (row, column) in walls else " ") for column in range(size))
        for row in range(size)
    ]
    return "\n".join([title, *(line.rstrip() for line in lines)]) + "\n"
