"""Write docs/untuned.md: the text of docs/untuned.template.md, with tables and sentences from stores.

make untuned, or, from the stores that are there: python docs/untuned.py FOLDER-OF-STORES
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np

from aapi.experiments import Store, summarise
from aapi.experiments.summary import best_tuned
from aapi.registry.zoo import zoo
from aapi.report.ablation import ablations
from aapi.report.ablation_effects import ablation_effects

HERE = Path(__file__).parent
OURS, CONTROL, RIVALS = "aapi", "greedy, same parts", ("ucrl2b, tuned", "psrl, tuned")
NAMES = {OURS: "`AAPI()`", "ucrl2b, tuned": "UCRL2B, tuned", "psrl, tuned": "PSRL, tuned"}
ENOUGH = 0.95  # of the best tuned rival's share
# What the mean, or the worst run, was to reach where an earlier version failed, by the problem's name in
# studies/aims.toml.
AIMS = {
    "river-swim 40": (0.95, "mean"),
    "six-arms": (0.9, "mean"),
    "taxi": (0.8, "mean"),
    "frozen-lake 8": (0.9, "mean"),
    "tandem-queue 10": (0.88, "mean"),
    "bandit 10,3.0": (0.85, "worst"),
}
FIGURE = Path("figures") / "ablation-scores-two-column.png"


def main(folder: str) -> None:
    """Fill the template in, and copy the figure of the ablation if `aapi figures` has drawn it."""
    stores = Path(folder)
    halves = {half: _summary(stores / f"zoo-{half}", f"zoo, {half}") for half in ("reporting", "development")}
    found = {name: _summary(stores / name, name) for name in ("exploration", "flat", "untuned", "ablation", "aims")}
    inserts = {
        **{half: _half(half, summary) for half, summary in halves.items()},
        "size": [str(len(zoo()))],
        "time": _time([row for summary in halves.values() for row in _complete(summary)]),
        "aims": _aims(_complete(found["aims"])),
        "exploration": _across(found["exploration"], "aapi sweep studies/exploration.toml"),
        "flat": _across(found["flat"], "aapi sweep studies/flat.toml"),
        "nine": _nine(found["untuned"]),
        "effects": _effects(found["ablation"]),
    }
    if (stores / "ablation" / FIGURE).is_file():
        shutil.copyfile(stores / "ablation" / FIGURE, HERE / "pictures" / "ablation.png")
    page, template = (HERE / "untuned.md").read_text(), (HERE / "untuned.template.md").read_text()
    (HERE / "untuned.md").write_text(filled(template, inserts, page))


def filled(template, inserts, page):
    """The template, with its inserts between markers; one without lines, whose study was not run, stays as it was."""

    def insert(match):
        name, space = match[1], "\n" if match[0].startswith("\n") else ""
        old = re.search(f"<!-- {name} -->(.*?)<!-- end of {name} -->", page, re.DOTALL)
        text = space + "\n".join(inserts[name]) + space
        if not text.strip():
            text = old[1] if old else f"{space}(Not run for this page.){space}"
        return f"{space}<!-- {name} -->{text}<!-- end of {name} -->"

    return re.sub(r"\n?<!-- (.+?) -->", insert, template)


def _summary(folder, study):
    """The rows of the studies whose names begin so, and their comparisons; None if they were not run."""
    if not (folder / "results.db").is_file():
        return None
    with Store(folder, write=False) as store:
        return summarise(store, [plan for plan in store.plans() if plan.study.startswith(study)])


def _complete(summary):
    """The rows of problems of which no run is missing."""
    if summary is None:
        return []
    short = {row.plan.problem for row in summary.rows if row.missing or row.chosen is None}
    return [row for row in summary.rows if row.plan.problem not in short]


def _by_problem(rows):
    """The rows by problem and algorithm."""
    found = {}
    for row in rows:
        found.setdefault(row.plan.problem, {})[row.plan.algorithm] = row
    return found


def _cell(row):
    """Mean and worst share."""
    return "" if row is None else f"{_two(row.shares.mean())} ({_two(row.shares.min())})"


def _two(share):
    return f"{share:.3f}".replace("0.", ".", 1) if abs(share) < 1.0 else f"{share:.2f}"


def _table(head, lines):
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(line)} |"


def _half(half, summary):
    """The table of one half of the zoo, and what it says, the control in the same breath."""
    rows, all_problems = _complete(summary), len(zoo(half))
    if not rows:
        return
    places, best, plan = _by_problem(rows), best_tuned(rows), rows[0].plan
    left_out, fewest = all_problems - len(places), min(row.plan.runs for row in rows)
    yield (
        f"{len(places)} problems, {plan.runs} runs of each with seed {plan.seed}, {fewest} of PSRL; each rival has one "
        f"setting tuned on {plan.tuning_runs} other runs of each problem. Mean share of λ* (where λ* ≤ 0, of the way "
        "to it from acting at random) and (worst run); ratio: `AAPI()` to the best tuned rival; lost: runs of `AAPI()` "
        "below half of "
        "their mean."
    )
    if left_out:
        yield f"**{left_out} of {all_problems} problems are left out: not all of their runs were made.**"
    yield ""
    lines = []
    for problem, mine in places.items():
        cells = [_cell(mine.get(name)) for name in (OURS, CONTROL, *RIVALS)]
        ratio = _ratios(places, best, OURS)[problem]
        lines.append([problem, f"{mine[OURS].plan.steps:,}", *cells, _two(ratio), str(mine[OURS].lost)])
    head = ("problem", "steps", NAMES[OURS], CONTROL, *(NAMES[name] for name in RIVALS), "ratio", "lost")
    yield from _table(head, lines)
    yield ""
    yield f"{_verdict(places, best, OURS)} {_verdict(places, best, CONTROL)} {_against_control(summary, places)}"


def _ratios(places, best, name):
    """Shares of one algorithm over those of the best tuned rival."""
    return {
        problem: float(mine[name].shares.mean()) / best[problem] if best[problem] > 0.0 else np.inf
        for problem, mine in places.items()
    }


def _verdict(places, best, name):
    """How one algorithm compares with the best tuned rival, and what it lost."""
    ratios = _ratios(places, best, name)
    short = {problem: ratio for problem, ratio in ratios.items() if ratio < ENOUGH}
    rows = [mine[name] for mine in places.values()]
    middle = _two(float(np.median(list(ratios.values()))))
    lost, runs, failed = (sum(each) for each in zip(*((r.lost, len(r.runs), len(r.failed)) for r in rows), strict=True))
    where = "; ".join(f"{row.lost} on {row.plan.problem}" for row in rows if row.lost)
    listed = "; ".join(f"{problem} {_two(ratio)}" for problem, ratio in sorted(short.items(), key=lambda each: each[1]))
    called = "**`AAPI()`**" if name == OURS else "**Greedy policy iteration with the same parts**, the honest control,"
    return (
        f"{called} has at least {_two(ENOUGH)} of the best tuned rival's share on {len(ratios) - len(short)} of "
        f"{len(ratios)} problems{f' (not on {listed})' if short else ''}, {middle} in the median one, and {lost} of "
        f"{runs} runs below half of the mean{f' ({where})' * bool(lost)}"
        f"{f'; {failed} runs failed' * bool(failed)}."
    )


def _against_control(summary, places):
    """How often the first algorithm earns more than the control, by intervals of differences."""
    verdicts = [c.verdict for c in summary.comparisons if c.theirs == CONTROL and c.problem in places]
    more, less = verdicts.count(1), verdicts.count(-1)
    return (
        f"Of the two, `AAPI()` earns more on {more} problems, greedy on {less}; on {len(verdicts) - more - less} the "
        "95 % bootstrap interval of the difference contains 0."
    )


def _time(rows):
    """Microseconds a step, by problem."""
    mine = [row for row in rows if row.plan.algorithm == OURS]
    if not mine:
        return []
    micros = {row.plan.problem: 1e6 * np.mean([run.seconds for run in row.runs]) / row.plan.steps for row in mine}
    least, most = min(micros, key=micros.get), max(micros, key=micros.get)
    middle = float(np.median(list(micros.values())))
    return [f"{micros[least]:.1f} ({least}) to {micros[most]:.1f} ({most}) µs a step, {middle:.1f} in the median one"]


def _aims(rows):
    """What was to be reached on development problems, and what was."""
    if not rows:
        return
    ours = {row.plan.problem: row for row in rows}
    lines = []
    for problem, (aim, which) in AIMS.items():
        found = ours[problem].shares.mean() if which == "mean" else ours[problem].shares.min()
        lines.append((f"{problem}, {which} share of λ*, {len(ours[problem].runs)} runs", aim, found))
    kept = 1.0 - sum(row.lost for row in rows) / sum(len(row.runs) for row in rows)
    lines.append((f"runs of {', '.join(ours)} that are not lost", 1.0, kept))
    cells = [(what, _two(aim), _two(found), "yes" if found >= aim else "**no**") for what, aim, found in lines]
    yield from _table(("", "aim", "found", "reached"), cells)
    yield from (
        "",
        "Mean share of λ* and (worst run): " + "; ".join(f"{p} {_cell(r)}" for p, r in ours.items()) + ".",
    )


def _across(summary, command):
    """Algorithms down, problems across."""
    if not (rows := _complete(summary)):
        return
    places = _by_problem(rows)
    labels = dict.fromkeys(row.plan.algorithm for row in rows)
    yield f"Mean share of λ* and (worst run) of {rows[0].plan.runs} runs (`{command}`):"
    yield ""
    lines = [(label, *(_cell(mine.get(label)) for mine in places.values())) for label in labels]
    yield from _table(("", *places), lines)


def _nine(summary):
    """The problems of earlier versions, problems down."""
    rows = [row for row in _complete(summary) if row.plan.study == "untuned"]
    if not rows:
        return
    labels = list(dict.fromkeys(row.plan.algorithm for row in rows))
    yield f"Mean share of λ* and (worst run) of {rows[0].plan.runs} runs; POLITEX and RLSVI are tuned for each problem:"
    yield ""
    lines = [(problem, *(_cell(mine.get(label)) for label in labels)) for problem, mine in _by_problem(rows).items()]
    yield from _table(("problem", *(NAMES.get(label, label) for label in labels)), lines)


def _effects(summary):
    """What exchanging a part of Algorithm 1 does."""
    if not (rows := _complete(summary)):
        return
    yield from (f"- {line}" for line in ablation_effects(ablations(rows)[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
