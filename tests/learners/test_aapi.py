"""AAPI() without arguments, the schedule of its phases, and side information."""

import gymnasium
import numpy as np
import pytest

import aapi
from aapi import theory
from aapi.approximation.boltzmann import boltzmann
from aapi.batch import simulator, space_of
from aapi.environments import access_control, cartpole, deep_sea, ergodic, garnet, river_swim, six_arms
from aapi.errors import InvalidInput
from aapi.evaluation import Automatic, ExactQ, MonteCarlo, SelfConsistent, exact_q_values
from aapi.exploration import Discovery, PosteriorSampling
from aapi.exploration.survey import WORK, WORK_PER_STEP
from aapi.features import Fourier
from aapi.improvement import ExponentialAverage, Predicted, PreviousEstimate, Zero
from aapi.learners import Exploring, PolicyIteration, Session
from aapi.learners.state import stored
from aapi.schedules import Growing


@pytest.mark.parametrize(
    ("mdp", "steps", "share"),
    [
        (ergodic(10, 2), 40_000, 0.97),
        (river_swim(6), 40_000, 0.95),
        (river_swim(12), 60_000, 0.94),
        (access_control(4), 40_000, 0.95),
        (deep_sea(10), 40_000, 0.93),
    ],
    ids=["ergodic", "river 6", "river 12", "queue", "deep-sea"],
)
def test_it_learns_everywhere_and_loses_no_run(mdp, steps, share):
    result = aapi.run(aapi.AAPI(), mdp, steps, 10, seed=2)
    fractions = result.average_reward[:, -1] / result.optimal_gain
    assert fractions.mean() > share
    assert fractions.min() > share - 0.04


@pytest.mark.slow
@pytest.mark.parametrize(("mdp", "share"), [(river_swim(40), 0.9), (six_arms(), 0.8)], ids=["river 40", "six-arms"])
def test_it_finds_what_is_far_or_rare(mdp, share):
    result = aapi.run(aapi.AAPI(), mdp, 100_000, 3, seed=2)
    assert (result.average_reward[:, -1] > share * result.optimal_gain).all()


def test_plans_in_large_tables_are_little_work():
    session, work = Session(aapi.AAPI(), simulator(garnet(20_000, 4, 5))([0])), [0.0]
    for phase in session.play(20_000):
        work.append(float(session.state.outlook.work[0]))
        allowed = WORK + WORK_PER_STEP * phase.data.time
        assert work[-1] <= allowed + max(np.diff(work))  # but for the last plan
    assert max(np.diff(work)) < 0.05 * WORK
    assert phase.data.time == 20_000


def test_it_learns_cartpole():
    result = aapi.run(aapi.AAPI(), cartpole(), 40_000, 2, seed=2)
    assert result.average_reward_since(0.9).mean() > 0.9
    assert result.explored.tolist() == [0, 0]  # vectors cannot be counted
    assert result.surprise is None


def test_what_is_not_given_is_chosen():
    alone = aapi.AAPI()
    assert isinstance(alone, Exploring)
    assert alone.learner.evaluate == Automatic()
    assert alone.learner.phase_length == Growing()
    assert alone.learner.learning_rate.norm == "span"
    assert len(alone.exploration) == 2
    paper = aapi.AAPI(phase_length=10, evaluate=MonteCarlo(horizon=5))
    assert isinstance(paper, PolicyIteration)  # which does not explore
    assert paper.learning_rate.norm == "sup"
    assert aapi.AAPI(phase_length=300).learner.phase_length == 300
    assert isinstance(Automatic().for_space(space_of(ergodic(3, 2))), SelfConsistent)
    assert isinstance(Automatic().for_space(space_of(cartpole())), MonteCarlo)


