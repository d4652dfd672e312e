import contextlib
import json
import os
from pathlib import Path

import gymnasium
import numpy as np
import PIL.Image
import processes
import pytest
from commands import run

import aapi
from aapi.cli.main import main


@pytest.fixture
def lake(capsys, tmp_path, monkeypatch):
    """An agent for FrozenLake, in lake.aapi."""
    monkeypatch.chdir(tmp_path)
    settings = "--algorithm aapi-paper --phase-length 100 --horizon 10 --eta 0.5"
    arguments = f"train FrozenLake-v1 --steps 600 {settings} --save lake.aapi"
    assert run(capsys, *arguments.split())[0] == 0
    return tmp_path


@pytest.fixture
def cart(capsys, tmp_path, monkeypatch):
    """An agent for CartPole, in cart.aapi."""
    monkeypatch.chdir(tmp_path)
    settings = "--features fourier:1 --algorithm aapi-paper --phase-length 100 --horizon 10"
    arguments = f"train CartPole-v1 --steps 600 {settings} --save cart.aapi"
    assert run(capsys, *arguments.split())[0] == 0
    return tmp_path


def evaluate(capsys, arguments):
    return run(capsys, "evaluate", *arguments.split())


def test_json_is_what_the_library_gives(capsys, lake):
    before = Path("lake.aapi").read_bytes()
    for flag, deterministic in (("", False), (" --deterministic", True)):
        status, out, err = evaluate(capsys, f"lake.aapi --steps 700 --seed 3 --json{flag}")
        assert (status, err) == (0, "")
        facts = json.loads(out)
        env = gymnasium.make("FrozenLake-v1")
        score = aapi.load("lake.aapi").evaluate(700, env, deterministic=deterministic, seed=3)
        assert facts["average_reward"] == score.average_reward
        assert facts["standard_error"] == score.long_run.standard_error
        assert (facts["half_width"], facts["method"]) == (score.long_run.half_width, score.long_run.method)
        assert (facts["steps"], facts["episodes"]) == (700, len(score.lengths))
        assert facts["episode_length"] == score.episode_length
        assert facts["actions"] == score.action_shares
        assert facts["video"] is None
    assert Path("lake.aapi").read_bytes() == before


def test_text(capsys, lake):
    status, out, err = evaluate(capsys, "lake.aapi --steps 300")
    assert (status, err) == (0, "")
    assert out.startswith("lake.aapi: 600 steps learnt\n")
    assert "over 300 steps" in out
    assert "0: " in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_video_shows_every_step(capsys, cart):
    status, out, err = evaluate(capsys, "cart.aapi --steps 40 --video cart.gif --json")
    assert (status, err) == (0, "")
    assert json.loads(out)["video"] == "cart.gif"
    with PIL.Image.open("cart.gif") as film:
        frames = []
        for i in range(film.n_frames):
            film.seek(i)
            frames.append(np.asarray(film.convert("RGB")))
        assert film.format == "GIF"
        assert film.info["duration"] == 20  # ms: CartPole's 50 frames a second
    assert 30 <= len(frames) <= 40  # equal pictures in a row become one
    assert frames[0].shape == (266, 400, 3)
    assert not np.array_equal(frames[0], frames[10])


def test_a_long_video_skips_steps(capsys, cart, monkeypatch):
    monkeypatch.setattr("aapi.cli.evaluate.MOST_FRAMES", 20)
    status, _, err = evaluate(capsys, "cart.aapi --steps 55 --video cart.gif")
    assert (status, err) == (0, "")
    with PIL.Image.open("cart.gif") as film:
        assert 15 <= film.n_frames <= 19
        assert film.info["duration"] == 60


def test_filming_does_not_change_what_happens(capsys, cart):
    plain = json.loads(evaluate(capsys, "cart.aapi --steps 100 --json")[1])
    filmed = json.loads(evaluate(capsys, "cart.aapi --steps 100 --video a.gif --json")[1])
    assert filmed == plain | {"video": "a.gif"}


