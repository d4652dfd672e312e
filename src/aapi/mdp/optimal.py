"""The optimal gain of a finite MDP, a policy that attains it, and a certificate.

Value iteration settles quickly mixing models, Howard's policy iteration all others: periodic and multichain models,
where relative value iteration alone runs for ever or stops at a wrong gain. Both end in the same certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from aapi.mdp.policy_values import PolicyValues, chain_values, common_gain, policy_values

if TYPE_CHECKING:
    from aapi.mdp.linear import FloatArray, IntArray
    from aapi.mdp.model import FiniteMDP

__all__ = ["Solution", "solve"]

SWEEPS = 60  # sweeps of value iteration before policy iteration takes over
POLICY_STEPS = 6  # applications of the policy's own operator after each sweep
GAP = 1e-13  # width of the certificate at which value iteration stops, relative to the rewards
IMPROVEMENT = 1e-12  # a new action must be better by this much, relative to the values
MAX_POLICIES = 10_000


@dataclass(frozen=True, eq=False)
class Solution:
    """A deterministic policy that is optimal in gain, and the proof.

    policy: one action per state.
    gains_lower ≤ λ_*(x) ≤ gains_upper, one per state: the certificate. The lower bound is earned by `policy`, the
        upper bound holds for every policy. Both are exact up to the rounding of one Bellman backup.
    """

    mdp: FiniteMDP
    policy: IntArray
    gains_lower: FloatArray
    gains_upper: FloatArray

    @cached_property
    def values(self) -> PolicyValues:
        """Gain, bias, Q-function and chain of the policy, by an exact evaluation."""
        return policy_values(self.mdp, self.policy)

    @property
    def gains(self) -> FloatArray:
        """λ_*(x), one per state."""
        return 0.5 * (self.gains_lower + self.gains_upper)

    @property
    def gain(self) -> float:
        """λ_* where it is the same from every state; otherwise an error that points to `gains`."""
        gains = self.gains
        return float(gains[0]) if np.ptp(gains) == 0.0 else common_gain(gains, self.values.chain)

    @property
    def bias(self) -> FloatArray:
        """V_*(x), with μ·V = 0 on every recurrent class of the policy."""
        return self.values.bias

    @property
    def bias_span(self) -> float:
        """max V_* − min V_*."""
        return float(np.ptp(self.bias))


def solve(mdp: FiniteMDP) -> Solution:
    """The optimal gain, a deterministic optimal policy and the certificate, for any finite MDP."""
    solution, policy = _value_iteration(mdp)
    return solution or _policy_iteration(mdp, policy)


def _value_iteration(mdp: FiniteMDP) -> tuple[Solution | None, IntArray]:
    """Modified policy iteration (Puterman 1994, section 8.7): a solution if certified in time, and the last policy.

    For any v, min(Tv − v) ≤ λ_*(x) ≤ max(Tv − v). On quickly mixing models the two meet at a geometric rate.
    """
    values = np.zeros(mdp.num_states)
    policy = np.full(mdp.num_states, -1)
    target = GAP * float(np.abs(mdp.rewards).max())
    best = np.inf
    for sweep in range(SWEEPS):
        q_values = mdp.backup(values)
        previous, policy = policy, q_values.argmax(axis=1)
        improved = np.take_along_axis(q_values, policy[:, None], axis=1)[:, 0]
        change = improved - values
        lower, upper = float(change.min()), float(change.max())
        # Past the target, rounding is all that is left: stop as soon as it no longer falls.
        if upper - lower <= target or (sweep > SWEEPS // 2 and best <= upper - lower <= 10 * target):
            return Solution(mdp, policy, np.full_like(values, lower), np.full_like(values, upper)), policy
        best = min(best, upper - lower)
        if not np.array_equal(policy, previous):
            transitions, rewards = mdp.under(policy)
        values = improved - improved[0]
        for _ in range(POLICY_STEPS):
            values = rewards + transitions @ values
    return None, policy


def _policy_iteration(mdp: FiniteMDP, policy: IntArray) -> Solution:
    """Howard's multichain policy iteration (Puterman 1994, section 9.2), with the bias as relative value.

    A state switches to an action that leads to a higher gain; failing that, among the actions that keep the gain, to
    one with a higher value. Each policy is better than the one before in the order of discount factors near one, so
    none comes twice.
    """
    states = np.arange(mdp.num_states)
    reward_scale = float(np.abs(mdp.rewards).max())
    for _ in range(MAX_POLICIES):
        _, gains, bias = chain_values(*mdp.under(policy))
        next_gains = mdp.expected(gains)
        gain_margin = IMPROVEMENT * reward_scale
        keeps_gain = next_gains >= gains[:, None] - gain_margin
        q_values = np.where(keeps_gain, mdp.backup(bias), -np.inf)
        by_gain, by_value = next_gains.argmax(axis=1), q_values.argmax(axis=1)
        gain_rises = next_gains[states, by_gain] > gains + gain_margin
        value_margin = IMPROVEMENT * (reward_scale + float(np.abs(bias).max()))
        value_rises = q_values[states, by_value] > q_values[states, policy] + value_margin
        improved = np.where(gain_rises, by_gain, np.where(value_rises, by_value, policy))
        if np.array_equal(improved, policy):
            break
        policy = improved
    return _certified(mdp, policy, gains, bias, q_values)


def _certified(mdp: FiniteMDP, policy: IntArray, gains: FloatArray, bias: FloatArray, q_values: FloatArray) -> Solution:
    """Bounds from the optimality equation's residuals.

    With λ = P_π λ, the policy earns at least λ + min(r_π + P_π V − λ − V). With λ ≥ P_a λ for every action, no policy
    earns more than λ + max(r_a + P_a V − λ − V), the maximum taken over the actions that keep λ (to the others V + M λ
    with a large M is blind). These are the dual and primal feasible points of the multichain linear program.
    """
    surplus = q_values - (gains + bias)[:, None]
    lower = gains + min(0.0, float(surplus[np.arange(mdp.num_states), policy].min()))
    upper = gains + max(0.0, float(surplus.max()))
    return Solution(mdp, policy, lower, upper)
