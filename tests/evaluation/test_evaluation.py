"""What holds for every evaluation: a function is one, too, and none of them changes what is remembered."""

import copy

import numpy as np
import pytest
from experience import Past, assert_same, outcome, rollout, shape_of, uniform

import aapi
from aapi import evaluation
from aapi.batch import simulator
from aapi.environments import cartpole, ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import (
    LSPE,
    LSTD,
    Automatic,
    Estimate,
    Evaluation,
    ExactQ,
    ImportanceMonteCarlo,
    MonteCarlo,
    PosteriorSampled,
    SelfConsistent,
    as_evaluation,
    estimate,
)
from aapi.features import Fourier
from aapi.memory import CountTransitions

PROBLEMS = {"tables": (ergodic(5, 2), None), "vectors": (cartpole(), Fourier(order=1))}
RIDGE = 0.5


def mean_rewards(policy, seen):
    """A regression of rewards on features, which is Monte Carlo with a horizon of 1."""
    return seen.space.fit(seen.data.states, seen.data.actions, seen.data.rewards, RIDGE)


class MeanRewards:
    """`__call__` alone, and nothing inherited."""

    def __call__(self, policy, seen):
        return mean_rewards(policy, seen)


class Buffered:
    """Returns the same array in every phase."""

    def __init__(self, wrap=lambda array: array):
        self.array, self.wrap = None, wrap

    def __call__(self, policy, seen):
        found = mean_rewards(policy, seen)
        self.array = found if self.array is None else self.array
        self.array[:] = found
        return self.wrap(self.array)


class BufferedSubclass(Evaluation):
    """The same as a subclass."""

    def __init__(self):
        self.part = Buffered()

    def __call__(self, policy, seen):
        return self.part(policy, seen)


# Made anew for each test: some have arrays of their own.
OWN = {
    "function": lambda: mean_rewards,
    "lambda": lambda: lambda policy, seen: mean_rewards(policy, seen).tolist(),
    "class": MeanRewards,
    "estimate": lambda: lambda policy, seen: Estimate(mean_rewards(policy, seen)),
    "one array for all phases": Buffered,
    "one array in estimates": lambda: Buffered(Estimate),
    "one array in a subclass": BufferedSubclass,
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("own", OWN)
def test_a_function_or_any_callable_object_is_an_evaluation(own, problem):
    env, features = PROBLEMS[problem]
    found = outcome(aapi.AAPI(phase_length=60, evaluate=OWN[own]()), env, features)
    assert_same(found, outcome(aapi.AAPI(phase_length=60, evaluate=MonteCarlo(1, ridge=RIDGE)), env, features))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_function_evaluates_a_single_phase(problem):
    simulation = simulator(*PROBLEMS[problem])(range(2))
    policy = uniform(simulation)
    data = rollout(simulation, policy, 80)
    found = estimate(mean_rewards, simulation.space, policy, data)
    assert (found.q_hat == estimate(MonteCarlo(1, ridge=RIDGE), simulation.space, policy, data).q_hat).all()
    assert found.q_hat.any()
    assert found.conditioning is found.rank is None  # a regression tells neither


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_phase_has_the_conditioning_of_a_function_that_tells_it(problem):
    def evaluate(policy, seen):
        return Estimate(mean_rewards(policy, seen), conditioning=seen.data.rewards.sum(axis=1) + 1000.0)

    simulation = simulator(*PROBLEMS[problem])(range(2))
    for phase in aapi.play(aapi.AAPI(phase_length=60, evaluate=evaluate), simulation, 180):
        assert (phase.conditioning == phase.data.rewards.sum(axis=1) + 1000.0).all()


def test_a_subclass_may_remember():
    class Visits(Evaluation):
        """n(x, a), of all phases: the array of the memory itself, which the next phase adds to."""

        memory = CountTransitions()

        def __call__(self, policy, seen):
            return seen.recall(self.memory).visits

    visits = np.zeros((2, 5, 2))
    for phase in aapi.play(aapi.AAPI(phase_length=60, evaluate=Visits()), simulator(ergodic(5, 2))(range(2)), 300):
        before = visits.copy()  # so that it was M_k
        for run in range(2):
            np.add.at(visits[run], (phase.data.states[run], phase.data.actions[run]), 1.0)
        assert (phase.q_hat == visits).all()
        assert (phase.surprise == (visits - before).max(axis=2)).all()
    assert visits.sum() == 2 * 300


@pytest.mark.parametrize("part", [MeanRewards, MonteCarlo, 5, "montecarlo", None])
def test_what_cannot_be_called_is_no_evaluation(part):
    with pytest.raises(
        InvalidInput, match=r"^evaluate must be an evaluation such as SelfConsistent\(\), or a function"
    ):
        as_evaluation(part)


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (
            "tables",
            r"^the evaluation of phase 1 must return an array of shape \(3, 5, 2\), \(runs, states, actions\), not",
        ),
        (
            "vectors",
            r"^the evaluation of phase 1 must return an array of shape \(3, \d+, 2\), \(runs, features, actions\), not",
        ),
    ],
)
def test_arrays_of_another_shape_are_refused(problem, line):
    for evaluate in (lambda policy, seen: [0.0, 1.0], lambda policy, seen: Estimate(np.zeros(2))):
        with pytest.raises(InvalidInput, match=line):
            outcome(aapi.AAPI(phase_length=60, evaluate=evaluate), *PROBLEMS[problem])


