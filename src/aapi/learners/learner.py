"""What a learner is, three functions on a value, and the only loop that plays one."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.learners.state import copied
from aapi.memory import remember
from aapi.schedules import Constant
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aapi.approximation import Policy, QSpace, Temperature
    from aapi.array_types import Array, Mask
    from aapi.memory import Memories
    from aapi.schedules import Schedule
    from aapi.simulation import PhaseData, Simulation


LONGEST = 1 << 31  # steps of a stretch


@dataclass(frozen=True, eq=False)
class Phase:
    """Phase k of a batch of runs, to log, to record or to stop by. Do not write to its arrays: the learner uses them.

    policy: π_k, by which it acted; next_policy: π_{k+1}. data: D_k.
    q_hat: Q̂_k, as the space holds it; temperature: η_k(x); surprise: ‖Q̂_k − M_k‖, (runs, states), where there is a
    table of it; prediction: M_{k+1}. All are missing in a last phase that is too short to be evaluated, and all but
    q_hat in learners that have none.
    weight: what the phase counts, its length as a multiple of the first one's; all but q_hat are multiplied by it
        already, and the prediction by that of the next phase.
    conditioning: the condition number of the equations behind Q̂_k, (runs,), from evaluations that tell it.
    exploring: the runs that explored, (runs,), if this is the exploration before phase k, which is not evaluated.
    """

    number: int
    policy: Policy
    data: PhaseData
    next_policy: Policy
    q_hat: Array | None = None
    temperature: Temperature = None
    surprise: Array | None = None
    prediction: Array | None = None
    weight: float = 1.0
    conditioning: Array | None = None
    exploring: Mask | None = None


class LearnerState(Protocol):
    """What the state of every learner has, which is a frozen dataclass with more in it.

    memories: what is remembered of the past. All data that a learner is given goes into all of them, so that others may
    add memories of their own.
    """

    @property
    def k(self) -> int:
        """The number of phases learnt from so far."""

    @property
    def memories(self) -> Memories:
        """A memory for each spec."""


S = TypeVar("S", bound=LearnerState)


class Learner(ABC, Generic[S]):
    """A learning algorithm: `init`, `act` and `update`, on a state that is a value.

    lockstep: whether the lengths of its stretches are the same in all runs. If not, runs are simulated one by one.
    """

    @property
    def lockstep(self) -> bool:
        """True unless a subclass says otherwise."""
        return True

    def check(self) -> None:
        """Raise an error if an argument is wrong."""

    @abstractmethod
    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> S:
        """The state before anything was seen.

        num_steps: T, how many steps there will be, if that is known; gap: of these, what others take between phases.
        """

    @abstractmethod
    def act(self, state: S) -> Stretch:
        """What to do next, and for how long. It may be asked several times."""

    @abstractmethod
    def update(self, state: S, data: PhaseData) -> tuple[S, Phase]:
        """Learn from the data of the stretch that `act` asked for. It may use the arrays of the state it is given."""

    def off_policy(self, space: QSpace) -> bool:
        """Whether it can learn from what other policies did, by `learn_from`."""
        return False

    def learn_from(self, state: S, data: PhaseData, behaviour: Policy) -> S:
        """Learn from a stretch in which another policy acted, or its own for less than it asked: a phase of it.

        It may use the arrays of the state it is given. The next stretch begins at data.time.
        """
        raise InvalidInput(cannot_learn_from_others(self))

    def observe(self, state: S, data: PhaseData, behaviour: Policy) -> S:
        """Remember data that another policy made, and learn nothing else from it."""
        return with_memories(state, remember(state.memories, data, behaviour))

    def current_policy(self, state: S) -> Policy:
        """What it would do now, as far as it has learnt: the policy of the stretch under way."""
        return self.act(state).policy

    @property
    def schedule(self) -> Schedule | None:
        """The lengths of its phases, where they depend on time alone; None if that is not known."""
        return None

    @property
    def phase_steps(self) -> int | None:
        """τ, if all phases are of one length."""
        schedule = self.schedule
        return schedule.shortest_phase if isinstance(schedule, Constant) else None

    @property
    def shortest_phase(self) -> int:
        """No phase that it learns from may be shorter."""
        return 1

    def with_phase_steps(self, steps: int) -> Self:
        """The same learner with phases of another length, if they are of one length; else itself."""
        if self.phase_steps is None:
            return self
        changed: Self = replace(self, phase_length=steps)  # type: ignore[type-var]
        return changed

    @property
    def inner(self) -> AnyLearner:
        """The learner itself; of one around another, the innermost."""
        return self

    def count_phases(self, num_steps: int, space: QSpace, gap: int = 0) -> int:
        """How many whole phases there are in so many steps, `gap` steps apart; about, if that depends on data."""
        return max(1, num_steps // 1000) if self.schedule is None else self.schedule.count(num_steps, space, gap)


def cannot_learn_from_others(learner: object) -> str:
    """The message for learners that learn only from what they did themselves."""
    return (
        f"{type(learner).__name__} learns only from what its own policies do: AAPI() on tables, or on vectors, "
        "GreedyAPI and AAPI with evaluate=LSTD() or SelfConsistent(), and the model-based learners learn from others"
    )


def with_memories(state: S, memories: Memories) -> S:
    """The state with other memories."""
    changed: S = replace(state, memories=memories)  # type: ignore[type-var]
    return changed


AnyLearner: TypeAlias = Learner[Any]


class Session(Generic[S]):
    """A learner in a simulation: what it knows so far, `state`, and the loop by which it acts and learns.

    copy_states: an update leaves the state it was given as it is, so that an error or an interrupt in it has changed
        nothing; else its arrays are used again.
    """

    def __init__(
        self, learner: Learner[S], simulation: Simulation, num_steps: int | None = None, *, copy_states: bool = False
    ) -> None:
        runs = len(simulation.streams)
        if not learner.lockstep and runs > 1:
            raise InvalidInput(f"the runs of {learner!r} fall out of step: simulate one at a time")
        self.learner, self.simulation, self.copy_states = learner, simulation, copy_states
        self.state = _check_state(learner.init(simulation.space, runs, num_steps))

    def play(self, num_steps: int) -> Iterator[Phase]:
        """Act and learn for some steps: a phase after each stretch. There is no other loop.

        The steps that are left at the end are taken and not learnt from: the last phase is then not complete, and
        another call goes on with it, where the simulation is able to pause.
        """
        last, begins = self.simulation.time + num_steps, False
        while self.simulation.time < last:
            stretch = _check_stretch(self.learner.act(self.state), self.simulation.time, begins)
            data = self.simulation.rollout(stretch, last - self.simulation.time)
            begins = data.complete
            if data.complete:
                yield self._update(data)
            else:
                learnt = self.learner.current_policy(self.state)
                yield Phase(stretch.number, stretch.acting, data, learnt, exploring=stretch.exploring)

    def _update(self, data: PhaseData) -> Phase:
        """Learn from a stretch. Where that fails, neither the state nor the random streams have moved."""
        before, streams = self.state, data.streams.copy()
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found, and said in one line
                found = self.learner.update(copied(before) if self.copy_states else before, data)
                if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Phase)):
                    raise InvalidInput(f"`update` returns a state and a Phase, not {found!r}")
                self.state, phase = found
        except BaseException:
            if self.state is before:
                data.streams[:] = streams
            raise
        return phase


def _check_stretch(stretch: object, now: int, begins: bool) -> Stretch:
    """What `act` returned, if it makes sense after `now` steps. begins: whether it must be a new one."""
    if not isinstance(stretch, Stretch):
        raise InvalidInput(f"`act` returns a Stretch, not {type(stretch).__name__}")
    if not (type(stretch.steps) is type(stretch.start) is int and stretch.steps > 0 <= stretch.start):
        at_least(1, **{"the steps of a stretch": stretch.steps})
        at_least(0, **{"the start of a stretch": stretch.start})
    if stretch.steps > LONGEST:
        raise InvalidInput(f"a stretch has at most {LONGEST} steps, not {stretch.steps}")
    if stretch.start > now or (begins and stretch.start < now):
        raise InvalidInput(f"a stretch must start where the last one ended, after {now} steps: {stretch.start}")
    return stretch


def _check_state(state: S) -> S:
    """A state that can be copied and stored, or an error."""
    sound = dataclasses.is_dataclass(state) and not isinstance(state, type) and "__dict__" in dir(state)
    if not sound or not {"k", "memories"} <= set(dir(state)):
        raise InvalidInput(
            f"a learner's state is a frozen dataclass (without slots) with at least k and memories, not "
            f"{type(state).__name__}"
        )
    return state


def play(learner: Learner[S], simulation: Simulation, num_steps: int) -> Iterator[Phase]:
    """Let a learner act and learn in a simulation from the beginning: a `Phase` after each stretch."""
    return Session(learner, simulation, num_steps).play(num_steps)


def check_learner(learner: object) -> None:
    """Raise an error if this is no learner, or an argument of it is wrong."""
    if not isinstance(learner, Learner):
        raise InvalidInput(
            "a learner is AAPI(), Politex(…), RLSVI(…) or a subclass of aapi.Learner with init, act and update (see "
            f"docs/extending.md), not {learner!r}"
        )
    learner.check()
