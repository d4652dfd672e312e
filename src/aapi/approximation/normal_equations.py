"""Linear regression on features of observations: the normal equations of a `Basis`, one block per action."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.features.basis import FOURIER, TILES, fill_features, fill_waves, scaled
from aapi.kernels.elementary import sin_cos
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import add_product, add_row, aligned_zeros, factorise, solve_factorised

if TYPE_CHECKING:
    from aapi.array_types import Actions, Array
    from aapi.features.basis import Basis


BLOCK = 32  # visits that are taken in together


def paired(count: int) -> int:
    """The next even number: `add_product` is fastest on pairs."""
    return count + count % 2


class NormalEquations:
    """Σ_t ψψᵀ, of which only the upper triangle is sure to be filled and rows are padded, and Σ_t ψ target.

    The Gram matrix of a Fourier basis needs no product of features: cos x cos y = ½ cos(x + y) + ½ cos(x − y), so all
    of it follows from Σ_t e^{iπ k·s_t} for the sums and the differences k of two frequencies; and as e^{i(x + y)} is
    e^{ix} e^{iy}, these are products of waves over one half of the coordinates with waves over the other.
    """

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        size, dimension = basis.num_features, basis.dimension
        self.gram = aligned_zeros(1, size, size)[0]
        self.rhs = np.zeros(size)
        self._features, self._work = aligned_zeros(1, BLOCK, size)[0], np.empty(size)
        # The target, and the observation; rows of products come in pairs, the last of them may be idle.
        self._columns = np.zeros((BLOCK, paired(1 + dimension)))
        self._products = aligned_zeros(1, paired(1 + dimension), size)[0]
        self.near = dimension - dimension // 2 if basis.kind == FOURIER else 0  # coordinates of the one half
        self.far = dimension - self.near if basis.kind == FOURIER else 0  # and of the other
        # Frequencies come in pairs ±k, so of {−order … order}ⁿ half suffices: k = 0 and what is counted after it.
        near, far = ((2 * basis.order + 1) ** part // 2 + 1 for part in (self.near, self.far))
        self._near_halves, self._far_halves = np.zeros((2, BLOCK, paired(near))), aligned_zeros(2, BLOCK, 3 * far)
        self._even, self._odd = aligned_zeros(2, paired(near), 3 * far)

    def fill(self, observations: Array, actions: Actions, targets: Array, action: int) -> int:
        """Fill `gram` and `rhs` from the first steps, as many as targets, where the action was taken; their number."""
        for array in (self.gram, self._products, self._even, self._odd):
            array[:] = 0.0
        visits: int = _add_visits(
            self.basis, self.near, observations, actions, targets, action, self._features, self._work, self._columns,
            self._near_halves, self._far_halves, self._products, self._even, self._odd, self.gram,
        )  # fmt: skip
        size = self.basis.size
        self.rhs[:] = self._products[0, : len(self.rhs)]
        if self.basis.kind == FOURIER:
            _add_fourier_gram(self.basis.order, self.near, self.far, self._even, self._odd, self.gram)
            if self.basis.linear:
                self.gram[:, size : len(self.rhs)] = self._products[1 : 1 + self.basis.dimension, : len(self.rhs)].T
        return visits

    def solve(self, ridge: float) -> bool:
        """Turn `gram` into its Cholesky factor and `rhs` into the weights; false if the matrix is singular."""
        if not factorise(self.gram, ridge):
            return False
        solve_factorised(self.gram, self.rhs)
        return True


@kernel
def _add_visits(
    basis: Any, near: Any, observations: Any, actions: Any, targets: Any, action: Any, features: Any, work: Any,
    columns: Any, near_halves: Any, far_halves: Any, products: Any, even: Any, odd: Any, gram: Any,
) -> Any:  # fmt: skip
    """Add up what the normal equations are made of, a block of visits at a time."""
    fourier = basis.kind == FOURIER
    dimension = basis.low.size
    far_size = (2 * basis.order + 1) ** (dimension - near) // 2 + 1
    room = (2 * basis.order + 1) ** near if fourier else 1
    real, imaginary = np.empty(room), np.empty(room)
    visits = 0
    depth = 0
    for t in range(targets.size):
        if actions[t] == action:
            fill_features(basis, observations[t], features[depth], work)
            columns[depth, 0] = targets[t]
            for j in range(dimension):
                columns[depth, 1 + j] = observations[t, j]
            if fourier:
                near_cosine, near_sine = _fill_half(
                    basis, observations[t], 0, near, real, imaginary, near_halves[0, depth], near_halves[1, depth]
                )
                cosines, sines = far_halves[0, depth], far_halves[1, depth]
                far_cosine, far_sine = _fill_half(
                    basis, observations[t], near, dimension, real, imaginary, cosines, sines
                )
                cosine = near_cosine * far_cosine - near_sine * far_sine
                sine = near_sine * far_cosine + near_cosine * far_sine
                for i in range(far_size):
                    cosines[far_size + i] = cosine * cosines[i]
                    sines[far_size + i] = cosine * sines[i]
                    cosines[2 * far_size + i] = sine * sines[i]
                    sines[2 * far_size + i] = sine * cosines[i]
            depth += 1
            visits += 1
        if depth == BLOCK or (depth > 0 and t == targets.size - 1):
            add_product(columns, features, depth, False, products)
            if fourier:
                add_product(near_halves[0], far_halves[0], depth, False, even)
                add_product(near_halves[1], far_halves[1], depth, False, odd)
            elif basis.kind == TILES:
                add_sparse(features, depth, gram)
            else:
                add_product(features, features, depth, True, gram)
            depth = 0
    return visits


@kernel
def _fill_half(
    basis: Any, observation: Any, first: Any, last: Any, real: Any, imaginary: Any, cosines: Any, sines: Any
) -> Any:
    """Cosines and sines of π k·s over the coordinates first … last − 1, for half of the k in {−order … order}ⁿ.

    Returns cosine and sine for k = (order … order).
    """
    real[0], imaginary[0] = 1.0, 0.0
    filled = 1
    shift = 0.0
    for j in range(first, last):
        angle = math.pi * scaled(basis, observation, j)
        shift += angle
        sine, cosine = sin_cos(angle)
        filled = fill_waves(cosine, sine, 2 * basis.order, real, imaginary, filled, False)
    # {−order … order}ⁿ is {0 … 2 order}ⁿ moved back by `order` in each coordinate.
    sine, cosine = sin_cos(basis.order * shift)
    middle = filled // 2
    for i in range(filled - middle):
        cosines[i] = real[middle + i] * cosine + imaginary[middle + i] * sine
        sines[i] = imaginary[middle + i] * cosine - real[middle + i] * sine
    return cosine, sine


@kernel
def _add_fourier_gram(order: Any, near: Any, far: Any, even: Any, odd: Any, gram: Any) -> None:
    """½ Σ cos(π (c + c')·s) + ½ Σ cos(π (c − c')·s) for all pairs of frequencies c ≤ c'."""
    near_places, far_places = _places(order, near), _places(order, far)
    middle_near, middle_far = (2 * order + 1) ** near // 2, (2 * order + 1) ** far // 2
    half = middle_far + 1
    sums = np.empty((2 * middle_far + 1, 2 * middle_near + 1))
    differences = np.empty(sums.shape)
    for i in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            # With x from the far half and y from the near: cos(x + y) = cos x cos y − sin x sin y, and turning the sign
            # of one half's frequency turns that of its sine. A sum of frequencies is z, all of them `order`, plus what
            # can be a difference: cos(z + x + y) = cos z cos(x + y) − sin z (sin x cos y + cos x sin y).
            x_sign, y_sign = 1.0 if i >= middle_far else -1.0, 1.0 if j >= middle_near else -1.0
            x, y = abs(i - middle_far), abs(j - middle_near)
            differences[i, j] = even[y, x] - x_sign * y_sign * odd[y, x]
            sums[i, j] = (even[y, half + x] - x_sign * y_sign * odd[y, half + x]) - (
                x_sign * even[y, 2 * half + x] + y_sign * odd[y, 2 * half + x]
            )
    for i_far in range(far_places.size):
        for j_far in range(i_far, far_places.size):
            total = sums[far_places[i_far] + far_places[j_far]]
            difference = differences[middle_far + far_places[j_far] - far_places[i_far]]
            for i_near in range(near_places.size):
                row = gram[i_far * near_places.size + i_near]
                for j_near in range(i_near if i_far == j_far else 0, near_places.size):
                    place = near_places[i_near] + near_places[j_near]
                    apart = middle_near + near_places[j_near] - near_places[i_near]
                    row[j_far * near_places.size + j_near] += 0.5 * (total[place] + difference[apart])


