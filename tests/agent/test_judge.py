import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import aapi
from aapi.environments import Continuing, river_swim
from aapi.errors import InvalidInput
from aapi.mdp import policy_values, solve


class Coin(gymnasium.Env):
    """Pays the action, 3 or 4, and noise that does not depend on it; an episode ends by chance."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2, start=3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.last = int(self.np_random.integers(2))
        return self.last, {}

    def step(self, action):
        assert type(action) is int
        self.last = int(self.np_random.integers(2))
        return self.last, action + self.np_random.normal(), bool(self.np_random.random() < 0.1), False, {}


class Like:
    """An agent as others write them: it has a state, is told of the beginnings of episodes, and returns a tuple."""

    def __init__(self):
        self.begun, self.states, self.seeds, self.asked = [], [], [], []

    def set_random_seed(self, seed):
        self.seeds.append(seed)

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        self.begun.append(bool(episode_start[0]))
        self.states.append(state)
        self.asked.append(deterministic)
        return np.array([4]), 0 if state is None else state + 1


class Four:
    def predict(self, observation):
        return np.int64(4)


POLICIES = {
    "function": lambda seen: 4,
    "array": np.array([1, 1]),
    "probabilities": np.array([[0.0, 1.0], [0.0, 1.0]]),
    "list": [1, 1],
    "predict": Four(),
    "stable": Like(),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_anyones_policy_is_judged_alike(policy):
    score = aapi.evaluate(policy, Coin(), 3000, 2)
    expected = aapi.evaluate(lambda seen: 4, Coin, 3000, 2)
    assert score.rewards.shape == score.actions.shape == (2, 3000)
    assert score.action_shares == [0.0, 1.0]
    assert score.rewards.tolist() == expected.rewards.tolist()
    assert score.long_run.lower < 4.0 < score.long_run.upper
    assert score.long_run.half_width < 0.04
    assert str(score) == f"{score.long_run} a step (95 %, 256 batches); {score.setting}"
    assert score.setting == (
        "2 runs of 3,000 steps after 300 that do not count; an episode that ends is followed by the next, in its own "
        "rewards"
    )


def test_what_remembers_is_given_its_state_and_told_when_an_episode_begins():
    agent = Like()
    ends = np.cumsum(aapi.evaluate(agent, Coin(), 400, [5], warm_up=0, deterministic=True).lengths)
    aapi.evaluate(agent, Coin(), 300, [6], warm_up=100, deterministic=True)
    assert agent.seeds == [5, 6]
    assert agent.states == [None, *range(399)] * 2
    assert np.flatnonzero(agent.begun[:400]).tolist() == [0, *ends[ends < 400]]
    assert set(agent.asked) == {True}


def test_an_agent_is_judged_as_it_evaluates_itself():
    env = gymnasium.make("FrozenLake-v1")
    agent = aapi.Agent(aapi.AAPI(phase_length=100), env).learn(500)
    own = agent.evaluate(300, seed=7)
    judged = aapi.evaluate(agent, "FrozenLake-v1", 200, [7], warm_up=100)
    assert judged.rewards.tolist() == own.rewards[:, 100:].tolist()
    assert judged.lengths == own.lengths[sum(np.cumsum(own.lengths) <= 100) :]
    with pytest.raises(InvalidInput, match="another environment"):
        aapi.evaluate(agent, env, 200)


def test_policies_are_compared_with_the_same_random_numbers():
    found = aapi.evaluate({"four": lambda seen: 4, "three": lambda seen: 3, "random": "random"}, Coin(), 2000, 3)
    one = found.difference("three", "four")
    assert (one.mean, one.half_width) == (pytest.approx(-1.0), None)  # the noise is the same
    random = found.difference("random", "four")
    assert random.lower < -0.5 < random.upper
    assert random.half_width < found["random"].long_run.half_width
    table = str(found).splitlines()
    assert table[0].split() == ["a", "step", "less", "four"]
    assert table[3].startswith("random  ")
    assert table[3].endswith(" worse")
    assert table[-1].startswith("± 95 %; 3 runs of 2,000 steps")
    with pytest.raises(InvalidInput, match=r"'fuor' was not judged \(did you mean four"):
        found["fuor"]


def test_the_same_seeds_give_the_same_and_others_do_not():
    policies = {"random": "random", "mixed": np.full((2, 2), 0.5)}
    first, again = (aapi.evaluate(policies, Coin(), 500, [1, 2]) for _ in range(2))
    other = aapi.evaluate(policies, Coin(), 500, [2, 3])
    for name in policies:
        assert first[name].rewards.tolist() == again[name].rewards.tolist()
        assert first[name].rewards[1].tolist() == other[name].rewards[0].tolist()
        assert first[name].rewards[0].tolist() != other[name].rewards[1].tolist()
    assert first["random"].actions.tolist() != first["mixed"].actions.tolist()


def test_a_finite_model_is_judged_by_its_cycles_and_agrees_with_the_exact_gain():
    model = river_swim()
    best = solve(model).policy
    mixed = 0.8 * np.eye(2)[best] + 0.1
    found = aapi.evaluate({"best": best, "optimal": "optimal", "mixed": mixed}, model, 10_000, 2)
    for name, policy in (("best", best), ("mixed", mixed)):
        interval = found[name].long_run
        assert interval.lower <= policy_values(model, policy).gain <= interval.upper
    assert found["best"].long_run.method.endswith("cycles")
    assert found["optimal"].rewards.tolist() == found["best"].rewards.tolist()
    assert aapi.evaluate("optimal", "river-swim", 10_000, 2).average_reward == found["best"].average_reward
    assert str(found).splitlines()[2].endswith("  0")


def test_a_short_run_says_so():
    score = aapi.evaluate(lambda seen: 1, "aapi/RiverSwim-v0", 100, 1)
    assert score.long_run.half_width is None
    assert "(the run is too short) a step" in str(score)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "with h − limit for the last of h steps, after 200 steps at the latest"),
        ({"ending": "keep"}, "in its own rewards"),
        ({"limit": 100}, "with h − limit for the last of h steps, after 100 steps at the latest"),
        ({"ending": -5.0, "limit": 90}, "with -5 where one is terminated, after 90 steps at the latest"),
        ({"ending": lambda h, r, t: 0.0}, "by a function of yours"),
    ],
)
def test_it_says_what_the_end_of_an_episode_pays(rule, words):
    score = aapi.evaluate("random", "CartPole-v1", 200, 1, **rule)
    assert score.setting.endswith(f"; an episode that ends is followed by the next, {words}")


def test_actions_may_be_anything():
    score = aapi.evaluate("random", lambda: Continuing(gymnasium.make("Pendulum-v1")), 300, 1)
    assert (score.rewards.shape, score.actions.size, score.action_shares) == ((1, 300), 0, [])


class Masked(Coin):
    """Allows one action at a time."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": np.array([1, 0])}

    def step(self, action):
        observation, *others, _ = super().step(action)
        return observation, *others, {"action_mask": np.eye(2, dtype=np.int8)[observation]}


