import json
import sys

import numpy as np
import processes
import pytest
from commands import run

import aapi
from aapi.environments import ergodic
from aapi.registry.problems import ON_VECTORS, PROBLEMS


def test_json(capsys):
    status, out, err = run(capsys, "solve", "ergodic", "--states", "10", "--actions", "2", "--json")
    facts = json.loads(out)
    assert (status, err) == (0, "")
    assert facts["gain"] == pytest.approx(0.210478, abs=5e-7)
    assert facts["gain_lower"] <= facts["gain"] <= facts["gain_upper"] <= facts["gain_lower"] + 1e-12
    assert facts["policy"] == [0] * 4 + [1] * 6
    assert facts["recurrent_classes"] == [list(range(10))]
    assert [facts[key] for key in ("states", "actions", "period", "mixing_time")] == [10, 2, 1, 5]
    assert facts["bias_span"] == pytest.approx(0.921048, abs=5e-7)


def test_json_says_why_there_is_no_mixing_time(capsys):
    facts = json.loads(run(capsys, "solve", "deep-sea", "--size", "10", "--json")[1])
    assert facts["gain"] == pytest.approx(1.5, abs=1e-12)
    assert facts["mixing_time"] is None
    assert "period 10" in facts["mixing_time_reason"]


def test_json_of_a_multichain_file_has_a_gain_per_state(capsys, tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, transitions=np.eye(2)[:, None, :], rewards=[[1.0], [2.0]])
    facts = json.loads(run(capsys, "solve", str(path), "--json")[1])
    assert facts["gain"] == [1.0, 2.0]
    assert facts["recurrent_classes"] == [[0], [1]]
    assert "{0} and {1}" in facts["mixing_time_reason"]
    assert "1 to 2, by state" in run(capsys, "solve", str(path))[1]


def test_measures(capsys):
    facts = json.loads(run(capsys, "solve", "ergodic", "--states", "5", "--measures", "--json")[1])
    assert facts["worst_mixing_time"] == 6
    assert facts["worst_mixing_time_exact"]
    assert facts["mismatch"] == pytest.approx(12.33, abs=0.005)
    assert facts["mismatch_optimal"] == pytest.approx(7.07, abs=0.005)
    assert facts["diameter"] == pytest.approx(4.8)
    facts = json.loads(run(capsys, "solve", "deep-sea", "--size", "3", "--measures", "--json")[1])
    assert facts["mismatch"] is None
    assert "avoid" in facts["mismatch_reason"]
    assert "period 3" in facts["worst_mixing_time_reason"]


@pytest.mark.parametrize(
    "problem", [word for word in PROBLEMS if word not in ON_VECTORS and not word.startswith("against-the-")]
)
def test_every_word_is_solved_and_certified(capsys, problem):
    facts = json.loads(run(capsys, "solve", problem, "--json")[1])
    assert facts["gain_lower"] <= facts["gain"] <= facts["gain_upper"]
    assert facts["gain_upper"] - facts["gain_lower"] <= 1e-9 * max(1.0, abs(facts["gain"]))


def test_sizes_of_the_zoo(capsys):
    facts = json.loads(run(capsys, "solve", "rooms", "--size", "9", "--rooms", "4", "--slip", "0", "--json")[1])
    assert facts["gain"] == pytest.approx(1 / 17)


@pytest.mark.parametrize(
    "problem", [["river-swim", "--states", "4"], ["access-control"], ["garnet", "--model-seed", "3"], ["deep-sea"]]
)
def test_table_fits_80_columns(capsys, problem):
    status, out, err = run(capsys, "solve", *problem, "--measures")
    assert (status, err) == (0, "")
    assert "optimal gain" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "ergodik"], "unknown problem 'ergodik' (did you mean ergodic?): choose ergodic, deep-sea,"),
        (["solve", "absent.npz"], "absent.npz does not exist"),
        (["solve", "ergodic", "--size", "3"], "ergodic takes --states and --actions, not --size"),
        (["solve", "ergodic", "--states", "1"], "ergodic: --states must be at least 3, not 1"),
        (["solve", "deep-sea", "--size", "ten"], "argument --size: invalid int value: 'ten'"),
        (["solve"], "the following arguments are required: problem"),
        (["sovle"], "invalid choice: 'sovle'"),
        ([], "the following arguments are required: command"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_bad_files_are_one_line_and_status_2(capsys, tmp_path):
    good = tmp_path / "good.npz"
    ergodic(5, 2).save(good)
    truncated = tmp_path / "truncated.npz"
    truncated.write_bytes(good.read_bytes()[:300])
    nan = tmp_path / "nan.npz"
    np.savez(nan, transitions=[[[np.nan]]], rewards=[[0.0]])
    for path, words in ((truncated, "truncated"), (nan, "state 0, action 0 hold nan"), (tmp_path, "is a folder")):
        status, out, err = run(capsys, "solve", str(path))
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert words in err
        assert str(path) in err


def test_names_are_shown_as_they_are(capsys, tmp_path):
    path = tmp_path / "names.npz"
    np.savez(path, transitions=np.ones((1, 2, 1)), rewards=[[0.0, 1.0]], action_names=["[/x]", "[bold]left"])
    status, out, err = run(capsys, "solve", str(path))
    assert (status, err) == (0, "")
    assert "[bold]left in 0" in out
    assert "1 state, 2 actions" in out


def test_a_problem_that_does_not_fit_into_memory_is_one_line(capsys):
    status, out, err = run(capsys, "solve", "garnet", "--states", "100000000000")
    assert (status, out, err) == (2, "", "aapi solve: not enough memory for a problem of this size\n")


def test_help_is_light_and_shows_examples():
    script = (
        "import sys; from aapi.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'scipy', 'matplotlib', 'plotly', 'rich', 'tensorboard', 'PIL'} & set(sys.modules)))"
    )
    done = processes.python("-c", script, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "examples:" in done.stdout
    done = processes.run([*processes.AAPI, "--version"], check=True)
    assert done.stdout == f"aapi {aapi.__version__}\n"


def test_ctrl_c_before_the_command_is_known():
    script = (
        "import signal, sys; from aapi.cli import main\n"
        "main.parser = lambda: signal.raise_signal(signal.SIGINT)\n"
        "sys.exit(main.main([]))"
    )
    done = processes.python("-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "aapi: interrupted\n")


def test_a_closed_pipe_is_no_error():
    script = f"{sys.executable} -m aapi solve garnet --json | head -c 1"
    done = processes.run(["bash", "-c", script], check=True)
    assert (done.stdout, done.stderr) == ("{", "")


def test_rules_stand_beside_the_optimum(capsys):
    _, printed, _ = run(capsys, "solve", "maintenance", "--json")
    found = json.loads(printed)
    assert found["rules"] == {"control limit 4": pytest.approx(found["gain"])}
    assert "rule               control limit 4: 0.757407" in run(capsys, "solve", "maintenance")[1]
    assert "rules" not in json.loads(run(capsys, "solve", "ergodic", "--json")[1])
