"""A Gymnasium environment as a batch of one run: the step loop where the environment itself is Python."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from aapi.errors import AapiError, InvalidInput
from aapi.features.active import per_action
from aapi.simulation import Basis, PhaseData
from aapi.simulation.jit import kernel
from aapi.simulation.linear_policy import draw_action
from aapi.simulation.random import draw, streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.agent.observations import Observations
    from aapi.environments.continuing import Continuing

__all__ = ["GymnasiumSimulation", "told"]


class GymnasiumSimulation:
    """Steps an environment that never ends, and collects a phase's data; it may pause anywhere within a phase.

    basis: features of the observation vector; None: a table over countable observations.
    encode: from an observation to a state, a vector, or what the user's own function makes of it.
    """

    def __init__(
        self, env: Continuing | None, observations: Observations, basis: Basis | None, num_actions: int,
        phase_length: int, seed: int, encode: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self.env = env
        self.basis = basis
        self.num_actions = num_actions
        self.encode = encode
        if basis is None:
            states = observations.num_states
            self.features: Any = per_action(scipy.sparse.eye_array(states), num_actions, one_hot=True)
            self._shape = (1, states, num_actions)
        else:
            self.features = basis
            self._shape = (1, basis.num_features, num_actions)
        self.streams = streams(seed, [0])
        self.time = 0
        self.filled = 0  # steps of the phase under way
        self.states: Any
        self.actions: NDArray[np.int32]
        self.rewards: NDArray[np.float64]
        self.current: Any = None  # the present state or vector, once the environment was reset
        self.episodes: list[dict[str, Any]] = []  # that ended since the list was last emptied
        self.begin_phase(phase_length)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(1, states or features, actions)."""
        return self._shape

    @property
    def average_reward(self) -> float:
        """Of the phase under way."""
        return float(self.rewards[0, : self.filled].mean())

    def reset(self, seed: int | None = None) -> None:
        """Start the environment."""
        try:
            observation, _ = self._environment().reset(seed=seed)
        except InvalidInput:
            raise
        except Exception as error:
            raise InvalidInput(f"the environment raised {told(error)} on reset") from error
        self.current = self.encoded(observation)

    def collect(self, policy: Any, steps: int) -> None:
        """Take some steps of the phase under way."""
        env, encode, tables = self._environment(), self.encode, self.basis is None
        step, start = env.step, int(getattr(env.action_space, "start", 0))
        act = self.actor(policy, self.streams[0])
        current, shape = self.current, self.states.shape[2:]
        seen: list[Any] = []  # lists: an item of an array takes half a microsecond
        taken: list[int] = []
        earned: list[Any] = []
        reading = False
        try:
            for _ in range(steps):
                action = act(current)
                reading = False
                observation, reward, _, _, info = step(start + action)
                reading = True
                after = encode(observation)
                if (after < 0) if tables else (after.shape != shape):
                    raise InvalidInput(self._wrong(observation, after))
                seen.append(current)
                taken.append(action)
                earned.append(reward)
                current = after
                if "ended" in info:
                    self.episodes.append(info["ended"])
        except BaseException as error:
            if not isinstance(error, Exception):  # an interrupt: the environment may be a step ahead
                self._account(seen, taken, earned, encode(env.observation))
                raise
            self._account(seen, taken, earned, current)  # which raises where an earlier value is the cause
            what = f"the observation {observation!r} cannot be read" if reading else "the environment raised"
            line = str(error) if isinstance(error, AapiError) else f"{what} {told(error)}"
            raise InvalidInput(f"step {self.time + 1}: {line}") from error
        self._account(seen, taken, earned, current)

    def _wrong(self, observation: Any, encoded: Any) -> str:
        if self.basis is None:
            return f"the observation {observation} is not in its space"
        return f"an observation has {self.basis.dimension} numbers, not the shape {encoded.shape}"

    def _account(self, seen: list[Any], taken: list[int], earned: list[Any], current: Any) -> None:
        """Note the steps taken, which are fewer than wished if one failed; unless a number in them is not finite."""
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
        if self.basis is not None:
            after = np.concatenate([self.states[0, first + 1 : self.filled], [current]])
            if not np.isfinite(after).all():
                t, j = map(int, np.argwhere(~np.isfinite(after))[0])
                self.filled, self.time, self.current = first + t, before + t, None
                raise InvalidInput(f"step {before + t + 1}: observation[{j}] is {after[t, j]}, not a finite number")

    def data(self) -> PhaseData:
        """The data of the phase, which is full."""
        return PhaseData(
            self.states.copy(), self.actions.copy(), self.rewards.copy(), np.array([self.current]),
            self.rewards.sum(axis=1, keepdims=True), np.array([self.rewards.shape[1]]),
        )  # fmt: skip

    def begin_phase(self, steps: int) -> None:
        """Make room for the next phase."""
        self.filled = 0
        shape = (1, steps) if self.basis is None else (1, steps, self.basis.dimension)
        self.states = np.zeros(shape, dtype=np.int32 if self.basis is None else np.float64)
        self.actions = np.zeros((1, steps), dtype=np.int32)
        self.rewards = np.zeros((1, steps))

    def actor(self, policy: Any, stream: Any) -> Callable[[Any], int]:
        """A function from the present state or vector to a random action."""
        if self.basis is None:
            return functools.partial(_draw_from_table, np.ascontiguousarray(policy[0]), stream)
        room = np.empty(2 * self._shape[1] + self._shape[2] + policy.differences.shape[2])
        return functools.partial(
            _draw_from_weights, *self.basis, policy.index[0], policy.constant[0], policy.differences[0], policy.span,
            stream, room,
        )  # fmt: skip

    def probabilities(self, policy: Any, observation: Any) -> Any:
        """π(·|observation)."""
        current = self.encoded(observation)
        if self.basis is None:
            return policy[0, current].copy()
        return policy.probabilities(self.basis, np.asarray(current)[None, None])[0, 0]

    def encoded(self, observation: Any) -> Any:
        """An observation as a state or a vector, or an error that says what is wrong with it."""
        try:
            encoded = self.encode(observation)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise InvalidInput(f"the observation {observation!r} cannot be read ({told(error)})") from error
        if (encoded < 0) if self.basis is None else (encoded.shape != (self.basis.dimension,)):
            raise InvalidInput(self._wrong(observation, encoded))
        if self.basis is None:
            return encoded
        if not np.isfinite(encoded).all():
            j = int(np.flatnonzero(~np.isfinite(encoded))[0])
            raise InvalidInput(f"observation[{j}] is {encoded[j]}, not a finite number")
        return encoded

    def _environment(self) -> Continuing:
        if self.env is None:
            raise InvalidInput("this agent has no environment to act in: give one, aapi.load(path, env=…)")
        return self.env


def told(error: Exception) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@kernel
def _draw_from_table(table: Any, stream: Any, state: Any) -> Any:
    """a ~ π(·|state); rounding at the top end falls to the last action that is possible at all."""
    u = draw(stream)
    chosen = 0
    cumulated = 0.0
    for a in range(table.shape[1]):
        if table[state, a] > 0.0:
            chosen = a
            cumulated += table[state, a]
            if u < cumulated:
                break
    return chosen


@kernel
def _draw_from_weights(
    kind: Any, low: Any, width: Any, order: Any, matrix: Any, vector: Any, scale: Any, size: Any, linear: Any,
    index: Any, constant: Any, differences: Any, span: Any, stream: Any, room: Any, observation: Any,
) -> Any:  # fmt: skip
    """a ~ π(·|observation), in a form that costs little to call: plain arguments, and as few as can be."""
    basis = Basis(kind, low, width, order, matrix, vector, scale, size, linear)
    num_actions, num_features = index.shape
    features, work = room[:num_features], room[num_features : 2 * num_features]
    scores, products = room[2 * num_features : 2 * num_features + num_actions], room[2 * num_features + num_actions :]
    return draw_action(basis, index, constant, differences, span, stream, features, work, scores, products, observation)
