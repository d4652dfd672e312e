"""One colour for an algorithm, everywhere: Okabe and Ito's palette, which colour-blind people can tell apart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Style:
    """How a curve is drawn. dark: its colour on a dark page; dash: solid, dash, dot or dashdot."""

    colour: str
    dark: str
    dash: str = "solid"


BLUE, VERMILION, GREEN = ("#0072b2", "#4ea8de"), ("#d55e00", "#f4803b"), ("#009e73", "#2bc79a")
PURPLE, ORANGE, SKY = ("#cc79a7", "#e29cc4"), ("#e69f00", "#f2b632"), ("#56b4e9", "#8fd0f5")
BROWN, GREY = ("#8c564b", "#c08a7e"), ("#777777", "#9a9a9a")
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BROWN)
KNOWN = {
    "aapi": BLUE, "aapi-paper": SKY, "politex": VERMILION, "rlsvi": GREEN, "ftrl": PURPLE, "greedy": ORANGE,
    "oomd": BROWN, "uniform": GREY,
}  # fmt: skip
DASHES = ("solid", "dash", "dot", "dashdot")


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """A style for each label. Algorithms of ours keep their colours; other labels take what is left, in order."""
    names = list(dict.fromkeys(labels))
    taken = {KNOWN[label] for label in names if label in KNOWN}
    free = [pair for pair in PALETTE if pair not in taken]
    rest = itertools.cycle(Style(*pair, dash) for dash in DASHES for pair in free or [GREY])
    return {label: Style(*KNOWN[label]) if label in KNOWN else next(rest) for label in names}
