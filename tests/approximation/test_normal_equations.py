import numpy as np
import pytest

from aapi.approximation.normal_equations import NormalEquations
from aapi.features import Fourier, Radial, Tiles
from aapi.features.basis import LINEAR, Basis

RAW = Basis(LINEAR, np.zeros(3), np.ones(3), 0, np.empty((0, 0)), np.empty(0), 1.0, 0, linear=True)
BASES = {
    "fourier 1": Fourier(6).basis([-1.0], [1.0]),
    "fourier 2": Fourier(3).basis([-1.0] * 2, [1.0] * 2),
    "fourier 3": Fourier(2, linear=False).basis([-1.0] * 3, [1.0] * 3),
    "fourier 4": Fourier(4).basis([-1.0] * 4, [1.0] * 4),
    "fourier 5": Fourier(1).basis([-1.0] * 5, [1.0] * 5),
    "tiles": Tiles(3, 4).basis([-1.0] * 2, [1.0] * 2),
    "radial": Radial(41).basis([-1.0] * 3, [1.0] * 3),
    "the user's": RAW,
}


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("visits", [1, 32, 33, 900])
def test_normal_equations_equal_the_direct_product(basis, visits):
    random = np.random.default_rng(visits)
    observations = random.uniform(-1.2, 1.2, (visits + 5, basis.dimension))
    actions = random.integers(0, 3, visits + 5).astype(np.int32)
    targets = random.standard_normal(visits)
    equations = NormalEquations(basis)
    for action in (0, 2, 1):  # the same room again and again
        chosen = actions[:visits] == action
        assert equations.fill(observations, actions, targets, action) == chosen.sum()
        features = basis(observations[:visits])[chosen]
        gram, rhs = features.T @ features, features.T @ targets[chosen]
        size = basis.num_features
        upper = np.triu(equations.gram[:, :size])
        assert abs(upper - np.triu(gram)).max() <= 1e-9 * max(1.0, abs(gram).max())
        assert equations.rhs == pytest.approx(rhs, abs=1e-9)
        assert equations.solve(0.7)
        assert equations.rhs == pytest.approx(np.linalg.solve(gram + 0.7 * np.eye(size), rhs), abs=1e-8)
