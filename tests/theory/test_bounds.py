"""Constants of problems, errors of evaluation, growth, noise, changes of Q: measured, and bounded."""

import numpy as np
import pytest

import aapi
from aapi import theory
from aapi.environments import deep_sea, ergodic, river_swim
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.evaluation import ExactQ, MonteCarlo
from aapi.features import FeatureMatrix
from aapi.mdp import FiniteMDP, induced_chain, policy_values, worst_contraction_time
from aapi.theory.bounds import _closest
from aapi.theory.evaluation_error import _fit
from aapi.theory.summary import summary

MC = MonteCarlo(horizon=10, centre=True, ridge=0.1)


def test_constants_of_the_paper():
    known = theory.constants(ergodic(10, 2))
    assert (known.mixing_time, known.mixing_time_exact) == (10, True)
    assert known.gain == pytest.approx(0.210478, abs=1e-6)
    assert known.mismatch == pytest.approx(40.73, abs=0.005)
    assert known.optimal_mismatch == pytest.approx(14.71, abs=0.005)
    assert known.refused == {}


def test_worst_contraction_is_the_worst():
    mdp = ergodic(4, 2)
    times = [induced_chain(mdp, [a, b, c, d]).contraction_time for a, b, c, d in np.ndindex(2, 2, 2, 2)]
    assert worst_contraction_time(mdp) == pytest.approx(max(times))
    mixed = induced_chain(mdp, np.full((4, 2), 0.5)).contraction_time
    assert mixed <= max(times)
    assert worst_contraction_time(FiniteMDP(np.ones((1, 2, 1)), [[0.0, 1.0]])) == 0.0
    with pytest.raises(DoesNotExist, match="no common successor"):
        worst_contraction_time(river_swim(6))
    with pytest.raises(TooLarge):
        worst_contraction_time(ergodic(1001, 2))


def test_deep_sea_has_what_makes_sense():
    known = theory.constants(deep_sea(4))
    assert known.gain == pytest.approx(1.5)
    assert (known.mixing_time, known.contraction_time, known.mismatch) == (None, None, None)
    assert "periodic" in known.refused["mixing_time"]
    assert "infinite" in known.refused["mismatch"]
    algorithm = aapi.AAPI(phase_length=60, evaluate=MonteCarlo(horizon=8, centre=False), eta=1.0)
    found = theory.examine({"aapi": algorithm}, deep_sea(4), 3000, 4)
    assert found.theorem is None
    assert "does not apply" in found.refused["theorem"]
    bounds = {check.name: check for check in found.checks}
    assert bounds["noise"].bound is None
    assert "no common successor" in bounds["noise"].reason
    assert bounds["noise, by Poisson's equation"].holds
    assert bounds["online learning R2"].holds
    assert bounds["relative Q, proven"].holds is None
    assert found.analysis.decomposition.residual.max() <= 1e-8


def test_noise_keeps_to_its_bounds():
    mdp = ergodic(10, 2)
    found = theory.analyse(aapi.run(aapi.AAPI(phase_length=100, evaluate=MC), mdp, 5000, 40, record=True))
    noise = np.abs(found.decomposition.cumulated("noise"))
    ours = found.noise.bound(0.05)
    assert (noise <= ours).all()
    assert noise.max() > 0.05 * ours[:, -1].min()  # of its size, not a thousand times larger
    assert ours[:, -1].max() < theory.mixing_bound(worst_contraction_time(mdp), 50, 5000, 0.05)


def test_poisson_by_hand():
    """Two states, each left surely: rewards 1 and 0, V = (¼, −¼), no choice: noise within a phase is at most ½."""
    mdp = FiniteMDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [0.0]])
    found = theory.analyse(aapi.run(aapi.learners.Uniform(phase_length=5), mdp, 10, record=True))
    assert found.noise.drift[0] == pytest.approx([0.5, 0.5])
    assert found.decomposition.noise[0] == pytest.approx([-0.5, 0.5])  # three ones in five, then two
    assert (found.relative_q.q_change, found.relative_q.q_size[0]) == (0.0, pytest.approx([0.25, 0.25]))


def test_change_of_q_by_hand():
    mdp = ergodic(5, 2)
    found = theory.analyse(aapi.run(aapi.AAPI(phase_length=50, evaluate=MC), mdp, 200, record=True))
    record = aapi.run(aapi.AAPI(phase_length=50, evaluate=MC), mdp, 200, record=True).record
    first, second = (policy_values(mdp, record.policies[0, k]).q_values for k in (0, 1))
    assert found.relative_q.q_change[0, 0] == pytest.approx(np.abs(second - first).max())
    moved = np.abs(record.policies[0, 1] - record.policies[0, 0]).sum(axis=1).max()
    assert found.relative_q.policy_change[0, 0] == pytest.approx(moved)
    assert 0.0 < found.relative_q.constant < theory.proven_constant(4, 4)
    assert theory.proven_constant(1, 2) == 4**2 + 4 + 5 * 5  # N = 4
    assert theory.printed_constant(3, 8) == 81


