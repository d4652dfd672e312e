"""The paper's figures, as data: problems, algorithms, and what is tuned. Nothing lower knows of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aapi.checks import one_of
from aapi.experiments.study import Study

__all__ = ["FIGURES", "PRESETS", "reproduction"]


def _tuned(points: int) -> list[dict[str, Any]]:
    """AAPI, POLITEX and RLSVI, with η, or the ridge, tuned over so many values."""
    grid = {"from": 0.01, "to": 100.0, "points": points}
    return [
        {"name": "aapi", "eta": grid, "tune": ["eta"]},
        {"name": "politex", "eta": grid, "tune": ["eta"]},
        {"name": "rlsvi", "ridge": grid, "tune": ["ridge"]},
    ]


ALGORITHMS = _tuned(13)
SHARED = ("phase_length", "horizon", "centre", "ridge")

# What AAPI and POLITEX share on a problem was chosen by studies/settings-*.toml, on tuning seeds. DeepSea and CartPole
# have their defaults: of DeepSea, phases of 30 and returns of 2 times its size.
ERGODIC = Study(
    name="ergodic",
    steps=100_000,
    runs=50,
    tuning_runs=10,
    problems=[
        {
            "name": "ergodic",
            "states": states,
            "actions": actions,
            "settings": dict(zip(SHARED, shared, strict=True)),
            "settings_for": {"rlsvi": {"phase_length": 250, "horizon": 10, "form": "discounted"}},
        }
        for states, actions, shared in (
            (5, 2, (250, 3, False, 1.0)),
            (10, 2, (250, 5, False, 1.0)),
            (20, 5, (500, 5, False, 1.0)),
            (50, 10, (100, 10, True, 10.0)),
        )
    ],
    algorithms=ALGORITHMS,
)
DEEP_SEA = Study(
    name="deep-sea",
    runs=50,
    tuning_runs=10,
    problems=[{"name": "deep-sea", "size": size, "steps": 10_000 * size} for size in (10, 20, 30, 40)],
    algorithms=ALGORITHMS,
)
CARTPOLE = Study(
    name="cartpole",
    steps=100_000,
    runs=50,
    tuning_runs=3,
    problems=[{"name": "cartpole"}],
    algorithms=ALGORITHMS,
)
FIGURES = {"ergodic": ERGODIC, "deep-sea": DEEP_SEA, "cartpole": CARTPOLE}
SCALES = [0.01, 1.0, 100.0]

# AAPI without tuning, against tuned rivals. The control is greedy policy iteration with all its parts but the rate.
PARTS = {"evaluation": "self-consistent", "exploration": "discovery+posterior", "phase_length": "growing"}
RIVALS: list[dict[str, Any]] = [
    {"name": "untuned"},
    {"name": "greedy", "label": "greedy, same parts", **PARTS},
    {"name": "politex", "eta": {"from": 0.01, "to": 100.0, "points": 9}, "tune": ["eta", "horizon", "centre"]},
    {"name": "rlsvi", "ridge": {"from": 0.01, "to": 100.0, "points": 9}, "tune": ["ridge", "form"]},
]


def _rivals(phase_length: int, politex: dict[str, Any], rlsvi: dict[str, Any]) -> dict[str, Any]:
    """Settings of the tuned ones on a problem."""
    return {"politex": {"phase_length": phase_length} | politex, "rlsvi": {"phase_length": phase_length} | rlsvi}


FAST = {"horizon": [5, 10], "centre": [False, True], "ridge": 1.0}, {"horizon": 10, "form": ["relative", "discounted"]}
SLOW = {"horizon": [10, 50], "centre": [False, True], "ridge": 1.0}, {"horizon": 50, "form": ["relative", "discounted"]}
UNTUNED = Study(
    name="untuned",
    steps=200_000,
    runs=50,
    tuning_runs=5,
    problems=[
        {"name": "ergodic", "states": 10, "actions": 2, "steps": 100_000, "settings_for": _rivals(250, *FAST)},
        {"name": "ergodic", "states": 20, "actions": 5, "settings_for": _rivals(500, *FAST)},
        {"name": "ergodic", "states": 50, "actions": 10, "steps": 1_000_000, "settings_for": _rivals(1000, *FAST)},
        {"name": "river-swim", "states": 6, "settings_for": _rivals(250, *SLOW)},
        {"name": "river-swim", "states": 12, "settings_for": _rivals(250, *SLOW)},
        {"name": "access-control", "settings_for": _rivals(500, *SLOW)},
        *(
            {
                "name": "deep-sea",
                "size": size,
                "steps": 10_000 * size,
                "features": "one-hot",
                "settings_for": _rivals(
                    30 * size,
                    {"horizon": 2 * size, "centre": [False, True], "ridge": 0.1},
                    {"horizon": 2 * size, "form": ["relative", "finite-horizon"]},
                ),
            }
            for size in (10, 20, 30)
        ),
    ],
    algorithms=RIVALS,
)
SCALED = replace(
    UNTUNED,
    name="untuned, rewards scaled",
    runs=10,
    tuning_runs=2,
    problems=[
        {
            **{key: value for key, value in problem.items() if key != "settings_for"},
            "reward_scale": SCALES,
            "settings_for": {"politex": {**problem["settings_for"]["politex"], "centre": False, "horizon": 10}},
        }
        for problem in UNTUNED.problems
    ],
    algorithms=[RIVALS[0], {**RIVALS[2], "tune": ["eta"], "together": True}],
)

# Evaluator × side information × norm × learning rate, everything else the same.
EVALUATORS = ["self-consistent", "lstd", "posterior", "monte-carlo"]
GUESSES = ["previous", "zero", "average", "predicted"]
ABLATION = Study(
    name="ablation",
    runs=20,
    problems=[
        {**problem, "settings": {"phase_length": length, "exploration": PARTS["exploration"]}}
        for length, problem in (
            (250, {"name": "ergodic", "states": 10, "actions": 2}),
            (500, {"name": "ergodic", "states": 20, "actions": 5}),
            (250, {"name": "river-swim", "states": 6}),
            (300, {"name": "deep-sea", "size": 10, "features": "one-hot"}),
        )
    ],
    algorithms=[
        *(
            {
                "name": "aapi",
                "label": f"{evaluator}, {guess}, {norm}",
                "evaluation": evaluator,
                "side_information": guess,
                "norm": norm,
                "eta": 1.0,
            }
            for evaluator in EVALUATORS
            for guess in GUESSES
            for norm in ("span", "sup")
            if (evaluator, guess) != ("monte-carlo", "predicted")  # which needs data of policies that have not acted
        ),
        *(
            {"name": name, "label": f"{evaluator}, {rate}", "evaluation": evaluator, **settings}
            for evaluator in EVALUATORS
            for name, rate, settings in (
                ("aapi", "previous, span, η 0.3", {"side_information": "previous", "norm": "span", "eta": 0.3}),
                ("politex", "constant η 0.01", {"eta": 0.01}),
                ("politex", "constant η 0.1", {"eta": 0.1}),
                ("politex", "constant η 1", {"eta": 1.0}),
                ("greedy", "greedy", {}),
            )
        ),
    ],
)
MORE = {"untuned": [UNTUNED, SCALED], "ablation": [ABLATION]}

# How a preset departs from the figures above; `others` is for the tables of one η, beside the figures.
PRESETS: dict[str, dict[str, Any]] = {
    "quick": {
        "points": 7,
        "shorter": 5,
        "figures": {"runs": 10, "tuning_runs": 1},
        "others": {"runs": 3, "tuning_runs": 1},
    },
    "paper": {"points": 13, "shorter": 1, "figures": {}, "others": {"runs": 5, "tuning_runs": 3}},
}
TUNING = 777  # added to the seed


def reproduction(figure: str = "all", preset: str = "quick", runs: int | None = None, seed: int = 0) -> list[Study]:
    """The studies behind a figure or all of the paper's: figures, one η for all problems, rewards on other scales.

    figure: also `untuned`, AAPI without tuning against tuned rivals; and `ablation`, every part of it exchanged.
    """
    one_of(("all", *FIGURES, *MORE), figure=figure)
    one_of(tuple(PRESETS), preset=preset)
    if figure in MORE:
        return [_beyond(study, PRESETS[preset], runs, seed) for study in MORE[figure]]
    chosen = PRESETS[preset]
    given = {} if runs is None else {"runs": runs}
    figures = [
        replace(
            study,
            **chosen["figures"] | given,
            algorithms=_tuned(chosen["points"]),
            seed=seed,
            tuning_seed=seed + TUNING,
            problems=[
                {**entry, "steps": entry.get("steps", study.steps) // chosen["shorter"]} for entry in study.problems
            ],
        )
        for name, study in FIGURES.items()
        if figure in ("all", name)
    ]
    problems = [problem for study in figures for problem in study.problems]
    others = chosen["others"] | {"runs": min(figures[0].runs, chosen["others"]["runs"])}
    together = [{**algorithm, "together": True} for algorithm in _tuned(chosen["points"])]
    one_eta = replace(figures[0], name="one η for all", problems=problems, algorithms=together, **others)
    scaled = [{**problem, "reward_scale": SCALES} for problem in problems]
    scales = replace(one_eta, name="one η, rewards scaled", problems=scaled, tuning_runs=1)
    return [*figures, one_eta, scales]


def _beyond(study: Study, preset: dict[str, Any], runs: int | None, seed: int) -> Study:
    """A study that is not the paper's, by a preset."""
    small = preset["shorter"] > 1
    return replace(
        study,
        runs=runs if runs is not None else min(study.runs, 5) if small else study.runs,
        tuning_runs=1 if small else study.tuning_runs,
        seed=seed,
        tuning_seed=seed + TUNING,
        problems=[{**entry, "steps": entry.get("steps", study.steps) // preset["shorter"]} for entry in study.problems],
    )