@pytest.mark.slow
def test_a_file_does_not_import_the_module_it_names(capsys, lake):
    with np.load("lake.aapi") as archive:
        arrays = {name: archive[name] for name in archive.files}
    description = json.loads(arrays["agent"].tobytes())
    description["env"]["id"] = "trap:FrozenLake-v1"
    arrays["agent"] = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)
    with Path("bad.aapi").open("wb") as file:
        np.savez(file, **arrays)
    Path("trap.py").write_text("open('trapped', 'w')")
    environment = {**os.environ, "PYTHONPATH": str(lake)}
    for command in (["evaluate", "bad.aapi"], ["train", "--resume", "bad.aapi", "--steps", "9999"]):
        done = processes.run([*processes.AAPI, *command], env=environment)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "bad.aapi learnt in trap:FrozenLake-v1: name it, if you trust that module" in done.stderr
    assert not Path("trapped").exists()
    assert evaluate(capsys, "bad.aapi --env FrozenLake-v1 --steps 50")[0] == 0


def test_an_environment_with_other_spaces_is_refused(capsys, cart):
    for name in ("Acrobot-v1", "Pendulum-v1", "FrozenLake-v1"):
        status, out, err = evaluate(capsys, f"cart.aapi --env {name} --steps 50")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "the agent learnt with observations Box(" in err