@pytest.mark.parametrize("more", [{"conditioning": np.ones(2)}, {"conditioning": 3.0}, {"rank": np.ones((3, 1))}])
def test_what_is_told_of_each_run_has_a_number_for_each_run(more):
    def evaluate(policy, seen):
        return Estimate(seen.space.zeros(seen.runs), **more)

    line = r"^as its (conditioning|rank), the evaluation of phase 1 must return a number for each of 3 runs, not"
    with pytest.raises(InvalidInput, match=line):
        outcome(aapi.AAPI(phase_length=60, evaluate=evaluate), *PROBLEMS["tables"])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_values_that_are_not_finite_are_refused(problem):
    env, features = PROBLEMS[problem]

    def evaluate(policy, seen):
        return mean_rewards(policy, seen) * np.nan

    with pytest.raises(InvalidInput, match=r"^the evaluation of phase 1 returned a value that is not a finite number$"):
        outcome(aapi.AAPI(phase_length=60, evaluate=evaluate), env, features)


PROJECTED = [
    method(trace=trace, reuse=reuse, window=70, ridge=0.3)
    for method in (LSTD, LSPE)
    for trace in (0.0, 0.5)
    for reuse in ("all", "window", "phase")
]
EVERY = [
    MonteCarlo(5),
    MonteCarlo(5, centre=True),
    ImportanceMonteCarlo(5),
    ImportanceMonteCarlo(5, window=None, centre=True),
    ExactQ(),
    SelfConsistent(),
    SelfConsistent(bonus=1.0),
    PosteriorSampled(),
    Automatic(),
    *PROJECTED,
]
FOR_VECTORS = [*EVERY[:4], Automatic(), *(each for each in PROJECTED if each.reuse != "all")]


def test_every_evaluation_is_among_them():
    parts = [getattr(evaluation, name) for name in evaluation.__all__]
    every = {part for part in parts if isinstance(part, type) and issubclass(part, Evaluation)} - {Evaluation}
    assert {type(each) for each in EVERY} == every


def arrays_of(value):
    """Every array of an object; but not the random streams, which a draw moves on."""
    if isinstance(value, np.ndarray):
        return {"table": value}
    return {name: array for name, array in vars(value).items() if isinstance(array, np.ndarray) and name != "streams"}


@pytest.mark.parametrize(
    ("problem", "evaluate"),
    [*(("tables", each) for each in EVERY), *(("vectors", each) for each in FOR_VECTORS)],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
def test_an_evaluation_changes_nothing_that_it_looks_at(problem, evaluate):
    simulation = simulator(*PROBLEMS[problem])(range(2))
    evaluate = evaluate.for_space(simulation.space)
    past, target = Past.of(simulation, evaluate), uniform(simulation)
    for _ in range(2):
        past.roll(simulation, uniform(simulation), 60)
    if evaluate.off_policy:
        target = simulation.space.softmax(np.random.default_rng(1).normal(size=shape_of(simulation)), 2.0)
    memories = list(past.memories.values())
    assert len(memories) == (evaluate.memory is not None)
    before = [copy.deepcopy(arrays_of(value)) for value in (past.data, target, *memories)]
    found = past.estimate(evaluate, target)
    assert found.q_hat.any()
    assert list(past.memories.values()) == memories  # the same objects
    for kept, value in zip(before, (past.data, target, *memories), strict=True):
        now = arrays_of(value)
        assert now.keys() == kept.keys() != set()
        for name, array in now.items():
            assert array.dtype == kept[name].dtype
            assert (array == kept[name]).all()
            assert not np.shares_memory(found.q_hat, array)
    if not isinstance(evaluate, PosteriorSampled):  # which draws anew
        assert (past.q_hat(evaluate, target) == found.q_hat).all()
