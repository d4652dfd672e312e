"""Adaptive optimistic follow-the-regularised-leader (AO-FTRL, Mohri and Yang 2016): regret and bound in each state.

In one state, f_k = π_k(·|x), the reward vectors are q_k = Q̂_k(x,·), and f_{k+1} maximises ⟨f, Σ_{s≤k} q_s + M_{k+1}⟩ −
η_k R(f), with R(f) = Σ_a f ln f + ln A, which is not negative and 1-strongly convex in ‖·‖₁. Where phases differ in
length, q_k and M_k are multiplied by what phase k counts. With s_k = ‖q_k − M_k‖,
d_k = ‖f_{k+1} − f_k‖₁ and temperatures 0 ≤ η_0 ≤ η_1 ≤ … that never fall, for every f_*,

    Σ_k ⟨f_* − f_k, q_k⟩ ≤ Σ_k m_k + η_K R(f_*) − Σ_k (η_{k−1}/4) d_k² + ⟨M_{K+1}, f_{K+1} − f_*⟩,

where m_k = s_k²/η_{k−1} if s_k ≤ η_{k−1}, else 2 s_k − η_{k−1}. While f is uniform, any temperature explains it; so
there η_{k−1} may be taken as large as η_k. For the adaptive rate, η_k = c (Σ_{s≤k} s_s²)^½ with c ≤ 2,

    Σ_k m_k ≤ (2/c + c/2) (Σ_k s_k²)^½.

Both are proven in docs/theory.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.approximation.boltzmann import boltzmann
from aapi.checks import at_least
from aapi.errors import DoesNotExist
from aapi.theory.evaluation_error import root_of_squares

if TYPE_CHECKING:
    from aapi.array_types import Array
    from aapi.theory.phases import Comparator, Phases

FALLS = 1e-12  # a temperature that falls by less than this, relatively, is rounding
SAME = 1e-6  # probabilities that differ by no more are those of one policy


@dataclass(frozen=True, eq=False)
class OnlineLearning:
    """The regret of each state, and the parts of its bound, ([runs,] states).

    regret: Σ_k ⟨π_*(·|x) − π_k(·|x), Q̂_k(x,·)⟩.
    stability: Σ_k m_k, the price of surprises; regularisation: η_K R(π_*), the price of staying near uniform.
    movement: Σ_k (η_{k−1}/4) d_k², which is subtracted: what moving policies earn, and what buys the improvement.
    prediction: ⟨M_{K+1}, π_{K+1} − π_*⟩, what the last prediction promises.
    temperature: η_K. surprise: (Σ_k s_k²)^½. printed_movement: Σ_k (η_k/4) d_k², as the paper prints it.
    """

    regret: Array
    stability: Array
    regularisation: Array
    movement: Array
    prediction: Array
    temperature: Array
    surprise: Array
    printed_movement: Array

    @property
    def bound(self) -> Array:
        """What the regret cannot exceed, whatever the temperatures, as long as they do not fall."""
        return np.asarray(self.stability + self.regularisation - self.movement + self.prediction)

    @property
    def corrected_lemma(self) -> Array:
        """(2/c + c/2 + c R) (Σ s²)^½ − Σ (η_{k−1}/4) d_k² + prediction: the paper's lemma, as it can be proven.

        For the adaptive rate, where c (Σ s²)^½ = η_K; if c > 2, with 2 for 2/c + c/2.
        """
        eta, root = self.temperature, self.surprise
        with np.errstate(divide="ignore"):  # at temperature 0, the bound is infinite
            inverse = np.where(root > 0.0, root / np.where(root > 0.0, eta, 1.0), 0.0)
        stability = np.where(eta <= 2.0 * root, 2.0 * inverse * root + 0.5 * eta, 2.0 * root)
        return np.asarray(stability + self.regularisation - self.movement + self.prediction)

    def patched_lemma(self, num_actions: int) -> Array:
        """2 (2 ln A Σ s²)^½ − Σ (η_{k−1}/4) d_k² + prediction: the paper's, with the constant and the temperature that
        its proof was after; for `lemma_eta`. Random sequences keep to it, but not all do.
        """
        root = math.sqrt(2.0 * math.log(num_actions)) * self.surprise
        return np.asarray(2.0 * root - self.movement + self.prediction)

    def printed_lemma(self, num_actions: int) -> Array:
        """(2 ln A Σ s²)^½ − Σ (η_k/4) d_k² + prediction: the paper's lemma as it is printed; for `lemma_eta`."""
        root = math.sqrt(2.0 * math.log(num_actions)) * self.surprise
        return np.asarray(root - self.printed_movement + self.prediction)


