"""The analysis of recorded runs: every quantity of the theory, in one pass over their phases."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aapi.batch import run, space_of
from aapi.checks import at_least
from aapi.errors import InvalidInput
from aapi.progress import progress_bar
from aapi.result import Result
from aapi.theory.bounds import attempt
from aapi.theory.evaluation_error import EvaluationErrors, evaluation_errors
from aapi.theory.noise import NoiseScale, noise_scale
from aapi.theory.online_learning import OnlineLearning, online_learning
from aapi.theory.phases import Comparator, exact_phases, make_comparator, recorded
from aapi.theory.regret import Decomposition, decompose
from aapi.theory.relative_q import RelativeQ, relative_q

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers, Mask
    from aapi.features import Features
    from aapi.learners.learner import AnyLearner
    from aapi.mdp import FiniteMDP

RECORDED = 1 << 24  # numbers in the tables that are in memory at a time
Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Analysis:
    """Arrays over runs and phases, or runs and states; see the class of each part.

    against: the policy that regret is against. phase_ends: in steps, (phases,); evaluated: which phases were evaluated,
        (phases,); weights: how much each evaluated phase counts, (evaluated phases,).
    last_policy: of the first run, (states, actions).
    multichain: how many phases, of all runs, have a policy whose gain depends on the state.
    online_learning: None where its bound does not apply; `refused` says why.
    """

    algorithm: AnyLearner
    mdp: FiniteMDP
    against: Comparator
    phase_ends: Integers
    evaluated: Mask
    weights: Array
    num_runs: int
    last_policy: Array
    multichain: int
    decomposition: Decomposition
    errors: EvaluationErrors
    relative_q: RelativeQ
    noise: NoiseScale
    online_learning: OnlineLearning | None
    refused: dict[str, str]

    @property
    def lengths(self) -> Integers:
        """τ_k, (phases,)."""
        return np.diff(self.phase_ends, prepend=0)

    @property
    def unit(self) -> float | None:
        """The steps that a phase of weight 1 has, so that R2 is a sum over states of `unit` · `online_learning.regret`.

        None where phases do not count in proportion to their lengths, or none was evaluated.
        """
        units = self.lengths[self.evaluated] / self.weights
        return float(units[0]) if units.size and np.ptp(units) <= 1e-9 * units[0] else None


def analyse(results: Result | Iterable[Result], against: ArrayLike | None = None) -> Analysis:
    """Take the regret of recorded runs apart, against an optimal policy or another one.

    results: one, or several of the same algorithm on the same problem, which may come one after the other.
    """
    refused: dict[str, str] = {}
    decompositions, errors = list[Decomposition](), list[EvaluationErrors]()
    changes, noise, games = list[RelativeQ](), list[NoiseScale](), list[OnlineLearning]()
    multichain, first = 0, None
    for result in [results] if isinstance(results, Result) else results:
        if first is None:
            first, fixed = result, make_comparator(recorded(result)[1], against)
        same = result.env is first.env and result.algorithm == first.algorithm
        if not same or not np.array_equal(result.phase_ends, first.phase_ends):
            raise InvalidInput("results analysed together must be of one algorithm on one problem, equally long")
        model = recorded(result)[1]
        for phases in exact_phases(result, fixed):
            multichain += int((~phases.unichain).sum())
            decompositions.append(decompose(phases, fixed))
            errors.append(evaluation_errors(phases, fixed))
            changes.append(relative_q(phases))
            noise.append(noise_scale(phases, model))
            game = attempt(refused, "online_learning", functools.partial(online_learning, phases, fixed))
            games += [] if game is None else [game]
    if first is None:
        raise InvalidInput("there are no results to analyse")
    record, mdp = recorded(first)
    return Analysis(
        algorithm=first.algorithm, mdp=mdp, against=fixed, phase_ends=first.phase_ends, evaluated=record.evaluated,
        weights=record.weights, num_runs=len(errors), last_policy=first.final_policy[0], multichain=multichain,
        decomposition=_stack(decompositions), errors=_stack(errors), relative_q=_stack(changes), noise=_stack(noise),
        online_learning=_stack(games) if len(games) == len(errors) else None, refused=refused,
    )  # fmt: skip


def analysed_runs(
    algorithm: AnyLearner, mdp: FiniteMDP, num_steps: int, num_runs: int = 20, seed: int = 0, *,
    features: Features | None = None, threads: int = 1, progress: bool | None = None,
) -> Analysis:  # fmt: skip
    """Run an algorithm and analyse it, a few runs at a time: memory does not grow with their number.

    progress: show a bar; by default, if the block around it is `showing_progress`.
    """
    at_least(1, num_steps=num_steps, num_runs=num_runs)
    algorithm.check()
    # About how many policies act in so many steps: of phases, of the steps left over, and of explorations.
    phases = (algorithm.count_phases(num_steps, space_of(mdp)) + 1) * (1 if algorithm.inner is algorithm else 2)
    size = max(1, RECORDED // (4 * phases * mdp.num_states * mdp.num_actions))

    def results() -> Iterator[Result]:
        with progress_bar("regret decomposition", num_runs, show=progress) as advance:
            for start in range(0, num_runs, size):
                count = min(size, num_runs - start)
                yield run(
                    algorithm, mdp, num_steps, count, seed, first_run=start, features=features, threads=threads,
                    record=True, grid=[num_steps],
                )  # fmt: skip
                advance(count)

    return analyse(results())


def _stack(parts: list[Part]) -> Part:
    """The same dataclass of many runs as one, with an axis of runs in front of each array."""
    return type(parts[0])(**{name: np.stack([vars(part)[name] for part in parts]) for name in vars(parts[0])})