@kernel
def _places(order: Any, dimension: Any) -> Any:
    """Where c in {0 … order}ⁿ lies among {0 … 2 order}ⁿ; places add up as frequencies do."""
    places = np.zeros((order + 1) ** dimension, dtype=np.int64)
    filled, stride = 1, 1
    for _ in range(dimension):
        for k in range(1, order + 1):
            for i in range(filled):
                places[k * filled + i] = places[i] + k * stride
        filled *= order + 1
        stride *= 2 * order + 1
    return places


@kernel
def add_sparse(features: Any, depth: Any, gram: Any) -> None:
    """Add Σ ψψᵀ where most features are zero."""
    active = np.empty(gram.shape[0], dtype=np.int64)
    for t in range(depth):
        count = 0
        for i in range(gram.shape[0]):
            if features[t, i] != 0.0:
                active[count] = i
                count += 1
        for m in range(count):
            for n in range(m + 1):
                gram[active[n], active[m]] += features[t, active[m]] * features[t, active[n]]


def fit_weighted(
    basis: Basis, states: Array, actions: Actions, targets: Array, weights: Array, ridge: float, q_hat: Array
) -> bool:
    """Fill in the weights of one run, (features, actions), from rows √u ψ; an action that was not taken has zeros.

    False if a regression is singular.
    """
    size = basis.num_features
    gram, rows = aligned_zeros(1, size, size)[0], aligned_zeros(1, BLOCK, size)[0]
    for action in range(q_hat.shape[1]):
        rhs = np.zeros(size)
        gram[:] = 0.0
        if _add_weighted_visits(basis, states, actions, targets, weights, action, rows, gram, rhs):
            if not factorise(gram, ridge):
                return False
            solve_factorised(gram, rhs)
        q_hat[:, action] = rhs
    return True


@kernel
def _add_weighted_visits(
    basis: Any, states: Any, actions: Any, returns: Any, weights: Any, action: Any, rows: Any, gram: Any, rhs: Any
) -> Any:
    """Add the upper triangle of Σ u ψψᵀ, and Σ u ψ G, over the visits of an action; how many count."""
    work = np.empty(max(1, basis.size))
    features = np.empty(rhs.size)
    visits, depth = 0, 0
    for t in range(returns.size):
        if actions[t] == action and weights[t] > 0.0:
            fill_features(basis, states[t], features, work)
            add_row(rhs, weights[t] * returns[t], features)
            root = np.sqrt(weights[t])
            for j in range(features.size):
                rows[depth, j] = root * features[j]
            depth += 1
            visits += 1
        if depth == BLOCK or (depth > 0 and t == returns.size - 1):
            if basis.kind == TILES:
                add_sparse(rows, depth, gram)
            else:
                add_product(rows, rows, depth, True, gram)
            depth = 0
    return visits
