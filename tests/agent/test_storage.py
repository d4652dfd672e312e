import io
import json
import os
import pickle
import sys
import zipfile

import gymnasium
import numpy as np
import processes
import pytest

import aapi
from aapi.agent import made_environment
from aapi.errors import InvalidInput
from aapi.files import read_arrays
from aapi.registry.gymnasium_ids import make_environment

ENVS = {
    "table": "little/Discrete-v0",
    "weights": "little/Box-v0",
    "rlsvi": "little/Box-v0",
    "sampled": "little/Discrete-v0",
    "untuned": "little/Discrete-v0",
}


class Trap:
    """Leaves a file behind if it is ever unpickled."""

    def __reduce__(self):
        return os.system, ("touch trapped",)


@pytest.fixture
def saved(agent, tmp_path, monkeypatch):
    """A function that writes an agent of some kind to agent.aapi, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def write(kind="weights"):
        name = {"rlsvi": "RLSVI", "sampled": "sampled AAPI", "untuned": "untuned"}.get(kind, "AAPI")
        steps = 180 if kind == "untuned" else 130  # in the middle of an exploration, or of a phase
        agent(name, ENVS[kind]).learn(steps).save("agent.aapi")
        return "agent.aapi"

    return write


def alter(path, describe=None, **arrays):
    """Write a file again with another description, or other arrays; None leaves one out."""
    contents = read_arrays(path, "a saved agent")
    description = json.loads(contents["agent"].tobytes())
    if describe is not None:
        describe(description)
    contents["agent"] = np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)
    for name, change in arrays.items():
        contents[name] = change(contents[name]) if callable(change) else change
    with open(path, "wb") as file:  # noqa: PTH123
        np.savez(file, **{name: array for name, array in contents.items() if array is not None})


def refused(path, env=None, match="agent.aapi"):
    """Loading gives one line that names the file."""
    with pytest.raises(InvalidInput, match=match) as caught:
        aapi.load(path, env and gymnasium.make(env))
    assert "agent.aapi" in str(caught.value)
    assert "\n" not in str(caught.value)


def contents(agent):
    agent.save("copy.aapi")
    return {name: array.tobytes() for name, array in read_arrays("copy.aapi", "an agent").items()}


def attempt(path, env):
    """What was loaded, or the one line that says why not."""
    try:
        return contents(aapi.load(path, env))
    except InvalidInput as error:
        return str(error)


def test_a_file_is_arrays_and_json(saved):
    with zipfile.ZipFile(saved()) as archive:
        for name in archive.namelist():
            array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            assert array.dtype.kind in "biuf"
    description = json.loads(read_arrays("agent.aapi", "an agent")["agent"].tobytes())
    assert description["format"] == 5
    assert description["algorithm"]["part"] == "PolicyIteration"
    rule = {"ending": "keep", "limit": None, "max_episode_steps": None, "wrappers": []}
    made = {"id": "little/Box-v0", "module": "tests.agent.conftest", "kwargs": {"name": "Box"}}
    assert description["env"] == made | rule


def test_pickles_are_never_loaded(saved, tmp_path):
    (tmp_path / "agent.aapi").write_bytes(pickle.dumps(Trap()))
    refused("agent.aapi", match=r"not a saved agent \(nor is anything else, a pickle for one, ever loaded\)")
    trap = np.empty((), dtype=object)
    trap[()] = Trap()
    for name in ("state_total", "agent", "whatever", "stream"):
        alter(saved(), **{name: lambda _: trap} if name != "whatever" else {name: trap})
        refused("agent.aapi", match="holds pickled objects, which are never loaded")
    with zipfile.ZipFile(saved(), "a") as archive:
        archive.writestr("more", pickle.dumps(Trap()))
    assert aapi.load("agent.aapi").num_steps == 130
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "name", ["os.system", "eval", "Agent", "__import__", "PolicyIteration.__init__", "", None, 5, [], {"part": "eval"}]
)
@pytest.mark.parametrize("place", ["algorithm", "features", "evaluate", "learning_rate"])
def test_only_parts_of_a_list_are_made(saved, place, name):
    def describe(description):
        holder = description if place in description else description["algorithm"]
        holder[place] = {"part": name, "command": "touch trapped"}

    alter(saved(), describe)
    refused("agent.aapi")


@pytest.mark.parametrize("place", ["algorithm", "features", "evaluate", "learning_rate", "side_information"])
@pytest.mark.parametrize("part", ["Fourier", "Zero", "MonteCarlo", "Scheduled", "PolicyIteration"])
def test_a_part_in_the_place_of_another_is_refused(saved, place, part):
    at_home = {
        "Fourier": "features",
        "Zero": "side_information",
        "MonteCarlo": "evaluate",
        "Scheduled": "learning_rate",
    }
    if at_home.get(part, "algorithm") == place:
        return

    def describe(description):
        holder = description if place in description else description["algorithm"]
        holder[place] = {"part": part, "horizon": 5} if part == "MonteCarlo" else {"part": part}

    alter(saved(), describe)
    refused("agent.aapi")


def test_a_file_makes_no_environment_that_its_reader_does_not_know(saved, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("open('trapped', 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    alter(saved(), lambda description: description["env"].update(id="trap:Any-v0"))
    assert aapi.load("agent.aapi").num_steps == 130
    with pytest.raises(InvalidInput, match=r"agent.aapi learnt in trap:Any-v0: name it, if you trust that module"):
        made_environment("agent.aapi", None, gymnasium.make)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("module", ["antigravity", "os.path", "trap;x", "../trap", "", 3, ["trap"]])
def test_a_module_that_can_hold_no_environment_is_not_imported(saved, module, capsys):
    alter(saved(), lambda description: description["env"].update(id="Any-v0", module=module))
    with pytest.raises(InvalidInput, match=r"as its module, which has no environment or rule: it was altered"):
        made_environment("agent.aapi", None, lambda name: pytest.fail(name))
    assert capsys.readouterr().err == ""


def test_loading_imports_no_module_and_making_an_environment_says_which(saved, tmp_path, monkeypatch, capsys):
    (tmp_path / "trap.py").write_text("open('trapped', 'w').close()")
    alter(saved(), lambda description: description["env"].update(id="Any-v0", module="trap"))
    assert aapi.load("agent.aapi").num_steps == 130
    assert not (tmp_path / "trapped").exists()
    monkeypatch.setattr("sys.path", list(sys.path))
    with pytest.raises(InvalidInput, match=r"agent.aapi learnt in Any-v0; there is no environment 'trap:Any-v0'"):
        made_environment("agent.aapi", None, make_environment)
    assert capsys.readouterr().err == "importing trap, in which agent.aapi learnt\n"
    assert (tmp_path / "trapped").exists()
    sys.modules.pop("trap")


@pytest.mark.parametrize(
    "env",
    [{"id": None}, {"id": 5}, {"id": ["CartPole-v1"]}, {"id": "x"}, {"limit": "x"}, {"limit": -3}, {"ending": []},
     {"ending": None}, {"kwargs": {"render_mode": "human"}}, {"kwargs": {"name": 5}}, {"kwargs": {"id": "x"}}],
)  # fmt: skip
def test_an_environment_that_makes_no_sense_is_refused(saved, env):
    alter(saved(), lambda description: description["env"].update(env))
    film = {"render_mode": "rgb_array"} if "render_mode" in env.get("kwargs", {}) else {}
    with pytest.raises(InvalidInput):
        made_environment("agent.aapi", None, make_environment, **film)


@pytest.mark.parametrize("env", [None, 5, {}, []])
def test_a_file_may_not_know_its_environment(saved, env):
    alter(saved(), lambda description: description.update(env=env))
    with pytest.raises(InvalidInput, match=r"agent\.aapi does not say which environment it learnt in: give its id"):
        made_environment("agent.aapi", None, make_environment)
    assert aapi.load("agent.aapi").num_steps == 130


def test_an_environment_is_made_as_it_was(saved, agent):
    made = made_environment(saved(), None, make_environment)
    assert (made.spec.id, made.unwrapped.spec.kwargs) == ("little/Box-v0", {"name": "Box"})
    agent(env="CartPole-v1").save("agent.aapi")
    assert made_environment("agent.aapi", None, make_environment)._saved_kwargs == {"ending": "shortfall", "limit": 200}


def test_a_newer_format_is_refused_with_what_to_do(saved):
    alter(saved(), lambda description: description.update(format=6))
    refused("agent.aapi", match="has format 6, and this version of aapi reads format 5: upgrade aapi to read it")


def test_truncated_files_are_refused(saved, tmp_path):
    whole = (tmp_path / saved()).read_bytes()
    for length in [*range(0, 60, 3), *range(60, len(whole), 401), *range(len(whole) - 24, len(whole), 2)]:
        (tmp_path / "agent.aapi").write_bytes(whole[:length])
        refused("agent.aapi")


@pytest.mark.parametrize("kind", ["table", "weights", "rlsvi"])
def test_a_flipped_byte_is_noticed_or_changes_nothing(saved, tmp_path, kind):
    path = saved(kind)
    whole = (tmp_path / path).read_bytes()
    env = gymnasium.make(ENVS[kind])
    expected, noticed = contents(aapi.load(path, env)), 0
    directory = whole.index(b"PK\x01\x02")
    places = [*range(120), *range(120, directory, 41), *range(directory, len(whole), 3)]
    for i, place in enumerate(places):
        flip = (1 << i % 8, 0xFF)[i % 2]
        (tmp_path / path).write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
        found = attempt(path, env)
        noticed += isinstance(found, str)
        assert (found.count("agent.aapi"), found.count("\n")) == (1, 0) if isinstance(found, str) else found == expected
    assert noticed > len(places) / 2


# What a file may say, and its arrays fit together, but would lead kernels, which check nothing, astray.
ASTRAY = {
    "states": ("table", None, {"stretch_states": lambda x: x + 2**30}),
    "negative states": ("table", None, {"stretch_states": lambda x: x - 2**30}),
    "actions": ("table", None, {"stretch_actions": lambda x: x + 2**30}),
    "negative actions": ("weights", None, {"stretch_actions": lambda x: x - 1}),
    "remembered actions": ("rlsvi", None, {"state_memories_0_actions": lambda x: x + 2**30}),
    "too much remembered": ("rlsvi", lambda d: d["algorithm"].update(memory=7), {}),
    "state": ("table", None, {"current": lambda _: np.array(2**40)}),
    "negative state": ("table", None, {"current": lambda _: np.array(-1)}),
    "nan state": ("weights", None, {"current": lambda x: x * np.nan}),
    "short vector": ("weights", None, {"current": lambda x: x[:1]}),
    "flat vector": ("weights", None, {"current": lambda x: np.zeros((2, 2))}),
    "no vector": ("weights", None, {"current": None}),
    "negative phase": ("sampled", None, {"state_k": lambda _: np.array(-5)}),
    "phase": ("sampled", None, {"state_k": lambda _: np.array(2**62)}),
    "phases of weights": ("weights", None, {"state_k": lambda _: np.array(-1)}),
    "impossible policy": ("table", None, {"state_policy": lambda x: 0.0 * x}),
    "negative policy": ("table", None, {"state_policy": lambda x: -x}),
    "negative temperature": ("weights", None, {"state_policy_constant": lambda x: x - 1.0}),
    "impossible exploration": ("untuned", None, {"state_excursion_policies": lambda x: 2.0 * x}),
    "nobody who explores": ("untuned", None, {"state_excursion_runs": None}),
    "an exploration that nobody wanted": (
        "table",
        None,
        {"state_excursion_policies": np.full((1, 4, 2), 0.5), "state_excursion_runs": np.array([True])},
    ),
    "an exploration of vectors": (
        "weights",
        None,
        {"state_excursion_policies": np.full((1, 18, 2), 0.5), "state_excursion_runs": np.array([True])},
    ),
    "states never seen": ("untuned", None, {"state_inner_memories_0_seen": lambda x: x & False}),
    "negative counts": ("untuned", None, {"state_inner_memories_0_visits": lambda x: x - 1e6}),
    "endless draws": ("untuned", None, {"state_inner_memories_0_transition_counts": lambda x: -x}),
    "phases without end": ("untuned", lambda d: d.update(steps=10**15), {}),
    "steps that are none": ("untuned", lambda d: d.update(steps=30.5), {}),
    "dead stream": ("rlsvi", None, {"stream": lambda x: 0 * x}),
    "dead predictions": ("table", None, {"predictions": lambda x: 0 * x}),
    "negative steps": ("weights", lambda d: d.update(steps=-7), {}),
    "fewer steps than phases": ("weights", lambda d: d.update(steps=7), {}),
    "episodes": ("weights", lambda d: d.update(episodes=[1, 2]), {}),
    "episodes without length": ("weights", lambda d: d.update(episodes=[{}]), {}),
    "long phases": ("weights", lambda d: d["algorithm"].update(phase_length=10**15), {}),
    "large samples": ("sampled", lambda d: d["algorithm"]["learning_rate"].update(num_sampled=10**14), {}),
    "large features": ("weights", lambda d: d.update(features={"part": "Radial", "num_features": 10**13}), {}),
    "many actions": ("weights", lambda d: d["action_space"].update(n=10**12), {}),
    "nan sum": ("weights", lambda d: d.update(reward_sum=float("nan")), {}),
    "snapshot": ("weights", lambda d: d.update(snapshot=[]), {}),
    "seed of snapshot": ("weights", lambda d: d["snapshot"]["begun"].update(seed="x"), {}),
    "actions of snapshot": ("weights", None, {"snapshot_actions": lambda x: x + 99}),
    "length of snapshot": ("weights", lambda d: d["snapshot"].update(length=10**400), {}),
    "learning of nan": ("weights", None, {"state_total": lambda x: x * np.nan}),
    "learning of another shape": ("weights", None, {"state_total": lambda x: x[:, :-1]}),
    "learning of another type": ("table", None, {"state_prediction": lambda x: x.astype(np.float32)}),
    "rewards of another shape": ("weights", None, {"stretch_rewards": lambda x: x[0]}),
    "complex rewards": ("weights", None, {"stretch_rewards": lambda x: x * 1j}),
    "no stream": ("weights", None, {"stream": None}),
    "deep space": ("weights", lambda d: d.update(observation_space=deep_space()), {}),
    "no list": ("weights", lambda d: d.update(bounds=None), {}),
}


def deep_space():
    space = {"space": "Discrete", "n": 2, "start": 0}
    for _ in range(400):
        space = {"space": "Tuple", "parts": [space]}
    return space


def test_what_no_learner_asked_for_is_refused(saved):
    alter(saved("untuned"), state_weight=np.array(-5.0))
    refused("agent.aapi", match="it holds weight, of which its learner knows nothing")


@pytest.mark.parametrize("what", ASTRAY)
def test_contents_that_make_no_sense_are_refused(saved, what):
    kind, describe, arrays = ASTRAY[what]
    alter(saved(kind), describe, **arrays)
    refused("agent.aapi", ENVS[kind])


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"5", b"null", b'{"format": "1"}', b"\xff\xfe", b"[" * 100_000])
def test_descriptions_that_cannot_be_read_are_refused(saved, text):
    alter(saved(), agent=lambda _: np.frombuffer(text, dtype=np.uint8))
    refused("agent.aapi")


def test_other_files_are_told_apart(saved, tmp_path):
    np.savez("agent.aapi.npz", x=np.zeros(3))
    (tmp_path / "agent.aapi.npz").rename("agent.aapi")
    refused("agent.aapi", match="is not a saved agent: it holds x")
    (tmp_path / "agent.aapi").write_text("hello")
    refused("agent.aapi", match="is not a saved agent")
    (tmp_path / "agent.aapi").unlink()
    refused("agent.aapi", match="does not exist")
    (tmp_path / "agent.aapi").mkdir()
    refused("agent.aapi", match="is a folder, not a saved agent")


def test_a_file_that_inflates_beyond_memory_is_refused(saved):
    path = saved()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    honest = members["state_total.npy"]
    members["state_total.npy"] = honest.replace(b"(1, 18, 2), }      ", b"(99999999, 99999)} ")
    assert members["state_total.npy"] != honest
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    refused(path)


def test_loading_imports_nothing_for_tensorboard_or_video(saved):
    code = "import sys, aapi; aapi.load('agent.aapi'); print([m for m in ('tensorboard', 'PIL') if m in sys.modules])"
    saved()
    assert processes.python("-c", code, check=True).stdout == "[]\n"
