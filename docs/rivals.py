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
OURS = ("aapi", "greedy, same parts")
FAMILIES = {  # by how labels of problems begin: tables of all would be too wide
    "Ergodic problems and a random model": ("ergodic", "garnet"),
    "RiverSwim and access control": ("river-swim", "access-control"),
    "DeepSea": ("deep-sea",),
}


def main(folder: str) -> None:
    """Fill the template in."""
    with Store(folder, write=False) as store:
        rows = [row for row in summarise(store, store.plans()).rows if row.plan.study.startswith("rivals")]
    if missing := sum(row.missing + len(row.failed) for row in rows):
        sys.exit(f"{folder} has not all runs: {missing} are missing or failed")
    published = [row for row in rows if not row.plan.algorithm.endswith(", tuned")]
    tuned = [row for row in rows if row.choice or row.plan.algorithm in OURS]
    inserts = {
        "published": _by_family(share_lines, published),
        "tuned": _by_family(share_lines, tuned),
        "chosen": _by_family(_chosen, [row for row in tuned if row.choice]),
        "pairs": pair_lines(tuned),
        "overall": _overall(rows),
        "problems": [str(len({row.plan.problem for row in rows}))],
        "runs": [_runs(rows)],
        "time": [_time(rows)],
    }
    text = (HERE / "rivals.template.md").read_text()
    filled = re.sub(r"<!-- (.+?) -->", lambda match: "\n".join(inserts[match[1]]), text)
    (HERE / "rivals.md").write_text(filled)


def _runs(rows):
    """How many, and where there are fewer."""
    most = max(row.plan.runs for row in rows)
    few = {f"{row.plan.runs} of {_plain(row)} on {row.plan.problem}" for row in rows if row.plan.runs < most}
    return f"{most} runs of each" + (f" ({'; '.join(sorted(few))}, tuned on one run)" if few else "")


def _plain(row):
    return row.plan.algorithm.removesuffix(", tuned")


def _time(rows):
    """Of all runs, tuning included, on one processor."""
    return f"{sum(row.seconds for row in rows) / 60:.0f} minutes"


def _by_family(lines_of, rows):
    """A table for each family of problems, under its name."""
    for family, names in FAMILIES.items():
        if mine := [row for row in rows if row.plan.problem.startswith(names)]:
            yield from (f"**{family}**", "", *lines_of(mine), "")


def _overall(rows):
    """Over all problems: the mean score, the worst problem, the worst run, and the time."""
    yield "| algorithm | problems | mean score | its worst problem | worst run | µs a step |"
    yield "|---|---|---|---|---|---|"
    found = {}
    for name in dict.fromkeys(row.plan.algorithm for row in rows):
        mine = [row for row in rows if row.plan.algorithm == name]
        runs = [(row.averages - low) / (high - low) for row in mine for low, high in [row.plan.references]]
        worst = min(range(len(mine)), key=lambda i: runs[i].mean())
        micros = 1e6 * np.mean([run.seconds / row.plan.steps for row in mine for run in row.runs])
        where = f"{runs[worst].mean():.3f} on {mine[worst].plan.problem}"
        mean, least = np.mean([each.mean() for each in runs]), min(each.min() for each in runs)
        found[name] = len(mine), mean, where, least, micros
    for name, (count, mean, where, least, micros) in sorted(found.items(), key=lambda item: -item[1][1]):
        yield f"| {name} | {count} | {mean:.3f} | {where} | {least:.3f} | {micros:.2g} |"


def _chosen(rows):
    """What was chosen on tuning seeds."""
    problems = list(dict.fromkeys(row.plan.problem for row in rows))
    yield "| | " + " | ".join(problems) + " |"
    yield "|---" * (1 + len(problems)) + "|"
    for name in dict.fromkeys(row.plan.algorithm for row in rows):
        found = {row.plan.problem: format_settings(row.choice) for row in rows if row.plan.algorithm == name}
        cells = [found.get(problem, "") for problem in problems]
        yield f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(*sys.argv[1:])
