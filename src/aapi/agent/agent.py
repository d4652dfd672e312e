"""The agent: a learner, features and a Gymnasium environment; learn, predict, save, and go on later."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from aapi.agent.changes import ChangeLog
from aapi.agent.logged import read_logged
from aapi.agent.predictor import Predictor
from aapi.agent.representation import choose, represent
from aapi.agent.rule import rule_policy
from aapi.agent.score import Score, shows_state
from aapi.agent.spaces import check_same_spaces
from aapi.approximation.rule_policy import RulePolicy
from aapi.checks import at_least
from aapi.environments.copies import LocalCopies, continuing, copies_of
from aapi.environments.env_defaults import spec_defaults
from aapi.environments.observations import Observations, observations_of
from aapi.errors import InvalidInput
from aapi.files import uninterrupted
from aapi.kernels.random import streams
from aapi.learners.conservative import beside_rule, state_without_rule
from aapi.learners.exploring import ExploringState
from aapi.learners.learner import Session, cannot_learn_from_others, check_learner
from aapi.learners.state import copied
from aapi.memory import KeepSteps
from aapi.policies.names import Names, names_of
from aapi.progress import progress_bar
from aapi.simulation import PhaseData, Stretch
from aapi.simulation.gymnasium import GymnasiumSimulation

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from aapi.agent.logged import Logged, Transitions
    from aapi.agent.representation import AgentFeatures, Bounds
    from aapi.agent.rule import Rule
    from aapi.agent.storage import EnvSnapshot
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Integers
    from aapi.environments.continuing import Continuing, Ending, Episode
    from aapi.environments.copies import Copies
    from aapi.gymnasium_types import AnyVectorEnv, Env, Observation, Space
    from aapi.learners import Phase
    from aapi.learners.learner import AnyLearner
    from aapi.policies import PolicyTable
    from aapi.policies.names import NamesGiven


CHECKPOINT_STEPS = 10_000  # between two checkpoints, unless
SHARE = 10.0  # this many times the time that saving takes would be less


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
    episodes: tuple[Episode, ...]
    steps_per_second: float
    details: Phase


class Agent:
    """Learns to earn a high average reward in an environment that never ends.

    algorithm: AAPI, Politex, AdaptiveFTRL, GreedyAPI, RLSVI or any `Learner`.
    env: a Gymnasium environment with discrete actions. If its episodes end, the next one begins in the same step: it is
        wrapped in `Continuing`, unless you did that, with the ending rule known for its id (CartPole: the paper's), or
        else the environment's own rewards. A vector environment, gymnasium.make_vec(…), is several copies that the
        agent learns from at once, as one run: a step of n copies is n steps.
    features: OneHot (default for countable observations), Grid (default of AAPI() for vectors, except in CartPole; the
        algorithm is `OptimisticGrid()` then), Fourier (default of others for up to four numbers, of order 3), Radial
        (default of others for more), Tiles, or a function of yours from an observation to a vector.
    seed: of the agent's draws, and of the environment's first reset.
    rule: a rule of thumb, which acts first, and as long as the learner might lose too much: the algorithm becomes
        `Conservative(learner=algorithm)`, unless it is one. A function from an observation to an action, what has
        `predict`, "module:function", or for queueing networks of ours a name such as "maxweight".

    Several agents of the same seed learn the same, and learning in pieces, or saved and loaded in between, is the same
    as learning in one go.
    """

    def __init__(
        self, algorithm: AnyLearner, env: Env | AnyVectorEnv, features: AgentFeatures | None = None, seed: int = 0, *,
        rule: Rule | None = None,
    ) -> None:  # fmt: skip
        copies = copies_of(env)
        spaces = copies.observation_space, copies.action_space
        self._set_up(algorithm, copies, copies.number, *spaces, features, seed, copies.bounds, rule)

    def _set_up(
        self, algorithm: AnyLearner, copies: Copies | None, num_copies: int, observation_space: Space,
        action_space: Space, features: AgentFeatures | None, seed: int, bounds: Bounds, rule: Rule | None,
    ) -> None:  # fmt: skip
        """copies: the environment, which an agent from a file may do without. bounds: None for those of the space."""
        at_least(0, seed=seed)
        check_learner(algorithm)
        self.seed, self.bounds = seed, bounds
        self.observation_space, self.action_space = observation_space, _discrete(action_space)
        self.num_actions = int(self.action_space.n)
        observations: Observations = observations_of(observation_space)
        if rule is not None:
            algorithm = beside_rule(algorithm)
        algorithm, self.features = choose(algorithm, features, observations, bounds)
        self.algorithm, self.rule = algorithm, rule
        self.space: QSpace
        self.space, encode = represent(self.features, observations, self.num_actions, bounds, observation_space)
        if rule is not None:
            self.space.rule = rule_policy(rule, copies, observations, self.action_space, self.features)
        self.copies, self.space.copies = copies, num_copies
        self.simulation = GymnasiumSimulation(copies, self.space, encode, seed)
        self.session = Session(algorithm, self.simulation, copy_states=True)
        self.names = Names()
        if copies is not None:
            known = spec_defaults(copies.inner_spec)
            offered = Names(known.observation_names, known.action_names).updated(names_of(copies.sample))
            self.names = offered.fitting(len(observations.low), self.num_actions)
        self.env_snapshot: EnvSnapshot | None = None  # where the environment was, of an agent from a file without one
        self.logged_steps = 0  # learnt from in logs, of which the simulation's time knows
        self.saved: tuple[str | os.PathLike[str], int] | None = None  # the last file, and the steps it has
        self._predictions = streams(seed, [1])[0]  # apart from learning's, which must not notice
        self._predictor = Predictor(self, observations)

    def __repr__(self) -> str:
        copies = f", {self.space.copies} copies" if self.space.copies > 1 else ""
        size = f"{self.space.describe()}, {self.num_actions} actions{copies}"
        return f"Agent({self.algorithm!r}; {size}; {self.num_steps} steps, {self.num_phases} phases learnt)"

    @property
    def env(self) -> Env | AnyVectorEnv | None:
        """What the agent learns in: a `Continuing`, or a vector environment; None if a file was loaded without."""
        return None if self.copies is None else self.copies.env

    @property
    def env_id(self) -> str | None:
        """The id of its environment, where it has one."""
        if self.copies is not None:
            return self.copies.inner_spec.id if self.copies.inner_spec else None
        described = self.env_snapshot.description if self.env_snapshot else None
        return None if described is None else described.get("id")

    @property
    def policy(self) -> Policy:
        """The present policy: a table, (1, states, actions), or a `LinearPolicy`. In a table, nothing forbidden.

        Beside a rule of thumb, that of whoever is trusted.
        """
        return self.simulation.masks.in_table(self.algorithm.current_policy(self.session.state))

    @property
    def steps_left(self) -> int:
        """Of the phase, or the exploration, under way; at the most, if it ends by what is seen."""
        stretch = self.algorithm.act(self.session.state)
        return stretch.start + self.simulation.whole(stretch.steps) - self.simulation.time

    @property
    def num_steps(self) -> int:
        """How many steps were taken so far, by all copies of the environment together."""
        return self.simulation.time - self.logged_steps

    @property
    def num_phases(self) -> int:
        """How many policies were improved so far."""
        return int(self.session.state.k)

    @property
    def total_reward(self) -> float:
        """The reward earned in all steps so far."""
        return self.simulation.total_reward

    @property
    def explored_steps(self) -> int:
        """How many steps were explorations between phases, of all copies together."""
        state = state_without_rule(self.session.state)
        return int(state.explored.sum()) if isinstance(state, ExploringState) else 0

    @property
    def explored_cost(self) -> float:
        """What explorations that have a price, such as `Expeditions`, are believed to have cost in rewards so far."""
        state = state_without_rule(self.session.state)
        return float(state.outlook.lost.sum()) if isinstance(state, ExploringState) else 0.0

    def learn(
        self,
        num_steps: int,
        progress: bool = False,
        callback: Callable[[Progress], object] | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int | None = None,
        checkpoint_steps: int | None = None,
        log: str | os.PathLike[str] | None = None,
    ) -> Agent:
        """Act and learn for some more steps. Returns the agent.

        num_steps: of all copies of the environment together, rounded up to as many of each.
        progress: show a bar with the average reward, speed and time left.
        callback: called with a `Progress` after each phase; learning stops if it returns False.
        checkpoint: a file to save the agent to after every `checkpoint_every` phases, if that is given; when there were
            `checkpoint_steps` steps since the last time, also within a phase; and at the end. By default after 10,000
            steps, or more, so that saving takes about a tenth of the time at the most.
        log: a file that a line of JSON is appended to after each phase, with what changed; see `ChangeLog`. Of an agent
            that goes on from a checkpoint, the lines of what was learnt after it are written anew.
        """
        given = {"checkpoint_every": checkpoint_every, "checkpoint_steps": checkpoint_steps}
        at_least(1, num_steps=num_steps, **{name: value for name, value in given.items() if value is not None})
        simulation = self.simulation
        if simulation.current is None:
            if self.copies is not None and self.num_steps:
                raise InvalidInput(
                    "where the environment is now is not known: go on from the last checkpoint; copies in a vector "
                    "environment can go on if they are wrapped in aapi.environments.Continuing"
                )
            simulation.reset(self.seed)
        changes = None if log is None else ChangeLog(self, log)
        checkpoints = None if checkpoint is None else Checkpoints(self, checkpoint, checkpoint_every, checkpoint_steps)
        start, first = time.perf_counter(), simulation.time
        with progress_bar("learning", num_steps, show=progress) as advance:
            simulation.watch = lambda steps: advance(
                steps, f"phase {self.num_phases + 1}, average reward {simulation.average_reward:.4g}"
            )
            phases = self.num_phases
            for phase in self._play(num_steps, checkpoints):
                learnt = phase.data.complete and (phase.exploring is None or self.num_phases > phases)
                phases = self.num_phases
                speed = (simulation.time - first) / (time.perf_counter() - start)
                if changes is not None and learnt:
                    changes.add(phase)
                wanted = not learnt or self._report(phase, speed, callback)
                if checkpoints is not None:
                    checkpoints.after(learnt, speed)
                if not wanted:
                    break
        if checkpoint is not None:
            self.save(checkpoint)
        return self

    def learn_from(
        self,
        transitions: Transitions,
        progress: bool = False,
        *,
        mask: Callable[[Observation], ArrayLike] | None = None,
    ) -> Agent:
        """Learn from what others did, in phases of the lengths it would have chosen; then go on by `learn`.

        For learners that can: those whose `off_policy` is true. progress: show a bar.

        transitions: a .csv or .parquet file with the columns state, action, reward and next_state, for observations and
            actions that are numbers from 0 on; or a dictionary of these, whose states are a list or an array of
            observations. A column `terminated` marks rows that end an episode: the next row begins the next one.
        mask: what is allowed in an observation, 1 or 0 for each action, if not everything is: a log does not say.
        """
        learner, session, simulation = self.algorithm, self.session, self.simulation
        if not learner.off_policy(self.space):
            raise InvalidInput(cannot_learn_from_others(learner))
        if any(isinstance(spec, KeepSteps) and spec.probabilities for spec in session.state.memories):
            raise InvalidInput(f"{learner!r} weighs what was done by how likely it was, which a log does not say")
        logged = read_logged(self, transitions, mask)
        if simulation.filled and simulation.time > self.algorithm.act(session.state).start:
            if simulation.current is None:
                raise InvalidInput("the agent is in the middle of a phase: load it with its environment")
            stretch = learner.act(session.state)  # what was done of it, first
            data = replace(simulation.rollout(stretch, 0), complete=True)
            state = copied(session.state)
            if stretch.exploring is None:
                session.state = learner.learn_from(state, data, stretch.acting)
            else:
                session.state = learner.update(state, data)[0]
            simulation.begin(0)
        uniform, count, first = self.space.uniform(1), len(logged.rewards), 0
        with progress_bar("learning from the log", count, show=progress) as advance:
            while first < count:
                asked = learner.act(session.state).steps
                last = first + asked if first + 2 * asked <= count else count
                state = learner.learn_from(copied(session.state), self._data(logged.part(first, last)), uniform)
                session.state = state
                simulation.time += last - first
                self.logged_steps += last - first
                advance(last - first, f"phase {self.num_phases}")
                first = last
        return self

    def _data(self, logged: Logged) -> PhaseData:
        """Rows of a log as a stretch: of one environment, or of one for each row, unless each follows on the last."""
        steps = len(logged.rewards)
        after = logged.successors[-1:] if logged.in_order and self.space.copies == 1 else logged.successors[None]
        rewards = np.ascontiguousarray(logged.rewards, dtype=np.float64)[None]
        return PhaseData(
            np.ascontiguousarray(logged.states)[None], np.ascontiguousarray(logged.actions, dtype=np.int32)[None],
            rewards, np.ascontiguousarray(after), rewards.sum(axis=1, keepdims=True), np.array([steps]),
            self.simulation.time + steps, streams=self.simulation.streams,
        )  # fmt: skip

    def _play(self, num_steps: int, checkpoints: Checkpoints | None) -> Iterator[Phase]:
        """Act and learn, with a pause where a checkpoint is due: then the last phase is not complete."""
        last = self.simulation.time + num_steps
        while self.simulation.time < last:
            pause = last if checkpoints is None else min(last, checkpoints.due + self.logged_steps)
            yield from self.session.play(pause - self.simulation.time)

    def _report(self, phase: Phase, speed: float, callback: Callable[[Progress], object] | None) -> bool:
        """Tell the callback of a phase; whether to go on."""
        simulation = self.simulation
        episodes, simulation.episodes = tuple(simulation.episodes), []
        if callback is None:
            return True
        average, overall = float(phase.data.rewards.mean()), self.total_reward / self.num_steps
        return callback(Progress(phase.number, self.num_steps, average, overall, episodes, speed, phase)) is not False

    def predict(
        self, observation: Observation, deterministic: bool = False, *, mask: ArrayLike | None = None
    ) -> int | Integers:
        """An action for an observation, drawn from the policy, or its most likely one; or actions for a batch of them.

        A batch has one axis more than an observation: an array of whole numbers for Discrete, (n, …) for a Box, and
        dictionaries or tuples of such for Dict and Tuple, as vector environments give. Its actions are those that its
        observations would be given one after the other.
        mask: 1 for each action that is allowed, 0 for the others, (actions,) or, for a batch, (n, actions). Tables know
            it where they have seen the observation.
        """
        return self._predictor.predict(observation, deterministic, mask)

    def probabilities(self, observation: Observation, *, mask: ArrayLike | None = None) -> Array:
        """π(·|observation), (actions,), or of a batch, (n, actions). mask: as in `predict`."""
        return self._predictor.probabilities(observation, mask)

    def policy_table(
        self, names: NamesGiven = None, *, visited: bool = True, over: Sequence[int | str] | None = None
    ) -> PolicyTable:
        """What the policy does by observation, where the agent was most often first; see `PolicyTable`.

        How often it was there is of all steps where the learner counts them, as `AAPI()` does, else of those that it
        remembers. Observations that are vectors, and hardly come twice, are the points of a grid.

        names: {"observations": […], "actions": […]}; by default what the environment has as `observation_names` and
            `action_names`. visited: leave out countable observations that were never seen. over: one to three numbers
            of vectors, by name or place, that the grid is over; the others are at their medians. By default the first
            three; of the last of three there are three values.
        """
        from aapi.agent.tables import agent_table

        return agent_table(self, names, visited, over)

    def evaluate(
        self,
        num_steps: int,
        env: Env | None = None,
        *,
        deterministic: bool = False,
        seed: int = 1000,
        progress: bool = False,
        film: Callable[[int, Env], None] | None = None,
    ) -> Score:
        """Act by the present policy for some steps, without learning, in an environment of its own.

        env: another than the agent's, whose state is needed for learning on; may be left out if Gymnasium can make one
            like it. film: called with the number of each step and the environment before it.
        """
        at_least(1, num_steps=num_steps)
        at_least(0, seed=seed)
        if env is not None and self.copies is not None and self.copies.holds(env):
            raise InvalidInput("give evaluate another environment than the one that the agent learns in")
        where = continuing(env) if env is not None else self._another()
        check_same_spaces(where, self.observation_space, self.action_space)
        simulation = GymnasiumSimulation(LocalCopies([where]), self.space, self.simulation.encode, seed)
        simulation.as_done = True
        simulation.reset(seed)
        policy = self.space.most_likely(self.policy) if deterministic else self.policy
        stretch = Stretch(1, 0, num_steps, policy)
        with progress_bar("evaluating", num_steps, show=progress) as advance:
            simulation.watch = lambda steps: advance(steps, f"average reward {simulation.average_reward:.4g}")
            while simulation.time < num_steps:
                if film:
                    film(simulation.time, where)
                data = simulation.rollout(stretch, 1 if film else num_steps)
        return Score(
            data.rewards,
            data.actions.astype(np.int64),
            self.num_actions,
            tuple(episode["length"] for episode in simulation.episodes),
            tuple(episode["return"] for episode in simulation.episodes),
            data.states if self.space.countable and shows_state(where) and not isinstance(policy, RulePolicy) else None,
        )

    def _another(self) -> Continuing:
        """An environment like the agent's."""
        if self.copies is None or self.copies.spec is None:
            raise InvalidInput("give an environment to evaluate in: evaluate(num_steps, env)")
        ending, limit = self.copies.rule["ending"], self.copies.rule["limit"]
        return continuing(gymnasium.make(self.copies.spec), cast("Ending", ending), cast("int | None", limit))

    def export(self, path: str | os.PathLike[str], *, reader: bool = False) -> None:
        """Write the present policy, and nothing else, to an .npz file of arrays and JSON, to act by elsewhere.

        Policies on tables, grids of whole numbers, and Fourier and Radial features. reader: copy `policy_reader.py`
        beside it: `Policy("policy.npz").act(observation)` there needs NumPy, and not aapi.
        """
        from aapi.agent.export import export

        export(self, path, reader)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a file of arrays and JSON, from which `aapi.load` makes it again, learning included."""
        from aapi.agent.storage import save

        with uninterrupted():
            save(self, path)
            self.saved = (path, self.num_steps)


class Checkpoints:
    """When an agent that learns is saved: after some phases, and, at the latest, after the step `due`."""

    def __init__(self, agent: Agent, path: str | os.PathLike[str], phases: int | None, steps: int | None) -> None:
        self.agent, self.path, self.phases, self.steps = agent, path, phases, steps
        self.due = agent.num_steps + (steps or CHECKPOINT_STEPS)

    def after(self, learnt: bool, speed: float) -> None:
        """Save, if it is time. learnt: whether a phase was learnt from; speed: steps a second."""
        by_phase = learnt and self.phases is not None and self.agent.num_phases % self.phases == 0
        if by_phase or self.agent.num_steps >= self.due:
            start = time.perf_counter()
            self.agent.save(self.path)
            seconds = time.perf_counter() - start
            usual = max(CHECKPOINT_STEPS, int(SHARE * seconds * speed))
            self.due = self.agent.num_steps + (self.steps or usual)


def _discrete(space: Space) -> gymnasium.spaces.Discrete[Any]:
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise InvalidInput(
            f"actions must be Discrete, and those of this environment are {space}: discretise them first"
        )
    return space
