"""Linear regression on features of observations: the normal equations of a `Basis`, one block per action."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.features.basis import FOURIER, TILES, fill_features, scaled
from aapi.kernels.elementary import sin_cos
from aapi.kernels.jit import kernel
from aapi.kernels.linalg import (
    LINE,
    add_product,
    add_row,
    aligned_matrix,
    aligned_zeros,
    solve_regression,
)

if TYPE_CHECKING:
    from aapi.array_types import Actions, Array
    from aapi.features.basis import Basis


BLOCK = 32  # visits that are taken in together


def in_fours(count: int) -> int:
    """The next multiple of four: `add_product` is fastest on so many rows."""
    return count + -count % 4


class NormalEquations:
    """Σ_t ψψᵀ, of which only the upper triangle is sure to be filled and rows are padded, and Σ_t ψ target.

    The Gram matrix of a Fourier basis needs no product of features: cos x cos y = ½ cos(x + y) + ½ cos(x − y), so all
    of it follows from Σ_t e^{iπ k·s_t} for the sums and the differences k of two frequencies; and as e^{i(x + y)} is
    e^{ix} e^{iy}, these are products of waves over one half of the coordinates with waves over the other.
    """

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        size, dimension = basis.num_features, basis.dimension
        self.gram = aligned_matrix(size, size)
        self.rhs = np.zeros(size)
        self._features, self._work = aligned_matrix(BLOCK, size), np.empty(size)
        self._columns = np.zeros((BLOCK, 1 + dimension))  # the target, and the observation
        self._products = aligned_matrix(1 + dimension, size)
        self.near = dimension - dimension // 2 if basis.kind == FOURIER else 0  # coordinates of the one half
        self.far = dimension - self.near if basis.kind == FOURIER else 0  # and of the other
        # Frequencies come in pairs ±k, so of {−order … order}ⁿ half suffices: k = 0 and what is counted after it.
        near, far = ((2 * basis.order + 1) ** part // 2 + 1 for part in (self.near, self.far))
        self._near_halves = np.zeros((2, BLOCK, in_fours(near)))
        self._far_halves = aligned_zeros(2, BLOCK, 3 * far, LINE)
        self._even, self._odd = aligned_zeros(2, in_fours(near), 3 * far, LINE)

    def fill(self, observations: Array, actions: Actions, targets: Array, action: int) -> int:
        """Fill `gram` and `rhs` from the first steps, as many as targets, where the action was taken; their number."""
        fourier = self.basis.kind == FOURIER
        for sums in (self._products, self._even, self._odd) if fourier else (self._products, self.gram):
            sums[:] = 0.0
        visits: int = _add_visits(
            self.basis, self.near, observations, actions, targets, action, self._features, self._work, self._columns,
            self._near_halves, self._far_halves, self._products, self._even, self._odd, self.gram,
        )  # fmt: skip
        size = self.basis.size
        self.rhs[:] = self._products[0, : len(self.rhs)]
        if fourier:
            _fill_fourier_gram(self.basis.order, self.near, self.far, self._even, self._odd, self.gram)
            if self.basis.linear:
                self.gram[:, size : len(self.rhs)] = self._products[1:, : len(self.rhs)].T
        return visits

    def solve(self, ridge: float) -> bool:
        """Turn `gram` into its Cholesky factor and `rhs` into the weights; false if the matrix is singular."""
        return bool(solve_regression(self.gram, ridge, self.rhs))


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
    angle_cosines, angle_sines = np.empty(dimension), np.empty(dimension)
    visits = 0
    depth = 0
    for t in range(targets.size):
        if actions[t] == action:
            columns[depth, 0] = targets[t]
            for j in range(dimension):
                columns[depth, 1 + j] = observations[t, j]
            fill_features(basis, observations[t], features[depth], work)
            if fourier:
                for j in range(dimension):
                    angle_sines[j], angle_cosines[j] = sin_cos(math.pi * scaled(basis, observations[t], j))
                near_cosine, near_sine = _fill_half(
                    angle_cosines[:near], angle_sines[:near], basis.order, real, imaginary, near_halves[0, depth],
                    near_halves[1, depth],
                )  # fmt: skip
                cosines, sines = far_halves[0, depth], far_halves[1, depth]
                far_cosine, far_sine = _fill_half(
                    angle_cosines[near:], angle_sines[near:], basis.order, real, imaginary, cosines, sines
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
            add_product(columns, features, depth, 1.0, 0, False, products)
            if fourier:
                add_product(near_halves[0], far_halves[0], depth, 1.0, 0, False, even)
                add_product(near_halves[1], far_halves[1], depth, 1.0, 0, False, odd)
            elif basis.kind == TILES:
                add_sparse(features, depth, gram)
            else:
                add_product(features, features, depth, 1.0, 0, True, gram)
            depth = 0
    return visits


@kernel
def _fill_half(
    angle_cosines: Any, angle_sines: Any, order: Any, real: Any, imaginary: Any, cosines: Any, sines: Any
) -> Any:
    """Cosines and sines of k·x for half of the k in {−order … order}ⁿ: 0, and what is counted after it.

    x is given by cosines and sines. Returns cosine and sine for k = (order … order).
    """
    real[0], imaginary[0] = 1.0, 0.0
    cosines[0], sines[0] = 1.0, 0.0
    filled = 1
    all_real, all_imaginary = 1.0, 0.0
    for j in range(angle_cosines.size):
        cosine, sine = angle_cosines[j], angle_sines[j]
        wave_real, wave_imaginary = 1.0, 0.0
        middle, half = order * filled, filled // 2
        last = j == angle_cosines.size - 1
        if last:
            for i in range(filled - half):
                cosines[i], sines[i] = real[half + i], imaginary[half + i]
        else:
            for i in range(filled):
                real[middle + i], imaginary[middle + i] = real[i], imaginary[i]
        for k in range(1, order + 1):
            wave_real, wave_imaginary = (
                wave_real * cosine - wave_imaginary * sine,
                wave_real * sine + wave_imaginary * cosine,
            )
            ahead, back = middle + k * filled, middle - k * filled
            if last:  # nothing before 0 is wanted
                for i in range(filled):
                    x, y = real[i], imaginary[i]
                    cosines[k * filled - half + i] = x * wave_real - y * wave_imaginary
                    sines[k * filled - half + i] = x * wave_imaginary + y * wave_real
            else:
                for i in range(filled):
                    x, y = real[middle + i], imaginary[middle + i]
                    real[ahead + i] = x * wave_real - y * wave_imaginary
                    imaginary[ahead + i] = x * wave_imaginary + y * wave_real
                    real[back + i] = x * wave_real + y * wave_imaginary
                    imaginary[back + i] = y * wave_real - x * wave_imaginary
        all_real, all_imaginary = (
            all_real * wave_real - all_imaginary * wave_imaginary,
            all_real * wave_imaginary + all_imaginary * wave_real,
        )
        filled *= 2 * order + 1
    return all_real, all_imaginary


@kernel
def _fill_fourier_gram(order: Any, near: Any, far: Any, even: Any, odd: Any, gram: Any) -> None:
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
    sums, differences = _spread(sums, near_places, 1, 0), _spread(differences, near_places, -1, middle_near)
    for i_far in range(far_places.size):
        for j_far in range(i_far, far_places.size):
            total = sums[far_places[i_far] + far_places[j_far]]
            difference = differences[middle_far + far_places[j_far] - far_places[i_far]]
            for i_near in range(near_places.size):
                out = gram[i_far * near_places.size + i_near, j_far * near_places.size :]
                one, other = total[i_near], difference[i_near]
                for j_near in range(one.size):
                    out[j_near] = 0.5 * (one[j_near] + other[j_near])


@kernel
def _spread(table: Any, places: Any, sign: Any, middle: Any) -> Any:
    """From a table over places, one over pairs of them: at (i, j), the entry at middle + place of j ± that of i."""
    spread = np.empty((table.shape[0], places.size, places.size))
    for row in range(table.shape[0]):
        for i in range(places.size):
            for j in range(places.size):
                spread[row, i, j] = table[row, middle + places[j] + sign * places[i]]
    return spread


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
    gram, rows = aligned_matrix(size, size), aligned_matrix(BLOCK, size)
    for action in range(q_hat.shape[1]):
        rhs = np.zeros(size)
        gram[:] = 0.0
        visited = _add_weighted_visits(basis, states, actions, targets, weights, action, rows, gram, rhs)
        if visited and not solve_regression(gram, ridge, rhs):
            return False
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
                add_product(rows, rows, depth, 1.0, 0, True, gram)
            depth = 0
    return visits
