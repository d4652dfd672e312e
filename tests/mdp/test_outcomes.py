import numpy as np
import pytest

import aapi
from aapi.environments import ChangingRewards, chain, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.registry.zoo import zoo

TRANSITIONS = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.25, 0.75]]])


def same(one, other):
    assert (one.rewards == other.rewards).all()
    assert (one.transitions != other.transitions).sum() == 0
    assert (one.outcomes is None) == (other.outcomes is None)
    if one.outcomes is not None:
        for name, array in vars(one.outcomes).items():
            assert (array == vars(other.outcomes)[name]).all(), name
    assert (one.reward_spread is None) == (other.reward_spread is None)
    if one.reward_spread is not None:
        assert (one.reward_spread == other.reward_spread).all()


def test_rewards_by_successor():
    rewards = np.arange(8.0).reshape(2, 2, 2)
    mdp = FiniteMDP(TRANSITIONS, rewards)
    assert mdp.rewards == pytest.approx((TRANSITIONS * rewards).sum(axis=2))
    assert mdp.outcomes.starts.tolist() == [0, 2, 3, 4, 6]
    assert mdp.outcomes.rewards.tolist() == [0, 1, 3, 4, 6, 7]
    assert mdp.outcomes.width == 1.0
    assert mdp.reward_range == (0.0, 7.0)
    assert FiniteMDP(TRANSITIONS, np.repeat(np.arange(4.0), 2).reshape(2, 2, 2)).outcomes is None  # certain after all
    with pytest.raises(InvalidInput, match=r"the shape \(states, actions, states\) = \(2, 2, 2\), not \(2, 2, 3\)"):
        FiniteMDP(TRANSITIONS, np.zeros((2, 2, 3)))


def test_outcomes_in_any_order_are_those_of_the_rows():
    rows = np.array([(1, 0, 0.5, 2.0), (0, 1, 0.5, 1.0), (0, 1, 0.25, -1.0), (1, 0, 0.5, 2.0), (0, 0, 0.25, 1.0)])
    mdp = FiniteMDP.from_outcomes(rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2], rows[:, 3], 2, 1)
    assert mdp.transitions.toarray().tolist() == [[0.25, 0.75], [1.0, 0.0]]
    assert mdp.rewards.ravel().tolist() == [0.5, 2.0]
    assert mdp.outcomes.successors.tolist() == [0, 1, 1, 0]
    assert mdp.outcomes.rewards.tolist() == [1.0, -1.0, 1.0, 2.0]
    assert mdp.outcomes.probabilities.tolist() == [0.25, 0.25, 0.5, 1.0]


def test_random_rewards_whatever_follows():
    mdp = garnet(6, 2, 3, seed=1)
    coins = mdp.with_random_rewards([0.0, 1.0, 4.0], [0.5, 0.25, 0.25])
    assert coins.rewards == pytest.approx(np.full((6, 2), 1.25))
    assert coins.transitions.reshape(-1, 6) == pytest.approx(mdp.transitions.reshape(-1, 6))
    assert np.diff(coins.outcomes.starts).tolist() == [9] * 12
    assert coins.reward_range == (0.0, 4.0)
    assert solve(coins).gain == pytest.approx(1.25)


def test_noise_changes_nothing_exact():
    mdp = garnet(6, 2, 3, seed=1)
    noisy = mdp.with_noise(2.0)
    assert solve(noisy).gain == solve(mdp).gain
    assert noisy.reward_range == (mdp.rewards.min() - 16.0, mdp.rewards.max() + 16.0)
    assert noisy.with_rewards(mdp.rewards).reward_spread is None


def test_scaled_by_powers_of_two_is_exact():
    mdp = chain().with_noise(0.3)
    scaled = mdp.scaled(2.0**70)
    same(scaled.scaled(2.0**-70), mdp)
    results = [aapi.run(aapi.AAPI(), each, 3000, 2).rewards for each in (mdp, scaled)]
    assert (results[0] * 2.0**70 == results[1]).all()


@pytest.mark.parametrize(
    "mdp",
    [
        chain(), river_swim(4, noise=0.5), garnet(6, 2, 3, coins=1), garnet(30, 2, 3, coins=1),
        FiniteMDP(TRANSITIONS, np.arange(8.0).reshape(2, 2, 2), reward_spread=[[0.0, 1.0], [2.0, 3.0]]),
    ],
    ids=str,
)  # fmt: skip
def test_files_keep_distributions(mdp, tmp_path):
    mdp.save(tmp_path / "model.npz")
    same(FiniteMDP.load(tmp_path / "model.npz"), mdp)
    same(FiniteMDP.load(tmp_path / "model.npz").scaled(1.0), mdp)


