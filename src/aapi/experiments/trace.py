"""Learner traces: one run repeated, to the same bits, and what the learner saw, estimated and did in every state."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from aapi.batch import simulator
from aapi.environments import ContinuousProblem
from aapi.errors import AapiError
from aapi.experiments.database import StoreError
from aapi.learners import Phase, play
from aapi.mdp import FiniteMDP, solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aapi.approximation import QSpace
    from aapi.environments import ChangingRewards
    from aapi.experiments.configuration import Configuration, Problem
    from aapi.experiments.store import Run, Store
    from aapi.json_types import Json, JsonObject

FRAMES = 32  # phases of a trace, early ones closer together
MOST_STATES = 2500
SLICE_POINTS = 33  # of a slice in each direction
NONE = np.empty(0, dtype=np.int64)
QUANTITIES = ("visits", "policy", "q_hat", "temperature", "surprise")
DAMAGED = "what was stored of it is damaged"
Table: TypeAlias = NDArray[np.float64] | NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LearnerTrace:
    """Some phases of one run.

    about: what the axes are; phases: the numbers of the phases, (frames,); steps: the steps at which these end.
    tables: (frames, states[, actions]) each: `visits`, counts in the phase; `policy`, π_k, by which it acted; `q_hat`,
        Q̂_k; `temperature`, η_k(x); `surprise`, ‖Q̂_k − M_k‖. A table that an algorithm does not have is missing.
    """

    about: JsonObject
    phases: NDArray[np.int64]
    steps: NDArray[np.int64]
    tables: dict[str, Table]


def median_run(runs: Sequence[Run]) -> Run | None:
    """The run in the middle, by average reward: neither the luckiest nor the worst."""
    done = sorted((run.average_reward, run.number, run) for run in runs if run.average_reward is not None)
    return done[(len(done) - 1) // 2][2] if done else None


def is_traceable(problem: Problem) -> bool:
    """Whether it is compiled, and has no more states than can be shown."""
    if problem.is_gymnasium or problem.reward_scale != 1.0:
        return False
    env = problem.make_model()
    return isinstance(env, ContinuousProblem) or env.dynamics.num_states <= MOST_STATES


def stored_trace(store: Store, key: str) -> LearnerTrace | None:
    """The trace in the store; an error in its `about`, if it is damaged."""
    try:
        contents = store.trace(key)
        return None if contents is None else read_trace(contents)
    except (StoreError, OSError, ValueError, KeyError, zipfile.BadZipFile):
        return LearnerTrace({"error": DAMAGED}, NONE, NONE, {})


def read_trace(contents: bytes) -> LearnerTrace:
    """A trace from the bytes that `pack_trace` made; no code in them is executed."""
    with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(arrays.pop("about").item())
    if "kind" not in about:  # no tables: an error, or a regret decomposition
        return LearnerTrace(about, NONE, NONE, {})
    return LearnerTrace(about, arrays.pop("phases"), arrays.pop("steps"), arrays)


def pack_trace(about: Mapping[str, Json], arrays: Mapping[str, NDArray[np.int64] | Table] | None = None) -> bytes:
    """JSON and arrays as the bytes of an .npz file."""
    file = io.BytesIO()
    named = {"about": np.array(json.dumps(about, allow_nan=False)), **(arrays or {})}
    np.savez_compressed(file, **cast("dict[str, Any]", named))
    return file.getvalue()


def trace_run(configuration: Configuration, seed: int, number: int) -> bytes:
    """Repeat a run, and pack what some of its phases have."""
    env = configuration.problem.make_model()
    simulation = simulator(env, configuration.compiled_features, seed)([number])
    view = _slice_view(env) if isinstance(env, ContinuousProblem) else _states_view(env)
    wanted = frames(configuration.num_phases)
    taken: list[tuple[int, int]] = []  # numbers of phases, and the steps at which these end
    seen: dict[str, list[NDArray[np.float64]]] = {name: [] for name in QUANTITIES}
    for phase in play(configuration.algorithm, simulation, configuration.steps):
        if phase.number in wanted and phase.exploring is None:
            taken.append((phase.number, simulation.time))
            for name, table in _tables(view, simulation.space, phase).items():
                seen[name].append(table)
    if not taken:
        raise AapiError("its phases are not numbered from 1 on")
    tables = {name: _compact(found) for name, found in seen.items() if len(found) == len(taken)}
    numbers, steps = np.array(taken).T
    return pack_trace(view.about | {"run": number}, {"phases": numbers, "steps": steps, **tables})


def _compact(tables: list[NDArray[np.float64]]) -> Table:
    """Half the bytes, where the numbers allow it."""
    whole = np.array(tables, dtype=np.float64)
    return whole if np.abs(whole).max(initial=0.0) > np.finfo(np.float32).max else whole.astype(np.float32)


def frames(num_phases: int) -> list[int]:
    """Which phases to keep: half of them evenly spaced, half geometrically."""
    even, early = np.linspace(1, num_phases, FRAMES // 2), np.geomspace(1, num_phases, FRAMES // 2)
    return [int(k) for k in np.unique(np.concatenate([even, early]).round())]


def _tables(view: _View, space: QSpace, phase: Phase) -> dict[str, NDArray[np.float64]]:
    """What a phase has at the points of a view, (points[, actions])."""
    points = view.points[None]
    found = {"visits": view.visits(phase), "policy": space.probabilities(phase.policy, points)[0]}
    if phase.q_hat is not None:
        found["q_hat"] = space.values(phase.q_hat, points)[0]
    if phase.temperature is not None:
        found["temperature"] = space.temperatures(phase.temperature, 1, points)[0]
    if phase.surprise is not None:
        found["surprise"] = phase.surprise[0]
    return found


@dataclass(frozen=True, eq=False)
class _View:
    """Where a trace looks. points: states, (points,) or (points, dimension); about: what they are, for the page.

    edges: of bins around the points, in each of the last dimensions of a state.
    """

    points: NDArray[np.int64] | NDArray[np.float64]
    about: JsonObject
    edges: list[NDArray[np.float64]]

    def visits(self, phase: Phase) -> NDArray[np.float64]:
        """How often a phase was at each point, or about there, (points,)."""
        states = phase.data.states[0]
        seen = states.reshape(len(states), -1)[:, -len(self.edges) :]
        return np.histogramdd(seen, self.edges)[0].ravel()


def _states_view(env: FiniteMDP | ChangingRewards) -> _View:
    """Every state of a finite problem."""
    mdp = env.dynamics
    names = mdp.action_names or tuple(f"action {a}" for a in range(mdp.num_actions))
    about: JsonObject = {"kind": "states", "actions": list(names)}
    if isinstance(env, FiniteMDP):
        about["optimal"] = solve(env).policy.tolist()
    if mdp.grid_shape is not None:
        about |= {"kind": "grid", "shape": list(mdp.grid_shape)}
    return _View(np.arange(mdp.num_states), about, [np.arange(mdp.num_states + 1, dtype=np.float64) - 0.5])


def _slice_view(env: ContinuousProblem) -> _View:
    """The last two numbers of an observation, CartPole's angle and angular velocity; the others in their middle."""
    edges = [np.linspace(env.low[j], env.high[j], SLICE_POINTS + 1) for j in (-2, -1)]
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    points = np.tile((np.array(env.low) + env.high) / 2, (SLICE_POINTS * SLICE_POINTS, 1))
    points[:, -2], points[:, -1] = (each.ravel() for each in np.meshgrid(*middles, indexing="ij"))
    about: JsonObject = {
        "kind": "slice", "actions": list(env.action_names), "shape": [SLICE_POINTS, SLICE_POINTS],
        "axes": [middle.tolist() for middle in middles],
    }  # fmt: skip
    return _View(points, about, edges)
