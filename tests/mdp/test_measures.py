import itertools

import numpy as np
import pytest
from hypothesis import given
from support import models

from aapi.environments import access_control, deep_sea, ergodic, river_swim
from aapi.errors import DoesNotExist, InvalidInput
from aapi.mdp import (
    FiniteMDP,
    diameter,
    induced_chain,
    mismatch,
    optimal_hitting_times,
    worst_mixing_time,
)


def deterministic(mdp):
    return map(np.array, itertools.product(range(mdp.num_actions), repeat=mdp.num_states))


def test_worst_mixing_time_is_exact_by_enumeration():
    mdp = ergodic(5, 2)
    worst = worst_mixing_time(mdp)
    assert worst.exact
    assert worst.time == max(induced_chain(mdp, policy).mixing_time for policy in deterministic(mdp)) == 6
    assert induced_chain(mdp, worst.policy).mixing_time == 6
    assert str(worst) == "6 (exact over deterministic policies)"


def test_worst_mixing_time_by_search_is_labelled_a_lower_bound():
    mdp = ergodic(10, 2)
    worst = worst_mixing_time(mdp, enumerate_up_to=100)
    assert not worst.exact
    assert str(worst) == "≥ 10 (lower bound from a search)"
    assert worst_mixing_time(mdp).time == 10
    assert induced_chain(mdp, worst.policy).mixing_time == worst.time


def test_worst_mixing_time_of_a_periodic_model_does_not_exist():
    with pytest.raises(DoesNotExist, match=r"under the policy \[0,0,0,.*periodic, with period 3"):
        worst_mixing_time(deep_sea(3))


def test_mismatch_is_the_maximum_over_deterministic_policies():
    mdp = ergodic(6, 2)
    by_enumeration = max(1 / induced_chain(mdp, policy).stationary_distribution.min() for policy in deterministic(mdp))
    assert mismatch(mdp) == pytest.approx(by_enumeration, rel=1e-12)


@pytest.mark.parametrize("mdp", [river_swim(4), deep_sea(4), access_control(2)])
def test_mismatch_is_infinite_where_a_state_can_be_avoided(mdp):
    with pytest.raises(DoesNotExist, match=r"infinite: some policies keep visiting state \d+ and others avoid it"):
        mismatch(mdp)


def test_mismatch_of_one_policy_with_two_classes_does_not_exist():
    with pytest.raises(DoesNotExist, match=r"runs can end in any of \{0\} and \{1\}"):
        mismatch(FiniteMDP(np.eye(2)[:, None, :], np.zeros((2, 1))))


def test_targets_are_checked():
    for bad, message in ((-1, "target must be at least 0, not -1"), (9, r"target must lie in 0..8, not 9")):
        with pytest.raises(InvalidInput, match=message):
            optimal_hitting_times(deep_sea(3), bad)


def test_diameter():
    assert diameter(deep_sea(5)) == 8.0
    # Left to right in river_swim(2): one attempt succeeds with probability .6.
    assert diameter(river_swim(2)) == pytest.approx(1 / 0.6)
    two = np.eye(2)[:, None, :]
    with pytest.raises(DoesNotExist, match="no policy is sure to reach state 0 from state 1"):
        diameter(FiniteMDP(two, np.zeros((2, 1))))


@given(models(max_states=4))
def test_optimal_hitting_times_are_the_minimum_over_policies(mdp):
    best = np.min([induced_chain(mdp, policy).hitting_times(0) for policy in deterministic(mdp)], axis=0)
    if np.isinf(best).any():
        with pytest.raises(DoesNotExist, match=f"state 0 from state {np.argmax(np.isinf(best))}"):
            optimal_hitting_times(mdp, 0)
    else:
        assert optimal_hitting_times(mdp, 0) == pytest.approx(best, rel=1e-9)


@given(models(max_states=4))
def test_mismatch_agrees_with_enumeration_where_finite(mdp):
    chains = [induced_chain(mdp, policy) for policy in deterministic(mdp)]
    try:
        value = mismatch(mdp)
    except DoesNotExist:
        recurrent = [set(np.concatenate(chain.recurrent_classes).tolist()) for chain in chains]
        several = any(len(chain.recurrent_classes) > 1 for chain in chains)
        assert several or any(r != recurrent[0] for r in recurrent)
        return
    weights = [mu[mu > 0].min() for chain in chains for mu in chain.stationary_distributions]
    assert value == pytest.approx(1 / min(weights), rel=1e-9)
