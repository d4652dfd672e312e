"""The edges: a defined result or a one-line error, never a NaN policy, never an empty regression."""

import contextlib
from dataclasses import dataclass, replace

import numpy as np
import pytest
from experience import rollout

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import Evaluation, ExactQ, MonteCarlo
from aapi.exploration import ThompsonSampling
from aapi.features import Coordinates, FeatureMatrix
from aapi.improvement import Adaptive, LearningRate, PreviousEstimate, SampledAdaptive, SideInformation, Zero
from aapi.learners import Phase
from aapi.mdp import FiniteMDP
from aapi.simulation import Stretch

MC = MonteCarlo(horizon=5)


def check(result):
    for policy in (result.final_policy, result.next_policy):
        assert (policy >= 0).all()
        assert policy.sum(axis=2) == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(result.rewards).all()
    return result


def all_algorithms(eta=1.0, length=20):
    return [
        aapi.AAPI(phase_length=length, eta=eta, evaluate=MC),
        aapi.AAPI(phase_length=length, eta=eta, evaluate=MC, norm="span"),
        aapi.AAPI(phase_length=length, eta=eta, evaluate=MC, num_sampled=2),
        aapi.AAPI(phase_length=length, eta=eta, evaluate=ExactQ()),
        aapi.AdaptiveFTRL(phase_length=length, eta=eta, evaluate=MC),
        aapi.Politex(phase_length=length, eta=eta, evaluate=MC),
        aapi.Politex(phase_length=length, eta=eta, evaluate=MC, schedule="sqrt"),
        aapi.Politex(phase_length=length, eta=eta, evaluate=MC, schedule="horizon"),
        aapi.GreedyAPI(phase_length=length, evaluate=MC),
        aapi.RLSVI(phase_length=length, horizon=4),
    ]


@pytest.mark.parametrize("side_information", [PreviousEstimate(), Zero()])
def test_identical_estimates_for_a_hundred_thousand_phases(side_information):
    q_hat = np.array([[[0.5, 0.25, -1.0], [0.0, 0.0, 0.0]]])
    learner = aapi.PolicyIteration(
        phase_length=1, evaluate=lambda policy, seen: q_hat, learning_rate=Adaptive(1.0),
        side_information=side_information,
    )  # fmt: skip
    simulation = simulator(FiniteMDP(np.full((2, 3, 2), 0.5), np.zeros((2, 3))))([0])
    state = learner.init(simulation.space, 1, 100_000)
    data = rollout(simulation, state.policy, 1)
    for _ in range(100_000):
        state, _ = learner.update(state, data)
    assert state.k == 100_000
    assert state.policy[0, 1].tolist() == [1 / 3] * 3
    assert state.policy[0, 0, 0] > 0.99
    assert state.total[0, 0, 0] == 50_000.0
    if isinstance(side_information, PreviousEstimate):
        assert state.surprise.root()[0, 0] == 1.0  # no surprise after the first phase
    else:
        assert state.surprise.root()[0, 0] == pytest.approx(100_000**0.5, rel=1e-10)


@pytest.mark.parametrize("eta", [1e-8, 1e8])
def test_extreme_temperatures(eta):
    for algorithm in all_algorithms(eta):
        result = check(aapi.run(algorithm, ergodic(5, 3), 500, 3))
        if eta == 1e8 and "Adaptive" in str(algorithm):
            assert result.next_policy == pytest.approx(1 / 3, abs=1e-5)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-160, 1e160, 1e300])
def test_extreme_rewards(size):
    mdp = garnet(6, 2, 3)
    extreme = FiniteMDP(mdp.transitions, mdp.rewards / np.abs(mdp.rewards).max() * size)
    for algorithm in all_algorithms():
        check(aapi.run(algorithm, extreme, 400, 2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-160, 1e160, 1e300])
