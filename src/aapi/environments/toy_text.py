"""Models of Gymnasium environments that have a table `P`; where an episode ends, the next one begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.checks import finite
from aapi.environments.tabulate import tabulate
from aapi.errors import InvalidInput, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import gymnasium

    from aapi.mdp import FiniteMDP


def from_table(
    env: gymnasium.Env[Any, Any] | str,
    *,
    action_names: Sequence[str] = (),
    state_names: Sequence[str] = (),
    end_reward: float = 0.0,
    **arguments: Any,
) -> FiniteMDP:
    """The model of an environment with `P[state][action]` = [(probability, successor, reward, ended), …].

    A transition that ends an episode leads to a first state, drawn from `initial_state_distrib`, and there is no limit
    on time. States have the numbers of observations; those in which episodes end are never visited.

    env: an environment, or its id and its arguments. end_reward: what ending an episode pays besides.
    """
    if isinstance(env, str):
        import gymnasium

        env = gymnasium.make(env, **arguments)
    inner: Any = env.unwrapped
    try:
        table, first = inner.P, inner.initial_state_distrib
    except AttributeError as error:
        raise InvalidInput(f"{env} has no {error.name}: a model needs the table P and initial_state_distrib") from None
    try:
        return _folded(table, first, list(action_names), state_names, end_reward)
    except InvalidInput as error:
        raise InvalidInput(f"{env}: {error}") from None
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise InvalidInput(
            f"{env} has no table P[state][action] = [(probability, successor, reward, ended), …] of all states "
            f"0, 1, … and actions ({one_line(error)})"
        ) from None


def _folded(
    table: Any, first: Any, action_names: Sequence[str], state_names: Sequence[str], end_reward: float
) -> FiniteMDP:
    """The model of a table and an initial distribution."""
    restarts = [(float(chance), state) for state, chance in enumerate(first) if chance > 0.0]

    def outcomes(state: int, action: int) -> Iterator[tuple[float, int, float]]:
        for probability, successor, reward, ended in table[state][action]:
            for chance, after in restarts if ended else [(1.0, int(successor))]:
                yield float(probability) * chance, after, float(reward) + end_reward * bool(ended)

    states = range(len(table))
    return tabulate(
        states, action_names or [f"action {a}" for a in range(len(table[0]))], outcomes, start=restarts[0][1],
        names=lambda x: state_names[x] if state_names else str(x),
    )  # fmt: skip


def frozen_lake(size: int = 4) -> FiniteMDP:
    """Gymnasium's FrozenLake, slippery, on its maps of 4 × 4 or 8 × 8 cells; after a hole or the goal, from the start.

    Reaching the goal pays 1.
    """
    from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

    if size not in (4, 8):
        raise InvalidInput(f"size must be 4 or 8, not {size}")
    actions = ["left", "down", "right", "up"]
    return from_table(
        FrozenLakeEnv(map_name=f"{size}x{size}"), action_names=actions, state_names=_cells(size, size)
    )  # fmt: skip


def taxi(rain: float = 0.0) -> FiniteMDP:
    """Gymnasium's Taxi: 20 for a passenger brought home, −1 a step, −10 for a pick-up or drop-off out of place.

    rain: the probability that a move goes to one of the sides instead, which needs Gymnasium 1.3.
    """
    from gymnasium.envs.toy_text.taxi import TaxiEnv

    finite(0.0, rain=rain)
    if rain >= 1.0:
        raise InvalidInput(f"rain must be below 1, not {rain}")
    env = TaxiEnv(is_rainy=True, rainy_probability=1.0 - rain) if rain else TaxiEnv()
    places = ("red", "green", "yellow", "blue", "taxi")
    names = []
    for state in range(env.observation_space.n):  # type: ignore[attr-defined]
        row, column, passenger, home = env.decode(state)
        names.append(f"({row},{column}) from {places[passenger]} to {places[home]}")
    return from_table(
        env, action_names=["down", "up", "right", "left", "pick up", "drop off"], state_names=names
    )  # fmt: skip


def cliff_walking(goal: float = 0.0, slippery: int = 0) -> FiniteMDP:
    """Gymnasium's CliffWalking: −1 a step, and −100 for the cliff, which leads back to the start, as the goal does.

    goal: what reaching the goal pays besides; with 0, staying away from the cliff is all there is, and λ_* = −1.
    slippery: 1 if a move goes to either side with probability 1/3 each, else 0.
    """
    from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv

    finite(0.0, goal=goal)
    if slippery not in (0, 1):
        raise InvalidInput(f"slippery must be 0 or 1, not {slippery}")
    return from_table(
        CliffWalkingEnv(is_slippery=bool(slippery)), action_names=["up", "right", "down", "left"],
        state_names=_cells(4, 12), end_reward=goal,
    )  # fmt: skip


def _cells(rows: int, columns: int) -> list[str]:
    return [f"({row},{column})" for row in range(rows) for column in range(columns)]
