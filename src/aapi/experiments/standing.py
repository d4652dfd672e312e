"""How far a session has come: what is stored of what it needs, and about how long the rest will take."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aapi.experiments.choice import choose, groups
from aapi.experiments.work import run_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.plan import Plan
    from aapi.experiments.store import Store

__all__ = ["Standing", "standing", "work_left"]

ENOUGH = 0.05  # of the work, to say how long the rest will take


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
        chosen = choose(store, group)
        for plan in group:
            for candidate in plan.candidates if plan.is_tuned else ():
                needed |= dict.fromkeys(_keys(candidate, plan.tuning_seed, plan.tuning_runs), plan.seconds)
            if chosen is None:  # so many, of what is not known yet
                unknown[0] += plan.runs
                unknown[1] += plan.runs * plan.seconds
            else:
                needed |= dict.fromkeys(_keys(plan.candidates[chosen], plan.seed, plan.runs), plan.seconds)
    stored = store.known(needed)
    seconds = sum(each for key, each in needed.items() if key not in stored) + unknown[1]
    return seconds, len(stored), len(needed) + int(unknown[0])


def standing(store: Store) -> Standing | None:
    """Where the last session stands."""
    sessions = store.sessions()
    if not sessions:
        return None
    session = sessions[-1]
    if not isinstance(session["plan"], dict):  # another version's
        return None
    studies = {line["study"] for line in session["plan"]["lines"]}
    left, stored, needed = work_left(store, [plan for plan in store.plans() if plan.study in studies])
    whole = max(session["plan"]["left"], left)
    share = 1.0 - left / whole if whole else 1.0
    running = session["ended"] is None and store.is_being_written()
    state = "running" if running else "done" if stored == needed else "stopped"
    elapsed = time.time() - session["began"]
    told = running and elapsed > 2.0 and share > ENOUGH and left > 0.0
    seconds = elapsed * left / (whole - left) if told else None
    return Standing(state, stored, needed, share, seconds)


def _keys(configuration: str, seed: int, count: int) -> list[str]:
    return [run_key(configuration, seed, number) for number in range(count)]
