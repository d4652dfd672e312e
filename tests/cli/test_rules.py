"""Rules of thumb on the command."""

import json
import sys

import pytest
from commands import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("inthumb", None)
    (tmp_path / "inthumb.py").write_text("def down(state):\n    return 1\n\ndef wrong(state):\n    return 9\n")
    return tmp_path


def test_training_says_how_much_the_rule_acted_and_who_is_trusted(capsys):
    new = ["train", "FrozenLake-v1", "--rule", "inthumb:down", "--steps", "900", "--save", "l.aapi"]
    status, out, _ = run(capsys, *new)
    assert status == 0
    assert "rule acted in 900 steps, 100.0%; now the rule is trusted" in " ".join(out.split())
    status, out, _ = run(capsys, *["train", "--resume", "l.aapi", "--steps", "3000", "--json"])
    facts = json.loads(out)
    assert status == 0
    assert 900 < facts["rule_steps"] < 3000
    assert facts["trusted"] in ("the learner", "the rule")
    assert run(capsys, "train", "--resume", "l.aapi", "--steps", "3100", "--rule", "inthumb:down")[0] == 0


def test_a_rule_of_the_library_has_a_name_that_files_remember(capsys):
    arguments = "train aapi/CrissCross-v0 --rule threshold-4 --steps 300 --save q.aapi"
    assert run(capsys, *arguments.split())[0] == 0
    status, out, err = run(capsys, *["evaluate", "q.aapi", "--steps", "100", "--json"])
    assert (status, err) == (0, "")
    assert json.loads(out)["average_reward"] < 0


def test_runs_take_rules_by_name_and_functions_of_states(capsys):
    for rule in ("all", "inthumb:down"):
        status, out, _ = run(capsys, "run", "admission", "--rule", rule, "--steps", "2000", "--runs", "2", "--json")
        facts = json.loads(out)
        assert status == 0
        assert 1000 <= facts["rule_steps"] <= 2000
        assert facts["trusted"] in (0, 1, 2)
    status, out, _ = run(capsys, *["run", "admission", "--rule", "all", "--steps", "500", "--runs", "2"])
    assert "acted in 500 steps of a run, 100.0%; in the end the learner is trusted in 0 of 2 runs" in " ".join(
        out.split()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train FrozenLake-v1 --rule inthumb:wrong", "the rule returned 9 at 0: actions are 0 to 3"),
        ("train FrozenLake-v1 --rule inthumb:none", "no function 'none': it has down, wrong"),
        ("train FrozenLake-v1 --rule maxweight", "must be module:function here"),
        ("train aapi/CrissCross-v0 --rule maxwait", "did you mean maxweight?"),
        ("train FrozenLake-v1 --algorithm differential-q --rule inthumb:down", "learns only from what its own"),
        ("run admission --rule inthumb:wrong", "the rule returned 9 at 0: actions are 0 to 2"),
        ("run admission --rule some", "must be all, keep-1-free"),
        ("run river-swim --rule c-mu", "must be module:function, not 'c-mu'"),
        ("run cartpole --rule inthumb:down", "a rule needs countable states"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(capsys, arguments, message):
    status, _, err = run(capsys, *arguments.split(), "--steps", "50")
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
