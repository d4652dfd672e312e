"""The optimal gain of a finite MDP, a policy that attains it, and a certificate.

Models that mix fast are solved by value iteration. All others are decomposed into end components, in which the optimal
gain does not depend on the state; each is solved by policy iteration, or by damped value iteration where that fails;
then the best component to go to is found. Every step gives bounds that hold in any case, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from aapi.errors import DoesNotExist
from aapi.mdp.chain import Chain
from aapi.mdp.communicating import Search, improve, iterate_values, settle
from aapi.mdp.components import Reachability
from aapi.mdp.linear_systems import REDUCTION_SIZE, TransientSystem, row_sums
from aapi.mdp.model import FiniteMDP
from aapi.mdp.policy_values import PolicyValues, chain_values, common_gain, policy_values

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask, Matrix


MAX_POLICIES = 500
ROUNDING = 1e-13  # bound on the error of the probabilities of reaching components
SHARP = 1e-11  # a certificate this narrow, relative to the rewards, is exact enough
CERTIFIED = 1e-6  # a wider certificate is an error


@dataclass(frozen=True, eq=False)
class Solution:
    """A deterministic policy with the optimal gain, and bounds that prove it.

    policy: one action per state.
    gains_lower ≤ λ_*(x) ≤ gains_upper, one per state: the certificate. The lower bound is earned by `policy`, the
        upper bound holds for every policy. Both allow for rounding.
    """

    mdp: FiniteMDP
    policy: Integers
    gains_lower: Array
    gains_upper: Array

    @cached_property
    def values(self) -> PolicyValues:
        """Gain, bias, Q-function and chain of the policy, by an exact evaluation."""
        return policy_values(self.mdp, self.policy)

    @property
    def gains(self) -> Array:
        """λ_*(x), one per state, within the certificate; or an error if that is too wide."""
        width = self.gains_upper - self.gains_lower
        middle = 0.5 * self.gains_lower + 0.5 * self.gains_upper
        if width.max() <= SHARP * np.abs(middle).max():
            return middle
        transitions, rewards = self.mdp.under(self.policy)
        if width.max() > CERTIFIED * max(float(np.abs(rewards).max()), 1e-300):
            x = int(width.argmax())
            raise DoesNotExist(
                f"the optimal gain could not be certified: from state {x} it lies between {self.gains_lower[x]:.9g} "
                f"and {self.gains_upper[x]:.9g}"
            )
        lasting = np.concatenate(Chain(transitions).recurrent_classes)
        if width.max() <= SHARP * np.abs(rewards[lasting]).max():
            return middle
        # The gain of the policy is known more accurately than the optimal gain.
        return np.clip(self.values.gains, self.gains_lower, self.gains_upper)

    @property
    def gain(self) -> float:
        """λ_* where it is the same from every state; otherwise an error that points to `gains`."""
        gains = self.gains
        if self.gains_lower.max() > self.gains_upper.min():  # proven to differ
            return common_gain(gains, self.values.chain, scale=0.0)
        return float(gains[0])

    @property
    def bias(self) -> Array:
        """V_*(x), with μ·V = 0 on every recurrent class of the policy."""
        return self.values.bias

    @property
    def bias_span(self) -> float:
        """max V_* − min V_*."""
        return float(np.ptp(self.bias))


def solve(mdp: FiniteMDP) -> Solution:
    """The optimal gain, a deterministic optimal policy and the certificate, for any finite MDP."""
    search = Search(mdp)
    policy = iterate_values(search)
    quick = search.settled and not search.coarse
    if not quick:
        reach = Reachability(mdp)
        component, staying = reach.end_components()
        if component.min() < 0 or component.max() > 0:
            return _solve_by_components(mdp, reach, component, staying)
        settle(search, reach, policy)
    lower, upper = (np.full(mdp.num_states, bound) for bound in (search.lower, search.upper))
    policy = search.policy
    if not quick or not _is_unichain(mdp, policy):  # the gain is optimal, the bias perhaps not
        policy = _refine(mdp, Reachability(mdp), policy, np.ones_like(mdp.rewards, dtype=bool), lower)
    return Solution(mdp, mdp.as_allowed(policy), lower, upper)


def _is_unichain(mdp: FiniteMDP, policy: Integers) -> bool:
    transitions, _ = mdp.under(policy)
    if not mdp.is_sparse and (transitions > 0.0).all(axis=0).any():  # one state follows all others
        return True
    return len(Chain(transitions).recurrent_classes) == 1


def _solve_by_components(mdp: FiniteMDP, reach: Reachability, component: Integers, staying: Mask) -> Solution:
    """Several components, or states outside: the optimal gain is that of the best components a policy can get to."""
    count = int(component.max()) + 1
    lower, upper = np.empty(count), np.empty(count)
    policy = np.zeros(mdp.num_states, dtype=np.int64)
    order = np.argsort(component, kind="stable")
    for states in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        c = component[states[0]]
        if c < 0:
            continue
        part, actions = _restrict(mdp, reach, states, staying[states])
        search = Search(part)
        start = iterate_values(search)
        if not search.settled or search.coarse:
            settle(search, Reachability(part), start)
        lower[c], upper[c] = search.lower, search.upper
        policy[states] = actions[np.arange(len(states)), search.policy]
    gains_lower, policy, optimal_pairs, error = _reach_best(mdp, reach, component, staying, lower, policy)
    gains_upper = _reach_best(mdp, reach, component, staying, upper, policy)[0]
    if count > 1:
        margin = ROUNDING * float(max(np.abs(lower).max(), np.abs(upper).max())) + error
        gains_lower, gains_upper = gains_lower - margin, gains_upper + margin
    policy = _refine(mdp, reach, policy, optimal_pairs, gains_lower)
    return Solution(mdp, mdp.as_allowed(policy), gains_lower, gains_upper)


def _restrict(mdp: FiniteMDP, reach: Reachability, states: Integers, staying: Mask) -> tuple[FiniteMDP, Integers]:
    """The model on the states of a component, with an action that stays for each that leaves; and these actions."""
    actions = np.where(staying, np.arange(mdp.num_actions), staying.argmax(axis=1)[:, None])
    rows = reach.support[(states[:, None] * mdp.num_actions + actions).ravel()][:, states]
    rewards = mdp.rewards[states[:, None], actions]
    dense = len(states) <= 50 or not mdp.is_sparse
    return FiniteMDP(rows.toarray().reshape(*rewards.shape, -1) if dense else rows, rewards), actions


def _reach_best(
    mdp: FiniteMDP, reach: Reachability, component: Integers, staying: Mask, gains: Array, policy: Integers
) -> tuple[Array, Integers, Mask, float]:
    """The largest expected gain of the component where a run ends, a policy for it, and the pairs that preserve it.

    The last result bounds the error of the expected gain, beyond rounding of the result.

    A stopping problem in which a component is one node: stay, or take one of the pairs that lead out. It has no end
    components left, so that every policy stops and policy iteration terminates.
    """
    count = len(gains)
    node = component.copy()
    node[component < 0] = count + np.arange((component < 0).sum())
    num_nodes = int(node.max()) + 1
    pairs = np.flatnonzero(~staying.ravel())
    origin = node[pairs // mdp.num_actions]
    to_node = scipy.sparse.csr_array(
        (np.ones(mdp.num_states), (np.arange(mdp.num_states), node)), shape=(mdp.num_states, num_nodes)
    )
    moves = (reach.support[pairs] @ to_node).tocoo()
    moves.data[moves.col == origin[moves.row]] = 0.0
    moves = moves.tocsr()
    moves.eliminate_zeros()
    out = row_sums(moves)
    choice = np.full(num_nodes, -1)  # a row of `moves`, or −1 for staying
    first = np.unique(origin, return_index=True)
    choice[first[0]] = np.where(first[0] < count, -1, first[1])
    margin = ROUNDING * float(np.abs(gains).max())  # not relative to their mean, which may be nearly zero
    seen = set()
    while choice.tobytes() not in seen:
        seen.add(choice.tobytes())
        value = _stopping_values(moves, choice, gains)
        offers = np.asarray(moves @ value).ravel() / out
        best = np.full(num_nodes, -np.inf)
        np.maximum.at(best, origin, offers)
        rises = best > value + margin
        winners = np.flatnonzero(offers == best[origin])
        choice[origin[winners]] = np.where(rises[origin[winners]], winners, choice[origin[winners]])
    optimal_pairs = staying.copy()
    optimal_pairs.ravel()[pairs] = offers >= value[origin] - 10.0 * margin
    error = _stopping_error(moves, out, choice, value)
    return value[node], _way_out(mdp, reach, staying, policy, pairs[choice[choice >= 0]]), optimal_pairs, error


def _stopping_values(moves: Matrix, choice: Integers, gains: Array) -> Array:
    """The expected gain where a run stops, from each node."""
    value = np.zeros(len(choice))
    stays, moving = np.flatnonzero(choice < 0), np.flatnonzero(choice >= 0)
    value[stays] = gains[stays]
    if moving.size:
        chosen = moves[choice[moving]]
        system = TransientSystem(chosen, moving, stays)
        value[moving] = system.solve(chosen[:, stays] @ value[stays])
    return value


def _stopping_error(moves: Matrix, out: Array, choice: Integers, value: Array) -> float:
    """A bound on the error of the expected gains: the residual of one step, times the expected steps until stopping.

    State reduction needs none: it is accurate to rounding, however rare stopping is.
    """
    moving = np.flatnonzero(choice >= 0)
    if len(moving) <= REDUCTION_SIZE:
        return 0.0
    chosen = moves[choice[moving]]
    lengths = np.diff(chosen.indptr)
    terms = chosen.data * (value[chosen.indices] - np.repeat(value[moving], lengths))
    left_over = np.abs(np.add.reduceat(terms, chosen.indptr[:-1]) / out[choice[moving]])
    steps = TransientSystem(chosen, moving, np.flatnonzero(choice < 0)).solve(out[choice[moving]])
    return 2.0 * float(left_over.max()) * float(np.abs(steps).max())


def _way_out(mdp: FiniteMDP, reach: Reachability, staying: Mask, policy: Integers, pairs: Integers) -> Integers:
    """The policy, changed so that the `pairs` are taken, and all states of their components lead to them."""
    exits = np.zeros(mdp.num_states, dtype=bool)
    exits[pairs // mdp.num_actions] = True
    policy = reach.policy_towards(exits, staying, policy)
    policy[pairs // mdp.num_actions] = pairs % mdp.num_actions
    return policy


def _refine(mdp: FiniteMDP, reach: Reachability, policy: Integers, optimal_pairs: Mask, lower: Array) -> Integers:
    """Among the pairs that preserve the optimal gain, prefer those of higher bias (Puterman 1994, section 9.2).

    Each policy is better than the one before in the order of discount factors near one, so its gain never falls. Should
    rounding make it fall, the last good one is returned.
    """
    previous = policy
    for _ in range(MAX_POLICIES):
        try:
            _, earned, bias = chain_values(*mdp.under(policy))
        except DoesNotExist:  # not in double precision
            return previous
        if (earned < lower - CERTIFIED * np.abs(lower)).any() or not np.isfinite(bias).all():
            return previous
        improved, _, _, _ = improve(reach, mdp, policy, bias, optimal_pairs)
        if np.array_equal(improved, policy):
            break
        previous, policy = policy, improved
    return policy
