"""LSTD and LSPE against dense solutions from the recorded steps, against exact values, and against each other."""

import math

import numpy as np
import pytest
from experience import Past, random_policies, shape_of, transitions, uniform
from support import interpreted

import aapi
from aapi.approximation import Linear, LinearPolicy
from aapi.approximation.projected_equations import rank_of
from aapi.batch import simulator
from aapi.environments import access_control, cartpole, deep_sea, ergodic, garnet
from aapi.errors import InvalidInput, TooLarge
from aapi.evaluation import LSPE, LSTD, SelfConsistent, exact_q_values
from aapi.features import Aggregation, Coordinates, FeatureMatrix, Fourier, OneHot
from aapi.features.basis import LINEAR, TILES, Basis
from aapi.improvement import Predicted
from aapi.kernels.linalg import aligned_zeros
from aapi.learners import Session
from aapi.simulation import PhaseData

RUNS, WINDOW, RIDGE = 2, 150, 0.3


def in_groups(states, groups):
    return np.eye(groups)[np.arange(states) * groups // states]


def cells(size):
    return np.array([np.concatenate([np.eye(size)[r], np.eye(size)[c]]) for r, c in np.ndindex(size, size)])


PAIRS = np.random.default_rng(3).normal(size=(6, 3, 4))


def of_state(matrix, num_actions):
    return lambda x, a: np.kron(np.eye(num_actions)[a], matrix[x])


# name: problem, features, φ(x, a) as a function
PROBLEMS = {
    "one-hot": (ergodic(5, 2), OneHot(), of_state(np.eye(5), 2)),
    "groups": (ergodic(6, 3), Aggregation(3), of_state(in_groups(6, 3), 3)),
    "coordinates": (deep_sea(3), Coordinates(), of_state(cells(3), 2)),
    "pair matrix": (garnet(6, 3, 4), FeatureMatrix(PAIRS), lambda x, a: PAIRS[x, a]),
    "queue": (access_control(3), OneHot(), of_state(np.eye(access_control(3).num_states), 2)),
}


def direct(steps, phi, policy, trace, ridge):
    """w and g from the formulas, by NumPy's solver. steps: (x, a, r, x')."""
    d, actions = len(phi(0, 0)), policy.shape[1]
    z, rho, total = np.zeros(d), np.zeros(d), np.zeros(d)
    matrix, rhs = ridge * np.eye(d), np.zeros(d)
    for x, a, r, after in steps:
        z = trace * z + phi(x, a)
        matrix += np.outer(z, phi(x, a) - sum(policy[after, b] * phi(after, b) for b in range(actions)))
        rhs += r * z
        total += z
        rho += phi(x, a) / len(steps)
    everything = np.block([[matrix, total[:, None]], [rho[None], np.zeros((1, 1))]])
    return np.linalg.solve(everything, np.append(rhs, 0.0))


def collect(simulation, evaluations, phases=4, length=60):
    """Phases of several policies, remembered for the evaluations; and all steps of each run."""
    past = Past.of(simulation, *evaluations)
    steps = [[] for _ in range(shape_of(simulation)[0])]
    for k in range(phases):
        data = past.roll(simulation, random_policies(k, shape_of(simulation)), length)
        for run, row in enumerate(steps):
            row += transitions(data, run)
    return past, steps


def close(found, expected, within=1e-8):
    assert abs(found - expected).max() <= within * max(1e-300, abs(expected).max())


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("reuse", "kept"), [("all", 240), ("window", WINDOW), ("phase", 60)])
def test_both_solve_the_equations(name, trace, reuse, kept):
    mdp, features, phi = PROBLEMS[name]
    simulation = simulator(mdp, features)(range(RUNS))
    shared = {"trace": trace, "ridge": RIDGE, "reuse": reuse, "window": WINDOW}
    lstd, lspe = LSTD(**shared), LSPE(**shared, step=0.4 if trace > 0.5 else 1.0, tolerance=1e-12)
    assert lstd.memory == lspe.memory  # so that both may share one
    past, steps = collect(simulation, [lstd])
    target = random_policies(99, shape_of(simulation), 2.0)
    solved, iterated = past.estimate(lstd, target), past.estimate(lspe, target)
    assert solved.conditioning.shape == solved.rank.shape == (RUNS,)
    assert (solved.conditioning >= 1.0).all()
    for run in range(RUNS):
        w = direct(steps[run][-kept:], phi, target[run], trace, RIDGE)[:-1]
        expected = np.array([[phi(x, a) @ w for a in range(mdp.num_actions)] for x in range(mdp.num_states)])
        assert expected.any()  # a phase that earned nothing would show nothing
        close(solved.q_hat[run], expected)
        close(iterated.q_hat[run], solved.q_hat[run])
        seen = np.array([phi(x, a) for x, a, _, _ in steps[run][-kept:]])
        assert solved.rank[run] == iterated.rank[run] == np.linalg.matrix_rank(seen)


