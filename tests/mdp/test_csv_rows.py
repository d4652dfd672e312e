import csv

import numpy as np
import pytest

from aapi.environments import access_control, deep_sea, ergodic, frozen_lake, maintenance, river_swim, taxi
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, solve


def dense(mdp):
    return mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions.reshape(-1, mdp.num_states)


def written(tmp_path, text, name="model.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "mdp", [deep_sea(5), ergodic(5, 3), river_swim(6), frozen_lake(), taxi(), access_control(4), maintenance()], ids=str
)
def test_models_come_back_to_the_bit(mdp, tmp_path):
    mdp.save(tmp_path / "model.csv")
    back = FiniteMDP.load(tmp_path / "model.csv")
    assert (dense(back) == dense(mdp)).all()
    assert (back.rewards == mdp.rewards).all()
    assert (back.outcomes is None) == (mdp.outcomes is None)
    if mdp.outcomes is not None:
        for name, array in vars(mdp.outcomes).items():
            assert (vars(back.outcomes)[name] == array).all()
    assert (back.state_names, back.action_names) == (mdp.state_names, mdp.action_names)


def test_a_written_file_is_what_another_program_reads(tmp_path):
    mdp = frozen_lake()
    mdp.save(tmp_path / "lake.csv")
    with (tmp_path / "lake.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["state", "action", "next_state", "probability", "reward"]
    names, total = list(mdp.state_names), np.zeros((16, 4, 16))
    for row in rows:
        index = names.index(row["state"]), mdp.action_names.index(row["action"]), names.index(row["next_state"])
        total[index] += float(row["probability"])
    assert (total.reshape(64, 16) == dense(mdp)).all()


TWO = "0,0,0,0.5,1\n0,0,1,0.5,1\n0,1,1,1,0\n1,0,0,1,-1\n1,1,1,1,2\n"
HEADINGS = [
    "s,a,s',p,r",
    "state,action,next_state,probability,reward",
    "idstatefrom,idaction,idstateto,Probability,Reward",
]


@pytest.mark.parametrize("heading", ["", *HEADINGS])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_headings_and_marks(tmp_path, heading, mark):
    text = f"{heading}\n{TWO}" if heading else TWO
    mdp = FiniteMDP.load(written(tmp_path, "\ufeff" + text.replace(",", mark)))
    assert dense(mdp).tolist() == [[0.5, 0.5], [0, 1], [1, 0], [0, 1]]
    assert mdp.rewards.tolist() == [[1, 0], [-1, 2]]
    assert (mdp.state_names, mdp.action_names) == (None, None)


def test_columns_may_be_in_any_order_and_states_have_names(tmp_path):
    text = "reward,probability,note,state,action,next_state\n2,1,x,b,go,a\n1,0.25,x,a,go,a\n3,.75,,a,go,b\n"
    mdp = FiniteMDP.load(written(tmp_path, text))
    assert (mdp.state_names, mdp.action_names) == (("b", "a"), ("go",))
    assert dense(mdp).tolist() == [[0, 1], [0.75, 0.25]]
    assert mdp.rewards.tolist() == [[2.0], [2.5]]
    assert mdp.outcomes.rewards.tolist() == [2.0, 3.0, 1.0]


def test_whole_numbers_that_do_not_begin_at_zero_are_names_in_order(tmp_path):
    mdp = FiniteMDP.load(written(tmp_path, "10,1,2,1,0\n2.0,1,10,1,5\n"))
    assert (mdp.state_names, mdp.action_names) == (("2", "10"), ("1",))
    assert dense(mdp).tolist() == [[0, 1], [1, 0]]


def test_a_state_number_of_any_size_costs_no_memory(tmp_path):
    mdp = FiniteMDP.load(written(tmp_path, f"0,0,{10**12},1,0\n{10**12},0,0,1,3\n"))
    assert (mdp.num_states, mdp.state_names) == (2, ("0", str(10**12)))
    assert solve(mdp).gain == pytest.approx(1.5, abs=1e-12)


def test_an_action_without_rows_acts_as_the_first_that_has_some(tmp_path):
    mdp = FiniteMDP.load(written(tmp_path, "0,0,1,1,0\n0,2,0,1,3\n1,1,0,0.5,1\n1,1,1,0.5,1\n"))
    assert dense(mdp).reshape(2, 3, 2).tolist() == [[[0, 1], [0, 1], [1, 0]], [[0.5, 0.5]] * 3]
    assert mdp.rewards.tolist() == [[0, 0, 3], [1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("state,action,next_state,probability,reward\n", "has no rows"),
        ("a,b\n1,2\n", "needs the columns state, action, next_state, probability, reward for a model, or"),
        (TWO + "0,1,0,0.25,0\n", "line 3: the probabilities of state 0, action 1 sum to 1.25, not to 1"),
        (TWO + TWO, "line 1: the probabilities of state 0, action 0 sum to 2, not to 1"),
        (TWO + "0,1,0,nan,0\n", "line 6: the probability must be between 0 and 1, not nan"),
        (TWO + "0,1,0,-0.5,0\n", "line 6: the probability must be between 0 and 1, not -0.5"),
        (TWO + "0,1,0,inf,0\n", "line 6: the probability must be between 0 and 1, not inf"),
        (TWO + "0,1,0,0,nan\n", "line 6: the reward must be a finite number of at most 1e+302, not nan"),
        (TWO + "0,1,0,0,1e303\n", "line 6: the reward must be a finite number of at most 1e+302, not 1e+303"),
        (TWO + "0,1,0,zero,0\n", "line 6: the probability 'zero' is no number"),
        (TWO + "0,1,0\n", "line 6: 3 columns, where there should be 5"),
        (TWO + ",1,0,0,0\n", "line 6: the state is empty"),
        (TWO + "0,1,7,0,0\n", "line 6: no row begins in the next_state '7'"),
        (TWO + "0,1," + "x" * 1000 + ",0,0\n", "line 6: no row begins in the next_state 'xxx"),
        (TWO + "0,1," + "x" * 200_000 + ",0,0\n", "is not a table (field larger than field limit"),
        ("\0\1\2", "is not a table of text"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput) as error:
        FiniteMDP.load(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_states_and_actions_that_ask_for_a_table_much_larger_than_the_file_are_refused(tmp_path):
    lines = "".join(f"s{i},a{i},s{i},1,0\n" for i in range(2000))
    with pytest.raises(InvalidInput, match="2000 rows are too few for the 4000000 pairs"):
        FiniteMDP.load(written(tmp_path, lines))
    wide = "".join(f"0,0,{i},0.001,0\n" for i in range(1000))
    lines = (
        wide
        + "".join(f"{i},{j},0,1,0\n" for i in range(1, 1000) for j in (i, 0))
        + "".join(f"{x},0,{i},0,0\n" for x in range(1, 3) for i in range(1000))
    )
    with pytest.raises(InvalidInput, match="rows are too few for the"):
        FiniteMDP.load(written(tmp_path, lines))


def test_what_csv_has_no_place_for(tmp_path):
    with pytest.raises(InvalidInput, match=r"only an .npz file has a place for the normal noise"):
        river_swim(6, noise=0.5).save(tmp_path / "noise.csv")
    for names in (["a", "a"], ["1", "0"], [" a", "b"], ["", "b"], ["a\nb", "c"]):  # would not come back as they are
        mdp = FiniteMDP(np.eye(2)[:, None, :], [[0.0], [1.0]], state_names=names)
        mdp.save(tmp_path / "model.csv")
        back = FiniteMDP.load(tmp_path / "model.csv")
        assert (back.state_names, dense(back).tolist(), back.rewards.tolist()) == (None, [[1, 0], [0, 1]], [[0], [1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("s,a,s',p,r\nM\xfcnchen,0,M\xfcnchen,1,0\n".encode("latin-1"), "is not text in UTF-8: save it"),
        ("s,a,s',p,r\n0,0,0,1,0\n".encode("utf-16"), "is not text in UTF-8: save it"),
        (b"s,a,s',p,r,A\n0,0,0,1,0,1\n", "has two columns called 'a': remove or rename one"),
    ],
)
def test_other_encodings_and_headings_that_come_twice(tmp_path, content, message):
    path = tmp_path / "model.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        FiniteMDP.load(path)
