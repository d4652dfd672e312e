"""Explorations that last as long as it takes to try something: each run has stretches of its own."""

import hashlib
import itertools
from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest
from support import interpreted

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole, deep_sea, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo, SelfConsistent
from aapi.exploration import (
    Discovery,
    Excursion,
    Expeditions,
    PosteriorSampling,
    ThompsonSampling,
    UniformShare,
)
from aapi.learners import Exploring, Uniform
from aapi.learners.state import stored
from aapi.simulation import Stretch
from aapi.simulation.gymnasium import GymnasiumSimulation

NEVER = np.iinfo(np.int64).max
SEED, STEPS = 7, 2500


def to_the_rarest(situation):
    """Act at random until the pair that was seen least, of those in states seen, was tried twice."""
    counts = situation.counts
    if counts.steps > 2000 or not situation.free.any():
        return None
    visits = np.where(counts.seen[:, :, None], counts.visits, np.inf)
    limits = np.full(visits.shape, NEVER)
    for run, table in enumerate(visits):
        limits[run][np.unravel_index(table.argmin(), table.shape)] = 2
    policies = np.full_like(counts.visits, 1.0 / counts.visits.shape[2])
    return Excursion(situation.free.copy(), policies, steps=80, limits=limits)


def learner(*exploration, length=60):
    return aapi.AAPI(phase_length=length, evaluate=SelfConsistent(), exploration=exploration)


LEARNERS = {
    "discovery": learner(Discovery(patience=200)),
    "own": learner(to_the_rarest),
    "aapi": aapi.AAPI(),
    "several": learner(Discovery(patience=90), to_the_rarest, PosteriorSampling(), UniformShare()),
    "without tuning": aapi.AAPI(exploration=(Discovery(patience=200), PosteriorSampling())),
    "politex": aapi.Politex(phase_length=50, evaluate=MonteCarlo(5), exploration=(Discovery(patience=30),)),
    "rlsvi": Exploring(aapi.RLSVI(phase_length=50, horizon=6), (to_the_rarest,)),
}
PROBLEMS = {"river": river_swim(6), "sea": deep_sea(5)}


def run(name, problem, num_runs=5, **how):
    return aapi.run(LEARNERS[name], PROBLEMS[problem], STEPS, num_runs, SEED, **how)


def fingerprint(result, runs=slice(None)):
    arrays = (result.phase_ends, result.rewards, result.cumulated, result.explored, result.final_policy,
              result.next_policy)  # fmt: skip
    return hashlib.sha256(b"".join(np.ascontiguousarray(array[runs]).tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_threads_chunks_and_company_change_nothing(name, problem):
    assert not LEARNERS[name].lockstep
    whole = run(name, problem)
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 3, "threads": 2}, {"chunk": 5}):
        assert fingerprint(run(name, problem, **how)) == fingerprint(whole), how
    for number in (0, 3):
        alone = run(name, problem, 1, first_run=number)
        phases = alone.phase_ends.size
        assert whole.phase_ends[number].tolist() == [*alone.phase_ends] + [STEPS] * (whole.rewards.shape[1] - phases)
        assert (whole.rewards[number, :phases] == alone.rewards[0]).all()
        for one, other in zip(
            (whole.cumulated, whole.explored, whole.next_policy, whole.final_policy),
            (alone.cumulated, alone.explored, alone.next_policy, alone.final_policy),
            strict=True,
        ):
            assert (one[number] == other[0]).all()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_result_accounts_for_every_run(name, problem):
    result = run(name, problem)
    assert result.phase_ends.shape == result.rewards.shape == result.average_reward.shape
    assert len(result.phase_ends) == 5
    assert (np.diff(result.phase_ends, axis=1) >= 0).all()
    assert (result.phase_ends[:, -1] == STEPS).all()
    assert result.average_reward[:, -1] == pytest.approx(result.cumulated[:, -1] / STEPS, rel=1e-12)
    assert result.rewards.sum(axis=1) == pytest.approx(result.cumulated[:, -1], rel=1e-12)
    lengths = []
    for number in range(5):
        phases = list(aapi.play(LEARNERS[name], simulator(PROBLEMS[problem], None, SEED)([number]), STEPS))
        ends = [phase.data.time for phase in phases]
        assert result.phase_ends[number, : len(ends)].tolist() == ends
        assert (result.phase_ends[number, len(ends) :] == STEPS).all()
        assert result.rewards[number, : len(ends)] == pytest.approx([phase.data.rewards.sum() for phase in phases])
        assert (result.rewards[number, len(ends) :] == 0.0).all()
        out = [phase.data.steps for phase in phases if phase.exploring is not None]
        assert result.explored[number] == sum(out) > 0
        lengths += out
    assert min(lengths) < 30  # some ended early
    if result.surprise is not None:
        evaluated = np.isfinite(result.surprise)
        assert (np.diff(evaluated.astype(int), axis=1) <= 0).all()  # runs with fewer phases end with nan


