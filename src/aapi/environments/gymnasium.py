"""The problems as Gymnasium environments, which never terminate; see `registration` for their ids."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import gymnasium
import numpy as np
import scipy.sparse
from gymnasium import spaces

from aapi.environments import drawing
from aapi.environments.access_control import PAYMENTS, access_control
from aapi.environments.cartpole import LIMIT, MAX_ANGLE, MAX_POSITION, cartpole
from aapi.environments.continuous_env import ContinuousEnv
from aapi.environments.deep_sea import deep_sea
from aapi.environments.ergodic import ergodic
from aapi.environments.problem_env import ProblemEnv, check_action
from aapi.environments.river_swim import river_swim
from aapi.environments.routing import routing
from aapi.environments.tandem_queue import tandem_queue
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.array_types import Array, Integers
    from aapi.environments.problem_env import SavedState
    from aapi.gymnasium_types import Action, Info


_Row: TypeAlias = "tuple[array[float], array[int], array[float] | None, float]"

# Bounds on the speeds of the cart and of the pole under any policy, from discrete steps v' = v + dt·a, x' = x + dt·v.
# Where an episode goes on, an angle and its successor lie within ±15°, so |θ̇| ≤ 30°/dt = 26.2 before the last step, and
# the formulas give |θ̈| ≤ 31.7 and |ẍ| ≤ 18.6. Now v'² − v² = 2a(x' − x) + (dt·a)². Summed over the at most 200 steps
# since v last changed its sign (or the start), in which x moves one way and thus by no more than its whole range R:
# v² ≤ (dt·a)² + 2aR + 200(dt·a)², that is 14.4² for the cart (R = 4.8) and 10.7² for the pole (R = 0.524).
MAX_SPEED, MAX_TURN = 15.0, 11.0


class FiniteMDPEnv(ProblemEnv):
    """Any finite model: observations are states, rewards are r(x, a), or drawn, and it never terminates.

    Where the model forbids actions, the info of reset and step has an `action_mask`.

    model: a `FiniteMDP`, or the path of an .npz file that one was saved to.
    render_mode: "ansi" for text, "rgb_array" for pictures.
    """

    def __init__(self, model: FiniteMDP | str | os.PathLike[str] | None = None, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        if isinstance(model, str | os.PathLike):
            model = FiniteMDP.load(model)
        if not isinstance(model, FiniteMDP):
            raise InvalidInput(f"model must be a FiniteMDP or the path of an .npz file, not {model!r}")
        self.model = model
        self.observation_space = spaces.Discrete(model.num_states)
        self.action_space = spaces.Discrete(model.num_actions)
        self.action_names = model.action_names
        self._num_actions = model.num_actions
        self._masks = None if model.allowed is None else model.allowed.astype(np.int8)
        self._rows: dict[int, _Row] = {}  # of the pairs visited so far
        self._state = -1  # until reset
        self._previous = -1

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[int, Info]:
        """Go to the initial state."""
        super().reset(seed=seed, options=options)
        self._state, self._previous = self.model.initial_state, -1
        return self._state, self._info()

    def _info(self) -> Info:
        """What is allowed in the present state, if not everything is."""
        return {} if self._masks is None else {"action_mask": self._masks[self._state].copy()}

    def step(self, action: Action) -> tuple[int, float, bool, bool, Info]:
        """Draw the successor."""
        action = check_action(action, self._num_actions)
        state = self._state
        pair = state * self._num_actions + action
        row = self._rows.get(pair)
        if row is None:
            row = self._rows[pair] = self._row(state, action)
        rewards, successors, cumulated, spread = row
        self._previous = state
        # bisect_right never stops at a successor whose cumulated probability is no larger than the one before.
        chosen = 0 if cumulated is None else bisect_right(cumulated, self.np_random.random())
        self._state = state = successors[chosen]
        reward = rewards[chosen]
        if spread:
            reward += spread * self.np_random.standard_normal()
        return state, reward, False, False, self._info()

    def _row(self, state: int, action: int) -> _Row:
        """What may follow: rewards, successors, their cumulated probabilities if there are several, and noise."""
        if state < 0:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        probabilities, successors, rewards = self._outcomes(state, action)
        cumulated = None
        if len(probabilities) > 1:
            cumulated = array("d", np.cumsum(probabilities).tolist())
            cumulated[-1] = 1.0  # a draw is below one, so rounding cannot lead past the end
        spread = 0.0 if self.model.reward_spread is None else float(self.model.reward_spread[state, action])
        return array("d", rewards.tolist()), array("q", successors.tolist()), cumulated, spread

    def _outcomes(self, state: int, action: int) -> tuple[Array, Integers, Array]:
        """The probabilities, successors and rewards of all that may follow."""
        outcomes = self.model.outcomes
        if outcomes is None:
            rows, rewards = self.model.pairs(np.array([state]), np.array([action]))
            row = scipy.sparse.csr_array(rows)
            return row.data, row.indices, np.repeat(rewards, row.nnz)
        pair = state * self._num_actions + action
        which = slice(outcomes.starts[pair], outcomes.starts[pair + 1])
        return outcomes.probabilities[which], outcomes.successors[which], outcomes.rewards[which]

    def get_state(self) -> list[float]:
        """The state, except for the random generator, for `set_state`."""
        if self._state < 0:
            raise gymnasium.error.ResetNeeded("call reset() before get_state()")
        return [self._state]

    def set_state(self, state: SavedState) -> None:
        """Go to a state that `get_state` returned."""
        try:
            (number,) = state
            whole = int(number)
        except (TypeError, ValueError, OverflowError):
            whole = -1
        if not 0 <= whole < self.model.num_states or whole != number:
            raise InvalidInput(f"state must be a list of one number in 0..{self.model.num_states - 1}, not {state!r}")
        self._state, self._previous = whole, -1

    def _places(self) -> tuple[Integers, Integers]:
        """The row and the column of each state: its two coordinates, or consecutive states row by row."""
        cells = self.model.coordinates
        if cells is not None and cells.shape[1] == 2 and cells.max() <= 4096:
            return cells[:, 0], cells[:, 1]
        count = self.model.num_states
        columns = count if count <= 20 else int(np.ceil(np.sqrt(2 * count)))
        row, column = np.divmod(np.arange(count), columns)
        return row, column

    def _marked(self) -> drawing.Board:
        row, column = self._places()
        best = self.model.rewards.max(axis=1)
        span = best.max() - best.min()
        shade = np.full((row.max() + 1, column.max() + 1), np.nan)
        shade[row, column] = (best - best.min()) / span if span > 0 else 0.0
        agent, previous = ((int(row[x]), int(column[x])) for x in (self._state, self._previous))
        return drawing.Board(shade, agent, previous if self._previous >= 0 else None)

    def _text(self) -> str:
        names = self.model.state_names
        name = f" {names[self._state]}" if names else ""
        return drawing.board_text(self._marked(), f"state {self._state} of {self.model.num_states}{name}")

    def _picture(self) -> NDArray[np.uint8]:
        return drawing.board_picture(self._marked())


class ErgodicEnv(FiniteMDPEnv):
    """`aapi.environments.ergodic`."""

    def __init__(self, num_states: int = 10, num_actions: int = 2, render_mode: str | None = None) -> None:
        super().__init__(ergodic(num_states, num_actions), render_mode)


class RiverSwimEnv(FiniteMDPEnv):
    """`aapi.environments.river_swim`."""

    def __init__(self, num_states: int = 6, render_mode: str | None = None) -> None:
        super().__init__(river_swim(num_states), render_mode)


class DeepSeaEnv(FiniteMDPEnv):
    """`aapi.environments.deep_sea`."""

    def __init__(self, size: int = 10, render_mode: str | None = None) -> None:
        super().__init__(deep_sea(size), render_mode)
        self.size = size

    def _marked(self) -> drawing.Board:
        depth = np.repeat(np.linspace(0.1, 1.0, self.size)[:, None], self.size, axis=1)
        treasure = (self.size - 1, self.size - 1)
        return replace(super()._marked(), shade=depth, treasure=treasure, tint=drawing.SEA)


class RoutingEnv(FiniteMDPEnv):
    """`aapi.environments.routing`."""

    def __init__(self, capacity: int = 8, arrivals: float = 0.4, render_mode: str | None = None) -> None:
        super().__init__(routing(capacity, arrivals), render_mode)


class TandemQueueEnv(FiniteMDPEnv):
    """`aapi.environments.tandem_queue`."""

    def __init__(self, capacity: int = 10, arrivals: float = 0.25, render_mode: str | None = None) -> None:
        super().__init__(tandem_queue(capacity, arrivals), render_mode)


class AccessControlEnv(FiniteMDPEnv):
    """`aapi.environments.access_control`."""

    def __init__(self, num_servers: int = 10, render_mode: str | None = None) -> None:
        super().__init__(access_control(num_servers), render_mode)
        self.num_servers = num_servers

    def _text(self) -> str:
        free, priority = divmod(self._state, len(PAYMENTS))
        return drawing.queue_text(self.num_servers, free, f"{PAYMENTS[priority]:g}")

    def _picture(self) -> NDArray[np.uint8]:
        free, priority = divmod(self._state, len(PAYMENTS))
        return drawing.queue_picture(self.num_servers, free, priority, f"{PAYMENTS[priority]:g}")


class CartPoleEnv(ContinuousEnv):
    """`aapi.environments.cartpole`: it never terminates. The observation is (x, ẋ, θ, θ̇)."""

    def __init__(self, render_mode: str | None = None) -> None:
        bounds = np.array([MAX_POSITION, MAX_SPEED, MAX_ANGLE, MAX_TURN])
        super().__init__(cartpole(), -bounds, bounds, render_mode)

    def _is_possible(self, state: Array) -> bool:
        taken = float(state[4])  # the number of steps in the episode
        return taken.is_integer() and 0 <= taken < LIMIT

    def _text(self) -> str:
        x, speed, angle, turn, _ = self._state.tolist()
        return drawing.cart_text((x, speed, angle, turn), MAX_POSITION)

    def _picture(self) -> NDArray[np.uint8]:
        return drawing.cart_picture(float(self._state[0]), float(self._state[2]), MAX_POSITION)
