"""What `aapi reproduce` runs: the studies of this package, in the sizes of its presets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from aapi.checks import one_of
from aapi.experiments.operations_studies import OPERATIONS, PAPER_ONLY
from aapi.experiments.paper_studies import ABLATION, CHANGING, FIGURES, SCALED, SCALES, UNTUNED, tuned_algorithms
from aapi.experiments.rival_studies import MOST_RUNS, RIVAL_STUDIES
from aapi.experiments.zoo_studies import MOST_ZOO_RUNS, zoo_studies

if TYPE_CHECKING:
    from aapi.experiments.study import Study

MORE = {
    "untuned": [UNTUNED, SCALED], "ablation": [ABLATION], "rivals": RIVAL_STUDIES, "changing-rewards": [CHANGING],
    "operations": OPERATIONS,
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


def reproduction(
    figure: str = "all", preset: str = "quick", runs: int | None = None, seed: int = 0, half: str = "development"
) -> list[Study]:
    """The studies behind a figure or all of the paper's: figures, one η for all problems, rewards on other scales.

    figure: also `untuned`, AAPI without tuning against tuned rivals; `ablation`, every part of it exchanged;
        `rivals`, all other algorithms, as published and tuned; `changing-rewards`, regret in hindsight; `zoo`, many
        problems; and `operations`, queues, stock, machines and a continuing suite.
    runs: in place of the preset's. seed: of the reported runs; tuning runs have another one.
    half: of the zoo. The one for reporting is for that alone.
    """
    one_of(("all", *FIGURES, *MORE, "zoo"), figure=figure)
    one_of(tuple(PRESETS), preset=preset)
    chosen = PRESETS[preset]
    studies = zoo_studies(half) if figure == "zoo" else MORE.get(figure)
    if studies is not None:
        quick = chosen.shorter > 1
        return [
            _resized(study, chosen, _run_count(study, chosen, runs), 1 if quick else None, seed)
            for study in studies
            if not (quick and study.name in PAPER_ONLY)
        ]
    algorithms, count = tuned_algorithms(chosen.points), chosen.runs if runs is None else runs
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


def _run_count(study: Study, preset: Preset, given: int | None) -> int:
    """As many runs as are wanted; fewer of what takes a minute each."""
    wanted = given if given is not None else min(study.runs, 5) if preset.shorter > 1 else study.runs
    return min(wanted, (MOST_RUNS | MOST_ZOO_RUNS).get(study.name, wanted))


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
