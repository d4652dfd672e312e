"""Tables and pictures of policies."""

import csv
import sys

import numpy as np
import pytest

import aapi
from aapi.environments import deep_sea, river_swim
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.policies import Names, PolicyTable, names_of

TABLE = PolicyTable(
    np.array([[0.0, 3.0], [1.0, 2.0], [0.5, 2.0]]),
    np.array([[0.1, 0.7, 0.2], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]]),
    np.array([[1.0, 5.0, 2.0], [3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    Names(("stock", "orders"), ("wait", "<buy>", "sell")),
)  # fmt: skip


def test_what_it_does_how_likely_and_how_often():
    assert TABLE.actions.tolist() == [1, 0, 2]
    np.testing.assert_allclose(TABLE.probability, [0.7, 0.4, 1.0])
    np.testing.assert_allclose(TABLE.lead, [0.5, 0.0, 1.0])
    assert TABLE.been.tolist() == [8, 4, 0]
    assert TABLE.tried.tolist() == [5, 3, 0]


def test_text_is_a_small_table():
    assert TABLE.text(2).splitlines() == [
        "stock  orders  action  probability   lead  visits  tried",
        "    0       3  <buy>         0.700  0.500       8      5",
        "    1       2  wait          0.400  0.000       4      3",
        "… and 1 more observations",
    ]
    assert repr(TABLE) == TABLE.text()
    html = TABLE._repr_html_()
    assert "<th>stock</th>" in html
    assert "&lt;buy&gt;" in html


def test_long_observations_are_one_column():
    table = PolicyTable(np.eye(2, 40), np.ones((2, 1)), None, Names().filled(40, 1))
    header, first, _ = table.text().splitlines()
    assert header.split() == ["observation", "action", "probability", "lead"]
    assert first.startswith("1 0 0 0")
    assert "0 …  0 " in first


def test_a_csv_file_has_all_rows_and_probabilities(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv")
    rows = list(csv.reader((tmp_path / "t.csv").read_text().splitlines()))
    names = ["stock", "orders", "action", "probability", "lead", "visits", "tried", "p(wait)", "p(<buy>)", "p(sell)"]
    assert rows[0] == names
    assert rows[2] == ["1", "2", "wait", "0.4", "0.0", "4", "3", "0.4", "0.4", "0.2"]
    assert len(rows) == 4


def test_control_characters_of_a_file_do_not_reach_the_terminal():
    table = PolicyTable(np.zeros((1, 1)), np.ones((1, 1)), None, Names(("a\x1b[2J",), ("b\n",)))
    assert "\x1b" not in table.text()
    assert table.text().count("\n") == 1


def test_a_policy_of_a_model_is_shown_where_it_spends_its_time():
    model = river_swim(6)
    best = solve(model)
    table = aapi.policy_table(model, best.policy)
    shares = best.values.stationary_distribution
    np.testing.assert_array_equal(table.observations[:, 0], np.argsort(-shares, kind="stable"))
    np.testing.assert_allclose(table.been, np.sort(shares)[::-1])
    assert {table.names.actions[a] for a in table.actions} == {"right"}
    half = aapi.policy_table(model, np.full((6, 2), 0.5))
    np.testing.assert_allclose(half.been.sum(), 1.0)
    assert (half.lead == 0.0).all()


def test_shares_that_depend_on_the_start_are_left_out():
    table = aapi.policy_table(FiniteMDP(np.eye(3)[:, None, :], np.zeros((3, 1))), [0, 0, 0])
    assert table.visits is None
    assert table.text().splitlines()[0] == "state  action  probability   lead"


def test_what_a_run_learnt_is_a_table():
    model = deep_sea(4)
    result = aapi.run(aapi.AAPI(), model, num_steps=2000, num_runs=2)
    table = result.policy_table(1)
    assert table.names.observations == ("row", "column")
    state = np.flatnonzero((model.coordinates == table.observations[0]).all(axis=1))[0]
    np.testing.assert_array_equal(table.probabilities[0], result.next_policy[1, state])
    shares = policy_values(model, result.next_policy[1]).stationary_distribution
    assert table.been[0] == shares.max()
    with pytest.raises(InvalidInput, match=r"run must lie in 0\.\.1, not 2"):
        result.policy_table(2)


@pytest.mark.parametrize("policy", [[0, 2], [0.5, 0.5], [[1.0], [1.0]], [0, 0, 0]])
def test_a_policy_that_does_not_fit_is_refused(policy):
    with pytest.raises(InvalidInput, match=r"a policy is an action for each of 2 states|actions lie in 0\.\.1"):
        aapi.policy_table(FiniteMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2))), policy)


class Named:
    observation_names, action_names = ["jobs"], ("reject", "admit")


def test_an_environment_names_what_it_shows():
    names = names_of(Named())
    assert names == names.fitting(1, 2) == Names(("jobs",), ("reject", "admit"))
    assert names.fitting(2, 3) == names_of(None) == Names()  # names of something else
    assert Names(("a",)).filled(1, 2, 3) == Names(("a",), ("3", "4"))
    with pytest.raises(InvalidInput, match="there are 2 actions to name, and 1 names: x"):
        Names((), ("x",)).filled(1, 2)


@pytest.mark.parametrize("names", [{"action": ["a"]}, ["a"], {"actions": "ab"}, {"actions": [1, 2]}])
def test_names_are_lists_of_texts(names):
    with pytest.raises(InvalidInput, match="names"):
        Names().updated(names)


def colours_of(figure):
    panel = next(axes for axes in figure.axes if axes.images)
    return np.asarray(panel.images[0].get_array()), panel


def test_a_map_has_a_cell_for_each_observation_and_marks_where_it_never_was(tmp_path):
    table = PolicyTable(
        np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 2.0], [2.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.6, 0.4]]),
        np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 0.0], [0.0, 0.0]]),
        Names(("cars", "people"), ("$stop$", "go")), title="a crossing",
    )  # fmt: skip
    cells, panel = colours_of(table.picture(tmp_path / "map.png"))
    assert cells.shape[:2] == (3, 3)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("cars", "people")
    distinct = {tuple(cells[y, x]) for x, y in ((0, 0), (1, 0), (2, 2), (2, 0), (1, 1))}
    assert len(distinct) == 5  # sure of either, a tie, a little ahead, nothing there
    hatched = {(patch.get_x() + 0.5, patch.get_y() + 0.5, patch.get_width()) for patch in panel.patches}
    assert hatched == {(2.0, 0.0, 1.0), (0.0, 1.0, 3.0), (0.0, 2.0, 2.0)}
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_more_coordinates_are_slices_and_one_is_bars():
    grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    table = PolicyTable(grid, np.tile([0.3, 0.7], (27, 1)), None, Names(("a", "b", "c"), ("0", "1")))
    assert [panel.get_title(loc="left") for panel in table.picture().axes] == ["c = 0", "c = 1", "c = 2"]
    line = PolicyTable(grid[:9, 2:], np.tile([0.3, 0.7], (9, 1)), None, Names(("c",), ("0", "1")))
    (panel,) = line.picture().axes
    assert [bar.get_height() for bar in panel.patches[:9]] == [0.3] * 9
    assert panel.get_xlabel() == "c"


def test_a_picture_is_a_file_that_matplotlib_can_write(tmp_path, monkeypatch):
    for name in ("p.pdf", "p.svg"):
        TABLE.picture(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(InvalidInput, match=r"a picture is a \.png, \.pdf or \.svg file, not 'p.gif'"):
        TABLE.picture("p.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InvalidInput, match="pictures need matplotlib: pip install"):
        TABLE.picture("p.png")
