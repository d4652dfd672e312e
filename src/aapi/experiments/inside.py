"""Inside a learner: one run done again, to the same bits, and what it saw, believed and did in every state."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.algorithms import simulator
from aapi.errors import AapiError
from aapi.experiments.jobs import Job
from aapi.experiments.store import StoreError
from aapi.experiments.work import expected_seconds, phases_of, run_key
from aapi.mdp import FiniteMDP, solve
from aapi.simulation import ContinuousProblem, LinearPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.algorithms import Phase
    from aapi.experiments.configuration import Configuration, Problem
    from aapi.experiments.store import Run, Store
    from aapi.experiments.study import Cell

__all__ = ["Inside", "inside_jobs", "median_run", "packed_inside", "read_inside", "stored_inside"]

FRAMES = 32  # phases that are kept, early ones closer together
LARGEST = 2500  # states
MOST = 36  # runs of a folder
SIDE = 33  # points of a slice in each direction
NOTHING = np.empty(0, dtype=np.int64)
QUANTITIES = ("visits", "policy", "q_hat", "temperature", "surprise")


@dataclass(frozen=True, eq=False)
class Inside:
    """about: what the axes are; phases: the numbers of those that were kept, which end at `steps`.

    tables: (phases, states[, actions]).

    `visits` are counts of the phase, `policy` is π_k, by which it acted, `q_hat` Q̂_k, `temperature` η_k(x) and
    `surprise` ‖Q̂_k − M_k‖; a table that an algorithm does not have is missing.
    """

    about: dict[str, Any]
    phases: NDArray[np.int64]
    steps: NDArray[np.int64]
    tables: dict[str, NDArray[np.floating[Any]]]


def median_run(runs: Sequence[Run]) -> Run | None:
    """The run in the middle, by average reward: neither the luckiest nor the one that locked in."""
    done = sorted((run.average_reward, run.number, run) for run in runs if run.average_reward is not None)
    return done[(len(done) - 1) // 2][2] if done else None


def inside_jobs(chosen: Sequence[tuple[Cell, Configuration]], store: Store) -> Iterator[Job]:
    """The median run of each cell is looked into; but not of Gymnasium environments, or where that was done before."""
    seen: set[tuple[str, str]] = set()  # the first study that has an algorithm on a problem
    for cell, configuration in chosen:
        run = median_run(store.runs(configuration.key, cell.seed, range(cell.runs)))
        what = (cell.problem.label, cell.algorithm)
        if run is None or what in seen or len(seen) == MOST or not _can_be_looked_into(cell.problem):
            continue
        seen.add(what)
        kept = stored_inside(store, run.key)
        if kept is None or "error" in kept.about:  # what went wrong, or was damaged, is done again
            key, arguments = run_key(configuration.key, cell.seed, run.number), (configuration, cell.seed, run.number)
            yield Job(key, expected_seconds(configuration), _look, arguments)


def _can_be_looked_into(problem: Problem) -> bool:
    if problem.is_foreign or problem.reward_scale != 1.0:
        return False
    env = problem.make()
    return not isinstance(env, FiniteMDP) or env.num_states <= LARGEST


def stored_inside(store: Store, run: str) -> Inside | None:
    """What was kept of a run; where that is damaged, an error in place of it."""
    try:
        kept = store.inside(run)
        return None if kept is None else read_inside(kept)
    except (StoreError, OSError, ValueError, KeyError, zipfile.BadZipFile):
        return Inside({"error": "what was kept of it is damaged"}, NOTHING, NOTHING, {})


def read_inside(contents: bytes) -> Inside:
    """What was kept of a run; no code is run."""
    with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(arrays.pop("about").item())
    if "kind" not in about:  # no tables: an error, or the parts of regret
        return Inside(about, NOTHING, NOTHING, {})
    return Inside(about, arrays.pop("phases"), arrays.pop("steps"), arrays)


def packed_inside(about: dict[str, Any], **arrays: Any) -> bytes:
    """For `read_inside`."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about, allow_nan=False)), **arrays)
    return file.getvalue()


