"""Agents that learn from logged transitions first."""

import gymnasium
import logged
import numpy as np
import pytest
from commands import run

import aapi
from aapi.environments import access_control
from aapi.errors import InvalidInput
from aapi.evaluation import LSTD, ImportanceMonteCarlo, MonteCarlo
from aapi.learners import PSRL, RLSVI, DifferentialQ, OptimisticGrid
from aapi.mdp import policy_values, solve
from aapi.memory import Counts

MODEL = access_control()
COUNT = 6000


def made(algorithm=None, **arguments):
    env = gymnasium.make("aapi/FiniteMDP-v0", model=MODEL)
    return aapi.Agent(aapi.AAPI() if algorithm is None else algorithm, env, **arguments)


def some_log(shuffled=False):
    log = logged.columns(logged.uniform_logs(MODEL, COUNT, 1, 3), 0)
    order = np.random.default_rng(1).permutation(COUNT) if shuffled else np.arange(COUNT)
    return {name: column[order] for name, column in log.items()}


def gain(agent):
    return float(policy_values(MODEL, agent.policy[0]).gain)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(
    "algorithm",
    [
        aapi.AAPI(), aapi.GreedyAPI(phase_length=300, evaluate=LSTD()), PSRL(reward_low=0.0, reward_high=8.0),
        RLSVI(phase_length=300, horizon=20),
    ],
    ids=["aapi", "lstd", "psrl", "rlsvi"],
)  # fmt: skip
def test_nearly_the_optimum_is_learnt_from_a_log_alone(algorithm, shuffled):
    agent = made(algorithm).learn_from(some_log(shuffled))
    assert gain(agent) > 0.93 * solve(MODEL).gain
    assert (agent.num_steps, agent.logged_steps, agent.total_reward) == (0, COUNT, 0.0)


def test_learning_goes_on_after_a_log_and_from_a_file_to_the_same_bits(tmp_path):
    whole = made().learn_from(some_log()).learn(3000)
    pieces = made().learn_from(some_log())
    for steps in (700, 2300):
        pieces.save(tmp_path / "a.aapi")
        pieces = aapi.load(tmp_path / "a.aapi", env=gymnasium.make("aapi/FiniteMDP-v0", model=MODEL)).learn(steps)
    assert pieces.num_steps == whole.num_steps == 3000
    assert (pieces.policy == whole.policy).all()
    assert pieces.total_reward == whole.total_reward > made().learn(3000).total_reward


def test_a_log_may_come_in_the_middle_of_learning(tmp_path):
    agent = made().learn(1017).learn_from(some_log(shuffled=True)).learn(983, checkpoint=tmp_path / "a.aapi")
    assert agent.num_steps == 2000
    loaded = aapi.load(tmp_path / "a.aapi")
    assert (loaded.num_steps, loaded.logged_steps) == (2000, COUNT)
    assert gain(loaded) == gain(agent) > 0.93 * solve(MODEL).gain


@pytest.mark.parametrize("copies", [1, 3])
def test_vectors_are_learnt_from_arrays(copies):
    """Observations are random; action 1 pays where the first number is above 0, action 0 elsewhere."""
    generator = np.random.default_rng(0)
    seen = generator.uniform(-1.0, 1.0, (3001, 2))
    actions = generator.integers(2, size=3000)
    log = {"observation": seen[:-1], "action": actions, "next_observation": seen[1:]}
    log["reward"] = ((seen[:-1, 0] > 0.0) == actions).astype(float)
    log["terminated"] = generator.random(3000) < 0.05

    class Guess(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.np_random.uniform(-1.0, 1.0, 2).astype(np.float32), {}

        def step(self, action):
            return self.np_random.uniform(-1.0, 1.0, 2).astype(np.float32), 0.0, False, False, {}

    env = Guess() if copies == 1 else gymnasium.vector.SyncVectorEnv([Guess] * copies)
    agent = aapi.Agent(aapi.AAPI(), env).learn_from(log)
    assert isinstance(agent.algorithm, OptimisticGrid)
    assert [agent.predict([x, 0.2], deterministic=True) for x in (-0.8, -0.4, 0.4, 0.8)] == [0, 0, 1, 1]
    assert agent.learn(600).num_steps == 600


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_command_learns_from_a_file_first(capsys, tmp_path, kind):
    lake = gymnasium.make("FrozenLake-v1")
    generator, x, rows = np.random.default_rng(0), lake.reset(seed=0)[0], []
    for _ in range(4000):
        a = int(generator.integers(4))
        y, reward, terminated, truncated, _ = lake.step(a)
        rows.append((x, a, float(reward), y, int(terminated)))
        x = lake.reset()[0] if terminated or truncated else y
    names = ["state", "action", "reward", "next_state", "terminated"]
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pyarrow.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path
        )
    status, out, _ = run(capsys, "train", "FrozenLake-v1", "--steps", "2000", "--from-log", str(path))
    assert status == 0
    assert "transitions, learnt from first" in out
    assert "2000, in" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": np.full(COUNT, 2)}, "the actions of a log.* must lie in 0..1"),
        ({"reward": np.full(COUNT, np.nan)}, "must be finite numbers"),
        ({"state": np.full(COUNT, 99)}, "99"),
        ({"action": np.zeros(5, dtype=int)}, "one length"),
        ({"action": np.zeros(COUNT)}, "whole numbers"),
    ],
)
def test_wrong_logs_are_said(change, message):
    with pytest.raises(InvalidInput, match=message):
        made().learn_from(some_log() | change)


def test_who_cannot_learn_from_a_log_says_so():
    with pytest.raises(InvalidInput, match="learns only from what its own policies do"):
        made(DifferentialQ()).learn_from(some_log())
    with pytest.raises(InvalidInput, match="learns only from what its own policies do"):
        made(aapi.AAPI(phase_length=300, evaluate=MonteCarlo(horizon=20))).learn_from(some_log())
    with pytest.raises(InvalidInput, match="which a log does not say"):
        made(aapi.AAPI(phase_length=300, evaluate=ImportanceMonteCarlo(horizon=20))).learn_from(some_log())
    with pytest.raises(InvalidInput, match="traces need steps in the order of time"):
        made(aapi.AAPI(phase_length=300, evaluate=LSTD(trace=0.5))).learn_from(some_log(shuffled=True))
    with pytest.raises(InvalidInput, match="a log needs state, action, reward, next_state; this one has state"):
        made().learn_from({"state": [0]})
    with pytest.raises(InvalidInput, match="give arrays"):
        aapi.Agent(aapi.AAPI(), gymnasium.make("MountainCar-v0")).learn_from("log.csv")


def allowed(jobs):
    """Action 0 is forbidden where the state is even."""
    return [int(jobs % 2 == 1), 1]


def test_what_a_mask_forbids_is_not_thought_to_be_untried():
    log = some_log()
    legal = (log["state"] % 2 == 1) | (log["action"] == 1)
    log = {name: column[legal] for name, column in log.items()}
    agent = made().learn_from(log, mask=allowed)
    even = [x for x in np.unique(log["state"]) if x % 2 == 0]
    assert (agent.policy[0][even, 0] == 0.0).all()
    visits = next(memory for memory in agent.session.state.memories.values() if isinstance(memory, Counts)).visits[0]
    often = visits.sum(axis=1) > 10
    assert often[::2].any()
    assert (abs(visits[::2, 0] - visits[::2, 1])[often[::2]] <= 1).all()  # shared evenly
    with pytest.raises(InvalidInput, match="that the mask forbids"):
        made().learn_from(log, mask=lambda x: [1 - log["action"][0] == 0, log["action"][0] == 0])
