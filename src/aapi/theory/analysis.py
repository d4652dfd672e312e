"""Everything that can be said about recorded runs, in one pass over their phases."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from aapi.algorithms import Result, run
from aapi.checks import at_least
from aapi.errors import DoesNotExist, InvalidInput
from aapi.progress import progress_bar
from aapi.theory.comparator import Comparator, comparator
from aapi.theory.evaluation_error import EvaluationErrors, evaluation_errors
from aapi.theory.noise import NoiseScale, noise_scale
from aapi.theory.online_learning import OnlineLearning, online_learning
from aapi.theory.phases import exact_phases, recorded
from aapi.theory.regret import Decomposition, split
from aapi.theory.relative_q import RelativeQ, relative_q

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from aapi.mdp import FiniteMDP

__all__ = ["Analysis", "analyse", "analysed_runs"]

RECORDED = 1 << 24  # numbers in the tables that are kept at a time
Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Analysis:
    """Arrays over runs and phases, or runs and states; see the class of each part.

        phase_ends: steps, (phases,); evaluated: which phases were, (phases,). last_policy: of the first run.
    multichain, cut: phases, of all runs, that are not `unichain`, or `cut`; see Phases.
    online_learning: None where its bound makes no sense; `refused` says why.
    """

    algorithm: Any
    mdp: FiniteMDP
    against: Comparator
    phase_ends: NDArray[np.int64]
    evaluated: NDArray[np.bool_]
    num_runs: int
    last_policy: NDArray[np.float64]
    multichain: int
    cut: int
    decomposition: Decomposition
    errors: EvaluationErrors
    relative_q: RelativeQ
    noise: NoiseScale
    online_learning: OnlineLearning | None
    refused: dict[str, str]


def analyse(results: Result | Iterable[Result], against: ArrayLike | None = None) -> Analysis:
    """Take the regret of recorded runs apart, against an optimal policy or another one.

    results: one, or several of the same algorithm on the same problem, which may come one after the other.
    """
    refused: dict[str, str] = {}
    parts: dict[str, list[Any]] = {}
    multichain, cut, first, fixed = 0, 0, None, None
    for result in [results] if isinstance(results, Result) else results:
        if fixed is None or first is None:
            first, fixed = result, comparator(recorded(result)[1], against)
        for phases in exact_phases(result, fixed):
            multichain += int((~phases.unichain).sum())
            cut += int(phases.cut.sum())
            found: dict[str, Any] = {
                "decomposition": split(phases, fixed),
                "errors": evaluation_errors(phases, fixed),
                "relative_q": relative_q(phases),
                "noise": noise_scale(phases),
            }
            try:
                found["online_learning"] = online_learning(phases, fixed)
            except DoesNotExist as error:
                refused["online_learning"] = str(error)
            for name, part in found.items():
                parts.setdefault(name, []).append(part)
    if first is None or fixed is None:
        raise InvalidInput("there are no results to analyse")
    record, mdp = recorded(first)
    whole = {name: stacked(each) for name, each in parts.items() if name not in refused}
    return Analysis(
        algorithm=first.algorithm,
        mdp=mdp,
        against=fixed,
        phase_ends=first.phase_ends,
        evaluated=record.evaluated,
        num_runs=len(parts["decomposition"]),
        last_policy=first.final_policy[0],
        multichain=multichain,
        cut=cut,
        refused=refused,
        **({"online_learning": None} | whole),
    )


def analysed_runs(
    algorithm: Any,
    mdp: FiniteMDP,
    num_steps: int,
    num_runs: int = 20,
    seed: int = 0,
    *,
    features: Any = None,
    threads: int = 1,
    progress: bool = False,
) -> Analysis:
    """Run an algorithm and analyse it, a few runs at a time: memory does not grow with their number."""
    at_least(1, num_steps=num_steps, num_runs=num_runs)
    algorithm.check()
    phases = -(-num_steps // getattr(algorithm, "phase_length", 1))
    size = max(1, RECORDED // (4 * phases * mdp.num_states * mdp.num_actions))

    def some() -> Iterator[Result]:
        with progress_bar("taking regret apart", num_runs, show=progress or None) as advance:
            for start in range(0, num_runs, size):
                count = min(size, num_runs - start)
                yield run(
                    algorithm, mdp, num_steps, count, seed, first_run=start, features=features, threads=threads,
                    record=True, grid=[num_steps],
                )  # fmt: skip
                advance(count)

    return analyse(some())


def stacked(parts: list[Part]) -> Part:
    """The same part of many runs as one, with an axis of runs in front."""
    names = [field.name for field in dataclasses.fields(parts[0])]  # type: ignore[arg-type]
    return type(parts[0])(**{name: np.stack([getattr(part, name) for part in parts]) for name in names})
