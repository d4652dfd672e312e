"""A learner of a third kind, which somebody else wrote, goes wherever ours go."""

import dataclasses
import hashlib
from dataclasses import dataclass, replace

import gymnasium
import numpy as np
import pytest
from experience import rollout

import aapi
from aapi import theory
from aapi.batch import simulator
from aapi.environments import ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.exploration import Discovery, UniformShare
from aapi.kernels.random import draw
from aapi.learners import Phase, Session, Uniform
from aapi.learners.exploring import exploring
from aapi.learners.state import stored
from aapi.memory import remember
from aapi.simulation import Stretch

MDP = ergodic(6, 3)


@dataclass(frozen=True, eq=False)
class QState:
    """start: when the next stretch begins. q: (runs, states, actions); gain: the average reward, (runs,)."""

    k: int
    memories: dict
    start: int
    q: np.ndarray
    gain: np.ndarray


@dataclass(frozen=True)
class QLearning(aapi.Learner):
    """ε-greedy differential Q-learning (Wan, Naik and Sutton 2021) from the steps of each stretch, a few of them twice.

    It uses the arrays of the state it is given, and draws from the random streams, as it may.
    """

    steps: int = 60
    epsilon: float = 0.1
    rate: float = 0.1

    def init(self, space, runs, num_steps=None, gap=0):
        return QState(0, {}, 0, space.zeros(runs), np.zeros(runs))

    def act(self, state):
        return Stretch(state.k + 1, state.start, self.length(state), self.policy(state))

    def length(self, state):
        return self.steps

    def policy(self, state):
        best = state.q == state.q.max(axis=2, keepdims=True)
        return (1 - self.epsilon) * best / best.sum(axis=2, keepdims=True) + self.epsilon / best.shape[2]

    def update(self, state, data):
        policy = self.policy(state)
        for run in range(len(data.rewards)):
            after = np.append(data.states[run, 1:], data.last_state[run])
            again = [int(draw(data.streams[run]) * data.steps) for _ in range(5)]
            for t in [*range(data.steps), *again]:
                q, pair = state.q[run], (data.states[run, t], data.actions[run, t])
                error = data.rewards[run, t] - state.gain[run] + q[after[t]].max() - q[pair]
                q[pair] += self.rate * error
                state.gain[run] += 0.1 * self.rate * error
        memories = remember(state.memories, data, policy)
        following = QState(state.k + 1, memories, data.time, state.q, state.gain)
        return following, Phase(following.k, policy, data, self.policy(following), q_hat=state.q.copy())


@dataclass(frozen=True)
class Restless(QLearning):
    """Its stretches are the longer, the more it has earned: no two runs are in step."""

    @property
    def lockstep(self):
        return False

    def length(self, state):
        return 20 + int(200 * abs(state.gain[0]))


@dataclass(frozen=True)
class Brittle(QLearning):
    """Raises the errors of a list in its updates, after all arrays were changed."""

    errors: list = dataclasses.field(default_factory=list, compare=False)

    def update(self, state, data):
        found = super().update(state, data)
        if self.errors and (error := self.errors.pop(0)):
            raise error
        return found


def fingerprint(result, runs=slice(None)):
    arrays = (result.rewards, result.cumulated, result.final_policy, result.next_policy)
    if result.phase_ends.ndim == 2:
        arrays += (result.phase_ends,)
    if result.record is not None:
        arrays += (result.record.q_hats, result.record.policies)
    return hashlib.sha256(b"".join(np.ascontiguousarray(array[runs]).tobytes() for array in arrays)).hexdigest()


def bits(state):
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in stored(state).items()}


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


def test_it_learns():
    result = aapi.run(QLearning(), MDP, 20_000, 4, threads=2)
    worst = aapi.run(Uniform(), MDP, 20_000, 4).average_reward_since(0.5).max()
    assert result.average_reward_since(0.5).min() > 0.5 * (worst + result.optimal_gain)
    assert result.learner is result.algorithm
    assert (result.surprise, result.conditioning, result.explored.tolist()) == (None, None, [0] * 4)