def aggregated(states, groups):
    return FeatureMatrix(np.eye(groups)[np.arange(states) * groups // states])


def test_what_more_data_mends_and_what_it_does_not():
    mdp, lengths = ergodic(10, 2), [500, 1000, 2000, 4000, 8000, 16000]
    long = MonteCarlo(horizon=40, centre=True, ridge=0.1)
    full = theory.error_decay(mdp, long, lengths, num_runs=30)
    assert full.approximation_error.estimate < 0.02
    assert 3.0 < full.constant.lower < full.constant.upper < 20.0
    assert full.quantiles[-1] < 0.3 * full.quantiles[0]
    assert full.at(2000) == pytest.approx(full.quantiles[2], rel=0.3)
    coarse = theory.error_decay(mdp, long, lengths, num_runs=30, features=aggregated(10, 5))
    assert coarse.approximation_error.lower > 0.15
    for norm in theory.ERROR_NORMS:
        assert theory.error_decay(mdp, long, lengths[:3], num_runs=5, norm=norm).errors.shape == (3, 5)
    with pytest.raises(DoesNotExist, match="exact"):
        theory.error_decay(mdp, ExactQ(), lengths, num_runs=2)
    with pytest.raises(InvalidInput, match="two different numbers"):
        theory.error_decay(mdp, long, [500])
    with pytest.raises(InvalidInput, match="norm"):
        theory.error_decay(mdp, long, lengths, norm="l2")


def test_norms_by_hand():
    mdp = ergodic(5, 2)
    result = aapi.run(aapi.AAPI(phase_length=50, evaluate=MC), mdp, 150, record=True)
    found, record = theory.analyse(result), result.record
    error = record.q_hats[0, 2] - policy_values(mdp, record.policies[0, 2]).q_values
    weights, best = found.against.distribution, found.against.policy.argmax(axis=1)
    assert found.errors.sup[0, 2] == pytest.approx(np.abs(error).max())
    assert found.errors.span[0, 2] == pytest.approx((error.max(axis=1) - error.min(axis=1)).max() / 2)
    assert found.errors.optimal[0, 2] == pytest.approx(np.sqrt(weights @ error[np.arange(5), best] ** 2))
    under = (record.policies[0, 2] * error**2).sum(axis=1)
    assert found.errors.current[0, 2] == pytest.approx(np.sqrt(weights @ under))


def test_exact_q_is_bounded_or_grows_by_the_root():
    """The oracles: AAPI .255 from K = 100 on; POLITEX at temperature 10 5.54; tuned to K it grows by √2 a doubling."""
    mdp, parts = ergodic(10, 2), {"phase_length": 1, "evaluate": ExactQ()}
    regret = theory.exact_regret(aapi.AAPI(eta=1.0, **parts), mdp, 400)
    assert regret[[99, 399]] == pytest.approx([0.255, 0.255], abs=5e-4)
    assert theory.exact_regret(aapi.Politex(eta=10.0, **parts), mdp, 2000)[-1] == pytest.approx(5.54, abs=0.01)
    tuned = aapi.Politex(eta=1.0, schedule="horizon", **parts)
    shorter, longer = (theory.exact_regret(tuned, mdp, k)[-1] for k in (400, 800))
    assert longer / shorter == pytest.approx(np.sqrt(2), abs=0.01)


def test_growth():
    mdp = ergodic(5, 2)
    grown = theory.regret_growth(aapi.learners.Uniform(phase_length=400), mdp, theory.doublings(16000, 4), num_runs=10)
    assert grown.steps.tolist() == [2000, 4000, 8000, 16000]
    assert grown.phase_lengths.tolist() == [100, 159, 252, 400]
    assert grown.exponent.lower <= 1.0 <= grown.exponent.upper
    assert grown.at(grown.steps) == pytest.approx(grown.regrets.mean(axis=1), rel=0.1)
    slower = theory.regret_growth(aapi.AAPI(phase_length=400, evaluate=MC, eta=0.3), mdp, [2000, 16000], num_runs=10)
    assert slower.exponent.upper < 0.95
    with pytest.raises(DoesNotExist, match="two different numbers"):
        theory.regret_growth(aapi.learners.Uniform(), mdp, [1000])
    constant = FiniteMDP(mdp.transitions, np.ones((5, 2)))
    with pytest.raises(DoesNotExist, match="not positive"):
        theory.regret_growth(aapi.learners.Uniform(), constant, [100, 200])


def test_theorem():
    made = theory.theorem(10**6, 1000, mixing_time=2, mismatch=10.0, constant=3.0, approximation_error=0.1)
    assert made.rate == pytest.approx(4 * 90 ** (1 / 3) * 1e4 + 1e5)
    log = np.log(1e6)
    assert made.estimation == pytest.approx(1e6 * (0.1 + 3 * np.sqrt(log / 1000)))
    assert made.noise == pytest.approx(2000 + 8 * np.sqrt(2 * 1000 * 1e6 * 2 * log))
    assert made.online_learning == pytest.approx(10_000 * 16 * np.log2(1000) ** 4 + 1e6 * (9 * log / 1000 + 0.01))
    assert made.total == made.noise + made.estimation + made.online_learning
    length = theory.recommended_phase_length(10**6, mixing_time=2, mismatch=10.0, constant=3.0)
    assert length == pytest.approx((3e6 / 80) ** (2 / 3))
    with pytest.raises(InvalidInput, match="mixing_time"):
        theory.recommended_phase_length(10**6, mixing_time=0, mismatch=10.0, constant=3.0)


def test_errata_are_shown():
    found = {erratum.name: erratum.shown for erratum in theory.find_errata()}
    assert "0 the corrected one" in found["ao-ftrl"]
    assert "contraction time none" in found["contraction"]
    assert "11 columns, rank 10" in found["independence"]
    assert "40.73, the second 14.71" in found["mismatch"]
    assert "R1 = 2 T" in found["estimation"]


def test_rounding_is_not_an_exceeded_bound():
    """A state whose actions are all the same: regret and bound are 0, and rounding must not tell them apart."""
    mdp = ergodic(5, 3)
    algorithm = aapi.AAPI(phase_length=50, evaluate=ExactQ(), eta=1.0, norm="span")
    found = theory.analyse(aapi.run(algorithm, mdp, 2000, 2, record=True))
    made = summary(found, theory.check_bounds(found, theory.constants(mdp)))
    assert made["online_learning"]["exceeded"] == 0
    alone = FiniteMDP(np.ones((1, 1, 1)), [[0.1]])
    found = theory.analyse(aapi.run(aapi.learners.Uniform(phase_length=7), alone, 1000, record=True))
    assert all(check.holds for check in theory.check_bounds(found, theory.constants(alone)))


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e153, 1e200])
def test_rewards_of_any_size(scale):
    mdp = ergodic(5, 2)
    algorithm = aapi.AAPI(phase_length=100, evaluate=MC)
    plain, scaled = (
        theory.analyse(aapi.run(algorithm, problem, 2000, 2, record=True)) for problem in (mdp, mdp.scaled(scale))
    )
    for norm in theory.ERROR_NORMS:
        assert getattr(scaled.errors, norm) / scale == pytest.approx(getattr(plain.errors, norm), rel=1e-9)
    assert scaled.noise.bound(0.05) / scale == pytest.approx(plain.noise.bound(0.05), rel=1e-9)
    for term in ("bound", "corrected_lemma", "surprise"):
        assert getattr(scaled.online_learning, term) / scale == pytest.approx(
            getattr(plain.online_learning, term), rel=1e-9, abs=1e-12
        )
    assert all(check.holds for check in theory.check_bounds(scaled, theory.constants(mdp.scaled(scale))))


