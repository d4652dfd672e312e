"""Learning rates and side information of one's own: functions, and objects that can be called."""

import math

import numpy as np
import pytest
from experience import assert_same, outcome

import aapi
from aapi.environments import cartpole, ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import LSTD, MonteCarlo
from aapi.features import Fourier
from aapi.improvement import (
    Adaptive,
    ExponentialAverage,
    Predicted,
    PreviousEstimate,
    Scheduled,
    Zero,
    as_learning_rate,
    as_side_information,
)

PROBLEMS = {"tables": (ergodic(5, 2), None), "vectors": (cartpole(), Fourier(order=1))}
RUNS = 3


def learner(learning_rate, side_information=PreviousEstimate(), evaluate=MonteCarlo(5)):  # noqa: B008 - frozen
    return aapi.PolicyIteration(
        phase_length=60, evaluate=evaluate, learning_rate=learning_rate, side_information=side_information
    )


def adaptive(k, surprise):
    return surprise.root(0.3 * math.sqrt(2.0))


class Growing:
    """`__call__` alone, and nothing inherited."""

    def __call__(self, k, surprise):
        return 2.0 * math.sqrt(k)


RATES = {
    "function": (adaptive, Adaptive(0.3)),
    "class": (Growing(), Scheduled(2.0, "sqrt")),
    "lambda": (lambda k, surprise: 3, Scheduled(3.0)),
    "a number for each run": (lambda k, surprise: np.full(RUNS, 3.0), Scheduled(3.0)),
    "zero": (lambda k, surprise: 0.0, Scheduled(0.0)),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", RATES)
def test_a_function_or_any_callable_object_is_a_learning_rate(name, problem):
    own, rate = RATES[name]
    found, expected = (outcome(learner(each), *PROBLEMS[problem], runs=RUNS) for each in (own, rate))
    assert_same(found, expected)


def test_on_tables_a_learning_rate_may_differ_from_state_to_state():
    def rate(k, surprise):
        return np.full(surprise.last.shape, 3.0)

    found, expected = (outcome(learner(each), ergodic(5, 2), runs=RUNS) for each in (rate, Scheduled(3.0)))
    assert_same(found, expected)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_temperatures_that_make_no_sense_are_refused(problem):
    for wrong in (-1.0, math.nan, np.full(RUNS + 1, 1.0), np.array([1.0, 1.0, -1.0])):
        with pytest.raises(InvalidInput, match="learning rate"):
            outcome(learner(lambda k, surprise, wrong=wrong: wrong), *PROBLEMS[problem], runs=RUNS)


def previous(leader):
    return leader.q_hat


class Halfway:
    """`__call__` alone, and nothing inherited."""

    def __call__(self, leader):
        return leader.q_hat if leader.k == 1 else leader.prediction + 0.5 * (leader.q_hat - leader.prediction)


def predicted(leader):
    return leader.evaluate(leader.follow(leader.q_hat))


GUESSES = {
    "function": (previous, PreviousEstimate()),
    "class": (Halfway(), ExponentialAverage(0.5)),
    "lambda": (lambda leader: np.zeros_like(leader.q_hat).tolist(), Zero()),
    "of another policy": (predicted, Predicted()),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", GUESSES)
def test_a_function_or_any_callable_object_is_side_information(name, problem):
    own, guess = GUESSES[name]
    evaluate = LSTD(reuse="window", window=100) if isinstance(guess, Predicted) else MonteCarlo(5)
    found, expected = (
        outcome(learner(Adaptive(0.3), each, evaluate), *PROBLEMS[problem], runs=RUNS) for each in (own, guess)
    )
    assert_same(found, expected)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_side_information_of_another_shape_is_refused(problem):
    with pytest.raises(InvalidInput, match=r"^side information must return an array of shape \(3, \d+, 2\), .*, not"):
        outcome(learner(Adaptive(), lambda leader: [1.0, 2.0]), *PROBLEMS[problem], runs=RUNS)


@pytest.mark.parametrize("part", [Growing, Adaptive, 0.5, "adaptive", None])
def test_what_cannot_be_called_is_no_learning_rate(part):
    with pytest.raises(InvalidInput, match=r"^learning_rate must be one such as Adaptive\(\), or a function, not "):
        as_learning_rate(part)


@pytest.mark.parametrize("part", [Halfway, PreviousEstimate, 0.5, "previous", None])
def test_what_cannot_be_called_is_no_side_information(part):
    line = r"^side_information must be such as PreviousEstimate\(\), or a function, not "
    with pytest.raises(InvalidInput, match=line):
        as_side_information(part)
