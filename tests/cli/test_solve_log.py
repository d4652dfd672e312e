import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from commands import run
from logged import columns, uniform_logs

from aapi.environments import ergodic, river_swim
from aapi.mdp import FiniteMDP, estimate_model, solve


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns(uniform_logs(ergodic(5, 2), 2000, 1, 1), 0)), path)
    return path


def test_json_is_what_python_says(capsys, log):
    status, out, err = run(capsys, "solve", str(log), "--json")
    assert (status, err) == (0, "")
    facts, optimum = json.loads(out), estimate_model(log).optimum()
    assert facts["policy"] == optimum.policy.tolist() == solve(ergodic(5, 2)).policy.tolist()
    assert (facts["transitions"], facts["states"], facts["actions"], facts["pairs_tried"]) == (2000, 5, 2, 10)
    assert facts["gain_in_model"] == optimum.gain_in_model
    assert [facts["optimum"]["lower"], facts["optimum"]["upper"]] == [optimum.interval.lower, optimum.interval.upper]
    assert facts["optimum"]["lower"] < solve(ergodic(5, 2)).gain < facts["optimum"]["upper"]
    assert facts["never_tried"] == facts["rarely_tried"] == []


def test_the_table_says_what_is_honest_and_fits_80_columns(capsys, log):
    status, out, err = run(capsys, "solve", str(log))
    assert (status, err) == (0, "")
    assert "2000 transitions, 5 states, 2 actions" in out
    assert "in the model that chose it, which flatters it" in out
    assert "chosen on one half" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_too_little_data_is_said_with_the_pairs(capsys, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "state,action,reward,next_state\nhome,go,1,away\naway,go,0,home\nhome,stay,2,home\nhome,go,1,away\n"
    )
    status, out, err = run(capsys, "solve", str(path))
    assert (status, err) == (0, "")
    assert "go in away (1), go in home (2)" in " ".join(out.split())
    facts = json.loads(run(capsys, "solve", str(path), "--json")[1])
    assert facts["rarely_tried"] == [[0, 0], [1, 0]]
    path.write_text("state,action,reward,next_state\na,go,0,b\nb,go,1,a\n")
    assert "the log says next to nothing of the gain" in " ".join(run(capsys, "solve", str(path))[1].split())
    path.write_text("state,action,reward,next_state\na,go,1,b\na,go,1,b\na,go,1,b\n")
    status, out, err = run(capsys, "solve", str(path))
    unknown = "optimal gain unknown: 1 pair of a state and an action that the policy comes to, never tried"
    assert unknown in " ".join(out.split())
    assert "never tried, where the policy comes to: go in b" in out
    facts = json.loads(run(capsys, "solve", str(path), "--json")[1])
    assert facts["optimum"]["lower"] is facts["optimum"]["upper"] is facts["gain_in_model"] is None
    assert facts["never_tried"] == [[1, 0]]


