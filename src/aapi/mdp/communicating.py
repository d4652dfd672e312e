"""The optimal gain of communicating models: value iteration, policy iteration, and their bounds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import DoesNotExist
from aapi.mdp.chain import Chain, can_reach
from aapi.mdp.policy_values import chain_values

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask
    from aapi.mdp.components import Reachability
    from aapi.mdp.model import FiniteMDP


SWEEPS = 60  # undamped sweeps of value iteration, before anything else is tried
POLICY_STEPS = 4  # applications of the policy's own operator after each sweep
WORK = 1_000_000_000  # products that damped value iteration may use where policy iteration failed
MAX_SWEEPS = 100_000
PATIENCE = 10_000  # sweeps in which the distance of the bounds must halve
MAX_POLICIES = 500
GAP = 1e-13  # a certificate this narrow, relative to the rewards earned, ends the search
NARROW = 1e-9  # a certificate this narrow is not improved further
EPS = float(np.finfo(float).eps)


class Search:
    """The best bounds on one number, the optimal gain of a model where it is the same from every state."""

    def __init__(self, mdp: FiniteMDP) -> None:
        self.mdp = mdp
        self.lower, self.upper = -np.inf, np.inf
        self.policy = np.zeros(mdp.num_states, dtype=np.int64)
        self.values = np.zeros(mdp.num_states)
        self._narrowest = np.inf
        self.settled = False

    def note(self, lower: float, upper: float, policy: Integers, values: Array, rounding: float) -> None:
        """For any v and its greedy π: min(T_π v − v) ≤ λ_π ≤ λ_* ≤ max(T v − v), widened here by about `rounding`."""
        if lower > self.lower:
            self.lower, self.policy = lower, policy
        self.upper = min(self.upper, upper)
        if upper - lower < self._narrowest:
            self._narrowest, self.values = upper - lower, values
        if upper - lower <= 4.0 * rounding or self.width <= GAP:
            self.settled = True

    @property
    def coarse(self) -> bool:
        """Whether the bounds are wide relative to the gain, because the policy meets much larger rewards."""
        gain = max(abs(self.lower), abs(self.upper))
        earned = np.abs(self.mdp.rewards[np.arange(self.mdp.num_states), self.policy]).max()
        return bool(self.upper - self.lower > NARROW * gain and earned > 1e3 * gain)

    def note_backup(self, values: Array, q_values: Array, policy: Integers, relative_error: float) -> None:
        """Note the bounds from q_values = r + P values, in which each term may be off by `relative_error`."""
        states = np.arange(self.mdp.num_states)
        slack = relative_error * np.abs(self.mdp.rewards)
        rounding = 2.0 * relative_error * float(np.abs(values).max())
        lower = float(((q_values - slack)[states, policy] - values).min()) - rounding
        upper = float(((q_values + slack).max(axis=1) - values).max()) + rounding
        self.note(lower, upper, policy, values, rounding + float(slack[states, policy].max()))

    @property
    def width(self) -> float:
        """upper − lower, relative to the rewards that the policy earns."""
        earned = self.mdp.rewards[np.arange(self.mdp.num_states), self.policy]
        return (self.upper - self.lower) / max(float(np.abs(earned).max()), 1e-300)


def iterate_values(search: Search, sweeps: int = SWEEPS, damping: float = 1.0) -> Integers:
    """Modified policy iteration (Puterman 1994, section 8.7); with damping ½ also where chains are periodic.

    Returns its last policy, which has the longest look-ahead, though perhaps no bound yet.
    """
    mdp, values = search.mdp, search.values
    policy, states = np.full(mdp.num_states, -1), np.arange(mdp.num_states)
    relative_error = 2.0 * (mdp.most_successors + 4) * EPS  # of sums, and of rows that sum to one up to rounding
    narrowest = checked = np.inf
    for sweep in range(1, sweeps + 1):
        q_values = mdp.backup(values)
        previous, policy = policy, q_values.argmax(axis=1)
        change = q_values[states, policy] - values
        gap = float(change.max() - change.min())
        if gap < narrowest:
            narrowest, best = gap, (values, q_values, policy)
        rounding = relative_error * (float(np.abs(values).max()) + float(np.abs(mdp.rewards[states, policy]).max()))
        if gap <= rounding:
            break
        if sweep % PATIENCE == 0:
            if narrowest > 0.5 * checked:  # convergence is too slow
                break
            checked = narrowest
        changed = np.flatnonzero(policy != previous)
        if mdp.is_sparse or len(changed) == mdp.num_states:
            transitions, rewards = mdp.under(policy)
        elif len(changed):
            transitions[changed], rewards[changed] = mdp.pairs(changed, policy[changed])
        values = values + damping * change
        values -= values[0]
        for _ in range(POLICY_STEPS):
            stepped = rewards + transitions @ values
            values = stepped if damping == 1.0 else values + damping * (stepped - values)
    search.note_backup(*best, relative_error)
    return policy


def settle(search: Search, reach: Reachability, policy: Integers) -> None:
    """Solve a communicating model for which value iteration did not converge."""
    with contextlib.suppress(DoesNotExist):  # a policy whose states are left too rarely to be evaluated
        _iterate_policies(search, reach, policy)
    if search.width > NARROW:
        sweeps = WORK // (reach.support.nnz * (1 + POLICY_STEPS))
        iterate_values(search, max(1, min(MAX_SWEEPS, sweeps)), damping=0.5)


def _iterate_policies(search: Search, reach: Reachability, policy: Integers) -> None:
    """Policy iteration for communicating models (Haviv and Puterman 1991): every policy is made unichain first."""
    mdp, seen = search.mdp, set()
    for _ in range(MAX_POLICIES):
        policy = _unichain(mdp, reach, policy)
        if policy.tobytes() in seen:
            return
        seen.add(policy.tobytes())
        _, _, bias = chain_values(*mdp.under(policy))
        if not np.isfinite(bias).all():
            return
        improved, lower, upper, rounding = improve(reach, mdp, policy, bias, np.ones_like(mdp.rewards, dtype=bool))
        search.note(lower, upper, improved, bias, rounding)
        if np.array_equal(improved, policy):
            return
        policy = improved


def improve(
    reach: Reachability, mdp: FiniteMDP, policy: Integers, bias: Array, allowed: Mask
) -> tuple[Integers, float, float, float]:
    """The policy that is greedy in r + P V among the pairs allowed, its bounds, and how much rounding widens them.

    Ties go to the old action.
    """
    states = np.arange(mdp.num_states)
    excess, error = reach.excess(mdp.rewards, bias)
    excess = np.where(allowed, excess, -np.inf)
    best = excess.argmax(axis=1)
    rises = excess[states, best] - error[states, best] > excess[states, policy] + error[states, policy]
    improved = np.where(rises, best, policy)
    lower = float((excess - error)[states, improved].min())
    upper = float((excess + error).max())
    return improved, lower, upper, float(error[states, improved].max())


def _unichain(mdp: FiniteMDP, reach: Reachability, policy: Integers) -> Integers:
    """The policy if it has one recurrent class; otherwise one that leads to its class of the highest gain."""
    transitions, rewards = mdp.under(policy)
    chain = Chain(transitions)
    if len(chain.recurrent_classes) == 1:
        return policy
    best = int(np.argmax(chain.stationary_distributions @ rewards))
    elsewhere = np.zeros(mdp.num_states, dtype=bool)
    elsewhere[np.concatenate([states for c, states in enumerate(chain.recurrent_classes) if c != best])] = True
    lost = can_reach(chain.graph, elsewhere)
    return reach.policy_towards(~lost, np.ones_like(mdp.rewards, dtype=bool), policy)
