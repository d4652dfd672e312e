"""One environment without ends, or several copies of it: what an agent steps."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from aapi.environments.continuing import MASK, Continuing, check_ending, check_limit, ending_reward
from aapi.environments.env_defaults import EnvDefaults, env_defaults, spec_defaults
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gymnasium.envs.registration import EnvSpec

    from aapi.environments.continuing import Ending, Episode
    from aapi.gymnasium_types import AnyVectorEnv, Env, Info, Observation, Space

    Bounds = tuple[Sequence[float] | None, Sequence[float] | None]
    Snapshots = list[dict[str, object]]
    Round = tuple[list[Observation], list[float], list[Episode]]


class Copies(ABC):
    """An environment that never ends, or several: `number` of them, all alike.

    env: what the user sees of it. observation_space, action_space: of one copy. rule: that of `Continuing`, as given.
    inner_spec: how a copy was made, without `Continuing`; spec: with it. bounds: of observations, where they are known
        for the id.
    processes: whether the copies are elsewhere, each in a process of its own.
    sample: the environment itself that one of them is around, to ask for names; None where it cannot be made.
    """

    number: int
    env: Env | AnyVectorEnv
    observation_space: Space
    action_space: Space
    rule: dict[str, object]
    inner_spec: EnvSpec | None
    spec: EnvSpec | None
    bounds: Bounds
    sample: Env | None
    processes = False

    def holds(self, env: Env) -> bool:
        """Whether an environment is one of the copies."""
        return self.env.unwrapped is env.unwrapped

    @abstractmethod
    def reset(self, seed: int | None) -> list[Observation]:
        """Start them; the first has the seed that is given, the second the next one, and so on."""

    @property
    @abstractmethod
    def masks(self) -> list[Any]:
        """The action mask of each, as the environment gives it; None where all actions are allowed."""

    @abstractmethod
    def snapshots(self) -> Snapshots | None:
        """Where each is, for `restore`; None if that cannot be told."""

    @abstractmethod
    def restore(self, snapshots: Snapshots) -> None:
        """Bring them back to where they were."""


class LocalCopies(Copies):
    """Copies in this process, which are stepped one after the other."""

    def __init__(self, envs: Sequence[Continuing]) -> None:
        self.envs, self.number = list(envs), len(envs)
        first = self.envs[0]
        self.env, self.rule, self.sample = first, first.rule, first.unwrapped
        self.observation_space, self.action_space = first.observation_space, first.action_space
        self.inner_spec, self.spec = first.env.spec, first.spec
        self.bounds = _bounds(first.spec, first.observation_space == first.unwrapped.observation_space)
        if any(each.rule != self.rule for each in self.envs):
            raise InvalidInput("all copies of an environment must have the same ending rule")

    def holds(self, env: Env) -> bool:
        """Whether an environment is one of the copies."""
        return any(each.unwrapped is env.unwrapped for each in self.envs)

    def reset(self, seed: int | None) -> list[Observation]:
        """Start them."""
        return [each.reset(seed=None if seed is None else seed + i)[0] for i, each in enumerate(self.envs)]

    @property
    def masks(self) -> list[Any]:
        """The action mask of each."""
        return [each.action_mask for each in self.envs]

    def snapshots(self) -> Snapshots:
        """Where each is."""
        return [each.snapshot() for each in self.envs]

    def restore(self, snapshots: Snapshots) -> None:
        """Bring them back to where they were."""
        for each, snapshot in zip(self.envs, snapshots, strict=True):
            each.restore(snapshot)


class VectorCopies(Copies):
    """The copies of a vector environment, which are stepped at once.

    If they are wrapped in `Continuing`, they never end, and tell where they are. Else the next episode is begun in the
    step that ends one: by the environment itself, if its autoreset mode is SAME_STEP; in the other modes by a reset of
    the copies whose episodes are over, which the vector environments of `gymnasium.make_vec` can do.
    """

    def __init__(self, env: AnyVectorEnv, ending: Ending | None = None, limit: int | None = None) -> None:
        self.env, self.number = env, int(env.num_envs)
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space
        base = env.unwrapped
        self._made: AsyncVectorEnv | SyncVectorEnv | None = (
            base if isinstance(base, AsyncVectorEnv | SyncVectorEnv) else None
        )
        self.processes = isinstance(base, AsyncVectorEnv)
        sample = None if self._made is None else self._made.env_fns[0]()  # what is elsewhere may not tell
        self.spec = env.spec if sample is None else sample.spec
        inside, plain = _continuing_in(sample), env is base
        self._continuing = inside is not None
        self._masks: list[Any] = [None] * self.number
        self.sample = None if sample is None else sample.unwrapped
        if sample is not None:
            plain = plain and sample.observation_space == sample.unwrapped.observation_space
            sample.close()
        self.inner_spec, self.bounds = _without_continuing(self.spec), _bounds(self.spec, plain)
        if inside is not None:
            self.rule = inside.rule
        else:
            self._set_rule(ending, limit)

    def _set_rule(self, ending: Ending | None, limit: int | None) -> None:
        """How episodes end, where the copies do not know it themselves."""
        if ending is None:
            given = spec_defaults(self.spec)
            ending, limit = given.ending, given.limit
        self.rule = {"ending": check_ending(ending), "limit": check_limit(limit)}
        self._limit = math.inf if limit is None else limit
        self._horizon = limit if limit is not None else self.spec.max_episode_steps if self.spec else None
        if ending == "shortfall" and self._horizon is None:
            raise InvalidInput('ending "shortfall" needs a limit (--limit): the environment has no time limit')
        self._same_step = self.env.metadata.get("autoreset_mode") in (AutoresetMode.SAME_STEP, "SameStep")
        if self._made is None and (limit is not None or not self._same_step):
            why = "cannot truncate episodes" if self._same_step else "begins an episode in the step after the last one"
            raise InvalidInput(
                f"{type(self.env.unwrapped).__name__} {why}, and single copies of it cannot be reset: make it by "
                "gymnasium.make_vec(…, vectorization_mode='sync') or 'async'"
            )
        self._lengths, self._returns = np.zeros(self.number, dtype=np.int64), np.zeros(self.number)

    def reset(self, seed: int | None) -> list[Observation]:
        """Start them."""
        observations, info = self.env.reset(seed=seed)
        self._masks = self._masks_in(info)
        if not self._continuing:
            self._lengths[:], self._returns[:] = 0, 0.0
        return self._split(observations)

    def step(self, actions: Sequence[int]) -> Round:
        """A step of every copy: what they show, what they pay, and the episodes that ended."""
        given = np.asarray(actions, dtype=self.env.action_space.dtype)
        observations, paid, terminated, truncated, info = self.env.step(given)
        rewards = np.asarray(paid, dtype=np.float64).tolist()
        self._masks = self._masks_in(info)
        if self._continuing:
            return self._split(observations), rewards, _episodes(info)
        self._lengths += 1
        self._returns += rewards
        ended = np.asarray(terminated) | np.asarray(truncated)
        over = ended | (self._lengths >= self._limit)
        if not over.any():
            return self._split(observations), rewards, []
        episodes: list[Episode] = []
        for i in np.flatnonzero(over):
            length, last = int(self._lengths[i]), bool(np.asarray(terminated)[i])
            episodes.append({"length": length, "return": float(self._returns[i]), "terminated": last})
            rewards[i] = ending_reward(cast("Ending", self.rule["ending"]), self._horizon, length, rewards[i], last)
        self._lengths[over], self._returns[over] = 0, 0.0
        waiting = over & ~ended if self._same_step else over
        if waiting.any():
            observations, info = self.env.reset(options={"reset_mask": waiting})
            begun = self._masks_in(info)
            self._masks = [begun[i] if waiting[i] else mask for i, mask in enumerate(self._masks)]
        return self._split(observations), rewards, episodes

    def _split(self, observations: Observation) -> list[Observation]:
        """The observation of each copy."""
        if isinstance(observations, np.ndarray):
            return list(observations)
        each: Iterable[Observation] = gymnasium.vector.utils.iterate(self.env.observation_space, observations)
        return list(each)

    @property
    def masks(self) -> list[Any]:
        """The action mask of each."""
        return self._masks

    def _masks_in(self, info: Info) -> list[Any]:
        """The action mask of each copy, where there is one."""
        if MASK not in info:
            return [None] * self.number
        there = info.get(f"_{MASK}", np.ones(self.number, dtype=bool))
        return [mask if given else None for mask, given in zip(info[MASK], there, strict=True)]

    def snapshots(self) -> Snapshots | None:
        """Where each is, if it is `Continuing`."""
        return list(cast("Any", self._made).call("snapshot")) if self._continuing else None

    def restore(self, snapshots: Snapshots) -> None:
        """Bring them back to where they were."""
        if not self._continuing:
            raise InvalidInput("it learnt in copies wrapped in Continuing, and these are not")
        made = cast("AsyncVectorEnv", self._made)
        made.set_attr("pending", list(snapshots))
        made.call("restore_pending")
        self._masks = list(made.get_attr(MASK))


def _episodes(info: Info) -> list[Episode]:
    """The episodes that ended, as a vector environment of `Continuing` tells it."""
    if "ended" not in info:
        return []
    lengths, returns, terminated = (info["ended"][name].tolist() for name in ("length", "return", "terminated"))
    return [
        {"length": lengths[i], "return": returns[i], "terminated": terminated[i]}
        for i in np.flatnonzero(info["_ended"])
    ]  # fmt: skip


def _bounds(spec: EnvSpec | None, plain: bool) -> Bounds:
    """Bounds are known for what an environment itself shows, not for what wrappers make of it."""
    given = spec_defaults(spec) if plain else EnvDefaults()
    return given.low, given.high


def _without_continuing(spec: EnvSpec | None) -> EnvSpec | None:
    """How an environment was made, but for the wrapper around it."""
    if spec is None:
        return None
    inner = copy.copy(spec)
    inner.additional_wrappers = tuple(each for each in spec.additional_wrappers if each.name != Continuing.class_name())
    return inner


def copies_of(env: Env | AnyVectorEnv, ending: Ending | None = None, limit: int | None = None) -> Copies:
    """The environment without ends, by the rule given or known for it; or the copies of a vector environment."""
    if type(env) is SyncVectorEnv:  # what it does at a step takes longer than the steps of many environments
        return LocalCopies([continuing(each, ending, limit) for each in env.envs])
    if isinstance(env, VectorEnv):
        return VectorCopies(env, ending, limit)
    return LocalCopies([continuing(env, ending, limit)])


def continuing(env: Env, ending: Ending | None = None, limit: int | None = None) -> Continuing:
    """The environment without ends, by the rule given or known for it; unless it is that already."""
    if isinstance(env, Continuing):
        return env
    if not isinstance(env, gymnasium.Env):
        raise InvalidInput(f"env must be a Gymnasium environment, not {env!r}")
    if ending is not None and not holds_continuing(env):
        return Continuing(env, ending, limit)
    given = EnvDefaults() if holds_continuing(env) else env_defaults(env)
    return Continuing(env, ending=given.ending, limit=given.limit)


def holds_continuing(env: object) -> bool:
    """Whether `Continuing` is among the wrappers of an environment."""
    return _continuing_in(env) is not None


def _continuing_in(env: object) -> Continuing | None:
    """The outermost `Continuing` among the wrappers of an environment."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Continuing):
            return env
        env = env.env
    return None
