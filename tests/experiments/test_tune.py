import json
import sys

import processes
import pytest
from commands import run
from stores import wait_until

import aapi
from aapi.errors import InvalidInput
from aapi.experiments import Problem
from aapi.experiments.tune import Between, tune

ERGODIC = Problem("ergodic", {"states": 5})
SEARCH = {"eta": Between(0.01, 100.0), "phase_length": Between(100, 1000)}


def test_the_best_trial_is_what_the_library_gives(tmp_path):
    found = tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=3000, runs=3, trials=8, settings={"ridge": 0.5})
    assert found.trials == 8
    assert isinstance(found.settings["phase_length"], int)
    arguments = dict(found.settings)
    evaluate = aapi.evaluation.MonteCarlo(horizon=10, centre=True, ridge=arguments.pop("ridge"))
    result = aapi.run(aapi.AAPI(**arguments, evaluate=evaluate), ERGODIC.make_model(), 3000, 3, 777)
    assert found.average_reward == result.average_reward[:, -1].mean()


def test_going_on_adds_trials_and_another_question_starts_anew(tmp_path):
    first = tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=2000, runs=2, trials=4)
    more = tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=2000, runs=2, trials=9, workers=2)
    assert (first.trials, more.trials) == (4, 9)
    assert more.average_reward >= first.average_reward
    assert tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=2000, runs=2, trials=4) == more
    assert tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=1999, runs=2, trials=2).trials == 2


def test_other_features_are_another_question(tmp_path):
    problem, search = Problem("deep-sea", {"size": 4}), {"eta": Between(0.1, 1.0)}
    found = [
        tune(problem, "aapi-paper", search, folder, features=features, steps=1000, runs=2, trials=3)
        for folder, features in ((tmp_path, "coordinates"), (tmp_path, "one-hot"), (tmp_path / "alone", "one-hot"))
    ]
    assert found[1] == found[2] != found[0]


def test_hopeless_trials_are_given_up_early(tmp_path):
    search = {"eta": (1e-3, 1e3, 0.1, 1e4, 1e5), "phase_length": (50,)}
    found = tune(ERGODIC, "politex", search, tmp_path, steps=20_000, runs=3, trials=30)
    assert found.pruned > 0
    assert found.settings["eta"] in (1e-3, 0.1)
    never = tune(ERGODIC, "politex", search, tmp_path / "all", steps=20_000, runs=3, trials=10, prune=False)
    assert never.pruned == 0


def test_settings_that_do_not_go_together_are_failed_trials(tmp_path):
    search = {"horizon": (10, 500), "phase_length": (100, 1000)}
    found = tune(ERGODIC, "aapi-paper", search, tmp_path, steps=3000, runs=2, trials=12)
    assert found.failed > 0
    assert found.settings["horizon"] <= found.settings["phase_length"]


def test_a_gymnasium_environment(tmp_path):
    search = {"eta": Between(0.01, 1.0)}
    settings = {"phase_length": 100, "horizon": 20}
    arguments = {"settings": settings, "features": "fourier:1", "steps": 500, "runs": 2, "trials": 2}
    found = tune(Problem("CartPole-v1"), "aapi-paper", search, tmp_path, **arguments)
    assert (found.trials, found.failed) == (2, 0)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({}, "there is nothing to search"),
        ({"eta": Between(1.0, 0.1)}, "the range of eta needs low < high"),
        ({"eta": Between(0.0, 0.1)}, "low > 0 on a logarithmic scale, not 0.0..0.1"),
        ({"eta": Between(0.1, float("inf"))}, "the range of eta needs low < high"),
        ({"eta": ()}, "the choices of eta are none"),
        ({"schedule": ("sqrt",)}, "aapi-paper takes phase_length, eta"),
        ({"eta": ("much",)}, "eta must be a finite number"),
    ],
)
def test_mistakes_are_said_before_anything_runs(tmp_path, search, message):
    with pytest.raises(InvalidInput, match=message):
        tune(ERGODIC, "aapi-paper", search, tmp_path)


@pytest.mark.slow
def test_a_killed_search_goes_on(tmp_path):
    command = [*processes.AAPI, "tune", "ergodic", "--search", "eta=0.01..100", "--steps", "5000"]
    command += ["--trials", "20", "--json", "--out", tmp_path]
    journal = tmp_path / "tuning.journal"
    with processes.start(command) as child:
        wait_until(lambda: journal.exists() and journal.stat().st_size > 2000)
        child.kill()
        child.wait()
    with journal.open("ab") as file:
        file.write(b'{"op_code": 6, "wor')  # as if in the middle of a line
    ended = processes.run(command)
    assert (ended.returncode, ended.stderr) == (0, "")
    facts = json.loads(ended.stdout)
    assert facts["trials"] - facts["failed"] == 20
    assert facts["failed"] <= 1


def test_the_command_says_how_to_report(capsys, tmp_path):
    arguments = "tune deep-sea --size 4 --search eta=0.1..1 --search centre=true,false --steps 2000 --trials 3 --runs 2"
    status, out, err = run(capsys, *arguments.split(), "--out", str(tmp_path))
    assert (status, err) == (0, "")
    command = out.splitlines()[-1].partition(": ")[2]
    assert command.startswith("aapi run deep-sea --size 4 --algorithm aapi-paper --steps 2000 --eta 0.")
    assert run(capsys, *command.split()[1:], "--runs", "1")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("deepsea --search eta=1..2", "did you mean deep-sea?"),
        ("ergodic --search etha=1..2", "must be NAME=RANGE, where aapi-paper takes phase_length, eta"),
        ("ergodic --search eta", "must be NAME=RANGE"),
        ("ergodic --search eta=a..b", "a range is LOW..HIGH"),
        ("ergodic --search eta=foo", "--search eta=foo: eta must be a finite number larger than 0, not 'foo'"),
        ("ergodic --search eta=", "choices are A,B,C"),
        ("ergodic --search eta=1..2 --eta 3", "eta is both fixed and searched"),
        ("ergodic --search eta=1..2 --trials 0", "trials must be at least 1, not 0"),
        ("ergodic --search eta=1..2 --search eta=3..4", "--search names a setting twice"),
        ("ergodic --search eta=1..2 --seed 99999999999999", "--seed must be at most 2147483648"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, tmp_path, arguments, message):
    status, out, err = run(capsys, "tune", *arguments.split(), "--out", str(tmp_path))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_without_optuna_the_extra_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.delitem(sys.modules, "aapi.experiments.tune", raising=False)
    status, _, err = run(capsys, "tune", "ergodic", "--search", "eta=1..2", "--out", str(tmp_path))
    assert (status, err) == (2, "aapi tune: tuning needs Optuna: pip install -e '.[tune]' in the clone\n")


def test_a_damaged_journal_is_left_as_it_is(tmp_path):
    tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=2000, runs=2, trials=2)
    journal = tmp_path / "tuning.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], b"nonsense\n", *lines[1:]]))
    before = journal.read_bytes()
    with pytest.raises(InvalidInput, match=r"damaged .* nothing was changed; move it away"):
        tune(ERGODIC, "aapi-paper", SEARCH, tmp_path, steps=2000, runs=2, trials=2)
    assert journal.read_bytes() == before
