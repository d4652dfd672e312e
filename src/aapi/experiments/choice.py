"""Tuning: the choice among candidates, made on tuning runs alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Store
    from aapi.experiments.study import Cell

__all__ = ["check_together", "choose", "groups", "score", "tuning_scores"]


def score(average_reward: float, references: tuple[float | None, float | None]) -> float | None:
    """Between acting at random (0) and the optimum (1); None where these are not known, or the same."""
    random, best = references
    if random is None or best is None or best - random <= 1e-9 * max(abs(random), abs(best)):
        return None
    return (average_reward - random) / (best - random)


def groups(cells: Sequence[Cell]) -> list[list[int]]:
    """The cells that choose together, by their places; most choose alone."""
    found: dict[object, list[int]] = {}
    for i, cell in enumerate(cells):
        found.setdefault(cell.together or i, []).append(i)
    return list(found.values())


def check_together(cells: Sequence[Cell]) -> None:
    """Cells that choose together need the same choices, and a scale on which to compare problems."""
    for members in groups(cells):
        shared = [cells[i] for i in members]
        if any(cell.choices != shared[0].choices for cell in shared):
            raise InvalidInput(f"{shared[0].together}: problems with other grids cannot be tuned together")
        for cell in shared if len(shared) > 1 else []:
            if score(0.0, cell.problem.references()) is None:
                raise InvalidInput(
                    "together needs problems whose optimum is known, and above acting at random: "
                    f"{cell.problem.label} is none"
                )


def tuning_scores(store: Store, cell: Cell) -> NDArray[np.float64]:
    """The mean average reward of each candidate over its tuning runs; −∞ where one failed."""
    scores = []
    for candidate in cell.candidates:
        runs = store.runs(candidate.key, cell.tuning_seed, range(cell.tuning_runs))
        rewards = [-math.inf if run.average_reward is None else run.average_reward for run in runs]
        scores.append(float(np.mean(rewards)) if len(rewards) == cell.tuning_runs else -math.inf)
    return np.array(scores)


def choose(store: Store, cells: Sequence[Cell]) -> int:
    """The best candidate of cells that choose together, on a scale from acting at random (0) to the optimum (1)."""
    if len(cells[0].candidates) == 1:
        return 0
    total = np.zeros(len(cells[0].candidates))
    for cell in cells:
        scores = tuning_scores(store, cell)
        if len(cells) > 1:
            scores = np.array([score(value, cell.problem.references()) for value in scores])
        total += scores
    return int(np.argmax(total))
