"""Pictures and text for `render`, drawn with NumPy alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Colour = tuple[int, int, int]
Point = tuple[float, float]

PAPER, INK, LINE = (250, 250, 248), (45, 52, 62), (205, 208, 212)
CELL, RICH, AGENT, TRAIL, GOLD = (236, 239, 243), (122, 184, 140), (208, 62, 54), (238, 178, 172), (238, 184, 40)
WOOD, STEEL, SEA = (190, 132, 72), (70, 96, 140), (104, 150, 196)
PRIORITIES = ((176, 196, 222), (120, 168, 206), (64, 124, 178), (24, 76, 128))  # paler customers pay less

LONGEST = 480  # pixels of the longer side of a board
WIDEST_CELL = 48
THINNEST_GRID = 10  # cells narrower than this many pixels are drawn without lines between them
TEXT_ROWS, TEXT_COLUMNS = 40, 60  # the part of a large board that text shows
DIGITS = {"1": "010110010010111", "2": "111001111100111", "4": "101101111001001", "8": "111101111101111"}


class Canvas:
    """A picture to draw on; y points down, and pixel (i, j) covers the unit square around the point (j, i)."""

    def __init__(self, width: int, height: int, colour: Colour = PAPER) -> None:
        self.pixels = np.empty((height, width, 3), dtype=np.uint8)
        self.pixels[:] = colour

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """Fill a rectangle."""
        rows, columns = (slice(max(0, round(a)), max(0, round(b))) for a, b in ((top, bottom), (left, right)))
        self.pixels[rows, columns] = colour

    def stroke(self, start: Point, end: Point, radius: float, colour: Colour) -> None:
        """A thick line with round ends: all points within `radius` of a segment, with soft edges."""
        rows, columns = (self._reach(start[axis], end[axis], radius, axis) for axis in (1, 0))
        y, x = np.mgrid[rows, columns]
        dx, dy = end[0] - start[0], end[1] - start[1]
        x, y = x - start[0], y - start[1]
        length = dx * dx + dy * dy
        along = np.clip((x * dx + y * dy) / length, 0.0, 1.0) if length else 0.0
        self._blend(rows, columns, radius - np.hypot(x - along * dx, y - along * dy), colour)

    def disc(self, centre: Point, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self.stroke(centre, centre, radius, colour)

    def diamond(self, centre: Point, radius: float, colour: Colour) -> None:
        """A filled square that stands on a corner."""
        rows, columns = (self._reach(centre[axis], centre[axis], radius, axis) for axis in (1, 0))
        y, x = np.mgrid[rows, columns]
        self._blend(rows, columns, radius - abs(x - centre[0]) - abs(y - centre[1]), colour)

    def _reach(self, a: float, b: float, radius: float, axis: int) -> slice:
        """The pixels on one axis that a shape between `a` and `b` can touch."""
        first, last = math.floor(min(a, b) - radius - 1.0), math.ceil(max(a, b) + radius + 1.0)
        return slice(max(0, first), max(0, min(self.pixels.shape[1 - axis], last + 1)))

    def _blend(self, rows: slice, columns: slice, inside: NDArray[np.float64], colour: Colour) -> None:
        """Colour the pixels that lie inside a shape; `inside` is how far, and the edge is soft."""
        share = np.clip(inside + 0.5, 0.0, 1.0)[:, :, None]
        patch = self.pixels[rows, columns]
        patch[:] = np.rint(patch + share * (np.array(colour) - patch)).astype(np.uint8)

    def digit(self, centre: Point, pixel: int, digit: str, colour: Colour) -> None:
        """One digit, three pixels wide and five high."""
        left, top = round(centre[0] - 1.5 * pixel), round(centre[1] - 2.5 * pixel)
        for i, mark in enumerate(DIGITS[digit]):
            row, column = divmod(i, 3)
            if mark == "1":
                x, y = left + column * pixel, top + row * pixel
                self.box(x, y, x + pixel, y + pixel, colour)


@dataclass(frozen=True, eq=False)
class Board:
    """Cells in rows and columns, one for each state.

    shade: a number in [0, 1] per cell, or NaN where there is no state; of shape (rows, columns).
    agent, previous, treasure: cells (row, column) to mark.
    tint: the colour of a cell with shade 1.
    """

    shade: NDArray[np.float64]
    agent: tuple[int, int]
    previous: tuple[int, int] | None = None
    treasure: tuple[int, int] | None = None
    tint: Colour = RICH


def board_picture(board: Board) -> NDArray[np.uint8]:
    """The board with marks on it; cells of large boards shrink and merge, so that the picture stays small."""
    rows, columns = board.shade.shape
    cell = min(LONGEST / max(rows, columns), WIDEST_CELL)
    height, width = max(math.ceil(rows * cell), 8), max(math.ceil(columns * cell), 8)
    canvas = Canvas(width + 17, height + 17)
    top = left = 8
    row = np.minimum((np.arange(height) * rows) // height, rows - 1)
    column = np.minimum((np.arange(width) * columns) // width, columns - 1)
    shades = np.array(CELL) + np.nan_to_num(board.shade)[:, :, None] * (np.array(board.tint) - np.array(CELL))
    shades = np.where(np.isnan(board.shade)[:, :, None], np.array(PAPER), np.rint(shades))
    canvas.pixels[top : top + height, left : left + width] = shades[row[:, None], column]
    lined = cell >= THINNEST_GRID
    for i in range(0, rows + 1, 1 if lined else rows):
        y = top + round(i * height / rows)
        canvas.box(left, y, left + width + 1, y + 1, LINE)
    for j in range(0, columns + 1, 1 if lined else columns):
        x = left + round(j * width / columns)
        canvas.box(x, top, x + 1, top + height + 1, LINE)

    def centre(place: tuple[int, int]) -> Point:
        return left + (place[1] + 0.5) * width / columns, top + (place[0] + 0.5) * height / rows

    if board.treasure:
        canvas.diamond(centre(board.treasure), max(0.3 * cell, 6.0), GOLD)
    if board.previous and board.previous != board.agent:
        canvas.disc(centre(board.previous), max(0.18 * cell, 3.0), TRAIL)
    canvas.disc(centre(board.agent), max(0.3 * cell, 5.0), AGENT)
    if board.treasure == board.agent:
        canvas.diamond(centre(board.agent), max(0.14 * cell, 3.0), GOLD)
    return canvas.pixels


def board_text(board: Board, title: str) -> str:
    """The board as characters: A the agent, o where it was; $ the treasure, or + where rewards are large."""
    rows, columns = (
        _window(count, place, most)
        for count, place, most in zip(board.shade.shape, board.agent, (TEXT_ROWS, TEXT_COLUMNS), strict=True)
    )
    shade = board.shade[rows, columns]
    marks = np.where(np.isnan(shade), " ", np.where((shade >= 0.5) & (board.treasure is None), "+", "."))
    for place, mark in ((board.treasure, "$"), (board.previous, "o"), (board.agent, "A")):
        if place and rows.start <= place[0] < rows.stop and columns.start <= place[1] < columns.stop:
            marks[place[0] - rows.start, place[1] - columns.start] = mark
    return "\n".join([title, *(" ".join(row).rstrip() for row in marks)]) + "\n"


def _window(count: int, place: int, most: int) -> slice:
    """At most `most` of `count` places, around one of them."""
    first = min(max(0, place - most // 2), max(0, count - most))
    return slice(first, min(count, first + most))


def queue_picture(servers: int, free: int, priority: int, payment: str) -> NDArray[np.uint8]:
    """The customer at the head of the queue, and the servers: filled ones are busy."""
    columns = min(servers, 10) if servers <= 50 else math.ceil(math.sqrt(2 * servers))
    rows = math.ceil(servers / columns)
    cell = min(WIDEST_CELL, LONGEST / columns)
    canvas = Canvas(math.ceil(columns * cell) + 112, max(math.ceil(rows * cell), 80) + 16)
    height, _, _ = canvas.pixels.shape
    top = (height - rows * cell) / 2
    for server in range(servers):
        row, column = divmod(server, columns)
        x, y = 104 + column * cell, top + row * cell
        gap = 0.08 * cell
        canvas.box(x + gap, y + gap, x + cell - gap, y + cell - gap, INK if server >= free else RICH)
        if server < free and cell >= THINNEST_GRID:
            canvas.box(x + 2 * gap, y + 2 * gap, x + cell - 2 * gap, y + cell - 2 * gap, CELL)
    canvas.disc((48, height / 2), 30, PRIORITIES[priority])
    canvas.digit((48, height / 2), 6, payment, PAPER if priority > 1 else INK)
    return canvas.pixels


def queue_text(servers: int, free: int, payment: str) -> str:
    """The same as two lines; a long row of servers is given as numbers."""
    row = "·" * free + "#" * (servers - free) if servers <= TEXT_COLUMNS else f"{servers - free} of {servers} busy"
    return f"{free} of {servers} servers free, the customer pays {payment}\n({payment}) → {row}\n"


def cart_picture(position: float, angle: float, limit: float) -> NDArray[np.uint8]:
    """The track between its ends, the cart, and the pole (of length 1, as the track is 2 · limit long)."""
    width, height = 600, 240
    scale = (width - 80) / (2 * limit)
    ground, x = 200.0, width / 2 + scale * position
    canvas = Canvas(width, height)
    canvas.box(0, ground, width, ground + 3, LINE)
    canvas.box(40, ground, width - 40, ground + 3, INK)
    for end in (40.0, width - 40.0):
        canvas.stroke((end, ground - 12), (end, ground + 10), 2.5, INK)
    canvas.box(width / 2 - 1, ground + 3, width / 2 + 1, ground + 10, INK)
    axle = (x, ground - 34)
    for wheel in (x - 17, x + 17):
        canvas.disc((wheel, ground - 6), 6, INK)
    canvas.stroke((x - 22, ground - 20), (x + 22, ground - 20), 9, STEEL)
    canvas.stroke((x, ground - 24), axle, 5, STEEL)
    tip = (axle[0] + scale * math.sin(angle), axle[1] - scale * math.cos(angle))
    canvas.stroke(axle, tip, 4.5, WOOD)
    canvas.disc(axle, 3, PAPER)
    return canvas.pixels


def cart_text(state: tuple[float, float, float, float], limit: float) -> str:
    """The track with the cart on it, the way the pole leans, and the numbers."""
    position, speed, angle, turn = state
    places = 41
    place = round((position + limit) / (2 * limit) * (places - 1))
    lean = "|" if abs(angle) < math.radians(1.0) else "/" if angle > 0 else "\\"
    track = "".join("#" if i == place else "-" for i in range(places))
    numbers = f"x {position:+.3f}, speed {speed:+.3f}, angle {math.degrees(angle):+.2f}°, turn {turn:+.3f}"
    return f"{numbers}\n {' ' * place}{lean}\n[{track}]\n"
