"""The studies behind the paper's figures, and those of docs/untuned.md, as data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from aapi.checks import one_of
from aapi.experiments.study import Study

Table: TypeAlias = dict[str, object]  # one of [[problems]] or [[algorithms]], or settings in it


def _tuned(points: int) -> list[Table]:
    """AAPI, POLITEX and RLSVI, with η, or the ridge, tuned over so many values."""
    grid = {"from": 0.01, "to": 100.0, "points": points}
    return [
        {"name": "aapi-paper", "eta": grid, "tune": ["eta"]},
        {"name": "politex", "eta": grid, "tune": ["eta"]},
        {"name": "rlsvi", "ridge": grid, "tune": ["ridge"]},
    ]


ALGORITHMS = _tuned(13)
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
PARTS = {"evaluation": "self-consistent", "exploration": "discovery+posterior", "phase_length": "growing"}
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
# Rivals with published constants, and with one setting tuned over five values.
WIDTHS = [0.001, 0.003, 0.01, 0.03, 0.1]
NARROW = [0.0003, 0.001, 0.003, 0.01, 0.03]
EPSILONS = [0.3, 0.1, 0.03, 0.01, 0.003]
RIVALS_TUNED: dict[str, Table] = {
    "ucrl2": {"width": WIDTHS},
    "ucrl2b": {"width": NARROW},
    "kl-ucrl": {"width": WIDTHS},
    "scal": {"width": NARROW},
    "psrl": {"width": [0.5, 0.7, 0.85, 1.2, 1.5]},
    "rmax": {"known_after": [1, 3, 10, 30, 100]},
    "oomd": {"eta": [0.0003, 0.001, 0.003, 0.03, 0.1]},
    "optimistic-q": {"width": [0.0003, 0.001, 0.003, 0.01, 0.1]},
    "differential-q": {"epsilon": EPSILONS},
    "differential-sarsa": {"epsilon": EPSILONS},
    "rvi-q": {"epsilon": EPSILONS},
    "r-learning": {"epsilon": EPSILONS},
    "centred-q": {"epsilon": EPSILONS},
}
FOR_ERGODIC: dict[str, Table] = {"imed-rl": {"width": [0.5, 0.7, 0.85, 1.2, 1.5]}}  # slow where there are many states
SPANS = [1.0, 1.0, 1.0, 6.4, 15.0, 26.0, 34.0, 74.0]  # of the optimal bias of each problem, rounded up, for SCAL


def _published_and_tuned(rivals: dict[str, Table]) -> list[Table]:
    """Two of each: as published, and tuned."""
    found: list[Table] = []
    for name, tuned in rivals.items():
        found += [{"name": name}, {"name": name, "label": f"{name}, tuned", **tuned, "tune": list(tuned)}]
    return found


RIVALS = Study(
    name="rivals", steps=200_000, runs=20, tuning_runs=3,
    problems=[
        {**problem, "settings_for": {label: {"span": span} for label in ("scal", "scal, tuned")}}
        for problem, span in zip(UNTUNED.problems[:8], SPANS, strict=True)
    ],
    algorithms=[
        UNTUNED_AAPI,
        {"name": "greedy", "label": "greedy, same parts", **PARTS},
        *_published_and_tuned(RIVALS_TUNED),
    ],
)  # fmt: skip
ERGODIC_RIVALS = replace(
    RIVALS, name="rivals for ergodic problems", algorithms=_published_and_tuned(FOR_ERGODIC),
    problems=[{k: v for k, v in problem.items() if k != "settings_for"} for problem in UNTUNED.problems[:2]],
)  # fmt: skip
# Rewards that change, with known dynamics: why Q-functions are averaged.
CHANGING = Study(
    name="changing rewards", steps=204_800, runs=50,
    problems=[{"name": "against-the-leader"}, {"name": "against-the-policy"}],
    algorithms=[{"name": "aapi-paper"}, {"name": "greedy"}, {"name": "politex"}],
)  # fmt: skip
MORE = {
    "untuned": [UNTUNED, SCALED], "ablation": [ABLATION], "rivals": [RIVALS, ERGODIC_RIVALS],
    "changing-rewards": [CHANGING],
}  # fmt: skip
TUNING_SEED_OFFSET = 777  # added to the seed


@dataclass(frozen=True)
class Preset:
    """How large the studies are. None: as they are given above.

    points: of the grids of η and the ridge; shorter: what numbers of steps are divided by; runs, tuning_runs: of the
        figures; other_runs, other_tuning_runs: of the tables of one η for all problems.
    """

    points: int
    shorter: int
    runs: int | None
    tuning_runs: int | None
    other_runs: int
    other_tuning_runs: int


PRESETS = {
    "quick": Preset(points=7, shorter=5, runs=10, tuning_runs=1, other_runs=3, other_tuning_runs=1),
    "paper": Preset(points=13, shorter=1, runs=None, tuning_runs=None, other_runs=5, other_tuning_runs=3),
}


def reproduction(figure: str = "all", preset: str = "quick", runs: int | None = None, seed: int = 0) -> list[Study]:
    """The studies behind a figure or all of the paper's: figures, one η for all problems, rewards on other scales.

    figure: also `untuned`, AAPI without tuning against tuned rivals; `ablation`, every part of it exchanged;
        `rivals`, all other algorithms, as published and tuned; and `changing-rewards`, regret in hindsight.
    runs: in place of the preset's. seed: of the reported runs; tuning runs have another one.
    """
    one_of(("all", *FIGURES, *MORE), figure=figure)
    one_of(tuple(PRESETS), preset=preset)
    chosen = PRESETS[preset]
    if figure in MORE:
        short = chosen.shorter > 1
        return [
            _resized(study, chosen, min(study.runs, 5) if short and runs is None else runs, 1 if short else None, seed)
            for study in MORE[figure]
        ]
    algorithms, count = _tuned(chosen.points), chosen.runs if runs is None else runs
    figures = [
        replace(_resized(study, chosen, count, chosen.tuning_runs, seed), algorithms=algorithms)
        for name, study in FIGURES.items()
        if figure in ("all", name)
    ]
    problems = [problem for study in figures for problem in study.problems]
    one_eta = replace(
        figures[0], name="one η for all", problems=problems, runs=min(figures[0].runs, chosen.other_runs),
        tuning_runs=chosen.other_tuning_runs, algorithms=[{**algorithm, "together": True} for algorithm in algorithms],
    )  # fmt: skip
    scaled = [{**problem, "reward_scale": SCALES} for problem in problems]
    return [*figures, one_eta, replace(one_eta, name="one η, rewards scaled", problems=scaled, tuning_runs=1)]


def _resized(study: Study, preset: Preset, runs: int | None, tuning_runs: int | None, seed: int) -> Study:
    """A study with other numbers of runs, if they are given, fewer steps by the preset, and other seeds."""
    steps = [cast("int", problem.get("steps", study.steps)) // preset.shorter for problem in study.problems]
    return replace(
        study,
        runs=study.runs if runs is None else runs,
        tuning_runs=study.tuning_runs if tuning_runs is None else tuning_runs,
        seed=seed,
        tuning_seed=seed + TUNING_SEED_OFFSET,
        problems=[{**problem, "steps": each} for problem, each in zip(study.problems, steps, strict=True)],
    )
