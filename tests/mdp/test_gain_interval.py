import math

import numpy as np
import pytest
from logged import columns, uniform_logs
from scipy import stats

from aapi.environments import access_control, ergodic, river_swim
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, estimate_model, policy_values, solve

LEVEL = 0.95


def test_one_state_is_the_mean_of_a_sample():
    """With one state and one action, the gain is the mean reward, and the interval nearly Student's."""
    rewards = np.random.default_rng(0).normal(2.0, 3.0, size=1000)
    zeros = np.zeros(1000, dtype=int)
    model = estimate_model({"state": zeros, "action": zeros, "reward": rewards, "next_state": zeros})
    interval = model.gain_interval([0])
    assert interval.gain == pytest.approx(rewards.mean(), abs=1e-12)
    spread = 0.5 * np.ptp(rewards) ** 2 / 4.0  # of the half a try that is added
    error = math.sqrt((rewards.var() * 1000 + spread) / 999.5 / 1000)
    assert interval.standard_error == pytest.approx(error, rel=1e-12)
    assert interval.upper - interval.gain == pytest.approx(stats.t.ppf(0.975, 999.5) * error, rel=1e-9)
    assert interval.lower == pytest.approx(2 * interval.gain - interval.upper, abs=1e-12)


def test_two_states_have_the_variance_of_the_formula():
    """x → y always, y → x with q: the gain is 1/(1 + q) where only y pays 1; so dλ/dq = −1/(1 + q)²."""
    q, tries = 0.3, 4000
    back = int(q * tries)
    states = np.repeat([0, 1], [tries, tries])
    after = np.concatenate([np.ones(tries), np.zeros(back), np.ones(tries - back)]).astype(int)
    log = {"state": states, "action": 0 * states, "reward": 1.0 * states, "next_state": after}
    interval = estimate_model(log).gain_interval([0, 0])
    assert interval.gain == pytest.approx(1.0 / (1.0 + q), abs=1e-12)
    error = math.sqrt(q * (1.0 - q) / tries) / (1.0 + q) ** 2
    assert interval.standard_error == pytest.approx(error, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mdp", "steps", "kinds"),
    [
        (ergodic(10, 2), 2_000, ("optimal", "uniform")),
        (river_swim(6), 20_000, ("optimal", "uniform")),
        (access_control(), 10_000, ("optimal",)),  # the uniform policy needs pairs that most logs lack
        (ergodic(5, 2).with_noise(0.5), 1_000, ("optimal", "uniform")),
    ],
    ids=["ergodic", "river-swim", "access-control", "noise"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(mdp, steps, kinds):
    """95 ± 3 % of 300 logs of uniform behaviour, for policies that are given; `benchmarks/estimated.py` has more."""
    both = {"optimal": solve(mdp).policy, "uniform": np.full(mdp.rewards.shape, 1.0 / mdp.num_actions)}
    policies, covered = {name: both[name] for name in kinds}, {name: [] for name in kinds}
    truth = {name: policy_values(mdp, policy).gains[mdp.initial_state] for name, policy in policies.items()}
    for chunk in range(6):
        logs = uniform_logs(mdp, steps, 50, [chunk, steps])
        for number in range(50):
            sizes = {"num_states": mdp.num_states, "num_actions": mdp.num_actions}
            model = estimate_model(columns(logs, number), **sizes)
            for name, policy in policies.items():
                interval = model.gain_interval(policy)
                if interval.known:
                    covered[name].append(interval.lower <= truth[name] <= interval.upper)
    for name, holds in covered.items():
        assert len(holds) >= 200, name
        assert abs(np.mean(holds) - LEVEL) <= 0.03, (name, np.mean(holds))


def test_a_pair_never_tried_makes_the_gain_unknown_only_where_the_policy_comes_to_it():
    log = {
        "state": [0, 0, 0, 0, 1],
        "action": [0, 0, 0, 1, 0],
        "reward": [1.0, 2, 3, 0, 0],
        "next_state": [0, 0, 0, 1, 0],
    }
    model = estimate_model(log)
    assert model.gain_interval([0, 1]).known  # action 1 in state 1 is never tried, and never needed
    interval = model.gain_interval([1, 1])
    assert not interval.known
    assert interval.never == ((1, 1),)
    assert (interval.lower, interval.upper) == (-math.inf, math.inf)
    assert math.isnan(interval.gain)
    assert "1 pair of a state and an action that the policy comes to, never tried" in repr(interval)
    assert not model.gain_interval([[0.5, 0.5], [0.9, 0.1]]).known
    assert model.gain_interval([0, 1], start=1).never == ((1, 1),)


def test_pairs_tried_seldom_are_named_with_their_share():
    log = {"state": [0] * 20 + [1] * 3, "action": [0] * 23, "reward": [1.0] * 20 + [0.0] * 3}
    log["next_state"] = [0] * 17 + [1] * 3 + [0] * 3
    interval = estimate_model(log).gain_interval([0, 0])
    assert interval.rare == ((1, 0),)
    assert interval.rare_share == pytest.approx(3 / 23)
    assert "1 pairs tried fewer than 10 times" in repr(interval)


def test_where_all_that_was_seen_paid_the_same_nothing_is_known():
    log = {"state": [0, 1], "action": [0, 0], "reward": [3.0, 3.0], "next_state": [1, 0]}
    interval = estimate_model(log).gain_interval([0, 0])
    assert interval.reason == "every step that the policy would take paid the same, 3"


def test_classes_that_the_log_does_not_connect_are_named():
    log = {"state": [0, 0, 1, 2], "action": [0] * 4, "reward": [0.0, 0, 1, 2], "next_state": [1, 2, 1, 2]}
    model = estimate_model(log)
    assert "classes {1} and {2}" in model.gain_interval([0, 0, 0]).reason


def test_the_level_widens_the_interval_and_bad_arguments_are_named():
    model = estimate_model(columns(uniform_logs(ergodic(5, 2), 500, 1, 0), 0))
    policy = np.zeros(5, dtype=int)
    widths = [np.ptp([i.lower, i.upper]) for i in (model.gain_interval(policy, level) for level in (0.5, 0.9, 0.99))]
    assert widths[0] < widths[1] < widths[2]
    for bad, message in (({"level": 1.0}, "level must lie strictly"), ({"start": 9}, "start must lie in 0..4, not 9")):
        with pytest.raises(InvalidInput, match=message):
            model.gain_interval(policy, **bad)
    with pytest.raises(InvalidInput, match="takes action 7"):
        model.gain_interval(policy + 7)


def test_a_model_without_chance_has_an_interval_around_the_truth():
    states = np.arange(300) % 3
    log = {"state": states, "action": 0 * states, "reward": 1.0 * (states == 2), "next_state": (states + 1) % 3}
    interval = estimate_model(log).gain_interval([0, 0, 0])
    assert interval.gain == pytest.approx(1 / 3, abs=1e-12)
    assert interval.lower < 1 / 3 < interval.upper
    assert isinstance(estimate_model(log).model, FiniteMDP)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300])
def test_the_unit_of_rewards_changes_nothing(scale):
    log = columns(uniform_logs(ergodic(5, 2), 500, 1, 0), 0)
    one, other = (
        estimate_model({**log, "reward": factor * log["reward"]}).gain_interval([0] * 5) for factor in (1.0, scale)
    )
    assert [other.lower / scale, other.upper / scale] == pytest.approx([one.lower, one.upper], rel=1e-12)
    assert other.standard_error / scale == pytest.approx(one.standard_error, rel=1e-12)


def test_policies_take_no_more_memory_than_the_table_of_pairs():
    log = {"state": [0, 0], "action": [0, 1], "reward": [0.0, 1.0], "next_state": [0, 0]}
    model = estimate_model(log, num_states=1, num_actions=1_000_000)
    assert model.gain_interval([1]).reason == "every step that the policy would take paid the same, 1"