def test_phases_grow_and_count_in_proportion():
    schedule = Growing(shortest=20, per_pair=1.0, root=None, share=0.1, first=3.0)
    algorithm = aapi.PolicyIteration(
        phase_length=schedule, evaluate=SelfConsistent(), learning_rate=aapi.improvement.Adaptive(0.5, "span")
    )
    result = aapi.run(algorithm, ergodic(5, 3), 1000, 2, record=True)
    lengths = np.diff(result.phase_ends, prepend=0)
    assert lengths.tolist()[:3] == [45, 20, 20]
    assert lengths[-2] > 80
    record = result.record
    assert record.weights == pytest.approx(lengths[record.evaluated] / 45)
    assert algorithm.count_phases(1000, space_of(result.env)) == record.evaluated.sum()
    weighed = record.weights[None, :, None, None] * record.q_hats
    before = np.concatenate([np.zeros_like(record.predictions[:, :1]), record.predictions[:, :-1]], axis=1)
    surprise = 0.5 * np.ptp(weighed - before, axis=3)
    assert record.surprises == pytest.approx(surprise)
    heat = 0.5 * np.sqrt(2.0 * np.cumsum(surprise**2, axis=1))
    assert record.temperatures == pytest.approx(heat)
    index = np.cumsum(weighed, axis=1) + record.predictions
    scaled = index / heat[..., None]
    policies = np.exp(scaled - scaled.max(axis=3, keepdims=True))
    policies /= policies.sum(axis=3, keepdims=True)
    evaluated = np.flatnonzero(record.evaluated)
    assert record.policies[:, evaluated[1:]] == pytest.approx(policies[:, :-1])
    relative = record.surprises / record.weights[None, :, None]
    assert result.surprise == pytest.approx(np.sqrt((relative**2).mean(axis=2)))


def test_on_tables_phases_grow_as_the_root_of_time():
    space, weights = space_of(ergodic(5, 3)), space_of(cartpole(), Fourier(1))
    schedule = Growing(shortest=20, per_pair=2.0, root=3.0, share=0.1, per_weight=0.5)
    assert [schedule(phase, time, space) for phase, time in ((1, 0), (2, 100), (3, 400))] == [30, 30, 60]
    assert schedule(9, 10_000, weights) == max(1000, 0.5 * weights.rows * weights.num_actions)
    assert Growing()(7, 10_000, space) == 100
    assert Growing(first=9.0)(1, 0, space) == 135
    assert Growing(first=9.0)(2, 135, space) == 50


LOCKSTEP = aapi.AAPI(exploration=(Discovery(), PosteriorSampling()))


@pytest.mark.parametrize("steps", [1, 49, 50, 51, 99, 100, 101, 1000, 7777])
def test_phases_are_counted_as_they_come(steps):
    for algorithm in (LOCKSTEP, aapi.AAPI(phase_length=70), aapi.RLSVI(phase_length=30, horizon=3), aapi.AAPI()):
        result = aapi.run(algorithm, ergodic(4, 2), steps, record=True)
        evaluated, most = result.record.evaluated.sum(), algorithm.count_phases(steps, space_of(result.env))
        assert evaluated == most if algorithm.lockstep else evaluated <= most
        assert result.phase_ends[-1] == steps


def test_side_information_by_hand():
    q_hats, found = [3.0, 1.0, -1.0], []

    def told(policy, seen):
        """One number after the other."""
        return np.full_like(policy, q_hats[len(found)])

    algorithm = aapi.AAPI(phase_length=10, evaluate=told, side_information=ExponentialAverage(0.25))
    for phase in aapi.play(algorithm, simulator(ergodic(3, 2))([0]), 30):
        found += [phase.prediction[0, 0, 0]]
    assert found == [3.0, 2.5, 2.5 - 0.25 * 3.5]


def with_exact_values(side_information):
    algorithm = aapi.AAPI(phase_length=10, evaluate=ExactQ(), side_information=side_information, norm="span")
    return aapi.run(algorithm, ergodic(5, 2), 200, record=True)


def test_what_is_predicted_is_the_value_of_the_policy_to_come():
    record = with_exact_values(Predicted()).record
    index = np.cumsum(record.q_hats[0], axis=0) + record.q_hats[0]
    to_come = boltzmann(index, record.temperatures[0])
    assert record.predictions[0] == pytest.approx(exact_q_values(ergodic(5, 2), to_come)[1])


def test_the_better_predictor_is_visible():
    predicted, previous, zero = (with_exact_values(guess).surprise.sum() for guess in (
        Predicted(), PreviousEstimate(), Zero(),
    ))  # fmt: skip
    assert predicted < previous < zero


def test_a_function_of_ones_own_predicts():
    def halfway(leader):
        return 0.5 * (leader.q_hat + leader.evaluate(leader.follow(leader.q_hat)))

    algorithm = aapi.AAPI(phase_length=100, evaluate=SelfConsistent(), side_information=halfway, norm="span")
    result = aapi.run(algorithm, ergodic(5, 2), 5000, 3)
    assert result.average_reward[:, -1].mean() > 0.9 * result.optimal_gain


