"""Episodic environments as continuing ones, for average-reward algorithms; and snapshots to resume from exactly."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import numbers
from typing import TYPE_CHECKING, NotRequired, Protocol, SupportsFloat, TypeAlias, TypedDict, cast, runtime_checkable

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.gymnasium_types import Action, Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aapi.array_types import AnyArray
    from aapi.gymnasium_types import Env, Info, Space
    from aapi.json_types import Json


Ending: TypeAlias = "str | float | Callable[[int, float, bool], float]"
# An episode that ended: its number of steps, the sum of the environment's own rewards, and whether it was terminated
# (or truncated).
Episode = TypedDict("Episode", {"length": int, "return": float, "terminated": bool})
# Of an environment with get_state(), its state and that of its random generator; of any other, how the episode started,
# its actions, and a hash of the last observation.
_Snapshot = TypedDict(
    "_Snapshot",
    {
        "length": int, "return": float, "state": "Json", "random": "Mapping[str, Json]", "mask": "Json",
        "begun": "_Start", "kind": str, "actions": "AnyArray", "observation": str,
    }, total=False,
)  # fmt: skip
STATE_KEYS = {"length", "return", "state", "random"}
REPLAY_KEYS = {"length", "return", "begun", "kind", "actions", "observation"}

RULES = ("keep", "shortfall")
MASK = "action_mask"  # in the info of reset and step: 1 for each action that is allowed next, 0 for the others
# Wrappers whose whole state is restored by reset() and the number of steps. Under any other wrapper, a snapshot replays
# the episode, even if the environment has get_state() and set_state().
STATELESS_WRAPPERS = (OrderEnforcing, PassiveEnvChecker, TimeLimit)
NOT_RESTORED = "the environment did not come back to the state of the snapshot: "


class _Start(TypedDict):
    """The arguments of reset(), and the state of the random generator before it unless there was a seed."""

    seed: int | None
    options: Info | None
    random: NotRequired[Mapping[str, Json]]


@runtime_checkable
class HasState(Protocol):
    """An environment that can save and restore its state, except for its random generator."""

    def get_state(self) -> Json:
        """The state, as JSON or NumPy arrays."""

    def set_state(self, state: Json) -> None:
        """Go to a state that `get_state` returned."""


class Continuing(gymnasium.Wrapper[Observation, Action, Observation, Action], gymnasium.utils.RecordConstructorArgs):
    """Start the next episode in the step that ends one, and never report an end.

    ending: the reward of that step. "keep" leaves it as it is. "shortfall" replaces it by h − limit, where h is the
        number of steps of the episode, as Hao et al. (2021) do for CartPole. A number is added to it if the episode was
        terminated, not if it was truncated: the cost, or bonus, of a restart. A function of (h, reward, terminated)
        returns the reward.
    limit: episodes are truncated after this many steps, in addition to what the environment does. "shortfall" uses
        the environment's own time limit if none is given.

    The info of a step that ends an episode is the environment's own with "ended" added: the episode's "length", its
    "return", which is the sum of the environment's own rewards, and whether it was "terminated". "action_mask", which
    says what is allowed next, is that of the new episode.

    `snapshot` and `restore` bring an environment that is made the same way to the same state, random numbers included:
    by get_state() and set_state() if it has them, otherwise by a replay of the current episode, which is exact as long
    as all randomness comes from np_random and nothing else is carried over from earlier episodes.

    observation: the last one. action_mask: that in the last info, if there is one, also after `restore`.
    """

    def __init__(self, env: Env, ending: Ending = "keep", limit: int | None = None) -> None:
        limit, self._ending = check_limit(limit), check_ending(ending)
        gymnasium.utils.RecordConstructorArgs.__init__(self, _disable_deepcopy=True, ending=self._ending, limit=limit)
        gymnasium.Wrapper.__init__(self, env)
        self._limit = math.inf if limit is None else limit
        self._horizon = self._limit
        if ending == "shortfall" and limit is None:
            if env.spec is None or env.spec.max_episode_steps is None:
                raise InvalidInput('ending "shortfall" needs a limit (--limit): the environment has no time limit')
            self._horizon = env.spec.max_episode_steps
        self._base = base = env.unwrapped
        stateless = all(type(layer) in STATELESS_WRAPPERS for layer in _wrappers(env))
        self._stateful: HasState | None = base if isinstance(base, HasState) and stateless else None
        self._integers = isinstance(env.action_space, spaces.Discrete)
        self._actions: list[Action] = []  # of the current episode, unless there is a state to save
        self._start: _Start | None = None
        self._length, self._return = 0, 0.0
        self.observation: Observation = None
        self.action_mask: object = None
        self.pending: Mapping[str, object] | None = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Start a new episode."""
        start: _Start = {"seed": seed, "options": options}
        if seed is None and self._stateful is None:
            start["random"] = self._base.np_random.bit_generator.state
        self.observation, info = self.env.reset(seed=seed, options=options)
        self._start, self._length, self._return = start, 0, 0.0
        self._actions.clear()
        self.action_mask = info.get(MASK)
        return self.observation, info

    def step(self, action: Action) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """A step of the environment, and the start of the next episode if it was the last of one."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._length = length = self._length + 1
        try:
            self._return += float(reward)
        except (TypeError, ValueError):
            raise InvalidInput(f"the reward is {reward!r}, not a finite number") from None
        if not (terminated or truncated or length >= self._limit):
            if self._stateful is None:
                self._actions.append(int(action) if self._integers else copy.copy(action))
            self.observation, self.action_mask = observation, info.get(MASK)
            return observation, reward, False, False, info
        episode: Episode = {"length": length, "return": self._return, "terminated": bool(terminated)}
        reward = ending_reward(self._ending, self._horizon, length, float(reward), bool(terminated))
        observation, begun = self.reset()
        info = {**{key: value for key, value in info.items() if key != MASK}, "ended": episode}
        return observation, reward, False, False, {**info, MASK: begun[MASK]} if MASK in begun else info

    @property
    def rule(self) -> dict[str, object]:
        """`ending` and `limit`, as they were given."""
        return dict(self._saved_kwargs)

    def snapshot(self) -> dict[str, object]:
        """What `restore` needs: JSON, except for "actions", an array of integers, if there is one."""
        if self._start is None:
            raise InvalidInput("there is nothing to take a snapshot of before reset()")
        found: _Snapshot = {"length": self._length, "return": self._return}
        if self._stateful is not None:
            random = self._base.np_random.bit_generator.state
            found["state"] = _to_json(self._stateful.get_state(), "state")
            found["random"] = cast("Mapping[str, Json]", _to_json(random, "random state"))
            if self.action_mask is not None:
                found["mask"] = _to_json(self.action_mask, "action_mask")
        else:
            found["begun"] = cast("_Start", _to_json(self._start, "options of reset()"))
            found["kind"], found["actions"] = _saved_actions(self._actions, self.action_space)
            found["observation"] = _fingerprint(self.observation)
        return dict(found)

    def restore(self, snapshot: Mapping[str, object]) -> None:
        """Go to the state of a snapshot, which an environment that was made the same way took."""
        needed = REPLAY_KEYS if self._stateful is None else STATE_KEYS
        if not isinstance(snapshot, dict) or not needed <= snapshot.keys():
            raise InvalidInput(f"a snapshot of this environment has {', '.join(sorted(needed))}; this one has not")
        found = cast("_Snapshot", snapshot)
        at_least(0, **{"the length of a snapshot": found["length"]})
        if self._stateful is not None:
            self._set_state(self._stateful, found)
            self.action_mask = found.get("mask")
        else:
            self._replay(found)
        self._length, self._return = int(found["length"]), float(found["return"])

    def restore_pending(self) -> None:
        """Go to the snapshot `pending`: vector environments can set an attribute of every copy, and call a method."""
        if self.pending is not None:
            self.restore(self.pending)
            self.pending = None

    def _set_state(self, base: HasState, snapshot: _Snapshot) -> None:
        self.reset()  # the wrappers must know that an episode is under way
        base.set_state(snapshot["state"])
        _set_random(self._base, snapshot["random"])
        for wrapper in _wrappers(self.env):
            if isinstance(wrapper, TimeLimit):
                vars(wrapper)["_elapsed_steps"] = int(snapshot["length"])

    def _replay(self, snapshot: _Snapshot) -> None:
        start = snapshot["begun"]
        if start["seed"] is None:
            _set_random(self._base, start["random"])
        observation, _ = self.reset(seed=start["seed"], options=start["options"])
        total = 0.0
        actions = _loaded_actions(snapshot["kind"], snapshot["actions"])
        if len(actions) != snapshot["length"]:
            raise InvalidInput(f"a snapshot of {snapshot['length']} steps cannot have {len(actions)} actions")
        for action in actions:
            observation, reward, terminated, truncated, info = self.env.step(action)
            self.action_mask = info.get(MASK)
            total += float(reward)
            if terminated or truncated:
                raise InvalidInput(f"{NOT_RESTORED}it ended an episode; is all its randomness from np_random?")
        if _fingerprint(observation) != snapshot["observation"] or total != snapshot["return"]:
            raise InvalidInput(f"{NOT_RESTORED}the same actions led elsewhere; is all its randomness from np_random?")
        self.observation, self._actions = observation, actions


def _saved_actions(actions: list[Action], space: Space) -> tuple[str, AnyArray]:
    """The kind of the actions, and all of them as one array of integers: themselves, or the bytes of arrays."""
    if not isinstance(space, spaces.Discrete | spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
        raise InvalidInput(f"actions of {space} cannot be saved; flatten the action space first")
    if isinstance(space, spaces.Discrete) or not actions:
        return "", np.array(actions, dtype=np.int64)
    arrays = [np.asarray(action) for action in actions]
    kinds = {f"{array.dtype.str}{array.shape}" for array in arrays}
    if len(kinds) > 1:
        raise InvalidInput("actions cannot be saved: arrays of one episode differ in shape or dtype")
    return kinds.pop(), np.frombuffer(b"".join(array.tobytes() for array in arrays), dtype=np.uint8)


def _loaded_actions(kind: str, actions: AnyArray) -> list[Action]:
    """What `_saved_actions` returned, as actions again."""
    try:
        if not kind:
            return [int(action) for action in actions]
        name, _, shape = kind.partition("(")
        sizes = [int(size) for size in shape.rstrip(")").split(",") if size]
        values = np.frombuffer(np.asarray(actions, dtype=np.uint8).tobytes(), dtype=np.dtype(name))
        return list(values.reshape(-1, *sizes).copy())
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"the actions of the snapshot are damaged ({error})") from None


def ending_reward(ending: Ending, horizon: float | None, length: int, reward: float, terminated: bool) -> float:
    """The reward of the step that ends an episode, by a rule; see `Continuing`. horizon: what "shortfall" subtracts."""
    if isinstance(ending, str):
        return reward if ending == "keep" else float(length - cast("float", horizon))
    if not callable(ending):
        return reward + ending if terminated else reward
    changed = ending(length, reward, terminated)
    if not isinstance(changed, numbers.Real) or not math.isfinite(changed):
        raise InvalidInput(f"ending must return a finite number, not {changed!r}")
    return float(changed)


def check_limit(limit: int | None) -> int | None:
    """After how many steps episodes are truncated, if at all; or an error."""
    if limit is None:
        return None
    at_least(1, limit=limit)
    return int(limit)


def check_ending(ending: Ending) -> Ending:
    """The ending rule, or an error."""
    if isinstance(ending, numbers.Real) and not isinstance(ending, bool) and math.isfinite(ending):
        return float(ending)
    if callable(ending) or (isinstance(ending, str) and ending in RULES):
        return ending
    raise InvalidInput(
        f"ending must be {' or '.join(RULES)}, a finite number, or a function of (length, reward, terminated), "
        f"not {ending!r}"
    )


def _wrappers(env: Env) -> Iterator[Env]:
    """The wrappers around an environment, the outermost first."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env


