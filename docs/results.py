"""Write docs/results.md: the text of docs/results.template.md, with tables from a store of the paper preset.

make results
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from aapi.experiments import Store, read_study, reproduction, summarise
from aapi.experiments.paper_studies import FIGURES
from aapi.report.markdown import comparison_lines, result_lines, scale_lines, sensitivity_lines, settings_lines

HERE = Path(__file__).parent


def main(folder: str, why: str) -> None:
    """Fill the template in. why: the folder of studies/why-deep-sea.toml."""
    studies = reproduction("all", "paper")
    with Store(folder, write=False) as store:
        summary = summarise(store, [cell.plan for study in studies for cell in study.cells()])
        sessions, seconds = store.sessions(), sum(row["seconds"] for row in store.rows())
        late = {name: list(_late(store, [r for r in summary.rows if r.plan.study == name])) for name in FIGURES}
    if missing := sum(row.missing for row in summary.rows):
        sys.exit(f"{folder} has not all runs of the paper preset: {missing} are missing")

    def rows(study: str) -> list:
        return [row for row in summary.rows if row.plan.study == study]

    inserts = {}
    for name in FIGURES:
        inserts[f"table {name}"] = result_lines(rows(name))
        inserts[f"comparison {name}"] = comparison_lines([c for c in summary.comparisons if c.study == name])
        inserts[f"settings {name}"] = settings_lines(rows(name))
        inserts[f"sensitivity {name}"] = sensitivity_lines(_of(summary.sensitivity, rows(name)))
        inserts[f"verdict {name}"] = _verdict([c for c in summary.comparisons if c.study == name])
        inserts[f"late {name}"] = late[name]
        inserts[f"locked {name}"] = _locked(rows(name))
    inserts["one"] = scale_lines(rows("one η for all"))
    inserts["scales"] = scale_lines(rows("one η, rewards scaled"))
    with Store(why, write=False) as store:
        reasons = summarise(
            store, [cell.plan for cell in read_study(HERE.parent / "studies" / "why-deep-sea.toml").cells()]
        )
    inserts["table why"] = result_lines(reasons.rows)
    inserts["locked why"] = _locked(reasons.rows)
    inserts["comparison why"] = comparison_lines(reasons.comparisons)
    inserts["time"] = _time(summary, sessions, seconds)

    def insert(match: re.Match[str]) -> str:
        return "\n".join(inserts[match[1]])

    text = (HERE / "results.template.md").read_text()
    (HERE / "results.md").write_text(re.sub(r"<!-- (.+?) -->", insert, text))


def _of(sensitivity: list, rows: list) -> list:
    labels = {row.plan.problem for row in rows}
    return [entry for entry in sensitivity if entry["problem"] in labels and entry["reward_scale"] == 1.0]


def _verdict(comparisons):
    """AAPI against POLITEX, in one sentence for each problem."""
    for c in comparisons:
        if c.theirs != "politex":
            continue
        low, high = c.difference.lower, c.difference.upper
        often = c.improvement
        if low > 0 or high < 0:
            told = f"{'AAPI' if low > 0 else 'POLITEX'} earns more on average"
        elif often.lower > 0.5 or often.upper < 0.5:
            told = f"no difference on average, but {'AAPI' if often.lower > 0.5 else 'POLITEX'} is ahead in most runs"
        else:
            told = "no difference that 50 runs can show"
        yield (
            f"- {c.problem}: {told}: AAPI − POLITEX = {c.difference.estimate:.3g} [{low:.3g}, {high:.3g}], "
            f"P(better) = {often.estimate:.2f} [{often.lower:.2f}, {often.upper:.2f}]."
        )


def _locked(rows):
    """How many runs earned less than four fifths of the optimum, and the median run."""
    yield "| problem | algorithm | runs below 80 % of λ* | of them below 20 % | median run |"
    yield "|---|---|---|---|---|"
    for row in rows:
        few, none = (sum(row.averages < share * row.plan.optimal_gain) for share in (0.8, 0.2))
        told = f"{few} of {len(row.averages)} | {none} | {np.median(row.averages):.3f}"
        yield f"| {row.plan.problem} | {row.plan.algorithm} | {told} |"


def _late(store, rows):
    """How runs begin and how they end."""
    yield "| problem | algorithm | first tenth | second half | runs below 97 % of λ* in the second half |"
    yield "|---|---|---|---|---|"
    for row in rows:
        curves = [store.curve(run.key) for run in row.runs]
        grid, steps = curves[0][0], row.plan.steps
        tenth, half = np.searchsorted(grid, [steps // 10, steps // 2])
        sums = np.array([cumulated for _, cumulated in curves])
        first, last = sums[:, tenth] / grid[tenth], (sums[:, -1] - sums[:, half]) / (steps - grid[half])
        few = (last < 0.97 * row.plan.optimal_gain).sum()
        told = f"{first.mean():.4f} | {last.mean():.4f} | {few} of {len(last)}"
        yield f"| {row.plan.problem} | {row.plan.algorithm} | {told} |"


def _time(summary, sessions, whole):
    """Where the time went, in processor seconds, and how long it took."""
    spent: dict[tuple[str, str], float] = {}
    for row in summary.rows:
        if row.plan.shared_tuning is None:
            figure = row.plan.study
            spent[figure, row.plan.algorithm] = spent.get((figure, row.plan.algorithm), 0.0) + row.seconds
    yield "| figure | algorithm | processor seconds, tuning included |"
    yield "|---|---|---|"
    for (figure, algorithm), seconds in spent.items():
        yield f"| {figure} | {algorithm} | {seconds:.0f} |"
    yield f"| one η, and scaled rewards | all | {whole - sum(spent.values()):.0f} |"
    done = [session for session in sessions if session["seconds"] is not None]
    machine = sessions[-1]["machine"]
    yield ""
    minutes = sum(session["seconds"] for session in done) / 60
    calls = f"{len(done)} call{'s' if len(done) > 1 else ''}"
    yield (
        f"All of it, one η and scaled rewards included: {minutes:.1f} minutes on {machine['processors']} "
        f"processors, in {calls} (Python {machine['python']}, NumPy {machine['numpy']}, aapi {machine['aapi']})."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
