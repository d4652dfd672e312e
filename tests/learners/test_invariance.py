"""What AAPI promises and POLITEX does not: it does not care how rewards are scaled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet, river_swim
from aapi.evaluation import MonteCarlo
from aapi.exploration import ThompsonSampling
from aapi.improvement import Adaptive
from aapi.mdp import FiniteMDP


def scaled(mdp, factor):
    return FiniteMDP(
        mdp.transitions, mdp.rewards * factor, initial_state=mdp.initial_state, coordinates=mdp.coordinates
    )


@pytest.mark.parametrize("mdp", [ergodic(10, 2), deep_sea(5), garnet(15, 3, 4)], ids=["ergodic", "deep-sea", "garnet"])
@pytest.mark.parametrize("norm", ["sup", "span"])
@pytest.mark.parametrize("centre", [False, True])
def test_aapi_is_blind_to_powers_of_two_to_the_bit(mdp, norm, centre):
    algorithm = aapi.AAPI(phase_length=60, eta=0.3, norm=norm, evaluate=MonteCarlo(horizon=10, centre=centre))
    plain = aapi.run(algorithm, mdp, 3000, 5)
    for exponent in (-20, 7, 300):
        other = aapi.run(algorithm, scaled(mdp, 2.0**exponent), 3000, 5)
        assert (other.next_policy == plain.next_policy).all()
        assert (other.rewards == plain.rewards * 2.0**exponent).all()


@pytest.mark.parametrize("mdp", [river_swim(6), deep_sea(5), garnet(15, 3, 4)], ids=["river", "deep-sea", "garnet"])
def test_without_tuning_it_is_blind_to_any_scale(mdp):
    plain = aapi.run(aapi.AAPI(), mdp, 5000, 5)
    for factor in (2.0**-5, 2.0**3, 2.0**40, 2.0**300, 0.01, 100.0):
        other = aapi.run(aapi.AAPI(), scaled(mdp, factor), 5000, 5)
        if factor in (0.01, 100.0):  # rounding, which no draw of an action has noticed
            assert other.next_policy == pytest.approx(plain.next_policy, abs=1e-6)
            assert other.rewards == pytest.approx(plain.rewards * factor, rel=1e-9)
        else:
            assert (other.next_policy == plain.next_policy).all()
            assert (other.rewards == plain.rewards * factor).all()


@pytest.mark.parametrize("exponent", [-5, 3, 40])
def test_noise_of_rewards_may_be_of_any_scale(exponent):
    def noisy(factor):
        mdp = garnet(15, 3, 4)
        return FiniteMDP(mdp.transitions, mdp.rewards * factor, reward_spread=0.25 * factor)

    for algorithm in (aapi.AAPI(), aapi.AAPI(exploration=(ThompsonSampling(),))):
        plain, other = (aapi.run(algorithm, noisy(factor), 3000, 2) for factor in (1.0, 2.0**exponent))
        assert (other.next_policy == plain.next_policy).all()
        assert (other.phase_ends == plain.phase_ends).all()
        assert (other.rewards == plain.rewards * 2.0**exponent).all()


def test_politex_is_not():
    algorithm = aapi.Politex(phase_length=60, eta=1.0, evaluate=MonteCarlo(horizon=10))
    plain, other = (aapi.run(algorithm, scaled(ergodic(10, 2), factor), 3000, 5) for factor in (1.0, 2.0))
    assert (other.next_policy != plain.next_policy).any()


simulate = simulator(ergodic(3, 4))


@given(st.integers(0, 2**32 - 1))
def test_span_policies_are_blind_to_constants(seed):
    random = np.random.default_rng(seed)
    q_hats = random.integers(-64, 64, size=(6, 2, 3, 4)) / 8.0
    constants = random.integers(-1000, 1000, size=(6, 2, 3, 1)) * 1.0

    def policies(sequence, norm):
        """What follows if phases are evaluated like this."""
        given = iter(sequence)
        learner = aapi.PolicyIteration(
            phase_length=1, evaluate=lambda policy, seen: next(given), learning_rate=Adaptive(0.5, norm)
        )
        return np.array([phase.next_policy for phase in aapi.play(learner, simulate([0, 1]), 6)])

    # Eighths and whole numbers add without rounding, so the bits must agree.
    assert (policies(q_hats, "span") == policies(q_hats + constants, "span")).all()
    assert (policies(q_hats, "sup") != policies(q_hats + constants, "sup")).any()
