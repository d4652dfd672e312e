"""From a store to the data of the page."""

from __future__ import annotations

import base64
import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from aapi.experiments.plan import work_left
from aapi.report.ablation import Ablation, Column, ProblemKey, ablations, row_styles
from aapi.report.ablation_effects import ablation_effects
from aapi.report.formatting import axis_position, format_range, format_setting, format_settings
from aapi.report.sentences import sentences
from aapi.report.stored import decompositions, growths, learner_traces, read_curve
from aapi.report.tables import failures, format_choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.store import Session, Store
    from aapi.experiments.summary import Comparison, Row, Sensitivity, Summary
    from aapi.json_types import Json
    from aapi.report import page_data, theory_data
    from aapi.report.stored import Diagnostic

# Points of a curve, and phases × states of a run: less and less, for pages that would be too large.
DETAILS = ((120, 50_000), (100, 12_000), (80, 8_000), (60, 6_000), (50, 3_000), (40, 1_000), (25, 0), (0, 0))
LEVELS = 4095  # of the numbers of a packed table: 12 bits
FEWEST_PHASES = 6
DIGITS = 6  # of curves; tables have all
PART_DIGITS = 4  # of parts of regret
ENOUGH_SHARE = 0.05  # of the work to be done, before the time left can be estimated
ENOUGH_SECONDS = 2.0  # of running, likewise


def build_page_data(store: Store, summary: Summary, detail: tuple[int, int] = DETAILS[0]) -> page_data.PageData:
    """What is in a store, for the page. detail: points of a curve, and phases × states of a run."""
    points, cells = detail
    status, styles = session_status(store), row_styles(summary.rows)
    running = status is not None and status["state"] == "running"
    traces, parts = list(learner_traces(store, summary.rows)), list(decompositions(store, summary.rows))
    grown = list(growths(store, summary.rows))
    return {
        "sentences": sentences(summary) if summary.rows else [],
        "notices": [*failures(summary, missing=not running), *_failed_diagnostics(traces, parts, grown)],
        "detail": {"points": points, "cells": cells, "full": detail == DETAILS[0]},
        "status": status,
        "styles": {label: cast("page_data.StyleData", asdict(style)) for label, style in styles.items()},
        "rows": [_row(row, _curve(store, row, points)) for row in summary.rows],
        "comparisons": [_comparison(comparison) for comparison in summary.comparisons],
        "ablations": [_ablation(ablation, summary.rows) for ablation in ablations(summary.rows)],
        "sensitivity": list(_tuned_points(summary, summary.sensitivity)),
        "by_scale": list(_tuned_points(summary, summary.scaled)),
        "decompositions": [_decomposition(each) for each in parts if points and not each.error],
        "growth": [_growth(each) for each in grown if not each.error],
        "traces": [_trace(run, cells) for run in traces if cells and "visits" in run.trace.tables],
        "sessions": [_session(session, running) for session in store.sessions()],
    }


def session_status(store: Store) -> page_data.StatusData | None:
    """The status of the last session; None if there is none, or another version's."""
    sessions = store.sessions()
    if not sessions or not sessions[-1]["plans"]:
        return None
    session = sessions[-1]
    studies = {plan.study for plan in session["plans"]}
    left, stored, needed = work_left(store, [plan for plan in store.plans() if plan.study in studies])
    whole = max(session["left"], left)
    share = 1.0 - left / whole if whole else 1.0
    running = session["ended"] is None and store.is_being_written()
    state: Literal["running", "done", "stopped"] = "running" if running else "done" if stored == needed else "stopped"
    elapsed = time.time() - session["began"]
    can_estimate = running and elapsed > ENOUGH_SECONDS and share > ENOUGH_SHARE and left > 0.0
    return {
        "state": state, "stored": stored, "needed": needed, "share": share,
        "seconds_left": elapsed * left / (whole - left) if can_estimate else None,
    }  # fmt: skip


def _row(row: Row, curve: page_data.CurveData | None) -> page_data.RowData:
    plan, rewards = row.plan, row.rewards
    settings = {"steps": plan.steps, **plan.settings, **row.choice}
    settings |= {"features": plan.features} if plan.features else {}
    spread = rewards if rewards is not None and rewards.count > 1 else None  # one run has no spread
    return {
        "study": plan.study, "problem": plan.problem, "reward_scale": plan.reward_scale, "algorithm": plan.algorithm,
        "steps": plan.steps, "chosen": format_choice(row) if plan.is_tuned else "",
        "runs": 0 if rewards is None else rewards.count, "planned": plan.runs, "failed": len(row.failed),
        "missing": row.missing,
        "mean": None if rewards is None else rewards.mean.estimate,
        "std": None if spread is None else spread.std,
        "lower": None if spread is None else spread.mean.lower,
        "upper": None if spread is None else spread.mean.upper,
        "iqm": None if spread is None else spread.interquartile_mean.estimate,
        "worst": None if rewards is None else rewards.worst,
        "fraction": row.fraction, "score": row.score, "regret": row.regret, "seconds": row.seconds,
        "optimal_gain": plan.optimal_gain,
        "settings": format_settings(settings, format_setting),
        "curve": curve,
    }  # fmt: skip


def _comparison(found: Comparison) -> page_data.ComparisonData:
    shown = {name: value for name, value in asdict(found).items() if name != "runs"} | {"verdict": found.verdict}
    return cast("page_data.ComparisonData", shown)


def _curve(store: Store, row: Row, points: int) -> page_data.CurveData | None:
    curve = read_curve(store, row, points) if points else None
    if curve is None:
        return None
    return cast("page_data.CurveData", {k: _rounded(v.tolist(), DIGITS) for k, v in vars(curve).items()})


