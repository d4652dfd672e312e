"""Exact evaluation of stationary policies: gain, bias, Q-function, stationary distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import DoesNotExist
from aapi.mdp.chain import Chain, describe_states

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Matrix
    from aapi.mdp.model import FiniteMDP


SAME = 1e-11  # gains closer than this, relative to the rewards, are one gain


@dataclass(frozen=True, eq=False)
class PolicyValues:
    """The solution of λ = P_π λ and λ + V = r_π + P_π V with μ·V = 0 on every recurrent class.

    gains: λ_π(x), one per state: the long-run average reward from x.
    bias: V_π(x); q_values: Q_π(x, a) = r(x, a) − λ_π(x) + Σ_x' P(x'|x, a) V_π(x').
    chain: the Markov chain under the policy; reward_scale: the largest absolute reward in
        recurrent states.
    """

    chain: Chain
    gains: Array
    bias: Array
    q_values: Array
    reward_scale: float

    @property
    def gain(self) -> float:
        """λ_π where it is the same from every state; otherwise an error that points to `gains`."""
        return common_gain(self.gains, self.chain, self.reward_scale)

    @property
    def stationary_distribution(self) -> Array:
        """μ_π, of shape (states,); an error if there are several recurrent classes."""
        return self.chain.stationary_distribution


def induced_chain(mdp: FiniteMDP, policy: ArrayLike) -> Chain:
    """The Markov chain of states under a stationary policy."""
    return Chain(mdp.under(policy)[0])


def policy_values(mdp: FiniteMDP, policy: ArrayLike) -> PolicyValues:
    """Evaluate a stationary policy exactly; periodic and multichain policies included.

    policy: the probabilities π(a|x), of shape (states, actions); or one action per state.
    """
    transitions, rewards = mdp.under(policy)
    chain, gains, bias = chain_values(transitions, rewards)
    scale = float(np.abs(rewards[np.concatenate(chain.recurrent_classes)]).max())
    return PolicyValues(chain, gains, bias, mdp.backup(bias) - gains[:, None], scale)


def chain_values(transitions: Matrix, rewards: Array) -> tuple[Chain, Array, Array]:
    """The chain, its gains and its bias for rewards r(x), from one factorisation (Puterman 1994, section 8.2)."""
    chain = Chain(transitions)
    weights = chain.stationary_distributions
    gains = chain.extend(weights @ rewards)
    bias = chain.poisson(rewards - gains)
    return chain, gains, bias - chain.extend(weights @ bias)


def common_gain(gains: Array, chain: Chain, scale: float) -> float:
    """The one number in `gains`, up to rounding of rewards of size `scale`; or an error that names what differs."""
    if np.ptp(gains) <= SAME * scale:
        return float(gains[chain.recurrent_classes[0][0]])
    parts = [f"{gains[c[0]]:.6g} on {describe_states(c)}" for c in chain.recurrent_classes[:4]]
    more = ", …" if len(chain.recurrent_classes) > 4 else ""
    raise DoesNotExist(f"the gain differs between states ({', '.join(parts)}{more}); see gains, one per state")