def indicators(kind, states):
    """A basis whose features are those of one-hot tables, and the vectors that stand for states."""
    if kind == TILES:
        basis = Basis(
            TILES, np.zeros(1), np.array([states - 1.0]), states - 1, np.array([[0.5]]), np.empty(0), 1.0, states, False
        )
        return basis, np.arange(states, dtype=np.float64)[:, None]
    empty = np.empty((0, 0)), np.empty(0)
    return Basis(LINEAR, np.zeros(states), np.ones(states), 0, *empty, 1.0, 0, True), np.eye(states)


def softmax_of(weights):
    """The same policy as weights on indicators, and as a table."""
    runs, states, _ = weights.shape
    index = np.ascontiguousarray(weights.transpose(0, 2, 1))
    table = np.exp(weights - weights.max(axis=2, keepdims=True))
    policy = LinearPolicy(index, np.ones(runs), aligned_zeros(runs, states, 0), False)
    return policy, table / table.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("kind", [TILES, LINEAR])
@pytest.mark.parametrize("trace", [0.0, 0.7])
@pytest.mark.parametrize("reuse", ["window", "phase"])
@pytest.mark.parametrize("method", [LSTD, LSPE])
def test_tables_and_vectors_agree(kind, trace, reuse, method):
    mdp = ergodic(6, 3)
    simulation = simulator(mdp)(range(RUNS))
    basis, vectors = indicators(kind, mdp.num_states)
    evaluate = method(trace=trace, ridge=RIDGE, reuse=reuse, window=WINDOW)
    tables, rows = Past.of(simulation, evaluate), Past(Linear(basis, mdp.num_actions), RUNS, evaluate.memory)
    for k in range(3):
        data = tables.roll(simulation, random_policies(k, shape_of(simulation)), 70)
        rows.add(
            PhaseData(vectors[data.states], data.actions, data.rewards, vectors[data.last_state], None, None), None
        )
    linear, table = softmax_of(np.random.default_rng(0).normal(size=shape_of(simulation)))
    assert linear.probabilities(basis, np.broadcast_to(vectors, (RUNS, *vectors.shape))) == pytest.approx(table)
    found, expected = rows.estimate(evaluate, linear), tables.estimate(evaluate, table)
    close(found.q_hat, expected.q_hat)
    assert found.rank.tolist() == expected.rank.tolist()
    assert found.conditioning == pytest.approx(expected.conditioning, rel=1e-6)


