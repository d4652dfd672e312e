"""A Gymnasium environment as a batch of one run: the step loop where the environment itself is Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.errors import AapiError, InvalidInput, one_line
from aapi.files import uninterrupted
from aapi.kernels.random import streams
from aapi.simulation.data import NO_GRID, PhaseData

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymnasium.spaces import Discrete
    from numpy.typing import NDArray

    from aapi.approximation import Policy, QSpace
    from aapi.array_types import AnyArray
    from aapi.environments.continuing import Continuing, Episode
    from aapi.environments.observations import Encoder
    from aapi.gymnasium_types import Observation
    from aapi.simulation.data import Stretch


STRIDE = 500  # steps between two calls of `watch`


class GymnasiumSimulation:
    """Steps an environment that never ends, and may pause anywhere within a stretch.

    encode: from an observation to what `space` takes for a state. watch: called now and then with the steps just taken.
    current: the present state, once the environment was reset. episodes: those that ended since the list was emptied.
    states, actions, rewards: of the stretch under way, of which `filled` steps were taken. earned: in those before it.
    """

    def __init__(self, env: Continuing | None, space: QSpace, encode: Encoder, seed: int) -> None:
        self.env, self.space, self.encode = env, space, encode
        self.streams, self.grid = streams(seed, [0]), NO_GRID
        self.time = self.filled = 0
        self.earned = 0.0
        self.current: Any = None
        self.episodes: list[Episode] = []
        self.watch: Callable[[int], None] = lambda _: None
        self._make_room(0)

    @property
    def average_reward(self) -> float:
        """Of the stretch under way."""
        return float(self.rewards[0, : self.filled].mean())

    @property
    def total_reward(self) -> float:
        """Earned in all steps so far."""
        return self.earned + float(self.rewards[:, : self.filled].sum())

    def begin(self, steps: int) -> None:
        """Begin a stretch."""
        self.earned, self.filled = self.total_reward, 0
        self._make_room(steps)

    def _make_room(self, steps: int) -> None:
        self.states: AnyArray = np.zeros((1, steps, *self.space.state_shape), dtype=self.space.state_dtype)
        self.actions, self.rewards = np.zeros((1, steps), dtype=np.int32), np.zeros((1, steps))

    def reset(self, seed: int | None = None) -> None:
        """Start the environment."""
        try:
            observation, _ = self._environment().reset(seed=seed)
        except InvalidInput:
            raise
        except Exception as error:
            raise InvalidInput(f"the environment raised {one_line(error)} on reset") from error
        self.current = self.encoded(observation)

    def rollout(self, stretch: Stretch, most: int) -> PhaseData:
        """Act in a stretch, from where it paused; its data so far."""
        policy = self.space.check_policy(stretch.acting, 1)
        if stretch.start == self.time:
            self.begin(stretch.steps)
        left = self._left(stretch)
        last, met = min(stretch.steps, self.filled + most), self._is_met(left)
        while self.filled < last and not met:
            before = self.filled
            met = self._collect(policy, min(STRIDE, last - self.filled), left)
            self.watch(self.filled - before)
        taken = slice(0, self.filled)
        rewards = self.rewards[:, taken]
        return PhaseData(
            self.states[:, taken], self.actions[:, taken], rewards, np.array([self.current]),
            rewards.sum(axis=1, keepdims=True), np.array([self.filled]), self.time, met or self.filled == stretch.steps,
            self.streams,
        )  # fmt: skip

    def _left(self, stretch: Stretch) -> NDArray[np.int64] | None:
        """What the steps before a pause have left of a stretch's limits."""
        if stretch.limits is None:
            return None
        self.space.require_countable("limits of visits need")
        if np.shape(stretch.limits) != self.space.shape(1):
            raise InvalidInput(f"limits must be of shape {self.space.shape(1)}, not {np.shape(stretch.limits)}")
        left = np.array(stretch.limits[0], dtype=np.int64)
        np.subtract.at(left, (self.states[0, : self.filled], self.actions[0, : self.filled]), 1)
        return left

    def _is_met(self, left: NDArray[np.int64] | None) -> bool:
        """Whether a limit was met before a pause: the stretch is over then."""
        return left is not None and bool(
            (left[self.states[0, : self.filled], self.actions[0, : self.filled]] <= 0).any()
        )

    def _collect(self, policy: Policy, steps: int, left: NDArray[np.int64] | None) -> bool:
        """Take some steps of the stretch under way; whether a limit was met."""
        env, encode = self._environment(), self.encode
        step, start = env.step, int(cast("Discrete[Any]", env.action_space).start)
        act = self.space.actor(policy, self.streams[0])
        current = self.current
        seen: list[Any] = []  # lists: an item of an array takes half a microsecond
        taken: list[int] = []
        earned: list[Any] = []
        reading = met = False
        try:
            for _ in range(steps):
                action = act(current)
                reading = False
                observation, reward, _, _, info = step(start + action)
                reading = True
                after = encode(observation)
                seen.append(current)
                taken.append(action)
                earned.append(reward)
                if left is not None:
                    left[current, action] -= 1
                    met = bool(left[current, action] <= 0)
                current = after
                if "ended" in info:
                    self.episodes.append(info["ended"])
                if met:
                    break
        except BaseException as error:
            if not isinstance(error, Exception):  # an interrupt: the environment may be a step ahead
                self._account(seen, taken, earned, encode(env.observation))
                raise
            self._account(seen, taken, earned, current)  # which raises where an earlier value is the cause
            what = f"the observation {observation!r} cannot be read" if reading else "the environment raised"
            line = str(error) if isinstance(error, AapiError) else f"{what} {one_line(error)}"
            raise InvalidInput(f"step {self.time + 1}: {line}") from error
        self._account(seen, taken, earned, current)
        return met

    def _account(self, seen: list[Any], taken: list[int], earned: list[Any], current: Any) -> None:
        """Note the steps taken, which are fewer than wished if one failed; unless a number in them is not finite."""
        with uninterrupted():
            self._note(seen, taken, earned, current)

    def _note(self, seen: list[Any], taken: list[int], earned: list[Any], current: Any) -> None:
        count = min(len(seen), len(taken), len(earned))  # an interrupt may come between them
        first, before = self.filled, self.time
        self.filled, self.time, self.current = first + count, before + count, current
        if not count:
            return
        self.states[0, first : self.filled] = seen[:count]
        self.actions[0, first : self.filled] = taken[:count]
        rewards = self.rewards[0, first : self.filled]
        rewards[:] = earned[:count]
        if not np.isfinite(rewards).all():
            t = int(np.flatnonzero(~np.isfinite(rewards))[0])
            self.filled, self.time = first + t, before + t  # what came before is good
            raise InvalidInput(f"step {before + t + 1}: the reward is {rewards[t]}, not a finite number")
        after = np.concatenate([self.states[0, first + 1 : self.filled], [current]])
        if not np.isfinite(after).all():
            t, j = map(int, np.argwhere(~np.isfinite(after))[0])
            self.filled, self.time, self.current = first + t, before + t, None
            raise InvalidInput(f"step {before + t + 1}: observation[{j}] is {after[t, j]}, not a finite number")

    def encoded(self, observation: Observation) -> Any:
        """An observation as a state, or an error that says what is wrong with it."""
        try:
            encoded = self.encode(observation)
        except InvalidInput:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise InvalidInput(f"the observation {observation!r} cannot be read ({one_line(error)})") from error
        if not np.isfinite(encoded).all():
            j = int(np.flatnonzero(~np.isfinite(encoded))[0])
            raise InvalidInput(f"observation[{j}] is {encoded[j]}, not a finite number")
        return encoded

    def _environment(self) -> Continuing:
        if self.env is None:
            raise InvalidInput("this agent has no environment to act in: give one, aapi.load(path, env=…)")
        return self.env
