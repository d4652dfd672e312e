"""Errata of the paper, each with numbers that show it: computed when asked for, not quoted. Their texts are data."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib import resources
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

    Numbers = dict[str, object]  # by their names in `shown`

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
    texts = tomllib.loads(resources.files("aapi.theory").joinpath("errata.toml").read_text(encoding="utf-8"))
    return [
        Erratum(name, text["printed"], text["instead"], text["shown"].format(**_NUMBERS[name]()))
        for name, text in texts.items()
    ]


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


def counterexample() -> tuple[np.ndarray, np.ndarray]:
    """Rewards and predictions for `play`."""
    rewards, predictions = (np.array([[(-value, value)] for value in column]) for column in COUNTEREXAMPLE)
    return rewards, predictions


def _regulariser() -> Numbers:
    return {"regret": play(np.array([[[1.0, 0.0]]]), np.zeros((1, 1, 2)), 1.0).regret[0]}


def _ao_ftrl() -> Numbers:
    counts = dict.fromkeys(("sequences", "above_printed", "above_patched", "above_corrected"), 0)
    for actions in (2, 3, 5, 10):
        game = play(*random_sequences(2500, 12, actions, seed=actions), lemma_eta(actions))
        counts["sequences"] += len(game.regret)
        counts["above_printed"] += int((game.regret > game.printed_lemma(actions)).sum())
        counts["above_patched"] += int((game.regret > game.patched_lemma(actions)).sum())
        counts["above_corrected"] += int((game.regret > game.corrected_lemma).sum())
    found = play(*counterexample(), lemma_eta(2))
    lemmas = {"patched": found.patched_lemma(2)[0], "corrected": found.corrected_lemma[0]}
    return {**counts, "regret": found.regret[0], **lemmas}


def _sup_norm() -> Numbers:
    u = np.array([-1.0, -2.0])
    return {"printed": u.max(), "instead": np.abs(u).max()}


def _noise() -> Numbers:
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [0.0, 1.0]])
    result = run(Uniform(phase_length=500), mdp, 5000, 20)
    noise = np.abs(0.5 * 5000 - result.rewards.sum(axis=1)).max()
    return {"time": worst_contraction_time(mdp), "noise": noise}


def _estimation() -> Numbers:
    against = make_comparator(ergodic(10, 2))
    other = 1.0 - against.policy  # takes the other of two actions everywhere
    error = other - against.policy  # D = Q̂ − Q: 1 for the actions taken, −1 for the best ones
    return {"estimation": (against.distribution[:, None] * (against.policy - other) * -error).sum()}


def _relative_q() -> Numbers:
    time, phases = 10, 100
    constants = {"printed": printed_constant(time, phases), "proven": proven_constant(time, phases)}
    return {"time": time, "phases": phases, **constants}


def _mismatch() -> Numbers:
    mdp = ergodic(10, 2)
    return {"over_policies": mismatch(mdp), "optimal": optimal_mismatch(solve(mdp))}


def _contraction() -> Numbers:
    cycle = Chain(0.5 * np.eye(4) + 0.5 * np.roll(np.eye(4), 1, axis=1))
    try:
        time = f"{cycle.contraction_time:.3g}"
    except DoesNotExist:
        time = "none"
    return {"mixing_time": cycle.mixing_time, "contraction_time": time}


def _independence() -> Numbers:
    size = ergodic(5, 2).rewards.size
    features = np.column_stack([np.eye(size), np.ones(size)])
    return {"columns": features.shape[1], "rank": np.linalg.matrix_rank(features)}


def _first_temperature() -> Numbers:
    actions, q_hat = 2, np.array([3.0, 300.0])
    defined, printed = math.sqrt(2.0 / math.log(actions)) * q_hat, np.sqrt(2.0 * math.log(actions) * q_hat)
    return {"defined": defined, "printed": printed}


def _phase_length() -> Numbers:
    rewards = np.array([[[0.0, -1.0]], [[0.0, -1.0]], [[-1.0, 0.0]]])
    return {"largest": rewards.max(), "prediction": play(rewards, rewards, 1.0).prediction[0]}


def _excitation() -> Numbers:
    uniform = np.full((10, 2), 0.5)
    visits = policy_values(ergodic(10, 2), uniform).stationary_distribution[:, None] * uniform
    sigma = float(visits.min())  # the least eigenvalue of Ψᵀ diag(μ ⊗ π) Ψ for one-hot features
    norm = root = math.sqrt(sigma)  # the μ ⊗ π norm of an error of 1 in the rarest pair
    return {"sigma": sigma, "norm": norm, "printed": norm * root, "instead": norm / root}


def _rate() -> Numbers:
    def regrets(algorithm: AnyLearner) -> list[float]:
        return [float(exact_regret(algorithm, ergodic(10, 2), phases)[-1]) for phases in (400, 800)]

    return {
        "aapi": regrets(AAPI(phase_length=1, evaluate=ExactQ(), eta=1.0)),
        "constant": regrets(Politex(phase_length=1, evaluate=ExactQ(), eta=10.0)),
        "analysed": regrets(Politex(phase_length=1, evaluate=ExactQ(), eta=1.0, schedule="horizon")),
    }


_NUMBERS = {
    "regulariser": _regulariser, "ao-ftrl": _ao_ftrl, "sup-norm": _sup_norm, "noise": _noise,
    "estimation": _estimation, "relative-q": _relative_q, "mismatch": _mismatch, "contraction": _contraction,
    "independence": _independence, "first-temperature": _first_temperature, "phase-length": _phase_length,
    "excitation": _excitation, "rate": _rate,
}  # fmt: skip