def test_extreme_rewards_without_tuning(size):
    mdp = garnet(6, 2, 3)
    extreme = FiniteMDP(mdp.transitions, mdp.rewards / np.abs(mdp.rewards).max() * size)
    check(aapi.run(aapi.AAPI(), extreme, 1000, 2))
    noisy = FiniteMDP(extreme.transitions, extreme.rewards, reward_spread=0.25 * size)
    for algorithm in (aapi.AAPI(), aapi.AAPI(exploration=(ThompsonSampling(),))):
        check(aapi.run(algorithm, noisy, 1000, 2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("steps", [1, 2, 49, 50, 51, 2000])
def test_one_state_or_one_action_without_tuning(steps):
    lonely = check(aapi.run(aapi.AAPI(), FiniteMDP(np.ones((1, 1, 1)), [[2.5]]), steps, 2))
    assert (lonely.average_reward[:, -1] == 2.5).all()
    check(aapi.run(aapi.AAPI(), FiniteMDP(np.ones((1, 3, 1)), [[0.0, 1.0, -1.0]]), steps, 2))
    check(aapi.run(aapi.AAPI(), FiniteMDP(np.full((3, 1, 3), 1 / 3), [[0.0], [1.0], [2.0]]), steps, 2))
    check(aapi.run(aapi.AAPI(), river_swim(6), steps, 2))


def test_rewards_whose_sum_overflows_are_refused():
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), np.full((2, 2), 1e302))
    with pytest.raises(InvalidInput, match="no longer finite: scale the rewards down"):
        aapi.run(aapi.Politex(phase_length=1000, evaluate=MonteCarlo(horizon=1000)), mdp, 10**7, 1)


def test_one_state_and_one_action():
    for algorithm in all_algorithms():
        lonely = check(aapi.run(algorithm, FiniteMDP(np.ones((1, 1, 1)), [[2.5]]), 100, 2))
        assert (lonely.average_reward == 2.5).all()
        check(aapi.run(algorithm, FiniteMDP(np.ones((1, 3, 1)), [[0.0, 1.0, -1.0]]), 100, 2))
        check(aapi.run(algorithm, FiniteMDP(np.full((3, 1, 3), 1 / 3), [[0.0], [1.0], [2.0]]), 100, 2))


def test_pairs_that_are_never_visited_have_the_value_zero():
    # From state 0 nothing leads to state 1.
    mdp = FiniteMDP([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]], [[1.0, 2.0], [5.0, 5.0]])
    result = check(aapi.run(aapi.AAPI(phase_length=20, evaluate=MC), mdp, 200, 2, record=True))
    assert (result.record.q_hats[:, :, 1] == 0).all()
    assert (result.next_policy[:, 1] == 0.5).all()


def test_phases_longer_than_the_run_leave_the_first_policy():
    for algorithm in all_algorithms(length=1000):
        result = check(aapi.run(algorithm, ergodic(5, 2), 100, 2, record=True))
        assert result.phase_ends.tolist() == [100]
        assert (result.next_policy == 0.5).all()
        assert result.record.q_hats.shape == (2, 0, 5, 2)
        assert result.record.temperatures.shape == (2, 0, 5)


