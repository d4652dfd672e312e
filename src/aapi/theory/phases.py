"""The recorded phases of a run, with exact values beside the estimates; and the policy that regret is against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.environments import ContinuousProblem
from aapi.errors import InvalidInput
from aapi.evaluation import batched_q_values, exact_q_values
from aapi.mdp import policy_values, solve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers, Mask
    from aapi.mdp import FiniteMDP
    from aapi.result import Record, Result

RARE = 1e-9  # a probability of an action
SAME = 1e-9  # gains closer than this, relative to the rewards, are one gain


@dataclass(frozen=True, eq=False)
class Comparator:
    """π_*, of shape (states, actions); its gain λ_*; and μ_*(x), how often it visits x in the long run.

    Both from the initial state on, where that makes a difference.
    """

    policy: Array
    gain: float
    distribution: Array


def make_comparator(mdp: FiniteMDP, policy: ArrayLike | None = None) -> Comparator:
    """An optimal policy, or one of the user's: regret is defined against any fixed policy."""
    taken = solve(mdp).policy if policy is None else policy
    values = policy_values(mdp, taken)
    chain, start = values.chain, mdp.initial_state
    units = np.eye(len(chain.recurrent_classes))
    absorbed = np.array([chain.extend(unit)[start] for unit in units])  # the probability to end up in each class
    return Comparator(policy_table(mdp, taken), float(values.gains[start]), absorbed @ chain.stationary_distributions)


def policy_table(mdp: FiniteMDP, policy: ArrayLike) -> Array:
    """A policy as probabilities, (states, actions), also if it is given as one action per state."""
    taken = mdp.check_policy(policy)
    return np.asarray(np.eye(mdp.num_actions)[taken] if taken.ndim == 1 else taken, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Phases:
    """All phases of one run. The arrays of estimates are of the evaluated phases alone.

    lengths: τ_k; rewards: the sum of those of the phase; next_policy: what would have come next.
    policies: π_k; but where Q is too large for a quick solution, without actions of probability below RARE: a run would
        have to be as long as 1/RARE to tell the difference, and states that only they lead out of would have values
        beyond double precision.
    gains: λ_{π_k} of the state where the phase begins; weighted_gains: Σ_x μ_*(x) λ_{π_k}(x). They are equal where the
        gain does not depend on the state: `unichain`.
    q_values: Q_{π_k}; q_hats: Q̂_k; temperatures, surprises, predictions: η_k, ‖Q̂_k − M_k‖, M_{k+1}, or None; these
        three with `weights`, what the phases count, in them.
    reward_scale: the largest reward in absolute value.
    """

    lengths: Integers
    rewards: Array
    policies: Array
    next_policy: Array
    gains: Array
    weighted_gains: Array
    unichain: Mask
    q_values: Array
    evaluated: Mask
    q_hats: Array
    weights: Array
    temperatures: Array | None
    surprises: Array | None
    predictions: Array | None
    reward_scale: float


def exact_phases(result: Result, against: Comparator) -> Iterator[Phases]:
    """The phases of each run in turn: no more memory is taken than one run's tables need."""
    record, mdp = recorded(result)
    lengths = np.diff(result.phase_ends, prepend=0)
    scale = float(np.abs(mdp.rewards).max())
    for run, tables in enumerate(record.policies):
        policies = tables.copy()
        gains, q_values, hard = batched_q_values(mdp, policies)
        policies[hard] = without_rare(policies[hard])
        gains[hard], q_values[hard] = exact_q_values(mdp, policies[hard])
        yield Phases(
            lengths=lengths, rewards=result.rewards[run], policies=policies, next_policy=result.next_policy[run],
            gains=gains[np.arange(len(gains)), record.starts[run]], weighted_gains=gains @ against.distribution,
            unichain=np.ptp(gains, axis=1) <= SAME * scale, q_values=q_values, evaluated=record.evaluated,
            q_hats=record.q_hats[run], weights=record.weights,
            temperatures=None if record.temperatures is None else record.temperatures[run],
            surprises=None if record.surprises is None else record.surprises[run],
            predictions=None if record.predictions is None else record.predictions[run], reward_scale=scale,
        )  # fmt: skip


def without_rare(policies: Array) -> Array:
    """Policies whose actions of probability below RARE have the probability 0; others are the same to the bit."""
    rare = (policies > 0.0) & (policies < RARE)
    kept = np.where(rare, 0.0, policies)
    return np.where(rare.any(axis=-1, keepdims=True), kept / kept.sum(axis=-1, keepdims=True), policies)


def recorded(result: Result) -> tuple[Record, FiniteMDP]:
    """What was recorded, and the model; or an error that says how to get them."""
    if result.mean_rewards is not None:
        raise InvalidInput("the rewards of this problem change from phase to phase: use aapi.theory.hindsight")
    if isinstance(result.env, ContinuousProblem):
        raise InvalidInput(f"exact values need a finite model, and {result.env.name} has none")
    if result.record is None:
        raise InvalidInput("the result has no record of its phases: use aapi.run(…, record=True)")
    return result.record, result.env.dynamics
