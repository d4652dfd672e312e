"""A log of what learning changed."""

import json

import gymnasium
import numpy as np
import pytest
from commands import run

import aapi
from aapi.environments import access_control
from aapi.errors import InvalidInput
from aapi.features import Fourier
from aapi.learners import DifferentialQ

MODEL = access_control()


def queue():
    return gymnasium.make("aapi/FiniteMDP-v0", model=MODEL)


def lines(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "time"} for line in found]


@pytest.mark.parametrize("algorithm", [aapi.AAPI(exploration=()), DifferentialQ()], ids=["aapi", "online"])
def test_a_line_for_each_phase_says_what_changed(tmp_path, algorithm):
    path, agent = tmp_path / "changes.jsonl", aapi.Agent(algorithm, queue())
    policies, rewards = [agent.policy[0].argmax(axis=1)], []

    def watch(progress):
        policies.append(agent.policy[0].argmax(axis=1))
        rewards.append((progress.steps, progress.average_reward))

    agent.learn(4000, callback=watch, log=path)
    found = lines(path)
    assert [(line["steps"], line["average_reward"]) for line in found] == rewards
    assert sum(line["changed"] for line in found) > 3
    for line, before, now in zip(found, policies, policies[1:], strict=False):
        assert line["changed"] <= (before != now).sum()
        if line["changed"]:
            largest = line["largest"]
            x = largest["observation"]
            assert (largest["from"], largest["to"]) == (before[x], now[x])
            assert largest["from"] != largest["to"]
            assert largest["visits"] > 0
        else:
            assert line["largest"] is None


@pytest.mark.parametrize("killed", ["between lines", "within a line"])
def test_no_line_comes_twice_after_a_kill(tmp_path, killed):
    whole, pieces, agent = tmp_path / "whole.jsonl", tmp_path / "pieces.jsonl", tmp_path / "a.aapi"
    aapi.Agent(aapi.AAPI(exploration=()), queue()).learn(4000, log=whole)
    aapi.Agent(aapi.AAPI(exploration=()), queue()).learn(1500, checkpoint=agent, log=pieces)
    aapi.load(agent, env=queue()).learn(1200, log=pieces)  # of which nothing is left but the log
    if killed == "within a line":
        pieces.write_bytes(pieces.read_bytes()[:-30])
    aapi.load(agent, env=queue()).learn(2500, log=pieces)
    assert len(lines(whole)) > 10
    assert lines(pieces) == lines(whole)


def test_vectors_are_compared_where_the_agent_was(tmp_path):
    path = tmp_path / "changes.jsonl"
    aapi.Agent(aapi.AAPI(), gymnasium.make("CartPole-v1"), Fourier(order=1)).learn(3000, log=path)
    found = lines(path)
    assert max(line["changed"] for line in found) > 0
    for line in found:
        assert 0 < line["observations"] <= 1000
        assert line["largest"] is None or len(line["largest"]["observation"]) == 4


def test_beside_a_rule_it_is_the_policy_of_whoever_is_trusted(tmp_path):
    path = tmp_path / "changes.jsonl"
    aapi.Agent(aapi.AAPI(exploration=()), queue(), rule=lambda _: 1).learn(3000, log=path)
    assert all(line["observations"] > 0 for line in lines(path))
    assert len(lines(path)) > 3


def test_copies_and_observations_of_several_numbers(tmp_path):
    class Pair(gymnasium.Env):
        observation_space = gymnasium.spaces.MultiDiscrete([2, 3], start=[1, 5])
        action_space = gymnasium.spaces.Discrete(2, start=4)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.seen = self.np_random.integers([1, 5], [3, 8])
            return self.seen, {}

        def step(self, action):
            reward = float(action - 4 == self.seen[0] - 1)
            return self.reset()[0], reward, False, False, {}

    path = tmp_path / "changes.jsonl"
    aapi.Agent(aapi.AAPI(), gymnasium.vector.SyncVectorEnv([Pair] * 3)).learn(1500, log=path)
    largest = [line["largest"] for line in lines(path) if line["changed"]]
    assert largest
    assert all(each["observation"][0] in (1, 2) and 5 <= each["observation"][1] <= 7 for each in largest)
    assert all({each["from"], each["to"]} == {4, 5} for each in largest)


def test_another_agents_log_is_not_written_to(tmp_path):
    path = tmp_path / "changes.jsonl"
    aapi.Agent(aapi.AAPI(), queue()).learn(500, log=path)
    with pytest.raises(InvalidInput, match="has lines of another agent"):
        aapi.Agent(aapi.AAPI(), queue()).learn(500, log=path)
    path.write_text("hello\n")
    with pytest.raises(InvalidInput, match="is not a log of changes"):
        aapi.Agent(aapi.AAPI(), queue()).learn(500, log=path)


def test_the_command_goes_on_with_a_log(capsys, tmp_path):
    agent, path = str(tmp_path / "a.aapi"), tmp_path / "changes.jsonl"
    given = "--save", agent, "--log", str(path)
    assert run(capsys, "train", "FrozenLake-v1", "--steps", "1000", *given)[0] == 0
    first = path.read_text()
    assert run(capsys, "train", "--resume", agent, "--steps", "3000", "--log", str(path))[0] == 0
    assert path.read_text().startswith(first)
    assert np.diff([line["steps"] for line in lines(path)]).min() > 0
    status, _, err = run(capsys, "train", "FrozenLake-v1", "--log", str(tmp_path / "none" / "log"))
    assert (status, "--log" in err) == (2, True)


def test_a_file_that_is_no_log_of_the_agents_is_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my only copy of something")
    with pytest.raises(InvalidInput, match="is not a log of changes: it has the line b'my only copy"):
        aapi.Agent(aapi.AAPI(), queue()).learn(5, log=path)
    assert path.read_text() == "my only copy of something"
    agent = aapi.Agent(aapi.AAPI(exploration=()), queue(), seed=1).learn(500, log=tmp_path / "log.jsonl")
    before = (tmp_path / "log.jsonl").read_text()
    assert agent.num_steps == 500
    assert before
    with pytest.raises(InvalidInput, match="has lines of another agent"):
        aapi.Agent(aapi.AAPI(exploration=()), queue(), seed=2).learn(10).learn(10, log=tmp_path / "log.jsonl")
    assert (tmp_path / "log.jsonl").read_text() == before
