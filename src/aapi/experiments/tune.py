"""Tuning by Optuna (extra `tune`): any settings of any algorithm, on runs that no report should use.

Trials are proposed by the tree-structured Parzen estimator (Bergstra et al. 2011).
"""

from __future__ import annotations

import math
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from aapi.checks import at_least
from aapi.errors import AapiError, InvalidInput, install_extra
from aapi.experiments.agent_runs import new_agent
from aapi.experiments.compiled_runs import compiled_result
from aapi.experiments.configuration import Configuration, FeatureMap, MakeAlgorithm, configure
from aapi.experiments.database import locked_folder
from aapi.experiments.description import describe, digest
from aapi.json_types import Setting
from aapi.progress import progress_bar

try:
    import optuna
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import TrialState
except ImportError:
    raise InvalidInput(f"tuning needs Optuna: {install_extra('tune')}") from None

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Problem

FILE = "tuning.journal"
LARGEST_SEED = 2**31  # the sampler's, with room for the number of trials
REPORTS = 10  # of a run, after each of which its trial may be given up


@dataclass(frozen=True)
class Between:
    """A range to search in, on a logarithmic scale unless `log` is False; of whole numbers if both ends are."""

    low: float
    high: float
    log: bool = True


Report: TypeAlias = "Callable[[int, NDArray[np.float64]], None]"  # of the steps and average rewards so far
Choices: TypeAlias = Between | tuple[Setting, ...]
Search: TypeAlias = "Mapping[str, Choices]"


@dataclass(frozen=True)
class Tuned:
    """The best settings found, the average reward of their runs, and how trials ended.

    trial: the number of the best one; importances: of each searched setting, in [0, 1], by Optuna.
    """

    settings: dict[str, object]
    average_reward: float
    trials: int
    pruned: int
    failed: int
    trial: int
    importances: dict[str, float]


