"""Agents that start from a rule of thumb."""

import json
import sys

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.environments.observations import observations_of
from aapi.errors import InvalidInput
from aapi.learners import Conservative, OptimisticGrid
from aapi.mdp import FiniteMDP
from aapi.policies import policy_reader

RULES = """
def low(state):
    return 1

def high(jobs):
    return 2
"""


def lake(**more):
    return gymnasium.make("FrozenLake-v1", is_slippery=False, **more)


def toll():
    """One state; action 0 pays 1 and action 1 nothing."""
    return gymnasium.make("aapi/FiniteMDP-v0", model=FiniteMDP(np.ones((1, 2, 1)), [[1.0, 0.0]]))


def down(state):
    return 1


class Predicts:
    def predict(self, observation):
        return np.array(1), None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "thumb.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("thumb", None)
    return tmp_path


def test_a_rule_is_a_function_or_what_predicts_or_a_name(folder):
    agents = [aapi.Agent(aapi.AAPI(), lake(), rule=rule).learn(1200) for rule in (down, Predicts(), "thumb:low")]
    assert [agent.algorithm for agent in agents] == [Conservative(learner=aapi.AAPI())] * 3
    assert len({agent.total_reward for agent in agents}) == 1
    actions = agents[0].simulation.actions[0, : agents[0].simulation.filled]
    assert agents[0].session.state.rule_steps >= 1000 or (actions == 1).all()


def test_until_the_learner_is_trusted_the_rule_is_used():
    agent = aapi.Agent(aapi.AAPI(), toll(), rule=lambda _: 0).learn(3000)
    assert [agent.predict(0) for _ in range(20)] == [0] * 20
    assert agent.probabilities(0).tolist() == [1.0, 0.0]
    assert agent.evaluate(50, toll()).average_reward == 1.0
    assert agent.policy_table().probabilities.tolist() == [[1.0, 0.0]]


def test_while_the_rule_is_used_it_is_logged_and_exported(tmp_path):
    agent = aapi.Agent(aapi.AAPI(), toll(), rule=lambda _: 0).learn(3000, log=tmp_path / "changes.jsonl")
    assert {json.loads(line)["changed"] for line in (tmp_path / "changes.jsonl").read_text().splitlines()} == {0}
    agent.export(tmp_path / "policy.npz")
    assert policy_reader.Policy(tmp_path / "policy.npz").probabilities(0).tolist() == [1.0, 0.0]
    vectors = aapi.Agent(OptimisticGrid(), gymnasium.make("aapi/CrissCross-v0"), rule="MaxWeight").learn(300)
    with pytest.raises(InvalidInput, match="the rule of thumb still does better"):
        vectors.export(tmp_path / "queue.npz")


def test_on_vectors_plans_keep_up_with_the_grid():
    agent = aapi.Agent(OptimisticGrid(), gymnasium.make("aapi/CrissCross-v0"), rule="MaxWeight")
    for _ in range(100):
        state = agent.learn(30).session.state.inner
        assert len(state.q) == state.model.num_vertices
        assert np.isfinite(state.q).all()


def test_then_the_learner_is():
    agent = aapi.Agent(aapi.AAPI(), toll(), rule=lambda _: 1).learn(3000)
    assert agent.evaluate(50, toll(), deterministic=True).average_reward == 1.0


@pytest.mark.parametrize("name", ["maxweight", "MaxWeight", "c-mu", "threshold-4"])
def test_queues_have_rules_by_name(name):
    agent = aapi.Agent(aapi.AAPI(), gymnasium.make("aapi/CrissCross-v0"), rule=name)
    assert agent.algorithm == Conservative(learner=OptimisticGrid())
    assert agent.predict(np.array([0, 9, 1])) in (0, 1)


@pytest.mark.parametrize("kind", ["Box", "Bytes", "Discrete", "MultiDiscrete", "Grid", "Board", "Tuple", "Dict"])
def test_rules_see_what_the_environment_shows(kind):
    space = gymnasium.make(f"little/{kind}-v0").observation_space
    observations = observations_of(space)
    encode = observations.state if all(observations.counts) and kind != "Bytes" else observations.vector
    for _ in range(20):
        seen = space.sample()
        again = observations.observation(encode(seen))
        assert space.contains(again)
        assert np.array_equal(encode(again), encode(seen))


@pytest.mark.parametrize("env", [lake, lambda: gymnasium.make("aapi/CrissCross-v0")])
def test_saved_and_loaded_learning_goes_on_to_the_same_bits(folder, env):
    def rule(_):
        return 1

    def done(agent):
        return agent.total_reward, agent.session.state.account.turns.tolist(), agent.num_phases

    whole = aapi.Agent(aapi.AAPI(), env(), rule=rule).learn(3000)
    part = aapi.Agent(aapi.AAPI(), env(), rule=rule).learn(999).learn(700)
    part.save("part.aapi")
    assert done(aapi.load("part.aapi", env(), rule=rule).learn(1301)) == done(whole)


def test_a_file_has_no_rule_of_the_users(folder):
    aapi.Agent(aapi.AAPI(), lake(), rule=down).learn(1100).save("lake.aapi")
    with pytest.raises(InvalidInput, match="it has a rule of your own, down: give it again"):
        aapi.load("lake.aapi")
    assert aapi.load("lake.aapi", rule=down).num_steps == 1100


