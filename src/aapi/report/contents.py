"""Everything that the page shows, as one JSON object."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.experiments.plan import titled
from aapi.experiments.status import session_status
from aapi.report.curves import read_curve
from aapi.report.kept import decompositions, insides
from aapi.report.parts import exchanges, looks
from aapi.report.sentences import sentences
from aapi.report.tables import failures, told_choice, told_span, told_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Session, Store
    from aapi.experiments.summary import Row, Sensitivity, Summary
    from aapi.statistics import Interval

__all__ = ["DETAILS", "contents"]

# Points of a curve, and phases times states of an inside: less and less, for pages that would be too large.
DETAILS = ((120, 50_000), (100, 12_000), (80, 8_000), (60, 6_000), (50, 3_000), (40, 1_000), (25, 0), (0, 0))
LEVELS = 4095  # of the numbers of an inside
FEWEST_PHASES = 6
DIGITS = 6  # of curves; tables have all


def contents(store: Store, summary: Summary, detail: tuple[int, int] = DETAILS[0]) -> dict[str, Any]:
    """What is in a store, for the page."""
    points, cells = detail
    state = session_status(store)
    running = state is not None and state.state == "running"
    return {
        "sentences": sentences(summary) if summary.rows else [],
        "notices": [*failures(summary, missing=not running), *_unseen(store, summary.rows)],
        "detail": {"points": points, "cells": cells, "full": detail == DETAILS[0]},
        "standing": None if state is None else state.to_dict(),
        "styles": {label: style.facts() for label, style in looks(summary.rows).items()},
        "rows": [_row(row) | {"curve": _curve(store, row, points)} for row in summary.rows],
        "comparisons": [
            {
                "study": c.study, "problem": c.problem, "scale": c.reward_scale, "ours": c.ours, "theirs": c.theirs,
                "difference": _three(c.difference), "improvement": _three(c.improvement), "verdict": c.verdict,
            }
            for c in summary.comparisons
        ],
        "exchanges": list(_exchanges(summary.rows)),
        "sensitivity": list(_sensitivity(summary, summary.sensitivity)),
        "scaled": list(_sensitivity(summary, summary.scaled)),
        "theories": list(_theories(store, summary.rows)) if points else [],
        "insides": list(_seen(store, summary.rows, cells)) if cells else [],
        "sessions": [_session(session, running) for session in store.sessions()],
    }  # fmt: skip


def _row(row: Row) -> dict[str, Any]:
    plan, rewards = row.plan, row.rewards
    settings = {
        "steps": plan.steps,
        **plan.settings,
        **row.choice,
        **({"features": plan.features} if plan.features else {}),
    }
    numbers: dict[str, Any] = dict.fromkeys(("mean", "std", "lower", "upper", "iqm", "worst"))
    if rewards is not None:
        numbers |= {"mean": rewards.mean.estimate, "worst": rewards.worst}
    if rewards is not None and rewards.count > 1:  # one run has no spread
        numbers |= {
            "std": rewards.std, "lower": rewards.mean.lower, "upper": rewards.mean.upper,
            "iqm": rewards.interquartile_mean.estimate,
        }  # fmt: skip
    return {
        "study": plan.study, "problem": plan.problem, "scale": plan.reward_scale, "algorithm": plan.algorithm,
        "steps": plan.steps, "chosen": told_choice(row) if row.plan.is_tuned else "",
        "runs": 0 if rewards is None else rewards.count, "planned": plan.runs, "failed": len(row.failed),
        "missing": row.missing, **numbers, "fraction": row.fraction,
        "score": row.score, "regret": row.regret, "seconds": row.seconds, "optimal_gain": plan.optimal_gain,
        "settings": ", ".join(f"{name.replace('_', ' ')} {told_value(value)}" for name, value in settings.items()),
    }  # fmt: skip


def _three(interval: Interval) -> list[float]:
    return [interval.estimate, interval.lower, interval.upper]


def _curve(store: Store, row: Row, points: int) -> dict[str, Any] | None:
    curve = read_curve(store, row, points) if points else None
    if curve is None:
        return None
    return {
        "steps": curve.steps.tolist(), "mean": _short(curve.mean), "std": _short(curve.std),
        "quantiles": [_short(line) for line in curve.quantiles],
    }  # fmt: skip


def _short(values: NDArray[np.float64]) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values]


def _exchanges(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Cells are numbers of rows, or why there is none."""
    number = {row: i for i, row in enumerate(rows)}
    for exchange in exchanges(rows):
        columns, evaluators = exchange.columns, exchange.evaluators
        yield {
            "study": exchange.study, "evaluators": evaluators, "shown": sorted(exchange.shown),
            "columns": [
                {"group": exchange.group(c), "label": exchange.label(c), "name": exchange.name(c)} for c in columns
            ],
            "places": [
                {
                    "title": exchange.title(place),
                    "cells": [
                        [exchange.why_not(place, e, c) or number[exchange.cells[place, e, c]] for c in columns]
                        for e in evaluators
                    ],
                }
                for place in exchange.places
            ],
            "means": [[exchange.mean(e, c) for c in columns] for e in evaluators],
            "effects": exchange.effects(), "reasons": list(exchange.reasons()),
        }  # fmt: skip


