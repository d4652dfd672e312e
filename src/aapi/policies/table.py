"""What a policy does, observation by observation."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.files import atomic_write

if TYPE_CHECKING:
    import os

    from aapi.array_types import Array, Integers
    from aapi.json_types import JsonObject
    from aapi.policies.names import Names

SHOWN = 20  # rows of a repr
MOST_COLUMNS, MOST_NUMBERS = 8, 30  # of observations: with more columns, they are one; the first numbers are shown
COUNTED, UNSEEN = "visits", "never there"
ENOUGH = 100  # times that an action was tried, from which on its lead is believed


@dataclass(frozen=True, eq=False, repr=False)
class PolicyTable:
    """What a policy does at some observations, those where it was most often first.

    observations: (rows, numbers of an observation). probabilities: π(a|x), (rows, actions).
    visits: how often each action was taken there, as far as that is remembered; or, of policies of models, the share of
        time in the long run; (rows, actions). None if nothing is known of it.
    names: of the numbers, and of the actions. labels: of whole observations, if these have names.
    title: what it is a table of. counted: what visits are. unseen: what it means that there are none.
    """

    observations: Array
    probabilities: Array
    visits: Array | None
    names: Names
    labels: tuple[str, ...] | None = None
    title: str = "policy"
    counted: str = COUNTED
    unseen: str = UNSEEN

    def __len__(self) -> int:
        return len(self.observations)

    @cached_property
    def actions(self) -> Integers:
        """The most likely action, 0 … actions − 1, of each row; the first if there are several."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @cached_property
    def probability(self) -> Array:
        """That of the most likely action, of each row."""
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def lead(self) -> Array:
        """By how much it is more likely than the next one: 1 is sure, 0 a tie."""
        if self.probabilities.shape[1] == 1:
            return self.probability
        second, first = np.sort(self.probabilities, axis=1)[:, -2:].T
        return np.asarray(first - second)

    @cached_property
    def certainty(self) -> Array:
        """How much a row is to be relied on, 0 to 1: its lead, and less where the action was tried seldom.

        Where few steps are remembered in all, as of vectors, tries say nothing.
        """
        if self.tried is None or self.been is None or self.counted != COUNTED or self.been.sum() < ENOUGH * len(self):
            return self.lead
        return np.asarray(self.lead * np.minimum(1.0, self.tried / ENOUGH))

    @cached_property
    def been(self) -> Array | None:
        """How often the observation was seen, or the share of time spent there, of each row."""
        return None if self.visits is None else np.asarray(self.visits.sum(axis=1))

    @cached_property
    def tried(self) -> Array | None:
        """How often the most likely action was taken there, of each row."""
        return None if self.visits is None else self.visits[np.arange(len(self)), self.actions]

    def __repr__(self) -> str:
        return self.text(SHOWN)

    def text(self, rows: int | None = None) -> str:
        """The first rows, or all, as lines of text."""
        header, cells = self._cells(rows)
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        left = [name in ("action", "state") for name in header]
        lines = [
            "  ".join(
                cell.ljust(width) if plain else cell.rjust(width)
                for cell, width, plain in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in [header, *cells]
        ]
        return "\n".join([*lines, *self._more(len(cells))])

    def _repr_html_(self) -> str:
        header, cells = self._cells(SHOWN)
        rows = [
            f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in row)}</tr>"
            for tag, row in [("th", header), *(("td", row) for row in cells)]
        ]
        more = "".join(f"<p>{html.escape(line)}</p>" for line in self._more(len(cells)))
        return f"<table>{''.join(rows)}</table>{more}"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all rows, with the probabilities of all actions, to a file."""
        header = ["state", *self.names.observations] if self.labels else [*self.names.observations]
        header += ["action", "probability", "lead"]
        header += [] if self.visits is None else [self.counted, "tried"]
        header += [f"p({name})" for name in self.names.actions]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        been, tried = self.been, self.tried
        for i, action in enumerate(self.actions):
            start = [self.labels[i]] if self.labels else []
            how = [] if been is None or tried is None else [_plain(been[i]), _plain(tried[i])]
            row = [self.names.actions[action], float(self.probability[i]), float(self.lead[i]), *how]
            where = [_plain(number) for number in self.observations[i]]
            writer.writerow([*start, *where, *row, *self.probabilities[i].tolist()])
        with atomic_write(path) as file:
            file.write(text.getvalue().encode())

    def picture(self, path: str | os.PathLike[str] | None = None) -> object:
        """Draw it, by Matplotlib: bars for one coordinate, maps of the actions for two, slices for more.

        path: of a .png, .pdf or .svg file. Returns the figure.
        """
        from aapi.policies.pictures import draw

        return draw(self, path)

    def to_dict(self, rows: int | None = None) -> JsonObject:
        """The first rows, or all, as JSON."""
        count = len(self) if rows is None else min(rows, len(self))
        been = self.been
        found = [
            {
                "observation": self.observations[i].tolist(),
                "action": self.names.actions[self.actions[i]],
                "probabilities": self.probabilities[i].tolist(),
                "visits": None if been is None or self.visits is None else self.visits[i].tolist(),
            }
            for i in range(count)
        ]
        return {"names": list(self.names.observations), "actions": list(self.names.actions), "rows": found}

    def _cells(self, rows: int | None) -> tuple[list[str], list[list[str]]]:
        """The header, and the first rows, as texts."""
        if rows is not None:
            at_least(1, rows=rows)
        count = len(self) if rows is None else min(rows, len(self))
        been, tried = self.been, self.tried
        header = ["state"] if self.labels else [*map(_printable, self.names.observations)]
        many = len(header) > MOST_COLUMNS
        header = ["observation"] if many else header
        header += ["action", "probability", "lead", *([] if been is None else [self.counted, "tried"])]
        if been is not None and self.counted != COUNTED:
            header.pop()  # of models, the share of the action says nothing more
        cells = []
        for i in range(count):
            row = [self.labels[i]] if self.labels else [f"{number:.4g}" for number in self.observations[i]]
            row = [" ".join(row[:MOST_NUMBERS]) + " …" * (len(row) > MOST_NUMBERS)] if many else row
            row += [self.names.actions[self.actions[i]], f"{self.probability[i]:.3f}", f"{self.lead[i]:.3f}"]
            if been is not None and tried is not None:
                row += [f"{been[i]:.0f}", f"{tried[i]:.0f}"] if self.counted == COUNTED else [f"{been[i]:.4f}"]
            cells.append([_printable(cell) for cell in row])
        return header, cells

    def _more(self, shown: int) -> list[str]:
        more = [f"… and {len(self) - shown} more observations"] if shown < len(self) else []
        partly = self.visits is not None and self.unseen != UNSEEN
        return more + ([f"visits are of {self.unseen.removeprefix('not in ')}"] if partly else [])


def _printable(text: str) -> str:
    """A text, perhaps from a file, without what could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _plain(number: float) -> float | int:
    """Whole numbers without a point."""
    return int(number) if number == int(number) else float(number)