def test_numpy_files_may_hold_rewards_by_successor(tmp_path):
    rewards = np.arange(8.0).reshape(2, 2, 2)
    np.savez(tmp_path / "model.npz", transitions=TRANSITIONS, rewards=rewards)
    same(FiniteMDP.load(tmp_path / "model.npz"), FiniteMDP(TRANSITIONS, rewards))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward_spread": np.array([1.0, 2.0])}, r"reward_spread must have the shape \(5, 2\), not \(2,\)"),
        ({"reward_spread": np.array(-1.0)}, r"reward_spread must be at least 0, not -1.0"),
        ({"reward_spread": np.array(np.nan)}, r"reward_spread of state 0, action 0 is nan, not a finite number"),
        ({"reward_spread": np.array("wide")}, r"reward_spread must be a rectangular array of real numbers"),
        ({"outcome_starts": np.arange(11)}, "pairs, successors, probabilities and rewards of outcomes must be lists"),
        ({"outcome_starts": np.arange(11)[::-1]}, r"the outcomes are not valid \(outcome_starts do not rise"),
        ({"outcome_starts": np.array("a")}, r"the outcomes are not valid"),
        ({"outcome_rewards": np.full(20, np.inf)}, "the reward of an outcome must be a finite number of at most"),
        ({"outcome_rewards": np.arange(20.0)}, "the outcomes are not those of the transitions and the mean rewards"),
        ({"outcome_successors": np.full(20, 9)}, r"successors of outcomes must lie in 0\.\.4, and holds 9 to 9"),
        ({"outcome_successors": np.full(20, 0.5)}, "successors of outcomes must be whole numbers, not float64"),
        ({"outcome_probabilities": np.full(20, 0.5)}, "the outcomes are not those of the transitions"),
        ({"outcome_probabilities": np.full(20, -0.5)}, "the probability of an outcome must be between 0 and 1"),
        ({"outcome_probabilities": None}, r"the outcomes are not valid \('outcome_probabilities'\)"),
    ],
    ids=str,
)
def test_odd_files_are_refused(changes, message, tmp_path):
    path = tmp_path / "model.npz"
    chain().save(path)
    with np.load(path) as file:
        arrays = dict(file) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(InvalidInput, match=message) as error:
        FiniteMDP.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "probabilities", "message"),
    [
        ([0.0, 1.0], [0.5, 0.4], "the probabilities of the rewards of state 0, action 0 do not sum to 1"),
        ([0.0, 1.0], [0.5, 0.25, 0.25], r"must have the shape \(2, 2\) and one more axis, not \(2,\) and \(3,\)"),
        (1.0, 1.0, r"must have the shape \(2, 2\) and one more axis"),
        ([0.0, np.nan], [0.5, 0.5], "the reward of an outcome must be a finite number"),
        ([0.0, 1.0], [-1.0, 2.0], "the probability of an outcome must be between 0 and 1, not -0.5"),
    ],
)
def test_odd_distributions_are_refused(values, probabilities, message):
    with pytest.raises(InvalidInput, match=message):
        FiniteMDP(TRANSITIONS, np.zeros((2, 2))).with_random_rewards(values, probabilities)


def test_simulated_rewards_have_their_distribution():
    mdp = FiniteMDP(TRANSITIONS, np.arange(8.0).reshape(2, 2, 2))
    simulation = aapi.batch.simulator(mdp)([0])
    policy = np.full((1, 2, 2), 0.5)
    data = simulation.rollout(aapi.simulation.Stretch(1, 0, 100_000, policy), 100_000)
    successors = data.successors
    assert (data.rewards == np.arange(8.0).reshape(2, 2, 2)[data.states, data.actions, successors]).all()
    assert data.reward_sums[0, -1] == data.rewards.sum()
    coins = FiniteMDP(TRANSITIONS, np.zeros((2, 2))).with_random_rewards([0.0, 10.0], [0.9, 0.1]).with_noise(0.5)
    data = aapi.batch.simulator(coins)([0]).rollout(aapi.simulation.Stretch(1, 0, 100_000, policy), 100_000)
    pays = data.rewards > 5.0
    assert abs(pays.mean() - 0.1) < 6 * (0.09 / 1e5) ** 0.5
    noise = data.rewards - 10.0 * pays
    assert abs(noise.std() - 0.5) < 0.01
    assert abs(noise.mean()) < 0.01
    for state, action in np.ndindex(2, 2):  # whatever the successor is
        which = (data.states == state) & (data.actions == action)
        for successor in (0, 1):
            if (share := pays[which & (data.successors == successor)]).size > 1000:
                assert abs(share.mean() - 0.1) < 0.02


