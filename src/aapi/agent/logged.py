"""Logged transitions, from a file or from arrays, as the states and actions of an agent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium
import numpy as np

from aapi.checks import check_indices
from aapi.errors import InvalidInput, one_line
from aapi.mdp.columns import HEADINGS, LOG
from aapi.mdp.transition_log import read_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from aapi.agent.agent import Agent
    from aapi.array_types import AnyArray, Array

    Masking: TypeAlias = Callable[[Any], ArrayLike]
    Transitions: TypeAlias = str | os.PathLike[str] | Mapping[str, Sequence[Any] | AnyArray]


class Logged(NamedTuple):
    """Transitions, one a row: what was seen, done, earned, and seen next."""

    states: AnyArray
    actions: AnyArray
    rewards: Array
    successors: AnyArray

    def part(self, first: int, last: int) -> Logged:
        """Some rows."""
        return Logged(*(column[first:last] for column in self))

    @property
    def in_order(self) -> bool:
        """Whether every row begins where the one before led to."""
        return bool((self.successors[:-1] == self.states[1:]).all())


def read_logged(agent: Agent, transitions: Transitions, mask: Masking | None) -> Logged:
    """What is logged in a file, or in columns, as numbers and vectors of the agent's space; or an error.

    mask: what is allowed in an observation.
    """
    if isinstance(transitions, Mapping):
        logged = _from_columns(agent, transitions)
        seen = next(transitions[word] for word in HEADINGS["state"] if word in transitions)
    else:
        logged = _from_file(agent, transitions)
        seen = logged.states
    return logged if mask is None else _renamed(agent, logged, seen, mask)


def _renamed(agent: Agent, logged: Logged, seen: Sequence[Any] | AnyArray, mask: Masking) -> Logged:
    """With what the first allowed action did shared evenly with the forbidden ones, which act as it."""
    masks, actions, turns = agent.simulation.masks, logged.actions.copy(), Counter[tuple[bytes, ...]]()
    for row, action in enumerate(logged.actions.tolist()):
        try:
            given = mask(seen[row])
        except Exception as error:
            raise InvalidInput(f"row {row} of the log: the mask raised {one_line(error)} at {seen[row]!r}") from error
        allowed = masks.check(given)
        if not allowed[action]:
            raise InvalidInput(f"row {row} of the log takes an action, {action}, that the mask forbids")
        state = logged.states[row]
        masks.see(state, allowed)
        names = [name for name, other in enumerate(masks.acts_as(allowed)) if other == action]
        key = (allowed.tobytes(), bytes([len(names)]), state.tobytes() if agent.space.countable else b"")
        if len(names) > 1:
            actions[row] = names[turns[key] % len(names)]
            turns[key] += 1
    return logged._replace(actions=actions)


def _from_file(agent: Agent, transitions: str | os.PathLike[str]) -> Logged:
    if not isinstance(transitions, str | os.PathLike):
        raise InvalidInput(
            f"transitions are a file, or a dictionary with {', '.join(LOG)}, not {type(transitions).__name__}"
        )
    space, actions = agent.observation_space, agent.action_space
    if not isinstance(space, gymnasium.spaces.Discrete) or space.start or actions.start:
        raise InvalidInput(
            f"{transitions}: a file has a number from 0 on for each observation and action, and those of this "
            f"environment are {space} and {actions}: give arrays, in Python"
        )
    log = read_log(transitions, continuing=True, num_states=int(space.n), num_actions=int(actions.n))
    dtype = agent.space.state_dtype
    if not agent.space.countable:
        return Logged(_encoded(agent, log.states), log.actions, log.rewards, _encoded(agent, log.next_states))
    return Logged(log.states.astype(dtype), log.actions, log.rewards, log.next_states.astype(dtype))


def _from_columns(agent: Agent, columns: Mapping[str, Sequence[Any] | AnyArray]) -> Logged:
    found = {name: next((columns[word] for word in HEADINGS[name] if word in columns), None) for name in LOG}
    found["terminated"] = next((columns[word] for word in HEADINGS["terminated"] if word in columns), None)
    seen, done, paid, after = (found[name] for name in LOG)
    if seen is None or done is None or paid is None or after is None:
        raise InvalidInput(f"a log needs {', '.join(LOG)}; this one has {', '.join(map(str, columns)) or 'nothing'}")
    lengths = {name: len(column) for name, column in found.items() if column is not None}
    if len(set(lengths.values())) > 1 or not len(seen):
        raise InvalidInput(f"the columns of a log must have one length, at least 1, not {lengths}")
    states, successors = _encoded(agent, seen), _encoded(agent, after)
    try:
        actions, rewards = np.asarray(done), np.asarray(paid, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the rewards of a log must be finite numbers") from None
    if actions.ndim != 1 or actions.dtype.kind not in "iu":
        raise InvalidInput(f"the actions of a log must be whole numbers, not {actions.dtype} of shape {actions.shape}")
    actions = actions - int(agent.action_space.start)
    check_indices(actions, agent.num_actions, "the actions of a log, counted from the first,")
    if rewards.ndim != 1 or not np.isfinite(rewards).all():
        raise InvalidInput("the rewards of a log must be finite numbers")
    logged = Logged(states, actions, rewards, successors)
    if found["terminated"] is None:
        return logged
    ends = np.asarray(found["terminated"])
    if ends.ndim != 1 or not np.isin(ends, [0, 1]).all():
        raise InvalidInput(f"terminated must be true or false in each row, not {ends.dtype} such as {ends.flat[0]!r}")
    ends = ends.astype(bool)
    logged.successors[:-1][ends[:-1]] = states[1:][ends[:-1]]  # the next episode begins there
    if not ends[-1]:
        return logged
    if len(ends) == 1:
        raise InvalidInput("the log has one row, which ends an episode")
    return logged.part(0, len(ends) - 1)


def _encoded(agent: Agent, observations: Iterable[Any]) -> AnyArray:
    """Observations as states."""
    encode = agent.simulation.encoded
    return np.array([encode(each) for each in observations], dtype=agent.space.state_dtype)
