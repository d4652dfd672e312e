import numpy as np
import pytest
import scipy.sparse

from aapi.environments import deep_sea, ergodic
from aapi.errors import InvalidInput
from aapi.features import Aggregation, Coordinates, FeatureMatrix, OneHot

MDP = ergodic(6, 3)


def dense(features, mdp):
    """φ(x, a) as a (pairs, features) matrix."""
    matrix = np.zeros((mdp.num_states * mdp.num_actions, features.num_features))
    for pair in range(len(matrix)):
        block = pair % mdp.num_actions if features.num_blocks > 1 else 0
        for i in range(features.starts[pair], features.starts[pair + 1]):
            matrix[pair, block * features.block_size + int(features.columns[i])] = features.values[i]
    return matrix


def test_one_hot_is_a_permutation():
    matrix = dense(OneHot()(MDP), MDP)
    assert (matrix.sum(axis=0) == 1).all()
    assert (matrix.sum(axis=1) == 1).all()


def test_aggregation_puts_neighbours_together():
    matrix = dense(Aggregation(4)(MDP).check(MDP), MDP)
    assert matrix.shape == (18, 12)
    assert matrix[::3].argmax(axis=1).tolist() == [0, 0, 1, 2, 2, 3]  # six states, the first action
    assert (matrix.sum(axis=1) == 1).all()
    assert (dense(Aggregation(6)(MDP), MDP) == dense(OneHot()(MDP), MDP)).all()
    for groups, wrong in ((0, "at least 1"), (7, "at most the number of states, 6")):
        with pytest.raises(InvalidInput, match=wrong):
            Aggregation(groups)(MDP)


@pytest.mark.parametrize("size", [3, 10])
def test_coordinates_of_deep_sea(size):
    mdp = deep_sea(size)
    features = Coordinates()(mdp)
    matrix = dense(features, mdp)
    assert features.num_features == 4 * size
    assert np.linalg.matrix_rank(matrix) == 4 * size - 2
    # (1, 2) going right: row 1 and column 2 of the second block.
    assert np.flatnonzero(matrix[(1 * size + 2) * 2 + 1]).tolist() == [2 * size + 1, 2 * size + size + 2]


def test_a_matrix_in_any_form_gives_the_same_features():
    matrix = np.random.default_rng(0).integers(-2, 3, size=(6, 4)) * 1.0
    expected = dense(FeatureMatrix(matrix)(MDP).check(MDP), MDP)
    assert expected[4].tolist() == [0] * 4 + matrix[1].tolist() + [0] * 4  # state 1, action 1
    unsorted = scipy.sparse.csr_array(matrix)[:, ::-1][:, ::-1]
    duplicated = scipy.sparse.coo_array(
        (np.r_[matrix.ravel() / 2, matrix.ravel() / 2], tuple(np.tile(np.indices((6, 4)).reshape(2, -1), 2))),
        shape=(6, 4),
    )
    forms = [
        matrix.astype(np.float32),
        matrix.astype(int),
        matrix.tolist(),
        np.asfortranarray(matrix),
        unsorted,
        duplicated,
    ]
    forms += [
        getattr(scipy.sparse, f"{kind}_array")(matrix) for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    ]
    for form in forms:
        assert (dense(FeatureMatrix(form)(MDP).check(MDP), MDP) == expected).all()


def test_a_matrix_of_pairs():
    matrix = np.random.default_rng(0).normal(size=(6, 3, 5))
    assert (dense(FeatureMatrix(matrix)(MDP).check(MDP), MDP) == matrix.reshape(18, 5)).all()


def test_features_that_would_lead_kernels_astray_are_refused():
    good = FeatureMatrix(np.random.default_rng(0).normal(size=(6, 2)))(MDP)
    good.check(MDP)
    OneHot()(MDP).check(MDP)
    for change, message in (
        ({"columns": good.columns + 4_000_000}, r"columns must lie in 0..1"),
        ({"block_size": 1}, r"columns must lie in 0..0"),
        ({"starts": good.starts[:10]}, "starts must have 19 entries, not 10"),
        ({"starts": good.starts + 1}, "do not fit"),
        ({"starts": np.r_[0, good.starts[-1], good.starts[2:]]}, "starts must not fall"),
        ({"columns": good.columns[::-1]}, "must ascend"),
        ({"num_blocks": 2}, "num_blocks must be 1 or 3"),
        ({"values": good.values * np.nan}, "values must be finite"),
        ({"values": good.values[:-1]}, "do not fit"),
        ({"one_hot": True}, "one_hot says"),
    ):
        with pytest.raises(InvalidInput, match=message):
            good._replace(**change).check(MDP)
