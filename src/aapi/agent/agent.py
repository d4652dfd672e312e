"""The agent: an algorithm, features and a Gymnasium environment; learn, predict, save, and go on later."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from aapi.agent.defaults import Known, known
from aapi.agent.observations import Observations, observations_of
from aapi.agent.score import Score
from aapi.agent.simulation import GymnasiumSimulation, told
from aapi.agent.spaces import check_same_spaces
from aapi.algorithms import RLSVI
from aapi.checks import at_least
from aapi.environments.continuing import Continuing
from aapi.errors import InvalidInput, TooLarge
from aapi.features import Coordinates, FeatureMatrix, Fourier, OneHot, Radial
from aapi.features.bounds import MOST_FEATURES
from aapi.files import uninterrupted
from aapi.progress import progress_bar
from aapi.simulation.basis import LINEAR, TILES, Basis
from aapi.simulation.random import streams

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.algorithms import Phase, PolicyIteration

__all__ = ["Agent", "Progress"]

STRIDE = 500  # steps between two looks at the clock


@dataclass(frozen=True)
class Progress:
    """How learning stands at the end of a phase, for callbacks.

    average_reward: of this phase; overall_reward: of all steps so far. episodes: those that ended in this phase, each
    with its length, its return and whether it was terminated.
    """

    phase: int
    steps: int
    average_reward: float
    overall_reward: float
    episodes: tuple[dict[str, Any], ...]
    steps_per_second: float
    details: Phase


class Agent:
    """Learns to earn a high average reward in an environment that never ends.

    algorithm: AAPI, Politex, AdaptiveFTRL, GreedyAPI, RLSVI or any `PolicyIteration`.
    env: a Gymnasium environment with discrete actions. If its episodes end, the next one begins in the same step: it is
        wrapped in `Continuing`, unless you did that, with the ending rule known for its id (CartPole: the paper's), or
        else the environment's own rewards.
    features: OneHot (default for countable observations), Fourier (default for up to four numbers, of order 3), Radial
        (default for more), Tiles, or a function of yours from an observation to a vector.
    seed: of the agent's draws, and of the environment's first reset.

    Several agents of the same seed learn the same, and learning in pieces, or saved and loaded in between, is the same
    as learning in one go.
    """

    def __init__(
        self,
        algorithm: PolicyIteration | RLSVI,
        env: gymnasium.Env[Any, Any],
        features: Any = None,
        seed: int = 0,
    ) -> None:
        self.env: Continuing | None = continuing(env)
        # Bounds are known for what the environment itself shows, not for what wrappers make of it.
        given = known(env) if env.observation_space == env.unwrapped.observation_space else Known()
        self._set_up(algorithm, env.observation_space, env.action_space, features, seed, (given.low, given.high))

    def _set_up(
        self, algorithm: Any, observation_space: Any, action_space: Any, features: Any, seed: int, bounds: Any
    ) -> None:
        """All but the environment, which an agent from a file may do without. bounds: None for those of the space."""
        at_least(0, seed=seed)
        if not all(hasattr(algorithm, part) for part in ("check", "start", "improve", "phase_length")):
            raise InvalidInput(f"algorithm must be AAPI(…), Politex(…), RLSVI(…) or another, not {algorithm!r}")
        algorithm.check()
        self.algorithm, self.seed, self.bounds = algorithm, seed, bounds
        self.observation_space, self.action_space = observation_space, action_space
        self.num_actions = _count_actions(action_space)
        self.observations: Observations = observations_of(observation_space)
        self.features: Any = _default_features(self.observations) if features is None else features
        low, high = bounds
        self.basis = self._make_basis(low or self.observations.low, high or self.observations.high)
        encode: Any = self.observations.state if self.basis is None else self.observations.vector
        if not _named(self.features):
            encode = _vector_of(features)
        elif isinstance(self.features, OneHot) and self.basis is not None:
            encode = _state_as_vector(self.observations)
        self.simulation = GymnasiumSimulation(
            self.env, self.observations, self.basis, self.num_actions, 0, seed, encode
        )
        self.history: Any = algorithm.start(self.simulation)
        self.simulation.begin_phase(self.history.steps)
        self.reward_sum = 0.0
        # Where the environment was, of an agent from a file that has none.
        self.whereabouts: dict[str, Any] = {"env": None, "snapshot": None, "current": None}
        self.saved: tuple[str | os.PathLike[str], int] | None = None  # the last file, and the steps it has
        self._predictions = streams(seed, [1])[0]  # apart from learning's, which must not notice

    def _make_basis(self, low: Any, high: Any) -> Basis | None:
        if isinstance(self.features, OneHot):
            return self._states_as_tiles() if isinstance(self.algorithm, RLSVI) else None
        if _named(self.features):
            basis: Basis = self.features.basis(low, high).check(len(self.observations.low))
            return basis
        if not callable(self.features) or isinstance(self.features, type | Coordinates | FeatureMatrix):
            raise InvalidInput(f"features must be OneHot, Fourier, Tiles, Radial or a function, not {self.features!r}")
        # A function of the user's: what it returns for one observation says how long its vectors are.
        try:
            sample = copy.deepcopy(self.observation_space).sample()  # the space's own draws are the environment's
            vector = np.asarray(self.features(sample), dtype=np.float64)
        except Exception as error:
            raise InvalidInput(f"the feature function raised {told(error)}") from error
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise InvalidInput(f"features must return a vector of finite numbers, not {vector!r}")
        size = vector.size
        return Basis(LINEAR, np.zeros(size), np.ones(size), 0, np.empty((0, 0)), np.empty(0), 1.0, 0, linear=True)

    def _states_as_tiles(self) -> Basis:
        """Indicators of states as weights: RLSVI's tables need a model, its weights do not."""
        states = self.observations.num_states
        if states > MOST_FEATURES:
            raise TooLarge(
                f"RLSVI on {states} states would take a regression on as many features: take tiles or radial"
            )
        half = np.array([[0.5]])  # puts a state into the middle of its tile
        width = np.array([max(1.0, states - 1.0)])
        return Basis(
            TILES, np.zeros(1), width, max(1, states - 1), half, np.empty(0), 1.0, max(2, states), linear=False
        )

    @property
    def policy(self) -> Any:
        """The present policy: a table, (1, states, actions), or a `LinearPolicy`."""
        return self.history.policy

    @property
    def steps_left(self) -> int:
        """Of the phase, or the exploration, under way."""
        return int(self.history.steps - self.simulation.filled)

    @property
    def num_steps(self) -> int:
        """Steps learnt from so far."""
        return self.simulation.time

    @property
    def num_phases(self) -> int:
        """Policies improved so far."""
        return int(self.history.phase)

    @property
    def total_reward(self) -> float:
        """Earned in all steps so far."""
        return self.reward_sum + float(self.simulation.rewards[0, : self.simulation.filled].sum())

    def learn(
        self,
        num_steps: int,
        progress: bool = False,
        callback: Callable[[Progress], Any] | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 10,
    ) -> Agent:
        """Act and learn for some more steps. Returns the agent.

        progress: show a bar with the average reward, speed and time left.
        callback: called with a `Progress` after each phase; learning stops if it returns False.
        checkpoint: a file to save the agent to after every `checkpoint_every` phases, and at the end.
        """
        at_least(1, num_steps=num_steps, checkpoint_every=checkpoint_every)
        simulation = self.simulation
        if simulation.current is None:
            if self.env is not None and simulation.time:
                raise InvalidInput("where the environment is now is not known: go on from the last checkpoint")
            simulation.reset(self.seed)
        last, start, first = simulation.time + num_steps, time.perf_counter(), simulation.time
        with progress_bar("learning", num_steps, show=progress) as advance:
            while simulation.time < last:
                steps = min(last - simulation.time, self.steps_left)
                for done in range(0, steps, STRIDE):
                    part = min(STRIDE, steps - done)
                    simulation.collect(self.history.acting, part)
                    advance(part, f"phase {self.num_phases + 1}, average reward {simulation.average_reward:.4g}")
                if self.steps_left:
                    break
                speed = (simulation.time - first) / (time.perf_counter() - start)
                explored = self.history.acting is not self.policy
                wanted = self._improve(speed, callback)
                if checkpoint is not None and self.num_phases % checkpoint_every == 0 and not explored:
                    self.save(checkpoint)
                if not wanted:
                    break
        if checkpoint is not None:
            self.save(checkpoint)
        return self

    def _improve(self, speed: float, callback: Callable[[Progress], Any] | None) -> bool:
        """End a phase; whether to go on."""
        simulation = self.simulation
        data = simulation.data()
        # All or nothing: an error or an interrupt in here must leave an agent that can be saved, and go on.
        memory, streams = vars(self.history), simulation.streams.copy()
        before = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in memory.items()}
        before.pop("streams", None)  # which it shares with the simulation
        memories = getattr(self.history, "memories", {}).values()
        kept = [{name: array.copy() for name, array in each.arrays().items()} for each in memories]
        try:
            phase = self.algorithm.improve(simulation, self.history, data)
        except BaseException:
            memory.update(before)
            for each, arrays in zip(memories, kept, strict=True):
                each.restore(arrays)
            simulation.streams[:] = streams
            raise
        simulation.begin_phase(self.history.steps)
        self.reward_sum += float(data.rewards.sum())
        if phase.exploring is not None:
            return True
        episodes, simulation.episodes = tuple(simulation.episodes), []
        if callback is None:
            return True
        average = float(data.rewards.mean())
        overall = self.reward_sum / simulation.time
        return callback(Progress(phase.number, simulation.time, average, overall, episodes, speed, phase)) is not False

    def predict(self, observation: Any, deterministic: bool = False) -> int:
        """An action for an observation: drawn from the policy, or its most likely one."""
        start = int(self.action_space.start)
        if deterministic:
            return start + int(np.argmax(self.probabilities(observation)))
        return start + self.simulation.actor(self.policy, self._predictions)(self.simulation.encoded(observation))

    def evaluate(
        self,
        num_steps: int,
        env: gymnasium.Env[Any, Any] | None = None,
        *,
        deterministic: bool = False,
        seed: int = 1000,
        progress: bool = False,
        film: Callable[[int, Any], None] | None = None,
    ) -> Score:
        """Act by the present policy for some steps, without learning, in an environment of its own.

        env: another than the agent's, whose state is needed for learning on; may be left out if Gymnasium can make one
            like it. film: called with the number of each step and the environment before it.
        """
        at_least(1, num_steps=num_steps)
        at_least(0, seed=seed)
        if env is not None and self.env is not None and env.unwrapped is self.env.unwrapped:
            raise InvalidInput("give evaluate another environment than the one that the agent learns in")
        where = continuing(env) if env is not None else self._another()
        check_same_spaces(where, self.observation_space, self.action_space)
        simulation = GymnasiumSimulation(
            where, self.observations, self.basis, self.num_actions,
            num_steps, seed, self.simulation.encode,
        )  # fmt: skip
        simulation.reset(seed)
        policy = self.history.greedy_policy() if deterministic else self.policy
        with progress_bar("evaluating", num_steps, show=progress) as advance:
            stride = 1 if film else STRIDE
            for done in range(0, num_steps, stride):
                if film:
                    film(done, simulation.env)
                part = min(stride, num_steps - done)
                simulation.collect(policy, part)
                advance(part, f"average reward {simulation.average_reward:.4g}")
        return Score(
            simulation.rewards[0],
            simulation.actions[0].astype(np.int64),
            self.num_actions,
            tuple(episode["length"] for episode in simulation.episodes),
            tuple(episode["return"] for episode in simulation.episodes),
        )

    def _another(self) -> Continuing:
        """An environment like the agent's."""
        if self.env is None or self.env.spec is None:
            raise InvalidInput("give an environment to evaluate in: evaluate(num_steps, env)")
        return continuing(gymnasium.make(self.env.spec))

    def probabilities(self, observation: Any) -> NDArray[np.float64]:
        """π(·|observation), (actions,)."""
        found: NDArray[np.float64] = self.simulation.probabilities(self.policy, observation)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a file of arrays and JSON, from which `aapi.load` makes it again, learning included."""
        from aapi.agent.storage import save

        with uninterrupted():
            save(self, path)
            self.saved = (path, self.num_steps)


def continuing(env: gymnasium.Env[Any, Any]) -> Continuing:
    """The environment without ends, by the rule known for it; unless it is that already."""
    if isinstance(env, Continuing):
        return env
    if not isinstance(env, gymnasium.Env):
        raise InvalidInput(f"env must be a Gymnasium environment, not {env!r}")
    given = Known() if holds_continuing(env) else known(env)
    return Continuing(env, ending=given.ending, limit=given.limit)


def holds_continuing(env: Any) -> bool:
    """Whether `Continuing` is among the wrappers of an environment."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, Continuing):
            return True
        env = env.env
    return False


def _default_features(observations: Observations) -> Any:
    """Tables where observations are countable; a Fourier basis for few numbers, what does not explode for many."""
    if all(observations.counts):
        return OneHot()
    return Fourier() if len(observations.low) <= 4 else Radial()


def _count_actions(space: Any) -> int:
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise InvalidInput(
            f"actions must be Discrete, and those of this environment are {space}: discretise them first"
        )
    return int(space.n)


def _vector_of(function: Callable[[Any], Any]) -> Callable[[Any], NDArray[np.float64]]:
    return lambda observation: np.array(function(observation), dtype=np.float64)


def _state_as_vector(observations: Observations) -> Callable[[Any], NDArray[np.float64]]:
    def encode(observation: Any) -> NDArray[np.float64]:
        state = observations.state(observation)
        if state < 0:
            raise InvalidInput(f"the observation {observation} is not in its space")
        return np.array([state], dtype=np.float64)

    return encode


def _named(features: Any) -> bool:
    """Whether these are features of this library, or like them, which need no call for each observation."""
    return isinstance(features, OneHot) or (hasattr(features, "basis") and not isinstance(features, type))
