"""What a store keeps beside runs, for the rows of a summary: insides of runs, and parts of regret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.experiments.decomposition import stored_decomposition
from aapi.experiments.trace import LearnerTrace, median_run, stored_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aapi.experiments.store import Store
    from aapi.experiments.summary import Row

__all__ = ["decompositions", "insides"]


def _kept(rows: Sequence[Row], look: Callable[[Row], Any]) -> Iterator[tuple[str, str, Any]]:
    """Problem, algorithm, and what was kept of them, once for each. Problems of one name but other gains are others."""
    seen: set[Any] = set()
    models: dict[str, list[Any]] = {}
    for row in rows:
        plan = row.plan
        what = (plan.problem, plan.references, plan.algorithm)
        kept = None if what in seen else look(row)
        if kept is not None:
            seen.add(what)
            known = models.setdefault(plan.problem, [])
            if plan.references not in known:
                known.append(plan.references)
            problem = plan.problem if known[0] == plan.references else f"{plan.problem} ({plan.study})"
            yield problem, plan.algorithm, kept


def insides(store: Store, rows: Sequence[Row]) -> Iterator[tuple[str, str, LearnerTrace]]:
    """What the median run of each was like inside."""

    def look(row: Row) -> LearnerTrace | None:
        run = median_run(row.runs)
        return None if run is None else stored_trace(store, run.key)

    return _kept(rows, look)


def decompositions(store: Store, rows: Sequence[Row]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Where the regret of each came from."""

    def look(row: Row) -> dict[str, Any] | None:
        plan = row.plan
        return None if row.chosen is None else stored_decomposition(store, plan.candidates[row.chosen], plan.seed)

    return _kept(rows, look)
