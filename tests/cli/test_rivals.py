"""The rivals through the command: odd problems have results; a mistake is told in one line that names the flag."""

import json
import math

import numpy as np
import pytest
from commands import run

from aapi.registry.algorithms import takes

WORDS = (
    "ucrl2", "ucrl2b", "kl-ucrl", "scal", "psrl", "rmax", "imed-rl", "differential-q", "rvi-q", "r-learning",
    "centred-q", "optimistic-q", "oomd",
)  # fmt: skip
RANGED = tuple(word for word in WORDS if "reward_low" in takes(word))
TABLES = tuple(word for word in WORDS if word not in ("differential-q", "r-learning", "centred-q"))
MORE = {"scal": ["--span", "5"]}
MODELS = {
    "one state": (np.ones((1, 1, 1)), [[2.0]]),
    "one state, two actions": (np.ones((1, 2, 1)), [[0.0, 1.0]]),
    "one action": (np.full((3, 1, 3), 1 / 3), [[0.0], [1.0], [2.0]]),
    "equal rewards": (np.full((3, 2, 3), 1 / 3), np.full((3, 2), -4.0)),
    "no rewards": (np.full((3, 2, 3), 1 / 3), np.zeros((3, 2))),
    "two closed classes": (
        [[[0, 0.5, 0.5], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]],
        [[0, 0], [1, 0.0], [0, 0.5]],
    ),
    "a cycle": ([[[0, 1], [0, 1]], [[1, 0], [1, 0]]], [[0, 1.0], [0.5, 0]]),
    "a state that cannot be reached": ([[[1, 0], [1, 0]], [[1, 0], [1, 0]]], [[0, 1.0], [9.0, 0]]),
}


def command(capsys, word, *arguments, problem="ergodic"):
    status, out, err = run(capsys, "run", problem, "--algorithm", word, *MORE.get(word, ()), *arguments)
    if status:
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "Traceback" not in err
    else:
        assert err == ""
    return status, out, err


def numbers(found):
    """All numbers of what --json prints."""
    for value in found.values():
        if isinstance(value, dict):
            yield from numbers(value)
        elif isinstance(value, int | float):
            yield value


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("word", WORDS)
def test_odd_problems_have_results(capsys, tmp_path, word, model):
    transitions, rewards = map(np.asarray, MODELS[model])
    np.savez(tmp_path / "model.npz", transitions=np.array(transitions, dtype=float), rewards=rewards)
    for runs, steps in ((2, 400), (1, 1)):
        arguments = ("--steps", str(steps), "--runs", str(runs))
        status, out, _ = command(capsys, word, *arguments, "--json", problem=str(tmp_path / "model.npz"))
        assert status == 0
        found = json.loads(out)
        assert all(map(math.isfinite, numbers(found)))
        assert rewards.min() <= found["average_reward"]["mean"] <= rewards.max()
        assert command(capsys, word, *arguments, problem=str(tmp_path / "model.npz"))[0] == 0


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "0", "1e308", "1e-308", "1"])
@pytest.mark.parametrize("word", WORDS)
def test_a_setting_works_or_is_named(capsys, word, value):
    for setting in takes(word):
        if (setting, value) == ("accuracy", "1e-308"):
            continue  # a wish that takes all sweeps there are
        name = "--" + setting.replace("_", "-")
        status, out, err = command(capsys, word, f"{name}={value}", "--steps", "200", "--runs", "1", "--json")
        if status:
            others = "--window" if word == "oomd" else "rewards from 0 to"  # no return fits into a phase of one step
            assert name in err or others in err, err
            assert "policies" not in err
        else:
            assert all(map(math.isfinite, numbers(json.loads(out)))), name
        if value in ("nan", "inf", "-inf"):
            assert status == 2, name


@pytest.mark.parametrize("word", RANGED)
def test_a_range_that_is_exceeded_is_called_by_its_flag(capsys, word):
    for flags, message in (
        (["--reward-high=0.5"], "a reward of 1.0 was seen, beyond --reward-high, 0.5: give the range of all rewards"),
        (["--reward-low=0.5"], "a reward of 0.0 was seen, beyond --reward-low, 0.5: give the range of all rewards"),
        (["--reward-low=2", "--reward-high=1"], "--reward-low, 2, must not be larger than --reward-high, 1"),
        (["--reward-high=nan"], "--reward-high must be a finite number, not nan"),
        (["--reward-high=1e303"], "--reward-high must lie between -1e+302 and 1e+302, not 1e+303"),
    ):
        status, _, err = command(capsys, word, *flags, "--steps", "3000", "--runs", "1")
        assert (status, message in err) == (2, True), err


@pytest.mark.parametrize("word", RANGED)
def test_an_agent_is_told_by_which_flags_the_range_is_given(capsys, word):
    more = [*MORE.get(word, ()), *(["--total-steps", "100"] if "total_steps" in takes(word) else [])]
    common = ["train", "FrozenLake-v1", "--algorithm", word, *more, "--steps", "3000"]
    status, out, err = run(capsys, *common)
    assert (status, out) == (2, "")
    assert err == "aapi train: the range of rewards is not known: give --reward-low and --reward-high\n"
    status, out, err = run(capsys, *common, "--reward-low", "0", "--reward-high", "0.001", "--continuing", "-1")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "a reward of -1.0 was seen, beyond --reward-low, 0.0: give the range" in err


@pytest.mark.parametrize("word", ["kl-ucrl", "optimistic-q"])
def test_an_agent_is_told_by_which_flag_its_steps_are_given(capsys, word):
    told = ["train", "FrozenLake-v1", "--algorithm", word, "--reward-low", "0", "--reward-high", "1", "--steps", "300"]
    status, out, err = run(capsys, *told)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("aapi train: --total-steps must be given: ")
    assert run(capsys, *told, "--total-steps", "300")[0] == 0


@pytest.mark.parametrize("word", WORDS)
def test_features_that_a_method_cannot_use_are_refused(capsys, word):
    few = ("--steps", "300", "--runs", "1")
    for features in ("fourier:2", "coordinates", "aggregate:50", "aggregate:0"):
        status, _, err = command(capsys, word, "--features", features, *few)
        assert (status, "features" in err) == (2, True)
    status, _, err = command(capsys, word, *few, problem="cartpole")
    assert status == (2 if word in TABLES else 0)
    assert (f"{word} needs countable states, and these are observation vectors" in err) == (word in TABLES)


@pytest.mark.parametrize("word", ["differential-q", "rvi-q"])
def test_steps_that_are_too_large_are_called_by_their_flag(capsys, word):
    status, _, err = command(capsys, word, "--step-size", "50", "--steps", "20000", "--runs", "1")
    assert status == 2
    assert "Q is not finite after" in err
    assert "steps: give a smaller --step-size" in err


def test_plain_words_of_a_message_are_not_taken_for_flags(capsys, tmp_path):
    np.savez(tmp_path / "huge.npz", transitions=np.full((2, 2, 2), 0.5), rewards=np.array([[0, 1e300], [1e299, 0]]))
    _, _, err = command(capsys, "ucrl2b", problem=str(tmp_path / "huge.npz"))
    assert err == "aapi run: rewards from 0 to 1e+300 cannot be squared, as ucrl2b does: scale them to 1 or so\n"


def test_neither_are_names_of_files(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "train", "--resume", "phase_length.aapi")
    assert (status, err) == (2, "aapi train: phase_length.aapi does not exist\n")