def test_a_violated_bound_is_not_hidden():
    """By a run in which both are 0."""
    found = _closest("", "", np.array([0.0, 5.0, 1.0]), np.array([0.0, 1.0, 9.0]))
    assert (found.measured, found.bound, found.holds) == (5.0, 1.0, False)


def test_arguments_that_make_no_sense():
    mdp = ergodic(5, 2)
    first, second = (
        aapi.run(aapi.AAPI(phase_length=50, evaluate=MC), each, 200, record=True) for each in (mdp, mdp.scaled(2.0))
    )
    with pytest.raises(InvalidInput, match="on one problem"):
        theory.analyse([first, second])
    for delta in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidInput, match="delta"):
            theory.analyse(first).noise.bound(delta)
    with pytest.raises(InvalidInput, match="num_actions must be at least 2"):
        theory.lemma_eta(1)
    exact = aapi.AAPI(phase_length=20, evaluate=ExactQ(), eta=0.3)
    with pytest.raises(DoesNotExist, match="take more of them"):
        theory.regret_growth(exact, mdp, [100, 200, 400, 800], num_runs=5, seed=10)


def test_bound_checks_by_hand():
    """Rewards in [−1, 3]: bounds for rewards in [0, 1] are multiplied by 4."""
    mdp = FiniteMDP(ergodic(5, 2).transitions, 4.0 * ergodic(5, 2).rewards - 1.0)
    result = aapi.run(aapi.AAPI(phase_length=100, evaluate=MC), mdp, 1000, 3, record=True)
    found, known = theory.analyse(result), theory.constants(mdp)
    assert known.reward_range == 4.0
    checks = {check.name: check for check in theory.check_bounds(found, known)}
    t, time = known.contraction_time, known.mixing_time
    noise = np.abs(found.decomposition.total("noise"))
    assert checks["noise"].measured == noise.max()
    expected = 4.0 * (10 * t + 4 * t * np.sqrt(2 * 10 * 1000 * np.log(1000 / 0.05)))
    assert checks["noise"].bound == pytest.approx(expected)
    assert checks["size of Q"].bound == 4.0 * (2 * time + 3)
    assert checks["relative Q, printed"].bound == pytest.approx(4.0 * time**2 * np.log2(10) ** 2)
    values = [[policy_values(mdp, policy) for policy in run] for run in result.record.policies]
    drift = np.array([[np.ptp(v.bias) for v in run] for run in values])
    choice = np.array([[np.ptp(v.q_values, axis=1).max() for v in run] for run in values])
    limits = drift.sum(axis=1) + np.sqrt(0.5 * np.log(2 / 0.05) * (100 * (drift**2 + choice**2)).sum(axis=1))
    closest = (noise / limits).argmax()
    poisson = checks["noise, by Poisson's equation"]
    assert (poisson.measured, poisson.bound) == (noise[closest], pytest.approx(limits[closest]))
    estimation, weights = found.decomposition.total("estimation"), 100 * (found.errors.optimal + found.errors.current)
    share = estimation / weights.sum(axis=1)
    assert checks["estimation R1"].bound == pytest.approx(weights.sum(axis=1)[share.argmax()])


