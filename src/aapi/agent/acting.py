"""Anyone's policy as a function from an observation to an action."""

from __future__ import annotations

import inspect
import operator
from bisect import bisect_right
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from gymnasium import spaces

from aapi.environments.observations import observations_of
from aapi.errors import AapiError, InvalidInput, did_you_mean, one_line
from aapi.registry.rules import network_rule
from aapi.registry.user_code import load_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from aapi.agent.agent import Agent
    from aapi.array_types import Integers
    from aapi.environments.continuing import Continuing
    from aapi.gymnasium_types import Action, Observation, Space


@runtime_checkable
class Predicts(Protocol):
    """What has `predict`: an agent of Stable-Baselines3, ours, or any other. It returns an action, or (action, state).

    It is given `state`, `episode_start`, `deterministic` and `action_masks` if its parameters are called so.
    """

    @property
    def predict(self) -> Callable[..., Action]:
        """An action for an observation."""


@runtime_checkable
class Seeded(Protocol):
    """What draws actions from random numbers that can be seeded, as agents of Stable-Baselines3 do."""

    def set_random_seed(self, seed: int) -> None:
        """Begin anew."""


# An agent; anything with `predict`; a function of an observation; one action, or a row of probabilities, for each
# state; or the name of a rule.
AnyPolicy: TypeAlias = "Agent | Predicts | Callable[[Observation], Action] | ArrayLike | str"
Acting: TypeAlias = "Callable[[Observation, bool], Action]"  # the flag: whether an episode begins


def acting(policy: AnyPolicy, env: Continuing, seed: int, deterministic: bool) -> Acting:
    """A function that acts by a policy in one run."""
    if isinstance(policy, str):
        policy = rule(policy, env)
    if isinstance(policy, type):
        raise InvalidInput(f"a policy must be an object, not the class {policy.__name__}")
    if isinstance(policy, Predicts):
        return _predicting(policy, env, seed, deterministic)
    if callable(policy):
        act = policy
        return lambda observation, _: act(observation)
    return _by_table(cast("ArrayLike", policy), env, seed, deterministic)


def rule(name: str, env: Continuing) -> Predicts | Callable[[Observation], Action] | Integers:
    """The rule of that name: module:function, random, optimal for a finite model, and those of networks."""
    from aapi.environments.gymnasium import FiniteMDPEnv
    from aapi.environments.queueing.env import NetworkEnv
    from aapi.mdp import solve

    base = env.unwrapped
    if ":" in name:
        return load_function(name)
    if name == "random":
        return _Random(env.action_space)
    if isinstance(base, NetworkEnv):
        return network_rule(name, base.network)
    if name == "optimal" and isinstance(base, FiniteMDPEnv):
        return solve(base.model).policy
    known = ["random", *(["optimal"] if isinstance(base, FiniteMDPEnv) else [])]
    raise InvalidInput(
        f"there is no rule {name!r} for this environment{did_you_mean(name, known)}: choose {', '.join(known)}, or "
        "module:function; agents in files are loaded by aapi.load"
    )


class _Random:
    """Actions that are drawn evenly, the same for the same seed."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def set_random_seed(self, seed: int) -> None:
        """Begin anew."""
        self._space.seed(seed)

    def predict(self, _: Observation, action_masks: ArrayLike | None = None) -> Action:
        """Any action that is allowed."""
        return self._space.sample(None if action_masks is None else np.asarray(action_masks, dtype=np.int8))


def _predicting(policy: Predicts, env: Continuing, seed: int, deterministic: bool) -> Acting:
    if isinstance(policy, Seeded):
        policy.set_random_seed(seed)
    try:
        takes = {*inspect.signature(policy.predict).parameters}
    except (TypeError, ValueError):  # of compiled code
        takes = set()
    given: dict[str, object] = {"deterministic": deterministic} if "deterministic" in takes else {}
    state: object = None

    def act(observation: Observation, begins: bool) -> Action:
        nonlocal state
        if "state" in takes:
            given["state"] = state
        if "episode_start" in takes:
            given["episode_start"] = np.array([begins])
        if "action_masks" in takes:
            given["action_masks"] = env.action_mask
        answer = policy.predict(observation, **given)
        if isinstance(answer, tuple):
            answer, state = answer
        return answer

    return act


def _by_table(table: ArrayLike, env: Continuing, seed: int, deterministic: bool) -> Acting:
    """table: an action for each state, or probabilities, (states, actions)."""
    rows = np.asarray(table)
    if rows.dtype.kind not in "biuf":
        raise InvalidInput(
            f"a policy is an agent, a function of an observation, a table or the name of a rule, not {table!r}"
        )
    numbers = observations_of(env.observation_space)
    count, space = numbers.num_states, env.action_space
    if not isinstance(space, spaces.Discrete):
        raise InvalidInput("a table is a policy where actions are Discrete")
    start, to_state = int(space.start), numbers.to_state
    if rows.shape == (count,) and rows.dtype.kind in "iu":
        actions = (rows + start).tolist()
        return lambda observation, _: actions[to_state(observation)]
    if rows.shape != (count, space.n) or not np.allclose(rows.sum(axis=1), 1.0) or (rows < 0.0).any():
        raise InvalidInput(
            f"a table must hold {count} actions, one for each state, or their probabilities, {count} × {space.n}; this "
            f"one is {rows.dtype} of shape {rows.shape}"
        )
    if deterministic:
        return _by_table(rows.argmax(axis=1), env, seed, deterministic)
    cumulated = rows.cumsum(axis=1)[:, :-1].tolist()
    draw = np.random.default_rng([seed, 1]).random  # another stream than the environment's
    return lambda observation, _: start + bisect_right(cumulated[to_state(observation)], draw())


def checked(act: Acting, env: Continuing) -> Acting:
    """The same, with actions as the environment takes them, or an error in one line."""
    space = env.action_space
    first, last = (int(space.start), int(space.start + space.n) - 1) if isinstance(space, spaces.Discrete) else (0, -1)

    def check(observation: Observation, begins: bool) -> Action:
        try:
            action = act(observation, begins)
        except AapiError:
            raise
        except Exception as error:
            raise InvalidInput(f"the policy raised {one_line(error)} at {observation!r}") from error
        if last < first:
            return action
        try:
            number = operator.index(action.item() if isinstance(action, np.ndarray | np.generic) else action)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"the policy must return an action, not {action!r}, as it does at {observation!r}"
            ) from None
        if not first <= number <= last:
            raise InvalidInput(f"the policy returned {number} at {observation!r}, and actions are {first}..{last}")
        if env.action_mask is not None and not np.asarray(env.action_mask)[number - first]:
            raise InvalidInput(f"the policy returned {number} at {observation!r}, which is not allowed there")
        return number

    return check
