"""The studies of docs/operations.md, as data: queues, stock and machines, and a continuing suite."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aapi.experiments.study import Study
from aapi.experiments.zoo_studies import ALGORITHMS, PSRL

if TYPE_CHECKING:
    from aapi.experiments.paper_studies import Table

# Caps at which the optimum is within 1e-3 of that with the default caps.
LIGHT: list[Table] = [
    {"name": "criss-cross", "regime": "IL", "cap": 10},
    {"name": "criss-cross", "regime": "BL", "cap": 12},
]
MEDIUM: list[Table] = [
    {"name": "criss-cross", "regime": "IM", "cap": 18},
    {"name": "criss-cross", "regime": "BM", "cap": 20},
]
SMALL: list[Table] = [  # where PSRL, which is slow where there are many states, takes a second or two
    {"name": "routing"},
    {"name": "admission"},
    {"name": "access-control"},
    {"name": "inventory"},
    {"name": "maintenance"},
    {"name": "maintenance", "levels": 6, "machines": 2},
]
QUEUES = Study(
    name="operations, queues", steps=200_000, runs=20, tuning_runs=2, diagnostics=False,
    algorithms=[*ALGORITHMS, {"name": "differential-q"}],
    problems=[*LIGHT, {"name": "tandem-queue"}, {"name": "n-model"}, *SMALL[:3]],
)  # fmt: skip
STOCK = replace(
    QUEUES, name="operations, stock and machines",
    problems=[
        SMALL[3], {"name": "inventory", "capacity": 12, "demand": 3.0, "lead_time": 1}, *SMALL[4:],
    ],
)  # fmt: skip
SUITE = replace(
    QUEUES, name="operations, suite",
    problems=[{"name": "catch", "rows": 3}, {"name": "windy-catch", "rows": 3, "columns": 3}],
)  # fmt: skip
SMALL_PSRL = replace(QUEUES, name="operations, psrl", problems=SMALL, algorithms=PSRL)
LARGER = replace(
    QUEUES, name="operations, larger",
    problems=[*MEDIUM, {"name": "car-rental", "cars": 10}, {"name": "continuing-taxi"}],
)  # fmt: skip
OPERATIONS = [QUEUES, STOCK, SUITE, SMALL_PSRL, LARGER]
PAPER_ONLY = (LARGER.name,)  # too slow for the quick preset
