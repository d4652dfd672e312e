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
    """The studies behind a figure or all of them: the figures, one η for all problems, and rewards on other scales."""
    one_of(("all", *FIGURES), figure=figure)
    one_of(tuple(PRESETS), preset=preset)
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