def test_but_the_name_of_a_function_which_is_imported_when_it_acts(folder, capsys):
    aapi.Agent(aapi.AAPI(), lake(), rule="thumb:low").learn(500).save("lake.aapi")
    (folder / "thumb.py").rename("moved.py")
    sys.modules.pop("thumb")
    agent = aapi.load("lake.aapi", lake())
    assert capsys.readouterr().err == ""
    with pytest.raises(InvalidInput, match="names thumb:low, which is not here"):
        agent.predict(0)
    (folder / "moved.py").rename("thumb.py")
    capsys.readouterr()
    assert aapi.load("lake.aapi").predict(0) == 1
    assert capsys.readouterr().err == "lake.aapi: importing thumb for its rule thumb:low\n"
    aapi.load("lake.aapi", lake()).save("again.aapi")
    assert aapi.load("again.aapi").rule == "thumb:low"


def test_rules_of_queues_need_no_environment_to_predict(folder):
    aapi.Agent(aapi.AAPI(), gymnasium.make("aapi/CrissCross-v0", regime="BH"), rule="threshold-4").learn(200).save("q")
    agent = aapi.load("q")
    assert [agent.predict(np.array([3, jobs, 3])) for jobs in (3, 4)] == [
        aapi.environments.queueing.criss_cross_threshold(
            aapi.environments.queueing.criss_cross_network("BH").network, 4
        )([3, jobs, 3])
        for jobs in (3, 4)
    ]


def test_copies_learn_beside_a_rule():
    def made():
        return gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync")

    agent = aapi.Agent(aapi.AAPI(), made(), rule=down).learn(3000)
    assert agent.session.state.account.own_steps > 0
    pieces = aapi.Agent(aapi.AAPI(), made(), rule=down).learn(1503).learn(1497)  # numbers that three copies divide
    assert (pieces.num_steps, pieces.total_reward) == (3000, agent.total_reward)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda _: 9, "step 1: the rule returned 9 at 0: actions are 0 to 3"),
        (lambda _: None, "must return an action, not None"),
        (lambda state: [][state], "the rule raised IndexError"),
        ("maxweight", "rule must be module:function here"),
        (3, "a function from an observation to an action"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(rule, message):
    with pytest.raises(InvalidInput, match=message) as error:
        aapi.Agent(aapi.AAPI(), lake(), rule=rule).learn(10)
    assert "\n" not in str(error.value)


def test_nor_beside_what_hides_observations():
    with pytest.raises(InvalidInput, match="features of your own do not hold"):
        aapi.Agent(aapi.AAPI(), lake(), features=lambda state: [1.0, state], rule=down)
    with pytest.raises(InvalidInput, match="learns only from what its own policies do"):
        aapi.Agent(aapi.AAPI(), gymnasium.make("CartPole-v1"), features=aapi.features.Fourier(order=1), rule=down)


def test_a_rule_is_for_agents_that_had_one(folder):
    aapi.Agent(aapi.AAPI(), lake()).learn(100).save("lake.aapi")
    with pytest.raises(InvalidInput, match="it learns without a rule"):
        aapi.load("lake.aapi", rule=down)


class Forbids(gymnasium.Env):
    """Three states, in each of which one action is forbidden: the rule's."""

    observation_space, action_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(3)

    def mask(self):
        return np.arange(3) != self.state

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 0
        return 0, {"action_mask": self.mask().astype(np.int8)}

    def step(self, action):
        assert self.mask()[action]
        self.state = (self.state + 1) % 3
        return self.state, 1.0, False, False, {"action_mask": self.mask().astype(np.int8)}


def test_what_a_rule_may_not_do_is_never_done_or_shown(tmp_path):
    agent = aapi.Agent(aapi.AAPI(), Forbids(), rule=lambda state: state).learn(50)
    expected = [1, 0, 0]  # the first that is allowed
    assert [agent.predict(x) for x in range(3)] == expected
    assert [agent.predict(x, deterministic=True) for x in range(3)] == expected
    assert agent.predict(np.arange(3)).tolist() == expected
    assert agent.policy_table(visited=False).probabilities.argmax(axis=1).tolist() == expected
    agent.export(tmp_path / "p.npz")
    assert [policy_reader.Policy(tmp_path / "p.npz").act(x) for x in range(3)] == expected


@pytest.mark.parametrize("name", ["os:_exit", "test.support:run", "json.tool:main", "numpy:save", "../x:y"])
def test_a_file_cannot_name_just_any_function_as_its_rule(folder, name):
    agent = aapi.Agent(aapi.AAPI(), lake(), rule="thumb:low").learn(100)
    agent.rule = name
    agent.save("lake.aapi")
    with pytest.raises(InvalidInput, match=r"it was altered|which is not here: give the rule again"):
        aapi.load("lake.aapi").predict(0)


def test_names_are_those_by_which_policies_are_judged(folder):
    found = aapi.evaluate({"a": "thumb:low", "b": down}, lake(), 50, [1])
    assert found["a"].average_reward == found["b"].average_reward
    env = gymnasium.make("aapi/CrissCross-v0")
    for name in ("maxweight", "MaxWeight", "c-mu", "threshold-4"):
        assert aapi.evaluate(name, env, 50, [1]).average_reward <= 0.0
