"""Measures of the difficulty of a model: worst mixing time, distribution mismatch, diameter."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.checks import at_least
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.mdp.chain import MAX_DENSE_STATES, describe_classes, furthest_rows, time_to_contract
from aapi.mdp.components import Reachability
from aapi.mdp.optimal import Solution, solve
from aapi.mdp.policy_values import induced_chain
from aapi.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aapi.array_types import Array, Integers
    from aapi.mdp.model import FiniteMDP


ENUMERATED = 4_096  # up to this many policies, all are tried
SEARCHED = 1_000  # policies tried when there are more
IMPROVEMENT = 1e-12


@dataclass(frozen=True, eq=False)
class WorstMixing:
    """The largest mixing time found, a policy that has it, and whether every deterministic policy was tried.

    Where `exact` is false, `time` is a lower bound: the best of a search. Randomised policies are not tried.
    """

    time: int
    policy: Integers
    exact: bool

    def __str__(self) -> str:
        scope = "exact over deterministic policies" if self.exact else "lower bound from a search"
        return f"{'' if self.exact else '≥ '}{self.time} ({scope})"


def worst_mixing_time(
    mdp: FiniteMDP, *, enumerate_up_to: int = ENUMERATED, search_budget: int = SEARCHED, seed: int = 0
) -> WorstMixing:
    """The largest mixing time of a deterministic policy: by enumeration if there are at most `enumerate_up_to`.

    Actions of a state with the same transitions count once. With more policies than that, coordinate ascent from
    constant, optimal and random policies, `search_budget` in all, gives a lower bound, labelled as such.
    """
    choices = _distinct_actions(mdp)
    count = math.prod(map(len, choices))
    exact = count <= enumerate_up_to
    with progress_bar("worst mixing time", count if exact else search_budget) as advance:

        def mixing(policy: Integers) -> tuple[int, float]:
            advance(1)
            return _mixing(mdp, policy)

        found: Iterator[tuple[int, Integers]]
        if exact:
            found = ((mixing(policy)[0], policy) for policy in map(np.array, itertools.product(*choices)))
        else:
            found = _search(mdp, choices, mixing, search_budget, seed)
        time, policy = max(found, key=lambda pair: pair[0])
    return WorstMixing(time, policy, exact)


def _search(
    mdp: FiniteMDP, choices: list[list[int]], mixing: Callable[[Integers], tuple[int, float]], budget: int, seed: int
) -> Iterator[tuple[int, Integers]]:
    """Coordinate ascent from one policy after the other, until `budget` policies were tried."""
    random = np.random.default_rng(seed)
    starts = [np.array([c[min(a, len(c) - 1)] for c in choices]) for a in range(max(map(len, choices)))]
    starts += [solve(mdp).policy]
    while budget > 0:
        policy = starts.pop(0) if starts else np.array([random.choice(c) for c in choices])
        best, improved = mixing(policy), True
        budget -= 1
        while improved and budget > 0:
            improved = False
            for state, actions in enumerate(choices):
                for action in actions:
                    if action == policy[state] or budget <= 0:
                        continue
                    candidate = policy.copy()
                    candidate[state] = action
                    budget -= 1
                    if (score := mixing(candidate)) > best:
                        best, policy, improved = score, candidate, True
        yield best[0], policy


def _mixing(mdp: FiniteMDP, policy: Integers) -> tuple[int, float]:
    """The mixing time and, to break ties, the distance to stationarity at that time."""
    chain = induced_chain(mdp, policy)
    try:
        return chain.mixing_time, chain.distance_to_stationarity(chain.mixing_time)
    except DoesNotExist as error:
        shown = np.array2string(policy, threshold=20, edgeitems=6, separator=",", max_line_width=1000)
        raise DoesNotExist(f"no worst mixing time: under the policy {shown} {error}") from None


def _distinct_actions(mdp: FiniteMDP) -> list[list[int]]:
    rows = Reachability(mdp).support
    result = []
    for state in range(mdp.num_states):
        first: dict[bytes, int] = {}
        for action in range(mdp.num_actions):
            part = slice(*rows.indptr[state * mdp.num_actions + action :][:2])
            first.setdefault(rows.indices[part].tobytes() + rows.data[part].tobytes(), action)
        result.append(list(first.values()))
    return result


def worst_contraction_time(mdp: FiniteMDP) -> float:
    """The least t with ‖(μ − ν) P_π‖₁ ≤ exp(−1/t) ‖μ − ν‖₁ for all policies π: the paper's condition of fast mixing.

    Exact: the distance of two rows of P_π is largest for deterministic policies, so that all pairs of state-action
    pairs suffice. Ergodic models need not have one.
    """
    if mdp.num_states * mdp.num_actions > MAX_DENSE_STATES:
        raise TooLarge(f"the worst contraction time is computed for at most {MAX_DENSE_STATES} states times actions")
    rows = mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions.reshape(-1, mdp.num_states)
    distance, *pairs = furthest_rows(rows, mdp.num_actions)
    (x, a), (y, b) = (divmod(pair, mdp.num_actions) for pair in pairs)
    return time_to_contract(distance / 2.0, f"state {x} with action {a} and state {y} with action {b}")


def optimal_mismatch(solution: Solution) -> float:
    """ρ as the paper's proof uses it: max 1/μ_*(x) over the recurrent states of the optimal policy."""
    weights = solution.values.stationary_distribution
    return float(1.0 / weights[weights > 0].min())