def _ablation(ablation: Ablation, rows: Sequence[Row]) -> page_data.AblationData:
    index = {row: i for i, row in enumerate(rows)}
    columns, evaluators = ablation.columns, ablation.evaluators

    def cell(problem: ProblemKey, evaluator: str, column: Column) -> int | str:
        why = ablation.why_empty(problem, evaluator, column)
        return why or index[ablation.cells[problem, evaluator, column]]

    return {
        "study": ablation.study, "evaluators": evaluators,
        "columns": [
            {"group": ablation.group(c), "label": ablation.label(c), "name": ablation.name(c)} for c in columns
        ],
        "problems": [
            {"title": ablation.title(problem), "cells": [[cell(problem, e, c) for c in columns] for e in evaluators]}
            for problem in ablation.problems
        ],
        "means": [[ablation.mean(e, c) for c in columns] for e in evaluators],
        "effects": ablation_effects(ablation), "empty_cells": list(ablation.empty_cells()),
        "shown": sorted(ablation.shown),
    }  # fmt: skip


def _tuned_points(summary: Summary, candidates: Sequence[Sensitivity]) -> Iterator[page_data.TunedPoint]:
    rows = {(*row.plan.place[:3], row.plan.algorithm): row for row in summary.rows}
    for value in candidates:
        row = rows[value["study"], value["problem"], value["reward_scale"], value["algorithm"]]
        random, best = row.plan.references
        scored = value["score"] is not None
        unit = best - random if scored and best is not None and random is not None else 1.0
        yield {
            "problem": value["problem"], "reward_scale": value["reward_scale"], "algorithm": value["algorithm"],
            "names": list(value["candidate"]), "x": axis_position(value),
            "y": value["score"] if scored else value["mean"], "scored": scored, "std": value["std"] / unit,
            "runs": value["runs"], "failed": value["failed"],
            "chosen": row.plan.shared_tuning is None and row.choice == value["candidate"],
        }  # fmt: skip


def _failed_diagnostics(
    traces: Sequence[Diagnostic], parts: Sequence[Diagnostic], grown: Sequence[Diagnostic]
) -> Iterator[str]:
    for run in traces:
        if run.error:
            yield f"{run.algorithm} on {run.problem} has no learner trace: {run.error}"
    for each in parts:
        if each.error:
            yield f"the regret of {each.algorithm} on {each.problem} could not be decomposed: {each.error}"
    for each in grown:
        if each.error:
            yield f"{each.algorithm} on {each.problem}: {each.error}"


def _decomposition(parts: Diagnostic) -> theory_data.RegretDecomposition:
    found = {"problem": parts.problem, "algorithm": parts.algorithm, **parts.regret}
    return cast("theory_data.RegretDecomposition", _rounded(cast("Json", found), PART_DIGITS))


def _growth(grown: Diagnostic) -> theory_data.RegretGrowth:
    return cast("theory_data.RegretGrowth", _rounded(cast("Json", grown.growth), DIGITS))


def _rounded(value: Json, digits: int) -> Json:
    """JSON with numbers of no more digits than pictures need, and None for those that are not finite."""
    if isinstance(value, dict):
        return {name: _rounded(each, digits) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each, digits) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def _trace(run: Diagnostic, cells: int) -> page_data.TraceData:
    """cells: how many states, times phases, to show."""
    trace, tables = run.trace, run.trace.tables
    count, states = tables["visits"].shape
    frames = np.unique(np.linspace(0, count - 1, max(FEWEST_PHASES, cells // states)).round().astype(int))
    return {
        "problem": run.problem, "algorithm": run.algorithm, "space": cast("page_data.StateSpace", trace.about),
        "phases": trace.phases[frames].tolist(), "steps": trace.steps[frames].tolist(),
        "tables": {name: _packed(table[frames].astype(np.float64)) for name, table in tables.items()},
    }  # fmt: skip


def _packed(table: NDArray[np.float64]) -> page_data.PackedTable:
    """A table as integers of 12 bits between its lowest and its highest number, which keeps their order.

    Counts below 4096 are themselves. The high bytes come first, then the low halves, two in a byte: so it compresses.
    """
    numbers = np.nan_to_num(table).ravel()
    low, high = float(numbers.min()), float(numbers.max())
    if low >= 0.0 and high <= LEVELS and (numbers == numbers.round()).all():
        low, high = 0.0, float(LEVELS)
    scaled = (LEVELS * (numbers - low) / ((high - low) or 1.0)).round().astype(np.uint16)
    even = np.append(scaled, [0] * (scaled.size % 2)).astype(np.uint16)
    planes = np.concatenate([even >> 4, even[0::2] & 15 | (even[1::2] & 15) << 4]).astype(np.uint8)
    return {"low": low, "high": high, "count": scaled.size, "packed": base64.b64encode(planes.tobytes()).decode()}


def _session(session: Session, running: bool) -> page_data.SessionData:
    machine, plans = session["machine"], session["plans"]
    seeds = [f"{plan.seed}" + (f" (tuning {plan.tuning_seed})" if plan.is_tuned else "") for plan in plans]
    versions = (("aapi", "aapi"), ("its sources", "sources"), ("Python", "python"), ("NumPy", "numpy"))
    details = {
        "studies": ", ".join(dict.fromkeys(plan.study for plan in plans)),
        "runs of each": format_range(plan.runs for plan in plans) if plans else "",
        "seeds": ", ".join(dict.fromkeys(seeds)),
        "machine": f"{machine['system']}, {machine['processors']} processors",
        "versions": ", ".join(f"{name} {machine[key]}" for name, key in versions),
    }
    return {
        "command": session["command"], "began": session["began"], "seconds": session["seconds"],
        "running": running and session["ended"] is None,
        "details": {name: text for name, text in details.items() if text},
    }  # fmt: skip