def test_predicting_needs_an_evaluation_that_can():
    algorithm = aapi.AAPI(phase_length=50, evaluate=MonteCarlo(horizon=5), side_information=Predicted())
    with pytest.raises(InvalidInput, match="policies that have not acted yet, which MonteCarlo"):
        aapi.run(algorithm, ergodic(3, 2), 100)
    with pytest.raises(InvalidInput, match="share must be at most 1"):
        aapi.AAPI(phase_length=50, evaluate=ExactQ(), side_information=ExponentialAverage(2.0)).check()
    with pytest.raises(InvalidInput, match="shortest must be at least 1"):
        aapi.AAPI(phase_length=Growing(shortest=0)).check()


def test_what_automatic_chooses_must_be_able_to_predict():
    algorithm = aapi.AAPI(side_information=Predicted())
    assert aapi.run(algorithm, ergodic(5, 2), 300).num_steps == 300
    with pytest.raises(InvalidInput, match=r"have not acted yet, which MonteCarlo\(.*\) cannot"):
        aapi.run(algorithm, cartpole(), 1000)


def test_parts_that_are_none_are_refused():
    for parts, words in (
        ({"phase_length": Growing}, r"a whole number or a schedule such as Growing\(\), or a function, not <class"),
        ({"exploration": ("discovery",)}, r"parts such as Discovery\(\), or a function, not 'discovery'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            aapi.AAPI(**parts).check()
    with pytest.raises(InvalidInput, match="need phases of one length"):
        aapi.Politex(phase_length=Growing(), evaluate=SelfConsistent(), schedule="sqrt").check()


def test_a_schedule_without_end_is_refused():
    asked = []

    class Empty(Growing):
        def __call__(self, *_):
            asked.append(1)
            assert len(asked) < 1000, "it is asked without end"
            return 0

    for parts in ({}, {"evaluate": SelfConsistent()}):
        asked.clear()
        with pytest.raises(InvalidInput, match="the length of phase 1 must be at least 1, not 0"):
            aapi.run(aapi.AAPI(phase_length=Empty(), **parts), ergodic(5, 2), 300)


@pytest.mark.parametrize("steps", [10, 75, 120])
def test_a_run_may_end_before_or_in_an_exploration(steps):
    for algorithm, runs in ((aapi.AAPI(), 1), (LOCKSTEP, 2)):
        analysis = theory.analyse(aapi.run(algorithm, ergodic(5, 2), steps, runs, record=True))
        assert analysis.unit == (None if steps == 10 else 50.0)


def test_its_regret_is_taken_apart():
    for algorithm, runs in ((aapi.AAPI(), 1), (LOCKSTEP, 3)):
        found = theory.analyse(aapi.run(algorithm, ergodic(6, 2), 10_000, runs, record=True))
        assert found.decomposition.residual.max() < 1e-8
        assert found.online_learning is not None
        assert (found.online_learning.regret <= found.online_learning.bound + 1e-9).all()


def test_an_agent_goes_on_exactly_in_the_middle_of_an_exploration(tmp_path):
    def agent():
        return aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1"), seed=4)

    whole = agent().learn(1500)
    parts, seen = agent(), []
    for steps in (1, 127, 20, 60, 3, 400):
        parts.learn(steps)
        seen.append(parts.session.state.excursion is not None)
        parts.save(tmp_path / "agent.aapi")
        parts = aapi.load(tmp_path / "agent.aapi", env=gymnasium.make("FrozenLake-v1"))
    parts.learn(1500 - parts.num_steps)
    assert {True, False} == set(seen)  # of both kinds
    assert parts.algorithm == whole.algorithm
    assert (parts.policy == whole.policy).all()
    assert parts.total_reward == whole.total_reward
    found, expected = stored(parts.session.state), stored(whole.session.state)
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in expected)


def test_an_interrupted_phase_of_an_agent_is_counted_once(monkeypatch):
    agent, other = (aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1"), seed=4) for _ in range(2))
    agent.learn(100)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SelfConsistent, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.learn(5000)
    agent.learn(300)
    other.learn(agent.num_steps)
    assert (agent.policy == other.policy).all()
