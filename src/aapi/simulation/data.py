"""What a learner asks of a simulation, `Stretch`, and what it gets, `PhaseData`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aapi.approximation.space import no_streams
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.approximation import Array, Policy, QSpace
    from aapi.array_types import AnyArray


NO_GRID = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class StepRule:
    """What acts and learns at every step, as two kernels that step loops are compiled with.

    choose(q, visits, numbers, settings, work, run, x, u): the action in state x, by a number u drawn from [0, 1).
    learn(q, visits, numbers, settings, work, run, x, a, reward, y, b): take in a step from x to y. b: the action to be
        taken next.
    on_policy: that action is chosen before the step is learnt from, as Sarsa needs it; else after it, and b is −1.
    q, visits, numbers: what is learnt, as arrays with runs first; numbers are of a run as a whole, (runs, n). They move
        on as steps are taken. settings: a named tuple of numbers. work: room that the kernels need.
    next_actions: those chosen already, (runs · copies,), or −1; they move on, too.
    """

    choose: Any
    learn: Any
    on_policy: bool
    q: Array
    visits: NDArray[np.int64]
    numbers: Array
    settings: Any
    work: Any
    next_actions: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stretch:
    """What to do next: act by `behaviour` for `steps` steps.

    number: of the phase that this is, or comes before. start: the time at which it begins.
    policy: π_k, what is learnt so far; behaviour: another policy that acts in this stretch, such as an exploration.
    exploring: the runs in which that is so, (runs,), if this is an exploration.
    limits: end the stretch early as soon as some pair was visited limits(x, a) times in it, (runs, states, actions);
        for simulations of one run, whose states are countable. look_ahead: end it later, when such a pair is about to
        be taken once more. That step is not taken, and the random number for its action is not spent.
    rule: acts in place of a policy, and learns meanwhile; `policy` is then what was learnt before.
    """

    number: int
    start: int
    steps: int
    policy: Policy
    behaviour: Policy = None
    exploring: NDArray[np.bool_] | None = None
    limits: NDArray[np.int64] | None = None
    look_ahead: bool = False
    rule: StepRule | None = None

    @property
    def acting(self) -> Policy:
        """The policy that acts."""
        return self.policy if self.behaviour is None else self.behaviour


@dataclass(frozen=True, eq=False)
class PhaseData:
    """D_k: what happened in a stretch, each of shape (runs, steps), and the state it led to, of shape (runs,).

    A run may go round several copies of its environment. Then its steps are those of the copies in turn, as many of
    each, and last_state is of shape (runs, copies); `successors` are the states after each step either way.

    states: whole numbers for finite problems; for others observation vectors, with one more axis, as in last_state.
    reward_sums: sums over parts of the stretch, (runs, parts), which end at the steps `part_ends`, counted from the
        stretch's first.
    time: the steps taken in all when the next stretch begins. complete: whether the stretch is over; else it paused.
    streams: the random streams of the runs, (runs, 4), from which a learner draws, too; draws move them on.
    reward_table: r(x, a) in this stretch, where rewards change, ([runs,] states, actions); None: that of the model.
    """

    states: AnyArray
    actions: NDArray[np.int32]
    rewards: Array
    last_state: AnyArray
    reward_sums: Array
    part_ends: NDArray[np.int64]
    time: int = 0
    complete: bool = True
    streams: NDArray[np.uint64] = field(default_factory=no_streams)
    reward_table: Array | None = None

    @property
    def steps(self) -> int:
        """How many there are in each run."""
        return int(self.rewards.shape[1])

    @property
    def last_states(self) -> AnyArray:
        """The state that each copy is in afterwards, (runs, copies), also if there is one."""
        return self.last_state.reshape(len(self.states), -1, *self.states.shape[2:])

    @property
    def copies(self) -> int:
        """How many a run goes round: step t + copies follows on step t."""
        return int(self.last_states.shape[1])

    @property
    def successors(self) -> AnyArray:
        """The state after each step, of the shape of `states`."""
        return np.concatenate([self.states[:, self.copies :], self.last_states], axis=1)


class Simulation(Protocol):
    """A batch of runs that a learner can act in.

    space: how Q-functions are held. streams: a random stream for each run, (runs, 4). time: steps taken so far.
    grid: steps at which sums of rewards are cut, whatever the stretches.
    """

    streams: NDArray[np.uint64]
    time: int
    grid: NDArray[np.int64]

    @property
    def space(self) -> QSpace:
        """How Q-functions are held."""

    def rollout(self, stretch: Stretch, most: int) -> PhaseData:
        """Act in a stretch until it is over, but for `most` steps at the most; all of its data so far."""


@kernel
def stretch_ends(grid: Any, time: Any, steps: Any) -> Any:
    """Where to cut the next `steps` steps, counted from `time` on: at the steps of the grid, and at the end."""
    first, last = np.searchsorted(grid, time + 1), np.searchsorted(grid, time + steps)
    ends = np.full(last - first + 1, steps, dtype=np.int64)
    ends[:-1] = grid[first:last] - time
    return ends
