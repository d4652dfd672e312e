"""The compiled form of feature maps for observation vectors, and the kernels that evaluate it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.errors import InvalidInput
from aapi.kernels.elementary import cos, sin_cos
from aapi.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array


LINEAR, FOURIER, RADIAL, TILES = range(4)


class Basis(NamedTuple):
    """ψ(o), for an observation o of `dimension` numbers: a basis of `size` functions of s, then o itself if `linear`.

    s = (o − low)/width, clipped to [0, 1]. kind: `FOURIER`, cos(π c·s), c in {0 … order}^dimension, the first
    coordinate counting fastest; `RADIAL`, scale · cos(matrix · s + vector); `TILES`, indicators of a cell in each of
    several grids of `order` cells a side, shifted by the rows of `matrix`; `LINEAR`, no basis but o.
    Q-functions have a block of weights for each action: Q(o, a) = ψ(o)ᵀ w_a.
    """

    kind: int
    low: Array
    width: Array
    order: int
    matrix: Array
    vector: Array
    scale: float
    size: int
    linear: bool

    @property
    def dimension(self) -> int:
        """The length of an observation."""
        return len(self.low)

    @property
    def num_features(self) -> int:
        """The length of ψ."""
        return self.size + (self.dimension if self.linear else 0)

    def check(self, dimension: int) -> Basis:
        """This basis with arrays as kernels need them; an error if it does not fit observations of that dimension."""
        low, width, matrix, vector = (
            np.ascontiguousarray(array, dtype=np.float64) for array in (self.low, self.width, self.matrix, self.vector)
        )
        order, size = int(self.order), int(self.size)
        tiled = (order + 1) ** dimension
        fits = {
            FOURIER: order >= 1 and size == tiled,
            RADIAL: matrix.shape == (size, dimension) and vector.shape == (size,),
            TILES: order >= 1
            and matrix.ndim == 2
            and matrix.shape[1] == dimension
            and size == len(matrix) * tiled
            and bool(((matrix >= 0.0) & (matrix < 1.0)).all()),
            LINEAR: size == 0 and bool(self.linear),
        }
        right = low.shape == width.shape == (dimension,) and np.isfinite(low).all() and (width > 0.0).all()
        if not (right and fits.get(self.kind, False) and np.isfinite(matrix).all() and np.isfinite(vector).all()):
            raise InvalidInput(f"this basis does not fit observations of {dimension} numbers, or itself: {self!r}")
        return Basis(int(self.kind), low, width, order, matrix, vector, float(self.scale), size, bool(self.linear))

    def __call__(self, observations: ArrayLike) -> Array:
        """ψ of observations of shape (…, dimension)."""
        array = np.ascontiguousarray(observations, dtype=np.float64)
        if array.shape[-1:] != (self.dimension,):
            raise InvalidInput(f"observations must have the shape (…, {self.dimension}), not {array.shape}")
        rows = array.reshape(math.prod(array.shape[:-1]), self.dimension)
        features = np.empty((len(rows), self.num_features))
        _fill_rows(self, rows, features)
        return features.reshape(*array.shape[:-1], self.num_features)

    def begin(self, observations: Array) -> tuple[Array, int, int]:
        """Rows from which `finish_features` computes features, one per observation; their numbers of waves and powers.

        A row has the features themselves; for a Fourier basis, it has the waves over all coordinates except the last,
        and the powers of the last wave. Such a row is less than half as long, which saves more time in reading it than
        the products cost.
        """
        if self.kind != FOURIER:
            return self(observations), self.num_features, 0
        waves = self.size // (self.order + 1)
        begun = np.empty((len(observations), 2 * (waves + self.order) + self.num_features - self.size))
        _begin_rows(self, observations, waves, begun)
        return begun, waves, self.order


def own_vectors(size: int) -> Basis:
    """The identity: for vectors that are features already."""
    return Basis(LINEAR, np.zeros(size), np.ones(size), 0, np.empty((0, 0)), np.empty(0), 1.0, 0, linear=True)


@kernel
def _fill_rows(basis: Any, observations: Any, features: Any) -> None:
    work = np.empty(max(1, basis.size))
    for t in range(observations.shape[0]):
        fill_features(basis, observations[t], features[t], work)


@kernel
def fill_features(basis: Any, observation: Any, features: Any, work: Any) -> None:
    """ψ(observation); `work` is room for `size` numbers."""
    dimension = basis.low.size
    if basis.kind == FOURIER:
        work[0] = 0.0
        features[0] = 1.0
        filled = 1
        for j in range(dimension):
            angle = math.pi * scaled(basis, observation, j)
            last = j == dimension - 1
            sine, cosine = sin_cos(angle)
            filled = fill_waves(cosine, sine, basis.order, features, work, filled, last)
    elif basis.kind == RADIAL:
        for i in range(basis.size):
            angle = basis.vector[i]
            for j in range(dimension):
                angle += basis.matrix[i, j] * scaled(basis, observation, j)
            features[i] = basis.scale * cos(angle)
    elif basis.kind == TILES:
        features[: basis.size] = 0.0
        cells = (basis.order + 1) ** dimension
        for tiling in range(basis.matrix.shape[0]):
            cell = 0
            for j in range(dimension - 1, -1, -1):
                place = int(scaled(basis, observation, j) * basis.order + basis.matrix[tiling, j])
                cell = cell * (basis.order + 1) + place
            features[tiling * cells + cell] = 1.0
    if basis.linear:
        for j in range(dimension):
            features[basis.size + j] = observation[j]


@kernel
def _begin_rows(basis: Any, observations: Any, waves: Any, begun: Any) -> None:
    last, order = basis.low.size - 1, basis.order
    for t in range(observations.shape[0]):
        real, imaginary, rest = begun[t, :waves], begun[t, waves : 2 * waves], begun[t, 2 * waves :]
        real[0], imaginary[0] = 1.0, 0.0
        filled = 1
        for j in range(last):
            angle = math.pi * scaled(basis, observations[t], j)
            sine, cosine = sin_cos(angle)
            filled = fill_waves(cosine, sine, order, real, imaginary, filled, False)
        angle = math.pi * scaled(basis, observations[t], last)
        for k in range(order):
            rest[order + k], rest[k] = sin_cos((k + 1) * angle)
        for i in range(rest.size - 2 * order):
            rest[2 * order + i] = observations[t, i]


@kernel
def finish_features(begun: Any, waves: Any, order: Any, features: Any) -> None:
    """ψ from a row that `Basis.begin` gave; `features` may have room for more."""
    real, imaginary, rest = begun[:waves], begun[waves : 2 * waves], begun[2 * waves :]
    for i in range(real.size):
        features[i] = real[i]
    for k in range(order):
        cosine, sine, out = rest[k], rest[order + k], features[(k + 1) * waves : (k + 2) * waves]
        for i in range(out.size):
            out[i] = real[i] * cosine - imaginary[i] * sine
    for i in range(rest.size - 2 * order):
        features[(order + 1) * waves + i] = rest[2 * order + i]


@kernel
def scaled(basis: Any, observation: Any, j: Any) -> Any:
    """Coordinate j of s; 0 for a nan, which must not become the number of a tile."""
    s = (observation[j] - basis.low[j]) / basis.width[j]
    if not s > 0.0:
        return 0.0
    return min(1.0, s)


@kernel
def fill_waves(cosine: Any, sine: Any, order: Any, real: Any, imaginary: Any, filled: Any, last: Any) -> Any:
    """From e^{ix}, in the first `filled` entries, to e^{i(x + k y)}, k = 0 … order, given cos y and sin y.

    By complex products, which cost a few operations where cosines cost a hundred. If this is the `last` call, only the
    real part is wanted. Returns how many are filled now.
    """
    wave_real, wave_imaginary = 1.0, 0.0
    real0, imaginary0 = real[:filled], imaginary[:filled]
    for k in range(1, order + 1):
        wave_real, wave_imaginary = (
            wave_real * cosine - wave_imaginary * sine,
            wave_real * sine + wave_imaginary * cosine,
        )
        real_k, imaginary_k = real[k * filled : (k + 1) * filled], imaginary[k * filled : (k + 1) * filled]
        for i in range(filled):
            real_k[i] = real0[i] * wave_real - imaginary0[i] * wave_imaginary
        if not last:
            for i in range(filled):
                imaginary_k[i] = real0[i] * wave_imaginary + imaginary0[i] * wave_real
    return filled * (order + 1)