@pytest.mark.parametrize("exploration", [(), (Discovery(), UniformShare())], ids=["alone", "exploring"])
def test_threads_chunks_and_company_change_nothing(exploration):
    learner = exploring(QLearning(), exploration)

    def run(num_runs=7, seed=3, **how):
        return aapi.run(learner, MDP, 700, num_runs, seed, record=True, **how)

    whole = run()
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 4, "threads": 2}):
        assert fingerprint(run(**how)) == fingerprint(whole), how
    assert fingerprint(run(1, first_run=5)) == fingerprint(whole, slice(5, 6))
    assert fingerprint(run(seed=4)) != fingerprint(whole)


def test_phases_are_played():
    phases = list(aapi.play(QLearning(steps=30), simulator(MDP, None, 3)(range(2)), 100))
    assert [phase.number for phase in phases] == [1, 2, 3, 4]
    assert [phase.data.time for phase in phases] == [30, 60, 90, 100]
    assert [phase.data.complete for phase in phases] == [True, True, True, False]
    assert phases[-1].q_hat is None  # those ten steps are not learnt from
    result = aapi.run(QLearning(steps=30), MDP, 100, 2, 3, record=True)
    assert result.phase_ends.tolist() == [30, 60, 90, 100]
    assert (result.next_policy == phases[-1].next_policy).all()
    assert (result.record.q_hats[:, -1] == phases[2].q_hat).all()
    assert result.record.temperatures is None


def test_its_regret_is_taken_apart():
    found = theory.analyse(aapi.run(QLearning(), MDP, 2000, 3, record=True))
    assert found.decomposition.residual.max() < 1e-8
    assert "online_learning" in found.refused


@pytest.mark.parametrize("exploration", [(), (Discovery(),)], ids=["alone", "exploring"])
@pytest.mark.parametrize("learner", [QLearning(), Restless()], ids=["lockstep", "restless"])
def test_an_agent_learns_in_pieces_as_at_once(learner, exploration, tmp_path):
    learner = exploring(learner, exploration)
    whole = aapi.Agent(learner, lake(), seed=2).learn(1500)
    pieces, loaded = (aapi.Agent(learner, lake(), seed=2) for _ in range(2))
    for steps in (1, 58, 1, 1, 300, 77, 1062):
        pieces.learn(steps)
        loaded.learn(steps)
        loaded.save(tmp_path / "agent")
        loaded = aapi.load(tmp_path / "agent", env=lake(), algorithm=learner)
    for other in (pieces, loaded):
        assert (other.num_steps, other.num_phases) == (1500, whole.num_phases)
        assert bits(other.session.state) == bits(whole.session.state)
        assert other.simulation.streams.tobytes() == whole.simulation.streams.tobytes()
        assert other.total_reward == whole.total_reward
        assert (other.policy == whole.policy).all()
    assert [loaded.predict(x, deterministic=True) for x in range(16)] == whole.policy[0].argmax(axis=1).tolist()


def test_a_file_names_a_learner_of_ones_own_and_holds_no_code(tmp_path):
    aapi.Agent(QLearning(), lake()).learn(100).save(tmp_path / "agent")
    for changed in ({}, {"env": lake()}):
        with pytest.raises(InvalidInput, match="made with your own QLearning: pass algorithm=… to load") as error:
            aapi.load(tmp_path / "agent", **changed)
        assert "\n" not in str(error.value)
    with pytest.raises(InvalidInput) as error:
        aapi.load(tmp_path / "agent", algorithm=Uniform(phase_length=60))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()], ids=["an error", "an interrupt"])
