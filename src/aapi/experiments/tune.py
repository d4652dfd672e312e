"""Tuning by Optuna (extra `tune`): any settings of any algorithm, on runs that no report should use."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.agent import Agent
from aapi.algorithms import run
from aapi.checks import at_least
from aapi.errors import AapiError, InvalidInput
from aapi.experiments.configuration import Configuration, Problem, configure
from aapi.experiments.description import described, digest
from aapi.experiments.store import locked_folder
from aapi.experiments.work import run_seed
from aapi.progress import progress_bar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

__all__ = ["Between", "Tuned", "tune"]

FILE = "tuning.journal"
LARGEST_SEED = 2**31  # the sampler's, with room for the number of trials
PARTS = 10  # of a run, after each of which it may be given up


@dataclass(frozen=True)
class Between:
    """A range to search in, on a logarithmic scale unless told otherwise; of whole numbers if both ends are."""

    low: float
    high: float
    log: bool = True


@dataclass(frozen=True)
class Tuned:
    """The best settings found, the average reward of their runs, and how trials ended."""

    settings: dict[str, Any]
    average_reward: float
    trials: int
    pruned: int
    failed: int
    trial: int
    importances: dict[str, float]


def tune(
    problem: Problem,
    algorithm: str,
    search: Mapping[str, Between | tuple[Any, ...]],
    out: str | os.PathLike[str],
    *,
    settings: Mapping[str, Any] | None = None,
    features: Any = None,
    make: Callable[..., Any] | None = None,
    steps: int = 100_000,
    runs: int = 5,
    trials: int = 50,
    seed: int = 777,
    workers: int = 1,
    prune: bool = True,
    progress: bool = False,
) -> Tuned:
    """Search for the settings with the highest average reward over `runs` runs with seed `seed`.

    search: a range or a tuple of choices for each setting; the others are fixed by `settings`, or have their defaults.
    out: a folder, whose journal is gone on with until it has `trials` trials of this very question.
    workers: trials at once. With more than one, what is tried depends on which ends first; with one, on the seed only.
    prune: give a trial up early where it is worse than half of the others were at that point of the run.
    """
    optuna = _optuna()
    at_least(1, steps=steps, runs=runs, trials=trials, workers=workers)
    at_least(0, seed=seed)
    if seed > LARGEST_SEED:
        raise InvalidInput(f"seed must be at most {LARGEST_SEED}, not {seed}")
    fixed = dict(settings or {})
    check_search(search, fixed)
    configured = functools.partial(_configured, problem, algorithm, fixed, steps, features, make)
    tried = configured({name: _first(choices) for name, choices in search.items()})  # what is wrong should be said now
    question = f"{problem.label} {digest([tried.description, described([fixed, dict(search), runs, seed])])}"
    lock = locked_folder(Path(out))
    try:
        study = _study(optuna, Path(out), question, seed, prune)
        finished = _tidy(optuna, study)

        def objective(trial: Any) -> float:
            configuration = configured({name: _suggested(trial, name, search[name]) for name in search})
            return _average_reward(optuna, trial, configuration, seed, runs)

        with progress_bar("tuning", max(0, trials - finished), show=progress) as advance:
            study.optimize(
                objective, n_trials=max(0, trials - finished), n_jobs=workers, catch=(AapiError,),
                callbacks=[lambda study, _trial: advance(1, _told(study))],
            )  # fmt: skip
        return _result(optuna, study, fixed)
    finally:
        lock.close()


def check_search(search: Mapping[str, Between | tuple[Any, ...]], fixed: Mapping[str, Any]) -> None:
    """Raise an error if there is nothing to search, or a range is none."""
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


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InvalidInput("tuning needs Optuna: pip install 'aapi[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _configured(
    problem: Problem, algorithm: str, fixed: Mapping[str, Any], steps: int, features: Any, make: Any,
    found: Mapping[str, Any],
) -> Configuration:  # fmt: skip
    return configure(problem, algorithm, {**fixed, **found}, steps, features, make)


def _study(optuna: Any, folder: Path, name: str, seed: int, prune: bool) -> Any:
    path = folder / FILE
    _cut_half_a_line(path)
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    try:
        storage = optuna.storages.JournalStorage(backend)
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} is damaged ({error}): nothing was changed; move it away to start anew") from None
    # On resumption the sampler must not repeat its first draws.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    study.pruner = optuna.pruners.MedianPruner(n_warmup_steps=2) if prune else optuna.pruners.NopPruner()
    return study


def _cut_half_a_line(path: Path) -> None:
    """What a process was killed in the middle of writing was never said, and must not spoil the next line."""
    if path.exists():
        with path.open("rb+") as file:
            contents = file.read()
            file.truncate(contents.rfind(b"\n") + 1)


def _tidy(optuna: Any, study: Any) -> int:
    """How many trials came to an end; those that a killed process left running are noted as failed."""
    running = optuna.trial.TrialState.RUNNING
    for trial in study.get_trials(states=(running,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return sum(trial.state.name in ("COMPLETE", "PRUNED") for trial in study.trials)


def _first(choices: Between | tuple[Any, ...]) -> Any:
    return choices.low if isinstance(choices, Between) else choices[0]


def _suggested(trial: Any, name: str, choices: Between | tuple[Any, ...]) -> Any:
    if not isinstance(choices, Between):
        return trial.suggest_categorical(name, choices)
    whole = isinstance(choices.low, int) and isinstance(choices.high, int)
    suggest = trial.suggest_int if whole else trial.suggest_float
    return suggest(name, choices.low, choices.high, log=choices.log)


def _average_reward(optuna: Any, trial: Any, configuration: Configuration, seed: int, runs: int) -> float:
    """The mean over runs, reported after each tenth of them."""
    steps, reported = configuration.steps, 0

    def report(so_far: int, averages: Any) -> None:
        nonlocal reported
        if so_far * PARTS // steps > reported and so_far < steps:
            reported = so_far * PARTS // steps
            trial.report(float(np.mean(averages)), reported)
            if trial.should_prune():
                raise optuna.TrialPruned

    if configuration.problem.is_foreign:
        return _agents(configuration, seed, runs, report)
    result = run(
        configuration.algorithm, configuration.problem.make(), steps, runs, seed, features=configuration.features,
        callback=report,
    )  # fmt: skip
    return float(result.average_reward[:, -1].mean())


def _agents(configuration: Configuration, seed: int, runs: int, report: Callable[[int, Any], None]) -> float:
    agents = [
        Agent(configuration.algorithm, configuration.problem.make(), configuration.features, run_seed(seed, number))
        for number in range(runs)
    ]
    try:
        for part in range(1, PARTS + 1):
            for agent in agents:
                if (left := part * configuration.steps // PARTS - agent.num_steps) > 0:
                    agent.learn(left)
            averages = [agent.total_reward / agent.num_steps for agent in agents]
            report(agents[0].num_steps, averages)
        return float(np.mean(averages))
    finally:
        for agent in agents:
            if agent.env is not None:
                agent.env.close()


def _told(study: Any) -> str:
    try:
        return f"best {study.best_value:.4g}"
    except ValueError:
        return ""


def _result(optuna: Any, study: Any, fixed: dict[str, Any]) -> Tuned:
    states = [trial.state.name for trial in study.trials]
    if "COMPLETE" not in states:
        raise InvalidInput(f"none of {len(states)} trials came to an end: the ranges may hold no valid settings")
    importances: dict[str, float] = {}
    if states.count("COMPLETE") > 3 and len(study.best_params) > 1:
        importances = dict(optuna.importance.get_param_importances(study))
    return Tuned(
        settings=fixed | study.best_params,
        average_reward=study.best_value,
        trials=len(states),
        pruned=states.count("PRUNED"),
        failed=states.count("FAIL"),
        trial=study.best_trial.number,
        importances=importances,
    )
