"""Episodic environments without end, for average-reward algorithms; and exact resumption of any environment."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from array import array
from typing import TYPE_CHECKING, Any, TypedDict

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from aapi.checks import at_least
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Continuing", "Episode"]

# One that ended: its number of steps, the sum of the environment's own rewards, and whether it was cut off or not.
Episode = TypedDict("Episode", {"length": int, "return": float, "terminated": bool})

WORDS = ("keep", "shortfall")
# Wrappers that remember nothing which reset() and the number of steps do not bring back. Under any other one,
# a snapshot replays the episode, whatever the environment itself offers.
FORGETFUL = (OrderEnforcing, PassiveEnvChecker, TimeLimit)
NOT_THE_SAME = "the environment did not come back to the state of the snapshot: "


class Continuing(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Start the next episode in the step that ends one, and never report an end.

    ending: the reward of that step. "keep" leaves it as it is. "shortfall" puts h − limit in its place, h being the
        number of steps of the episode, as Hao et al. (2021) do for CartPole. A number is added to it if the episode was
        terminated, not if it was cut off: a price or a prize of starting over. A function is given (h, reward,
        terminated) and returns the reward.
    limit: episodes are cut off after this many steps, besides what the environment does. "shortfall" takes the
        environment's own time limit if none is given.

    The info of a step that ends an episode is the environment's own with "ended" added: the episode's "length", its
    "return", which is the sum of the environment's own rewards, and whether it was "terminated".

    `snapshot` and `restore` bring an environment of the same making to the same state, random numbers included. One
    with get_state() and set_state() is asked for its state; any other replays its present episode, which is exact as
    long as its randomness comes from its np_random and it carries nothing else over from earlier episodes.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        ending: str | float | Callable[[int, float, bool], float] = "keep",
        limit: int | None = None,
    ) -> None:
        if limit is not None:
            at_least(1, limit=limit)
            limit = int(limit)
        self._ending = _checked(ending)
        gymnasium.utils.RecordConstructorArgs.__init__(self, _disable_deepcopy=True, ending=self._ending, limit=limit)
        gymnasium.Wrapper.__init__(self, env)
        self._limit = math.inf if limit is None else limit
        self._horizon = self._limit
        if ending == "shortfall" and limit is None:
            if env.spec is None or env.spec.max_episode_steps is None:
                raise InvalidInput('ending "shortfall" needs a limit (--limit): the environment has no time limit')
            self._horizon = env.spec.max_episode_steps
        self._base = base = env.unwrapped
        self._has_state = hasattr(base, "get_state") and hasattr(base, "set_state") and _all_forgetful(env)
        self._log: _Log | None = None if self._has_state else _Log(env.action_space)
        self._begun: dict[str, Any] | None = None  # how the episode began
        self._length, self._return = 0, 0.0
        self._observation: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode."""
        begun: dict[str, Any] = {"seed": seed, "options": options}
        if seed is None and not self._has_state:
            begun["random"] = self._base.np_random.bit_generator.state
        observation, info = self.env.reset(seed=seed, options=options)
        self._begun, self._observation = begun, observation
        self._length, self._return = 0, 0.0
        if self._log is not None:
            self._log.clear()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step of the environment, and the start of the next episode if it was the last of one."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._length = length = self._length + 1
        try:
            self._return += float(reward)
        except (TypeError, ValueError):
            raise InvalidInput(f"the reward is {reward!r}, not a finite number") from None
        if terminated or truncated or length >= self._limit:
            return self._next_episode(float(reward), bool(terminated), info)
        if self._log is not None:
            self._log.append(action)
        self._observation = observation
        return observation, reward, False, False, info

    def _next_episode(
        self, reward: float, terminated: bool, info: dict[str, Any]
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        episode: Episode = {"length": self._length, "return": self._return, "terminated": terminated}
        reward = self._last_reward(reward, terminated)
        observation, _ = self.reset()
        return observation, reward, False, False, {**info, "ended": episode}

    def _last_reward(self, reward: float, terminated: bool) -> float:
        ending = self._ending
        if ending == "keep":
            return reward
        if ending == "shortfall":
            return float(self._length - self._horizon)
        if not callable(ending):
            return reward + ending if terminated else reward
        given = ending(self._length, reward, terminated)
        if not isinstance(given, numbers.Real) or not math.isfinite(given):
            raise InvalidInput(f"ending must return a finite number, not {given!r}")
        return float(given)

    @property
    def observation(self) -> Any:
        """The last one."""
        return self._observation

    @property
    def rule(self) -> dict[str, Any]:
        """`ending` and `limit`, as they were given."""
        return dict(self._saved_kwargs)

    def snapshot(self) -> dict[str, Any]:
        """What `restore` needs: JSON apart from "actions", an array of integers, if there is one."""
        if self._begun is None:
            raise InvalidInput("there is nothing to take a snapshot of before reset()")
        common = {"length": self._length, "return": self._return}
        base: Any = self.env.unwrapped
        if self._log is None:
            random = base.np_random.bit_generator.state
            return common | {"state": _plain(base.get_state(), "state"), "random": _plain(random, "random state")}
        kind, actions = self._log.saved()
        begun = _plain(self._begun, "options of reset()")
        seen = _fingerprint(self._observation)
        return common | {"begun": begun, "kind": kind, "actions": actions, "observation": seen}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go to the state of a snapshot, which an environment of the same making took."""
        needed = {"length", "return"} | (
            {"state", "random"} if self._log is None else {"begun", "kind", "actions", "observation"}
        )
        if not isinstance(snapshot, dict) or not needed <= snapshot.keys():
            raise InvalidInput(f"a snapshot of this environment has {', '.join(sorted(needed))}; this is another")
        at_least(0, **{"the length of a snapshot": snapshot["length"]})
        if self._log is None:
            self._set_state(snapshot)
        else:
            self._replay(self._log, snapshot)
        self._length, self._return = int(snapshot["length"]), float(snapshot["return"])

    def _set_state(self, snapshot: dict[str, Any]) -> None:
        self.reset()  # which tells the wrappers that an episode is under way
        base: Any = self.env.unwrapped
        base.set_state(snapshot["state"])
        _set_random(base, snapshot["random"])
        env: Any = self.env
        while env is not base:
            if isinstance(env, TimeLimit):
                vars(env)["_elapsed_steps"] = int(snapshot["length"])
            env = env.env

    def _replay(self, log: _Log, snapshot: dict[str, Any]) -> None:
        begun = snapshot["begun"]
        if begun["seed"] is None:
            _set_random(self.env.unwrapped, begun["random"])
        observation, _ = self.reset(seed=begun["seed"], options=begun["options"])
        total = 0.0
        actions = log.loaded(snapshot["kind"], snapshot["actions"])
        if len(actions) != snapshot["length"]:
            raise InvalidInput(f"a snapshot of {snapshot['length']} steps cannot have {len(actions)} actions")
        for action in actions:
            observation, reward, terminated, truncated, _ = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                raise InvalidInput(f"{NOT_THE_SAME}it ended an episode; is all its randomness from np_random?")
            log.append(action)
        if _fingerprint(observation) != snapshot["observation"] or total != snapshot["return"]:
            raise InvalidInput(f"{NOT_THE_SAME}the same actions led elsewhere; is all its randomness from np_random?")
        self._observation = observation


class _Log:
    """The actions of an episode: whole numbers, or arrays as their bytes."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        self._whole = array("q")
        self._bytes = bytearray()
        self._dtype, self._shape = np.dtype(np.float64), (-1,)  # of all arrays so far; no array has the second
        self._mixed = self._refused = ""  # why there is nothing to save
        self.append: Callable[[Any], None]
        if isinstance(space, spaces.Discrete):
            self.append = self._whole.append  # nothing is faster
        elif isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
            self.append = self._append_array
        else:
            self._refused = f"actions of {space} cannot be saved; flatten the action space first"
            self.append = self._forget

    def clear(self) -> None:
        del self._whole[:]
        self._bytes.clear()
        self._mixed = ""

    def _forget(self, action: Any) -> None:
        pass

    def _append_array(self, action: Any) -> None:
        values = np.asarray(action)
        if values.shape != self._shape or values.dtype != self._dtype:
            if self._bytes:
                self._mixed = "actions cannot be saved: arrays of one episode differ in shape or dtype"
            self._dtype, self._shape = values.dtype, values.shape
        self._bytes += values.tobytes()

    def saved(self) -> tuple[str, np.ndarray[Any, Any]]:
        """The kind of the actions, and all of them as one array of integers."""
        if self._refused or self._mixed:
            raise InvalidInput(self._refused or self._mixed)
        if self._bytes:
            return f"{self._dtype.str}{self._shape}", np.frombuffer(bytes(self._bytes), dtype=np.uint8)
        return "", np.array(self._whole, dtype=np.int64)

    def loaded(self, kind: str, actions: Any) -> list[Any]:
        """The actions that were saved."""
        try:
            if not kind:
                return [int(action) for action in actions]
            name, _, shape = kind.partition("(")
            sizes = [int(size) for size in shape.rstrip(")").split(",") if size]
            values = np.frombuffer(np.asarray(actions, dtype=np.uint8).tobytes(), dtype=np.dtype(name))
            return list(values.reshape(-1, *sizes).copy())
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the actions of the snapshot are damaged ({error})") from None


def _checked(ending: Any) -> Any:
    real = isinstance(ending, numbers.Real) and not isinstance(ending, bool) and math.isfinite(ending)
    if real:
        return float(ending)
    if callable(ending) or (isinstance(ending, str) and ending in WORDS):
        return ending
    raise InvalidInput(
        f"ending must be {' or '.join(WORDS)}, a finite number, or a function of (length, reward, terminated), "
        f"not {ending!r}"
    )


def _all_forgetful(env: gymnasium.Env[Any, Any]) -> bool:
    while isinstance(env, gymnasium.Wrapper):
        if type(env) not in FORGETFUL:
            return False
        env = env.env
    return True


def _plain(value: Any, what: str) -> Any:
    """A copy out of what JSON knows: NumPy's numbers and arrays become Python's numbers and lists."""
    try:
        return json.loads(json.dumps(value, default=lambda part: part.tolist()))
    except (AttributeError, TypeError, ValueError):
        raise InvalidInput(f"the environment's {what} cannot be saved: {value!r}") from None


def _set_random(env: Any, state: dict[str, Any]) -> None:
    """Bring the generator of an environment to a state, in place: others may hold on to it."""
    generator = env.np_random.bit_generator
    try:
        generator.state = state
    except (TypeError, ValueError, KeyError):
        name = type(generator).__name__
        raise InvalidInput(f"the snapshot's random state is not one of the environment's {name}") from None


def _fingerprint(observation: Any) -> str:
    digest = hashlib.sha256()
    _digest(observation, digest)
    return digest.hexdigest()


def _digest(value: Any, digest: Any) -> None:
    """Feed a value to the digest such that no two different ones feed it the same bytes."""
    if isinstance(value, dict):
        digest.update(f"dict{len(value)};".encode())
        for key in sorted(value, key=repr):
            _digest(key, digest)
            _digest(value[key], digest)
    elif isinstance(value, tuple | list):
        digest.update(f"list{len(value)};".encode())
        for part in value:
            _digest(part, digest)
    elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        digest.update(f"array{value.dtype.str}{value.shape};".encode() + value.tobytes())
    elif value is None or isinstance(value, bool | int | float | str):
        text = repr(value).encode()
        digest.update(f"{type(value).__name__}{len(text)};".encode() + text)
    else:
        raise InvalidInput(f"observations of type {type(value).__name__} cannot be compared, nor episodes replayed")
