"""AAPI() on observation vectors: what it chooses, that shifts and scales of rewards change nothing, and saving."""

import re

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.agent import describe_choice
from aapi.environments import river_swim
from aapi.features import Fourier, Grid, OneHot, Radial
from aapi.presets import TABLES, VECTORS, problem_settings
from aapi.registry.algorithms import make_algorithm


class Line(gymnasium.Env):
    """A walk on [−1, 1]: right of 0.5 pays 4, all else 1; each 37th step starts in the middle again."""

    def __init__(self, shift=0.0, scale=1.0, space=None):
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64) if space is None else space
        self.action_space = gymnasium.spaces.Discrete(3)
        self.shift, self.scale = shift, scale

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.time = 0.0, 0
        return self.seen(), {}

    def seen(self):
        return np.full(self.observation_space.shape, self.x).astype(self.observation_space.dtype)

    def step(self, action):
        self.x = float(np.clip(self.x + 0.125 * (action - 1) + 0.0625 * self.np_random.integers(-1, 2), -1.0, 1.0))
        self.time += 1
        reward = self.scale * (4.0 if self.x > 0.5 else 1.0) + self.shift
        return self.seen(), reward, False, self.time % 37 == 0, {}


def box(low, high, dtype, numbers=1):
    return gymnasium.spaces.Box(low, high, (numbers,), dtype)


def learnt(steps=2000, **arguments):
    return aapi.Agent(aapi.AAPI(), Line(**arguments), seed=3).learn(steps)


def test_it_learns():
    agent = learnt(4000)
    assert agent.evaluate(2000, Line()).average_reward > 2.5  # always right earns about 2.9, at random 1.2


@pytest.mark.parametrize(("shift", "scale"), [(8.0, 1.0), (-1024.0, 1.0), (0.0, 0.25), (0.0, 4096.0), (64.0, 2.0)])
def test_constants_and_factors_in_rewards_change_nothing(shift, scale):
    agent, other = learnt(), learnt(shift=shift, scale=scale)
    for mine, its in zip(agent.session.state.model.steps[:2], other.session.state.model.steps[:2], strict=True):
        assert np.array_equal(mine, its)
    assert other.session.state.q == pytest.approx(scale * agent.session.state.q)


def test_the_same_seed_learns_the_same_in_pieces_and_from_a_file(tmp_path):
    whole, pieces = learnt(1700), learnt(500)
    pieces.learn(450)
    pieces.save(tmp_path / "line.aapi")
    resumed = aapi.load(tmp_path / "line.aapi", env=Line())
    assert isinstance(resumed.algorithm, aapi.OptimisticGrid)
    resumed.learn(750)
    assert resumed.total_reward == whole.total_reward
    assert np.array_equal(resumed.session.state.q, whole.session.state.q)
    observations = np.linspace(-1.0, 1.0, 9)[:, None]
    assert np.array_equal(resumed.policy.values(observations), whole.policy.values(observations))


class Steps(Line):
    """The same walk in whole numbers, of which a model is a table."""

    def seen(self):
        return np.array([np.round(16.0 * self.x)])


def test_the_plan_solves_its_equation():
    """Q(v, a) from the steps, counted in dictionaries, where vertices are the whole numbers that were seen."""
    agent = aapi.Agent(aapi.OptimisticGrid(sweeps=3000), Steps(space=box(-16.0, 16.0, np.float64)), seed=5).learn(900)
    state, steps = agent.session.state, agent.session.state.model.steps
    places = np.unique(np.concatenate([steps.states, steps.successors]))[:, None]
    q = state.policy.values(places)
    value = dict(zip(places[:, 0].tolist(), q.max(axis=1).tolist(), strict=True))
    spread, mean = steps.rewards[-180:].std(), steps.rewards.mean()
    typical = np.mean([value[x] for x in steps.states[:, 0].tolist()])
    for x, row in zip(places[:, 0], q, strict=True):
        for a in range(3):
            chosen = (steps.states[:, 0] == x) & (steps.actions == a)
            after = sum(value[y] for y in steps.successors[chosen, 0].tolist()) + 0.01 * typical
            count = int(chosen.sum())
            mine = ((steps.rewards[chosen] - mean).sum() + 0.995 * after) / (count + 0.01)
            mine += 0.5 * spread / (count + 0.1) + 0.5 * np.sqrt(state.noise / (count + 0.1))
            assert row[a] == pytest.approx(mine, abs=0.02 * spread)


@pytest.mark.parametrize(("numbers", "share"), [(1, 1.0), (4, 1.0), (5, 12_500 / (6**5 * 3)), (6, 12_500 / (5**6 * 3))])
def test_bonuses_are_smaller_on_grids_too_large_to_be_tried(numbers, share):
    """Of what was never met: Q = .995 V̄ + share · (½ sd/0.1 + ½ σ/√0.1)."""
    line = Line(space=box(-1.0, 1.0, np.float64, numbers))
    state = aapi.Agent(aapi.OptimisticGrid(sweeps=3000), line, seed=5).learn(900).session.state
    spread, visits = state.model.steps.rewards[-180:].std(), state.model.counts.visits
    typical = (visits.reshape(-1, 3).sum(axis=1) * state.values).sum() / 900
    bonuses = 0.5 * spread / 0.1 + 0.5 * np.sqrt(state.noise / 0.1)
    assert state.q[0] == pytest.approx(0.995 * typical + share * bonuses, abs=0.02 * spread)