def test_dense_features_of_vectors():
    """Blocks of steps, whole and broken, of a basis without zeros."""
    basis = Fourier(2).basis([-1.0] * 2, [1.0] * 2)
    random = np.random.default_rng(0)
    count, size = 77, basis.num_features
    states, last = random.uniform(-1, 1, (1, count, 2)), random.uniform(-1, 1, (1, 2))
    data = PhaseData(
        states, random.integers(0, 2, (1, count), dtype=np.int32), random.normal(size=(1, count)), last, 0, 0
    )
    policy = LinearPolicy(random.normal(size=(1, 2, size)), np.ones(1), aligned_zeros(1, size, 0), False)
    after = np.concatenate([states[0, 1:], last])
    probabilities, psi, follows = policy.probabilities(basis, after[None])[0], basis(states[0]), basis(after)
    for trace in (0.0, 0.6):
        evaluate = LSTD(trace=trace, ridge=RIDGE, reuse="phase")
        past = Past(Linear(basis, 2), 1, evaluate.memory)
        past.add(data, policy)
        z, matrix, sums = np.zeros(2 * size), RIDGE * np.eye(2 * size), np.zeros((3, 2 * size))
        for t in range(count):
            phi = np.kron(np.eye(2)[data.actions[0, t]], psi[t])
            z = trace * z + phi
            matrix += np.outer(z, phi - np.kron(probabilities[t], follows[t]))
            sums += np.array([z * data.rewards[0, t], z, phi])
        everything = np.block([[matrix, sums[1][:, None]], [sums[2][None], np.zeros((1, 1))]])
        expected = np.linalg.solve(everything, np.append(sums[0], 0.0))[:-1].reshape(2, size).T
        close(past.q_hat(evaluate, policy)[0], expected)


@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("mdp", [ergodic(5, 2), garnet(6, 2, 3, seed=1)], ids=["ergodic", "garnet"])
def test_more_data_of_another_policy_lead_to_exact_values(trace, mdp):
    simulation = simulator(mdp)(range(10))
    target = random_policies(7, shape_of(simulation), 3.0)
    exact = exact_q_values(mdp, target)[1]
    evaluate = LSTD(trace=trace)
    past = Past.of(simulation, evaluate)
    errors, scale = [], np.ptp(exact)
    for steps in (500, 7_500, 120_000):
        past.roll(simulation, uniform(simulation), steps)
        difference = past.q_hat(evaluate, target) - exact
        errors.append(math.sqrt(np.mean(np.var(difference, axis=(1, 2)))) / scale)  # up to a constant
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.01


@pytest.mark.parametrize("trace", [0.0, 0.5])
def test_the_phase_itself_will_do(trace):
    mdp = ergodic(5, 2)
    simulation = simulator(mdp)([0])
    policy = random_policies(7, shape_of(simulation))
    evaluate = LSTD(trace=trace, reuse="phase")
    past = Past.of(simulation, evaluate)
    past.roll(simulation, policy, 200_000)
    difference = past.q_hat(evaluate, policy) - exact_q_values(mdp, policy)[1]
    assert np.ptp(difference) < 0.05


def test_on_one_hot_features_it_is_the_self_consistent_evaluation():
    mdp = ergodic(5, 2)
    simulation = simulator(mdp)(range(3))
    lstd, counting = LSTD(ridge=1e-9), SelfConsistent(prior=1e-9)
    past, _ = collect(simulation, [lstd, counting], phases=6, length=200)
    target = random_policies(99, shape_of(simulation))
    found, expected = past.q_hat(lstd, target), past.q_hat(counting, target)
    visits, gap = past.seen.recall(counting.memory).visits, found - expected
    assert np.ptp(gap, axis=(1, 2)).max() < 1e-8 * np.ptp(expected)
    assert (found * visits).sum(axis=(1, 2)) / 1200 == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("method", [LSTD, LSPE])
@pytest.mark.parametrize("reuse", ["all", "window"])
@pytest.mark.parametrize("trace", [0.0, 0.5])
def test_no_bit_depends_on_the_batch_or_on_the_scale_of_rewards(method, reuse, trace):
    mdp = ergodic(5, 2)
    evaluate = method(trace=trace, reuse=reuse, window=100)

    def estimates(model, runs):
        simulation = simulator(model)(runs)
        past = Past.of(simulation, evaluate)
        for _ in range(3):
            past.roll(simulation, uniform(simulation), 60)
        return past.q_hat(evaluate, uniform(simulation))

    together = estimates(mdp, range(3))
    assert (estimates(mdp, [1])[0] == together[1]).all()
    larger = aapi.FiniteMDP(mdp.transitions, mdp.rewards * 2.0**40)
    assert (estimates(larger, range(3)) == together * 2.0**40).all()


