import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from aapi.errors import InvalidInput
from aapi.mdp.transition_log import read_log

LOG = {"state": [0, 1, 0, 1], "action": [0, 1, 1, 0], "reward": [1.0, 0.0, 2.0, -1.0], "next_state": [1, 0, 1, 1]}


def as_lists(log):
    return [array.tolist() for array in (log.states, log.actions, log.rewards, log.next_states)]


def in_every_form(tmp_path, columns):
    names = list(columns)
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    return tmp_path / "log.csv", tmp_path / "log.parquet", columns


def test_all_forms_say_the_same(tmp_path):
    for log in in_every_form(tmp_path, LOG):
        read = read_log(log)
        assert as_lists(read) == list(LOG.values())
        assert (read.num_states, read.num_actions, read.state_names, read.action_names) == (2, 2, None, None)


def test_names_are_sorted_and_other_columns_left_alone(tmp_path):
    log = {"time": [1, 2], "obs": ["b", "a"], "a": ["up", "down"], "r": [1, 2], "next": ["a", "b"], "pi": [0.5, 0.1]}
    for each in in_every_form(tmp_path, log):
        read = read_log(each)
        assert (read.state_names, read.action_names) == (("a", "b"), ("down", "up"))
        assert as_lists(read) == [[1, 0], [1, 0], [1.0, 2.0], [0, 1]]


def test_whole_numbers_as_floats_and_with_gaps(tmp_path):
    log = LOG | {"state": [2.0, 10.0, 2.0, 10.0], "next_state": [10.0, 2.0, 10.0, 10.0]}
    for each in in_every_form(tmp_path, log):
        read = read_log(each)
        assert (as_lists(read)[0], read.state_names) == ([0, 1, 0, 1], ("2", "10"))
        read = read_log(each, num_states=12, num_actions=3)
        assert (as_lists(read)[0], read.state_names, read.num_states, read.num_actions) == ([2, 10, 2, 10], None, 12, 3)
        with pytest.raises(InvalidInput, match="num_states is 10, so the state '10' is not one"):
            read_log(each, num_states=10)


def test_ends_of_episodes_lead_to_where_the_next_row_begins(tmp_path):
    log = {"state": [0, 1, 0, 2], "action": [0] * 4, "reward": [0, 1, 0, 5], "next_state": [1, 3, 2, 3]}
    for mark in ([False, True, False, True], [0, 1, 0, 1]):
        for each in in_every_form(tmp_path, log | {"done": mark}):
            with pytest.raises(InvalidInput, match=r"episodes, which end in 2 of 4 rows.*add --continuing"):
                read_log(each)
            read = read_log(each, continuing=True)
            assert as_lists(read) == [[0, 1], [0, 0], [0, 1], [1, 0]]  # state 2 is entered last, and never left
            assert read.dropped == 2


def test_the_end_of_the_log_is_left_out_if_it_goes_nowhere():
    log = {"state": [0, 1, 0, 5], "action": [0] * 4, "reward": [0.0] * 4, "next_state": [1, 0, 7, 9]}
    read = read_log(log)
    assert (read.dropped, read.state_names, as_lists(read)[3]) == (2, ("0", "1", "5"), [1, 0])
    many = {"state": [0, 0, 0], "action": [0] * 3, "reward": [0.0] * 3, "next_state": [1, 1, 0]}
    assert read_log(many).dropped == 0  # entered twice, it is no accident


def test_the_same_columns_are_needed_everywhere(tmp_path):
    for each in in_every_form(tmp_path, {name: LOG[name] for name in ("state", "action", "reward")}):
        with pytest.raises(InvalidInput, match="needs the columns state, action"):
            read_log(each)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": [0.5, 1.0, 0.0, 1.0]}, "0.5: observations must be put into bins"),
        ({"reward": [1.0, np.nan, 0.0, 0.0]}, "the reward nan is not a number to add up"),
        ({"reward": [1.0, np.inf, 0.0, 0.0]}, "the reward inf is not a number to add up"),
        ({"reward": ["a", "b", "c", "d"]}, "must hold numbers, not"),
        ({"done": ["0", "maybe", "1", "0"]}, "terminated must be true or false in every row, not 'maybe'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, change, message):
    columns = LOG | change
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    for log in (tmp_path / "log.parquet", columns):
        with pytest.raises(InvalidInput) as error:
            read_log(log)
        assert message in str(error.value)
        assert "\n" not in str(error.value)


def test_columns_that_do_not_fit(tmp_path):
    with pytest.raises(InvalidInput, match="lists of one length"):
        read_log(LOG | {"reward": [1.0]})
    for bad in ({name: [] for name in LOG}, LOG | {"state": [[0], [1], [0], [1]]}):
        with pytest.raises(InvalidInput, match="lists of one length"):
            read_log(bad)
    pyarrow.parquet.write_table(pyarrow.table(LOG | {"state": [[0], [1], [0], [1]]}), tmp_path / "lists.parquet")
    with pytest.raises(InvalidInput, match=r"lists.parquet.* must hold names or whole numbers"):
        read_log(tmp_path / "lists.parquet")
    pyarrow.parquet.write_table(pyarrow.table(LOG | {"state": [0, None, 1, 0]}), tmp_path / "null.parquet")
    with pytest.raises(InvalidInput, match="the column state has 1 rows without a value"):
        read_log(tmp_path / "null.parquet")
    pyarrow.parquet.write_table(pyarrow.table(LOG).slice(0, 0), tmp_path / "empty.parquet")
    with pytest.raises(InvalidInput, match="has no rows"):
        read_log(tmp_path / "empty.parquet")


def test_states_that_never_come_again_are_refused_before_a_table_is_made():
    count = 3000
    numbers = np.arange(count)
    log = {"state": numbers, "action": numbers, "reward": numbers, "next_state": numbers + 1}
    with pytest.raises(InvalidInput, match="3000 rows are too few for 3001 states and 3000 actions"):
        read_log(log)


def test_a_small_file_that_claims_many_rows_is_refused(tmp_path):
    count = 2_000_000
    zeros = pyarrow.array(np.zeros(count, dtype=np.int8))
    columns = dict.fromkeys(LOG, zeros) | {"reward": pyarrow.array(np.zeros(count))}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    with pytest.raises(InvalidInput, match="claims 2000000 rows"):
        read_log(tmp_path / "bomb.parquet")


def test_long_names_are_held_once(tmp_path):
    names = ["x" * 100_000, "y"] * 2
    pyarrow.parquet.write_table(
        pyarrow.table(LOG | {"state": names, "next_state": names[::-1]}), tmp_path / "l.parquet"
    )
    assert read_log(tmp_path / "l.parquet").num_states == 2


def test_parquet_without_pyarrow_is_one_hint(tmp_path, monkeypatch):
    path = in_every_form(tmp_path, LOG)[1]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=r"Parquet needs pyarrow: pip install -e '\.\[parquet\]' in the clone"):
        read_log(path)
