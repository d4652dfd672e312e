"""Exploration around a learner: before each phase but the first, runs that ought to explore do so."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.approximation.space import NOT_STORED
from aapi.checks import finite
from aapi.errors import InvalidInput
from aapi.exploration import Excursion, Situation, as_exploration
from aapi.exploration.exploration import checked
from aapi.exploration.survey import Ended, Outlook, Survey
from aapi.learners.learner import Learner, Phase, with_memories
from aapi.learners.state import restored_parts
from aapi.memory import CountTransitions, empty_memories

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Arrays, Integers
    from aapi.exploration import Exploration
    from aapi.exploration.exploration import ExplorationLike, Explorations
    from aapi.learners.learner import AnyLearner
    from aapi.memory import Counts, Memories
    from aapi.schedules import Schedule
    from aapi.simulation import PhaseData, Stretch


COUNTS = CountTransitions()
# The usual length of an exploration, or more where there are many pairs, up to a limit.
STEPS, STEPS_PER_PAIR, MOST_STEPS = 50, 0.1, 2500


@dataclass(frozen=True, eq=False)
class ExploringState:
    """inner: the learner's state. start: when the stretch under way begins. explored: steps spent so far, (runs,).

    outlook: what plans of explorations have found, and what these have cost.
    excursion: what `excursion.runs` do in this stretch, if it is an exploration.
    """

    space: QSpace = field(metadata=NOT_STORED)
    inner: Any
    start: int
    explored: Integers
    outlook: Outlook
    excursion: Excursion | None = None

    @property
    def k(self) -> int:
        """Phases learnt from so far."""
        return int(self.inner.k)

    @property
    def memories(self) -> Memories:
        """Those of the learner, counts of transitions among them."""
        memories: Memories = self.inner.memories
        return memories

    def restored(self, arrays: Arrays) -> ExploringState:
        """What was stored, in an exploration or not."""
        like = self
        if "excursion_policies" in arrays:
            shape = self.inner.memories[COUNTS].visits.shape
            out = Excursion(np.zeros(len(self.explored), dtype=bool), np.zeros(shape))
            steps = 1 if "excursion_steps" in arrays else None
            limits = np.zeros(shape, dtype=np.int64) if "excursion_limits" in arrays else None
            like = replace(self, excursion=replace(out, steps=steps, limits=limits))
        found = restored_parts(like, arrays)
        if not ((found.explored >= 0) & (found.explored <= found.start)).all():
            raise InvalidInput(f"of {found.start} steps, {found.explored.tolist()} cannot have been explorations")
        return found


@dataclass(frozen=True)
class Exploring(Learner[ExploringState]):
    """A learner that explores between its phases. What is seen then is remembered, and nothing else is learnt from it.

    exploration: parts that are asked in turn, before each phase but the first, whether a run ought to explore. Where
        runs are simulated side by side, those that ought not to follow their policy meanwhile, for as long.
    max_exploration: at no time are more than this share of the steps so far explorations, logged steps among them; from
        1 on, how many steps may be explorations in all. None: as many as the parts ask for.
    It explores where states can be counted. Elsewhere the learner is played as it is.
    """

    learner: AnyLearner
    exploration: tuple[ExplorationLike, ...]
    max_exploration: float | None = None

    @property
    def lockstep(self) -> bool:
        """True if the learner and all parts are in lockstep."""
        return self.learner.lockstep and all(as_exploration(part).lockstep for part in self.exploration)

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        if isinstance(self.learner, Exploring) or not isinstance(self.exploration, tuple | list):
            raise InvalidInput(f"Exploring goes around one learner, with a tuple of parts, not {self.exploration!r}")
        self.learner.check()
        for part in self.exploration:
            as_exploration(part).check()
        if (most := self.max_exploration) is not None:
            finite(0.0, max_exploration=most)
            if most > 1.0 and most != int(most):
                raise InvalidInput(f"max_exploration is a share below 1, or a whole number of steps, not {most!r}")

    def init(self, space: QSpace, runs: int, num_steps: int | None = None, gap: int = 0) -> ExploringState:
        """The learner's own start; and transitions are counted."""
        inner = self.learner.init(space, runs, num_steps, gap + (self._gap(space) or 0))
        if self._gap(space) is not None:
            wanted = [COUNTS, *(part.memory for part in self._parts if part.memory is not None)]
            more = empty_memories([spec for spec in wanted if spec not in inner.memories], space, runs)
            inner = with_memories(inner, {**inner.memories, **more})
        return ExploringState(space, inner, 0, np.zeros(runs, dtype=np.int64), Outlook.start(space, runs))

    def act(self, state: ExploringState) -> Stretch:
        """Explore, or do what the learner does."""
        stretch = replace(self.learner.act(state.inner), start=state.start)
        out = state.excursion
        if out is None:
            return stretch
        steps = out.steps or default_steps(out.policies.shape)
        return replace(
            stretch, steps=steps, behaviour=out.policies, exploring=out.runs, limits=out.limits, look_ahead=False,
            rule=None,
        )  # fmt: skip

    def update(self, state: ExploringState, data: PhaseData) -> tuple[ExploringState, Phase]:
        """After an exploration, remember what was seen; after a phase, learn, and see who ought to explore next."""
        out = state.excursion
        if out is not None:
            outlook = self._charged(state, data) if out.priced else state.outlook
            inner = self.learner.observe(state.inner, data, out.policies)
            stretch, explored = self.learner.act(inner), state.explored + data.steps * out.runs
            phase = Phase(stretch.number, out.policies, data, stretch.policy, exploring=out.runs)
            after = ExploringState(state.space, inner, data.time, explored, outlook)
            asked = [part for part in self._parts if part.again]
            return self._with_excursion(after, data, asked, Ended(data, phase=False) if out.compared else None), phase
        gap = self._gap(state.space) or 0
        inner, phase = self.learner.update(state.inner, replace(data, time=data.time + gap))
        after = ExploringState(state.space, inner, data.time, state.explored, state.outlook)
        return self._with_excursion(after, data, self._parts, Ended(data, phase=True)), replace(phase, data=data)

    def off_policy(self, space: QSpace) -> bool:
        """If the learner can learn from others."""
        return self.learner.off_policy(space)

    def learn_from(self, state: ExploringState, data: PhaseData, behaviour: Policy) -> ExploringState:
        """The learner's; an exploration that is due stays due."""
        return replace(state, inner=self.learner.learn_from(state.inner, data, behaviour), start=data.time)

    def observe(self, state: ExploringState, data: PhaseData, behaviour: Policy) -> ExploringState:
        """Remember data that another policy made."""
        return replace(state, inner=self.learner.observe(state.inner, data, behaviour))

    def current_policy(self, state: ExploringState) -> Policy:
        """The learner's."""
        return self.learner.current_policy(state.inner)

    @property
    def schedule(self) -> Schedule | None:
        """The learner's, if the time between its phases depends on nothing but time, too."""
        return self.learner.schedule if self.lockstep else None

    @property
    def phase_steps(self) -> int | None:
        """The learner's τ."""
        return self.learner.phase_steps

    def with_phase_steps(self, steps: int) -> Exploring:
        """The same around the learner with another τ."""
        return replace(self, learner=self.learner.with_phase_steps(steps))

    @property
    def inner(self) -> AnyLearner:
        """The learner inside."""
        return self.learner

    def count_phases(self, num_steps: int, space: QSpace, gap: int = 0) -> int:
        """Phases of the learner, with explorations between them."""
        return self.learner.count_phases(num_steps, space, gap + (self._gap(space) or 0))

    def _gap(self, space: QSpace) -> int | None:
        """How long the exploration before a phase is, 0 if that is not known; None where there is none."""
        if not space.countable:
            return None
        return default_steps(space.shape(1)) if self.lockstep else 0

    @property
    def _parts(self) -> list[Exploration]:
        return [as_exploration(part) for part in self.exploration]

    def _charged(self, state: ExploringState, data: PhaseData) -> Outlook:
        """The outlook after an excursion that has a price."""
        seen = cast("Counts", state.memories[COUNTS]).seen[0]
        return state.outlook.charged(seen, data.states[0], data.last_states[0], data.rewards[0])

    def _with_excursion(
        self, state: ExploringState, data: PhaseData, parts: list[Exploration], ended: Ended | None
    ) -> ExploringState:  # fmt: skip
        """With what is done before the next phase, by those runs that a part sends out; others follow their policy.

        ended: the stretch that just ended, if what it lost is to be noted.
        """
        counts = cast("Counts | None", state.memories.get(COUNTS))
        if counts is None or not parts:  # states cannot be counted
            return state
        usual = default_steps(counts.visits.shape)
        room = self._room(state, data.time)
        able = room >= (usual if self.lockstep else 1)
        free, policies = able.copy(), self.learner.act(state.inner).policy.copy()
        chosen = Excursion(np.zeros(len(free), dtype=bool), policies)
        survey = Survey(counts, state.outlook, ended)
        for part in parts:
            if not free.any():
                break
            out = part(Situation(counts, state.explored, free, data.streams, state.memories, survey))
            if out is not None:
                out = checked(out, counts.visits.shape)
                if self.lockstep and not (out.steps is None and out.limits is None):
                    raise InvalidInput(f"{part!r} has excursions of its own length: its `lockstep` must be False")
                sent = out.runs & free
                policies[sent] = out.policies[sent]
                free &= ~sent
                if not self.lockstep and sent.any():
                    chosen = replace(out, runs=chosen.runs, policies=policies)
        sent = able & ~free
        excursion = replace(chosen, runs=sent) if self.lockstep or sent.any() else None
        if excursion is not None and not self.lockstep and (excursion.steps or usual) > room[0]:
            excursion = replace(excursion, steps=int(room[0]))
        return replace(state, outlook=survey.outlook, excursion=excursion)

    def _room(self, state: ExploringState, time: int) -> Array:
        """How many steps of exploration each run may begin now, a whole number for each copy, (runs,)."""
        most = self.max_exploration
        if most is None:
            return np.full(len(state.explored), np.inf)
        left = most - state.explored if most >= 1.0 else (most * time - state.explored) / (1.0 - most)
        return np.asarray(np.floor(left / state.space.copies) * state.space.copies)


def default_steps(shape: tuple[int, ...]) -> int:
    """The length of an exploration in tables (runs, states, actions): enough to get somewhere, short beside a phase."""
    return int(max(STEPS, min(MOST_STEPS, STEPS_PER_PAIR * shape[1] * shape[2])))


def exploring(learner: AnyLearner, exploration: Explorations, most: float | None = None) -> AnyLearner:
    """The learner with this exploration around it, at most so much of it; the learner itself if there is none."""
    parts = tuple(exploration) if isinstance(exploration, tuple | list) else (exploration,)
    return Exploring(learner, parts, most) if parts else learner
