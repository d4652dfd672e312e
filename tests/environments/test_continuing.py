import json
import time

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from aapi.environments.continuing import Continuing
from aapi.errors import InvalidInput

TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
RESUMED = ["CartPole-v1", "FrozenLake-v1", TAXI, "aapi/DeepSea-v0", "aapi/CartPole-v0", "aapi/Ergodic-v0"]


class Corridor(gymnasium.Env):
    """Four steps to the end, each of which pays 2; the start is drawn. Action 1 stays where it is and pays 0."""

    observation_space = spaces.Discrete(100)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.options = options
        self.place, self.draw = 0, int(self.np_random.integers(10))
        return self.place + 10 * self.draw, {}

    def step(self, action):
        if action == 1:
            return self.place + 10 * self.draw, 0.0, False, False, {"stayed": True}
        self.place += 1
        return self.place + 10 * self.draw, 2.0, self.place == 4, False, {"place": self.place}


class Wild(Corridor):
    """Randomness that no seed settles."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.draw = time.perf_counter_ns() % 10**9
        return self.draw, {}


class Boxes(gymnasium.Env):
    """Actions and observations with parts."""

    def __init__(self, action_space):
        self.action_space = action_space
        self.observation_space = spaces.Dict(
            {"sum": spaces.Box(-1e9, 1e9, (2,), np.float64), "pair": spaces.Tuple([spaces.Discrete(5), spaces.Text(9)])}
        )

    def _seen(self):
        return {"sum": self.total.copy(), "pair": (self.count % 5, str(self.count % 7))}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.total, self.count = self.np_random.random(2), 0
        return self._seen(), {}

    def step(self, action):
        self.total = self.total * 0.9 + np.sum(np.asarray(action) * np.float32(0.1)) + self.np_random.normal()
        self.count += 1
        return self._seen(), np.float32(self.total[0]), self.np_random.random() < 0.01, False, {}


def walk(env, actions):
    return [env.step(action) for action in actions]


def through_json(snapshot):
    """A snapshot as a file would bring it back."""
    plain = {key: value for key, value in snapshot.items() if key != "actions"}
    back = json.loads(json.dumps(plain))
    if "actions" in snapshot:
        assert snapshot["actions"].dtype.kind in "iu"
        back["actions"] = snapshot["actions"].copy()
    return back


def same_random_state(one, other):
    return one.unwrapped.np_random.bit_generator.state == other.unwrapped.np_random.bit_generator.state


def test_the_next_episode_starts_in_the_last_step_of_one():
    env, plain = Continuing(Corridor()), Corridor()
    first, _ = env.reset(seed=1)
    assert first == plain.reset(seed=1)[0]
    steps = walk(env, [0, 1, 0, 0, 0])
    starts = 10 * plain.draw
    assert [step[:4] for step in steps[:4]] == [
        (starts + 1, 2.0, False, False),
        (starts + 1, 0.0, False, False),
        (starts + 2, 2.0, False, False),
        (starts + 3, 2.0, False, False),
    ]
    fresh, _ = plain.reset()
    assert steps[4] == (
        fresh, 2.0, False, False,
        {"place": 4, "ended": {"length": 5, "return": 8.0, "terminated": True}},
    )  # fmt: skip
    assert fresh != starts  # or else it could have been the same episode
    assert env.step(0)[:2] == (fresh + 1, 2.0)


@pytest.mark.parametrize(
    ("ending", "terminated", "cut_off"),
    [
        ("keep", 2.0, 0.0),
        ("shortfall", 4.0 - 6.0, 6.0 - 6.0),
        (-5.0, 2.0 - 5.0, 0.0),
        (3, 2.0 + 3.0, 0.0),
        (np.float64(0.5), 2.5, 0.0),
        (lambda length, reward, terminated: 100 * length + 10 * reward + terminated, 421.0, 600.0),
    ],
)
def test_the_reward_of_the_last_step(ending, terminated, cut_off):
    env = Continuing(Corridor(), ending, limit=6)
    env.reset(seed=0)
    steps = walk(env, [0] * 4 + [1] * 6 + [0])
    assert [step[1] for step in steps] == [2.0] * 3 + [terminated] + [0.0] * 5 + [cut_off] + [2.0]
    assert [type(steps[i][1]) for i in (3, 9)] == [float, float]
    assert [step[4].get("ended") for step in steps] == [
        *[None] * 3,
        {"length": 4, "return": 8.0, "terminated": True},
        *[None] * 5,
        {"length": 6, "return": 0.0, "terminated": False},
        None,
    ]


def test_the_shortfall_of_an_environment_with_a_time_limit_of_its_own():
    env = Continuing(gymnasium.make("CartPole-v1", max_episode_steps=30), "shortfall")
    env.reset(seed=0)
    rewards = [env.step(1)[1] for _ in range(30)]
    fallen = next(i for i, reward in enumerate(rewards) if reward != 1.0)
    assert rewards[fallen] == fallen + 1 - 30
    # A player who does not fall in time loses nothing but the reward of the last step.
    lasting = Continuing(gymnasium.make("CartPole-v1", max_episode_steps=5), "shortfall")
    lasting.reset(seed=0)
    assert [lasting.step(i % 2)[1] for i in range(6)] == [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]


def test_it_is_the_cartpole_of_the_paper():
    """Gymnasium's CartPole with the paper's angle and rule is aapi/CartPole-v0, to the rounding of the physics."""
    theirs = gymnasium.make("CartPole-v1", max_episode_steps=200)
    theirs.unwrapped.theta_threshold_radians = np.radians(15.0)
    env, ours = Continuing(theirs, "shortfall"), gymnasium.make("aapi/CartPole-v0").unwrapped
    env.reset(seed=0)
    ours.set_state([*env.unwrapped.state.tolist(), 0, 1, 2, 3, 4])
    random = np.random.default_rng(0)
    ends = 0
    for _ in range(3000):
        state = env.unwrapped.state
        action = int(state[2] + 0.4 * state[3] + random.normal(scale=0.25) > 0)
        _, reward, _, _, info = env.step(action)
        assert ours.step(action)[1] == reward
        if "ended" in info:  # both start anew, from different draws
            ends += 1
            ours.set_state([*env.unwrapped.state.tolist(), 0, 1, 2, 3, 4])
    assert ends > 10


def test_reset_starts_a_new_episode_and_passes_its_arguments_on():
    env = Continuing(Corridor(), limit=6)
    env.reset(seed=0)
    walk(env, [0, 0, 0])
    one, _ = env.reset(seed=7, options={"a": 1})
    assert env.unwrapped.options == {"a": 1}
    assert one == Corridor().reset(seed=7)[0]
    assert "ended" not in env.step(0)[4]
    assert walk(env, [0] * 3)[-1][4]["ended"]["length"] == 4


@pytest.mark.parametrize("ending", ["keep", "shortfall", -1.5])
def test_it_can_be_made_again_from_its_spec(ending):
    env = Continuing(gymnasium.make("CartPole-v1"), ending, limit=np.int64(20))
    spec = env.spec
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(spec.to_json()))
    assert isinstance(again, Continuing)
    assert again.spec == spec
    assert spec.additional_wrappers[-1].kwargs == {"ending": ending, "limit": 20}
    env.reset(seed=4)
    again.reset(seed=4)
    assert repr(walk(env, [0, 1] * 60)) == repr(walk(again, [0, 1] * 60))


def test_a_function_is_recorded_too():
    env = Continuing(gymnasium.make("CartPole-v1"), lambda length, reward, terminated: 7.0)
    again = gymnasium.make(env.spec)
    again.reset(seed=0)
    assert 7.0 in [again.step(0)[1] for _ in range(20)]


def test_the_passive_checker_is_content():
    env = Continuing(Corridor())
    env.reset(seed=0)
    checked = gymnasium.wrappers.PassiveEnvChecker(env)
    checked.reset(seed=0)
    walk(checked, [0] * 20)


@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.parametrize("episodes", ["the first, seeded", "a later one"])
@pytest.mark.parametrize("limited", [False, True])
def test_an_environment_resumes_to_the_bit(name, episodes, limited):
    def make():
        env = gymnasium.make(name, max_episode_steps=40) if limited else gymnasium.make(name)
        return Continuing(env, "shortfall", limit=None if limited else 300)

    env, fresh = make(), make()
    choices = np.random.default_rng(0).integers(env.action_space.n, size=900).tolist()
    env.reset(seed=12)
    steps = 3 if episodes == "the first, seeded" else 350
    ends = sum("ended" in step[4] for step in walk(env, choices[:steps]))
    assert (ends > 0) == (steps == 350)
    snapshot = env.snapshot()
    back = through_json(snapshot)
    fresh.reset(seed=99)
    walk(fresh, choices[:7])
    fresh.restore(back)
    assert same_random_state(env, fresh)
    assert through_json(fresh.snapshot()).keys() == back.keys()
    assert all(np.array_equal(fresh.snapshot()[key], back[key]) for key in back)
    never_reset = make()
    never_reset.restore(back)
    expected = repr(walk(env, choices[400:]))
    assert "ended" in expected
    assert repr(walk(fresh, choices[400:])) == expected
    assert repr(walk(never_reset, choices[400:])) == expected
    assert same_random_state(env, fresh)
    assert same_random_state(env, never_reset)


@pytest.mark.parametrize("name", ["aapi/DeepSea-v0", "aapi/CartPole-v0", "aapi/Ergodic-v0"])
def test_what_never_ends_is_not_logged(name):
    env = Continuing(gymnasium.make(name))
    env.reset(seed=0)
    walk(env, [1] * 1000)
    assert set(env.snapshot()) == {"length", "return", "state", "random"}
    assert env.snapshot()["length"] == 1000


def test_a_wrapper_that_remembers_is_replayed():
    def make():
        limited = gymnasium.make("aapi/DeepSea-v0", size=4, max_episode_steps=50)
        return Continuing(gymnasium.wrappers.TimeAwareObservation(limited))

    env, fresh = make(), make()
    env.reset(seed=0)
    walk(env, [0, 1] * 40)
    snapshot = through_json(env.snapshot())
    assert snapshot["actions"].tolist() == [0, 1] * 15
    fresh.restore(snapshot)
    assert repr(walk(fresh, [1] * 60)) == repr(walk(env, [1] * 60))


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1, 1, (3,), np.float32),
        spaces.MultiBinary(4),
        spaces.MultiDiscrete([3, 4]),
        spaces.Discrete(3, start=-1),
    ],
    ids=str,
)
def test_actions_and_observations_of_all_kinds(space):
    env, fresh = Continuing(Boxes(space)), Continuing(Boxes(space))
    space.seed(3)
    env.reset(seed=1, options={"x": [1, 2]})
    for _ in range(4):
        env.step(space.sample())
    fresh.restore(through_json(env.snapshot()))
    actions = [space.sample() for _ in range(500)]
    assert repr(walk(env, actions)) == repr(walk(fresh, actions))
    fresh.restore(through_json(env.snapshot()))
    assert repr(walk(env, actions)) == repr(walk(fresh, actions))


def test_actions_in_a_finer_precision_than_the_space_has_are_replayed_as_they_were():
    space = spaces.Box(-1, 1, (3,), np.float32)
    env, fresh = Continuing(Boxes(space)), Continuing(Boxes(space))
    env.reset(seed=1)
    walk(env, list(np.random.default_rng(0).random((5, 3))))
    fresh.restore(env.snapshot())
    assert repr(fresh.step(np.ones(3))) == repr(env.step(np.ones(3)))


def test_randomness_from_elsewhere_is_noticed():
    env = Continuing(Wild())
    env.reset(seed=0)
    walk(env, [0, 0])
    with pytest.raises(InvalidInput) as error:
        Continuing(Wild()).restore(env.snapshot())
    assert str(error.value) == (
        "the environment did not come back to the state of the snapshot: the same actions led elsewhere; "
        "is all its randomness from np_random?"
    )


def test_a_replay_that_ends_is_noticed():
    env = Continuing(gymnasium.make("CartPole-v1"))
    env.reset(seed=0)
    walk(env, [0, 1] * 8)
    snapshot = env.snapshot()
    snapshot["actions"] = np.ones(60, dtype=np.int64)
    with pytest.raises(InvalidInput, match="a snapshot of 16 steps cannot have 60 actions"):
        env.restore(snapshot)
    snapshot["length"] = 60
    with pytest.raises(InvalidInput, match="it ended an episode"):
        env.restore(snapshot)


def test_observations_are_told_apart():
    from aapi.environments.continuing import _fingerprint

    different = [
        0, 0.0, False, "0", None, (), {}, (0,), ((0,),), {"a": 0}, {"b": 0}, {"a": 0, "b": 0}, (0, 0), "00",
        np.zeros(2), np.zeros(2, dtype=np.float32), np.zeros((2, 1)), np.zeros((1, 2)), np.array([0.0, -0.0]),
        np.float64(0.0), (np.zeros(1), np.zeros(1)), np.array([0.0, np.nextafter(0.0, 1.0)]),
    ]  # fmt: skip
    assert len({_fingerprint(value) for value in different}) == len(different)
    assert _fingerprint({"a": 1, "b": 2}) == _fingerprint({"b": 2, "a": 1})
    assert _fingerprint(np.arange(6).reshape(2, 3).T) == _fingerprint(np.arange(6).reshape(2, 3).T.copy())
    with pytest.raises(InvalidInput, match="observations of type set cannot be compared"):
        _fingerprint({1, 2})


@pytest.mark.parametrize("ending", ["kept", float("nan"), float("inf"), None, True, np.zeros(2), ["keep"]])
def test_bad_endings(ending):
    with pytest.raises(InvalidInput) as error:
        Continuing(Corridor(), ending)
    assert str(error.value) == (
        "ending must be keep or shortfall, a finite number, or a function of (length, reward, terminated), "
        f"not {ending!r}"
    )


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (0, "limit must be at least 1, not 0"),
        (2.5, "limit must be a whole number, not 2.5"),
    ],
)
def test_bad_limits(limit, message):
    with pytest.raises(InvalidInput) as error:
        Continuing(Corridor(), limit=limit)
    assert str(error.value) == message


def test_a_shortfall_needs_a_limit():
    for env in (Corridor(), gymnasium.make("aapi/DeepSea-v0"), gymnasium.make("CartPole-v1", max_episode_steps=-1)):
        with pytest.raises(InvalidInput) as error:
            Continuing(env, "shortfall")
        assert str(error.value) == 'ending "shortfall" needs a limit (--limit): the environment has no time limit'


@pytest.mark.parametrize("given", [float("nan"), None, "1"])
def test_a_function_must_return_a_number(given):
    env = Continuing(Corridor(), lambda length, reward, terminated: given)
    env.reset(seed=0)
    with pytest.raises(InvalidInput) as error:
        walk(env, [0] * 4)
    assert str(error.value) == f"ending must return a finite number, not {given!r}"


def test_bad_snapshots():
    env = Continuing(Corridor())
    with pytest.raises(InvalidInput, match=r"nothing to take a snapshot of before reset\(\)"):
        env.snapshot()
    env.reset(seed=0)
    for wrong in ({}, None, {"length": 0, "return": 0.0, "state": [1], "random": {}}):
        with pytest.raises(InvalidInput, match="a snapshot of this environment has actions, begun, kind, length, obs"):
            env.restore(wrong)
    env.reset(options={"f": print})
    with pytest.raises(InvalidInput, match=r"the environment's options of reset\(\) cannot be saved"):
        env.snapshot()
    env.reset()
    snapshot = env.snapshot()
    snapshot["begun"]["random"] = {"bit_generator": "MT19937"}
    with pytest.raises(InvalidInput) as error:
        env.restore(snapshot)
    assert str(error.value) == "the snapshot's random state is not one of the environment's PCG64"
    nested = Continuing(Boxes(spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])))
    nested.reset(seed=0)
    nested.step((0, 1))
    with pytest.raises(InvalidInput, match="cannot be saved; flatten the action space first"):
        nested.snapshot()