def test_an_update_that_fails_changes_nothing(error):
    learner = Brittle(errors=[None, None, error])
    session = Session(learner, simulator(MDP, None, 3)(range(2)), copy_states=True)
    phases = session.play(1000)
    next(phases), next(phases)
    before, state = bits(session.state), session.state
    with pytest.raises(type(error)):
        next(phases)
    assert session.state is state
    assert bits(state) == before
    # The streams are where the third stretch left them.
    other = Session(QLearning(), simulator(MDP, None, 3)(range(2)))
    for _ in other.play(120):
        pass
    assert bits(other.state) == before
    rollout(other.simulation, learner.policy(state), 60)
    assert other.simulation.streams.tobytes() == session.simulation.streams.tobytes()


@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyboardInterrupt()], ids=["an error", "an interrupt"])
def test_an_agent_goes_on_after_an_update_that_failed(error, tmp_path):
    whole = aapi.Agent(QLearning(), lake(), seed=2).learn(1500)
    agent = aapi.Agent(Brittle(errors=[None, error, error]), lake(), seed=2)
    for _ in range(2):
        with pytest.raises(type(error)):
            agent.learn(1000)
        assert agent.num_steps == 120
    agent.save(tmp_path / "agent")
    loaded = aapi.load(tmp_path / "agent", env=lake(), algorithm=QLearning())
    for each in (agent, loaded):
        each.learn(1500 - 120)
        assert bits(each.session.state) == bits(whole.session.state)
        assert each.simulation.streams.tobytes() == whole.simulation.streams.tobytes()
        assert each.total_reward == whole.total_reward


def test_runs_that_fall_out_of_step_are_simulated_one_by_one():
    for begin in (
        lambda: Session(Restless(), simulator(MDP)(range(2))),
        lambda: list(aapi.play(Restless(), simulator(MDP)(range(2)), 100)),
    ):
        with pytest.raises(InvalidInput, match="fall out of step: simulate one at a time") as error:
            begin()
        assert "\n" not in str(error.value)

    def run(num_runs=5, **how):
        return aapi.run(Restless(), river_swim(6), 3000, num_runs, 1, **how)

    whole = run()
    assert whole.phase_ends.shape == whole.rewards.shape
    assert len({tuple(ends) for ends in whole.phase_ends.tolist()}) == 5
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 5}):
        assert fingerprint(run(**how)) == fingerprint(whole), how
    for run_number in range(5):
        phases = aapi.play(Restless(), simulator(river_swim(6), None, 1)([run_number]), 3000)
        ends, padded = [phase.data.time for phase in phases], whole.phase_ends[run_number].tolist()
        assert padded == ends + [3000] * (len(padded) - len(ends))
        assert (whole.rewards[run_number, len(ends) :] == 0.0).all()
        alone = run(1, first_run=run_number)
        assert alone.phase_ends.tolist() == ends  # one run: no padding, and one axis
        assert (alone.next_policy[0] == whole.next_policy[run_number]).all()
        assert (alone.cumulated[0] == whole.cumulated[run_number]).all()
    assert whole.average_reward[:, -1] == pytest.approx(whole.cumulated[:, -1] / 3000)
    with pytest.raises(InvalidInput, match="record needs phases of the same length in all runs") as error:
        run(record=True)
    assert "\n" not in str(error.value)
    assert run(1, record=True).record.policies.shape[1] == len(run(1).phase_ends)


class Forgetful(QLearning):
    """Says that every stretch begins at the beginning."""

    def update(self, state, data):
        after, phase = super().update(state, data)
        assert after.k < 10, "it learns from the same steps again and again"
        return replace(after, start=0), phase


def test_a_stretch_that_does_not_begin_now_is_refused():
    """Else an agent, which takes it for the one that paused, would learn from its steps for ever."""
    with pytest.raises(InvalidInput) as error:
        aapi.Agent(Forgetful(), lake()).learn(1000)
    assert "\n" not in str(error.value)


def test_what_is_no_learner_is_refused_in_one_line():
    for wrong in (QLearning, "aapi", None, object()):
        with pytest.raises(InvalidInput, match=r"a subclass of aapi\.Learner with init, act and update") as error:
            aapi.run(wrong, MDP, 100)
        assert "\n" not in str(error.value)
