"""The studies behind the paper's figures, those of docs/untuned.md and docs/theory.md, as data."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TypeAlias, cast

from aapi.experiments.study import Study

Table: TypeAlias = dict[str, object]  # one of [[problems]] or [[algorithms]], or settings in it


def tuned_algorithms(points: int) -> list[Table]:
    """AAPI, POLITEX and RLSVI, with η, or the ridge, tuned over so many values."""
    grid = {"from": 0.01, "to": 100.0, "points": points}
    return [
        {"name": "aapi-paper", "eta": grid, "tune": ["eta"]},
        {"name": "politex", "eta": grid, "tune": ["eta"]},
        {"name": "rlsvi", "ridge": grid, "tune": ["ridge"]},
    ]


ALGORITHMS = tuned_algorithms(13)
SHARED = ("phase_length", "horizon", "centre", "ridge")

# What AAPI and POLITEX share on a problem was chosen by studies/settings-*.toml, on tuning seeds. DeepSea and CartPole
# have their defaults: of DeepSea, phases of 30 and returns of 2 times its size.
RLSVI_ERGODIC = {"phase_length": 250, "horizon": 10, "form": "discounted"}
ERGODIC = Study(
    name="ergodic", steps=100_000, runs=50, tuning_runs=10, algorithms=ALGORITHMS,
    problems=[
        {"name": "ergodic", "states": states, "actions": actions, "settings": dict(zip(SHARED, shared, strict=True)),
         "settings_for": {"rlsvi": RLSVI_ERGODIC}}
        for states, actions, shared in (
            (5, 2, (250, 3, False, 1.0)),
            (10, 2, (250, 5, False, 1.0)),
            (20, 5, (500, 5, False, 1.0)),
            (50, 10, (100, 10, True, 10.0)),
        )
    ],
)  # fmt: skip
DEEP_SEA = Study(
    name="deep-sea", runs=50, tuning_runs=10, algorithms=ALGORITHMS,
    problems=[{"name": "deep-sea", "size": size, "steps": 10_000 * size} for size in (10, 20, 30, 40)],
)  # fmt: skip
CARTPOLE = Study(
    name="cartpole", steps=100_000, runs=50, tuning_runs=3, problems=[{"name": "cartpole"}], algorithms=ALGORITHMS
)
FIGURES = {"ergodic": ERGODIC, "deep-sea": DEEP_SEA, "cartpole": CARTPOLE}
SCALES = [0.01, 1.0, 100.0]

# AAPI without tuning, against tuned rivals. The control is greedy policy iteration with all its parts but the rate.
PARTS = {"evaluation": "automatic", "exploration": "expeditions+thompson", "phase_length": "growing"}
UNTUNED_AAPI: Table = {"name": "aapi"}
TUNED_POLITEX: Table = {"name": "politex", "eta": {"from": 0.01, "to": 100.0, "points": 9}}
FAST: tuple[Table, Table] = (  # settings of POLITEX and of RLSVI
    {"horizon": [5, 10], "centre": [False, True], "ridge": 1.0},
    {"horizon": 10, "form": ["relative", "discounted"]},
)
SLOW: tuple[Table, Table] = (
    {"horizon": [10, 50], "centre": [False, True], "ridge": 1.0},
    {"horizon": 50, "form": ["relative", "discounted"]},
)


def _with_rivals(problem: Table, phase_length: int, politex: Table, rlsvi: Table) -> Table:
    """A problem, with phases of that length and further settings of the tuned rivals on it."""
    rivals = {"politex": politex, "rlsvi": rlsvi}
    return problem | {"settings_for": {name: {"phase_length": phase_length, **rivals[name]} for name in rivals}}


UNTUNED = Study(
    name="untuned", steps=200_000, runs=50, tuning_runs=5,
    problems=[
        _with_rivals({"name": "ergodic", "states": 10, "actions": 2, "steps": 100_000}, 250, *FAST),
        _with_rivals({"name": "ergodic", "states": 20, "actions": 5}, 500, *FAST),
        _with_rivals({"name": "ergodic", "states": 50, "actions": 10, "steps": 1_000_000}, 1000, *FAST),
        _with_rivals({"name": "river-swim", "states": 6}, 250, *SLOW),
        _with_rivals({"name": "river-swim", "states": 12}, 250, *SLOW),
        _with_rivals({"name": "access-control"}, 500, *SLOW),
        *(
            _with_rivals(
                {"name": "deep-sea", "size": size, "steps": 10_000 * size, "features": "one-hot"}, 30 * size,
                {"horizon": 2 * size, "centre": [False, True], "ridge": 0.1},
                {"horizon": 2 * size, "form": ["relative", "finite-horizon"]},
            )
            for size in (10, 20, 30)
        ),
    ],
    algorithms=[
        UNTUNED_AAPI,
        {"name": "greedy", "label": "greedy, same parts", **PARTS},
        {**TUNED_POLITEX, "tune": ["eta", "horizon", "centre"]},
        {"name": "rlsvi", "ridge": {"from": 0.01, "to": 100.0, "points": 9}, "tune": ["ridge", "form"]},
    ],
)  # fmt: skip
SCALED = replace(
    UNTUNED, name="untuned, rewards scaled", runs=10, tuning_runs=2,
    problems=[
        {**problem, "reward_scale": SCALES, "settings_for": {"politex": settings | {"horizon": 10, "centre": False}}}
        for problem in UNTUNED.problems
        for settings in [cast("dict[str, Table]", problem["settings_for"])["politex"]]
    ],
    algorithms=[UNTUNED_AAPI, {**TUNED_POLITEX, "tune": ["eta"], "together": True}],
)  # fmt: skip

# Evaluator × side information × norm × learning rate, everything else the same.
EVALUATORS = ["self-consistent", "lstd", "posterior", "monte-carlo"]
GUESSES = ["previous", "zero", "average", "predicted"]
ABLATION = Study(
    name="ablation", runs=20,
    problems=[
        {**problem, "settings": {"phase_length": length, "exploration": "discovery+posterior"}}
        for length, problem in (
            (250, {"name": "ergodic", "states": 10, "actions": 2}),
            (500, {"name": "ergodic", "states": 20, "actions": 5}),
            (250, {"name": "river-swim", "states": 6}),
            (300, {"name": "deep-sea", "size": 10, "features": "one-hot"}),
        )
    ],
    algorithms=[
        *(
            {"name": "aapi-paper", "label": f"{evaluator}, {guess}, {norm}", "evaluation": evaluator,
             "side_information": guess, "norm": norm, "eta": 1.0}
            for evaluator, guess, norm in itertools.product(EVALUATORS, GUESSES, ("span", "sup"))
            if (evaluator, guess) != ("monte-carlo", "predicted")  # which needs data of policies that have not acted
        ),
        *(
            {"name": name, "label": f"{evaluator}, {rate}", "evaluation": evaluator, **settings}
            for evaluator in EVALUATORS
            for name, rate, settings in (
                ("aapi-paper", "previous, span, η 0.3", {"side_information": "previous", "norm": "span", "eta": 0.3}),
                ("politex", "constant η 0.01", {"eta": 0.01}),
                ("politex", "constant η 0.1", {"eta": 0.1}),
                ("politex", "constant η 1", {"eta": 1.0}),
                ("greedy", "greedy", {}),
            )
        ),
    ],
)  # fmt: skip
# Rewards that change, with known dynamics: why Q-functions are averaged.
CHANGING = Study(
    name="changing rewards", steps=204_800, runs=50,
    problems=[{"name": "against-the-leader"}, {"name": "against-the-policy"}],
    algorithms=[{"name": "aapi-paper"}, {"name": "greedy"}, {"name": "politex"}],
)  # fmt: skip
