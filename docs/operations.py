"""Write docs/operations.md: the text of docs/operations.template.md, with exact solutions and what a store holds.

make operations, or, from a store that is there, and what benchmarks/learnt_queues.py printed: python docs/operations.py
FOLDER FILE
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import operations_networks
import operations_pictures
from operations_networks import percent, table_lines

from aapi.environments import catch_bounds
from aapi.environments.queueing import criss_cross_network, n_model_network
from aapi.environments.suite.published import PUBLISHED_RUNS
from aapi.experiments import Store, summarise
from aapi.experiments.operations_studies import LARGER, LIGHT, MEDIUM, OPERATIONS, QUEUES, STOCK, SUITE
from aapi.mdp import policy_values, solve
from aapi.registry.problems import make_problem
from aapi.registry.rules import network_rules, rules_of

HERE = Path(__file__).parent
OURS, CONTROL = "aapi", "greedy, same parts"
NAMES = {
    OURS: "`AAPI()`", CONTROL: CONTROL, "ucrl2b, tuned": "UCRL2B, tuned", "psrl, tuned": "PSRL, tuned",
    "differential-q": "differential Q",
}  # fmt: skip
CLOSE = 0.02  # of λ_*
CARS, TAXI = LARGER.problems[-2:]
FAMILIES = {
    "queues": [*LIGHT, *MEDIUM, *QUEUES.problems[2:]],
    "stock": [*STOCK.problems, CARS],
    "suite": [*SUITE.problems, TAXI],
}


def main(folder: str, learnt: str) -> None:
    """Fill the template in, and draw the pictures."""
    rows = _rows(folder)
    template = (HERE / "operations.template.md").read_text()
    exact = {_label(table): _exact(table) for tables in FAMILIES.values() for table in tables}
    networks = operations_networks.solved()
    inserts = {
        "runs": [_runs(rows)],
        "widths": [_widths(rows)],
        "caps": [_caps(networks, exact)],
        "networks": operations_networks.bounds(networks),
        "published": operations_networks.beside_published(networks),
        "published verdict": [operations_networks.verdict(networks)],
        "long": [Path(learnt).read_text().strip()],
        "catch": [_catch()],
        "published runs": _published_runs(),
        "continuous": _output(template),
    }
    for family, tables in FAMILIES.items():
        labels = [_label(table) for table in tables]
        inserts[family] = _exact_table([exact[label] for label in labels])
        inserts[f"{family} learnt"] = _learnt_table(rows, exact, labels)
        inserts[f"{family} verdict"] = [" ".join(_verdict(rows, exact, labels, name) for name in (OURS, CONTROL))]
    filled = re.sub(r"<!-- (.+?) -->", lambda match: "\n".join(inserts[match[1]]), template)
    (HERE / "operations.md").write_text(filled)
    operations_pictures.main()


def _rows(folder):
    """The rows of the studies, with what each run earned a step in its last tenth."""
    with Store(folder, write=False) as store:
        studies = [study.name for study in OPERATIONS]
        rows = summarise(store, [plan for plan in store.plans() if plan.study in studies]).rows
        if missing := sum(row.missing + len(row.failed) for row in rows):
            sys.exit(f"{folder} has not all runs: {missing} are missing or failed")
        return [(row, np.array([_last_tenth(*store.curve(run.key)) for run in row.runs])) for row in rows]


def _last_tenth(steps, cumulated):
    last = int(steps[-1])
    return float((cumulated[-1] - np.interp(0.9 * last, steps, cumulated)) / (0.1 * last))


def _of_problem(rows, label):
    """The rows of a problem by algorithm."""
    found = ((row, last) for row, last in rows if row.plan.problem == label)
    return {row.plan.algorithm: (row, last) for row, last in found}


def _sizes(table):
    return {name: value for name, value in table.items() if name != "name"}


def _label(table):
    """What tables of results call it."""
    sizes = _sizes(table)
    return str(table["name"]) + (f" {','.join(map(str, sizes.values()))}" if sizes else "")


def _exact(table):
    """The model, its solution, what acting at random earns, and what rules do, from where it starts."""
    name, sizes = str(table["name"]), _sizes(table)
    mdp = make_problem(name, sizes)
    start, solution = mdp.initial_state, solve(mdp)
    gain = float(solution.gains[start])
    return {
        "label": _label(table),
        "command": " ".join(["aapi solve", name, *(f"--{key.replace('_', '-')} {sizes[key]}" for key in sizes)]),
        "mdp": mdp,
        "solution": solution,
        "gain": gain,
        "width": float((solution.gains_upper - solution.gains_lower)[start]),
        "random": _gain(mdp, np.full((mdp.num_states, mdp.num_actions), 1.0 / mdp.num_actions)),
        "rules": _rules(name, sizes, mdp),
    }


def _gain(mdp, policy):
    return float(policy_values(mdp, policy).gains[mdp.initial_state])


def _rules(name, sizes, mdp):
    """The gains of textbook rules; where there is none, of always doing the same."""
    if name == "criss-cross":
        return network_rules(name, criss_cross_network(**sizes), 1e-6)
    if name == "n-model":
        return network_rules(name, n_model_network(), 1e-6)
    if name == "continuing-taxi":  # which earns nothing by doing the same
        return {}
    policies = rules_of(name, mdp)
    if not policies:
        policies = {f"always {word}": np.full(mdp.num_states, a) for a, word in enumerate(mdp.action_names)}
    if name == "routing":
        policies["shortest queue"] = np.where(mdp.coordinates[:, 0] <= mdp.coordinates[:, 1], 0, 1)
    return {rule: _gain(mdp, policy) for rule, policy in policies.items()}


def _number(value):
    return f"{value:.4g}" if abs(value) < 1.0 else f"{value:.5g}"


def _exact_table(found):
    """Optima and rules."""
    lines = []
    for each in found:
        rules = sorted(each["rules"].items(), key=lambda rule: -rule[1])
        size = f"{each['mdp'].num_states:,} × {each['mdp'].num_actions}"
        listed = "; ".join(f"{rule}: {_number(gain)}" for rule, gain in rules)
        certificate = f"{each['gain']:.7g} ± {0.5 * each['width']:.0e}"
        lines.append([f"`{each['command']}`", size, certificate, listed, _number(each["random"])])
    yield from table_lines(("problem", "states × actions", "λ_*, certified", "rules", "at random"), lines)


def _learnt_table(rows, exact, labels):
    """What was earned in the last tenth, and in all."""
    names = [name for name in NAMES if any(name in _of_problem(rows, label) for label in labels)]
    lines = []
    for label in labels:
        mine, each = _of_problem(rows, label), exact[label]
        cells = [_cell(*mine[name]) if name in mine else "" for name in names]
        best = _number(max(each["rules"].values())) if each["rules"] else ""
        row, last = mine[OURS]
        noise = _noise(each, row.plan.steps // 10) / np.sqrt(len(last))
        lines.append([label, _number(each["gain"]), best, *cells, f"{noise:.1g}"])
    head = ("problem", "λ_*", "best rule", *(NAMES[name] for name in names), "noise, 1σ")
    yield from table_lines(head, lines)


def _cell(row, last):
    return f"{_number(last.mean())} ({_number(row.averages.mean())})"


def _verdict(rows, exact, labels, name):
    """On how many problems an algorithm ends close to the optimum, and where it does not."""
    gaps = {}
    for label in labels:
        row, last = _of_problem(rows, label)[name]
        best = exact[label]["gain"]
        noise = _noise(exact[label], row.plan.steps // 10) / np.sqrt(len(last))
        gaps[label] = (best - last.mean()) / abs(best), best - last.mean() < 2.0 * noise
    far = sorted(((gap, label, noisy) for label, (gap, noisy) in gaps.items() if gap > CLOSE), reverse=True)
    where = "; ".join(f"{label} {percent(gap)}{', within 2σ' * bool(noisy)}" for gap, label, noisy in far)
    called = NAMES[name] if name == OURS else "Greedy policy iteration with the same parts, the control,"
    return (
        f"{called} ends within {100 * CLOSE:.0f} % of λ_* on {len(gaps) - len(far)} of {len(gaps)} problems"
        f"{f' (short of it: {where})' if far else ''}."
    )


def _runs(rows):
    """How many, tuned on how many others, and the time of all."""
    plans = [row.plan for row, _ in rows]
    (runs,), (seed,) = {plan.runs for plan in plans}, {plan.seed for plan in plans}
    (tuning,) = {plan.tuning_runs for plan in plans}
    minutes = sum(row.seconds for row, _ in rows) / 60
    return (
        f"The numbers on this page are from **{runs} runs** of each with seed {seed}, so small differences say "
        f"nothing; what is tuned has {tuning} other runs for each value. All of it took {minutes:.0f} minutes of one "
        "processor."
    )


def _caps(networks, exact):
    """What the smaller caps of the study change."""
    most = max(
        abs(exact[_label(table)]["gain"] - networks[str(table["regime"])]["solution"].gain)
        for table in (*LIGHT, *MEDIUM)
    )
    return f"at most {most:.0e}"


def _noise(each, steps):
    """The standard deviation of what an optimal policy earns a step in so many, by Poisson's equation."""
    mdp, solution, outcomes = each["mdp"], each["solution"], each["mdp"].outcomes
    pairs = np.arange(mdp.num_states) * mdp.num_actions + solution.policy
    if outcomes is None:  # rewards are given by state and action
        moves = mdp.transitions.reshape(-1, mdp.num_states)[pairs]
        first, second = moves @ solution.bias, moves @ solution.bias**2
    else:
        ends = outcomes.rewards + solution.bias[outcomes.successors]
        first, second = (
            np.bincount(outcomes.pairs, outcomes.probabilities * ends**power)[pairs] for power in (1, 2)
        )  # fmt: skip
    return float(np.sqrt(solution.values.stationary_distribution @ (second - first**2) / steps))


def _catch():
    return operations_networks.between(*catch_bounds())


def _published_runs():
    lines = [
        [
            each.environment, f"{each.steps:,}", str(each.runs),
            each.features or "network " + "-".join(map(str, each.layers)), f"{each.epsilon:g}", f"`{each.source}`",
        ]
        for each in PUBLISHED_RUNS
    ]  # fmt: skip
    yield from table_lines(("environment", "steps", "runs", "what learns", "ε", "file"), lines)


def _widths(rows):
    """On how many problems the least width was chosen."""
    plans = [(row.plan, row.choice["width"]) for row, _ in rows if "width" in row.plan.tuned]
    least = sum(width == min(choice["width"] for choice in plan.choices) for plan, width in plans)
    return f"{least} of {len(plans)} problems"


def _output(template):
    """What the code of the page prints."""
    (code,) = re.findall(r"```python\n(.*?)```", template, re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "operations.md", "exec"), {})  # noqa: S102
    return ["```", printed.getvalue().rstrip(), "```"]


if __name__ == "__main__":
    main(*sys.argv[1:])
