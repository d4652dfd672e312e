import json
import time

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.environments import Continuing
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.exploration import Excursion
from aapi.features import Fourier, OneHot, Radial, Tiles

ALGORITHMS = ("AAPI", "sampled AAPI", "Politex", "AdaptiveFTRL", "GreedyAPI", "RLSVI")
KINDS = (
    "Box",
    "Bytes",
    "Scalar",
    "Discrete",
    "MultiDiscrete",
    "Narrow",
    "Grid",
    "MultiBinary",
    "Board",
    "Tuple",
    "Dict",
)


def signs(observation):
    return [1.0, *np.sign(observation), observation[0]]


FEATURES = {
    "fourier": Fourier(order=2, low=(-1, -2), high=np.float32(1.5)),
    "tiles": Tiles(tiles=4, tilings=2),
    "radial": Radial(num_features=20, seed=3),
    "function": signs,
}


def saved(agent, path):
    """All that is in an agent's file, except the stream of predictions."""
    agent.save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "predictions"}
    description = json.loads(arrays.pop("agent").tobytes())
    return description, {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def check(make, stop, path, steps=330, **parts):
    """Learning with a stop is as learning without."""
    expected, rewards = make(), []
    expected.learn(steps, callback=lambda progress: rewards.append(progress.average_reward))
    stopped, got = make(), []
    stopped.learn(stop, callback=lambda progress: got.append(progress.average_reward))
    stopped.save(path)
    env = gymnasium.make(stopped.env.env.spec) if stopped.env.env.spec else stopped.env.unwrapped.__class__()
    env.reset(seed=99)  # used before, for something else
    loaded = aapi.load(path, env, **parts)
    assert (loaded.num_steps, loaded.num_phases) == (stop, stopped.num_phases)
    observation = loaded.observation_space.sample()
    assert loaded.probabilities(observation).tolist() == stopped.probabilities(observation).tolist()
    loaded.predict(observation)
    loaded.learn(steps - stop, callback=lambda progress: got.append(progress.average_reward))
    assert got == rewards
    assert saved(loaded, path) == saved(expected, path)


@pytest.mark.parametrize("stop", [100, 137], ids=["between phases", "within a phase"])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_saved_agent_goes_on_as_if_it_had_not_stopped(agent, tmp_path, algorithm, features, stop):
    given = {"features": signs} if features == "function" else {}
    check(lambda: agent(algorithm, features=FEATURES[features]), stop, tmp_path / "agent.aapi", **given)


@pytest.mark.parametrize("stop", [100, 137])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_so_does_one_with_a_table(agent, tmp_path, algorithm, stop):
    check(lambda: agent(algorithm, "little/Discrete-v0", OneHot()), stop, tmp_path / "agent.aapi")


@pytest.mark.parametrize("kind", KINDS)
def test_so_does_one_with_observations_of_any_kind(agent, tmp_path, kind):
    check(lambda: agent(env=f"little/{kind}-v0"), 77, tmp_path / "agent.aapi", steps=150)


@pytest.mark.parametrize("env", ["CartPole-v1", "Blackjack-v1", "FrozenLake-v1", "MountainCar-v0", "Acrobot-v1"])
def test_so_does_one_in_a_well_known_environment(agent, tmp_path, env):
    features = None if env in ("Blackjack-v1", "FrozenLake-v1") else Fourier(order=1)
    check(lambda: agent(env=env, features=features), 77, tmp_path / "agent.aapi", steps=150)


@pytest.mark.parametrize(
    "name", ["Catch", "WindyCatch", "DancingCatch", "SwappedCatch", "Pendulum", "PuckWorld", "Taxi"]
)
def test_so_does_one_in_the_continuing_suite(agent, tmp_path, name):
    features = Fourier(order=1) if name in ("Pendulum", "PuckWorld") else None
    check(lambda: agent(env=f"aapi/{name}-v0", features=features), 77, tmp_path / "agent.aapi", steps=150)


def test_every_step_is_a_good_place_to_stop(agent, tmp_path):
    path = tmp_path / "agent.aapi"
    expected = saved(agent(phase_length=7).learn(25), path)
    learner = agent(phase_length=7)
    for _ in range(25):
        learner.learn(1).save(path)
        learner = aapi.load(path, gymnasium.make("little/Box-v0"))
    assert saved(learner, path) == expected


def test_a_stop_between_many_phases_keeps_the_sample_of_the_past(agent, tmp_path):
    check(lambda: agent("sampled AAPI", phase_length=2), 61, tmp_path / "agent.aapi", steps=130)
    check(lambda: agent("sampled AAPI", "little/Discrete-v0", phase_length=2), 61, tmp_path / "agent.aapi", steps=130)


def test_an_agent_that_never_learnt_can_be_saved(agent, tmp_path):
    path = tmp_path / "agent.aapi"
    agent(seed=5).save(path)
    loaded = aapi.load(path, gymnasium.make("little/Box-v0"))
    assert (loaded.num_steps, loaded.seed) == (0, 5)
    assert saved(loaded.learn(120), path) == saved(agent(seed=5).learn(120), path)


def test_predictions_go_on_too(agent, tmp_path):
    path, observation = tmp_path / "agent.aapi", np.array([0.01, 0.0])
    learner = agent()
    learner.save(path)
    expected = [learner.predict(observation) for _ in range(40)]
    assert set(expected) == {3, 4}
    assert [aapi.load(path).predict(observation)] == expected[:1]
    loaded = aapi.load(path)
    assert [loaded.predict(observation) for _ in range(40)] == expected


def test_an_agent_without_its_environment_predicts_but_does_not_learn(agent, tmp_path):
    path = tmp_path / "agent.aapi"
    learner = agent().learn(120)
    learner.save(path)
    loaded = aapi.load(path)
    assert loaded.env is None
    assert loaded.predict(np.array([0.9, 0.0]), deterministic=True) == 4
    for act in (lambda: loaded.learn(10), lambda: loaded.evaluate(10)):
        with pytest.raises(InvalidInput, match="environment"):
            act()
    env = gymnasium.make("little/Box-v0")
    assert loaded.evaluate(50, env).rewards.tolist() == learner.evaluate(50).rewards.tolist()


def test_an_agent_saved_again_without_its_environment_can_still_go_on(agent, tmp_path):
    path, copy = tmp_path / "agent.aapi", tmp_path / "copy.aapi"
    agent().learn(137).save(path)
    aapi.load(path).save(copy)
    loaded = aapi.load(copy, gymnasium.make("little/Box-v0"))
    assert saved(loaded.learn(100), path) == saved(agent().learn(237), path)


def test_parts_of_your_own_are_handed_over_again(agent, tmp_path):
    path = tmp_path / "agent.aapi"
    agent(features=signs).learn(60).save(path)
    with pytest.raises(InvalidInput, match=r"it was made with your own signs: pass features=… to load"):
        aapi.load(path)
    with pytest.raises(InvalidInput, match=r"agent\.aapi"):
        aapi.load(path, features=lambda observation: [1.0])
    assert aapi.load(path, features=signs).num_steps == 60


def test_an_algorithm_of_your_own_is_handed_over_again(tmp_path):
    class Noisy(aapi.evaluation.MonteCarlo):
        pass

    def make():
        algorithm = aapi.AAPI(phase_length=50, eta=0.3, evaluate=Noisy(horizon=1, ridge=0.1))
        return aapi.Agent(algorithm, gymnasium.make("little/Box-v0"))

    with pytest.raises(InvalidInput, match=r"your own Noisy: pass algorithm=… to load"):
        check(make, 60, tmp_path / "agent.aapi", steps=120)
    check(make, 60, tmp_path / "agent.aapi", steps=120, algorithm=make().algorithm)


def test_another_environment_is_refused(agent, tmp_path):
    path = tmp_path / "agent.aapi"
    agent().learn(60).save(path)
    for env in ("CartPole-v1", "little/Scalar-v0"):
        with pytest.raises(InvalidInput, match="the agent learnt with observations") as caught:
            aapi.load(path, gymnasium.make(env))
        assert "\n" not in str(caught.value)


def test_an_ending_rule_is_not_forgotten(agent, tmp_path, algorithm):
    def make():
        return aapi.Agent(algorithm("AAPI"), Continuing(gymnasium.make("CartPole-v1"), -1.0, 30), Fourier(order=1))

    path = tmp_path / "agent.aapi"
    make().learn(77).save(path)
    loaded = aapi.load(path, Continuing(gymnasium.make("CartPole-v1"), -1.0, 30))
    assert saved(loaded.learn(80), path) == saved(make().learn(157), path)
    make().learn(77).save(path)
    loaded = aapi.load(path, gymnasium.make("CartPole-v1"))  # by the file's rule, not by the one known for its id
    assert saved(loaded.learn(80), path) == saved(make().learn(157), path)


def test_a_checkpoint_is_written_every_so_many_phases_and_at_the_end(agent, tmp_path):
    path, seen = tmp_path / "agent.aapi", []

    def look(progress):
        seen.append(aapi.load(path).num_steps if path.exists() else 0)

    learner = agent()
    learner.learn(330, callback=look, checkpoint=path, checkpoint_every=2)
    assert seen == [0, 0, 100, 100, 200, 200]
    assert aapi.load(path).num_steps == 330
    assert learner.saved == (path, 330)
    assert [entry.name for entry in tmp_path.iterdir()] == ["agent.aapi"]


LONG = {
    "ucrl2": aapi.UCRL2(reward_low=0.0, reward_high=1.0, width=0.01),
    "rmax": aapi.RMAX(reward_low=0.0, reward_high=1.0, known_after=3),
    "long phases": aapi.AAPI(phase_length=100_000, evaluate=MonteCarlo(5)),
    "long explorations": aapi.AAPI(
        phase_length=50,
        evaluate=MonteCarlo(5),
        exploration=(
            lambda situation: Excursion(situation.free.copy(), np.full(situation.counts.visits.shape, 0.25), 10**5),
        ),
    ),
}


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", LONG)
def test_checkpoints_come_by_steps_however_long_a_phase_is(tmp_path, monkeypatch, name, copies):
    def make():
        env = gymnasium.make_vec("FrozenLake-v1", copies, vectorization_mode="sync") if copies > 1 else "FrozenLake-v1"
        return aapi.Agent(LONG[name], gymnasium.make(env) if copies == 1 else env)

    path, whole, times, save = tmp_path / "agent.aapi", make().learn(3000), [0], aapi.Agent.save

    def noted(agent, where):
        times.append(agent.num_steps)
        save(agent, where)

    monkeypatch.setattr(aapi.Agent, "save", noted)
    watched = make().learn(3000, checkpoint=path, checkpoint_steps=400)
    assert max(np.diff(times)) < 400 + copies
    assert len(times) == 1 + 8
    assert saved(watched, path) == saved(whole, path)


@pytest.mark.parametrize("name", ["checkpoint_every", "checkpoint_steps"])
def test_checkpoints_need_a_distance(agent, tmp_path, name):
    with pytest.raises(InvalidInput, match=f"{name} must be at least 1, not 0"):
        agent().learn(10, checkpoint=tmp_path / "a", **{name: 0})


def test_saving_takes_little_of_the_time(agent, tmp_path, monkeypatch):
    times = []

    def slow(self, where):
        times.append(self.num_steps)
        time.sleep(0.2)

    monkeypatch.setattr(aapi.Agent, "save", slow)
    agent(phase_length=10**6, env="little/Discrete-v0").learn(60_000, checkpoint=tmp_path / "a", callback=None)
    assert times[0] == 10_000
    assert times[-1] == 60_000
    assert len(times) < 5


def test_a_failed_save_leaves_the_old_file(agent, tmp_path, monkeypatch):
    path = tmp_path / "agent.aapi"
    learner = agent().learn(60)
    learner.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez_compressed", lambda file, **arrays: file.write(b"PK half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        learner.learn(10).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["agent.aapi"]


def test_saving_into_a_missing_folder_names_it(agent, tmp_path):
    with pytest.raises(InvalidInput, match=r"the folder .*nowhere does not exist"):
        agent().save(tmp_path / "nowhere" / "agent.aapi")