def test_runs_differ_in_their_ends():
    for name in ("discovery", "own"):
        assert len({tuple(ends) for ends in run(name, "river").phase_ends.tolist()}) == 5
    lockstep = aapi.run(learner(Discovery()), PROBLEMS["river"], STEPS, 5, SEED)
    assert lockstep.phase_ends.ndim == 1


def all_fingerprints():
    shorter = {"discovery": (river_swim(4), 600), "own": (deep_sea(3), 600), "aapi": (river_swim(4), 300)}
    return {name: fingerprint(aapi.run(LEARNERS[name], env, steps, 2, SEED)) for name, (env, steps) in shorter.items()}


def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "all_fingerprints") == all_fingerprints()


def test_a_record_is_of_one_run():
    with pytest.raises(InvalidInput, match="record needs phases of the same length in all runs") as error:
        run("discovery", "river", record=True)
    assert "\n" not in str(error.value)
    result = run("discovery", "river", 1, record=True)
    assert result.record.policies.shape[1] == result.rewards.shape[1] == len(result.phase_ends)
    assert result.record.evaluated.sum() == result.record.q_hats.shape[1] < len(result.phase_ends)


def test_several_runs_in_one_simulation_are_refused():
    with pytest.raises(InvalidInput, match="fall out of step: simulate one at a time") as error:
        next(aapi.play(LEARNERS["own"], simulator(PROBLEMS["river"])(range(2)), 100))
    assert "\n" not in str(error.value)
    alone = aapi.play(LEARNERS["own"], simulator(PROBLEMS["river"])([1]), 100)
    assert next(alone).data.steps == 60


def lake():
    return gymnasium.make("FrozenLake-v1")


@dataclass(frozen=True)
class Some:
    """Explorations of 400 steps or so in all, of a given length or the usual one, with limits or without."""

    steps: int | None
    limited: bool

    def __call__(self, situation):
        counts = situation.counts
        if situation.explored[0] > 400:
            return None
        policies = np.full_like(counts.visits, 1.0 / counts.visits.shape[2])
        limits = np.full(counts.visits.shape, 5 + counts.steps % 4) if self.limited else None
        return Excursion(situation.free.copy(), policies, self.steps, limits)


SAVED = {
    "aapi": (Expeditions(), ThompsonSampling()),
    "discovery": (Discovery(patience=200), PosteriorSampling()),
    "own": (to_the_rarest,),
    "steps and limits": (Some(70, True),),
    "steps": (Some(70, False),),
    "limits": (Some(None, True),),
    "neither": (Some(None, False),),
}


def bits(agent):
    found = stored(agent.session.state) | {"streams": agent.simulation.streams}
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in found.items()}


@pytest.mark.parametrize("name", SAVED)
def test_an_agent_is_saved_and_loaded_in_the_middle_of_an_exploration(name, tmp_path):
    algorithm = learner(*SAVED[name], length=40)
    given = {} if name in ("aapi", "discovery") else {"algorithm": algorithm}
    whole = aapi.Agent(algorithm, lake(), seed=4).learn(1200)
    agent, paused = aapi.Agent(algorithm, lake(), seed=4), 0
    for steps in itertools.cycle((17, 1, 40, 3, 8)):
        agent.learn(min(steps, 1200 - agent.num_steps))
        state, stretch = agent.session.state, agent.algorithm.act(agent.session.state)
        paused += state.excursion is not None and 0 < agent.steps_left < stretch.steps
        agent.save(tmp_path / "agent")
        agent = aapi.load(tmp_path / "agent", env=lake(), **given)
        if agent.num_steps == 1200:
            break
    assert paused > 5
    assert agent.algorithm == whole.algorithm
    assert bits(agent) == bits(whole)
    assert agent.total_reward == whole.total_reward
    assert (agent.policy == whole.policy).all()


