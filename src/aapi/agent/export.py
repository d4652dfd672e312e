"""An agent's policy as a light file, for `policy_reader.py`, which needs NumPy alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

import aapi
from aapi import policies
from aapi.approximation import GridPolicy, Interpolated, Linear
from aapi.approximation.rule_policy import RulePolicy
from aapi.environments.observations import observations_of
from aapi.errors import InvalidInput
from aapi.features import VectorFeatures
from aapi.features.basis import FOURIER, RADIAL
from aapi.files import atomic_write
from aapi.learners.optimistic_grid import OptimisticGridState

if TYPE_CHECKING:
    import os

    from aapi.agent.agent import Agent
    from aapi.array_types import Arrays
    from aapi.environments.observations import Observations
    from aapi.features.basis import Basis
    from aapi.json_types import JsonObject

FORMAT = 1
READER = Path(policies.__file__).with_name("policy_reader.py")


def export(agent: Agent, path: str | os.PathLike[str], reader: bool) -> None:
    """Write what `Agent.export` describes."""
    observations: Observations = observations_of(agent.observation_space)
    start = int(agent.action_space.start)
    names = agent.names.filled(len(observations.low), agent.num_actions, start)
    kind, arrays = _arrays(agent, observations)
    about: JsonObject = {
        "format": FORMAT, "aapi": aapi.__version__, "environment": agent.env_id, "steps": agent.num_steps,
        "observations": list(names.observations), "actions": list(names.actions), "first_action": start, **kind,
    }  # fmt: skip
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    beside, text = Path(path).with_name(READER.name), READER.read_bytes()
    if reader and beside.exists() and beside.read_bytes() != text:
        raise InvalidInput(f"{beside} is another file than the reader: move it away, or leave out the reader")
    with atomic_write(path) as file:
        np.savez_compressed(file, **cast("dict[str, Any]", arrays))
    if reader:
        with atomic_write(beside) as file:
            file.write(text)


def _arrays(agent: Agent, observations: Observations) -> tuple[JsonObject, Arrays]:
    """What kind of policy it is, and its arrays."""
    space, policy = agent.space, agent.policy
    if space.countable:
        low, counts = np.asarray(observations.low, dtype=np.int64), np.asarray(observations.counts)
        probabilities = space.probabilities(policy, np.arange(math.prod(observations.counts))[None])[0]
        return {"kind": "table"}, {"low": low, "counts": counts, "probabilities": probabilities}
    if isinstance(policy, RulePolicy):
        raise InvalidInput("the rule of thumb still does better than what was learnt: there is nothing to export yet")
    if isinstance(space, Interpolated):
        return {"kind": "vectors"}, _seen_vectors(agent)
    basis: Basis = cast("Linear", space).basis
    if not isinstance(agent.features, VectorFeatures) or basis.kind not in (FOURIER, RADIAL):
        _refuse(f"features={agent.features!r}")
    frequencies, phases = basis.matrix, basis.vector
    if basis.kind == FOURIER:  # cos(π c·s), the first coordinate of c fastest
        orders = np.indices((basis.order + 1,) * basis.dimension)[::-1]
        frequencies = np.asarray(math.pi * orders.reshape(basis.dimension, -1).T)
        phases = np.zeros(basis.size)
    whole = policy.differences.shape[2] // agent.num_actions * agent.num_actions
    return {"kind": "features", "linear": basis.linear, "span": policy.span}, {
        "low": basis.low, "width": basis.width, "frequencies": frequencies, "phases": phases,
        "scale": np.array(basis.scale), "index": policy.index[0], "constant": policy.constant[0],
        "differences": policy.differences[0][:, :whole],
    }  # fmt: skip


def _seen_vectors(agent: Agent) -> Arrays:
    """Whole numbers on a grid with a vertex for each: all that were seen, and a last row for others."""
    policy, state = agent.policy, agent.session.state
    if not isinstance(policy, GridPolicy) or not isinstance(state, OptimisticGridState):
        _refuse(f"{agent.algorithm!r}")
    model, grid = state.model, policy.grid
    knots = [grid.knots[j, : grid.sides[j]] for j in range(len(grid.first))]
    if not (model.extent.whole.all() and all((np.diff(line) == 1.0).all() for line in knots)):
        _refuse("a grid between whose vertices it interpolates")
    vectors = np.unique(np.concatenate([model.steps.states, model.steps.successors]), axis=0)
    chances = agent.space.probabilities(policy, vectors[None])[0]
    best = policy.q[:1] >= policy.q[0].max()
    return {
        "low": model.extent.low, "high": model.extent.high, "vectors": vectors,
        "probabilities": np.concatenate([chances, best / best.sum()]),
    }  # fmt: skip


def _refuse(what: str) -> NoReturn:
    raise InvalidInput(
        "policies on tables, on grids of whole numbers, and on Fourier or Radial features can be exported, not on "
        + what
    )