def test_pairs_never_seen_have_the_value_0():
    simulation = simulator(ergodic(5, 2))([0])
    evaluate = LSTD()
    past = Past.of(simulation, evaluate)
    always = np.zeros(shape_of(simulation))
    always[:, :, 0] = 1.0
    past.roll(simulation, always, 100)
    found = past.estimate(evaluate, always)
    assert (found.q_hat[:, :, 1] == 0.0).all()
    assert (found.q_hat[:, :, 0] != 0.0).all()
    assert found.rank.tolist() == [5]


def test_dependent_features_without_a_ridge_are_refused():
    simulation = simulator(deep_sea(3), Coordinates())([0])
    target = random_policies(1, shape_of(simulation))
    for evaluate in (LSTD(ridge=0.0), LSPE(ridge=0.0)):
        past, _ = collect(simulation, [evaluate])
        with pytest.raises(InvalidInput, match=r"^ridge is 0, and the features seen are linearly dependent"):
            past.estimate(evaluate, target)
    evaluate = LSTD(ridge=0.01)
    past, _ = collect(simulation, [evaluate])
    assert past.estimate(evaluate, target).rank.tolist() == [
        10
    ]  # 12 features, of which each block's rows and columns both sum to one


def test_without_a_ridge_where_everything_was_seen():
    mdp, features, phi = PROBLEMS["one-hot"]
    simulation = simulator(mdp, features)([0])
    evaluate = LSTD(ridge=0.0)
    past, (steps,) = collect(simulation, [evaluate])
    target = random_policies(1, shape_of(simulation))
    expected = direct(steps, phi, target[0], 0.0, 0.0)[:-1].reshape(2, 5).T
    close(past.q_hat(evaluate, target)[0], expected)


def test_conditioning_is_that_of_the_equations():
    mdp, features, phi = PROBLEMS["groups"]
    simulation = simulator(mdp, features)([0])
    evaluate = LSTD(ridge=RIDGE)
    past, (steps,) = collect(simulation, [evaluate])
    target = random_policies(1, shape_of(simulation))
    rows = np.array([phi(x, a) for x, a, _, _ in steps])
    after = np.array([sum(target[0, y, b] * phi(y, b) for b in range(3)) for *_, y in steps])
    total = rows.sum(axis=0)
    matrix = np.block([[rows.T @ (rows - after) + RIDGE * np.eye(9), total[:, None]], [total, np.zeros(1)]])
    found = past.estimate(evaluate, target).conditioning[0]
    assert found == pytest.approx(np.linalg.cond(matrix, 1), rel=0.5)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_ranks(scale):
    random = np.random.default_rng(0)
    matrix = scale * random.normal(size=(30, 3)) @ random.normal(size=(3, 7))
    gram = np.triu(matrix.T @ matrix)
    assert rank_of(np.stack([gram, np.diag([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-9])])) == 3 + 3


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"trace": 1.0}, "trace must be below 1, not 1.0"),
        ({"trace": -0.1}, "trace must be a finite number at least 0, not -0.1"),
        ({"ridge": -1.0}, "ridge must be a finite number at least 0, not -1.0"),
        ({"reuse": "some"}, "reuse must be all or window or phase, not 'some'"),
        ({"window": 0}, "window must be at least 1, not 0"),
    ],
)
@pytest.mark.parametrize("method", [LSTD, LSPE])
def test_wrong_arguments(method, arguments, line):
    with pytest.raises(InvalidInput) as error:
        aapi.run(aapi.AAPI(phase_length=50, evaluate=method(**arguments)), ergodic(5, 2), 100)
    assert str(error.value) == line


def test_too_many_features_are_refused():
    space = Linear(Fourier(7, linear=False).basis([0.0] * 4, [1.0] * 4), 2)
    with pytest.raises(TooLarge, match=r"^8192 features are too many for their equations, at most 5000: take fewer"):
        LSTD(reuse="phase").for_space(space)