@pytest.mark.parametrize(
    ("name", "steps"),
    [("discovery", 200), ("steps and limits", 70), ("limits", 50), ("steps", 71), ("neither", 51)],
)
def test_an_update_that_fails_after_an_exploration_is_made_up_for(name, steps, monkeypatch, tmp_path):
    """The exploration is over, most often by what was seen in it: it must not go on, though nothing is learnt yet.

    It is the update after one of fewer than so many steps that fails.
    """
    algorithm = learner(*SAVED[name], length=40)
    whole = aapi.Agent(algorithm, lake(), seed=4).learn(1000)
    agent, observe, failed = aapi.Agent(algorithm, lake(), seed=4), type(algorithm.learner).observe, []

    def interrupted(self, state, data, behaviour):
        if len(failed) < 3 and data.steps < steps and data.time not in failed:
            failed.append(data.time)
            raise KeyboardInterrupt
        return observe(self, state, data, behaviour)

    monkeypatch.setattr(type(algorithm.learner), "observe", interrupted)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            agent.learn(1000 - agent.num_steps)
        agent.save(tmp_path / "agent")
        agent = aapi.load(tmp_path / "agent", env=lake(), algorithm=algorithm)
    agent.learn(1000 - agent.num_steps)
    assert bits(agent) == bits(whole)
    assert agent.total_reward == whole.total_reward


def finite_simulation(seed):
    return simulator(river_swim(6), None, seed)([0])


def gymnasium_simulation(seed):
    agent = aapi.Agent(Uniform(), gymnasium.make("aapi/RiverSwim-v0"), seed=seed)
    assert isinstance(agent.simulation, GymnasiumSimulation)
    agent.simulation.reset(seed)
    return agent.simulation


@pytest.mark.parametrize("make", [finite_simulation, gymnasium_simulation])
@pytest.mark.parametrize("limit", [1, 2, 7, 40])
@pytest.mark.parametrize("pair", [(0, 0), (1, 1), (2, 0)])
def test_limits_end_a_stretch_exactly(make, limit, pair):
    for seed in range(5):
        simulation = make(seed)
        space = simulation.space
        limits = np.full(space.shape(1), NEVER)
        limits[(0, *pair)] = limit
        before = limits.copy()
        for start in (0, None):  # a stretch of its own, and one after it: visits count from its beginning
            assert start in (simulation.time, None)
            stretch = Stretch(1, simulation.time, 5000, space.uniform(1), limits=limits)
            data = simulation.rollout(stretch, 5000)
            visits = (data.states[0] == pair[0]) & (data.actions[0] == pair[1])
            assert data.complete
            assert data.steps < 5000  # else nothing is seen here
            assert visits.sum() == limit
            assert visits[-1]
            assert data.time == simulation.time == stretch.start + data.steps
            assert data.rewards.shape == data.states.shape == data.actions.shape
            assert data.reward_sums.sum() == pytest.approx(data.rewards.sum())
            assert data.part_ends[-1] == data.steps
        assert (limits == before).all()  # they are the caller's


