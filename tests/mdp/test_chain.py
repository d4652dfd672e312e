import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from support import models, policies

from aapi.environments import river_swim
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.mdp import Chain, induced_chain

CYCLE = np.roll(np.eye(4), 1, axis=1)
# {0, 3} and {5} are closed; 1, 2 and 4 are left for good.
TWO_CLASSES = np.zeros((6, 6))
TWO_CLASSES[0, 3] = TWO_CLASSES[3, 0] = TWO_CLASSES[5, 5] = TWO_CLASSES[4, 1] = 1.0
TWO_CLASSES[1, [0, 2]] = TWO_CLASSES[2, [1, 5]] = 0.5


@pytest.fixture(params=[np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def form(request):
    return request.param


def test_classes_and_periods(form):
    chain = Chain(form(TWO_CLASSES))
    assert [c.tolist() for c in chain.recurrent_classes] == [[0, 3], [5]]
    assert chain.transient_states.tolist() == [1, 2, 4]
    assert chain.periods == (2, 1)
    assert chain.period == 2
    assert chain.stationary_distributions.tolist() == [[0.5, 0, 0, 0.5, 0, 0], [0, 0, 0, 0, 0, 1]]
    assert Chain(form(CYCLE)).period == 4
    assert Chain(form((CYCLE + np.eye(4)) / 2)).period == 1


def test_absorption_is_by_probability(form):
    # From 1: to 0 or 2 evenly; from 2 back to 1 or to 5 evenly. So 1 ends in {0, 3} with probability 2/3.
    extended = Chain(form(TWO_CLASSES)).extend(np.array([1.0, 0.0]))
    assert extended == pytest.approx([1, 2 / 3, 1 / 3, 1, 2 / 3, 0])


def test_what_does_not_exist_is_refused_with_the_reason(form):
    chain = Chain(form(TWO_CLASSES))
    with pytest.raises(DoesNotExist, match=r"not unique: the chain has the recurrent classes \{0,3\} and \{5\}"):
        _ = chain.stationary_distribution
    with pytest.raises(DoesNotExist, match=r"recurrent classes \{0,3\} and \{5\}"):
        _ = chain.mixing_time
    with pytest.raises(DoesNotExist, match="periodic, with period 4"):
        _ = Chain(form(CYCLE)).mixing_time
    with pytest.raises(DoesNotExist, match="states 0 and 1 have no common successor"):
        _ = Chain(form(CYCLE)).contraction_time
    assert Chain(form(CYCLE)).spectral_gap == 0.0
    assert chain.spectral_gap == 0.0


def test_an_ergodic_chain_need_not_contract_in_one_step(form):
    lazy = Chain(form((CYCLE + np.eye(4)) / 2))
    assert lazy.contraction == 1.0
    with pytest.raises(DoesNotExist, match="no common successor"):
        _ = lazy.contraction_time
    # ½(1 + i) has modulus 1/√2. Rows of P⁴ hold 2, 4, 6, 4 sixteenths: exactly 1/4 away from uniform, whatever rounding
    # says; P³ is 1/2 away.
    assert lazy.spectral_gap == pytest.approx(1 - 0.5**0.5)
    assert lazy.distance_to_stationarity(3) == pytest.approx(0.5)
    assert lazy.distance_to_stationarity(4) == pytest.approx(0.25)
    assert lazy.mixing_time == 4


def test_two_states_in_closed_form(form):
    p, q = 0.01, 0.03
    chain = Chain(form(np.array([[1 - p, p], [q, 1 - q]])))
    assert chain.stationary_distribution == pytest.approx([q / (p + q), p / (p + q)], rel=1e-13)
    assert chain.spectral_gap == pytest.approx(p + q)
    assert chain.contraction_time == pytest.approx(-1 / np.log(1 - p - q))
    # ‖Pᵗ(1,·) − μ‖₁ = 2 (1 − p − q)ᵗ q/(p + q), and state 1 is the further one.
    assert chain.mixing_time == int(np.ceil(np.log(0.25 / (2 * q / (p + q))) / np.log(1 - p - q)))
    assert chain.hitting_times(1) == pytest.approx([1 / p, 0])
    assert chain.hitting_times([0, 1]).tolist() == [0, 0]


def test_hitting_times_are_infinite_where_the_target_can_be_missed(form):
    chain = Chain(form(TWO_CLASSES))
    assert chain.hitting_times(5).tolist() == [np.inf, np.inf, np.inf, np.inf, np.inf, 0]
    assert chain.hitting_times([3, 5]) == pytest.approx([1, 8 / 3, 7 / 3, 0, 11 / 3, 0])
    for bad in (6, -1, [], [0.5], "x", 1.0):
        with pytest.raises(InvalidInput, match=r"target must be states in 0..5"):
            chain.hitting_times(bad)


def test_only_chains_are_chains():
    zero_stored = scipy.sparse.csr_array(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 1])))
    assert [c.tolist() for c in Chain(zero_stored).recurrent_classes] == [[0], [1]]
    assert Chain([[0.5, 0.5], [1.0, 0.0]]).period == 1
    for bad in ([[0.5, 0.6], [1, 0]], [[1.5, -0.5], [0, 1]], [[np.nan, 1], [0, 1]]):
        with pytest.raises(InvalidInput, match="must be probabilities"):
            Chain(bad)
    for bad in ([[1.0, 0.0]], [], [1.0]):
        with pytest.raises(InvalidInput, match="must have the shape"):
            Chain(bad)
    with pytest.raises(InvalidInput, match="time must be at least 0, not -1"):
        Chain(np.ones((1, 1))).distance_to_stationarity(-1)


