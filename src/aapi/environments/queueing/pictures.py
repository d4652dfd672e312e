"""The queues of a network as text and as a picture: a line for each class, by station."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.environments import drawing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aapi.environments.queueing.network import Network

SHOWN = 30  # jobs of a class; of more, there is a mark
JOB, ROW, GAP, LEFT = 12, 20, 10, 44  # pixels
COLOURS = (drawing.STEEL, drawing.WOOD, drawing.RICH, drawing.SEA, drawing.GOLD)


def network_text(network: Network, jobs: Sequence[int]) -> str:
    """A line for each class that a station may serve: its name, its number of jobs, and a mark for each of these."""
    lines = []
    for s, job in _lines(network):
        more = "…" if jobs[job] > SHOWN else ""
        line = f"station {s + 1}, class {network.classes[job]}: {jobs[job]:3} {'o' * min(jobs[job], SHOWN)}{more}"
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def network_picture(network: Network, jobs: Sequence[int]) -> NDArray[np.uint8]:
    """Stations at the left, with a row of jobs for each class that they may serve."""
    rows = list(_lines(network))
    canvas = drawing.Canvas(LEFT + SHOWN * JOB + 28, len(rows) * ROW + (len(network.stations) + 1) * GAP)
    for place, (s, job) in enumerate(rows):
        top = place * ROW + (s + 1) * GAP
        colour = COLOURS[s % len(COLOURS)]
        canvas.box(8, top, 32, top + ROW, colour)
        canvas.box(LEFT, top + ROW - 2, LEFT + SHOWN * JOB, top + ROW - 1, drawing.LINE)
        for each in range(min(jobs[job], SHOWN)):
            x = LEFT + each * JOB
            canvas.box(x + 1, top + 3, x + JOB - 1, top + ROW - 4, colour)
        if jobs[job] > SHOWN:
            canvas.disc((LEFT + SHOWN * JOB + 12, top + ROW / 2), 4, drawing.AGENT)
    return canvas.pixels


def _lines(network: Network) -> Iterator[tuple[int, int]]:
    """The stations with each of their classes."""
    for s, station in enumerate(network.stations):
        for job, _ in station:
            yield s, job