def test_the_fit_is_of_relative_errors():
    """Three errors that no ε₀ + C̃ x fits: the weights of the deviations are 1/error."""
    rates, errors = np.array([1.0, 0.5, 0.1]), np.array([2.0, 1.5, 0.4])
    columns = np.stack([rates, np.ones(3)], axis=1) / errors[:, None]
    assert _fit(rates, errors) == pytest.approx(np.linalg.lstsq(columns, np.ones(3))[0])


def test_phases_are_no_shorter_than_returns():
    algorithm = aapi.AAPI(phase_length=100, evaluate=MonteCarlo(horizon=60), eta=0.3)
    grown = theory.regret_growth(algorithm, ergodic(5, 2), [1000, 16000], num_runs=10)
    assert grown.phase_lengths.tolist() == [60, 100]


def test_an_examination_is_made_of_its_parts():
    mdp = ergodic(5, 2).scaled(4.0)
    algorithm = aapi.AAPI(phase_length=300, evaluate=MC, eta=0.3)
    found = theory.examine({"mine": algorithm}, mdp, 9000, 5, 3)
    last = aapi.run(algorithm, mdp, 9000, 1, 3).final_policy[0]
    lengths = found.decays["last"].phase_lengths
    direct = theory.error_decay(mdp, MC, lengths.tolist(), policy=last, seed=3)
    assert found.decays["last"].constant == direct.constant
    assert found.decays["uniform"].constant != direct.constant
    constant = found.decays["uniform"].constant.estimate / 4.0
    floor = found.decays["uniform"].approximation_error.estimate / 4.0
    known = {"mixing_time": 6, "mismatch": found.constants.mismatch, "constant": constant}
    expected = theory.theorem(9000, 300, approximation_error=floor, **known)
    assert found.theorem.rate == pytest.approx(4.0 * expected.rate)
    assert found.phase_lengths["mismatch"] == pytest.approx(theory.recommended_phase_length(9000, **known))
    assert set(found.exact) == {"mine", "politex, tuned to K"}
    with pytest.raises(InvalidInput, match="not empty"):
        theory.examine({}, mdp, 9000)


def test_a_summary_is_of_the_right_phases():
    mdp, algorithm = ergodic(5, 2), aapi.AAPI(phase_length=10, evaluate=MonteCarlo(horizon=5))
    found = theory.analyse(aapi.run(algorithm, mdp, 1005, 3, record=True))  # 100 phases, and 5 steps
    made = summary(found, theory.check_bounds(found, theory.constants(mdp)))
    steps = made["curves"]["steps"]
    assert (len(steps), steps[0], steps[-1]) == (60, 10, 1005)
    for step, mean in zip(steps, made["curves"]["estimation"]["mean"], strict=True):
        upto = -(-step // 10)
        assert mean == pytest.approx(found.decomposition.estimation[:, :upto].sum(axis=1).mean())
    for step, mean in zip(made["errors"]["steps"], made["errors"]["sup"]["mean"], strict=True):
        assert mean == pytest.approx(found.errors.sup[:, step // 10 - 1].mean())
    assert made["errors"]["steps"][-1] == 1000
    assert sum(made["online_learning"]["regret"]) == pytest.approx(made["totals"]["online_learning"]["mean"])