def test_parts_are_values():
    assert LSTD(trace=0.5) == LSTD(trace=0.5) != LSPE(trace=0.5)
    assert repr(LSTD()) == "LSTD(trace=0.0, ridge=0.1, reuse='all', window=10000)"
    assert {LSTD(), LSTD()} == {LSTD()}


@pytest.mark.parametrize("evaluate", [LSTD(), LSTD(trace=0.5), LSPE(), LSTD(reuse="window", window=2000)], ids=repr)
@pytest.mark.parametrize("norm", ["span", "sup"])
def test_aapi_learns(evaluate, norm):
    algorithm = aapi.AAPI(phase_length=200, norm=norm, evaluate=evaluate)
    result = aapi.run(algorithm, ergodic(10, 2), 20_000, 3)
    assert (result.average_reward[:, -1] > 0.19).all()  # uniform: .099; the best policy: .2105


def test_it_evaluates_policies_that_have_not_acted():
    algorithm = aapi.AAPI(phase_length=100, evaluate=LSTD(), side_information=Predicted(), norm="span")
    assert aapi.run(algorithm, ergodic(5, 2), 5000).average_reward[0, -1] > 0.26  # uniform: .196; the best: .307


@pytest.mark.parametrize(
    ("problem", "features", "reuse"),
    [(ergodic(5, 2), None, "all"), (ergodic(5, 2), None, "window"), (cartpole(), Fourier(order=1), "phase")],
    ids=["all data", "window", "vectors"],
)
def test_a_prediction_leaves_the_conditioning_of_the_phase_alone(problem, features, reuse):
    """What a phase tells is of the equations behind Q̂_k, and not of those behind M_{k+1}."""
    evaluate = LSTD(reuse=reuse, window=WINDOW, ridge=RIDGE)
    learner = aapi.AAPI(phase_length=100, evaluate=evaluate, side_information=Predicted())
    simulation = simulator(problem, features, 3)(range(RUNS))
    session, past = Session(learner, simulation), Past.of(simulation, evaluate)
    for phase in session.play(600):
        past.add(phase.data, phase.policy)
        own = past.estimate(evaluate, phase.policy)
        index = session.state.total + phase.q_hat
        predicted = past.estimate(evaluate, simulation.space.softmax(index, phase.temperature))
        assert (phase.q_hat == own.q_hat).all()
        assert (phase.prediction == predicted.q_hat).all()
        assert (phase.conditioning == own.conditioning).all()
        assert (phase.conditioning != predicted.conditioning).all()
    assert session.state.k == 6


def small_estimates():
    """Of a few steps, by every way the equations are made."""
    found = []
    for trace in (0.0, 0.5):
        for method in (LSTD, LSPE):
            for reuse in ("all", "window"):
                simulation = simulator(ergodic(3, 2))([0])
                evaluate = method(trace=trace, reuse=reuse)
                past, _ = collect(simulation, [evaluate], phases=2, length=30)
                found.append(past.q_hat(evaluate, random_policies(1, shape_of(simulation))).tolist())
            basis = Fourier(1).basis([0.0], [2.0])
            random = np.random.default_rng(0)
            evaluate = method(trace=trace, reuse="phase")
            past = Past(Linear(basis, 2), 1, evaluate.memory)
            actions = random.integers(0, 2, (1, 20), dtype=np.int32)
            states, last = random.random((1, 20, 1)), random.random((1, 1))
            policy = LinearPolicy(random.normal(size=(1, 2, 3)), np.ones(1), aligned_zeros(1, 3, 0), False)
            past.add(PhaseData(states, actions, random.random((1, 20)), last, 0, 0), policy)
            found.append(past.q_hat(evaluate, policy).tolist())
    return found


def test_interpreted_kernels_give_the_same():
    for found, expected in zip(interpreted(__file__, "small_estimates"), small_estimates(), strict=True):
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