def test_episodes_need_continuing(capsys, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("state,action,reward,next_state,done\n0,0,1,1,0\n1,0,5,2,1\n0,0,1,1,0\n1,0,5,2,1\n0,0,1,1,0\n")
    status, out, err = run(capsys, "solve", str(path))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "add --continuing" in err
    status, out, err = run(capsys, "solve", str(path), "--continuing", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["gain_in_model"] == pytest.approx(3.0)


def test_the_model_of_a_log_is_saved_and_learnt(capsys, log, tmp_path):
    saved = tmp_path / "model.csv"
    assert run(capsys, "solve", str(log), "--json", "--save", str(saved))[0] == 0
    assert FiniteMDP.load(saved).rewards.tolist() == estimate_model(log).model.rewards.tolist()
    assert run(capsys, "solve", str(saved), "--json")[0] == 0
    status, out, err = run(capsys, "run", str(log), "--steps", "100")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "is a log of transitions" in err
    assert "--save model.npz estimates one" in err


@pytest.mark.parametrize("name", ["model.csv", "P.npy", "model.npz"])
def test_models_are_saved_and_run_in_every_format(capsys, tmp_path, name):
    path = tmp_path / name
    status, _, err = run(capsys, "solve", "river-swim", "--states", "4", "--save", str(path))
    assert (status, err) == (0, "")
    again = run(capsys, "solve", str(path), "--json")[1]
    want = json.loads(run(capsys, "solve", "river-swim", "--states", "4", "--json")[1])
    assert json.loads(again)["gain"] == want["gain"]
    status, out, err = run(capsys, "run", str(path), "--steps", "200", "--runs", "2", "--json")
    assert (status, err) == (0, "")
    learnt = run(capsys, "run", "river-swim", "--states", "4", "--algorithm", "psrl", "--steps", "200", "--json")
    same = run(capsys, "run", str(path), "--algorithm", "psrl", "--steps", "200", "--json")
    assert json.loads(same[1])["average_reward"] == json.loads(learnt[1])["average_reward"]
    status, out, err = run(capsys, "solve", "river-swim", "--save", str(path))
    assert (status, out) == (2, "")
    assert err == f"aapi solve: --save {path} exists: replace it by --overwrite\n"
    assert run(capsys, "solve", "river-swim", "--save", str(path), "--overwrite")[0] == 0
    assert FiniteMDP.load(path).rewards.tolist() == river_swim(6).rewards.tolist()


def test_a_gymnasium_table_is_solved_as_a_continuing_task(capsys):
    """FrozenLake's best average reward a step is 0.01797: docs/decisions.md."""
    status, out, err = run(capsys, "solve", "FrozenLake-v1", "--continuing", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["gain"] == pytest.approx(0.01797, abs=5e-6)
    assert json.loads(out)["gain"] == json.loads(run(capsys, "solve", "frozen-lake", "--json")[1])["gain"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["FrozenLake-v1"],
            "FrozenLake-v1 may have episodes, and a gain is of a task that never ends: add --continuing",
        ),
        (["CartPole-v1", "--continuing"], "CartPole-v1 cannot be solved exactly, only learned by aapi train"),
        (["Nowhere-v1", "--continuing"], "there is no environment 'Nowhere-v1'"),
        (["FrozenLake-v1", "--continuing", "--size", "8"], "is a Gymnasium environment: drop --size"),
        (["ergodic", "--continuing"], "ergodic has no episodes: drop --continuing"),
        (["ergodic", "--save", "model.json"], "--save model.json must end in .npz, .csv or .npy"),
        (["ergodic", "--save", "nowhere/model.npz"], "the folder nowhere does not exist"),
        (["ergodic", "--save", "model.npy"], "must have a name that ends in P.npy"),
        (["ergodic", "--overwrite"], "--overwrite is for --save"),
        (["LOG", "--measures"], "is a log of transitions: drop --measures"),
        (["LOG", "--states", "3"], "is a log of transitions: drop --states"),
        (["absent.parquet"], "absent.parquet does not exist"),
        (["absent.csv"], "absent.csv does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, log, arguments, message):
    status, out, err = run(capsys, "solve", *[str(log) if word == "LOG" else word for word in arguments])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_csv_model_goes_through_a_study(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    river_swim(4).save("swim.csv")
    (tmp_path / "study.toml").write_text(
        'runs = 2\nsteps = 300\n[[problems]]\nname = "swim.csv"\n[[algorithms]]\nname = "psrl"\n'
    )
    status, _, err = run(capsys, "sweep", "study.toml", "--out", "results")
    assert status == 0, err
    assert np.isfinite(solve(FiniteMDP.load("swim.csv")).gain)


def test_rewards_beside_a_model_are_not_replaced_unasked(capsys, tmp_path):
    rewards = tmp_path / "R.npy"
    rewards.write_bytes(b"of somebody else")
    arguments = ["solve", "river-swim", "--save", str(tmp_path / "P.npy")]
    status, out, err = run(capsys, *arguments)
    assert (status, out, err) == (2, "", f"aapi solve: --save {rewards} exists: replace it by --overwrite\n")
    assert rewards.read_bytes() == b"of somebody else"
    assert run(capsys, *arguments, "--overwrite")[0] == 0
    assert FiniteMDP.load(tmp_path / "P.npy").rewards.tolist() == river_swim(6).rewards.tolist()


@pytest.mark.parametrize("name", ["log.csv", "model.csv"])
def test_names_from_a_file_send_no_codes_to_the_terminal(capsys, tmp_path, name):
    path, red = tmp_path / name, "\x1b[31mred"
    rows = {"log.csv": f"s,a,r,s'\n{red},{red},1,{red}\n", "model.csv": f"s,a,s',p,r\n{red},{red},{red},1,0\n"}
    path.write_text(rows[name])
    status, out, err = run(capsys, "solve", str(path))
    assert (status, err) == (0, "")
    assert "?[31mred in " in out
    assert "\x1b" not in out
