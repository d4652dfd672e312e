"""Same seed, same bits: whatever the threads, the chunks, the company, the compiler."""

import hashlib

import numpy as np
import pytest
from support import interpreted

import aapi
from aapi.environments import cartpole, deep_sea, ergodic
from aapi.evaluation import ExactQ, MonteCarlo, PosteriorSampled
from aapi.exploration import Discovery, PosteriorSampling
from aapi.features import Fourier, OneHot, Radial, Tiles
from aapi.improvement import Predicted

ALGORITHMS = {
    "aapi": aapi.AAPI(phase_length=50, eta=0.3, evaluate=MonteCarlo(horizon=8)),
    "sampled": aapi.AAPI(phase_length=50, eta=0.3, evaluate=MonteCarlo(horizon=8), num_sampled=3),
    "politex": aapi.Politex(phase_length=50, evaluate=MonteCarlo(horizon=8, centre=True)),
    "exact": aapi.AAPI(phase_length=25, evaluate=ExactQ(), norm="span"),
    "rlsvi": aapi.RLSVI(phase_length=50, horizon=6),
    "imed-rl": aapi.IMEDRL(),
    "oomd": aapi.OOMD(phase_length=50, window=6),
    "untuned, in lockstep": aapi.AAPI(exploration=(Discovery(), PosteriorSampling())),
    "sampled Q": aapi.AAPI(phase_length=40, evaluate=PosteriorSampled(), side_information=Predicted(), norm="span"),
}
RETURNS = MonteCarlo(horizon=9, ridge=0.8)
ON_WEIGHTS = {
    "aapi": aapi.AAPI(phase_length=60, eta=0.3, evaluate=RETURNS),
    "span": aapi.AAPI(phase_length=60, eta=0.3, evaluate=RETURNS, norm="span"),
    "sampled": aapi.AAPI(phase_length=60, eta=0.3, evaluate=RETURNS, num_sampled=3),
    "politex": aapi.Politex(phase_length=60, eta=20.0, evaluate=MonteCarlo(9, centre=True), schedule="sqrt"),
    "ftrl": aapi.AdaptiveFTRL(phase_length=60, eta=0.3, evaluate=RETURNS),
    "greedy": aapi.GreedyAPI(phase_length=60, evaluate=RETURNS),
    "rlsvi": aapi.RLSVI(phase_length=60, horizon=4, ridge=0.5, memory=150),
}
VECTOR_FEATURES = {"fourier": Fourier(1), "tiles": Tiles(2, 2), "radial": Radial(7)}


def arrays_of(result):
    """What the runs produced, tables or weights."""
    yield from (result.rewards, result.cumulated)
    if isinstance(result.next_policy, np.ndarray):
        yield from (result.final_policy, result.next_policy, result.record.q_hats)
    else:
        policy = result.next_policy
        yield from (policy.index, policy.constant, policy.differences)


def fingerprint(result, runs=slice(None)):
    """A hash of every bit that the runs produced."""
    parts = (np.ascontiguousarray(array[runs]).tobytes() for array in arrays_of(result))
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("mdp", [ergodic(6, 3), deep_sea(4)], ids=["ergodic", "deep-sea"])
def test_threads_chunks_and_company_change_nothing(name, mdp):
    def run(num_runs=20, **how):
        return aapi.run(ALGORITHMS[name], mdp, 520, num_runs, 3, record=True, **how)

    whole = run()
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 7, "threads": 2}, {"chunk": 20}):
        assert fingerprint(run(**how)) == fingerprint(whole), how
    assert fingerprint(run(1, first_run=17)) == fingerprint(whole, slice(17, 18))
    assert fingerprint(aapi.run(ALGORITHMS[name], mdp, 520, 20, 4, record=True)) != fingerprint(whole)


@pytest.mark.parametrize("name", ON_WEIGHTS)
def test_threads_chunks_and_company_change_nothing_on_weights(name):
    def run(num_runs=6, seed=3, **how):
        return aapi.run(ON_WEIGHTS[name], cartpole(), 500, num_runs, seed, features=Fourier(1), **how)

    whole = run()
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 4, "threads": 2}):
        assert fingerprint(run(**how)) == fingerprint(whole), how
    assert fingerprint(run(1, first_run=4)) == fingerprint(whole, slice(4, 5))
    assert fingerprint(run(seed=4)) != fingerprint(whole)


def all_fingerprints():
    found = {}
    for name, algorithm in ALGORITHMS.items():
        for label, mdp, features in (
            ("ergodic", ergodic(5, 3), None),
            ("sea", deep_sea(3), None),
            ("hot", deep_sea(3), OneHot()),
        ):
            result = aapi.run(algorithm, mdp, 230, 2, 1, features=features, record=True)
            found[f"{name} {label}"] = fingerprint(result)
    return found


def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "all_fingerprints") == all_fingerprints()


def all_fingerprints_on_weights():
    found = {}
    for name, algorithm in ON_WEIGHTS.items():
        for kind, features in VECTOR_FEATURES.items():
            found[f"{name} {kind}"] = fingerprint(aapi.run(algorithm, cartpole(), 250, 1, 1, features=features))
    return found


@pytest.mark.slow
def test_compiled_and_interpreted_give_the_same_bits_on_weights():
    assert interpreted(__file__, "all_fingerprints_on_weights") == all_fingerprints_on_weights()


def test_a_singular_neighbour_changes_no_bit():
    # Action 0 stays put: sharp policies have several classes, which the batched solver cannot do.
    transitions = np.zeros((3, 2, 3))
    transitions[:, 0], transitions[:, 1] = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    mdp = aapi.FiniteMDP(transitions, [[0.0, 0.1], [0.3, 0.0], [0.2, 0.5]])
    algorithm = aapi.AAPI(phase_length=1, evaluate=ExactQ(), eta=0.01, num_sampled=2)
    together, alone = (aapi.run(algorithm, mdp, 60, 8, chunk=chunk, record=True) for chunk in (8, 1))
    assert fingerprint(together) == fingerprint(alone)


def test_a_run_can_be_cut_at_any_grid():
    algorithm, mdp = ALGORITHMS["aapi"], ergodic(6, 3)
    every = aapi.run(algorithm, mdp, 520, 4, 3, grid=range(1, 521))
    steps = [1, 49, 50, 51, 333, 520]
    some = aapi.run(algorithm, mdp, 520, 4, 3, grid=steps)
    assert some.grid.tolist() == steps
    assert (some.next_policy == every.next_policy).all()
    assert some.cumulated == pytest.approx(every.cumulated[:, np.array(steps) - 1])


def test_the_curve_is_minus_the_running_average():
    result = aapi.run(ALGORITHMS["aapi"], ergodic(6, 3), 520, 4, 3, grid=range(1, 521))
    assert result.phase_ends.tolist() == [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 520]
    assert result.cumulated[:, 49] == pytest.approx(result.rewards[:, 0])
    assert -result.curve[:, result.phase_ends - 1] == pytest.approx(result.average_reward)
    assert result.regret[:, -1] == pytest.approx(520 * (result.optimal_gain - result.average_reward[:, -1]))
    assert result.average_reward_since(0.9) == pytest.approx((result.cumulated[:, -1] - result.cumulated[:, 467]) / 52)