def test_steps_left_over_are_spent_with_the_last_policy():
    for algorithm in all_algorithms():
        result = check(aapi.run(algorithm, ergodic(5, 2), 109, 2))
        assert result.phase_ends.tolist() == [20, 40, 60, 80, 100, 109]
        assert (result.final_policy == result.next_policy).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: aapi.AAPI(phase_length=4, evaluate=MC), "horizon must be at most the phase length, 4, not 5"),
        (lambda: aapi.AAPI(phase_length=0, evaluate=MC), "phase_length must be at least 1, not 0"),
        (lambda: aapi.AAPI(phase_length=2.5, evaluate=MC), "phase_length must be a whole number, not 2.5"),
        (lambda: aapi.AAPI(phase_length=9, evaluate=MC, eta=0.0), "eta must be a finite number larger than 0, not 0.0"),
        (
            lambda: aapi.AAPI(phase_length=9, evaluate=MC, eta=np.nan),
            "eta must be a finite number larger than 0, not nan",
        ),
        (lambda: aapi.AAPI(phase_length=9, evaluate=MC, norm="two"), "norm must be sup or span, not 'two'"),
        (lambda: aapi.AAPI(phase_length=9, evaluate=MC, num_sampled=0), "num_sampled must be at least 1, not 0"),
        (
            lambda: aapi.PolicyIteration(
                phase_length=9, evaluate=MC, learning_rate=SampledAdaptive(1.0, "sup", 1, True)
            ),
            "num_sampled must be at least 2, not 1",
        ),
        (lambda: aapi.AAPI(phase_length=9, evaluate=MonteCarlo(horizon=0)), "horizon must be at least 1, not 0"),
        (
            lambda: aapi.Politex(phase_length=9, evaluate=MonteCarlo(horizon=1, ridge=-1.0)),
            "ridge must be a finite number",
        ),
        (
            lambda: aapi.Politex(phase_length=9, evaluate=MC, eta=-1.0),
            "eta must be a finite number at least 0, not -1.0",
        ),
        (
            lambda: aapi.Politex(phase_length=9, evaluate=MC, schedule="x"),
            "schedule must be constant or sqrt or horizon",
        ),
        (lambda: aapi.RLSVI(phase_length=9, horizon=1, ridge=0.0), "ridge must be a finite number larger than 0"),
        (
            lambda: aapi.RLSVI(phase_length=9, horizon=1, form="x"),
            "form must be relative or finite-horizon or discounted",
        ),
        (lambda: aapi.RLSVI(phase_length=9, horizon=0), "horizon must be at least 1, not 0"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(InvalidInput) as error:
        aapi.run(make(), ergodic(5, 2), 100)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_steps": 0}, "num_steps must be at least 1, not 0"),
        ({"num_runs": 0}, "num_runs must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"chunk": -1}, "chunk must be at least 1, not -1"),
        ({"chunk": 0}, "chunk must be at least 1, not 0"),
        ({"grid": [0, 5]}, "grid must be whole numbers in 1..100"),
        ({"grid": [101]}, "grid must be whole numbers in 1..100"),
        ({"features": Coordinates()}, "coordinates features need a model with coordinates"),
        ({"features": FeatureMatrix(np.ones((4, 2)))}, "a feature matrix has the shape (5, features)"),
        ({"features": FeatureMatrix(np.zeros((5, 2)))}, "has no entry other than zero"),
        ({"features": FeatureMatrix(np.zeros((5, 0)))}, "has no entry other than zero"),
        ({"features": FeatureMatrix(np.ones((5, 2)) * 1j)}, "must be a rectangular array of real numbers"),
        ({"features": FeatureMatrix([[1.0], [2.0, 3.0]])}, "must be a rectangular array of real numbers"),
        ({"features": FeatureMatrix(np.full((5, 2), np.nan))}, "holds a value that is not a finite number"),
    ],
)
def test_wrong_arguments_of_run_are_named(arguments, message):
    with pytest.raises(InvalidInput) as error:
        aapi.run(aapi.AAPI(phase_length=10, evaluate=MC), ergodic(5, 2), **{"num_steps": 100} | arguments)
    assert message in str(error.value)


def test_features_of_any_scale_are_told_from_dependent_ones():
    algorithm = aapi.AAPI(phase_length=60, evaluate=MonteCarlo(horizon=5, ridge=0.0))
    for scale in (1e-7, 1e7, 1e100):
        check(aapi.run(algorithm, ergodic(5, 2), 600, features=FeatureMatrix(np.c_[np.ones(5), np.arange(5) * scale])))
    for matrix in (np.c_[np.ones(5), np.ones(5)], np.c_[np.ones(5), np.full(5, 1e200)]):
        with pytest.raises(InvalidInput, match="linearly dependent or too large"):
            aapi.run(algorithm, ergodic(5, 2), 600, features=FeatureMatrix(matrix))
    with pytest.raises(InvalidInput, match="linearly dependent or too large"):
        aapi.run(
            aapi.RLSVI(phase_length=60, horizon=3), ergodic(5, 2), 600, features=FeatureMatrix(np.full((5, 1), 1e200))
        )


def test_dependent_features_without_a_ridge_are_refused():
    algorithm = aapi.AAPI(phase_length=60, evaluate=MonteCarlo(horizon=5, ridge=0.0))
    with pytest.raises(InvalidInput, match="linearly dependent or too large: give a larger ridge"):
        aapi.run(algorithm, deep_sea(4), 600)


def optimist(leader):
    """M_{k+1} = 1 everywhere."""
    return np.ones_like(leader.q_hat)


