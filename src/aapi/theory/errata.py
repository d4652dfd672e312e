"""Errata of the paper, each with numbers that show it: computed when asked for, not quoted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aapi.approximation import Tabular
from aapi.batch import run
from aapi.environments import ergodic
from aapi.errors import DoesNotExist
from aapi.evaluation import ExactQ
from aapi.features.active import per_action
from aapi.improvement import Adaptive
from aapi.learners import AAPI, Politex, Uniform
from aapi.mdp import Chain, FiniteMDP, mismatch, optimal_mismatch, policy_values, solve, worst_contraction_time
from aapi.theory.growth import exact_regret
from aapi.theory.online_learning import OnlineLearning, lemma_eta, regret_and_bound
from aapi.theory.phases import make_comparator
from aapi.theory.relative_q import printed_constant, proven_constant

if TYPE_CHECKING:
    from aapi.learners.learner import AnyLearner

# Nine rounds with two actions, found by a search: rewards (−v, v) for the first v, predictions M_2, … for the second.
COUNTEREXAMPLE = (
    (1e-9, 10.0, 1.79, 2.86, 2.94, 3.17, 3.6, 4.31, 5.66),
    (-1e-7, 1.17, 2.4, 2.59, 2.91, 3.4, 4.17, 5.56, 8.78),
)


@dataclass(frozen=True)
class Erratum:
    """Where the paper says `printed`, `instead` holds; `shown` has the numbers."""

    name: str
    printed: str
    instead: str
    shown: str


def find_errata() -> list[Erratum]:
    """All errata that were found; computing their numbers takes a second or two."""
    return [
        _regulariser(), _ao_ftrl(), _sup_norm(), _noise(), _estimation(), _relative_q(), _mismatch(), _contraction(),
        _independence(), _first_temperature(), _phase_length(), _excitation(), _rate(),
    ]  # fmt: skip


def play(rewards: np.ndarray, predictions: np.ndarray, eta: float, norm: str = "sup") -> OnlineLearning:
    """AO-FTRL against given rewards q_1 … q_K and predictions M_2 … M_{K+1}, both (K, games, actions).

    Regret is against the best action in hindsight of each game.
    """
    rounds, games, actions = rewards.shape
    space, rate = Tabular(per_action(np.eye(games), actions, one_hot=True), actions), Adaptive(eta, norm)
    surprise, streams = space.surprise(1, norm, None, rounds), np.zeros((1, 4), np.uint64)
    total, guess = space.zeros(1), space.zeros(1)
    policies, temperatures, surprises = [space.uniform(1)[0]], [], []
    for k, (reward, prediction) in enumerate(zip(rewards, predictions, strict=True), 1):
        surprise = surprise.add(k, reward[None], guess, 1.0, streams)
        temperatures.append(rate(k, surprise)[0])
        surprises.append(surprise.size[0])
        total, guess = total + reward, prediction[None]
        policies.append(space.softmax(total + guess, temperatures[-1][None])[0])
    best = np.eye(actions)[rewards.sum(axis=0).argmax(axis=1)]
    return regret_and_bound(np.array(policies), rewards, np.array(temperatures), np.array(surprises), predictions, best)


def random_sequences(games: int, rounds: int, actions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rewards of sizes that differ by orders of magnitude, predicted well, badly, not at all, or as they were last."""
    random = np.random.default_rng(seed)
    shape = (rounds, games, actions)
    rewards = random.standard_normal(shape) * np.exp(2.0 * random.standard_normal((rounds, games, 1)))
    rewards *= np.where(random.random((1, games, 1)) < 0.5, 1.0, np.sign(random.standard_normal((rounds, games, 1))))
    later = np.concatenate([rewards[1:], np.zeros((1, games, actions))])
    noise = random.standard_normal(shape) * np.exp(random.standard_normal((rounds, games, 1)))
    kind = random.integers(4, size=(1, games, 1))
    predictions = np.select([kind == 0, kind == 1, kind == 2], [rewards, later + 0.3 * noise, noise], 0.0)
    return rewards, predictions


def _regulariser() -> Erratum:
    game = play(np.array([[[1.0, 0.0]]]), np.zeros((1, 1, 2)), 1.0)
    return Erratum(
        "regulariser",
        "η = (2/R(f*))^½ for a regulariser such as Σ f ln f",
        "R must not be negative: R(f) = Σ f ln f + ln A",
        f"for Σ f ln f, R(f*) = 0 at every action and R_max = 0, so that η is infinite and the bound at most 0; one "
        f"round with rewards (1, 0) has regret {game.regret[0]:g}",
    )