def lemma_eta(num_actions: int) -> float:
    """The η that the paper's lemma asks for, (2/R_max)^½ in η_k = η (Σ s²)^½, as our η in η_k = η (2 Σ s²)^½."""
    at_least(2, num_actions=num_actions)
    return math.sqrt(1.0 / math.log(num_actions))


def online_learning(phases: Phases, against: Comparator) -> OnlineLearning:
    """The regret of one run. Raises DoesNotExist for algorithms that do not follow the regularised leader."""
    if not phases.evaluated.any():
        raise DoesNotExist("no phase was evaluated")
    if phases.temperatures is None or phases.surprises is None or phases.predictions is None:
        raise DoesNotExist("the algorithm does not follow the regularised leader")
    policies = np.concatenate([phases.policies[phases.evaluated], phases.next_policy[None]])
    rewards = phases.weights[:, None, None] * phases.q_hats
    given = (phases.temperatures, phases.surprises, phases.predictions)
    return regret_and_bound(policies, rewards, *given, against.policy)


def regret_and_bound(
    policies: Array, q_hats: Array, temperatures: Array,
    surprises: Array, predictions: Array, comparator: Array,
) -> OnlineLearning:  # fmt: skip
    """The regret of K rounds, and the terms of its bound, in each of many states.

    policies: f_1 … f_{K+1}, (K + 1, states, actions); q_hats: q_k, and predictions: M_{k+1}, (K, states, actions);
    temperatures: η_k, and surprises: s_k, (K, states); comparator: f_*, (states, actions).
    """
    now = np.broadcast_to(temperatures, surprises.shape)
    before = _temperatures_before(now, policies)
    leaders = boltzmann(np.cumsum(q_hats, axis=0) + predictions, now)
    if not np.abs(leaders - policies[1:]).max(initial=0.0) <= SAME:
        raise DoesNotExist("the policies do not follow the regularised leader")
    moved = np.abs(np.diff(policies, axis=0)).sum(axis=2) ** 2
    ratio = np.divide(surprises, before, out=np.zeros_like(surprises), where=before > 0.0)
    stability = np.where(surprises <= before, surprises * ratio, 2.0 * surprises - before)
    logs = np.log(comparator, out=np.zeros_like(comparator), where=comparator > 0.0)
    regulariser = (comparator * logs).sum(axis=1) + math.log(comparator.shape[1])
    last = slice(-1, None)
    return OnlineLearning(
        regret=np.einsum("kxa,kxa->x", comparator - policies[:-1], q_hats), stability=stability.sum(axis=0),
        regularisation=now[-1] * regulariser, movement=0.25 * (before * moved).sum(axis=0),
        prediction=np.einsum("kxa,kxa->x", predictions[last], policies[last] - comparator),
        temperature=now[-1].copy(), surprise=root_of_squares(surprises, 0),
        printed_movement=0.25 * (now * moved).sum(axis=0),
    )  # fmt: skip


def _temperatures_before(now: Array, policies: Array) -> Array:
    """η_{k−1} for each η_k, (K, states); where the policy still is uniform and η_{k−1} = 0, η_k."""
    before = np.concatenate([np.zeros_like(now[:1]), now[:-1]])
    if (before > now * (1.0 + FALLS)).any():
        raise DoesNotExist("the temperature falls at times, and the lemma needs it not to")
    uniform = np.ptp(policies[:-1], axis=2) == 0.0
    return np.where(uniform & (before == 0.0), now, before)