def test_average_reward_is_the_gain_and_regret_comes_apart():
    mdp = zoo()["garnet 20×4, coins"].make()
    uniform = np.full((mdp.num_states, mdp.num_actions), 1.0 / mdp.num_actions)
    result = aapi.run(aapi.learners.Uniform(), mdp, 20_000, 20)
    average = result.average_reward[:, -1]
    gain = policy_values(mdp, uniform).gains[0]
    assert abs(average.mean() - gain) < 5 * average.std() / 20**0.5
    analysis = aapi.theory.analyse(
        aapi.run(aapi.AAPI(phase_length=200, exploration=()), mdp.with_noise(0.5), 4000, 4, record=True, grid=[4000])
    )
    parts = analysis.decomposition
    assert parts.regret == pytest.approx(parts.noise + parts.pseudo_regret, abs=1e-9)
    assert (abs(parts.cumulated("noise")) <= analysis.noise.bound(0.01)).all()
    checks = {check.name: check for check in aapi.theory.check_bounds(analysis, aapi.theory.constants(analysis.mdp))}
    assert checks["noise"].bound is None
    assert "certain" in checks["noise"].reason
    assert checks["noise, by Poisson's equation"].holds
    assert (analysis.noise.payment == 1.0).all()
    assert (analysis.noise.spread == 1.0).all()


def test_bits_depend_on_the_seed_alone():
    mdp = chain().with_noise(1.0)
    whole = aapi.run(aapi.AAPI(), mdp, 5000, 7, threads=1).rewards
    assert (aapi.run(aapi.AAPI(), mdp, 5000, 7, threads=3).rewards == whole).all()
    last = aapi.run(aapi.AAPI(), mdp, 5000, 2, first_run=5).rewards
    most = last.shape[1]  # of phases; other runs may have more
    assert (last == whole[5:, :most]).all()
    assert not whole[5:, most:].any()
    for learner in (aapi.learners.UCRL2B(), aapi.learners.PSRL(rewards="normal"), aapi.learners.DifferentialQ()):
        assert np.isfinite(aapi.run(learner, mdp, 2000, 2).rewards).all()


def test_a_step_that_is_not_taken_draws_no_reward():
    mdp, policy = chain().with_noise(1.0), np.full((1, 5, 2), 0.5)
    whole = aapi.batch.simulator(mdp)([0]).rollout(aapi.simulation.Stretch(1, 0, 300, policy), 300)
    simulation, found = aapi.batch.simulator(mdp)([0]), []
    while simulation.time < 300:
        limits = np.full((1, 5, 2), 3, dtype=np.int64)
        stretch = aapi.simulation.Stretch(1, simulation.time, 300, policy, limits=limits, look_ahead=True)
        found.append(simulation.rollout(stretch, 300 - simulation.time).rewards)
    assert len(found) > 20
    assert (np.concatenate(found, axis=1) == whole.rewards).all()


def test_rivals_are_told_the_range_of_what_may_be_paid():
    coins = FiniteMDP(TRANSITIONS, np.zeros((2, 2))).with_random_rewards([-2.0, 10.0], [0.9, 0.1])
    for mdp, expected in ((coins, (-2.0, 10.0)), (coins.with_noise(0.5), (-6.0, 14.0))):
        space = aapi.batch.simulator(mdp)([0]).space
        assert aapi.learners.UCRL2().reward_range(space) == expected
        assert aapi.learners.UCRL2(reward_low=-9.0).reward_range(space) == (-9.0, expected[1])
        for learner in (aapi.learners.UCRL2(), aapi.learners.OptimisticQ(), aapi.learners.PSRL(rewards="beta")):
            assert np.isfinite(aapi.run(learner, mdp, 500, 1).rewards).all()


def test_changing_rewards_are_those_of_the_phase():
    tables = np.array([[[1.0, 2.0]] * 5, [[3.0, 4.0]] * 5])
    data = aapi.run(aapi.AAPI(phase_length=50), ChangingRewards(chain().with_noise(1.0), tables), 200, 2)
    assert set(np.unique(np.round(data.rewards, 9) % 1.0)) == {0.0}
