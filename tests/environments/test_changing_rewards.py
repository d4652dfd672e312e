"""Rewards that change: what a run meets and is shown, MDP-E by hand, rewards that react, bad input."""

import numpy as np
import pytest
from support import interpreted

import aapi
from aapi.batch import simulator
from aapi.environments import ChangingRewards, against_the_leader, against_the_policy, cartpole, ergodic, garnet
from aapi.errors import InvalidInput
from aapi.evaluation import ExactQ, MonteCarlo, SelfConsistent

MDP = garnet(4, 3, 2, seed=3)
TABLES = np.random.default_rng(7).uniform(-1.0, 2.0, size=(5, 4, 3))


def spite(phase, policies):
    """The action that π_k takes least in a state pays there, a little more each phase."""
    return np.where(policies[-1] == policies[-1].min(axis=1, keepdims=True), 1.0 + phase / 1000, 0.0)


def exact_values(mdp, policy, rewards):
    """Gain and Q of an ergodic policy, by plain linear algebra."""
    chain = np.einsum("xa,xay->xy", policy, mdp.transitions)
    earned, size = (policy * rewards).sum(axis=1), len(chain)
    system = np.block([[np.eye(size) - chain, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(earned, 0.0))
    return solution[-1], rewards - solution[-1] + mdp.transitions @ solution[:-1]


def test_each_phase_has_its_rewards_in_a_cycle_or_with_a_beginning():
    for cycle, expected in (
        (None, [0, 1, 2, 3, 4, 0, 1, 2]),
        (2, [0, 1, 2, 3, 4, 3, 4, 3]),
        (5, [0, 1, 2, 3, 4, 0, 1, 2]),
    ):
        problem = ChangingRewards(MDP, TABLES, cycle=cycle)
        learner = aapi.AAPI(phase_length=20, evaluate=MonteCarlo(horizon=3))
        phases = list(aapi.play(learner, simulator(problem)(range(3)), 8 * 20 - 5))
        for phase, which in zip(phases, expected, strict=True):
            data = phase.data
            assert (data.reward_table == TABLES[which]).all()
            assert (data.rewards == TABLES[which][data.states, data.actions]).all()
            assert data.reward_sums.sum(axis=1) == pytest.approx(data.rewards.sum(axis=1))


def test_politex_with_exact_q_is_mdp_e():
    """Even-Dar et al. (2009): in every state, exponential weights on Q of the policy and the rewards of each phase."""
    mdp, eta = ergodic(4, 3), 2.0
    result = aapi.run(
        aapi.Politex(phase_length=7, evaluate=ExactQ(), eta=eta), ChangingRewards(mdp, TABLES), 70, 2, record=True
    )
    policy = np.full((4, 3), 1 / 3)
    for k in range(10):
        assert result.record.policies[:, k] == pytest.approx(np.array([policy, policy]), rel=1e-10, abs=1e-12)
        q = exact_values(mdp, policy, TABLES[k % 5])[1]
        # Q is known up to a constant in each state, which weights do not see.
        difference = result.record.q_hats[0, k] - q
        assert np.ptp(difference, axis=1) == pytest.approx(0.0, abs=1e-9)
        weights = policy * np.exp((q - q.max(axis=1, keepdims=True)) / eta)
        policy = weights / weights.sum(axis=1, keepdims=True)


def test_exact_q_does_not_mix_up_rewards_of_policies_that_need_more_care():
    # Action 0 stays: policies with several classes are evaluated one by one, and must have their own rewards.
    transitions = np.zeros((2, 2, 2))
    transitions[:, 0], transitions[:, 1] = np.eye(2), np.eye(2)[::-1]
    mdp, policies = aapi.FiniteMDP(transitions, np.zeros((2, 2))), np.tile([1.0, 0.0], (3, 2, 1))
    tables = np.array([[[1.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [4.0, 0.0]], [[1.0, 0.0], [2.0, 0.0]]])
    gains, _ = aapi.evaluation.exact_q_values(mdp, policies, tables)
    assert gains.tolist() == [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]
    assert aapi.evaluation.exact_q_values(mdp, policies, tables[1])[0].tolist() == [[3.0, 4.0]] * 3


def test_rewards_react_to_the_policies_of_their_own_run():
    seen = []

    def watched(phase, policies):
        seen.append((phase, policies.copy()))
        assert not policies.flags.writeable
        return spite(phase, policies)

    problem = ChangingRewards(MDP, watched)
    learner = aapi.AAPI(phase_length=30, evaluate=MonteCarlo(horizon=3))
    record = aapi.run(learner, problem, 40 * 30, 3, record=True).record
    assert len(seen) == 120
    for number, (phase, policies) in enumerate(seen):
        k, run = divmod(number, 3)
        assert phase == k + 1
        assert (policies == record.policies[run, : k + 1]).all()
        assert (record.reward_tables[run, k] == spite(phase, policies)).all()
    assert not (record.policies[0] == record.policies[1]).all()


LEARNERS = {
    "exact": aapi.AAPI(phase_length=25, evaluate=ExactQ()),
    "monte carlo": aapi.Politex(phase_length=25, evaluate=MonteCarlo(horizon=3), schedule="sqrt"),
    "all data": aapi.GreedyAPI(phase_length=25, evaluate=SelfConsistent()),
    "exploring": aapi.AAPI(),
    "oomd": aapi.OOMD(phase_length=25, window=3, eta=0.1),
}
PROBLEMS = {"array": ChangingRewards(MDP, TABLES), "reacting": ChangingRewards(MDP, spite)}


def bits(result):
    return [
        result.rewards.tobytes(), result.next_policy.tobytes(), result.mean_rewards.tobytes(), result.regret.tobytes(),
    ]  # fmt: skip


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_threads_chunks_and_others_change_nothing(name, kind):
    def run(num_runs=7, **how):
        return aapi.run(LEARNERS[name], PROBLEMS[kind], 610, num_runs, 2, grid=[100, 333], **how)

    whole = run()
    for how in ({"threads": 2}, {"chunk": 1}, {"chunk": 3, "threads": 2}):
        assert bits(run(**how)) == bits(whole), how
    alone = run(1, first_run=5)
    assert (alone.rewards == whole.rewards[5:6, : alone.rewards.shape[1]]).all()
    assert (alone.regret == whole.regret[5:6]).all()


def all_rewards():
    return {
        f"{name} {kind}": aapi.run(LEARNERS[name], PROBLEMS[kind], 200, 2, 1).rewards.tolist()
        for name in LEARNERS for kind in PROBLEMS
    }  # fmt: skip


def test_compiled_and_interpreted_give_the_same_bits():
    assert interpreted(__file__, "all_rewards") == all_rewards()


def test_where_rewards_stay_they_are_those_of_the_model():
    problem = ChangingRewards(MDP, MDP.rewards[None])
    learner = aapi.AAPI(phase_length=40, evaluate=ExactQ())
    changing, plain = (aapi.run(learner, each, 1000, 3) for each in (problem, MDP))
    assert (changing.rewards == plain.rewards).all()
    assert (changing.next_policy == plain.next_policy).all()
    assert changing.regret == pytest.approx(plain.regret, abs=1e-9)
    assert changing.optimal_gain == pytest.approx(plain.optimal_gain)
    assert plain.mean_rewards is None


SHAPE = "changing rewards must have the shape (phases, 4, 3), for phases, states and actions, not "
REFUSED = [
    ({"rewards": TABLES[0]}, SHAPE + "(4, 3)"),
    ({"rewards": TABLES[:, :2]}, SHAPE + "(5, 2, 3)"),
    ({"rewards": TABLES[:0]}, SHAPE + "(0, 4, 3)"),
    ({"rewards": TABLES * np.nan}, "rewards must be finite numbers up to 1e+302, not nan"),
    ({"rewards": [[1.0], [2.0, 3.0]]}, "rewards must be a rectangular array of real numbers"),
    ({"cycle": 6}, "cycle must be at most the 5 phases of the rewards, not 6"),
    ({"cycle": -1}, "cycle must be at least 0, not -1"),
    ({"cycle": 0}, "rewards are given for 5 phases, and phase 6 begins: give more, or a cycle"),
    ({"rewards": spite, "cycle": 1}, "cycle is for arrays of rewards, not for a function: drop cycle=1"),
    (
        {"rewards": lambda k, policies: np.zeros(3)},
        "rewards of phase 1 must have the shape (states, actions) = (4, 3), not (3,)",
    ),
    (
        {"rewards": lambda k, policies: np.full((4, 3), np.inf if k == 3 else 0.0)},
        "rewards of phase 3 must be finite numbers up to 1e+302, not inf",
    ),
    ({"mdp": cartpole()}, "the dynamics of changing rewards are a FiniteMDP, not "),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused_in_one_line(given, message):
    def attempt():
        problem = ChangingRewards(**{"mdp": MDP, "rewards": TABLES} | given)
        aapi.run(aapi.AAPI(phase_length=10, evaluate=ExactQ()), problem, 100)

    with pytest.raises(InvalidInput) as caught:
        attempt()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_the_leader_must_be_reachable():
    with pytest.raises(InvalidInput, match=r"reach must lie in \(0.5, 1\), not 0.5"):
        against_the_leader(0.5)


def test_scaled_rewards_are_multiplied_in_every_phase():
    policies = np.full((1, *MDP.rewards.shape), 1.0 / MDP.num_actions)
    for problem in PROBLEMS.values():
        scaled = problem.scaled(3.0)
        assert scaled.in_phase(2, policies) == pytest.approx(3.0 * problem.in_phase(2, policies))
    with pytest.raises(InvalidInput, match="factor must be"):
        PROBLEMS["array"].scaled(-1.0)


def test_rewards_against_the_policy_pay_where_it_goes_less():
    problem = against_the_policy(0.8)
    assert problem.reacts
    right = np.array([[[0.3, 0.7], [0.1, 0.9]]])
    assert problem.in_phase(1, right).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert problem.in_phase(1, 1.0 - right).tolist() == [[0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(InvalidInput, match=r"reach must lie in \(0.5, 1\), not 0.5"):
        against_the_policy(0.5)


def test_problems_say_whether_their_rewards_change():
    assert (ergodic(3, 2).reward_sequence, cartpole().reward_sequence) == (None, None)
    assert against_the_leader().reward_sequence(2).problem.dynamics is not None
    assert MDP.dynamics is PROBLEMS["array"].dynamics is MDP