def test_one_state(form):
    chain = Chain(form(np.ones((1, 1))))
    assert (chain.mixing_time, chain.period, chain.contraction_time, chain.spectral_gap) == (1, 1, 0.0, 1.0)
    assert chain.stationary_distribution.tolist() == [1.0]


def test_states_that_are_hardly_ever_visited_do_no_harm():
    # Swimming right, the left bank of 60 states is visited with probability about 1e-50.
    chain = induced_chain(river_swim(60), np.ones(60, dtype=int))
    mu = chain.stationary_distribution
    assert mu[-1] == pytest.approx(3 / 7, rel=1e-12)  # .35 in against .4 out, and ratios of 1/7 further to the left
    assert (mu @ chain.transitions) == pytest.approx(mu, abs=1e-15)


def test_large_chains_are_refused_what_needs_dense_powers():
    zeros = np.zeros(3000, dtype=int)
    chain = Chain(scipy.sparse.csr_array((np.ones(3000), (np.arange(3000), zeros)), shape=(3000, 3000)))
    with pytest.raises(TooLarge, match="at most 2000 states, and this chain has 3000"):
        _ = chain.mixing_time


@given(st.data())
def test_mixing_time_is_the_first_time_below_a_quarter(data):
    mdp = data.draw(models())
    chain = induced_chain(mdp, data.draw(policies(mdp)))
    if len(chain.recurrent_classes) > 1 or chain.period > 1:
        return
    t = chain.mixing_time
    assert chain.distance_to_stationarity(t) <= 0.25 + 1e-9
    assert t == 1 or chain.distance_to_stationarity(t - 1) > 0.25


@given(st.data())
def test_stationary_distributions_are_stationary(data):
    mdp = data.draw(models())
    chain = induced_chain(mdp, data.draw(policies(mdp)))
    for mu, states in zip(chain.stationary_distributions, chain.recurrent_classes, strict=True):
        assert mu @ chain.transitions == pytest.approx(mu, abs=1e-12)
        assert (np.flatnonzero(mu) == states).all()


@given(st.data())
def test_hitting_times_satisfy_their_equation(data):
    mdp = data.draw(models())
    chain = induced_chain(mdp, data.draw(policies(mdp)))
    times = chain.hitting_times(0)
    dense = chain.transitions.toarray() if mdp.is_sparse else chain.transitions
    with np.errstate(invalid="ignore"):
        one_step = 1 + np.where(dense > 0, dense * times, 0).sum(axis=1)
    assert times[1:] == pytest.approx(one_step[1:], rel=1e-9)