@pytest.mark.parametrize("make", [finite_simulation, gymnasium_simulation])
@pytest.mark.parametrize("pause", [5000, 3])
def test_a_stretch_that_looks_ahead_ends_before_the_step_that_would_be_too_many(make, pause):
    for seed in range(5):
        simulation, one_more = make(seed), make(seed)
        space, limits = simulation.space, np.full((1, 6, 2), NEVER)
        limits[0, 1, 1] = 4
        stretch = Stretch(1, 0, 5000, space.uniform(1), limits=limits, look_ahead=True)
        data = simulation.rollout(stretch, pause if make is gymnasium_simulation else 5000)
        while not data.complete:
            data = simulation.rollout(stretch, pause)
        limits[0, 1, 1] = 5
        longer = one_more.rollout(Stretch(1, 0, 5000, space.uniform(1), limits=limits), 5000)
        assert (longer.states[0, -1], longer.actions[0, -1]) == (1, 1)
        assert (data.steps, data.time, data.last_state.tolist()) == (longer.steps - 1, longer.steps - 1, [1])
        assert (data.states == longer.states[:, :-1]).all()
        assert data.reward_sums.sum() == pytest.approx(data.rewards.sum())
        after = simulation.rollout(Stretch(2, data.time, 1, space.uniform(1)), 1)
        assert after.actions.tolist() == [[1]]  # the number that was looked at is spent only now
        assert simulation.streams.tobytes() == one_more.streams.tobytes()


@pytest.mark.parametrize("make", [finite_simulation, gymnasium_simulation])
def test_limits_that_are_not_met_change_nothing(make):
    found = []
    for limits in (None, np.full((1, 6, 2), NEVER), np.full((1, 6, 2), 301)):
        simulation = make(3)
        data = simulation.rollout(Stretch(1, 0, 300, simulation.space.uniform(1), limits=limits), 300)
        assert data.complete
        found.append((data.states.tobytes(), data.rewards.tobytes(), simulation.streams.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("make", [finite_simulation, gymnasium_simulation])
def test_the_last_step_may_be_the_one_that_a_limit_waits_for(make):
    simulation = make(3)
    space, limits = simulation.space, np.full((1, 6, 2), NEVER)
    limits[0, 1, 1] = 3
    whole = simulation.rollout(Stretch(1, 0, 5000, space.uniform(1), limits=limits), 5000)
    for steps, most, complete in (
        (whole.steps, whole.steps, True),
        (5000, whole.steps, True),  # no more steps were wanted, and none was needed
        (5000, whole.steps - 1, False),
        (whole.steps - 1, 5000, True),  # over without having met the limit
    ):
        data = make(3).rollout(Stretch(1, 0, steps, space.uniform(1), limits=limits), most)
        assert data.steps == min(steps, most)
        assert data.complete == complete
        assert (data.states == whole.states[:, : data.steps]).all()


def test_a_stretch_with_limits_may_pause_anywhere():
    limits = np.full((1, 6, 2), NEVER)
    limits[0, 2, 1] = 5
    whole_simulation, simulation = gymnasium_simulation(3), gymnasium_simulation(3)
    stretch = Stretch(1, 0, 5000, simulation.space.uniform(1), limits=limits)
    whole = whole_simulation.rollout(stretch, 5000)
    for steps in itertools.cycle((1, 2, 9)):
        data = simulation.rollout(stretch, steps)
        if data.complete:
            break
    assert (data.states == whole.states).all()
    assert data.time == whole.time
    assert simulation.streams.tobytes() == whole_simulation.streams.tobytes()
    again = simulation.rollout(stretch, 100)  # it is over: no step is taken
    assert again.complete
    assert again.time == whole.time


def test_limits_are_for_one_run_whose_states_are_countable():
    several = simulator(river_swim(6))(range(2))
    vectors = simulator(cartpole())([0])
    for simulation, words in ((several, "ends by what is seen is for one run"), (vectors, "needs countable states")):
        runs = len(simulation.streams)
        limits = np.ones(simulation.space.shape(runs), dtype=np.int64)
        with pytest.raises(InvalidInput, match=words) as error:
            simulation.rollout(Stretch(1, 0, 10, simulation.space.uniform(runs), limits=limits), 10)
        assert "\n" not in str(error.value)


def test_vectors_are_learnt_without_exploration():
    explored = aapi.Politex(phase_length=50, evaluate=MonteCarlo(5), exploration=(Discovery(patience=30),))
    plain = aapi.Politex(phase_length=50, evaluate=MonteCarlo(5))
    one, other = (aapi.run(each, cartpole(), 300, 2) for each in (explored, plain))
    assert (one.cumulated == other.cumulated).all()
    assert one.explored.tolist() == [0, 0]