def test_noise_is_what_single_steps_return_around_what_was_predicted():
    agent = aapi.Agent(aapi.OptimisticGrid(phase_length=200), Line(), seed=1).learn(200)
    first = agent.session.state
    rewards = first.model.steps.rewards
    assert first.noise == pytest.approx(rewards.var())  # nothing was predicted
    agent.learn(200)
    steps, values = agent.session.state.model.steps.part(200), first.policy.values
    returned = steps.rewards + 0.995 * values(steps.successors).max(axis=1)
    apart = returned - values(steps.states)[np.arange(200), steps.actions]
    assert agent.session.state.noise == pytest.approx(0.5 * first.noise + 0.5 * apart.var())


def test_copies_of_an_environment():
    envs = gymnasium.vector.SyncVectorEnv([Line] * 3, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    agent = aapi.Agent(aapi.AAPI(), envs, seed=0).learn(2400)
    assert agent.num_steps == 2400
    assert np.isfinite(agent.session.state.q).all()


@pytest.mark.parametrize(
    ("space", "algorithm", "features"),
    [
        (box(-1.0, 1.0, np.float64), aapi.AAPI(), Grid()),
        (box(0, 9, np.int64), aapi.AAPI(), OneHot()),  # a small box of whole numbers
        (box(0, 255, np.uint8, 3), aapi.AAPI(), Grid()),
        (box(-np.inf, np.inf, np.float64, 12), aapi.AAPI(), Grid()),
        (box(-1.0, 1.0, np.float64, 65), aapi.AAPI(), Radial()),
        (box(-1.0, 1.0, np.float64), aapi.AAPI(eta=0.5), Fourier()),
        (gymnasium.spaces.Discrete(5), aapi.AAPI(), OneHot()),
    ],
)
def test_what_is_chosen(space, algorithm, features):
    agent = aapi.Agent(algorithm, Line(space=space))
    assert agent.features == features
    on_weights = aapi.AAPI(eta=1.0) if algorithm == aapi.AAPI() else algorithm
    expected = {Grid(): aapi.OptimisticGrid(), OneHot(): algorithm}.get(features, on_weights)
    assert agent.algorithm == expected


def test_cartpole_keeps_the_papers_features():
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("CartPole-v1"))
    assert (agent.algorithm, agent.features) == (aapi.AAPI(eta=1.0), Fourier())


def test_the_choice_in_words():
    words = describe_choice(learnt())
    assert "not Algorithm 1" in words
    assert "--features fourier:3" in words
    assert "observed: 1 real number; grid: 50 vertices" in words
    many = aapi.Agent(aapi.AAPI(), Line(space=box(-1.0, 1.0, np.float64, 5)))
    assert "--features radial:300" in describe_choice(many)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FrozenLake-v1", "countable: Algorithm 1 on tables.*expeditions.*Thompson sampling"),
        ("CartPole-v1", "Algorithm 1 on weights of features.*does not explore"),
    ],
)
def test_the_choice_of_algorithm_1_in_words(name, words):
    assert re.search(words, describe_choice(aapi.Agent(aapi.AAPI(), gymnasium.make(name))))
    assert not describe_choice(aapi.Agent(aapi.AAPI(eta=0.5), gymnasium.make(name)))


def test_an_agent_shows_what_it_learns_by():
    assert repr(learnt(600)).startswith("Agent(OptimisticGrid(phase_length=300, ")


def test_the_word_of_the_command_is_the_default():
    for settings in (problem_settings("river-swim", river_swim(), "aapi"), TABLES, VECTORS):
        assert make_algorithm("aapi", {}, settings)[0] == aapi.AAPI()


def test_other_algorithms_do_not_take_a_grid_nor_it_other_features():
    with pytest.raises(aapi.errors.InvalidInput, match="grid features are for AAPI"):
        aapi.Agent(aapi.AAPI(eta=0.5), Line(), features=Grid())
    with pytest.raises(aapi.errors.InvalidInput, match="take features=Grid"):
        aapi.Agent(aapi.OptimisticGrid(), Line(), features=Fourier())


@pytest.mark.parametrize(
    "wrong",
    [{"bonus": -1.0}, {"noise_bonus": -1.0}, {"discount": 1.0}, {"sweeps": 0}, {"phase_length": 0}, {"window": 0}],
)
def test_wrong_arguments(wrong):
    with pytest.raises(aapi.errors.InvalidInput, match=next(iter(wrong))):
        aapi.OptimisticGrid(**wrong).check()
