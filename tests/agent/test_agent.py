import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import RecordEpisodeStatistics, RescaleObservation, TimeAwareObservation, TransformObservation

import aapi
from aapi.environments import Continuing
from aapi.errors import InvalidInput
from aapi.features import Fourier, OneHot, Radial, Tiles
from aapi.long_run import long_run

KINDS = (
    "Box", "Bytes", "Scalar", "Discrete", "MultiDiscrete", "Narrow", "Grid", "MultiBinary", "Board", "Tuple", "Dict",
)  # fmt: skip
ALGORITHMS = ("AAPI", "sampled AAPI", "Politex", "AdaptiveFTRL", "GreedyAPI", "RLSVI")


def signs(observation):
    return [1.0, *np.sign(observation), observation[0]]


FEATURES = {
    "fourier": Fourier(order=2),
    "tiles": Tiles(tiles=4, tilings=2),
    "radial": Radial(num_features=20),
    "function": signs,
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_from_observations_of_every_kind(agent, kind):
    learner = agent(env=f"little/{kind}-v0", phase_length=200)
    assert learner.learn(1600) is learner
    assert learner.evaluate(400, deterministic=True).average_reward > 0.85
    observation = learner.observation_space.sample()
    assert learner.probabilities(observation).sum() == pytest.approx(1.0)
    assert {learner.predict(observation) for _ in range(50)} <= {3, 4}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("features", FEATURES)
def test_every_algorithm_learns_with_every_kind_of_features(agent, algorithm, features):
    learner = agent(algorithm, features=FEATURES[features], phase_length=200).learn(1400)
    assert learner.evaluate(400, deterministic=True).average_reward > 0.85


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_with_one_hot_features(agent, algorithm):
    learner = agent(algorithm, env="little/Discrete-v0", features=OneHot(), phase_length=100).learn(800)
    assert learner.evaluate(200, deterministic=True).average_reward > 0.95


def test_a_tuple_of_gymnasiums_own_is_a_table(agent):
    assert agent(env="Blackjack-v1", phase_length=500, horizon=3).learn(600).space.shape(1) == (1, 704, 2)


def test_defaults_depend_on_the_observations(agent):
    assert agent(env="little/Discrete-v0").features == OneHot()
    assert agent(env="little/Box-v0").features == Fourier(order=3)


def test_an_untaught_agent_is_uniform(agent):
    for env in ("little/Box-v0", "little/Discrete-v0"):
        learner = agent(env=env)
        assert learner.probabilities(learner.observation_space.sample()).tolist() == [0.5, 0.5]
        assert (learner.num_steps, learner.num_phases) == (0, 0)


def test_steps_phases_and_episodes_add_up(agent):
    learner, seen = agent(phase_length=50), []
    learner.learn(275, callback=seen.append)
    assert [progress.phase for progress in seen] == [1, 2, 3, 4, 5]
    assert [progress.steps for progress in seen] == [50, 100, 150, 200, 250]
    assert (learner.num_steps, learner.num_phases) == (275, 5)
    averages = [progress.average_reward for progress in seen]
    assert seen[-1].overall_reward == pytest.approx(np.mean(averages))
    assert averages == [progress.details.data.rewards.mean() for progress in seen]
    episodes = [episode for progress in seen for episode in progress.episodes]
    assert len(episodes) > 3
    assert sum(episode["length"] for episode in episodes) <= 250
    assert all(episode["terminated"] and episode["return"] <= episode["length"] for episode in episodes)
    learner.learn(25, callback=seen.append)
    assert (seen[-1].phase, seen[-1].steps, learner.num_phases) == (6, 300, 6)


def test_a_callback_stops_learning_with_false_and_nothing_else(agent):
    for answer, steps in ((False, 50), (None, 200), (0, 200)):
        learner = agent()
        learner.learn(200, callback=lambda progress, answer=answer: answer)
        assert learner.num_steps == steps


def test_agents_of_one_seed_learn_the_same_and_others_do_not(agent):
    first, second, other = (agent(seed=seed).learn(120) for seed in (7, 7, 8))
    assert first.simulation.rewards.tolist() == second.simulation.rewards.tolist()
    assert np.array_equal(first.session.state.total, second.session.state.total)
    assert not np.array_equal(first.session.state.total, other.session.state.total)


def test_predictions_follow_the_policy(agent):
    learner = agent("Politex", phase_length=100).learn(100)
    observation = np.array([0.05, 0.0])
    yes = learner.probabilities(observation)[1]
    drawn = [learner.predict(observation) == 4 for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(yes, abs=0.05)
    assert learner.predict(observation, deterministic=True) == (4 if yes > 0.5 else 3)


def test_neither_predictions_nor_evaluations_disturb_learning(agent):
    undisturbed = agent().learn(170)
    disturbed = agent().learn(70)
    for _ in range(5):
        disturbed.predict(np.zeros(2))
        disturbed.predict(np.zeros(2), deterministic=True)
    disturbed.evaluate(30)
    disturbed.evaluate(30, gymnasium.make("little/Box-v0"), deterministic=True)
    disturbed.learn(100)
    assert np.array_equal(disturbed.simulation.rewards, undisturbed.simulation.rewards)
    assert np.array_equal(disturbed.simulation.streams, undisturbed.simulation.streams)
    assert np.array_equal(disturbed.session.state.total, undisturbed.session.state.total)


def test_an_agents_own_environment_is_not_evaluated_in(agent):
    learner = agent().learn(70)
    for env in (learner.env, learner.env.env, learner.env.unwrapped):
        with pytest.raises(InvalidInput, match="another environment"):
            learner.evaluate(30, env)


def test_an_environment_with_other_spaces_is_not_evaluated_in(agent):
    learner = agent().learn(70)
    for env in ("little/Scalar-v0", "MountainCar-v0", "Pendulum-v1"):
        with pytest.raises(InvalidInput, match="the agent learnt with observations"):
            learner.evaluate(30, gymnasium.make(env))


def test_evaluations_repeat_themselves(agent):
    learner = agent("Politex").learn(100)
    first, second, other = (learner.evaluate(300, seed=seed) for seed in (5, 5, 6))
    assert first.rewards.tolist() == second.rewards.tolist()
    assert first.rewards.tolist() != other.rewards.tolist()


def test_a_score_sums_up(agent):
    score = agent().evaluate(400)
    assert score.average_reward == score.rewards.mean()
    assert score.rewards.shape == score.actions.shape == (1, 400)
    assert sum(score.action_shares) == 1.0
    assert score.action_shares[1] == score.actions.mean()
    assert score.long_run == long_run(score.rewards)
    assert score.episode_length == pytest.approx(np.mean(score.lengths))
    assert score.episode_return == pytest.approx(np.mean(score.returns))
    assert 0 < sum(score.lengths) <= 400
    short = agent().evaluate(3)
    assert (short.long_run.half_width, short.episode_length, short.episode_return) == (None, None, None)


def test_the_ending_rule_is_yours_if_you_wrap_the_environment(agent, algorithm):
    assert agent(env="CartPole-v1").env._saved_kwargs == {"ending": "shortfall", "limit": 200}
    assert agent(env="MountainCar-v0", features=Tiles()).env._saved_kwargs == {"ending": 100.0, "limit": None}
    assert agent().env._saved_kwargs == {"ending": "keep", "limit": None}
    env = Continuing(gymnasium.make("CartPole-v1"), -5.0, 30)
    assert aapi.Agent(algorithm("AAPI"), env).env is env


def test_it_stays_yours_under_another_wrapper(algorithm):
    env = RecordEpisodeStatistics(Continuing(gymnasium.make("CartPole-v1"), -5.0, 30))
    rewards = []
    aapi.Agent(algorithm("AAPI", phase_length=300), env).learn(
        300, callback=lambda progress: rewards.extend(progress.details.data.rewards[0].tolist())
    )
    assert set(rewards) == {1.0, -4.0}  # −5 added to 1 where it fell, and no shortfall on top


def test_known_bounds_are_for_the_environments_own_observations(algorithm):
    clipped = TransformObservation(
        gymnasium.make("CartPole-v1"),
        lambda o: np.clip(o, -3.0, 3.0).astype(np.float32),
        spaces.Box(-3.0, 3.0, (4,), np.float32),
    )
    rescaled = RescaleObservation(clipped, np.float32(0.0), np.float32(1.0))
    learner = aapi.Agent(algorithm("AAPI"), rescaled, Fourier(order=1))
    assert learner.space.basis.low.tolist() == [0.0] * 4
    assert learner.space.basis.width.tolist() == [1.0] * 4


def test_a_number_that_never_changes_does_no_harm(algorithm):
    class Still(Broken):
        observation_space = spaces.Tuple((spaces.Discrete(1), spaces.Box(0.0, 1.0, (1,), np.float64)))

        def reset(self, *, seed=None, options=None):
            return (0, np.zeros(1)), {}

        def step(self, action):
            return (0, np.ones(1)), 0.0, False, False, {}

    assert aapi.Agent(algorithm("AAPI"), Still()).learn(60).num_phases == 1


def test_a_wrapper_may_lengthen_the_observation(algorithm):
    env = TimeAwareObservation(gymnasium.make("CartPole-v1"))
    learner = aapi.Agent(algorithm("AAPI"), env, Fourier(order=1, low=-3.0, high=[3.0] * 4 + [500.0]))
    assert learner.learn(60).num_phases == 1


class Broken(gymnasium.Env):
    """Does something wrong in step 130, within the third phase and within an episode."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, what=None):
        self.what, self.time = what, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2), {}

    def step(self, action):
        self.time += 1
        observation, reward = np.zeros(2), 0.0
        if self.what and self.time == 130:
            observation, reward = self.what(observation)
        return observation, reward, self.time % 10 == 5, False, {}


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda o: (o, float("nan")), "step 130: the reward is nan, not a finite number"),
        (lambda o: (o, -np.inf), "step 130: the reward is -inf, not a finite number"),
        (lambda o: (o, None), "step 130: the reward is None, not a finite number"),
        (lambda o: (np.array([0.0, np.nan]), 0.0), "step 130: observation[1] is nan, not a finite number"),
        (lambda o: (np.array([np.inf, -np.inf]), 0.0), "step 130: observation[0] is inf, not a finite number"),
        (lambda o: (np.zeros(3), 0.0), "step 130: "),
        (lambda o: (np.zeros(1), 0.0), "step 130: "),
        (lambda o: (np.float64(0.5), 0.0), "step 130: "),
        (lambda o: ("left", 0.0), "step 130: the observation 'left' cannot be read"),
        (lambda o: _raise(RuntimeError("the motor\nburnt out")), "step 130: the environment raised RuntimeError"),
        (lambda o: _raise(ZeroDivisionError()), "step 130: the environment raised ZeroDivisionError"),
    ],
)
def test_what_goes_wrong_in_the_middle_is_told_with_its_step(algorithm, tmp_path, what, message):
    path = tmp_path / "agent.aapi"
    learner = aapi.Agent(algorithm("AAPI"), Broken(what))
    with pytest.raises(InvalidInput) as caught:
        learner.learn(500, checkpoint=path, checkpoint_every=2)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert learner.saved == (path, 100)
    assert aapi.load(path).num_steps == 100


def test_learning_can_be_interrupted_and_go_on(algorithm, tmp_path):
    learner = aapi.Agent(algorithm("AAPI"), Broken(lambda o: _raise(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        learner.learn(500)
    assert (learner.num_steps, learner.num_phases) == (129, 2)
    learner.save(tmp_path / "agent.aapi")
    learner.learn(71)
    assert (learner.num_steps, learner.num_phases, learner.steps_left) == (200, 4, 50)


@pytest.mark.parametrize("algorithm_name", ["AAPI", "RLSVI"])
def test_an_observation_outside_its_space_is_refused_by_tables(algorithm, algorithm_name):
    class Outside(Broken):
        observation_space = spaces.Discrete(3)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            return 3, 0.0, False, False, {}

    with pytest.raises(InvalidInput, match="the observation 3 is not in its space"):
        aapi.Agent(algorithm(algorithm_name), Outside()).learn(50)


def test_an_environments_own_notes_on_episodes_are_left_alone(algorithm):
    class Chatty(Broken):
        def step(self, action):
            return *super().step(action)[:4], {"episode": "the pilot"}

    seen = []
    aapi.Agent(algorithm("AAPI"), Chatty()).learn(50, callback=seen.append)
    assert [episode["length"] for episode in seen[0].episodes] == [5, 10, 10, 10, 10]


@pytest.mark.parametrize("env", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_continuous_actions_are_refused(agent, env):
    with pytest.raises(InvalidInput, match=r"actions must be Discrete, .* are Box\(.*: discretise them first"):
        agent(env=env)


def test_an_observation_without_bounds_needs_some(algorithm):
    class Unbounded(Broken):
        observation_space = spaces.Box(np.array([-1.0, -np.inf]), np.array([1.0, 5.0]), dtype=np.float64)

    env = Unbounded()
    with pytest.raises(InvalidInput, match=r"observation\[1\] lies in \[-inf, 5\].*give low and high"):
        aapi.Agent(algorithm("AAPI"), env)
    learner = aapi.Agent(algorithm("AAPI"), env, Fourier(order=2, low=-2.0, high=[1.0, 5.0]))
    assert learner.space.basis.low.tolist() == [-2.0, -2.0]
    assert learner.space.basis.width.tolist() == [3.0, 7.0]
    assert aapi.Agent(algorithm("AAPI"), env, signs).learn(60).num_phases == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "CartPole-v1"}, "env must be a Gymnasium environment, not 'CartPole-v1'"),
        ({"features": "fourier"}, "features must be OneHot, Grid, Fourier, Tiles, Radial or a function, not 'fourier'"),
        ({"features": aapi.features.Coordinates()}, "features must be"),
        ({"features": OneHot()}, "one-hot features need countable observations"),
        ({"features": Fourier(order=3, low=0.0, high=0.0)}, "low must be below high"),
        ({"features": Fourier(low=[0.0])}, "low must be a number or 2 numbers"),
        ({"features": lambda observation: 1.0}, "features must return"),
        ({"features": lambda observation: [np.nan]}, "features"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"algorithm": "AAPI"}, "a learner is AAPI"),
        ({"algorithm": aapi.AAPI(phase_length=50, evaluate=aapi.evaluation.ExactQ())}, "use MonteCarlo"),
        ({"algorithm": aapi.AAPI(phase_length=0, evaluate=aapi.evaluation.MonteCarlo(horizon=1))}, "phase_length"),
    ],
)
def test_bad_arguments(algorithm, arguments, message):
    good = {"algorithm": algorithm("AAPI"), "env": gymnasium.make("little/Box-v0")}
    with pytest.raises(InvalidInput, match=message):
        aapi.Agent(**good | arguments).learn(60)


def test_bad_numbers_of_steps(agent):
    learner = agent()
    for steps in (0, -5, 1.5, "many"):
        with pytest.raises(InvalidInput, match="num_steps must be"):
            learner.learn(steps)
        with pytest.raises(InvalidInput, match="num_steps must be"):
            learner.evaluate(steps)


def test_an_environment_without_a_spec_is_evaluated_in_another(algorithm):
    learner = aapi.Agent(algorithm("AAPI"), Broken()).learn(60)
    with pytest.raises(InvalidInput, match=r"give an environment to evaluate in: evaluate\(num_steps, env\)"):
        learner.evaluate(10)
    assert learner.evaluate(10, Broken()).average_reward == 0.0
