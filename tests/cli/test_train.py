import json
import os
import signal
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import processes
import pytest
from commands import run
from stores import wait_until
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import aapi
from aapi.environments import Continuing
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier, Tiles

ROOM = '''
import math
import time

import gymnasium
import numpy as np
from gymnasium import spaces


class Room(gymnasium.Env):
    """A noisy walk; action 1 earns 1. May go wrong in a step of some number."""

    def __init__(self, name="room", wrong=None, low=-1.0, pause=0.0, render_mode=None):
        self.observation_space = spaces.Box(low, 1.0, (2,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0) if name == "smooth" else spaces.Discrete(2)
        self.wrong, self.pause, self.render_mode, self.time = wrong, pause, render_mode, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.uniform(-1.0, 1.0, 2), {}

    def step(self, action):
        self.time += 1
        time.sleep(self.pause)
        observation, reward, ended = self.np_random.uniform(-1.0, 1.0, 2), float(action), self.np_random.random() < 0.05
        if self.wrong and self.time == 130:  # which no snapshot knows of
            ended = False
            if self.wrong == "interrupted":
                try:
                    raise KeyboardInterrupt
                finally:
                    raise RuntimeError("the motor cannot be parked")
            if self.wrong == "error":
                raise RuntimeError("the motor burnt out")
            if self.wrong == "reward":
                reward = math.nan
            if self.wrong == "observation":
                observation[:] = math.inf, -math.inf
        return observation, reward, bool(ended), False, {}


for name, arguments in {
    "Room": {},
    "Smooth": {"name": "smooth"},
    "Open": {"low": -np.inf},
    "Slow": {"pause": 0.0005},
    "Error": {"wrong": "error"},
    "Reward": {"wrong": "reward"},
    "Interrupted": {"wrong": "interrupted"},
    "Observation": {"wrong": "observation"},
    "Named": {"name": "room"},
}.items():
    gymnasium.register(f"{name}-v0", entry_point=Room, kwargs=arguments)
'''
PHASES = "--phase-length 50 --horizon 5"
SHORT = f"--algorithm aapi-paper {PHASES}"


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder with a module rooms that registers environments."""
    (tmp_path / "rooms.py").write_text(ROOM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    forget()


def forget():
    """Be as if the module had never been imported."""
    sys.modules.pop("rooms", None)
    for name in [
        name for name, spec in gymnasium.registry.items() if getattr(spec.entry_point, "__name__", "") == "Room"
    ]:
        del gymnasium.registry[name]


def train(capsys, arguments):
    return run(capsys, "train", *arguments.split())


def start(arguments):
    return processes.start([*processes.AAPI, "train", *arguments.split()])


def arrays(path):
    with np.load(path) as archive:
        contents = {name: archive[name] for name in archive.files}
    description = json.loads(contents.pop("agent").tobytes())
    return description, {name: (array.dtype, array.shape, array.tobytes()) for name, array in contents.items()}


def test_steps_that_explored_count_for_what_was_earned(capsys):
    """Between phases, too: what is printed is of all steps from the end of one phase on."""
    agent, ends = aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1"), seed=4), [(0, 0.0)]
    agent.learn(3000, callback=lambda progress: ends.append((progress.steps, agent.total_reward)))
    facts = json.loads(train(capsys, "FrozenLake-v1 --steps 3000 --seed 4 --json")[1])
    steps, reward = next(end for end in reversed(ends) if end[0] <= 0.9 * ends[-1][0])
    assert facts["average_reward"] == agent.total_reward / 3000
    assert facts["last_tenth"] == (ends[-1][1] - reward) / (ends[-1][0] - steps)
    explored = agent.session.state.explored[0]
    assert explored > 1500
    words = " ".join(train(capsys, "FrozenLake-v1 --steps 3000 --seed 4")[1].split())
    assert f"and {explored} of them to explore" in words
    assert "by expeditions to what is new, and by Thompson sampling" in words


@pytest.mark.parametrize(
    ("arguments", "learner", "exploration"),
    [
        ("", "learner on vectors the default is not Algorithm 1", None),
        ("--features fourier:2", "learner Algorithm 1 on weights of features", "none"),
    ],
)
def test_what_is_learnt_by_on_vectors_is_said_first(capsys, arguments, learner, exploration):
    words = " ".join(train(capsys, f"MountainCar-v0 --steps 700 {arguments}")[1].split())
    assert words.split(" on MountainCar-v0 ")[1].startswith(learner)
    settings = json.loads(train(capsys, f"MountainCar-v0 --steps 700 {arguments} --json")[1])["settings"]
    assert settings.get("exploration") == exploration


def test_json_is_what_the_library_gives(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = train(
        capsys,
        f"CartPole-v1 --features fourier:2 --steps 330 --eta 0.3 --ridge 1 --seed 4 --save cart.aapi --json {SHORT}",
    )
    assert (status, err) == (0, "")
    facts = json.loads(out)
    algorithm = aapi.AAPI(phase_length=50, eta=0.3, evaluate=MonteCarlo(horizon=5, ridge=1.0))
    agent, seen = aapi.Agent(algorithm, gymnasium.make("CartPole-v1"), Fourier(order=2), 4), []
    agent.learn(330, callback=seen.append)
    assert (facts["steps"], facts["phases"], facts["saved"]) == (330, 6, "cart.aapi")
    assert facts["average_reward"] == agent.total_reward / 330
    assert facts["last_tenth"] == seen[-1].average_reward
    assert facts["settings"] == {"phase_length": 50, "horizon": 5, "centre": False, "ridge": 1.0, "eta": 0.3}
    assert facts["steps_per_second"] == pytest.approx(330 / facts["seconds"])
    agent.save("other.aapi")
    assert arrays("cart.aapi") == arrays("other.aapi")


@pytest.mark.parametrize("algorithm", ["aapi", "aapi-paper", "politex", "ftrl", "greedy", "rlsvi", "uniform"])
def test_going_on_prints_the_settings_it_began_with(capsys, tmp_path, monkeypatch, algorithm):
    monkeypatch.chdir(tmp_path)
    began = json.loads(train(capsys, f"FrozenLake-v1 --algorithm {algorithm} --steps 150 --save a.aapi --json")[1])
    went_on = json.loads(train(capsys, "--resume a.aapi --steps 200 --json")[1])
    assert went_on["settings"].items() >= began["settings"].items() | {("resumed", "a.aapi")}
    shown = " ".join(train(capsys, "--resume a.aapi --steps 250")[1].split())
    assert "settings resumed a.aapi, phase length" in shown


@pytest.mark.parametrize("algorithm", ["aapi-paper", "politex", "ftrl", "greedy", "rlsvi"])
def test_every_algorithm_trains(capsys, algorithm):
    status, out, err = train(capsys, f"FrozenLake-v1 --algorithm {algorithm} --steps 230 {PHASES}")
    assert (status, err) == (0, "")
    assert out.startswith(f"{algorithm} on FrozenLake-v1\n")
    assert "16 " in out
    assert "230, in 4 phases" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("features", ["fourier", "fourier:1", "tiles", "tiles:3", "tiles:3x2", "radial", "radial:10"])
def test_every_kind_of_features_trains(capsys, room, features):
    status, out, err = train(capsys, f"rooms:Room-v0 --features {features} --steps 100 {SHORT}")
    assert (status, err) == (0, "")
    assert f"{features.partition(':')[0].capitalize()}(" in out


def test_a_run_shorter_than_a_phase_says_so(capsys, room):
    status, out, err = train(capsys, "rooms:Room-v0 --steps 40")
    assert (status, err) == (0, "")
    assert "never improved" in " ".join(out.split())
    assert json.loads(train(capsys, "rooms:Room-v0 --steps 40 --json")[1])["average_reward"] is None


def test_episodes_end_as_they_are_told(capsys, room):
    for arguments, rule in (
        ("CartPole-v1", {"ending": "shortfall", "limit": 200}),
        ("CartPole-v1 --continuing keep", {"ending": "keep", "limit": None}),
        ("CartPole-v1 --continuing -2.5 --limit 70", {"ending": -2.5, "limit": 70}),
        ("CartPole-v1 --limit 70 --continuing", {"ending": "shortfall", "limit": 70}),
        ("CartPole-v1 --limit 70", {"ending": "shortfall", "limit": 70}),
        ("CartPole-v1 --continuing", {"ending": "shortfall", "limit": 200}),
        ("MountainCar-v0 --limit 70", {"ending": 100.0, "limit": 70}),
        ("rooms:Room-v0", {"ending": "keep", "limit": None}),
    ):
        assert train(capsys, f"{arguments} --features fourier:1 --steps 9 --save a.aapi --overwrite")[0] == 0
        description, _ = arrays("a.aapi")
        assert {name: description["env"][name] for name in rule} == rule, arguments


@pytest.mark.parametrize("form", ["--low -2,-1.5 --high 1,3e0", "--low=-2,-1.5 --high=1,3"])
def test_bounds_may_be_given(capsys, room, form):
    status, _, err = train(capsys, f"rooms:Open-v0 --features tiles:4x2 {form} --steps 100 --save a.aapi {SHORT}")
    assert (status, err) == (0, "")
    assert aapi.load("a.aapi").features == Tiles(4, 2, (-2.0, -1.5), (1.0, 3.0))


def test_bounds_may_be_given_for_the_default_features(capsys, room):
    status, _, err = train(capsys, f"rooms:Open-v0 --low -1 --high 1 --steps 100 --save a.aapi {SHORT}")
    assert (status, err) == (0, "")
    assert aapi.load("a.aapi").features == Fourier(3, -1.0, 1.0)


def test_tensorboard_gets_the_rewards(capsys, room):
    assert train(capsys, f"rooms:Room-v0 --steps 170 --tensorboard log --json {SHORT}")[0] == 0
    events = EventAccumulator("log")
    events.Reload()
    assert [event.step for event in events.Scalars("reward/phase")] == [50, 100, 150]


@pytest.mark.parametrize("algorithm", ["aapi-paper", "rlsvi"])
def test_a_run_in_pieces_is_the_run_in_one_go(capsys, room, algorithm):
    common = f"--features fourier:2 --algorithm {algorithm} {PHASES}"
    train(capsys, f"rooms:Room-v0 --steps 333 --save whole.aapi {common}")
    train(capsys, f"rooms:Room-v0 --steps 120 --save pieces.aapi {common}")
    status, out, err = train(capsys, "rooms:Room-v0 --resume pieces.aapi --steps 200 --save pieces.aapi")
    assert (status, err) == (0, "")
    assert out.startswith(f"{algorithm} on ")  # whatever --algorithm is by default
    status, _, err = train(capsys, "--resume pieces.aapi --steps 333 --save pieces.aapi")  # the id is known by now
    assert (status, err) == (0, "")
    assert arrays("pieces.aapi") == arrays("whole.aapi")


@pytest.mark.parametrize("where", ["", "--processes"])
def test_copies_in_pieces_are_copies_in_one_go(capsys, room, where):
    common = f"rooms:Room-v0 --features fourier:2 --copies 3 {SHORT}"
    train(capsys, f"{common} --steps 333 --save whole.aapi")
    status, out, err = train(capsys, f"{common} {where} --steps 120 --save pieces.aapi")
    assert (status, err) == (0, "")
    assert "of 3 copies" in " ".join(out.split())
    assert ("process of its own" in " ".join(out.split())) == bool(where)
    status, _, err = train(capsys, "rooms:Room-v0 --resume pieces.aapi --steps 333 --json")
    assert (status, err) == (0, "")
    assert arrays("pieces.aapi")[1] == arrays("whole.aapi")[1]


def test_a_short_piece_does_not_say_that_nothing_was_learnt(capsys, room):
    train(capsys, f"CartPole-v1 --features fourier:1 --steps 60 --save a.aapi {SHORT}")
    status, out, _ = train(capsys, "--resume a.aapi --steps 70 --save a.aapi")
    assert status == 0
    assert "never improved" not in " ".join(out.split())


def test_what_goes_on_is_saved_where_it_was_unless_told_otherwise(capsys, room):
    train(capsys, f"CartPole-v1 --features fourier:1 --steps 60 --save a.aapi {SHORT}")
    before = Path("a.aapi").read_bytes()
    assert train(capsys, "--resume a.aapi --steps 100 --save b.aapi")[0] == 0
    assert Path("a.aapi").read_bytes() == before
    status, out, _ = train(capsys, "--resume a.aapi --steps 100 --json")
    assert (status, json.loads(out)["saved"]) == (0, "a.aapi")
    assert aapi.load("a.aapi").num_steps == aapi.load("b.aapi").num_steps == 100


def test_an_argument_called_name_does_no_harm(capsys, room):
    assert train(capsys, f"rooms:Named-v0 --steps 60 --save a.aapi {SHORT}")[0] == 0
    assert train(capsys, "--resume a.aapi --steps 70 --save a.aapi")[::2] == (0, "")


def test_a_file_names_the_module_that_it_is_gone_on_with(capsys, room):
    """Also where an environment was registered by another module than its own, which Gymnasium forgets."""
    Path("signs.py").write_text("import gymnasium\ngymnasium.register('Signed-v0', 'rooms:Room')\n")
    for name in ("rooms:Room-v0", "signs:Signed-v0"):
        file = name[:5] + ".aapi"
        assert train(capsys, f"{name} --steps 60 --save {file} {SHORT}")[::2] == (0, "")
        forget()
        sys.modules.pop("signs", None)
        gymnasium.registry.pop("Signed-v0", None)
        said = f"importing {name.partition(':')[0]}, in which {file} learnt\n"
        assert train(capsys, f"--resume {file} --steps 70")[::2] == (0, said)
        assert run(capsys, "evaluate", file, "--steps", "10")[::2] == (0, "")  # it is there now
    del sys.modules["signs"], gymnasium.registry["Signed-v0"]


def test_an_agent_made_in_python_names_its_module(capsys, room):
    import rooms

    aapi.Agent(aapi.AAPI(), gymnasium.make("Room-v0")).learn(60).save("a.aapi")
    assert arrays("a.aapi")[0]["env"]["module"] == rooms.__name__
    forget()
    assert run(capsys, "evaluate", "a.aapi", "--steps", "10")[::2] == (0, "importing rooms, in which a.aapi learnt\n")


def test_an_unknown_id_in_a_file_says_how_to_name_the_module(capsys, room):
    assert train(capsys, f"rooms:Room-v0 --steps 60 --save a.aapi {SHORT}")[0] == 0
    forget()
    Path("rooms.py").unlink()
    status, _, err = train(capsys, "--resume a.aapi --steps 70")
    assert (status, err.count("\n")) == (2, 2)
    assert "a.aapi learnt in Room-v0; could not import 'rooms': no rooms.py in" in err
    assert "module:Room-v0" in err


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_checkpoint(room):
    common = f"rooms:Slow-v0 --features fourier:2 --checkpoint-every 1 {SHORT}"
    with start(f"{common} --steps 1000000 --save killed.aapi") as killed:
        wait_until((room / "killed.aapi").exists)
        time.sleep(0.3)
        killed.kill()
        assert killed.wait() == -signal.SIGKILL
    steps = aapi.load("killed.aapi").num_steps
    assert steps >= 50
    for rest in ("rooms:Slow-v0 --resume killed.aapi --save killed.aapi", f"{common} --save whole.aapi"):
        with start(f"{rest} --steps {steps + 77}") as process:
            assert process.communicate()[1] == ""
    assert arrays("killed.aapi") == arrays("whole.aapi")


def test_ctrl_c_tells_where_the_checkpoint_is(room):
    common = f"rooms:Slow-v0 --features fourier:2 --checkpoint-every 1 {SHORT}"
    with start(f"{common} --steps 1000000 --save a.aapi") as process:
        wait_until((room / "a.aapi").exists)
        time.sleep(0.1)
        processes.interrupt(process)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    steps = aapi.load("a.aapi").num_steps
    assert f"the last checkpoint is a.aapi, after {steps} steps: go on with --resume a.aapi" in err
    assert "Traceback" not in err
    assert sorted(path.name for path in room.iterdir() if path.name != "__pycache__") == ["a.aapi", "rooms.py"]


def test_ctrl_c_does_not_lose_copies_in_processes(capsys, room):
    common = f"rooms:Slow-v0 --features fourier:2 --copies 2 --checkpoint-every 1 {SHORT}"
    with start(f"{common} --processes --steps 1000000 --save a.aapi") as process:
        wait_until((room / "a.aapi").exists)
        time.sleep(0.1)
        processes.interrupt(process)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    steps = aapi.load("a.aapi").num_steps
    assert steps % 2 == 0
    status, out, err = train(capsys, f"rooms:Slow-v0 --resume a.aapi --steps {steps + 20} --json")
    assert (status, err) == (0, "")
    train(capsys, f"{common} --steps {steps + 20} --save b.aapi")
    assert json.loads(out)["steps"] == steps + 20
    assert aapi.load("a.aapi").total_reward == aapi.load("b.aapi").total_reward


def test_ctrl_c_is_ctrl_c_even_if_tidying_up_goes_wrong(room):
    with start(f"rooms:Interrupted-v0 --features fourier:2 --steps 1000 {SHORT}") as process:
        assert process.communicate() == ("", "aapi train: interrupted\n")
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Error", "step 130: the environment raised RuntimeError: the motor burnt out"),
        ("Reward", "step 130: the reward is nan, not a finite number"),
        ("Observation", "step 130: observation[0] is inf, not a finite number"),
    ],
)
def test_what_goes_wrong_in_the_middle_leaves_the_checkpoint(capsys, room, name, message):
    status, out, err = train(
        capsys, f"rooms:{name}-v0 --features fourier:2 --checkpoint-every 2 --steps 1000 --save a.aapi {SHORT}"
    )
    assert (status, out) == (2, "")
    assert err == (
        f"aapi train: {message}; the last checkpoint is a.aapi, after 100 steps: go on with --resume a.aapi\n"
    )
    assert aapi.load("a.aapi", Continuing(gymnasium.make("rooms:Room-v0"))).learn(50).num_steps == 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "name an environment, such as CartPole-v1, or an agent to go on with, --resume FILE"),
        ("Pendulum-v1", "actions must be Discrete, and those of this environment are Box(-2.0, 2.0, (1,), float32)"),
        ("rooms:Smooth-v0", "actions must be Discrete"),
        ("rooms:Open-v0 --features fourier", "observation[0] lies in [-inf, 1], and features need finite bounds: give"),
        ("rooms:Open-v0 --features fourier --low x --high 1", "--low must be a number or numbers with commas between"),
        ("rooms:Open-v0 --features fourier --low 2 --high 1", "low must be below high"),
        ("rooms:Open-v0 --features fourier --low 0,0,0 --high 1", "--low must be a number or 2 numbers"),
        ("NoSuch-v0", "there is no environment 'NoSuch-v0'"),
        ("CartPole-v77", "there is no environment 'CartPole-v77'"),
        ("nomodule:Room-v0", "could not import 'nomodule': no nomodule.py in"),
        ("rooms:NoSuch-v0", "there is no environment 'rooms:NoSuch-v0'"),
        (
            "deep-sea",
            "deep-sea is a built-in problem: learn it with aapi run deep-sea, or as a Gymnasium environment with "
            "aapi train aapi/DeepSea-v0",
        ),
        (
            "continuing-taxi",
            "continuing-taxi is a built-in problem: learn it with aapi run continuing-taxi, or as a Gymnasium "
            "environment with aapi train aapi/Taxi-v0\n",
        ),
        ("taxi", "taxi is a built-in problem: learn it with aapi run taxi\n"),
        ("garnet", "garnet is a built-in problem: learn it with aapi run garnet\n"),
        (".", "there is no environment '.'"),
        (":", "there is no environment ':'"),
        ("rooms:Room-v0 --features wavelets", "--features must be one-hot, grid, fourier:ORDER, tiles:SIDExTILINGS or"),
        ("rooms:Room-v0 --features fourier:x", "--features must be one-hot, grid, fourier:ORDER"),
        ("rooms:Room-v0 --features fourier:0", "order must be at least 1, not 0"),
        ("rooms:Room-v0 --features fourier:999", "take a lower order, tiles, or radial features"),
        ("rooms:Room-v0 --features one-hot", "observation[0] is continuous: take fourier, tiles or radial features"),
        ("rooms:Room-v0 --features coordinates", "--features must be one-hot, grid, fourier:ORDER"),
        ("rooms:Room-v0 --continuing never", "--continuing must be keep, shortfall or a number, not 'never'"),
        ("rooms:Room-v0 --continuing nan", "--continuing must be keep, shortfall or a number, not 'nan'"),
        ("rooms:Room-v0 --continuing", "--limit"),
        ("rooms:Room-v0 --limit 0", "--limit must be at least 1, not 0"),
        ("rooms:Room-v0 --steps 0", "--steps must be at least 1, not 0"),
        ("rooms:Room-v0 --steps many", "argument --steps: invalid int value: 'many'"),
        ("rooms:Room-v0 --seed -1", "--seed must be at least 0, not -1"),
        ("rooms:Room-v0 --phase-length 0", "--phase-length must be at least 1, not 0"),
        (
            "rooms:Room-v0 --algorithm aapi-paper --horizon 5000",
            "--horizon must be at most the phase length, 2000, not 5000",
        ),
        ("rooms:Room-v0 --checkpoint-every 0 --save b.aapi", "--checkpoint-every must be at least 1, not 0"),
        ("rooms:Room-v0 --save nowhere/a.aapi", "--save nowhere/a.aapi: the folder nowhere does not exist"),
        ("rooms:Room-v0 --save .", "--save . is a folder: give a file in it"),
        (
            "rooms:Room-v0 --save a.aapi",
            "--save a.aapi exists: go on with it by --resume a.aapi, or replace it by --overwrite",
        ),
        ("rooms:Room-v0 --tensorboard a.aapi", "--tensorboard a.aapi"),
        ("--resume a.aapi --steps 60", "--steps is the number in all, and a.aapi has 60 already: give more"),
        ("--resume a.aapi --steps 5", "--steps is the number in all, and a.aapi has 60 already: give more"),
        ("--resume a.aapi --steps 99 --save c.aapi --eta 1", "--resume goes on as the agent began: drop --eta"),
        ("--resume a.aapi --steps 99 --features fourier", "--resume goes on as the agent began: drop --features"),
        ("--resume a.aapi --steps 99 --algorithm rlsvi", "--resume goes on as the agent began: drop --algorithm"),
        ("rooms:Room-v0 --copies 0", "--copies must be at least 1, not 0"),
        ("rooms:Room-v0 --copies 100 --algorithm aapi-paper", "goes round 100 copies"),
        ("--resume a.aapi --steps 99 --copies 2", "--resume goes on as the agent began: drop --copies"),
        ("--resume no.aapi --steps 99", "no.aapi does not exist"),
        ("--resume rooms.py --steps 99", "rooms.py is not a saved agent"),
        ("CartPole-v1 --resume a.aapi --steps 99", "the agent learnt with observations Box(-1.0, 1.0, (2,), float64)"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_status_2(capsys, room, arguments, message):
    train(capsys, f"rooms:Room-v0 --features fourier:1 --steps 60 --save a.aapi {SHORT}")
    before = Path("a.aapi").read_bytes()
    status, out, err = train(capsys, arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert Path("a.aapi").read_bytes() == before
    assert not Path("b.aapi").exists()


def test_overwrite_replaces(capsys, room):
    Path("a.aapi").write_text("something else")
    assert train(capsys, f"rooms:Room-v0 --steps 60 --save a.aapi --overwrite {SHORT}")[0] == 0
    assert aapi.load("a.aapi").num_steps == 60


def test_a_folder_that_may_not_be_written_is_noticed_at_once(capsys, room):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (room / "locked").mkdir(mode=0o500)
    status, _, err = train(capsys, "rooms:Room-v0 --steps 1000000000 --save locked/a.aapi")
    assert (status, err.count("\n")) == (2, 1)
