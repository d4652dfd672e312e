"""Reachability in MDPs: end components, almost sure reachability, and policies that lead to a set of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from aapi.mdp.chain import can_reach

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask, Matrix
    from aapi.mdp.model import FiniteMDP


class Reachability:
    """The graph of a model. Pairs (x, a) are rows x · actions + a; masks of pairs are (states, actions).

    support: P as a sparse matrix, (states · actions, states).
    """

    def __init__(self, mdp: FiniteMDP) -> None:
        self.num_states, self.num_actions = mdp.num_states, mdp.num_actions
        self.support: Matrix = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))

    def _any_successor(self, wrong: Mask) -> Mask:
        """The pairs with a successor at which the mask of entries of `support` holds."""
        hit = np.logical_or.reduceat(wrong, self.support.indptr[:-1])
        return np.asarray(hit).reshape(self.num_states, self.num_actions)

    def leads_into(self, states: Mask) -> Mask:
        """The pairs that may lead into `states` in one step."""
        return self._any_successor(states[self.support.indices])

    def graph(self, allowed: Mask) -> Matrix:
        """The edges between states by the pairs allowed, as a (states, states) matrix."""
        rows = np.flatnonzero(allowed.ravel())
        kept = self.support[rows].tocoo()
        edges = (np.ones(kept.nnz), (rows[kept.row] // self.num_actions, kept.col))
        return scipy.sparse.csr_array(edges, shape=(self.num_states, self.num_states))

    def end_components(self) -> tuple[Integers, Mask]:
        """The maximal end components: sets of states in which some policy can stay and reach every state.

        Returns the component of each state, −1 for states in none, and the pairs that stay in their component. Whatever
        the policy, a run ends up in components for good; within each, the optimal gain is the same from all states.
        """
        allowed = np.ones((self.num_states, self.num_actions), dtype=bool)
        while True:
            graph = self.graph(allowed)
            _, label = scipy.sparse.csgraph.connected_components(graph, directed=True, connection="strong")
            row_label = np.repeat(np.repeat(label, self.num_actions), np.diff(self.support.indptr))
            staying = allowed & ~self._any_successor(label[self.support.indices] != row_label)
            if np.array_equal(staying, allowed):
                break
            allowed = staying
        inside = allowed.any(axis=1)
        component = np.full(self.num_states, -1)
        component[inside] = np.unique(label[inside], return_inverse=True)[1]
        return component, allowed

    def stays_in(self, inside: Mask) -> Mask:
        """The pairs that start in `inside` and never leave it in one step."""
        return np.asarray(inside[:, None] & ~self.leads_into(~inside))

    def avoidable(self, state: int) -> bool:
        """Whether some policy, from some state, never visits `state`."""
        inside = np.arange(self.num_states) != state
        while True:
            kept = self.stays_in(inside).any(axis=1)
            if np.array_equal(kept, inside):
                return bool(inside.any())
            inside = kept

    def surely_reaches(self, target: int) -> Mask:
        """The states from which some policy reaches `target` with probability 1."""
        goal = np.arange(self.num_states) == target
        inside = np.ones(self.num_states, dtype=bool)
        while True:
            allowed = self.stays_in(inside)
            allowed[target] = True
            kept = can_reach(self.graph(allowed), goal)
            if np.array_equal(kept, inside):
                return inside
            inside = kept

    def policy_towards(self, targets: Mask, allowed: Mask, fallback: Integers) -> Integers:
        """In each state an allowed action that may lead a step closer to `targets`.

        fallback: the actions on the targets, and in states that cannot reach them. If the pairs allowed never lead to
        such states, this policy reaches the targets with probability 1.
        """
        policy, reached = fallback.copy(), targets.copy()
        while True:
            closer = self.leads_into(reached) & allowed
            new = closer.any(axis=1) & ~reached
            if not new.any():
                return policy
            policy[new] = closer[new].argmax(axis=1)
            reached |= new

    def excess(self, rewards: Array, values: Array) -> tuple[Array, Array]:
        """r(x, a) + Σ_x' P(x'|x, a) (values(x') − values(x)), and a bound on its rounding error.

        As a sum of differences it is as accurate as its own terms, however large the values are elsewhere.
        """
        lengths = np.diff(self.support.indptr)
        own = np.repeat(np.repeat(values, self.num_actions), lengths)
        terms = self.support.data * (values[self.support.indices] - own)
        starts = self.support.indptr[:-1]
        gained = np.add.reduceat(terms, starts).reshape(rewards.shape)
        size = np.abs(rewards) + np.add.reduceat(np.abs(terms), starts).reshape(rewards.shape)
        return rewards + gained, (lengths.reshape(rewards.shape) + 4) * np.finfo(float).eps * size