def test_a_named_environment_is_made_by_its_own_arguments(capsys, lake):
    status, _, err = evaluate(capsys, "lake.aapi --env FrozenLake8x8-v1 --steps 50")
    assert (status, err.count("\n")) == (2, 1)
    assert "the agent learnt with observations Discrete(16)" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("no.aapi", "no.aapi does not exist"),
        (".", ". is a folder, not a saved agent"),
        ("text", "text is not a saved agent"),
        ("half.aapi", "half.aapi is truncated or damaged"),
        ("lake.aapi --steps 0", "--steps must be at least 1, not 0"),
        ("lake.aapi --seed -1", "--seed must be at least 0, not -1"),
        ("lake.aapi --video film.mp4", "--video must name a .gif file, not 'film.mp4'"),
        ("lake.aapi --video nowhere/film.gif", "--video nowhere/film.gif: the folder nowhere does not exist"),
        ("lake.aapi --env NoSuch-v0", "there is no environment 'NoSuch-v0'"),
        ("lake.aapi --env CartPole-v1", "CartPole-v1"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, lake, arguments, message):
    Path("text").write_text("hello")
    Path("half.aapi").write_bytes(Path("lake.aapi").read_bytes()[:3000])
    status, out, err = evaluate(capsys, arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


SHOP = """import gymnasium

class Shop(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Discrete(5), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.jobs = 0
        return 0, {}

    def step(self, action):
        paid = 0.0
        if self.np_random.random() < 0.5:
            paid, self.jobs = 5.0 * action, min(4, self.jobs + action)
        else:
            self.jobs = max(0, self.jobs - 1)
        return self.jobs, paid - self.jobs, False, False, {}

gymnasium.register("TestShop-v0", Shop)

def threshold(jobs):
    return jobs < 2

def wrong(jobs):
    return 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a module of the user's, and an agent that learnt in it."""
    path = tmp_path_factory.mktemp("shop")
    (path / "judged_shop.py").write_text(SHOP)
    with contextlib.chdir(path):
        assert main(["train", "judged_shop:TestShop-v0", "--steps", "500", "--save", "shop.aapi", "--json"]) == 0
    return path


@pytest.fixture
def shop(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return "--env judged_shop:TestShop-v0 --steps 2000 --seeds 2"


def test_agents_functions_and_rules_are_judged_side_by_side(capsys, shop):
    arguments = "shop.aapi --policy judged_shop:threshold --policy random --steps 2000 --seeds 2"
    status, out, _ = evaluate(capsys, arguments)
    assert status == 0
    head, agent, threshold, random, _, setting = out.splitlines()
    assert head.split() == ["a", "step", "less", "shop.aapi"]
    assert [line.split()[0] for line in (agent, threshold, random)] == ["shop.aapi", "judged_shop:threshold", "random"]
    assert random.endswith(" worse")
    assert setting == "± 95 %; TestShop-v0, 2 runs of 2,000 steps after 200 that do not count"
    assert evaluate(capsys, arguments)[1] == out
    assert evaluate(capsys, f"{arguments} --seed 7")[1] != out


def test_the_same_as_json_is_what_the_library_gives(capsys, shop):
    status, out, _ = evaluate(capsys, f"{shop} --policy judged_shop:threshold --policy random --json")
    facts = json.loads(out)
    import judged_shop

    policies = {"judged_shop:threshold": judged_shop.threshold, "random": "random"}
    found = aapi.evaluate(policies, judged_shop.Shop, 2000, 2)
    assert status == 0
    assert (facts["compared_with"], facts["policies"].keys()) == ("judged_shop:threshold", policies.keys())
    for name, score in found.scores.items():
        given, difference = facts["policies"][name], found.difference(name, "judged_shop:threshold")
        assert (given["average_reward"], given["actions"]) == (score.average_reward, score.action_shares)
        assert (given["half_width"], given["method"]) == (score.long_run.half_width, score.long_run.method)
        assert (given["difference"], given["difference_half_width"]) == (difference.mean, difference.half_width)


def test_one_policy_has_one_column(capsys, shop):
    status, out, _ = evaluate(capsys, f"{shop} --policy random")
    assert (status, out.splitlines()[0].split()) == (0, ["a", "step"])
    assert evaluate(capsys, "shop.aapi --steps 2000 --seeds 2")[1].splitlines()[1].startswith("shop.aapi  ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "give an agent's file, or --policy with --env"),
        ("--policy random", "give the environment to judge in: --env ID"),
        ("{} --policy rondom", "rondom: there is no rule 'rondom' for this environment (did you mean random?)"),
        ("{} --policy judged_shop:treshold", "judged_shop has no function 'treshold'"),
        (
            "{} --policy judged_shop:wrong",
            "judged_shop:wrong: step 1: the policy returned 2 at 0, and actions are 0..1",
        ),
        ("{} --policy random --policy random", "random is given twice"),
        ("{} --policy random --video a.gif", "--video films one agent in one run"),
        ("--env FrozenLake-v1 shop.aapi --policy random", "shop.aapi: the agent learnt with observations Discrete(5)"),
        ("--env NoSuch-v0 --policy random", "there is no environment 'NoSuch-v0'"),
        ("--env FrozenLake-v1 --policy random --seeds 0", "--seeds must be at least 1, not 0"),
    ],
)
def test_what_cannot_be_judged_is_one_line_and_status_2(capsys, shop, arguments, message):
    status, out, err = evaluate(capsys, arguments.format(shop))
    assert (status, out) == (2, "")
    assert message in err
    assert err.replace("importing judged_shop, in which shop.aapi learnt\n", "").count("\n") == 1


def test_what_cannot_be_drawn_cannot_be_filmed(capsys, tmp_path, monkeypatch):
    (tmp_path / "blind.py").write_text(
        "import gymnasium\n"
        "from gymnasium import spaces\n"
        "class Blind(gymnasium.Env):\n"
        "    observation_space, action_space = spaces.Discrete(1), spaces.Discrete(2)\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        return 0, {}\n"
        "    def step(self, action):\n"
        "        return 0, 0.0, False, False, {}\n"
        "gymnasium.register('Blind-v0', entry_point=Blind)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert run(capsys, *["train", "blind:Blind-v0", "--steps", "10", "--save", "a.aapi", "--json"])[::2] == (0, "")
    assert evaluate(capsys, "a.aapi --steps 10")[::2] == (0, "")
    command = [*processes.AAPI, "evaluate", "a.aapi", "--env", "blind:Blind-v0", "--video", "a.gif"]
    done = processes.run(command, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "cannot be filmed" in done.stderr
    assert not (tmp_path / "a.gif").exists()


def test_without_the_extra_there_is_a_hint(lake):
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "from aapi.cli.main import main\n"
        "sys.exit(main(['evaluate', 'lake.aapi', '--steps', '10', '--video', 'a.gif']))"
    )
    done = processes.python("-c", code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "aapi evaluate: a video needs the extra: pip install -e '.[video]' in the clone\n"