def immediate_rewards(policy, seen):
    """Q̂ = r, whatever the policy."""
    return np.broadcast_to(seen.space.model.rewards, seen.space.shape(seen.runs)).copy()


def hot(k, surprise):
    """η = 2 everywhere."""
    return np.full_like(surprise.last, 2.0)


def part_of(base, function):
    """A part made of a function: itself; or an object of a class with `__call__` alone, or of one derived from ours."""
    return type("Own", (base,), {"__call__": staticmethod(function)})() if base else function


@pytest.mark.parametrize(
    "bases",
    [(None, None, None), (object, object, object), (Evaluation, LearningRate, SideInformation)],
    ids=["functions", "classes", "subclasses"],
)
def test_a_part_of_ones_own(bases):
    mdp = FiniteMDP(np.full((2, 2, 2), 0.5), [[0.0, 1.0], [0.0, 0.0]])
    evaluate, rate, guess = map(part_of, bases, (immediate_rewards, hot, optimist))
    learner = aapi.PolicyIteration(phase_length=10, evaluate=evaluate, learning_rate=rate, side_information=guess)
    result = check(aapi.run(learner, mdp, 30, 2))
    assert result.next_policy[:, 0, 1] == pytest.approx(1 / (1 + np.exp(-3 / 2)))


def test_a_part_that_returns_the_wrong_shape_is_named():
    parts = {"evaluate": MC, "learning_rate": Adaptive(), "side_information": Zero()}
    for part, message in (
        ("evaluate", r"the evaluation of phase 1 must return an array of shape \(2, 5, 2\)"),
        ("side_information", r"side information must return an array of shape \(2, 5, 2\)"),
        ("learning_rate", r"a learning rate must return a number, .* or an array of shape \(2, 5\)"),
    ):
        learner = aapi.PolicyIteration(phase_length=10, **parts | {part: lambda *_: np.zeros((1, 2))})
        with pytest.raises(InvalidInput, match=message):
            aapi.run(learner, ergodic(5, 2), 100, 2)


def test_an_evaluation_may_use_its_array_again():
    class Reusing(MonteCarlo):
        """Returns the same array each time."""

        room = {}  # noqa: RUF012 - on purpose

        def __call__(self, policy, seen):
            shape = seen.space.shape(seen.runs)
            room = self.room.setdefault(shape, np.empty(shape))
            room[:] = super().__call__(policy, seen)
            return room

    fresh, reused, function = (
        aapi.run(aapi.AAPI(phase_length=20, evaluate=evaluate), ergodic(5, 2), 300, 2, record=True)
        for evaluate in (MonteCarlo(horizon=5), Reusing(horizon=5), Reusing(horizon=5).__call__)
    )
    for other in (reused, function):
        assert (fresh.next_policy == other.next_policy).all()
        assert (fresh.record.q_hats == other.record.q_hats).all()


def test_parts_that_return_nonsense_are_named():
    for part, value, message in (
        ("evaluate", np.nan, "the evaluation of phase 1 returned a value that is not a finite number"),
        ("evaluate", np.inf, "the evaluation of phase 1 returned a value that is not a finite number"),
        ("learning_rate", -1.0, "a learning rate must return temperatures of at least 0, not -1.0"),
        ("learning_rate", np.nan, "a learning rate must return temperatures of at least 0, not nan"),
    ):
        own = {
            "evaluate": lambda policy, seen, value=value: np.full_like(policy, value),
            "learning_rate": lambda k, surprise, value=value: np.full_like(surprise.last, value),
        }
        parts = {"evaluate": MC, "learning_rate": Adaptive()} | {part: own[part]}
        with pytest.raises(InvalidInput, match=message):
            aapi.run(aapi.PolicyIteration(phase_length=10, **parts), ergodic(5, 2), 100, 2)


@dataclass(frozen=True)
class OwnState:
    """Of a learner that follows one policy for ever."""

    k: int
    memories: dict
    start: int
    policy: np.ndarray


