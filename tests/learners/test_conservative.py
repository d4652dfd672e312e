"""A learner beside a rule of thumb."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import aapi
from aapi.batch import simulator
from aapi.environments import admission, admission_rules, inventory, inventory_rules, river_swim
from aapi.errors import InvalidInput
from aapi.learners.conservative import Account, Conservative
from aapi.learners.learner import Session
from aapi.learners.state import stored
from aapi.mdp import FiniteMDP, policy_values

LET_IN_ALL = np.full(11, 2)


def toll(paid=(1.0, 0.0)):
    """One state; actions pay so much."""
    return FiniteMDP(np.ones((1, len(paid), 1)), [list(paid)])


def growing(room=400):
    """A queue: action 0 serves, action 1 does not, and lets it grow; each job costs 1 a step."""
    P, jobs = np.zeros((room, 2, room)), np.arange(room)
    up, down = np.minimum(jobs + 1, room - 1), np.maximum(jobs - 1, 0)
    P[jobs, :, up] += 0.3
    P[jobs, 0, down] += 0.5
    P[jobs, 0, jobs] += 0.2
    P[jobs, 1, jobs] += 0.7
    return FiniteMDP(P, np.repeat(-1.0 * jobs[:, None], 2, axis=1))


@dataclass(frozen=True)
class Stubborn(aapi.PSRL):
    """Plans as PSRL does, and then always takes the last action."""

    def act(self, state):
        policy = np.zeros(state.space.shape(1))
        policy[..., -1] = 1.0
        return replace(super().act(state), policy=policy)


def test_a_bad_learner_costs_five_percent_and_no_more():
    result = aapi.run(Stubborn(), toll(), 50_000, rule=[0], grid=[2_000, 10_000, 50_000])
    lost = 1.0 - result.cumulated[0] / result.grid
    assert (lost <= 0.06).all()
    assert lost[-1] >= 0.03  # it was asked
    assert result.trusted.tolist() == [False]
    assert result.next_policy[0].tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_how_much_is_for_the_user_to_say(share):
    result = aapi.run(Conservative(learner=Stubborn(), max_loss=share), toll(), 50_000, rule=[0])
    assert 0.5 * share <= 1.0 - result.average_reward[0, -1] <= 1.2 * share


def test_nor_does_one_that_lets_a_queue_grow():
    mdp = growing()
    gain = policy_values(mdp, np.zeros(400, dtype=int)).gains[0]
    found = [aapi.run(Stubborn(), mdp, 50_000, seed=s, rule=np.zeros(400, dtype=int)) for s in range(3)]
    assert np.mean([each.average_reward[0, -1] for each in found]) >= 1.12 * gain  # gains are negative
    assert aapi.run(aapi.Uniform(), mdp, 50_000).average_reward[0, -1] < 10 * gain


def test_a_better_learner_takes_over_and_is_what_was_learnt():
    result = aapi.run(aapi.AAPI(), admission(), 100_000, 4, seed=5, rule=LET_IN_ALL)
    alone = policy_values(admission(), LET_IN_ALL).gains[0]
    assert result.trusted.all()
    assert (result.learnt_gains > 1.03 * alone).all()
    assert (result.rule_steps < 0.5 * result.num_steps).all()


def test_a_better_learner_takes_over_from_a_rule_that_earns_next_to_nothing():
    result = aapi.run(aapi.PSRL(), river_swim(6), 50_000, 3, seed=5, rule=np.zeros(6, dtype=int))
    assert (result.learnt_gains > 0.99 * result.optimal_gain).all()


def test_it_is_never_much_worse_than_the_best_rule():
    rule = list(admission_rules(admission()).values())[1]
    result = aapi.run(aapi.AAPI(), admission(), 20_000, 10, seed=3, rule=rule, grid=[2_000, 20_000])
    gain = policy_values(admission(), rule).gains[0]
    assert ((result.cumulated / result.grid).mean(axis=0) > 0.95 * gain).all()


def test_the_rule_acts_first():
    session = Session(Conservative(learner=aapi.PSRL()), simulator(admission(), rule=LET_IN_ALL)([0]))
    actions = np.concatenate([phase.data.actions[0] for phase in session.play(1000)])
    assert (actions == 2).all()
    assert (session.state.rule_steps, session.state.account.own_steps) == (1000, 0)


def test_a_rule_is_a_table_a_list_or_a_function():
    table = np.eye(3)[LET_IN_ALL]
    found = [aapi.run(aapi.PSRL(), admission(), 3000, rule=rule) for rule in (table, [2] * 11, lambda _: 2)]
    assert len({each.rewards.tobytes() for each in found}) == 1
    half = aapi.run(aapi.PSRL(), admission(), 1000, rule=np.full((11, 3), [0.5, 0.0, 0.5]))
    assert half.rule_steps.tolist() == [1000]


def test_runs_do_not_depend_on_those_beside_them():
    def rewards(num_runs, first_run=0):
        result = aapi.run(aapi.PSRL(), admission(), 4000, num_runs, first_run=first_run, rule=LET_IN_ALL, threads=2)
        return result.cumulated[:, -1].tolist()

    assert rewards(3) == rewards(1) + rewards(1, 1) + rewards(1, 2)


def test_what_lingers_is_the_learners():
    account = Account()
    for _ in range(10):
        account = account.after_rule(np.full(100, 1.0))
    account = account.after_learner(50, 60.0, explored=False).after_rule(np.full(100, -1.0))
    assert account.mending
    account = account.after_rule(np.full(100, 1.0))
    assert (account.mending, account.loss, account.last_steps, account.last_cost) == (False, 190.0, 50, 190.0)
    assert account.usual == 1.0
    assert account.affordable(0.05) == 0  # 5 % of 1250 steps are 62.5


def test_what_was_better_once_does_not_keep_the_rule_busy_for_ever():
    P = np.zeros((2, 2, 2))
    P[:, :, 1] = 1.0
    model = FiniteMDP(P, [[50.0, 50.0], [1.0, 1.3]])  # the start pays once what never comes again
    result = aapi.run(aapi.AAPI(), model, 30_000, rule=[0, 0])
    assert result.trusted.all()
    assert result.learnt_gains[0] == pytest.approx(1.3)


def test_a_tie_is_the_rules():
    assert not aapi.run(aapi.AAPI(), toll((1.0, 1.0)), 5_000, rule=[0]).trusted.any()


def test_an_account_that_does_not_add_up_is_refused():
    good = stored(Account(turns=np.array([30.0, 1.0]), own_steps=20))
    assert Account().restored(good).own_steps == 20
    for name, value in (("own_steps", 31), ("turn_steps", 21), ("last_cost", np.nan), ("rule", np.full((20, 2), -1.0))):
        with pytest.raises(InvalidInput, match=r"account|not a finite"):
            Account().restored(good | {name: np.asarray(value)})


@pytest.mark.parametrize(
    ("learner", "rule", "message"),
    [
        (aapi.AAPI(), [3] * 11, "actions of the rule"),
        (aapi.AAPI(), [0] * 10, "11 states"),
        (aapi.AAPI(), np.full((11, 3), 0.5), "probabilities"),
        (aapi.AAPI(), lambda _: 3, "returned 3 at 0: actions are 0 to 2"),
        (aapi.AAPI(), lambda _: "all", "must return an action, not 'all'"),
        (aapi.AAPI(), lambda state: 1 // state, "ZeroDivisionError"),
        (
            aapi.AAPI(phase_length=100, evaluate=aapi.evaluation.MonteCarlo(10)),
            [0] * 11,
            "learns only from what its own policies do",
        ),
        (Conservative(learner=aapi.PSRL()), None, "give one, rule="),
        (Conservative(learner=aapi.PSRL(), max_loss=-1.0), [0] * 11, "max_loss"),
        (Conservative(learner=aapi.PSRL(), warm_up=5), [0] * 11, "warm_up"),
        (Conservative(learner=Conservative(learner=aapi.PSRL())), [0] * 11, "another learner"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(learner, rule, message):
    with pytest.raises(InvalidInput, match=message) as error:
        aapi.run(learner, admission(), 100, rule=rule)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_beside_a_poor_rule_stock_is_learnt_and_what_was_learnt_is_used():
    model = inventory()
    poor = inventory_rules(model)["base stock 8"]
    result = aapi.run(aapi.AAPI(), model, 40_000, 2, seed=3, rule=poor)
    assert result.trusted.all()
    assert (result.learnt_gains >= 5.4).all()  # of 6.115; the rule earns 4.584
    assert (result.explored <= 2_000).all()