def _ao_ftrl() -> Erratum:
    counts = {"printed": 0, "patched": 0, "corrected": 0}
    total = 0
    for actions in (2, 3, 5, 10):
        game = play(*random_sequences(2500, 12, actions, seed=actions), lemma_eta(actions))
        total += len(game.regret)
        counts["printed"] += int((game.regret > game.printed_lemma(actions)).sum())
        counts["patched"] += int((game.regret > game.patched_lemma(actions)).sum())
        counts["corrected"] += int((game.regret > game.corrected_lemma).sum())
    found = play(*counterexample(), lemma_eta(2))
    return Erratum(
        "ao-ftrl",
        "regret ≤ (2 R_max Σ s²)^½ − Σ (η_k/4) d_k² + ⟨M, f_{K+1} − f*⟩",
        "(2/c + c/2 + c R_max)(Σ s²)^½ − Σ (η_{k−1}/4) d_k² + …, with η_k = c (Σ s²)^½ and c ≤ 2",
        f"of {total:,} random sequences {counts['printed']:,} exceed the printed bound, {counts['patched']} the same "
        f"with twice the constant and η_{{k−1}}, {counts['corrected']} the corrected one; but nine rounds found by a "
        f"search have regret {found.regret[0]:.4g}, where the second says {found.patched_lemma(2)[0]:.4g} and the "
        f"corrected one {found.corrected_lemma[0]:.4g}",
    )


def counterexample() -> tuple[np.ndarray, np.ndarray]:
    """Rewards and predictions for `play`."""
    rewards, predictions = (np.array([[(-value, value)] for value in column]) for column in COUNTEREXAMPLE)
    return rewards, predictions


def _sup_norm() -> Erratum:
    u = np.array([-1.0, -2.0])
    return Erratum(
        "sup-norm",
        "‖u‖_∞ = max_j u_j",
        "‖u‖_∞ = max_j |u_j|",
        f"for u = (−1, −2) the first is {u.max():g}, which is no norm; the second is {np.abs(u).max():g}",
    )


def _estimation() -> Erratum:
    mdp = ergodic(10, 2)
    against = make_comparator(mdp)
    other = 1.0 - against.policy  # takes the other of two actions everywhere
    error = other - against.policy  # D = Q̂ − Q: 1 for the actions taken, −1 for the best ones
    estimation = float((against.distribution[:, None] * (against.policy - other) * -error).sum())
    return Erratum(
        "estimation",
        "R1 ≤ T (ε₀ + C̃ (ln(1/δ)/τ)^½)",
        "twice that: R1 has one error under π_* and one under π_k",
        f"where D = 1 on π_k's actions and −1 on π_*'s, all three norms of D are 1, and R1 = {estimation:g} T",
    )


def _noise() -> Erratum:
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [0.0, 1.0]])
    time = worst_contraction_time(mdp)
    result = run(Uniform(phase_length=500), mdp, 5000, 20)
    noise = float(np.abs(0.5 * 5000 - result.rewards.sum(axis=1)).max())
    return Erratum(
        "noise",
        "|Σ (λ_π − r)| ≤ K t + 4 t (2 K T ln(T/δ))^½",
        "not for small t: chance in the choice of actions does not go away with it",
        f"where every step leads to each of two states with probability ½, t = {time:g} and so is the bound; rewards "
        f"that depend on the action alone have noise of up to {noise:.0f} in 20 runs of 5,000 steps",
    )


def _relative_q() -> Erratum:
    time, phases = 10, 100
    return Erratum(
        "relative-q",
        "|ΔQ| ≤ t_mix² log₂² K max ‖Δπ‖₁ + 2/K³",
        "its proof gives N² + N + (2 t_mix + 3)(N + 1), N = ⌈4 t_mix log₂ K⌉, for t_mix² log₂² K, if K ≥ 4 t_mix/ln 2",
        f"for t_mix = {time} and K = {phases}: {printed_constant(time, phases):,.0f} as printed, "
        f"{proven_constant(time, phases):,.0f} as proven",
    )


def _mismatch() -> Erratum:
    mdp = ergodic(10, 2)
    return Erratum(
        "mismatch",
        "ρ = max over policies of 1/μ_π(x), in the theorem",
        "its proof uses 1/min μ_*(x): the theorem is true, but looser than need be",
        f"on ergodic (10, 2) the first is {mismatch(mdp):.2f}, the second {optimal_mismatch(solve(mdp)):.2f}",
    )


