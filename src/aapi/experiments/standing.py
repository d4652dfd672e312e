"""How far a session has come: what is stored of what it needs, and about how long the rest will take."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aapi.experiments.choice import choose, groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.plan import Plan
    from aapi.experiments.store import Store

__all__ = ["Standing", "standing", "work_left"]


@dataclass(frozen=True)
class Standing:
    """state: running, done or stopped. seconds_left is an estimate; None where nothing can be said yet."""

    state: str
    stored: int
    needed: int
    share: float
    seconds_left: float | None

    def facts(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def work_left(store: Store, plans: Sequence[Plan]) -> tuple[float, int, int]:
    """About how many seconds of work are left, how many runs are stored, and how many are needed."""
    needed: dict[str, float] = {}
    unknown = [0, 0.0]
    for members in groups(plans):
        group = [plans[i] for i in members]
        tuning = {
            f"{key}-{plan.tuning_seed}-{number}": plan.seconds
            for plan in group if plan.is_tuned for key in plan.candidates for number in range(plan.tuning_runs)
        }  # fmt: skip
        needed |= tuning
        if len(store.known(tuning)) < len(tuning):  # what will be chosen is not known
            unknown[0] += sum(plan.runs for plan in group)
            unknown[1] += sum(plan.runs * plan.seconds for plan in group)
            continue
        chosen = choose(store, group)
        needed |= {
            f"{plan.candidates[chosen]}-{plan.seed}-{number}": plan.seconds
            for plan in group for number in range(plan.runs)
        }  # fmt: skip
    stored = store.known(needed)
    seconds = sum(each for key, each in needed.items() if key not in stored) + unknown[1]
    return seconds, len(stored), len(needed) + int(unknown[0])


def standing(store: Store) -> Standing | None:
    """Where the last session stands."""
    sessions = store.sessions()
    if not sessions:
        return None
    session = sessions[-1]
    studies = {line["study"] for line in session["plan"]["lines"]}
    left, stored, needed = work_left(store, [plan for plan in store.plans() if plan.study in studies])
    whole = max(session["plan"]["left"], left)
    share = 1.0 - left / whole if whole else 1.0
    running = session["ended"] is None and store.is_being_written()
    state = "running" if running else "done" if stored == needed else "stopped"
    elapsed = time.time() - session["began"]
    seconds = elapsed * left / (whole - left) if running and whole > left and elapsed > 2.0 else None
    return Standing(state, stored, needed, share, seconds)