def tune(
    problem: Problem, algorithm: str, search: Search, out: str | os.PathLike[str], *,
    settings: Mapping[str, object] | None = None, features: str | FeatureMap | None = None,
    make: MakeAlgorithm | None = None, steps: int = 100_000, runs: int = 5, trials: int = 50, seed: int = 777,
    workers: int = 1, prune: bool = True, progress: bool = False,
) -> Tuned:  # fmt: skip
    """Search for the settings with the highest average reward over `runs` runs with seed `seed`.

    search: a range or a tuple of choices for each setting; the others are fixed by `settings`, or have their defaults.
    out: a folder, whose journal is continued until it has `trials` trials of this very question.
    workers: trials at once. With more than one, what is tried depends on which ends first; with one, on the seed only.
    prune: give a trial up early where it is worse than half of the others were at that point of the run.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    at_least(1, steps=steps, runs=runs, trials=trials, workers=workers)
    at_least(0, seed=seed)
    if seed > LARGEST_SEED:
        raise InvalidInput(f"seed must be at most {LARGEST_SEED}, not {seed}")
    fixed = dict(settings or {})
    check_search(search, fixed)

    def configuration(found: Mapping[str, object]) -> Configuration:
        return configure(problem, algorithm, {**fixed, **found}, steps, features, make)

    def mean_reward(trial: optuna.Trial) -> float:
        tried = configuration({name: _suggest(trial, name, choices) for name, choices in search.items()})
        report = _reporter(trial, tried.steps)
        if problem.is_gymnasium:
            return _agents_average(tried, seed, runs, report)
        return float(compiled_result(tried, seed, 0, runs, report).average_reward[:, -1].mean())

    # A name that no other question has; before the folder is made: what is wrong should be said now.
    first = {name: each.low if isinstance(each, Between) else each[0] for name, each in search.items()}
    try:
        described = configuration(first).description
    except InvalidInput as error:
        wrong = str(error).partition(" ")[0]
        raise InvalidInput(f"search {wrong}={first[wrong]}: {error}" if wrong in first else str(error)) from None
    question = digest([described, describe([fixed, dict(search), runs, seed])])
    with closing(locked_folder(Path(out))):
        study = _open_study(Path(out), f"{problem.label} {question}", seed, prune)
        left = max(0, trials - sum(trial.state in (TrialState.COMPLETE, TrialState.PRUNED) for trial in study.trials))
        with progress_bar("tuning", left, show=progress) as advance:
            study.optimize(
                mean_reward, n_trials=left, n_jobs=workers, catch=(AapiError,),
                callbacks=[lambda study, _trial: advance(1, _describe_best(study))],
            )  # fmt: skip
        return _result(study, fixed)


def check_search(search: Search, fixed: Mapping[str, object]) -> None:
    """Raise an error if there is nothing to search, or a range is empty."""
    if not search:
        raise InvalidInput("there is nothing to search: give a setting and its range")
    for name, choices in search.items():
        if name in fixed:
            raise InvalidInput(f"the setting {name} is both fixed and searched: drop one")
        if isinstance(choices, Between):
            if not -math.inf < choices.low < choices.high < math.inf or (choices.log and choices.low <= 0):
                raise InvalidInput(
                    f"the range of {name} needs low < high, and low > 0 on a logarithmic scale, not "
                    f"{choices.low}..{choices.high}"
                )
        elif not choices:
            raise InvalidInput(f"the choices of {name} are none")


def _open_study(folder: Path, name: str, seed: int, prune: bool) -> optuna.Study:
    path = folder / FILE
    _cut_half_a_line(path)
    backend = JournalFileBackend(str(path))
    try:
        storage = optuna.storages.JournalStorage(backend)
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} is damaged ({error}): nothing was changed; move it away to start anew") from None
    # On resumption the sampler must not repeat its first draws.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    study.pruner = optuna.pruners.MedianPruner(n_warmup_steps=2) if prune else optuna.pruners.NopPruner()
    for trial in study.get_trials(states=(TrialState.RUNNING,)):  # which a killed process left
        study.tell(trial.number, state=TrialState.FAIL)
    return study


def _cut_half_a_line(path: Path) -> None:
    """A line that a process was killed in the middle of writing must not spoil the next one."""
    if path.exists():
        with path.open("rb+") as file:
            contents = file.read()
            file.truncate(contents.rfind(b"\n") + 1)


def _suggest(trial: optuna.Trial, name: str, choices: Choices) -> Setting:
    if not isinstance(choices, Between):
        return cast("Setting", trial.suggest_categorical(name, choices))
    if isinstance(choices.low, int) and isinstance(choices.high, int):
        return trial.suggest_int(name, choices.low, choices.high, log=choices.log)
    return trial.suggest_float(name, choices.low, choices.high, log=choices.log)


def _reporter(trial: optuna.Trial, steps: int) -> Report:
    """Reports the average reward so far to a trial after each tenth of its runs, and ends those that are hopeless."""
    reported = 0

    def report(so_far: int, averages: NDArray[np.float64]) -> None:
        nonlocal reported
        if so_far * REPORTS // steps > reported and so_far < steps:
            reported = so_far * REPORTS // steps
            trial.report(float(np.mean(averages)), reported)
            if trial.should_prune():
                raise optuna.TrialPruned

    return report


def _agents_average(configuration: Configuration, seed: int, runs: int, report: Report) -> float:
    """The mean average reward of agents that learn side by side, a tenth of the steps at a time."""
    with ExitStack() as stack:
        agents = [stack.enter_context(new_agent(configuration, seed, number)) for number in range(runs)]
        for part in range(1, REPORTS + 1):
            for agent in agents:
                if (left := part * configuration.steps // REPORTS - agent.num_steps) > 0:
                    agent.learn(left)
            averages = np.array([agent.total_reward / agent.num_steps for agent in agents])
            report(agents[0].num_steps, averages)
        return float(averages.mean())


def _describe_best(study: optuna.Study) -> str:
    try:
        return f"best {study.best_value:.4g}"
    except ValueError:
        return ""


def _result(study: optuna.Study, fixed: dict[str, object]) -> Tuned:
    states = [trial.state.name for trial in study.trials]
    if "COMPLETE" not in states:
        raise InvalidInput(f"none of {len(states)} trials came to an end: the ranges may hold no valid settings")
    enough = states.count("COMPLETE") > 3 and len(study.best_params) > 1
    return Tuned(
        settings=fixed | study.best_params, average_reward=study.best_value, trials=len(states),
        pruned=states.count("PRUNED"), failed=states.count("FAIL"), trial=study.best_trial.number,
        importances=dict(optuna.importance.get_param_importances(study)) if enough else {},
    )  # fmt: skip
