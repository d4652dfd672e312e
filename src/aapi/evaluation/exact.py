"""Exact Q-functions from the model: known dynamics, for the theory."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from aapi.errors import InvalidInput
from aapi.evaluation.evaluation import Evaluation
from aapi.mdp import policy_values

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Mask
    from aapi.mdp import FiniteMDP
    from aapi.memory import Experience


# Up to so many states, dense matrices of all policies at once cost less than evaluating one policy after the other.
MAX_BATCHED_STATES = 500
MAX_BATCHED_SPARSE_STATES = 200
BATCHED = 1 << 21  # numbers in the matrices of one batch
ACCURACY = 1e-9
LARGEST_BIAS = 1e6  # times the rewards; a policy with a larger one hardly ever leaves some states, and takes more care


@dataclass(frozen=True)
class ExactQ(Evaluation):
    """Q̂_k = Q_{π_k}."""

    off_policy = True

    def for_space(self, space: QSpace) -> Evaluation:
        """This evaluation, where there is a model."""
        if space.model is None:
            raise InvalidInput("exact evaluation needs a finite model, and this problem has none: use MonteCarlo")
        return self

    def __call__(self, policy: Policy, seen: Experience) -> Array:
        """Q_{π_k}, of shape (runs, states, actions)."""
        return exact_q_values(cast("FiniteMDP", seen.space.model), policy)[1]


def exact_q_values(mdp: FiniteMDP, policies: Array) -> tuple[Array, Array]:
    """Gains, of shape (policies, states), and Q-functions, of shape (policies, states, actions), of many policies."""
    gains, q_values, failed = batched_q_values(mdp, policies)
    known: dict[bytes, int] = {}  # greedy policies come again and again
    for each in np.flatnonzero(failed).tolist():
        first = known.setdefault(policies[each].tobytes(), each)
        if first == each:
            values = policy_values(mdp, policies[each])
            gains[each], q_values[each] = values.gains, values.q_values
        else:
            gains[each], q_values[each] = gains[first], q_values[first]
    return gains, q_values


def batched_q_values(mdp: FiniteMDP, policies: Array) -> tuple[Array, Array, Mask]:
    """Gains, Q-functions, and which policies have none of them yet, since they need more care.

    Small unichain models are solved all at once. I − P_π + 1 e_sᵀ is invertible just where π has one recurrent class;
    policies for which it is not, or hardly, are left out.
    """
    gains, q_values = np.empty(policies.shape[:2]), np.empty(policies.shape)
    failed = np.ones(len(policies), dtype=bool)
    if mdp.num_states > (MAX_BATCHED_SPARSE_STATES if mdp.is_sparse else MAX_BATCHED_STATES):
        return gains, q_values, failed
    rows = mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions
    transitions = np.ascontiguousarray(rows).reshape(*mdp.rewards.shape, mdp.num_states)
    size = max(1, BATCHED // mdp.num_states**2)

    def solve(part: slice) -> None:
        failed[part] = ~_solve_together(transitions, mdp.rewards, policies[part], gains[part], q_values[part])

    for start in range(0, len(policies), size):
        try:
            solve(slice(start, start + size))
        except np.linalg.LinAlgError:  # one of them has several classes; the others must not notice
            for k in range(start, min(start + size, len(policies))):
                with contextlib.suppress(np.linalg.LinAlgError):
                    solve(slice(k, k + 1))
    return gains, q_values, failed


def _solve_together(transitions: Array, rewards: Array, policies: Array, gains: Array, q_values: Array) -> Mask:
    """Fill in gains and Q-functions; true for the policies for which that went well."""
    n = len(rewards)
    # (policies, states, 1, actions) @ (states, actions, states): a product for each of them, whatever the batch.
    matrix = np.eye(n) - (policies[:, :, None, :] @ transitions)[:, :, 0, :]
    earned = np.einsum("kxa,xa->kx", policies, rewards)
    matrix[:, :, 0] += 1.0
    unit = np.zeros(n)
    unit[0] = 1.0
    mu = np.linalg.solve(matrix.transpose(0, 2, 1), np.broadcast_to(unit, gains.shape)[:, :, None])[:, :, 0]
    bias = np.linalg.solve(matrix, earned[:, :, None])[:, :, 0]
    gains[:] = np.einsum("kx,kx->k", mu, earned)[:, None]
    bias -= np.einsum("kx,kx->k", mu, bias)[:, None]
    q_values[:] = rewards - gains[:, :, None] + (transitions @ bias[:, None, :, None])[..., 0]
    residual = np.abs(np.einsum("kxa,kxa->kx", policies, q_values) - bias).max(axis=1)
    scale = np.abs(rewards).max() + np.abs(bias).max(axis=1)
    fits = (residual <= ACCURACY * scale) & (mu.min(axis=1) >= -ACCURACY)
    return np.asarray(fits & (scale <= LARGEST_BIAS * np.abs(rewards).max()))
