"""The studies of the zoo, in two halves, as data."""

from __future__ import annotations

from dataclasses import replace

from aapi.experiments.paper_studies import PARTS, UNTUNED_AAPI, Table
from aapi.experiments.rival_studies import RIVALS_TUNED
from aapi.experiments.study import Study
from aapi.registry.zoo import HALVES, zoo

# The rivals are told the range of rewards. PSRL is slow where there are many states.
ALGORITHMS: list[Table] = [
    UNTUNED_AAPI,
    {"name": "greedy", "label": "greedy, same parts", **PARTS},
    {"name": "ucrl2b", "label": "ucrl2b, tuned", **RIVALS_TUNED["ucrl2b"], "tune": ["width"]},
]
PSRL: list[Table] = [{"name": "psrl", "label": "psrl, tuned", "rewards": ["known", "normal"], "tune": ["rewards"]}]
ZOO_STUDIES = {half: (f"zoo, {half}", f"zoo, {half}, psrl") for half in HALVES}
MOST_STATES = 200  # for PSRL
MOST_ZOO_RUNS = {psrl: 10 for _, psrl in ZOO_STUDIES.values()}  # it is slow


def zoo_studies(half: str) -> list[Study]:
    """AAPI without tuning, greedy policy iteration with the same parts, and rivals, on one half of the zoo."""
    models = {word: (problem.make(), problem.num_steps) for word, problem in zoo(half).items()}
    all_problems, psrl = ZOO_STUDIES[half]
    tables: list[Table] = [{"name": word, "model": model, "steps": steps} for word, (model, steps) in models.items()]
    small = [table for table in tables if models[str(table["name"])][0].num_states <= MOST_STATES]
    study = Study(name=all_problems, runs=50, tuning_runs=5, problems=tables, algorithms=ALGORITHMS, diagnostics=False)
    return [study, replace(study, name=psrl, problems=small, algorithms=PSRL)]
