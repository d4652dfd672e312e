"""Algorithm 1 of Hao et al. (2021), with all its parts open: AAPI, POLITEX and classical API are settings of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.checks import at_least, finite
from aapi.errors import InvalidInput
from aapi.evaluation import chosen
from aapi.improvement import LearningRate, PreviousEstimate, QHistory, SideInformation, new_history
from aapi.memory import CountTransitions
from aapi.simulation import Basis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from aapi.evaluation import Evaluation
    from aapi.exploration import Exploration
    from aapi.schedules import Schedule
    from aapi.simulation import PhaseData, Simulation

__all__ = ["Phase", "PolicyIteration", "count_phases", "in_phases", "phase_steps"]

# Of a stretch of exploration, or more where there are many pairs, up to a limit.
EXPLORATION_STEPS, EXPLORATION_PER_PAIR, MOST_EXPLORATION_STEPS = 50, 0.1, 2500


@dataclass(frozen=True, eq=False)
class Phase:
    """Phase k of a batch of runs, for whoever logs, records or stops.

    policy: π_k, (runs, states, actions); next_policy: π_{k+1}. data: D_k.
    q_hat: Q̂_k; temperature: η_k(x), (runs, states); surprise: ‖Q̂_k − M_k‖, (runs, states); prediction: M_{k+1}. All are
    missing in a last phase that is too short to be evaluated, and all but q_hat in algorithms that have none.
    weight: what the phase counts, its length as a multiple of the first one's; all but q_hat are multiplied by it
        already, and the prediction by that of the next phase.
    conditioning: the condition number of the equations behind Q̂_k, (runs,), from evaluations that tell it.
    exploring: the runs that explored, (runs,), if this is the exploration before phase k, which is not evaluated.
    Where Q-functions are linear in features, policies are `LinearPolicy`, q_hat is the weights, (runs, features,
    actions), the temperature a `LinearTemperature` or a number for each run, and there is no table of surprises.
    """

    number: int
    policy: Any
    data: PhaseData
    next_policy: Any
    q_hat: NDArray[np.float64] | None = None
    temperature: Any = None
    surprise: NDArray[np.float64] | None = None
    prediction: Any = None
    weight: float = 1.0
    conditioning: NDArray[np.float64] | None = None
    exploring: NDArray[np.bool_] | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyIteration:
    """Approximate policy iteration in phases, by follow-the-regularised-leader in every state.

    phase_length: τ, or a `Schedule`; then phases count in proportion to their length.
    decay: what the sum of Q-functions keeps in each phase: 1 for the paper's algorithms, 0 for the last one alone.
    exploration: parts that are asked in turn, before each phase but the first, whether a run ought to explore.
    """

    phase_length: int | Schedule
    evaluate: Evaluation
    learning_rate: LearningRate
    side_information: SideInformation = PreviousEstimate()  # noqa: RUF009 - frozen
    decay: float = 1.0
    exploration: tuple[Exploration, ...] = ()

    def check(self) -> None:
        """Raise an error if an argument is wrong."""
        if isinstance(self.phase_length, type) or not all(hasattr(part, "check") for part in self.exploration):
            raise InvalidInput(
                f"phase_length must be a whole number or a schedule such as Growing(), and exploration hold parts such "
                f"as Discovery(), not {self.phase_length!r} and {self.exploration!r}"
            )
        if callable(self.phase_length):
            self.phase_length.check()
            if getattr(self.learning_rate, "schedule", "constant") != "constant":
                raise InvalidInput("temperatures that grow with the number of phases need phases of one length")
        else:
            at_least(1, phase_length=self.phase_length)
        self.evaluate.check(self.phase_length.shortest if callable(self.phase_length) else self.phase_length)
        for part in (self.learning_rate, self.side_information, *self.exploration):
            getattr(part, "check", lambda: None)()
        self._check_prediction(self.evaluate)
        finite(0.0, decay=self.decay)
        if self.decay > 1.0:
            raise InvalidInput(f"decay must be at most 1, not {self.decay}")
        if 0.0 < self.decay < 1.0 and self.learning_rate.num_sampled != 0:
            raise InvalidInput(
                f"decay {self.decay} bounds the sum of Q-functions but not an adaptive temperature, and policies would "
                "tend to the uniform one: use a Scheduled rate"
            )

    def _check_prediction(self, evaluate: Any) -> None:
        if getattr(self.side_information, "off_policy", False) and not getattr(evaluate, "off_policy", False):
            raise InvalidInput(
                f"{self.side_information!r} evaluates policies that have not acted yet, which {evaluate!r} "
                "cannot: use SelfConsistent or LSTD"
            )

    def start(self, simulation: Simulation, num_phases: int | None = None) -> QHistory:
        """Line 2: π_1 uniform, M_1 = 0. The history is all that is remembered from phase to phase."""
        first, evaluate = phase_steps(self, simulation, 1, 0), chosen(self.evaluate, simulation)
        evaluate.check(first)
        self._check_prediction(evaluate)
        rate, wishes = self.learning_rate, [getattr(evaluate, "remembers", None)]
        if self._explores(simulation):
            wishes.append(CountTransitions())
        history = new_history(
            simulation, num_phases, norm=rate.norm, decay=self.decay, num_sampled=rate.num_sampled,
            memories={wish: wish.start(simulation) for wish in wishes if wish is not None},
        )  # fmt: skip
        history.steps = first
        return history

    def improve(self, simulation: Simulation, history: QHistory, data: PhaseData) -> Phase:
        """Lines 6 to 9: from the data D_k of policy π_k to π_{k+1}; or, after an exploration, on to phase k."""
        history.remember(data)
        if history.exploration is not None:
            return self._explored(simulation, history, data)
        policy, weight, evaluate = history.policy, history.weight, chosen(self.evaluate, simulation)
        seen = history.memories.get(getattr(evaluate, "remembers", None), data)  # D_1 … D_k, or D_k
        history.add(evaluate(simulation, policy, seen))  # line 6: Q̂_k by G
        history.temperature = self.learning_rate(history)  # line 7: η_k(x)
        history.steps, history.weight = self._next(
            simulation, history.phase, simulation.time, self._explores(simulation)
        )
        history.predict(self.side_information, lambda other: evaluate(simulation, other, seen))  # M_{k+1}
        history.improve(history.temperature)  # lines 8 and 9: index and π_{k+1}
        self._explore(simulation, history)
        return Phase(
            history.phase, policy, data, history.policy, history.q_hat, history.temperature,
            getattr(history, "surprise", None), history.weight * history.side_information, weight,
            getattr(seen, "conditioning", None),
        )  # fmt: skip

    def _next(self, simulation: Simulation, phase: int, time: int, explores: bool) -> tuple[int, float]:
        """The length of phase k + 1, which begins at `time`, or after an exploration that does; and what it counts."""
        begins = time + (exploration_steps(simulation.shape) if explores else 0)
        steps = phase_steps(self, simulation, phase + 1, begins)
        return steps, steps / phase_steps(self, simulation, 1, 0)

    def resume(self, simulation: Simulation, history: QHistory, time: int) -> None:
        """Set what a stored history does not say of the stretch that began after `time` steps."""
        explores = history.exploration is not None
        if explores and not self._explores(simulation):
            raise InvalidInput("it is in an exploration, and its algorithm does not explore")
        counts = history.memories.get(CountTransitions())
        if counts is not None and counts.steps != time:
            raise InvalidInput(f"{counts.steps} steps were counted, and {time} were taken")
        history.steps, history.weight = self._next(simulation, history.phase, time, explores)
        if explores:
            history.steps = exploration_steps(simulation.shape)

    def _explores(self, simulation: Simulation) -> bool:
        """Only where states can be counted."""
        return bool(self.exploration) and has_tables(simulation)

    def _explore(self, simulation: Simulation, history: QHistory) -> None:
        """Begin the exploration before the next phase."""
        if self._explores(simulation):
            free, policies = np.ones(len(history.policy), dtype=bool), history.policy.copy()
            for part in self.exploration:
                part(simulation, history.memories[CountTransitions()], free, policies)
            history.exploration, history.exploring = policies, ~free
            history.steps = exploration_steps(simulation.shape)

    def _explored(self, simulation: Simulation, history: QHistory, data: PhaseData) -> Phase:
        """End an exploration: its data is remembered, and nothing else has changed."""
        policies, exploring = history.exploration, history.exploring
        history.memories[CountTransitions()].explored += history.steps * exploring
        history.exploration, history.exploring = None, np.zeros_like(exploring)
        history.steps = phase_steps(self, simulation, history.phase + 1, simulation.time)
        return Phase(history.phase + 1, policies, data, history.policy, exploring=exploring)

    def phases(self, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
        """Algorithm 1: one Phase per policy. The steps left over at the end are spent with the last policy."""
        return in_phases(self, simulation, num_steps)


def in_phases(algorithm: Any, simulation: Simulation, num_steps: int) -> Iterator[Phase]:
    """Act for a phase, improve, and again: the loop of every algorithm that has `start` and `improve`."""
    history = algorithm.start(simulation, count_phases(algorithm, num_steps, simulation.shape, has_tables(simulation)))
    last = simulation.time + num_steps
    while simulation.time < last:
        steps = min(history.steps, last - simulation.time)
        data = simulation.rollout(history.acting, steps)  # line 5: D_k
        if steps == history.steps:
            yield algorithm.improve(simulation, history, data)
        else:
            exploring = None if history.acting is history.policy else history.exploring
            yield Phase(history.phase + 1, history.acting, data, history.policy, exploring=exploring)


def has_tables(simulation: Simulation) -> bool:
    """Whether Q-functions are tables, not weights."""
    return not isinstance(simulation.features, Basis)


def phase_steps(algorithm: Any, simulation: Simulation, phase: int, time: int) -> int:
    """The length of a phase that begins after `time` steps."""
    return _phase_steps(algorithm.phase_length, phase, time, simulation.shape, has_tables(simulation))


def _phase_steps(length: Any, phase: int, time: int, shape: tuple[int, int, int], tables: bool) -> int:
    if not callable(length):
        return int(length)
    steps = length(phase, time, shape[1] * shape[2], tables)
    at_least(1, **{f"the length of phase {phase}": steps})
    return int(steps)


def exploration_steps(shape: tuple[int, int, int]) -> int:
    """The length of a stretch of exploration: long enough to get somewhere, short beside a phase of a schedule."""
    return int(max(EXPLORATION_STEPS, min(MOST_EXPLORATION_STEPS, EXPLORATION_PER_PAIR * shape[1] * shape[2])))


def count_phases(algorithm: Any, num_steps: int, shape: tuple[int, int, int], tables: bool = True) -> int:
    """How many whole phases there are in so many steps."""
    length = algorithm.phase_length
    explores = exploration_steps(shape) if tables and bool(getattr(algorithm, "exploration", ())) else 0
    if not callable(length):
        return int((num_steps + explores) // (length + explores))
    phases, time = 0, 0
    while True:
        time += _phase_steps(length, phases + 1, time, shape, tables)
        if time > num_steps:
            return phases
        phases, time = phases + 1, time + explores
