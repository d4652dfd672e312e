import importlib
import json
import math
import warnings

import gymnasium
import numpy as np
import processes
import pytest
from gymnasium.utils.env_checker import check_env

from aapi.environments import drawing, garnet, river_swim
from aapi.environments.gymnasium import MAX_SPEED, MAX_TURN, CartPoleEnv, FiniteMDPEnv
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, policy_values
from aapi.registration import ENVIRONMENTS, register

PARTLY = FiniteMDP([[[0, 0.5, 0, 0.5, 0]], *[[[1, 0, 0, 0, 0]]] * 4], [[1], [2], [3], [4], [5]])
STREAM = [1, 2, 3, 2**64 - 1]


class Dice:
    """A generator that always draws the same number."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number


def make(name, **arguments):
    if name == "aapi/FiniteMDP-v0":
        arguments.setdefault("model", river_swim())
    return gymnasium.make(name, **arguments)


def play(env, steps, seed):
    """Everything that random actions see."""
    env.action_space.seed(seed)
    seen = [env.reset(seed=seed)]
    seen += [env.step(env.action_space.sample()) for _ in range(steps)]
    return repr(seen)


def test_the_ids():
    assert sorted(name for name in gymnasium.registry if name.startswith("aapi/")) == [
        "aapi/AccessControl-v0",
        "aapi/CartPole-v0",
        "aapi/Catch-v0",
        "aapi/CrissCross-v0",
        "aapi/DancingCatch-v0",
        "aapi/DeepSea-v0",
        "aapi/Ergodic-v0",
        "aapi/FiniteMDP-v0",
        "aapi/NModel-v0",
        "aapi/Pendulum-v0",
        "aapi/PuckWorld-v0",
        "aapi/RiverSwim-v0",
        "aapi/Routing-v0",
        "aapi/SixClass-v0",
        "aapi/SwappedCatch-v0",
        "aapi/TandemQueue-v0",
        "aapi/Taxi-v0",
        "aapi/WindyCatch-v0",
    ]


def test_registering_twice_changes_nothing(monkeypatch):
    from gymnasium.envs import registration as gymnasium_registration

    monkeypatch.setattr(gymnasium_registration, "registry", {})
    register()
    assert set(gymnasium_registration.registry) == set(ENVIRONMENTS)
    register()  # a warning would be an error
    assert set(gymnasium_registration.registry) == set(ENVIRONMENTS)


def test_registration_loads_nothing_heavy():
    code = "import aapi, sys; print([name for name in ('scipy', 'numba', 'rich', 'pygame') if name in sys.modules])"
    assert processes.python("-W", "error", "-c", code, check=True).stdout == "[]\n"


def test_an_id_can_name_the_module_that_registers_it():
    assert gymnasium.make("aapi:aapi/DeepSea-v0", size=3).observation_space.n == 9


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_the_checker_of_gymnasium_is_content(name, mode):
    env = make(name, render_mode=mode)
    check_env(env.unwrapped)
    env.reset(seed=0)
    for _ in range(3):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        assert (terminated, truncated, info) == (False, False, {})
    if mode:
        env.render()
    env.close()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_seed_settles_everything(name):
    assert play(make(name), 300, seed=5) == play(make(name), 300, seed=5)
    if name != "aapi/DeepSea-v0":  # where nothing is random but the actions
        assert play(make(name), 300, seed=5) != play(make(name), 300, seed=6)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_time_limit_can_be_put_on_top(name):
    env = make(name, max_episode_steps=50)
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(50)]
    assert ends == [(False, False)] * 49 + [(False, True)]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_vectors_of_environments(name):
    arguments = {"model": river_swim()} if name == "aapi/FiniteMDP-v0" else {}
    envs = gymnasium.make_vec(name, num_envs=3, vectorization_mode="sync", **arguments)
    check_vector(envs, name, arguments)


@pytest.mark.slow
def test_vectors_in_processes_of_their_own():
    name = "aapi/CartPole-v0"
    # Spawned, since newer Pythons warn about forks of a process with threads.
    envs = gymnasium.make_vec(name, num_envs=3, vectorization_mode="async", vector_kwargs={"context": "spawn"})
    check_vector(envs, name, {})


def check_vector(envs, name, arguments):
    single = make(name, **arguments)
    seen, _ = envs.reset(seed=[7, 8, 9])
    expected, _ = single.reset(seed=8)
    for action in (0, 1, 1, 0, 1):
        assert np.array_equal(seen[1], expected)
        seen, rewards, *_ = envs.step(np.array([1, action, 0]))
        expected, reward, *_ = single.step(action)
        assert rewards[1] == reward
    envs.close()


def test_sizes_are_those_asked_for():
    sizes = {
        ("Ergodic", ()): (10, 2),
        ("Ergodic", (("num_states", 7), ("num_actions", 3))): (7, 3),
        ("DeepSea", ()): (100, 2),
        ("DeepSea", (("size", 4),)): (16, 2),
        ("RiverSwim", ()): (6, 2),
        ("RiverSwim", (("num_states", 12),)): (12, 2),
        ("AccessControl", ()): (44, 2),
        ("AccessControl", (("num_servers", 3),)): (16, 2),
    }
    for (name, arguments), (states, actions) in sizes.items():
        env = gymnasium.make(f"aapi/{name}-v0", **dict(arguments))
        assert (env.observation_space.n, env.action_space.n) == (states, actions)


def test_a_model_from_a_file_and_a_spec_that_is_json(tmp_path):
    path = tmp_path / "model.npz"
    PARTLY.save(path)
    env = gymnasium.make("aapi/FiniteMDP-v0", model=path)
    assert json.loads(env.spec.to_json())["kwargs"] == {"model": str(path)}
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert play(again, 50, seed=1) == play(env, 50, seed=1)
    sized = gymnasium.make("aapi/DeepSea-v0", size=np.int64(4))
    assert json.loads(sized.spec.to_json())["kwargs"] == {"size": 4}


def test_deep_sea_step_by_step():
    env = make("aapi/DeepSea-v0", size=2)
    assert env.reset(seed=0) == (0, {})
    assert env.step(1) == (3, 3.0, False, False, {})
    assert env.step(np.int64(0)) == (0, 0.0, False, False, {})
    assert env.step(np.array(0)) == (2, 0.0, False, False, {})


@pytest.mark.parametrize("number", [0.0, 0.25, 0.5 - 2**-54, 0.5, 0.75, 1.0 - 2**-53])
def test_a_successor_of_probability_zero_is_never_drawn(number):
    env = FiniteMDPEnv(PARTLY)
    env.reset(seed=0)
    env.np_random = Dice(number)
    assert env.step(0)[0] == (1 if number < 0.5 else 3)


def test_rounded_sums_lead_nowhere_else():
    # Ten times 0.1 adds up to less than 1 in floating point; a draw may lie in between.
    mdp = FiniteMDP(np.tile([0.1] * 10 + [0.0], (11, 1, 1)), np.zeros((11, 1)))
    env = FiniteMDPEnv(mdp)
    env.reset(seed=0)
    env.np_random = Dice(1.0 - 2**-53)
    assert sum([0.1] * 10) == 1.0 - 2**-53
    assert env.step(0)[0] == 9


@pytest.mark.parametrize("sparse", [True, False])
def test_successors_are_as_frequent_as_the_model_says(sparse):
    mdp = garnet(40, 2, 4, seed=3) if sparse else garnet(6, 2, 4, seed=3)
    assert mdp.is_sparse == sparse
    env = FiniteMDPEnv(mdp)
    env.reset(seed=11)
    draws = 20_000
    for state, action in ((0, 0), (3, 1)):
        counts = np.zeros(mdp.num_states)
        for _ in range(draws):
            env.set_state([state])
            successor, reward, *_ = env.step(action)
            counts[successor] += 1
            assert reward == mdp.rewards[state, action]
        row, _ = mdp.pairs(np.array([state]), np.array([action]))
        chances = row.toarray()[0] if sparse else row[0]
        assert (counts[chances == 0] == 0).all()
        errors = (counts - draws * chances) / np.sqrt(np.maximum(draws * chances * (1 - chances), 1e-9))
        assert abs(errors).max() < 5


@pytest.mark.parametrize(("name", "margin"), [("Ergodic", 0.012), ("RiverSwim", 0.03), ("AccessControl", 0.12)])
def test_long_run_averages_are_gains(name, margin):
    env = gymnasium.make(f"aapi/{name}-v0").unwrapped
    policy = np.arange(env.model.num_states) * 7 // 3 % 2 if name != "RiverSwim" else np.ones(6, dtype=int)
    actions = policy.tolist()
    state, _ = env.reset(seed=2)
    total = 0.0
    for _ in range(60_000):
        state, reward, *_ = env.step(actions[state])
        total += reward
    gain = policy_values(env.model, policy).gain
    assert gain > 4 * margin  # or else the next line would say little
    assert total / 60_000 == pytest.approx(gain, abs=margin)


def test_large_sparse_models():
    mdp = garnet(100_000, 2, 3)
    env = FiniteMDPEnv(mdp, render_mode="rgb_array")
    state, _ = env.reset(seed=0)
    for _ in range(2000):
        row = 2 * state + 1
        possible = mdp.transitions.indices[mdp.transitions.indptr[row] : mdp.transitions.indptr[row + 1]]
        state, *_ = env.step(1)
        assert state in possible
    assert max(env.render().shape) <= 512


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_state_goes_through_json_and_comes_back(name):
    env, other = make(name).unwrapped, make(name).unwrapped
    env.reset(seed=3)
    for _ in range(37):
        env.step(1)
    other.set_state(json.loads(json.dumps(env.get_state())))
    other.np_random.bit_generator.state = env.np_random.bit_generator.state
    actions = np.random.default_rng(0).integers(2, size=500).tolist()
    assert repr([env.step(action) for action in actions]) == repr([other.step(action) for action in actions])
    assert env.get_state() == other.get_state()


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("action", [9999, -1, 0.0, None, "left", [0]])
def test_bad_actions(name, action):
    env = make(name)
    env.reset(seed=0)
    with pytest.raises(InvalidInput) as error:
        env.unwrapped.step(action)
    assert str(error.value) == f"an action is a whole number in 0..{env.action_space.n - 1}, not {action!r}"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_nothing_works_before_reset(name):
    env = make(name).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.get_state()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("DeepSea", {"size": 1}, "size must be at least 2, not 1"),
        ("Ergodic", {"num_states": 2}, "num_states must be at least 3, not 2"),
        ("AccessControl", {"num_servers": 0}, "num_servers must be at least 1, not 0"),
        ("FiniteMDP", {}, "model must be a FiniteMDP or the path of an .npz file, not None"),
        ("FiniteMDP", {"model": 3}, "model must be a FiniteMDP or the path of an .npz file, not 3"),
        ("FiniteMDP", {"model": "no.npz"}, "no.npz does not exist"),
        ("CartPole", {"render_mode": "film"}, "render_mode must be ansi or rgb_array, not 'film'"),
    ],
)
def test_bad_arguments(name, arguments, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns about the render mode before we are asked
        with pytest.raises(InvalidInput) as error:
            gymnasium.make(f"aapi/{name}-v0", **arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("state", [[], [6], [-1], [0.5], [0, 0], None, ["a"], [math.nan], [math.inf]])
def test_bad_states_of_finite_models(state):
    with pytest.raises(InvalidInput, match=r"state must be a list of one number in 0\.\.5, not "):
        FiniteMDPEnv(river_swim()).set_state(state)


@pytest.mark.parametrize(
    "state",
    [
        None,
        [0.0] * 5,
        [0.0] * 9,  # a stream of zeros would never leave them
        [2.5, 0, 0, 0, 0, *STREAM],
        [0, 0, math.nan, 0, 0, *STREAM],
        [0, 0, 0, 0, 200, *STREAM],
        [0, 0, 0, 0, 0.5, *STREAM],
        [0, 0, 0, 0, 0, 1, 2, 3, 2**64],
        [0, 0, 0, 0, 0, 1, 2, 3, -1],
        [0, 0, 0, 0, 0, 1, 2, 3, 4.0],
    ],
)
def test_bad_states_of_cart_and_pole(state):
    with pytest.raises(InvalidInput, match=r"state must be what|lies outside"):
        CartPoleEnv().set_state(state)


def test_cart_and_pole_move_as_those_of_gymnasium():
    theirs, ours = gymnasium.make("CartPole-v1").unwrapped, CartPoleEnv()
    random = np.random.default_rng(0)
    compared = 0
    for _ in range(20):
        begin = random.uniform(-0.05, 0.05, size=4)
        theirs.reset(seed=0)
        theirs.state = begin
        ours.set_state([*begin.tolist(), 0.0, *STREAM])
        for _ in range(199):
            action = int(theirs.state[2] + 0.3 * theirs.state[3] + random.normal(scale=0.2) > 0)
            _, _, fallen, _, _ = theirs.step(action)
            if fallen:
                break
            observation, reward, *_ = ours.step(action)
            assert abs(observation - theirs.state).max() < 1e-12
            assert reward == 1.0
            compared += 1
    assert compared > 1000


def test_falling_costs_what_is_missing_and_starts_over():
    env = CartPoleEnv()
    env.reset(seed=0)
    rewards = []
    while not rewards or rewards[-1] == 1.0:
        observation, reward, terminated, truncated, _ = env.step(1)
        assert not terminated
        assert not truncated
        rewards.append(reward)
    assert rewards[-1] == len(rewards) - 200
    assert 8 <= len(rewards) <= 15
    assert abs(observation).max() <= 0.05


def test_the_bounds_of_the_speeds_follow_from_the_equations():
    c = importlib.import_module("aapi.environments.cartpole")  # the package has a function of this name
    sine, turn = math.sin(c.MAX_ANGLE), 2 * c.MAX_ANGLE / c.SECONDS
    pressed = (c.FORCE + c.MOMENT * turn**2 * sine) / c.MASS
    bend = (c.GRAVITY * sine + pressed) / (c.HALF_LENGTH * (4 / 3 - c.POLE_MASS / c.MASS))
    push = pressed + c.MOMENT * bend / c.MASS
    for acceleration, reach, bound in ((push, 2 * c.MAX_POSITION, MAX_SPEED), (bend, 2 * c.MAX_ANGLE, MAX_TURN)):
        step = c.SECONDS * acceleration
        assert step**2 + 2 * acceleration * reach + c.LIMIT * step**2 <= bound**2


def test_no_play_leaves_the_observation_space():
    env = CartPoleEnv()
    random = np.random.default_rng(1)
    most = np.zeros(4)
    for episode in range(400):
        # Half of the players balance the pole while they drive; the others swing it from side to side.
        weights = random.normal(size=4) * [0.3, 0.3, 3.0, 1.0] * (1 if episode % 2 else [0, 1, 0, 1])
        push = random.normal() * 0.5
        observation, _ = env.reset(seed=episode)
        for _ in range(200):
            side = weights @ observation + push
            observation, *_ = env.step(int(side > 0))
            np.maximum(most, abs(observation), out=most)
    assert (most >= [2.3, 2.5, 0.25, 2.5]).all()  # they did try
    assert (most <= [2.4, MAX_SPEED, math.radians(15), MAX_TURN]).all()


def test_rendering_without_a_mode_warns_and_returns_nothing():
    for env in (make("aapi/DeepSea-v0"), make("aapi/CartPole-v0"), CartPoleEnv()):
        env.reset(seed=0)
        with pytest.warns(UserWarning, match="render_mode"):
            assert env.unwrapped.render() is None


def frames(env, states):
    """The picture of every state; each must be new."""
    env.reset(seed=0)
    pictures = []
    for state in states:
        env.set_state(state)
        picture = env.render()
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3
        assert max(picture.shape) <= 620
        pictures.append(picture)
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)
    return pictures


def where(picture, colour):
    """The mean (row, column) of the pixels of a colour."""
    found = np.argwhere((picture == colour).all(axis=2))
    assert len(found) > 10
    return found.mean(axis=0)


@pytest.mark.parametrize(("name", "count"), [("DeepSea", 100), ("Ergodic", 10), ("RiverSwim", 6)])
def test_the_agent_is_seen_in_every_state(name, count):
    env = gymnasium.make(f"aapi/{name}-v0", render_mode="rgb_array").unwrapped
    pictures = frames(env, [[state] for state in range(count)])
    height, width, _ = pictures[0].shape
    for state, picture in enumerate(pictures):
        row, column = divmod(state, 10)
        assert where(picture, drawing.AGENT) == pytest.approx([8 + 48 * (row + 0.5), 8 + 48 * (column + 0.5)], abs=1)
    assert (height, width) == ((497, 497) if name == "DeepSea" else (65, 17 + 48 * count))


def test_the_treasure_is_in_the_bottom_right_and_the_last_cell_is_marked():
    env = gymnasium.make("aapi/DeepSea-v0", render_mode="rgb_array")
    env.reset(seed=0)
    env.step(1)
    picture = env.render()
    assert where(picture, drawing.GOLD) == pytest.approx([464, 464], abs=1)
    assert where(picture, drawing.TRAIL) == pytest.approx([32, 32], abs=1)
    assert where(picture, drawing.AGENT) == pytest.approx([80, 80], abs=1)


def test_thousands_of_states_still_give_a_modest_picture():
    env = gymnasium.make("aapi/RiverSwim-v0", num_states=3000, render_mode="rgb_array").unwrapped
    first, last = frames(env, [[0], [2999]])
    assert where(first, drawing.AGENT)[0] < where(last, drawing.AGENT)[0]
    sea = gymnasium.make("aapi/DeepSea-v0", size=300, render_mode="rgb_array").unwrapped
    frames(sea, [[0], [299], [45_150], [89_999]])


def test_the_queue_shows_its_servers_and_its_customer():
    env = gymnasium.make("aapi/AccessControl-v0", render_mode="rgb_array").unwrapped
    pictures = frames(env, [[state] for state in range(44)])
    busy = [int((picture[:, 100:] == drawing.INK).all(axis=2).sum()) for picture in pictures]
    assert busy[40] == 0
    assert busy[0] == 10 * busy[36]
    frames(
        gymnasium.make("aapi/AccessControl-v0", num_servers=80, render_mode="rgb_array").unwrapped, [[0], [4], [320]]
    )


def test_the_pole_leans_the_way_it_does():
    env = CartPoleEnv(render_mode="rgb_array")
    lean = math.radians(14)
    states = [[x, 0.0, angle, 0.0, 0.0, *STREAM] for x in (-2.4, 0.0, 2.4) for angle in (-lean, 0.0, lean)]
    pictures = frames(env, states)
    columns = [where(picture, drawing.WOOD)[1] for picture in pictures]
    half = 0.5 * 520 / 4.8 * math.sin(lean)  # from the axle to the middle of the pole
    expected = [x + part for x in (40, 300, 560) for part in (-half, 0, half)]
    assert columns == pytest.approx(expected, abs=1.5)


def text(name, state, **arguments):
    env = gymnasium.make(f"aapi/{name}-v0", render_mode="ansi", **arguments)
    env.reset(seed=0)
    env.unwrapped.set_state(state)
    return env.render()


def test_text():
    env = gymnasium.make("aapi/DeepSea-v0", size=3, render_mode="ansi")
    env.reset(seed=0)
    env.step(1)
    assert env.render() == "state 4 of 9 (1,1)\no . .\n. A .\n. . $\n"
    assert text("RiverSwim", [2]) == "state 2 of 6\n. . A . . +\n"
    assert text("Ergodic", [0]) == "state 0 of 10\nA . . . . . . . . .\n"
    assert text("AccessControl", [14], num_servers=5) == "3 of 5 servers free, the customer pays 4\n(4) → ···##\n"
    assert text("CartPole", [-2.4, 0.5, math.radians(10), -1.0, 0, *STREAM]) == (
        "x -2.400, speed +0.500, angle +10.00°, turn -1.000\n /\n[#" + "-" * 40 + "]\n"
    )
    assert len(text("RiverSwim", [2999], num_states=3000)) < 6000
    assert "A" in text("RiverSwim", [2999], num_states=3000)


def test_random_rewards_are_drawn_with_successors():
    mdp = FiniteMDP([[[0.5, 0.5]], [[1.0, 0.0]]], [[[1.0, 2.0]], [[3.0, 0.0]]])
    env = FiniteMDPEnv(mdp)
    state, _ = env.reset(seed=1)
    paid = set()
    for _ in range(200):
        successor, reward, *_ = env.step(0)
        paid.add((state, successor, reward))
        state = successor
    assert paid == {(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)}
    env = FiniteMDPEnv(mdp.with_noise([[0.0], [0.5]]))
    env.reset(seed=1)
    rewards = np.array([env.step(0)[1] for _ in range(6000)])
    noisy = rewards[~np.isin(rewards, (1.0, 2.0))]
    assert abs(noisy.mean() - 3.0) < 6 * 0.5 / len(noisy) ** 0.5
    assert abs(noisy.std() - 0.5) < 0.05
