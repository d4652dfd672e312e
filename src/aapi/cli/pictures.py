"""Pictures of policies in characters, for grids and for problems with few states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.cli.text import BLUE, FAINT, bar, coloured, fancy, line_length, marks, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aapi.mdp import FiniteMDP, Solution


MOST_ROWS = 30
LEAST_WIDTH = 8  # of bars


def solution_picture(mdp: FiniteMDP, solution: Solution) -> Iterator[str]:
    """The optimal policy in the states it visits in the long run, or in all, with the share of time spent in each."""
    if not _is_small(mdp) or len(solution.values.chain.recurrent_classes) > 1:
        return  # with several classes, the shares depend on the start
    shape, shares = _grid(mdp), solution.values.stationary_distribution
    if shape is not None:
        yield "the optimal policy, row by row, in the states it visits in the long run:"
        yield from _rows(mdp, shape, solution.policy, shares > 0.0)
        return
    labels, names = _state_labels(mdp), _action_names(mdp)
    states, actions = max(5, *map(len, labels)), max(6, *(len(names[action]) for action in solution.policy))
    width = line_length() - states - actions - 12
    if width < LEAST_WIDTH:
        return
    yield f"{'state':<{states}}  {'action':<{actions}}  share of time"
    for label, action, share in zip(labels, solution.policy, shares, strict=True):
        drawn = coloured(bar(share / max(shares), width), BLUE)
        yield f"{label:<{states}}  {names[action]:<{actions}}  {share:<6.3f}  {drawn}".rstrip()


def learned_picture(mdp: FiniteMDP, policies: NDArray[np.float64]) -> Iterator[str]:
    """The last policies of runs, (runs, states, actions): actions on a grid, or the probability of the optimal one."""
    if not _is_small(mdp):
        return
    shape, mean = _grid(mdp), policies.mean(axis=0)
    if shape is not None:
        yield f"the last policies, row by row ({_dot()}: no action has a probability above 2/3):"
        yield from _rows(mdp, shape, mean.argmax(axis=1), mean.max(axis=1) > 2 / 3)
        return
    from aapi.mdp import solve

    labels = _state_labels(mdp)
    states = max(map(len, labels))
    width = line_length() - states - 11
    if width < LEAST_WIDTH:
        return
    yield "probability of the optimal action at the end, mean over runs, by state:"
    for label, chance in zip(labels, mean[range(mdp.num_states), solve(mdp).policy], strict=True):
        yield f"  {label:>{states}}  {chance:.3f}  {coloured(bar(chance, width), BLUE)}".rstrip()


def _rows(
    mdp: FiniteMDP, shape: tuple[int, int], actions: NDArray[np.int64], shown: NDArray[np.bool_]
) -> Iterator[str]:
    letters = [coloured(mark, BLUE) for mark in marks(_action_names(mdp))]
    drawn = [letters[action] if show else _dot() for action, show in zip(actions, shown, strict=True)]
    for row in range(shape[0]):
        yield "  " + " ".join(drawn[row * shape[1] : (row + 1) * shape[1]])


def _dot() -> str:
    return coloured("·" if fancy() else ".", FAINT)


def _names(given: Sequence[str] | None, default: str, count: int) -> list[str]:
    """Names with ? for control characters, which a model file may contain; numbers, if there are none."""
    names = given or [default.format(number) for number in range(count)]
    return [printable(name) for name in names]


def _action_names(mdp: FiniteMDP) -> list[str]:
    return _names(mdp.action_names, "action {}", mdp.num_actions)


def _state_labels(mdp: FiniteMDP) -> list[str]:
    return _names(mdp.state_names, "{}", mdp.num_states)


def _is_small(mdp: FiniteMDP) -> bool:
    return mdp.num_states <= MOST_ROWS or _grid(mdp) is not None


def _grid(mdp: FiniteMDP) -> tuple[int, int] | None:
    """Rows and columns, if the states are the cells of a grid that fits the screen."""
    shape = mdp.grid_shape
    if shape is None or shape[0] > MOST_ROWS or 2 * shape[1] + 2 > line_length():
        return None
    return shape