def _to_json(value: object, what: str) -> Json:
    """A copy as JSON: NumPy's numbers and arrays become Python's numbers and lists."""
    try:
        copy: Json = json.loads(json.dumps(value, default=lambda part: part.tolist()))
        return copy
    except (AttributeError, TypeError, ValueError):
        raise InvalidInput(f"the environment's {what} cannot be saved: {value!r}") from None


def _set_random(env: Env, state: Mapping[str, Json]) -> None:
    """Set the state of an environment's random generator, in place: other objects may share it."""
    generator = env.np_random.bit_generator
    try:
        generator.state = state
    except (TypeError, ValueError, KeyError):
        name = type(generator).__name__
        raise InvalidInput(f"the snapshot's random state is not one of the environment's {name}") from None


def _fingerprint(observation: Observation) -> str:
    digest = hashlib.sha256()
    _digest(observation, digest.update)
    return digest.hexdigest()


def _digest(value: object, update: Callable[[bytes], None]) -> None:
    """Hash a value, such that different values never give the same bytes."""
    if isinstance(value, dict):
        update(f"dict{len(value)};".encode())
        for key in sorted(value, key=repr):
            _digest(key, update)
            _digest(value[key], update)
    elif isinstance(value, tuple | list):
        update(f"list{len(value)};".encode())
        for part in value:
            _digest(part, update)
    elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        update(f"array{value.dtype.str}{value.shape};".encode() + value.tobytes())
    elif value is None or isinstance(value, bool | int | float | str):
        text = repr(value).encode()
        update(f"{type(value).__name__}{len(text)};".encode() + text)
    else:
        raise InvalidInput(f"observations of type {type(value).__name__} cannot be compared, nor episodes replayed")
