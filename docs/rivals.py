"""Write docs/rivals.md: the text of docs/rivals.template.md, with tables from a store.

make rivals
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from aapi.experiments import Store, summarise
from aapi.report.formatting import format_settings
from aapi.report.markdown import pair_lines, share_lines

HERE = Path(__file__).parent


def main(folder: str) -> None:
    """Fill the template in."""
    with Store(folder, write=False) as store:
        rows = [row for row in summarise(store, store.plans()).rows if row.plan.study.startswith("rivals")]
    if missing := sum(row.missing + len(row.failed) for row in rows):
        sys.exit(f"{folder} has not all runs: {missing} are missing or failed")
    published = [row for row in rows if not row.plan.algorithm.endswith(", tuned")]
    tuned = [row for row in rows if row.choice or row.plan.algorithm in ("aapi", "greedy, same parts")]
    inserts = {
        "published": share_lines(published),
        "tuned": share_lines(tuned),
        "chosen": _chosen(tuned),
        "pairs": pair_lines(tuned),
        "overall": _overall(rows),
        "runs": [f"{rows[0].plan.runs} runs of each"],
    }
    text = (HERE / "rivals.template.md").read_text()
    filled = re.sub(r"<!-- (.+?) -->", lambda match: "\n".join(inserts[match[1]]), text)
    (HERE / "rivals.md").write_text(filled)


def _overall(rows):
    """Over all problems: the mean score, the worst problem, the worst run, and the time."""
    yield "| algorithm | mean score | its worst problem | worst run | µs a step |"
    yield "|---|---|---|---|---|"
    found = {}
    for name in dict.fromkeys(row.plan.algorithm for row in rows):
        mine = [row for row in rows if row.plan.algorithm == name]
        runs = [(row.averages - low) / (high - low) for row in mine for low, high in [row.plan.references]]
        worst = min(range(len(mine)), key=lambda i: runs[i].mean())
        micros = 1e6 * np.mean([row.seconds / (row.plan.steps * row.plan.runs) for row in mine])
        where = f"{runs[worst].mean():.3f} on {mine[worst].plan.problem}"
        found[name] = np.mean([each.mean() for each in runs]), where, min(each.min() for each in runs), micros
    for name, (mean, where, least, micros) in sorted(found.items(), key=lambda item: -item[1][0]):
        yield f"| {name} | {mean:.3f} | {where} | {least:.3f} | {micros:.2g} |"


def _chosen(rows):
    """What was chosen on tuning seeds."""
    rows = [row for row in rows if row.choice]
    problems = list(dict.fromkeys(row.plan.problem for row in rows))
    yield "| | " + " | ".join(problems) + " |"
    yield "|---" * (1 + len(problems)) + "|"
    for name in dict.fromkeys(row.plan.algorithm for row in rows):
        found = {row.plan.problem: format_settings(row.choice) for row in rows if row.plan.algorithm == name}
        cells = [found.get(problem, "") for problem in problems]
        yield f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(*sys.argv[1:])
