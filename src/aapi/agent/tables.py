"""What an agent's policy does, as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.approximation import Linear
from aapi.approximation.rule_policy import RulePolicy
from aapi.environments.observations import observations_of
from aapi.errors import InvalidInput, TooLarge
from aapi.features import VectorFeatures
from aapi.learners.online import OnlineState
from aapi.memory import Counts, InterpolatedModel, Window
from aapi.policies import PolicyTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.agent.agent import Agent
    from aapi.array_types import AnyArray, Array, Integers
    from aapi.environments.observations import Observations
    from aapi.policies.names import Names, NamesGiven

MOST_ROWS = 100_000
POINTS = {1: 101, 2: 41, 3: 41}  # of each of the first two coordinates of a grid
SLICES = 3  # of the third
AGAIN = 4  # times that an observation was seen, on average, where those seen are the rows


def agent_table(agent: Agent, given: NamesGiven, visited: bool, over: Sequence[int | str] | None) -> PolicyTable:
    """The table that `Agent.policy_table` describes."""
    observations: Observations = observations_of(agent.observation_space)
    dimension, start = len(observations.low), int(agent.action_space.start)
    names = agent.names.updated(given).filled(dimension, agent.num_actions, start)
    title = f"{agent.env_id or 'the policy'} after {agent.num_steps:,} steps"
    if isinstance(agent.policy, RulePolicy):
        title += ": the rule of thumb, which is still trusted"
    if agent.space.countable:
        if over is not None:
            raise InvalidInput("over is for observations on a grid, and these are countable: leave it out")
        return _of_states(agent, observations, names, visited, title)
    rows, visits = _of_vectors(agent, observations, names, over)
    states = _encoded(agent, rows) if _has_own_features(agent) else rows
    chances = agent.space.probabilities(agent.policy, np.ascontiguousarray(states)[None])[0]
    return _ordered(PolicyTable(rows, chances, visits, names, title=title), agent.num_steps)


def _ordered(table: PolicyTable, steps: int) -> PolicyTable:
    """The same, most visited first. steps: that the agent took."""
    if table.been is None:
        return table
    seen = round(float(table.been.sum()))
    unseen = table.unseen if seen >= steps else f"not in the {seen:,} steps remembered"
    order = np.argsort(-table.been, kind="stable")
    visits = cast("Array", table.visits)[order]
    return PolicyTable(
        table.observations[order], table.probabilities[order], visits, table.names, title=table.title, unseen=unseen
    )  # fmt: skip


def _of_states(agent: Agent, observations: Observations, names: Names, visited: bool, title: str) -> PolicyTable:
    visits = state_visits(agent)
    been = visits.sum(axis=1)
    rows = np.flatnonzero(been) if visited and been.any() else np.arange(len(been))
    if len(rows) > MOST_ROWS:
        raise TooLarge(f"{len(rows)} observations are too many for a table: show those visited, or fewer")
    places = np.unravel_index(rows, observations.counts)
    numbers = np.stack(places, axis=1) + np.asarray(observations.low)
    chances = agent.space.probabilities(agent.policy, rows[None])[0]
    return _ordered(PolicyTable(numbers, chances, visits[rows], names, title=title), agent.num_steps)


def state_visits(agent: Agent) -> Array:
    """How often each action was taken in each state, (states, actions), as far as the learner remembers."""
    shape, state = agent.space.shape(1)[1:], agent.session.state
    counted = np.zeros(shape)
    states, actions = _under_way(agent)
    masks = agent.simulation.masks  # a forbidden action counts as what it acted as
    if isinstance(state, OnlineState):
        return np.array(masks.in_table(state.visits)[0], dtype=np.float64)  # they are counted in each step
    for memory in state.memories.values():
        if isinstance(memory, Counts):
            counted += memory.visits[0]
            break
        if isinstance(memory, Window):
            np.add.at(counted, (memory.states[0], memory.actions[0]), 1.0)
            break
    np.add.at(counted, (states, actions), 1.0)
    return np.asarray(masks.in_table(counted[None])[0])


def _under_way(agent: Agent) -> tuple[AnyArray, Integers]:
    """States and actions of the stretch under way."""
    simulation = agent.simulation
    filled = simulation.time - agent.algorithm.act(agent.session.state).start
    return simulation.states[0, :filled], simulation.actions[0, :filled].astype(np.int64)


def _steps(agent: Agent) -> tuple[Array, Integers]:
    """Vectors and actions of the steps that are remembered."""
    found = [_under_way(agent)]
    for memory in agent.session.state.memories.values():
        if isinstance(memory, InterpolatedModel):
            found.insert(0, (memory.steps.states, memory.steps.actions.astype(np.int64)))
            break
        if isinstance(memory, Window):
            found.insert(0, (memory.states[0], memory.actions[0].astype(np.int64)))
            break
    return np.concatenate([states for states, _ in found]), np.concatenate([actions for _, actions in found])


def _of_vectors(
    agent: Agent, observations: Observations, names: Names, over: Sequence[int | str] | None
) -> tuple[Array, Array | None]:
    """The rows of a table, (rows, dimension), and visits: of what was seen again and again, or of a grid."""
    states, actions = _steps(agent)
    if _has_own_features(agent):  # what is remembered are features
        states, actions = np.empty((0, len(observations.low))), np.empty(0, dtype=np.int64)
    if over is None and len(states):
        seen, which = np.unique(states, axis=0, return_inverse=True)
        if len(seen) * AGAIN <= len(states) and len(seen) <= MOST_ROWS:
            return seen, _count(which.reshape(-1), actions, (len(seen), agent.num_actions))
    low, high = _bounds(agent, observations, states)
    columns = _chosen(names, low, high, over)
    lines = [_line(observations, j, low[j], high[j], k, len(columns)) for k, j in enumerate(columns)]
    middle = np.median(states, axis=0) if len(states) else 0.5 * (low + high)
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(columns))
    rows = np.tile(np.where(np.isfinite(middle), middle, 0.0), (len(grid), 1))
    rows[:, columns] = grid
    if not len(states):
        return rows, None
    cells = np.ravel_multi_index(
        tuple(_nearest(line, states[:, j]) for j, line in zip(columns, lines, strict=True)), tuple(map(len, lines))
    )
    return rows, _count(cells, actions, (len(rows), agent.num_actions))


def _count(rows: AnyArray, actions: Integers, shape: tuple[int, int]) -> Array:
    counted = np.bincount(rows * shape[1] + actions, minlength=math.prod(shape))
    return counted.reshape(shape).astype(np.float64)


def _nearest(line: Array, numbers: Array) -> AnyArray:
    """The number of the nearest point."""
    return np.searchsorted(0.5 * (line[1:] + line[:-1]), numbers)


def _line(observations: Observations, j: int, low: float, high: float, k: int, columns: int) -> Array:
    """The points of the k-th coordinate of a grid."""
    middles = low + (high - low) * (np.arange(SLICES) + 0.5) / SLICES  # of thirds
    points = middles if k == 2 else np.linspace(low, high, POINTS[columns])
    return np.unique(np.round(points) if observations.counts[j] else points)


def _bounds(agent: Agent, observations: Observations, states: Array) -> tuple[Array, Array]:
    """Between what a grid lies: where the agent was, else what its features are for."""
    if isinstance(agent.space, Linear) and agent.space.basis.size:
        low = agent.space.basis.low
        return low, low + agent.space.basis.width
    if len(states):
        return states.min(axis=0), states.max(axis=0)
    return np.asarray(observations.low), np.asarray(observations.high)


def _chosen(names: Names, low: Array, high: Array, over: Sequence[int | str] | None) -> list[int]:
    """The coordinates that vary: those given, else the first three with finite bounds that are not constant."""
    if over is None:
        columns = [j for j in range(len(low)) if high[j] > low[j] and np.isfinite(high[j] - low[j])][:3]
        if not columns:
            raise InvalidInput("no number of an observation varies within finite bounds: there is no grid to show")
        return columns
    found = []
    for each in [over] if isinstance(over, str | int) else over:
        j = names.observations.index(each) if isinstance(each, str) and each in names.observations else each
        if not isinstance(j, int) or not 0 <= j < len(low):
            raise InvalidInput(f"over names numbers of an observation, {', '.join(names.observations)}, not {each!r}")
        if not (high[j] > low[j] and np.isfinite(high[j] - low[j])):
            raise InvalidInput(f"{names.observations[j]} does not vary within finite bounds, so that it has no axis")
        found.append(j)
    if not 1 <= len(found) <= 3 or len(set(found)) < len(found):
        raise InvalidInput(f"over names one to three numbers of an observation, not {over!r}")
    return found


def _has_own_features(agent: Agent) -> bool:
    """Whether its features are a function of the user's."""
    return callable(agent.features) and not isinstance(agent.features, VectorFeatures)


def _encoded(agent: Agent, rows: Array) -> Array:
    """Features of vectors by a function of the user's, which takes observations as its environment shows them."""
    shape = agent.observation_space.shape
    if shape is None:
        raise InvalidInput("features of your own are shown where observations are a Box or whole numbers")
    given = rows.reshape(len(rows), *shape).astype(agent.observation_space.dtype)
    return np.stack([agent.simulation.encoded(each) for each in given])
