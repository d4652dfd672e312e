"""Experience for tests: policies, rollouts of any length, and the memories of them that evaluations look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aapi
from aapi.learners.state import stored
from aapi.memory import Experience, empty_memories, remember
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from aapi.approximation import Array, Policy, QSpace
    from aapi.evaluation import Estimate, Evaluation
    from aapi.learners import Learner
    from aapi.memory import Memory, MemorySpec
    from aapi.result import Result
    from aapi.simulation import PhaseData, Simulation


def shape_of(simulation: Simulation) -> tuple[int, int, int]:
    """Of the Q-functions of all its runs."""
    return simulation.space.shape(len(simulation.streams))


def uniform(simulation: Simulation) -> Policy:
    """The uniform policy of every run."""
    return simulation.space.uniform(len(simulation.streams))


def random_policies(seed: int, shape: tuple[int, ...], sharpness: float = 1.0) -> Array:
    """Tables of probabilities; the sharper, the closer to 0 and 1."""
    weights = np.random.default_rng(seed).random(shape) ** sharpness
    return weights / weights.sum(axis=2, keepdims=True)


def rollout(simulation: Simulation, policy: Policy, steps: int) -> PhaseData:
    """What happens in so many steps of a policy."""
    return simulation.rollout(Stretch(1, simulation.time, steps, policy), steps)


def transitions(data: PhaseData, run: int) -> list[tuple[int, int, float, int]]:
    """All (x, a, r, x') of a run, where states are numbers."""
    path = [*data.states[run].tolist(), int(data.last_state[run])]
    return list(zip(path, data.actions[run].tolist(), data.rewards[run].tolist(), path[1:], strict=False))


class Past:
    """The last phase of some runs, and memories of all phases, as a learner has them when it evaluates."""

    def __init__(self, space: QSpace, runs: int, *specs: MemorySpec[Any] | None) -> None:
        self.space, self.memories = space, empty_memories(specs, space, runs)

    @classmethod
    def of(cls, simulation: Simulation, *evaluations: Evaluation) -> Past:
        """An empty one with the memories that these evaluations need."""
        return cls(simulation.space, len(simulation.streams), *(evaluate.memory for evaluate in evaluations))

    def add(self, data: PhaseData, policy: Policy) -> PhaseData:
        """Remember a phase."""
        self.data, self.memories = data, remember(self.memories, data, policy)
        return data

    def roll(self, simulation: Simulation, policy: Policy, steps: int) -> PhaseData:
        """Act, and remember what happened."""
        return self.add(rollout(simulation, policy, steps), policy)

    @property
    def seen(self) -> Experience:
        """What an evaluation is given."""
        return Experience(self.space, self.data, self.memories)

    @property
    def memory(self) -> Memory:
        """If there is but one."""
        (memory,) = self.memories.values()
        return memory

    def estimate(self, evaluate: Evaluation, policy: Policy) -> Estimate:
        """Q̂ of a policy from this past, and what is told of its equations."""
        return evaluate.estimate(policy, self.seen)

    def q_hat(self, evaluate: Evaluation, policy: Policy) -> Array:
        """Q̂ of a policy from this past."""
        return self.estimate(evaluate, policy).q_hat


def outcome(learner: Learner[Any], problem: Any, features: Any = None, steps: int = 600, runs: int = 3) -> Result:
    """Of some runs."""
    return aapi.run(learner, problem, steps, runs, features=features)


def assert_same(one: Result, other: Result) -> None:
    """Two learners, bit by bit: all rewards, and the policies that they ended with."""
    assert (one.phase_ends == other.phase_ends).all()
    assert (one.rewards == other.rewards).all()
    policies = [stored(result.next_policy, "policy") for result in (one, other)]
    assert policies[0].keys() == policies[1].keys()
    assert all((array == policies[1][name]).all() for name, array in policies[0].items())
