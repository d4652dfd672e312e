"""Write docs/untuned.md: the text of docs/untuned.template.md, with tables from stores and a few runs done here.

make untuned
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np

import aapi
from aapi.environments import access_control, deep_sea, ergodic, river_swim
from aapi.evaluation import SelfConsistent
from aapi.experiments import Store, summarise
from aapi.improvement import ExponentialAverage, Predicted, PreviousEstimate, Zero
from aapi.report.ablation import ablations
from aapi.report.ablation_effects import ablation_effects
from aapi.report.markdown import comparison_lines, result_lines, scale_lines, share_lines
from aapi.schedules import Growing

HERE = Path(__file__).parent
PROBLEMS = {
    "ergodic 20,5": ergodic(20, 5),
    "river-swim 12": river_swim(12),
    "access-control": access_control(),
    "deep-sea 10": deep_sea(10),
}
GUESSES = {"zero": Zero(), "previous": PreviousEstimate(), "average": ExponentialAverage(), "predicted": Predicted()}


def main(untuned: str, exploration: str, flat: str, ablation: str) -> None:
    """Fill the template in, and copy the figure of the ablation, which `aapi figures` has drawn."""
    summary, rewards = _summary(untuned), _summary(exploration).rows
    rows = [row for row in summary.rows if row.plan.study == "untuned"]
    inserts = {
        "results": result_lines(rows),
        "targets": _fractions([row for row in rows if row.plan.algorithm == "aapi"]),
        "comparisons": comparison_lines([c for c in summary.comparisons if c.study == "untuned"]),
        "verdicts": _verdicts([c for c in summary.comparisons if c.study == "untuned"]),
        "scales": scale_lines([row for row in summary.rows if row.plan.study == "untuned, rewards scaled"]),
        "exploration": share_lines(rewards),
        "flat": share_lines(_summary(flat).rows),
        "surprise": _surprises(),
        "effects": [f"- {line}" for line in ablation_effects(ablations(_summary(ablation).rows)[0])],
    }

    figure = Path(ablation) / "figures" / "ablation-scores-two-column.png"
    shutil.copyfile(figure, HERE / "pictures" / "ablation.png")

    def insert(match: re.Match[str]) -> str:
        return "\n".join(inserts[match[1]])

    text = (HERE / "untuned.template.md").read_text()
    (HERE / "untuned.md").write_text(re.sub(r"<!-- (.+?) -->", insert, text))


def _summary(folder: str):
    with Store(folder, write=False) as store:
        summary = summarise(store, store.plans())
    if missing := sum(row.missing for row in summary.rows):
        sys.exit(f"{folder} has not all runs: {missing} are missing")
    return summary


def _fractions(rows):
    """Shares of λ*, with the worst run."""
    yield "| problem | T | mean, of λ* | worst run, of λ* | average reward | worst run |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        best, found = row.plan.optimal_gain, row.averages
        told = f"{found.mean() / best:.4f} | {found.min() / best:.4f} | {found.mean():.4f} | {found.min():.4f}"
        yield f"| {row.plan.problem} | {row.plan.steps:,} | {told} |"


def _verdicts(comparisons):
    """How often the first algorithm is ahead, level or behind."""
    for theirs in dict.fromkeys(c.theirs for c in comparisons):
        found = [c for c in comparisons if c.theirs == theirs]
        ahead, level, behind = ([c.problem for c in found if c.verdict == sign] for sign in (1, 0, -1))
        told = ", ".join(
            f"{word} on {len(names)}" + (f" ({'; '.join(names)})" if 0 < len(names) < 5 else "")
            for word, names in (("ahead", ahead), ("level", level), ("behind", behind))
        )
        yield f"- against **{theirs}**: {told}."


def _surprises():
    """What each kind of side information leaves of ‖Q̂ − M‖, over all phases but the first five, and what it earns."""
    yield "| side information | " + " | ".join(PROBLEMS) + " |"
    yield "|---" * (1 + len(PROBLEMS)) + "|"
    cells: dict[str, list[str]] = {name: [] for name in GUESSES}
    for mdp in PROBLEMS.values():
        base = None
        for name, guess in GUESSES.items():
            algorithm = aapi.AAPI(
                phase_length=Growing(), evaluate=SelfConsistent(), norm="span", side_information=guess,
                exploration=aapi.AAPI().exploration,
            )  # fmt: skip
            result = aapi.run(algorithm, mdp, 50_000, 20, seed=1, threads=2)
            late = result.surprise[:, 5:].mean()
            base = late if base is None else base
            share = result.average_reward[:, -1].mean() / result.optimal_gain
            error = result.average_reward[:, -1].std(ddof=1) / np.sqrt(20) / result.optimal_gain
            cells[name].append(f"{late / base:.3f}; {share:.3f} ± {error:.3f}")
    for name, found in cells.items():
        yield f"| {name} | " + " | ".join(found) + " |"


if __name__ == "__main__":
    main(*sys.argv[1:])
