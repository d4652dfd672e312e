import json

import pytest
from commands import run

from aapi.environments import criss_cross
from aapi.mdp import solve


def test_json(capsys):
    status, out, err = run(capsys, "solve", "criss-cross", "--regime", "IL", "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert found["gain"] == pytest.approx(-0.67062, abs=1e-4)  # Dai and Gluzman (2022)
    assert found["gain_lower"] <= found["gain"] <= found["gain_upper"]
    assert found["uncapped_gain_lower"] <= -0.67062 <= found["uncapped_gain_upper"] + 5e-6
    assert found["uncapped_gain_upper"] - found["uncapped_gain_lower"] < 1e-5
    assert found["time_at_cap"] < 1e-5
    assert (found["states"], found["actions"], found["caps"]) == (17**3, 2, [16] * 3)
    assert len(found["policy"]) == 17**3
    rules = found["rules"]
    assert rules["threshold 1"] == max(rules.values()) < found["gain"]
    assert -rules["threshold 1"] < 1.005 * 0.679


def test_it_is_the_model_with_matrices(capsys):
    found = json.loads(run(capsys, "solve", "criss-cross", "--regime", "BM", "--cap", "4", "--json")[1])
    exact = solve(criss_cross("BM", 4))
    assert found["gain"] == pytest.approx(exact.gain, abs=1e-9)
    assert found["bias_span"] == pytest.approx(exact.bias_span, abs=1e-5)
    measured = json.loads(
        run(capsys, "solve", "criss-cross", "--regime", "BM", "--cap", "1", "--measures", "--json")[1]
    )
    assert measured["gain"] == pytest.approx(solve(criss_cross("BM", 1)).gain)
    assert measured["diameter"] > 0


def test_the_table(capsys):
    status, out, err = run(capsys, "solve", "criss-cross", "--regime", "BL", "--cap", "5")
    assert (status, err) == (0, "")
    assert "criss-cross: 216 states, 2 actions" in out
    assert "rule              threshold 1: -0.8" in out
    assert ", proven" in out
    assert "by events, without matrices" in out
    assert max(map(len, out.splitlines())) <= 80
    out = run(capsys, "solve", "six-class", "--cap", "1")[1]
    assert "without caps      at most -" in out
    assert "jobs come back to stations where they were" in out


def test_a_rule_of_admission(capsys):
    assert "rule               keep 1 free of 2, 3 of 1: 29.4711" in run(capsys, "solve", "admission")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--regime", "BHH"], "argument --regime: invalid choice: 'BHH' (did you mean BH?): choose IL, BL, IM,"),
        (["--cap", "0"], "criss-cross: --cap must be at least 1, not 0"),
        (["--cap", "many"], "argument --cap: invalid int value: 'many'"),
        (["--states", "3"], "criss-cross takes --regime and --cap, not --states"),
        (["--regime", "IH", "--measures"], "criss-cross: 1030301 states with 2 actions are too many for matrices"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, arguments, message):
    status, out, err = run(capsys, "solve", "criss-cross", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_regime_is_for_criss_cross(capsys):
    status, out, err = run(capsys, "solve", "ergodic", "--regime", "BM")
    assert (status, out) == (2, "")
    assert "ergodic takes --states and --actions, not --regime" in err


def test_help_lists_the_regimes(capsys):
    out = run(capsys, "solve", "--help")[1]
    assert "--regime {IL,BL,IM,BM,IH,BH}" in out
    assert "traffic (criss-cross)" in " ".join(out.split())


def test_other_commands_take_a_regime(capsys, tmp_path):
    status, out, err = run(
        capsys, "run", "criss-cross", "--regime", "IL", "--cap", "2", "--steps", "400", "--runs", "1", "--json"
    )
    assert (status, err) == (0, "")
    assert json.loads(out)["optimal_gain"] == pytest.approx(solve(criss_cross("IL", 2)).gain)
    status, out, err = run(capsys, "run", "criss-cross", "--regime", "IH")
    assert (status, out, err.count("\n")) == (2, "", 1)
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "regimes"\nsteps = 500\nruns = 1\n[[problems]]\nname = "criss-cross"\nregime = ["IL", "BM"]\n'
        'cap = 2\n[[algorithms]]\nname = "politex"\n'
    )
    out = run(capsys, "sweep", str(study), "--out", str(tmp_path / "out"))[1]
    assert "criss-cross IL,2" in out
    assert "criss-cross BM,2" in out
    study.write_text(study.read_text().replace('"BM"', '"BMM"'))
    status, _, err = run(capsys, "sweep", str(study), "--out", str(tmp_path / "out"))
    assert (status, err.count("\n")) == (2, 1)
    assert "regime must be one of IL, BL, IM, BM, IH, BH, not 'BMM' (did you mean BM?)" in err
