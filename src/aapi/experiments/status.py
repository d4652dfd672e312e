"""The status of a session: how many of its runs are stored, and about how long the rest will take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aapi.experiments.choice import choices
from aapi.experiments.worker import run_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.experiments.plan import Plan
    from aapi.experiments.store import Store

ENOUGH_SHARE = 0.05  # of the work to be done, before the time left can be estimated
ENOUGH_SECONDS = 2.0  # of running, likewise


@dataclass(frozen=True)
class Status:
    """state: running, done or stopped. stored, needed: runs. share: of the session's work that is done, in [0, 1].

    seconds_left is an estimate; None where there is none yet.
    """

    state: str
    stored: int
    needed: int
    share: float
    seconds_left: float | None


def work_left(store: Store, plans: Sequence[Plan]) -> tuple[float, int, int]:
    """About how many seconds of work are left, how many runs are stored, and how many are needed."""
    needed: dict[str, float] = {}
    unchosen_runs, unchosen_seconds = 0, 0.0  # of plans whose candidate is not chosen yet
    for plan, chosen in zip(plans, choices(store, plans), strict=True):
        for candidate in plan.candidates if plan.is_tuned else ():
            needed |= dict.fromkeys(run_keys(candidate, plan.tuning_seed, plan.tuning_runs), plan.seconds)
        if chosen is None:
            unchosen_runs += plan.runs
            unchosen_seconds += plan.runs * plan.seconds
        else:
            needed |= dict.fromkeys(run_keys(plan.candidates[chosen], plan.seed, plan.runs), plan.seconds)
    stored = store.known(needed)
    seconds = sum(each for key, each in needed.items() if key not in stored) + unchosen_seconds
    return seconds, len(stored), len(needed) + unchosen_runs


def session_status(store: Store) -> Status | None:
    """The status of the last session; None if there is none, or another version's."""
    sessions = store.sessions()
    if not sessions or sessions[-1]["plan"] is None:
        return None
    session, planned = sessions[-1], sessions[-1]["plan"]
    studies = {line["study"] for line in planned["lines"]}
    left, stored, needed = work_left(store, [plan for plan in store.plans() if plan.study in studies])
    whole = max(planned["left"], left)
    share = 1.0 - left / whole if whole else 1.0
    running = session["ended"] is None and store.is_being_written()
    state = "running" if running else "done" if stored == needed else "stopped"
    elapsed = time.time() - session["began"]
    can_estimate = running and elapsed > ENOUGH_SECONDS and share > ENOUGH_SHARE and left > 0.0
    return Status(state, stored, needed, share, elapsed * left / (whole - left) if can_estimate else None)
