"""The studies of docs/rivals.md, as data: every algorithm on those of eleven finite problems that it can do."""

from __future__ import annotations

from dataclasses import replace

from aapi.experiments.paper_studies import PARTS, UNTUNED, UNTUNED_AAPI, Table
from aapi.experiments.study import Study

# With published constants, and with one setting tuned over five values.
WIDTHS = [0.001, 0.003, 0.01, 0.03, 0.1]
NARROW = [0.0003, 0.001, 0.003, 0.01, 0.03]
EPSILONS = [0.3, 0.1, 0.03, 0.01, 0.003]
AROUND_ONE = [0.5, 0.7, 0.85, 1.2, 1.5]
RIVALS_TUNED: dict[str, Table] = {
    "ucrl2": {"width": WIDTHS},
    "ucrl2b": {"width": NARROW},
    "kl-ucrl": {"width": WIDTHS},
    "scal": {"width": NARROW},
    "psrl": {"width": AROUND_ONE},
    "rmax": {"known_after": [1, 3, 10, 30, 100]},
    "oomd": {"eta": [0.0003, 0.001, 0.003, 0.03, 0.1]},
    "optimistic-q": {"width": [0.0003, 0.001, 0.003, 0.01, 0.1]},
    "differential-q": {"epsilon": EPSILONS},
    "differential-sarsa": {"epsilon": EPSILONS},
    "rvi-q": {"epsilon": EPSILONS},
    "r-learning": {"epsilon": EPSILONS},
    "centred-q": {"epsilon": EPSILONS},
    "imed-rl": {"width": AROUND_ONE},
}

# Eleven finite problems, with the span of the optimal bias, rounded up, which SCAL is told. The zoo is a study apart.
_UNTUNED: list[Table] = [
    {name: value for name, value in problem.items() if name != "settings_for"} for problem in UNTUNED.problems
]
ERGODIC: list[tuple[Table, float]] = [
    ({"name": "ergodic", "states": 5, "actions": 2, "steps": 100_000}, 1.0),
    *((problem, 1.0) for problem in _UNTUNED[:3]),
    ({"name": "garnet", "states": 20, "actions": 4}, 3.1),
]
OTHERS = list(zip(_UNTUNED[3:], (6.4, 15.0, 26.0, 34.0, 74.0, 114.0), strict=True))


def _published_and_tuned(*names: str) -> list[Table]:
    """Two of each: as published, and tuned."""
    found: list[Table] = []
    for name in names:
        tuned = RIVALS_TUNED[name]
        found += [{"name": name}, {"name": name, "label": f"{name}, tuned", **tuned, "tune": list(tuned)}]
    return found


def _study(name: str, problems: list[tuple[Table, float]], *rivals: str, ours: bool = False) -> Study:
    """So many rivals on these problems; and AAPI with its control."""
    told = [label for label in ("scal", "scal, tuned") if "scal" in rivals]
    control: Table = {"name": "greedy", "label": "greedy, same parts", **PARTS}
    return Study(
        name=name, steps=200_000, runs=20, tuning_runs=10,
        problems=[
            {**problem, "settings_for": {label: {"span": span} for label in told}} for problem, span in problems
        ],
        algorithms=([UNTUNED_AAPI, control] if ours else []) + _published_and_tuned(*rivals),
    )  # fmt: skip


# PSRL and IMED-RL are slow where there are many states. They have fewer runs on ergodic 50,10 and on deep-sea 30, of a
# minute each; IMED-RL, whose tables have states × states numbers, has none on deep-sea 20 and 30.
_WIDE, _DEEPEST = ERGODIC[3], OTHERS[-1]
_MOST = [name for name in RIVALS_TUNED if name not in ("psrl", "imed-rl")]
RIVALS = _study("rivals", [*ERGODIC, *OTHERS[:-1]], *_MOST, "psrl", ours=True)
DEEPEST = _study("rivals on deep-sea 30", [_DEEPEST], *_MOST, ours=True)
PSRL_DEEPEST = replace(_study("rivals: psrl on deep-sea 30", [_DEEPEST], "psrl"), tuning_runs=1)
IMED = _study("rivals: imed-rl", [*(each for each in ERGODIC if each is not _WIDE), *OTHERS[:4]], "imed-rl")
IMED_WIDE = replace(_study("rivals: imed-rl on ergodic 50,10", [_WIDE], "imed-rl"), tuning_runs=1)
RIVAL_STUDIES = [RIVALS, DEEPEST, PSRL_DEEPEST, IMED, IMED_WIDE]
MOST_RUNS = {PSRL_DEEPEST.name: 6, IMED_WIDE.name: 3}