def _contraction() -> Erratum:
    cycle = Chain(0.5 * np.eye(4) + 0.5 * np.roll(np.eye(4), 1, axis=1))
    try:
        time = f"{cycle.contraction_time:.3g}"
    except DoesNotExist:
        time = "none"
    return Erratum(
        "contraction",
        "in an ergodic MDP one step brings distributions closer by exp(−1/t_mix)",
        "t_mix and the contraction time are two numbers, and the second need not exist",
        f"four states in a circle, left with probability ½: mixing time {cycle.mixing_time}, contraction time {time}",
    )


def _independence() -> Erratum:
    mdp = ergodic(5, 2)
    size = mdp.num_states * mdp.num_actions
    features = np.column_stack([np.eye(size), np.ones(size)])
    return Erratum(
        "independence",
        "the columns of [Ψ, 1] are linearly independent",
        "this assumption excludes one-hot features, which sum to 1: regress with a ridge",
        f"one-hot features of ergodic (5, 2): {features.shape[1]} columns, rank {np.linalg.matrix_rank(features)}",
    )


def _first_temperature() -> Erratum:
    actions, q_hat = 2, np.array([3.0, 300.0])
    ours, theirs = math.sqrt(2.0 / math.log(actions)) * q_hat, np.sqrt(2.0 * math.log(actions) * q_hat)
    return Erratum(
        "first-temperature",
        "η_1(x) = (2 R_max ‖Q̂_1(x,·)‖)^½, which is bounded from below",
        "(2/R_max)^½ ‖Q̂_1(x,·)‖ by its definition, and 0 where Q̂_1(x,·) = 0",
        f"two actions, rewards multiplied by 100: from {ours[0]:.3g} to {ours[1]:.3g} by its definition, from "
        f"{theirs[0]:.3g} to {theirs[1]:.3g} as printed",
    )


def _phase_length() -> Erratum:
    rewards = np.array([[[0.0, -1.0]], [[0.0, -1.0]], [[-1.0, 0.0]]])
    game = play(rewards, rewards, 1.0)
    return Erratum(
        "phase-length",
        "R2 ≤ … + 2 (b + Q_max), for Q̂ in [b, b + Q_max]",
        "τ Q_max: the bound on R2/τ was multiplied by τ, all but this term; and what it is for, "
        "⟨M_{K+1}, f_{K+1} − f*⟩, is at most Q_max",
        f"rewards (0, −1), (0, −1) and (−1, 0), each predicted to come again: b + Q_max = {rewards.max():g}, and "
        f"⟨M_{{K+1}}, f_{{K+1}} − f*⟩ = {game.prediction[0]:.3g}",
    )


def _excitation() -> Erratum:
    mdp = ergodic(10, 2)
    visits = policy_values(mdp, np.full((10, 2), 0.5)).stationary_distribution[:, None] * np.full((10, 2), 0.5)
    sigma = float(visits.min())  # the least eigenvalue of Ψᵀ diag(μ ⊗ π) Ψ for one-hot features
    weighted = math.sqrt(sigma)  # the μ ⊗ π norm of an error of 1 in the rarest pair
    return Erratum(
        "excitation",
        "‖D‖_∞ ≤ C_Ψ C₂ (σ ln(1/δ)/τ)^½ + …",
        "1/√σ for √σ, as in the proof",
        f"one-hot features of ergodic (10, 2), uniform policy: σ = {sigma:.4f}; an error of 1 in the rarest pair has "
        f"weighted norm {weighted:.3f}, and {weighted:.3f} √σ = {weighted * math.sqrt(sigma):.3f} is no bound on it, "
        f"{weighted:.3f}/√σ = {weighted / math.sqrt(sigma):.3g} is",
    )


def _rate() -> Erratum:
    mdp, phases = ergodic(10, 2), 800

    def regrets(algorithm: AnyLearner) -> str:
        return " and ".join(f"{exact_regret(algorithm, mdp, k)[-1]:.3g}" for k in (phases // 2, phases))

    adaptive = AAPI(phase_length=1, evaluate=ExactQ(), eta=1.0)
    constant = Politex(phase_length=1, evaluate=ExactQ(), eta=10.0)
    analysed = Politex(phase_length=1, evaluate=ExactQ(), eta=1.0, schedule="horizon")
    return Erratum(
        "rate",
        "with exact Q, AAPI's regret is logarithmic in K and POLITEX's grows as √K",
        "those are upper bounds; POLITEX with a constant temperature stays bounded, too",
        f"ergodic (10, 2), regret for K = {phases // 2} and {phases}: AAPI {regrets(adaptive)}, POLITEX "
        f"at temperature 10 {regrets(constant)}, POLITEX with the analysed temperature {regrets(analysed)}",
    )