@dataclass(frozen=True)
class Own(aapi.Learner):
    """Follows the uniform policy in stretches of these lengths. changed: what its phases say instead of the truth."""

    lengths: tuple
    changed: object = staticmethod(lambda phase: phase)

    def init(self, space, runs, num_steps=None, gap=0):
        return OwnState(0, {}, 0, space.uniform(runs))

    def act(self, state):
        assert state.k < 10, "it goes on without end"
        return Stretch(state.k + 1, state.start, self.lengths[state.k % len(self.lengths)], state.policy)

    def update(self, state, data):
        after = replace(state, k=state.k + 1, start=data.time)
        return after, self.changed(Phase(after.k, state.policy, data, state.policy))


def half(phase):
    """The phase without the second half of its steps."""
    steps = phase.data.steps // 2
    states, actions, rewards = (getattr(phase.data, name)[:, :steps] for name in ("states", "actions", "rewards"))
    sums = rewards.sum(axis=1, keepdims=True)
    changed = {"states": states, "actions": actions, "rewards": rewards, "reward_sums": sums}
    return replace(phase, data=replace(phase.data, **changed, part_ends=np.array([steps])))


def test_learners_that_do_not_account_for_their_steps_are_refused():
    assert aapi.run(Own((60, 40)), ergodic(5, 2), 100).phase_ends.tolist() == [60, 100]
    assert aapi.run(Own((60,)), ergodic(5, 2), 100).phase_ends.tolist() == [60, 100]
    with pytest.raises(InvalidInput, match="must return a Phase for every stretch, with its data"):
        aapi.run(Own((60, 40), half), ergodic(5, 2), 100)


@pytest.mark.parametrize("steps", [0, -1, 2.5])
def test_stretches_that_lead_nowhere_are_refused(steps):
    with pytest.raises(InvalidInput) as error:
        aapi.run(Own((60, steps)), ergodic(5, 2), 100)
    assert str(steps) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("policy", [np.nan, -0.5, 0.1])
def test_policies_that_are_no_probabilities_are_refused(policy):
    simulation = simulator(ergodic(5, 2))([0])
    with pytest.raises(InvalidInput, match="policies must be probabilities"):
        rollout(simulation, np.full((1, 5, 2), policy), 5)
    with pytest.raises(InvalidInput, match=r"policies must have the shape \(1, 5, 2\)"):
        rollout(simulation, np.full((1, 5, 3), 1 / 3), 5)


def test_numbers_of_numpy_are_numbers():
    for eta, ridge in ((np.float32(0.5), np.int64(1)), (np.int64(1), 1)):
        check(
            aapi.run(
                aapi.AAPI(phase_length=10, eta=eta, evaluate=MonteCarlo(horizon=5, ridge=ridge)), ergodic(5, 2), 50
            )
        )


def test_progress_adds_up(monkeypatch):
    done = []

    @contextlib.contextmanager
    def bar(label, total, *, show):
        assert show
        yield done.append
        assert sum(done) == total

    monkeypatch.setattr("aapi.batch.progress_bar", bar)
    aapi.run(aapi.AAPI(phase_length=10, evaluate=MC), ergodic(5, 2), 105, 7, threads=2, progress=True)
    assert sum(done) == 735


def test_an_error_in_one_chunk_ends_the_others():
    class Brittle:
        calls = 0

        def __call__(self, policy, seen):
            Brittle.calls += 1
            if seen.runs == 1:  # the chunk of the last, odd run
                raise RuntimeError("broken")
            return np.zeros_like(policy)

    algorithm = aapi.AAPI(phase_length=1, evaluate=Brittle())
    with pytest.raises(RuntimeError, match="broken"):
        aapi.run(algorithm, ergodic(5, 2), 100_000, 3, threads=2, chunk=2)
    assert Brittle.calls < 50_000


def test_algorithms_are_data():
    one, two = (aapi.AAPI(phase_length=10, eta=0.3, evaluate=MonteCarlo(horizon=5)) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert "Adaptive(eta=0.3, norm='sup')" in repr(one)
    assert one != aapi.AAPI(phase_length=10, eta=0.4, evaluate=MonteCarlo(horizon=5))


def test_progress_is_shown_on_standard_error_only(capfd):
    aapi.run(aapi.AAPI(phase_length=10, evaluate=MC), ergodic(5, 2), 100, 2, progress=True)
    assert capfd.readouterr().out == ""
