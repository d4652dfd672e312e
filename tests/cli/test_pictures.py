"""Small pictures in the terminal: they say what is so, fit the screen, and need no special letters."""

import io
import sys

import numpy as np
import pytest
from commands import run

from aapi.cli.pictures import learned_picture, solution_picture
from aapi.cli.text import bar, marks
from aapi.environments import access_control, deep_sea, ergodic, river_swim
from aapi.mdp import FiniteMDP, solve


def drawn(mdp):
    return list(solution_picture(mdp, solve(mdp)))


def test_the_optimal_cycle_of_deep_sea():
    _, *rows = drawn(deep_sea(6))
    assert rows == [
        "  · · · · ← ·",
        "  · · · ← · ·",
        "  · · → · · ·",
        "  · · · → · ·",
        "  · · · · → ·",
        "  · · · · · ←",
    ]


def test_shares_of_time_are_the_stationary_distribution():
    solution = solve(ergodic(10))
    head, *rows = solution_picture(ergodic(10), solution)
    assert head.split() == ["state", "action", "share", "of", "time"]
    shown = [row.split() for row in rows]
    assert [float(words[3]) for words in shown] == pytest.approx(solution.values.stationary_distribution, abs=6e-4)
    assert [f"{words[1]} {words[2]}" for words in shown] == [f"action {action}" for action in solution.policy]
    longest = max(range(10), key=lambda state: len(rows[state]))
    assert longest == int(np.argmax(solution.values.stationary_distribution))


def test_what_was_learned():
    mdp = ergodic(5)
    policies = np.zeros((2, 5, 2))
    policies[0, range(5), solve(mdp).policy] = 1.0
    policies[1] = 0.5
    _, *rows = learned_picture(mdp, policies)
    assert [row.split()[:2] for row in rows] == [[str(state), "0.750"] for state in range(5)]
    always_right = np.tile([0.1, 0.9], (3, 16, 1))
    always_right[:, 0] = 0.5
    _, *rows = learned_picture(deep_sea(4), always_right)
    assert rows == ["  · → → →", *["  → → → →"] * 3]


@pytest.mark.parametrize(
    "mdp", [ergodic(31), deep_sea(31), deep_sea(60), FiniteMDP(np.eye(3)[:, None, :], np.zeros((3, 1)))]
)
def test_what_does_not_fit_or_depends_on_the_start_is_not_drawn(mdp):
    assert drawn(mdp) == []


@pytest.mark.parametrize(
    "mdp", [ergodic(30), deep_sea(30), river_swim(6), access_control(2), FiniteMDP([[[1.0]]], [[1.0]])]
)
def test_all_fit_into_80_columns(mdp):
    uniform = np.full((1, mdp.num_states, mdp.num_actions), 1.0 / mdp.num_actions)
    for line in [*drawn(mdp), *learned_picture(mdp, uniform)]:
        assert len(line) <= 80


def test_long_names_leave_no_room_for_a_picture():
    mdp = FiniteMDP(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), state_names=["x" * 70, "y"])
    assert drawn(mdp) == []
    assert all(len(line) <= 80 for line in learned_picture(mdp, np.ones((1, 2, 1))))


def test_letters_for_actions():
    assert marks(["left", "right"]) == ["←", "→"]
    assert marks(["accept", "reject"]) == ["a", "r"]
    assert marks(["action 0", "action 1"]) == ["0", "1"]
    assert marks(["ab", "aab", ""]) == ["0", "1", "2"]


def test_without_unicode(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert bar(0.5, 10) == "#####"
    assert bar(1e-9, 10) == "#"
    lines = [*drawn(deep_sea(4)), *drawn(ergodic(4))]
    assert all(line.isascii() for line in lines)
    assert "l" in lines[1]


def test_commands_draw_and_json_does_not(capsys):
    _, out, _ = run(capsys, "solve", "deep-sea", "--size", "4")
    assert out.endswith("  · · · ←\n")
    assert "\033" not in out
    _, out, _ = run(capsys, "run", "ergodic", "--states", "4", "--steps", "500", "--runs", "2")
    assert "probability of the optimal action at the end, mean over runs, by state:" in out
    assert all(len(line) <= 80 for line in out.splitlines())
