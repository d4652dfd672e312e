"""Regret, taken apart: noise and pseudo-regret, and that into estimation and online learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import DoesNotExist
from aapi.statistics import confidence_band

if TYPE_CHECKING:
    from aapi.array_types import Array, Mask
    from aapi.statistics import ConfidenceBand
    from aapi.theory.phases import Comparator, Phases

STIFF = 1e6  # times the rewards: a Q that is larger
ACCURACY = 1e-8  # how far the identities may be off, relative to the largest part of a run
PARTS = ("regret", "noise", "pseudo_regret", "estimation", "online_learning", "confinement", "unevaluated")


@dataclass(frozen=True, eq=False)
class Decomposition:
    """What each phase adds to the regret Σ_t (λ_* − r_t), ([runs,] phases):

    regret          Σ_{t in phase k} (λ_* − r_t) = noise + pseudo_regret
    noise           Σ_{t in phase k} (λ_{π_k} − r_t)
    pseudo_regret   τ_k (λ_* − λ_{π_k}) = estimation + online_learning + confinement + unevaluated
    estimation      R1: τ_k ⟨μ_*, (Q_{π_k} − Q̂_k)(·,π_*) − (Q_{π_k} − Q̂_k)(·,π_k)⟩
    online_learning R2: τ_k ⟨μ_*, Q̂_k(·,π_*) − Q̂_k(·,π_k)⟩
    confinement     τ_k (μ_*·λ_{π_k} − λ_{π_k}): the run is where π_k earns less, or more, than where π_* would be;
                    0 but for policies with several recurrent classes, whose gain depends on the state: λ_{π_k} is
                    that of the state in which the phase begins
    unevaluated     the pseudo-regret of phases that were not evaluated, such as the steps left over at the end

    The second identity is the performance-difference lemma (Cao 1999, Even-Dar et al. 2009).
    residual        how far both identities are off, relative to the largest of all parts and sums of rewards, ([runs])
    stiff           phases, ([runs,] phases), whose policies leave some states so rarely that Q grows beyond what double
                    precision can subtract; there the estimation is what the second identity leaves
    """

    regret: Array
    noise: Array
    pseudo_regret: Array
    estimation: Array
    online_learning: Array
    confinement: Array
    unevaluated: Array
    residual: Array
    stiff: Mask

    def part(self, name: str) -> Array:
        """One of PARTS, ([runs,] phases)."""
        return np.asarray(vars(self)[name])

    def cumulated(self, part: str) -> Array:
        """The sum over the phases so far of one of PARTS, ([runs,] phases)."""
        return np.asarray(np.cumsum(self.part(part), axis=-1))

    def band(self, part: str) -> ConfidenceBand:
        """The mean over runs of `cumulated`, with a 95 % interval in each phase."""
        return confidence_band(self.cumulated(part))

    def total(self, part: str) -> Array:
        """The sum over all phases of one of PARTS, ([runs])."""
        return np.asarray(self.part(part).sum(axis=-1))


def decompose(phases: Phases, against: Comparator) -> Decomposition:
    """The parts of the regret of one run; an error, if rounding does not let them add up."""
    advantage = against.distribution[:, None] * (against.policy - phases.policies)  # μ_*(x) (π_*(a|x) − π_k(a|x))
    lengths, which = phases.lengths, phases.evaluated
    pseudo_regret = lengths * (against.gain - phases.gains)
    online_learning, estimation = np.zeros((2, len(lengths)))
    online_learning[which] = lengths[which] * np.einsum("kxa,kxa->k", advantage[which], phases.q_hats)
    errors = phases.q_values[which] - phases.q_hats
    estimation[which] = lengths[which] * np.einsum("kxa,kxa->k", advantage[which], errors)
    confinement = np.where(which & ~phases.unichain, lengths * (phases.weighted_gains - phases.gains), 0.0)
    unevaluated = np.where(which, 0.0, pseudo_regret)
    stiff = which & (np.abs(phases.q_values).max(axis=(1, 2)) > STIFF * phases.reward_scale)
    estimation[stiff] = (pseudo_regret - online_learning - confinement)[stiff]
    regret, noise = lengths * against.gain - phases.rewards, lengths * phases.gains - phases.rewards
    found = (regret, noise, pseudo_regret, estimation, online_learning, confinement, unevaluated)
    parts = dict(zip(PARTS, found, strict=True))
    return Decomposition(**parts, residual=np.asarray(_residual(parts, phases)), stiff=stiff)


def _residual(parts: dict[str, Array], phases: Phases) -> float:
    """How far both identities are off."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts.values())
    largest = max(largest, phases.reward_scale * float(phases.lengths.max()))
    if largest == 0.0:
        return 0.0
    first = parts["regret"] - parts["noise"] - parts["pseudo_regret"]
    second = parts["pseudo_regret"] - sum(parts[name] for name in PARTS[3:])
    off = np.maximum(np.abs(first), np.abs(second)) / largest
    if not off.max() <= ACCURACY:
        raise DoesNotExist(
            f"regret cannot be taken apart in double precision: in phase {int(off.argmax()) + 1} its parts add up only "
            f"to {off.max():.1e}"
        )
    return float(off.max())