def _sensitivity(summary: Summary, entries: Sequence[Sensitivity]) -> Iterator[dict[str, Any]]:
    rows = {(row.plan.study, row.plan.title, row.plan.algorithm): row for row in summary.rows}
    for entry in entries:
        row = rows[entry["study"], titled(entry["problem"], entry["reward_scale"]), entry["algorithm"]]
        candidate, scored = entry["candidate"], entry["score"] is not None
        random, best = row.plan.references
        unit = best - random if scored and best is not None and random is not None else 1.0
        (value,) = candidate.values() if len(candidate) == 1 else (None,)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        yield {
            "problem": entry["problem"], "scale": entry["reward_scale"], "algorithm": entry["algorithm"],
            "names": list(candidate), "x": value if number else ", ".join(map(told_value, candidate.values())),
            "y": entry["score"] if scored else entry["mean"], "scored": scored, "deviation": entry["std"] / unit,
            "comparable": scored or entry["mean"] is None, "runs": entry["runs"], "failed": entry["failed"],
            "chosen": row.plan.shared_tuning is None and row.choice == candidate,
        }  # fmt: skip


def _unseen(store: Store, rows: Sequence[Row]) -> Iterator[str]:
    for problem, algorithm, inside in insides(store, rows):
        if "error" in inside.about:
            yield f"{algorithm} on {problem} could not be looked into: {inside.about['error']}"
    for problem, algorithm, found in decompositions(store, rows):
        if "error" in found:
            yield f"the regret of {algorithm} on {problem} could not be taken apart: {found['error']}"


def _theories(store: Store, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for problem, algorithm, found in decompositions(store, rows):
        if "error" not in found:
            yield {"problem": problem, "algorithm": algorithm} | _rounded(found)


def _rounded(value: Any) -> Any:
    """JSON with numbers of no more digits than pictures need."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _seen(store: Store, rows: Sequence[Row], cells: int) -> Iterator[dict[str, Any]]:
    """cells: how many states, times phases, to show of each."""
    for problem, algorithm, inside in insides(store, rows):
        if "visits" in inside.tables:
            count, states = inside.tables["visits"].shape
            kept = np.unique(np.linspace(0, count - 1, max(FEWEST_PHASES, cells // states)).round().astype(int))
            tables = {name: _packed(table[kept]) for name, table in inside.tables.items()}
            yield {
                "problem": problem, "algorithm": algorithm, "about": inside.about, "tables": tables,
                "phases": inside.phases[kept].tolist(), "steps": inside.steps[kept].tolist(),
            }  # fmt: skip


def _packed(table: NDArray[np.floating[Any]]) -> dict[str, Any]:
    """A table as whole numbers of 12 bits between its lowest and its highest number: what never falls, stays so.

    Counts below 4096 are themselves. The high bytes come first, then the low halves, two in a byte: so it compresses.
    """
    numbers = np.nan_to_num(table.astype(np.float64)).ravel()
    low, high = float(numbers.min()), float(numbers.max())
    if low >= 0.0 and high <= LEVELS and (numbers == numbers.round()).all():
        low, high = 0.0, float(LEVELS)
    scaled = (LEVELS * (numbers - low) / ((high - low) or 1.0)).round().astype(np.uint16)
    even = np.append(scaled, [0] * (scaled.size % 2)).astype(np.uint16)
    planes = np.concatenate([even >> 4, even[0::2] & 15 | (even[1::2] & 15) << 4]).astype(np.uint8)
    packed = base64.b64encode(planes.tobytes()).decode()
    return {"low": low, "high": high, "count": scaled.size, "packed": packed}


def _session(session: Session, running: bool) -> dict[str, Any]:
    machine, lines = session["machine"], session["plan"]["lines"] if isinstance(session["plan"], dict) else []
    facts = {
        "studies": ", ".join(dict.fromkeys(line["study"] for line in lines)),
        "runs of each": told_span(line["runs"] for line in lines) if lines else "",
        "seeds": ", ".join(
            dict.fromkeys(
                f"{line['seed']}" + (f" (tuning {line['tuning_seed']})" if len(line["candidates"]) > 1 else "")
                for line in lines
            )
        ),
        "machine": f"{machine['system']}, {machine['processors']} processors",
        "versions": ", ".join(
            f"{name} {machine[key]}"
            for name, key in (("aapi", "aapi"), ("its sources", "sources"), ("Python", "python"), ("NumPy", "numpy"))
        ),
    }
    return {
        "command": session["command"], "began": session["began"], "seconds": session["seconds"],
        "running": running and session["ended"] is None,
        "facts": {name: value for name, value in facts.items() if value},
    }  # fmt: skip