def _look(configuration: Configuration, seed: int, number: int) -> bytes:
    env = configuration.problem.make()
    simulation = simulator(env, configuration.features, seed)([number])
    see = _Slice(env, simulation.features) if isinstance(env, ContinuousProblem) else _Table(env)
    wanted = frames(phases_of(configuration, simulation.shape[1]))
    kept: list[tuple[int, int]] = []
    seen: dict[str, list[Any]] = {name: [] for name in QUANTITIES}
    for phase in configuration.algorithm.phases(simulation, configuration.steps):
        if phase.number in wanted and phase.exploring is None:
            kept.append((phase.number, simulation.time))
            for name, table in see(phase).items():
                seen[name].append(table)
    if not kept:
        raise AapiError("its phases are not numbered from 1 on")
    tables = {name: _compact(found) for name, found in seen.items() if len(found) == len(kept)}
    phases, steps = np.array(kept).T
    return packed_inside(see.about | {"run": number}, phases=phases, steps=steps, **tables)


def _compact(tables: list[Any]) -> NDArray[np.floating[Any]]:
    """Half the bytes, where the numbers allow it."""
    whole = np.array(tables, dtype=np.float64)
    return whole if np.abs(whole).max(initial=0.0) > np.finfo(np.float32).max else whole.astype(np.float32)


def frames(num_phases: int) -> list[int]:
    """Which phases to keep: half of them evenly spaced, half geometrically."""
    even, early = np.linspace(1, num_phases, FRAMES // 2), np.geomspace(1, num_phases, FRAMES // 2)
    return [int(k) for k in np.unique(np.concatenate([even, early]).round())]


class _Table:
    """Every state of a finite problem."""

    def __init__(self, env: FiniteMDP) -> None:
        self.num_states = env.num_states
        names = env.action_names or tuple(f"action {a}" for a in range(env.num_actions))
        self.about: dict[str, Any] = {"kind": "states", "actions": list(names), "optimal": solve(env).policy.tolist()}
        if env.grid_shape is not None:
            self.about |= {"kind": "grid", "shape": list(env.grid_shape)}

    def __call__(self, phase: Phase) -> dict[str, Any]:
        found = {"visits": np.bincount(phase.data.states[0], minlength=self.num_states), "policy": phase.policy[0]}
        if phase.q_hat is not None:
            found["q_hat"] = phase.q_hat[0]
        if phase.temperature is not None:
            found["temperature"] = np.broadcast_to(phase.temperature[0], self.num_states)
        if phase.surprise is not None:
            found["surprise"] = phase.surprise[0]
        return found


class _Slice:
    """The last two numbers of an observation, CartPole's angle and angular velocity; the others in their middle."""

    def __init__(self, env: ContinuousProblem, basis: Any) -> None:
        self.basis = basis
        self.edges = [np.linspace(env.low[j], env.high[j], SIDE + 1) for j in (-2, -1)]
        middles = [(edges[1:] + edges[:-1]) / 2 for edges in self.edges]
        down, across = np.meshgrid(*middles, indexing="ij")
        points = np.tile((np.array(env.low) + env.high) / 2, (SIDE * SIDE, 1))
        points[:, -2], points[:, -1] = down.ravel(), across.ravel()
        self.points = points
        self.about: dict[str, Any] = {
            "kind": "slice", "actions": list(env.action_names), "shape": [SIDE, SIDE],
            "axes": [middle.tolist() for middle in middles],
        }  # fmt: skip

    def __call__(self, phase: Phase) -> dict[str, Any]:
        seen = phase.data.states[0][:, -2:]
        visits, _, _ = np.histogram2d(seen[:, 0], seen[:, 1], bins=self.edges)
        found = {"visits": visits.ravel()}
        if isinstance(phase.policy, LinearPolicy):
            found["policy"] = phase.policy.probabilities(self.basis, self.points[None])[0]
        if phase.q_hat is not None:
            found["q_hat"] = self.basis(self.points) @ phase.q_hat[0]
        if phase.temperature is not None and isinstance(phase.next_policy, LinearPolicy):
            found["temperature"] = phase.next_policy.temperature(self.basis, self.points[None])[0]
        return found
