"""Exact Q-functions from the model: known dynamics, for the theory."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.errors import InvalidInput
from aapi.mdp import policy_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aapi.mdp import FiniteMDP
    from aapi.simulation import PhaseData, Simulation

__all__ = ["ExactQ", "exact_q_values"]

MAX_BATCHED_STATES = 500  # beyond this, one dense matrix per run costs more than evaluating the runs in turn
ACCURACY = 1e-9


@dataclass(frozen=True)
class ExactQ:
    """Q̂_k = Q_{π_k}."""

    def check(self, phase_length: int) -> None:
        """Any phase length will do."""

    def __call__(self, simulation: Simulation, policy: Any, data: PhaseData) -> NDArray[np.float64]:
        """Q_{π_k}, of shape (runs, states, actions)."""
        mdp = getattr(simulation, "mdp", None)
        if mdp is None:
            raise InvalidInput("exact evaluation needs a finite model, and this problem has none: use MonteCarlo")
        return exact_q_values(mdp, policy)[1]


def exact_q_values(mdp: FiniteMDP, policies: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gains, of shape (policies, states), and Q-functions, of shape (policies, states, actions), of many policies.

    Small unichain models are solved all at once. I − P_π + 1 e_sᵀ is invertible just where π has one recurrent class;
    policies for which it is not, or hardly, are evaluated on their own.
    """
    gains = np.empty(policies.shape[:2])
    q_values = np.empty(policies.shape)
    todo = np.ones(len(policies), dtype=bool)
    if mdp.num_states <= MAX_BATCHED_STATES and not mdp.is_sparse:
        try:
            todo = ~_solve_together(mdp, policies, gains, q_values)
        except np.linalg.LinAlgError:  # one of them has several classes; the others must not notice
            for k in range(len(policies)):
                with contextlib.suppress(np.linalg.LinAlgError):
                    one = slice(k, k + 1)
                    todo[one] = ~_solve_together(mdp, policies[one], gains[one], q_values[one])
    for run in np.flatnonzero(todo):
        values = policy_values(mdp, policies[run])
        gains[run], q_values[run] = values.gains, values.q_values
    return gains, q_values


def _solve_together(
    mdp: FiniteMDP, policies: NDArray[np.float64], gains: NDArray[np.float64], q_values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    n = mdp.num_states
    # (runs, states, 1, actions) @ (states, actions, states): a product for each run and state, whatever the batch.
    transitions = (policies[:, :, None, :] @ mdp.transitions)[:, :, 0, :]
    rewards = np.einsum("kxa,xa->kx", policies, mdp.rewards)
    matrix = np.eye(n) - transitions
    matrix[:, :, 0] += 1.0
    unit = np.zeros(n)
    unit[0] = 1.0
    mu = np.linalg.solve(matrix.transpose(0, 2, 1), np.broadcast_to(unit, gains.shape)[:, :, None])[:, :, 0]
    bias = np.linalg.solve(matrix, rewards[:, :, None])[:, :, 0]
    gains[:] = np.einsum("kx,kx->k", mu, rewards)[:, None]
    bias -= np.einsum("kx,kx->k", mu, bias)[:, None]
    q_values[:] = mdp.rewards - gains[:, :, None] + (mdp.transitions @ bias[:, None, :, None])[..., 0]
    residual = np.abs(np.einsum("kxa,kxa->kx", policies, q_values) - bias).max(axis=1)
    scale = np.abs(mdp.rewards).max() + np.abs(bias).max(axis=1)
    return np.asarray((residual <= ACCURACY * scale) & (mu.min(axis=1) >= -ACCURACY) & np.isfinite(bias).all(axis=1))
