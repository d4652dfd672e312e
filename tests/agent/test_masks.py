"""Actions that an environment forbids by `action_mask`: never taken, in learning or prediction."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import aapi
from aapi.environments import Continuing, garnet
from aapi.errors import InvalidInput
from aapi.evaluation import LSTD
from aapi.features import Fourier
from aapi.learners import (
    IMEDRL,
    KLUCRL,
    OOMD,
    PSRL,
    RLSVI,
    RMAX,
    RVIQ,
    SCAL,
    UCRL2B,
    DifferentialQ,
    DifferentialSarsa,
    GreedyAPI,
    OptimisticGrid,
    OptimisticQ,
    Uniform,
)  # fmt: skip
from aapi.mdp import FiniteMDP, solve

RANGE = {"reward_low": 0.0, "reward_high": 2.0}
TABLES = [
    aapi.AAPI(), DifferentialSarsa(), OptimisticQ(**RANGE, total_steps=400), PSRL(**RANGE), UCRL2B(**RANGE),
    RLSVI(phase_length=60, horizon=5),
]  # fmt: skip
MORE_TABLES = [
    aapi.AAPI(phase_length=60), Uniform(), DifferentialQ(), RVIQ(), IMEDRL(**RANGE), RMAX(**RANGE),
    KLUCRL(**RANGE, total_steps=400), SCAL(**RANGE, span=5.0), OOMD(phase_length=60),
]  # fmt: skip
VECTORS = [
    (aapi.AAPI(), None), (aapi.AAPI(), Fourier(order=1)), (DifferentialSarsa(), Fourier(order=1)),
    (GreedyAPI(phase_length=60, evaluate=LSTD(reuse="window")), Fourier(order=1)),
    (OptimisticGrid(phase_length=50), None),
    (RLSVI(phase_length=60, horizon=5), Fourier(order=1)),
]  # fmt: skip


class Guarded(gymnasium.Env):
    """A walk over states with forbidden actions: to take one is an error. Each 20th step ends an episode."""

    def __init__(self, masks, vectors=False):
        self.masks, self.vectors = np.asarray(masks, dtype=np.int8), vectors
        states, actions = self.masks.shape
        self.action_space = spaces.Discrete(actions, start=3)
        self.observation_space = spaces.Box(0.0, 1.0, (2,)) if vectors else spaces.Discrete(states)

    def _shown(self):
        share = self.state / len(self.masks)
        shown = np.array([share, 1.0 - share], dtype=np.float32) if self.vectors else self.state
        return shown, {"action_mask": self.masks[self.state]}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = int(self.np_random.integers(len(self.masks))), 0
        return self._shown()

    def step(self, action):
        assert self.masks[self.state, action - 3], f"forbidden in {self.state}"
        reward = float(self.state == 0) * (action - 3)
        self.steps += 1
        self.state = int(self.np_random.integers(len(self.masks))) if action % 2 else (self.state + 1) % len(self.masks)
        observation, info = self._shown()
        return observation, reward, False, self.steps == 20, info


def some_masks(seed, states=5, actions=3):
    generator = np.random.default_rng(seed)
    masks = generator.random((states, actions)) < 0.5
    masks[np.arange(states), generator.integers(actions, size=states)] = True
    return masks


masks_drawn = st.integers(0, 10_000).map(some_masks)


@pytest.mark.parametrize(
    "algorithm",
    [*TABLES, *(pytest.param(each, marks=pytest.mark.slow) for each in MORE_TABLES)],
    ids=lambda each: repr(each)[:24],
)
@settings(max_examples=3)
@given(masks=masks_drawn)
def test_tables_never_take_a_forbidden_action(algorithm, masks):
    agent = aapi.Agent(algorithm, Guarded(masks)).learn(400)
    assert (agent.policy[0][~masks] == 0.0).all()
    assert agent.policy[0].sum(axis=1) == pytest.approx(1.0)
    for x, allowed in enumerate(masks):
        assert allowed[agent.predict(x) - 3]
        assert allowed[agent.predict(x, deterministic=True) - 3]
    assert agent.evaluate(100, Guarded(masks)).actions.size == 100


@pytest.mark.parametrize(("algorithm", "features"), VECTORS, ids=lambda each: repr(each)[:24])
@settings(max_examples=2)
@given(masks=masks_drawn)
def test_vectors_never_lead_to_a_forbidden_action(algorithm, features, masks):
    env = Guarded(masks, vectors=True)
    agent = aapi.Agent(algorithm, env, features).learn(400)
    for x, allowed in enumerate(masks):
        env.state = x
        observation = env._shown()[0]
        assert allowed[agent.predict(observation, mask=allowed) - 3]
        assert allowed[agent.predict(observation, True, mask=allowed) - 3]
        assert (agent.probabilities(observation, mask=allowed)[~allowed] == 0.0).all()


class Whole(SyncVectorEnv):
    """A vector environment that is not taken apart."""


@pytest.mark.parametrize(
    ("kind", "arguments"), [(SyncVectorEnv, {}), (Whole, {}), (Whole, {"autoreset_mode": AutoresetMode.SAME_STEP})]
)
@pytest.mark.parametrize("wrap", [Continuing, lambda env: env], ids=["continuing", "plain"])
@pytest.mark.parametrize("algorithm", [aapi.AAPI(), DifferentialSarsa()], ids=["aapi", "sarsa"])
def test_copies_never_take_a_forbidden_action(kind, arguments, wrap, algorithm):
    masks = some_masks(3)
    agent = aapi.Agent(algorithm, kind([lambda: wrap(Guarded(masks))] * 3, **arguments)).learn(900)
    assert (agent.policy[0][~masks] == 0.0).all()


def test_what_is_allowed_in_a_model_is_learnt_and_not_more():
    masks = some_masks(1, 6, 4)
    model = garnet(6, 4, 3, seed=2)
    restricted = FiniteMDP(model.transitions, model.rewards, allowed=masks)
    env = gymnasium.make("aapi/FiniteMDP-v0", model=restricted)
    agent = aapi.Agent(aapi.AAPI(), env).learn(20_000)
    gain = restricted.as_allowed(agent.policy[0])
    assert (gain == agent.policy[0]).all()
    assert aapi.mdp.policy_values(model, agent.policy[0]).gain == pytest.approx(solve(restricted).gain, rel=0.02)


def test_a_saved_agent_remembers_masks_and_goes_on_to_the_same_bits(tmp_path):
    masks = some_masks(5)
    whole = aapi.Agent(aapi.AAPI(), Guarded(masks)).learn(1200)
    aapi.Agent(aapi.AAPI(), Guarded(masks)).learn(507).save(tmp_path / "a.aapi")
    without = aapi.load(tmp_path / "a.aapi")
    assert all(masks[x, without.predict(x) - 3] for x in range(5) for _ in range(20))
    resumed = aapi.load(tmp_path / "a.aapi", env=Guarded(masks)).learn(1200 - 507)
    assert (resumed.policy == whole.policy).all()
    assert resumed.total_reward == whole.total_reward


def test_a_mask_that_changes_in_one_state_is_obeyed_and_said():
    class Fickle(Guarded):
        def _shown(self):
            self.masks = some_masks(self.steps % 7)
            return super()._shown()

        def reset(self, *, seed=None, options=None):
            self.steps = 0
            return super().reset(seed=seed)

    with pytest.warns(UserWarning, match="what is allowed changed in one state"):
        agent = aapi.Agent(aapi.AAPI(), Fickle(some_masks(0))).learn(600)
    assert agent.num_steps == 600


@pytest.mark.parametrize(
    ("mask", "message"),
    [([0, 0, 0], "forbids every action"), ([1, 1], "for each of 3 actions"), (["a", "b", "c"], "must hold 1 or 0")],
)
def test_wrong_masks_are_said(mask, message):
    agent = aapi.Agent(aapi.AAPI(), Guarded(some_masks(0)))
    with pytest.raises(InvalidInput, match=message):
        agent.predict(0, mask=mask)

    class Wrong(Guarded):
        def _shown(self):
            return super()._shown()[0], {"action_mask": np.asarray(mask)}

    with pytest.raises(InvalidInput, match=message):
        aapi.Agent(aapi.AAPI(), Wrong(some_masks(0))).learn(10)
