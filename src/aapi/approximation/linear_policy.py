"""Softmax policies that are linear in features: index and temperature are computed where the policy acts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.reservoir import root_of_squares
from aapi.approximation.temperature_bounds import UNKNOWN, bound_root_sum, round_differences
from aapi.checks import check_like
from aapi.errors import InvalidInput
from aapi.features.basis import TILES, fill_features
from aapi.kernels.elementary import exp
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import LANES, aligned_zeros, long_dot, weigh
from aapi.kernels.random import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aapi.array_types import Array, Arrays
    from aapi.features.basis import Basis

CLOSE = 1e-12  # probabilities that differ by less may do so by rounding


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """π(a|x) ∝ exp(ψ(x)ᵀ index_a / temperature(x)), temperature(x) = constant + (Σ_s ‖ψ(x)ᵀ differences_s‖²)^½.

    index: (runs, actions, features). constant: (runs,). differences: (runs, features, n · actions and padding), that of
    difference s and action a in column s · actions + a. The norm is over actions: max |·|, or (max − min)/2 if `span`.
    """

    index: Array
    constant: Array
    differences: Array
    span: bool

    def check(self, shape: tuple[int, int, int]) -> LinearPolicy:
        """This policy as kernels need it, which check nothing, for a batch of weights of this shape; or an error."""
        runs, features, actions = shape
        index, constant, differences = (
            np.require(array, np.float64, ("C", "W")) for array in (self.index, self.constant, self.differences)
        )
        if (index.shape, constant.shape, differences.shape[:2]) != (
            (runs, actions, features),
            (runs,),
            (runs, features),
        ):
            raise InvalidInput(
                f"for {runs} runs, {features} features and {actions} actions, a linear policy has an index of shape "
                f"{(runs, actions, features)}, a constant of shape {(runs,)} and differences of shape "
                f"{(runs, features)} and more, not {index.shape}, {constant.shape} and {differences.shape}"
            )
        if not (constant.min() >= 0.0 and np.isfinite(index).all() and np.isfinite(differences).all()):
            raise InvalidInput("a linear policy must have finite weights, and a constant of at least 0")
        return LinearPolicy(index, constant, differences, bool(self.span))

    def probabilities(self, basis: Basis, observations: Array) -> Array:
        """π(·|x), (runs, n, actions), at observations of shape (runs, n, dimension)."""
        return self._evaluate(basis, observations)[0]

    def temperature(self, basis: Basis, observations: Array) -> Array:
        """The temperatures, (runs, n), at observations of shape (runs, n, dimension)."""
        return self._evaluate(basis, observations)[1]

    def greedy(self) -> LinearPolicy:
        """The same index at temperature zero."""
        runs, _, num_features = self.index.shape
        return LinearPolicy(self.index, np.zeros(runs), aligned_zeros(runs, num_features, 0), self.span)

    def _evaluate(self, basis: Basis, observations: Array) -> tuple[Array, ...]:
        runs, actions, _ = self.index.shape
        policy = self.check((runs, basis.num_features, actions))
        array = np.ascontiguousarray(observations, dtype=np.float64)
        if array.ndim != 3 or (len(array), array.shape[2]) != (runs, basis.dimension):
            raise InvalidInput(f"observations must have the shape ({runs}, n, {basis.dimension}), not {array.shape}")
        probabilities, temperature = np.empty((*array.shape[:2], actions)), np.empty(array.shape[:2])
        _evaluate(
            basis, policy.index, policy.constant, policy.differences, policy.span, array, probabilities, temperature
        )
        return probabilities, temperature

    def restored(self, arrays: Arrays) -> LinearPolicy:
        """The policy that was stored, which may have more or fewer differences than this one; or an error."""
        runs, actions, features = self.index.shape
        found = {name: check_like(arrays, name, vars(self)[name]) for name in ("index", "constant")}
        stored = np.asarray(arrays.get("differences", np.empty(0)))
        if stored.ndim != 3 or stored.shape[:2] != (runs, features) or stored.shape[2] % LANES:
            raise InvalidInput(f"the differences of a policy cannot be of shape {stored.shape}")
        differences = aligned_zeros(*stored.shape)
        differences[:] = check_like(arrays, "differences", differences)
        span = bool(check_like(arrays, "span", np.array(self.span)))
        return LinearPolicy(**found, differences=differences, span=span).check((runs, features, actions))

    @staticmethod
    def join(parts: Sequence[LinearPolicy]) -> LinearPolicy:
        """The policies of several batches as one; those with fewer differences have zeros in place of them."""
        widest = max(part.differences.shape[2] for part in parts)
        padded = [np.zeros((*part.differences.shape[:2], widest)) for part in parts]
        for room, part in zip(padded, parts, strict=True):
            room[:, :, : part.differences.shape[2]] = part.differences
        index, constant = (np.concatenate([vars(part)[name] for part in parts]) for name in ("index", "constant"))
        return LinearPolicy(index, constant, np.concatenate(padded), parts[0].span)


@kernel
def _evaluate(
    basis: Any, index: Any, constant: Any, differences: Any, span: Any, observations: Any, probabilities: Any,
    temperature: Any,
) -> None:  # fmt: skip
    num_runs, num_actions, num_features = index.shape
    features, work = np.empty(num_features), np.empty(num_features)
    products = np.empty(differences.shape[2])
    for run in range(num_runs):
        for t in range(observations.shape[1]):
            fill_features(basis, observations[run, t], features, work)
            scores = probabilities[run, t]
            for a in range(num_actions):
                scores[a] = long_dot(features, index[run, a], work)
            heat = constant[run] + _root_sum(
                features, differences[run], num_actions, span, basis.kind == TILES, products
            )
            temperature[run, t] = heat
            softmax(scores, scores.max(), heat, scores)


@kernel
def draw_action(
    basis: Any, index: Any, constant: Any, differences: Any, span: Any, stream: Any, features: Any, work: Any,
    scores: Any, products: Any, rounded: Any, observation: Any,
) -> Any:  # fmt: skip
    """a ~ π(·|observation) for one run; `rounded` is room for rounded differences, empty or None if there is none.

    The best action has at least the probability 1/A at any temperature, and it is laid at the bottom of [0, 1): a
    random number below 1/A chooses it, and the temperature, most of the work, need not be known. For most others,
    bounds on the temperature are enough to tell whether they choose it.
    """
    fill_features(basis, observation, features, work)
    best = 0
    for a in range(scores.size):
        scores[a] = long_dot(features, index[a], work)
        if scores[a] > scores[best]:
            best = a
    u = draw(stream)
    if u * scores.size < 1.0:
        return best
    if rounded is not None:
        low, high = -math.inf, math.inf
        if rounded.columns.size:
            if rounded.error[0] == UNKNOWN:
                round_differences(differences, rounded)
            low, high = bound_root_sum(features, rounded, scores.size, span, products, work)
        if high < math.inf and u < best_probability(scores, best, constant + high) - CLOSE:
            return best
        if scores.size == 2 and low > 0.0 and u > best_probability(scores, best, constant + low) + CLOSE:
            return 1 - best
    heat = constant + _root_sum(features, differences, scores.size, span, basis.kind == TILES, products)
    softmax(scores, scores[best], heat, scores)
    chosen = best
    cumulated = scores[best]
    for a in range(scores.size):
        if u < cumulated:
            break
        if a != best and scores[a] > 0.0:
            chosen = a
            cumulated += scores[a]
    return chosen


@kernel
def best_probability(index: Any, best: Any, heat: Any) -> Any:
    """The probability of the best action, which falls as the temperature, not zero, rises."""
    total = 1.0
    for a in range(index.size):
        if a != best:
            total += exp((index[a] - index[best]) / heat)
    return 1.0 / total


@kernel
def softmax(index: Any, top: Any, heat: Any, probabilities: Any) -> None:
    """exp(index/heat) up to a factor; `top` is the largest index. Ties share at temperature zero."""
    total = 0.0
    for a in range(index.size):
        below = index[a] - top
        weight = 1.0 if below == 0.0 else 0.0 if heat == 0.0 else exp(below / heat)
        probabilities[a] = weight
        total += weight
    for a in range(index.size):
        probabilities[a] /= total


@kernel
def _root_sum(features: Any, differences: Any, num_actions: Any, span: Any, sparse: Any, products: Any) -> Any:
    """(Σ_s ‖ψᵀ differences_s‖²)^½."""
    weigh(features, differences, sparse, products)
    count = products.size // num_actions
    for s in range(count):
        low = high = products[s * num_actions]
        for a in range(1, num_actions):
            low = min(low, products[s * num_actions + a])
            high = max(high, products[s * num_actions + a])
        products[s] = 0.5 * (high - low) if span else max(high, -low)
    return root_of_squares(products[:count])
