import gymnasium
import pytest

from aapi.environments import from_table, tabulate
from aapi.errors import InvalidInput
from aapi.mdp import solve


def queue(jobs, action):
    """One server, room for two jobs: arrivals with 1/2, served with 1/4; a job turned away costs 1."""
    arrives, served = min(jobs + 1, 2), max(jobs - 1, 0)
    yield 0.5, arrives if action else jobs, 0.0 if action and jobs < 2 else -1.0
    yield 0.25, served, 0.0
    yield 0.25, jobs, 0.0


def test_a_function_is_a_model():
    mdp = tabulate(range(3), ["turn away", "admit"], queue)
    assert (mdp.num_states, mdp.num_actions, mdp.initial_state) == (3, 2, 0)
    assert mdp.state_names == ("0", "1", "2")
    # Always admitting, births 1/2 and deaths 1/4 have the shares 1 : 2 : 4, and the last pays −1 with 1/2.
    assert solve(mdp).gain == pytest.approx(-4 / 7 * 0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("outcomes", "more", "message"),
    [
        (lambda x, a: [(1.0, 7, 0.0)], {}, "outcomes of state 0, go: the successor 7 is none of the states"),
        (lambda x, a: [(1.0, x)], {}, r"outcomes of state 0, go: \(1.0, 0\) is not \(probability, successor, reward\)"),
        (lambda x, a: [], {}, "nothing can happen"),
        (lambda x, a: [(0.5, x, 0.0)], {}, "transitions of state 0, action 0 sum to 0.5, not to 1"),
        (lambda x, a: [(1.0, x, 0.0)], {"start": 5}, "start 5 is none of the states"),
    ],
)
def test_what_is_wrong_is_said(outcomes, more, message):
    with pytest.raises(InvalidInput, match=message):
        tabulate([0, 1], ["go"], outcomes, **more)


def test_an_action_without_outcomes_is_forbidden():
    def outcomes(x, a):
        return [] if (x, a) == (1, 0) else [(1.0, (x + a) % 2, float(a))]

    model = tabulate([0, 1], ["stay", "go"], outcomes)
    assert model.allowed.tolist() == [[True, True], [False, True]]
    assert model.rewards.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    with pytest.raises(InvalidInput, match="no action is allowed in state 1"):
        tabulate([0, 1], ["stay", "go"], lambda x, a: [(1.0, 0, 0.0)] * (1 - x))


def test_states_are_there_once_and_not_none():
    with pytest.raises(InvalidInput, match="at least one state and one action: 0 states, 1 actions"):
        tabulate([], ["go"], queue)
    with pytest.raises(InvalidInput, match="a state occurs twice"):
        tabulate([1, 1], ["go"], queue)


class Table(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(1)

    def __init__(self, table, first=(1.0, 0.0)):
        self.P, self.initial_state_distrib = table, first


GOOD = {0: {0: [(1.0, 1, 2.0, False)]}, 1: {0: [(0.5, 0, 0.0, False), (0.5, 1, 4.0, True)]}}


def test_an_end_is_a_restart_by_the_initial_distribution():
    """From state 1, an episode ends with 1/2 and begins in either state: μ(0) = 3/4 μ(1)."""
    mdp = from_table(Table(GOOD, (0.5, 0.5)))
    assert mdp.transitions.toarray().tolist() == [[0.0, 1.0], [0.75, 0.25]]
    assert solve(mdp).gain == pytest.approx((3 * 2.0 + 4 * 2.0) / 7, abs=1e-12)


@pytest.mark.parametrize(
    "table",
    [{}, {0: GOOD[0]}, {0: GOOD[0], 1: {}}, {0: GOOD[0], 1: {0: [(1.0, 0)]}}, 3, {0: GOOD[0], 1: {0: [("x", 0, 0, 0)]}}]
)  # fmt: skip
def test_tables_that_are_none_are_named(table):
    with pytest.raises(InvalidInput) as error:
        from_table(Table(table))
    assert "\n" not in str(error.value)
    assert "Table" in str(error.value)