def test_what_is_not_allowed_is_not_taken():
    score = aapi.evaluate("random", Masked(), 300, 1)
    assert 0.3 < score.action_shares[0] < 0.7
    with pytest.raises(InvalidInput, match=r"step \d: the policy returned 4 at [01], which is not allowed there"):
        aapi.evaluate(lambda seen: 4, Masked(), 300, 1)


def test_networks_have_rules():
    found = aapi.evaluate({"cμ": "cμ", "longest queue": "longest queue"}, "aapi/CrissCross-v0", 300, 1)
    assert found["cμ"].average_reward < 0


@pytest.mark.parametrize(
    ("policy", "env", "arguments", "message"),
    [
        (lambda seen: 7, Coin(), {}, "step 1: the policy returned 7 at [01], and actions are 3..4"),
        (lambda seen: 1 / 0, Coin(), {}, "step 1: the policy raised ZeroDivisionError: division by zero at [01]"),
        (lambda seen: "up", Coin(), {}, "step 1: the policy must return an action, not .up."),
        ({"mine": lambda seen: 7}, Coin(), {}, "mine: step 1: the policy returned 7"),
        ({}, Coin(), {}, "there is no policy to judge"),
        (object(), Coin(), {}, "a policy is an agent, a function of an observation, a table or .*, not <object"),
        ("random", Continuing(Coin()), {"limit": 5}, "the environment is Continuing, which has an ending rule"),
        (Four, Coin(), {}, "a policy must be an object, not the class Four"),
        ("rondom", Coin(), {}, "there is no rule 'rondom' .*did you mean random.*: choose random, or module:function"),
        ([0, 1, 1], Coin(), {}, "a table must hold 2 actions, one for each state, or .*, 2 × 2; .* int64 of shape"),
        ([[0.5, 0.6], [1, 0]], Coin(), {}, "a table must hold 2 actions"),
        ([0, 1], "CartPole-v1", {}, "need countable observations"),
        ("random", "NoSuch-v0", {}, "there is no environment 'NoSuch-v0'"),
        ("random", "cartpole", {}, "cartpole is no finite model"),
        ("random", 7, {}, "env must be a Gymnasium environment, its id, a function .*, not 7"),
        ("random", Coin(), {"num_steps": 0}, "num_steps must be at least 1, not 0"),
        ("random", Coin(), {"seeds": 0}, "seeds must be at least 1, not 0"),
        ("random", Coin(), {"seeds": [-1]}, "seed must be at least 0, not -1"),
        ("random", Coin(), {"warm_up": -1}, "warm_up must be at least 0, not -1"),
    ],
)
def test_bad_input_is_refused_in_one_line(policy, env, arguments, message):
    with pytest.raises(InvalidInput, match=message) as error:
        aapi.evaluate(policy, env, **({"num_steps": 50, "seeds": 1} | arguments))
    assert "\n" not in str(error.value)


def test_somebodys_code_may_remember_what_it_saw(tmp_path, monkeypatch):
    (tmp_path / "recalls.py").write_text("def down(state):\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    env = gymnasium.make("aapi/RiverSwim-v0")
    assert aapi.evaluate("random", env, 2000).states is not None
    assert aapi.evaluate("recalls:down", env, 2000).states is None
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("aapi/RiverSwim-v0"), rule=lambda state: 1).learn(100)
    assert aapi.evaluate(agent, env, 2000).states is None
