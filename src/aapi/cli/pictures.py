"""Small pictures of policies, in characters: for grids and for problems of few states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.cli.text import bar, coloured, fancy, line_length, marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.mdp import FiniteMDP, Solution

__all__ = ["learned_picture", "solution_picture"]

MOST_ROWS = 30
LEAST_WIDTH = 8  # of bars


def solution_picture(mdp: FiniteMDP, solution: Solution) -> Iterator[str]:
    """The optimal policy where it leads; for few states, with the share of time spent in each."""
    shape, shares = _grid(mdp), _shares(mdp, solution)
    if shares is None:
        return
    if shape is not None:
        yield "the optimal policy, row by row, where it leads in the long run:"
        yield from _rows(mdp, shape, solution.policy, shares > 0.0)
        return
    words, names = _words(mdp), _names(mdp)
    states, actions = max(5, *map(len, words)), max(6, *(len(names[action]) for action in solution.policy))
    width = line_length() - states - actions - 12
    if width < LEAST_WIDTH:
        return
    yield f"{'state':<{states}}  {'action':<{actions}}  share of time"
    for word, action, share in zip(words, solution.policy, shares, strict=True):
        drawn = coloured(bar(share / max(shares), width), 34)
        yield f"{word:<{states}}  {names[action]:<{actions}}  {share:<6.3f}  {drawn}".rstrip()


def learned_picture(mdp: FiniteMDP, policies: Any) -> Iterator[str]:
    """What runs ended with: actions on a grid, else the probability of the optimal one. (runs, states, actions)."""
    if not _is_small(mdp):
        return
    shape, mean = _grid(mdp), policies.mean(axis=0)
    if shape is not None:
        yield f"what runs do at the end, row by row ({_dot()}: no action in two thirds of cases):"
        yield from _rows(mdp, shape, mean.argmax(axis=1), mean.max(axis=1) > 2 / 3)
        return
    from aapi.mdp import solve

    words = _words(mdp)
    states = max(map(len, words))
    width = line_length() - states - 11
    if width < LEAST_WIDTH:
        return
    yield "probability of the optimal action at the end, mean over runs, by state:"
    for word, chance in zip(words, mean[range(mdp.num_states), solve(mdp).policy], strict=True):
        yield f"  {word:>{states}}  {chance:.3f}  {coloured(bar(chance, width), 34)}".rstrip()


def _rows(mdp: FiniteMDP, shape: tuple[int, int], actions: Any, shown: Any) -> Iterator[str]:
    letters = [coloured(mark, 34) for mark in marks(_names(mdp))]
    drawn = [letters[action] if show else _dot() for action, show in zip(actions, shown, strict=True)]
    for row in range(shape[0]):
        yield "  " + " ".join(drawn[row * shape[1] : (row + 1) * shape[1]])


def _dot() -> str:
    return coloured("·" if fancy() else ".", 2)


def _names(mdp: FiniteMDP) -> Sequence[str]:
    return _printable(mdp.action_names or [f"action {action}" for action in range(mdp.num_actions)])


def _printable(names: Sequence[str]) -> list[str]:
    """Names of a file may hold what would move the cursor."""
    return ["".join(letter if letter.isprintable() else "?" for letter in name) for name in names]


def _words(mdp: FiniteMDP) -> Sequence[str]:
    return _printable(mdp.state_names or [str(state) for state in range(mdp.num_states)])


def _is_small(mdp: FiniteMDP) -> bool:
    return mdp.num_states <= MOST_ROWS or _grid(mdp) is not None


def _shares(mdp: FiniteMDP, solution: Solution) -> Any:
    """The share of time that the optimal policy spends in each state; nothing if that depends on the start."""
    if not _is_small(mdp) or len(solution.values.chain.recurrent_classes) > 1:
        return None
    return solution.values.stationary_distribution


def _grid(mdp: FiniteMDP) -> tuple[int, int] | None:
    """Rows and columns, if the states are the cells of a grid that fits the screen."""
    shape = mdp.grid_shape
    if shape is None or shape[0] > MOST_ROWS or 2 * shape[1] + 2 > line_length():
        return None
    return shape
