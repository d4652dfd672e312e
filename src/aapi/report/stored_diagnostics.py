"""Stored diagnostics of the rows of a summary: learner traces, and regret decompositions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from aapi.experiments.diagnostics import stored_decomposition
from aapi.experiments.trace import LearnerTrace, median_run, stored_trace
from aapi.report.page_data import RegretParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aapi.experiments.store import Store
    from aapi.experiments.summary import Row

T = TypeVar("T")


@dataclass(frozen=True)
class Diagnostic(Generic[T]):
    """What is stored of an algorithm on a problem. error: why it could not be made; empty if it was."""

    problem: str
    algorithm: str
    value: T
    error: str


def learner_traces(store: Store, rows: Sequence[Row]) -> Iterator[Diagnostic[LearnerTrace]]:
    """The trace of the median run of each."""

    def read(row: Row) -> tuple[LearnerTrace, str] | None:
        run = median_run(row.runs)
        found = None if run is None else stored_trace(store, run.key)
        return None if found is None else (found, str(found.about.get("error", "")))

    return _each(rows, read)


def decompositions(store: Store, rows: Sequence[Row]) -> Iterator[Diagnostic[RegretParts]]:
    """Noise, estimation error and online learning in the regret of each, of some of its runs."""

    def read(row: Row) -> tuple[RegretParts, str] | None:
        plan = row.plan
        found = None if row.chosen is None else stored_decomposition(store, plan.candidates[row.chosen], plan.seed)
        if found is None:
            return None
        parts = {name: found[name] for name in RegretParts.__annotations__ if name in found}
        return cast("RegretParts", parts), str(found.get("error", ""))

    return _each(rows, read)


def _each(rows: Sequence[Row], read: Callable[[Row], tuple[T, str] | None]) -> Iterator[Diagnostic[T]]:
    """Each algorithm on each problem once. Problems of one name that differ in their gains have the study added."""
    seen: set[object] = set()
    models: dict[str, list[object]] = {}  # the gains of problems of one name
    for row in rows:
        plan = row.plan
        key = (plan.problem, plan.references, plan.algorithm)
        found = None if key in seen else read(row)
        if found is not None:
            seen.add(key)
            known = models.setdefault(plan.problem, [])
            if plan.references not in known:
                known.append(plan.references)
            problem = plan.problem if known[0] == plan.references else f"{plan.problem} ({plan.study})"
            yield Diagnostic(problem, plan.algorithm, *found)
