"""What an agent is like after something went wrong, and whom it does not trust."""

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.environments import Continuing
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier

ALGORITHM = aapi.AAPI(phase_length=50, eta=0.3, evaluate=MonteCarlo(5))


class Slope(gymnasium.Env):
    """A point that two actions push to and fro; it returns one array again and again. A reward may be bad."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, bad=None):
        self.place, self.steps, self.bad = np.zeros(1), 0, bad

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place[:] = 0.0
        return self.place, {}

    def step(self, action):
        self.steps += 1
        self.place += -0.01 if action == 0 else 0.01
        np.clip(self.place, -1.0, 1.0, out=self.place)
        return self.place, float("nan") if self.steps == self.bad else float(self.place[0]), False, False, {}


class Large(Slope):
    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, 1e306, *rest


class Failing:
    """Fails once, in phase 3, after half of its work."""

    def __init__(self, error):
        self.error, self.calls = error, 0

    def __call__(self, policy, seen):
        self.calls += 1
        if self.calls == 3:
            seen.data.streams[:] += np.uint64(1)
            raise self.error
        return MonteCarlo(5)(policy, seen)


def cartpole():
    return gymnasium.make("CartPole-v1")


@pytest.mark.parametrize("features", [Fourier(1), lambda observation: observation], ids=["fourier", "own"])
def test_an_environment_may_use_its_array_again(features):
    agent = aapi.Agent(ALGORITHM, Slope(), features).learn(40)
    assert np.abs(np.diff(agent.simulation.states[0, :40, 0])) == pytest.approx(np.full(39, 0.01))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InvalidInput("singular")])
def test_an_evaluation_that_fails_leaves_an_agent_that_goes_on_and_can_be_saved(tmp_path, error):
    def algorithm(evaluate):
        return aapi.AAPI(phase_length=50, eta=0.3, evaluate=evaluate)

    whole = aapi.Agent(algorithm(MonteCarlo(5)), cartpole(), Fourier(1)).learn(300)
    agent = aapi.Agent(algorithm(Failing(error)), cartpole(), Fourier(1))
    with pytest.raises(type(error)):
        agent.learn(300)
    assert (agent.num_steps, agent.num_phases) == (150, 2)
    agent.save(tmp_path / "a.aapi")
    loaded = aapi.load(tmp_path / "a.aapi", cartpole(), algorithm=algorithm(MonteCarlo(5)))
    for survivor in (agent, loaded):
        survivor.learn(150)
        assert (survivor.policy.index == whole.policy.index).all()
        assert (survivor.simulation.streams == whole.simulation.streams).all()


def test_a_bad_reward_is_not_kept(tmp_path):
    agent = aapi.Agent(ALGORITHM, Slope(bad=130), Fourier(1))
    with pytest.raises(InvalidInput, match="step 130: the reward is nan"):
        agent.learn(500)
    assert (agent.num_steps, agent.num_phases) == (129, 2)
    agent.learn(200)
    assert np.isfinite(agent.policy.index).all()
    agent.save(tmp_path / "a.aapi")
    assert aapi.load(tmp_path / "a.aapi").num_steps == 329


def test_an_agent_goes_on_with_the_ending_rule_it_began_with(tmp_path):
    path = tmp_path / "a.aapi"
    aapi.Agent(ALGORITHM, Continuing(cartpole(), "shortfall", 200), Fourier(1)).learn(60).save(path)
    assert aapi.load(path, cartpole()).env.rule == {"ending": "shortfall", "limit": 200}
    with pytest.raises(InvalidInput, match="it learnt with ending 'shortfall' and limit 200, and this environment has"):
        aapi.load(path, Continuing(cartpole(), "keep"))
    own = Continuing(cartpole(), lambda h, reward, terminated: -float(h))
    aapi.Agent(ALGORITHM, own, Fourier(1)).learn(60).save(path)
    with pytest.raises(InvalidInput, match="ending rule of your own"):
        aapi.load(path, cartpole())


def test_a_draw_that_is_not_finite_is_refused():
    agent = aapi.Agent(aapi.RLSVI(phase_length=50, horizon=40, form="finite-horizon"), Large(), Fourier(1))
    with pytest.raises(InvalidInput, match="no longer finite"):
        agent.learn(50)