def mismatch(mdp: FiniteMDP) -> float:
    """ρ as the paper's theorem uses it: max over policies π and states x with μ_π(x) ≠ 0 of 1/μ_π(x).

    Exact, without enumeration: 1/μ_π(x) is the expected time to return to x, and its maximum over policies is the
    value of a longest-path problem. Infinite, hence an error, as soon as one policy can avoid a state that another
    one keeps visiting.
    """
    reach = Reachability(mdp)
    component, _ = reach.end_components()
    if component.max() > 0:
        parts = [np.flatnonzero(component == c) for c in range(component.max() + 1)]
        raise DoesNotExist(f"the mismatch does not exist: runs can end in any of {describe_classes(parts)}")
    worst, recurrent = 0.0, np.flatnonzero(component == 0)  # no policy keeps visiting the others
    with progress_bar("mismatch", len(recurrent)) as advance:
        for state in map(int, recurrent):
            if reach.avoidable(state):
                raise DoesNotExist(
                    f"the mismatch is infinite: some policies keep visiting state {state} and others avoid it, "
                    "so mixtures visit it arbitrarily rarely"
                )
            times = _extreme_hitting_times(mdp, np.zeros(mdp.num_states, dtype=np.int64), state, sign=1.0)
            worst = max(worst, 1.0 + float(mdp.expected(times)[state].max()))
            advance(1)
    return worst


def diameter(mdp: FiniteMDP) -> float:
    """The largest optimal hitting time: max over x and y of min over policies of the expected time from x to y."""
    furthest = 0.0
    with progress_bar("diameter", mdp.num_states) as advance:
        for target in range(mdp.num_states):
            furthest = max(furthest, float(optimal_hitting_times(mdp, target).max()))
            advance(1)
    return furthest


def optimal_hitting_times(mdp: FiniteMDP, target: int) -> Array:
    """min over policies of the expected number of steps to reach `target`, from each state."""
    at_least(0, target=target)
    if target >= mdp.num_states:
        raise InvalidInput(f"target must lie in 0..{mdp.num_states - 1}, not {target}")
    reach = Reachability(mdp)
    reachable = reach.surely_reaches(target)
    if not reachable.all():
        raise DoesNotExist(
            f"no policy is sure to reach state {target} from state {int(np.argmin(reachable))}: "
            "the hitting time, and so the diameter, is infinite"
        )
    zeros = np.zeros(mdp.num_states, dtype=np.int64)
    start = reach.policy_towards(np.arange(mdp.num_states) == target, np.ones_like(mdp.rewards, dtype=bool), zeros)
    return _extreme_hitting_times(mdp, start, target, sign=-1.0)


def _extreme_hitting_times(mdp: FiniteMDP, policy: Integers, target: int, sign: float) -> Array:
    """Policy iteration for the longest (sign 1) or shortest (sign −1) expected time to `target`."""
    states = np.arange(mdp.num_states)
    while True:
        times = induced_chain(mdp, policy).hitting_times(target)
        lengths = sign * (1.0 + mdp.expected(times))
        better = lengths.argmax(axis=1)
        margin = IMPROVEMENT * times
        rises = (lengths[states, better] > lengths[states, policy] + margin) & (states != target)
        if not rises.any():
            return times
        policy = np.where(rises, better, policy)
