import numpy as np
import pytest
import scipy.sparse
from support import linear_program_gains

from aapi.errors import InvalidInput
from aapi.mdp import policy_values, solve
from aapi.registry.problems import PROBLEMS
from aapi.registry.zoo import zoo

NAMES = list(zoo())


def test_the_halves_share_families_and_nothing_else():
    development, reporting = zoo("development"), zoo("reporting")
    assert not development.keys() & reporting.keys()
    assert list({**development, **reporting}) != NAMES  # their order is that of families
    assert {**development, **reporting}.keys() == zoo().keys()
    assert abs(len(development) - len(reporting)) <= 2
    assert {p.family for p in development.values()} == {p.family for p in reporting.values()}
    problems = [(p.name, tuple(p.sizes.items())) for p in zoo().values()]
    assert len(set(problems)) == len(problems)
    with pytest.raises(InvalidInput, match="half must be development or reporting, not 'other'"):
        zoo("other")


@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_certified_and_that_of_a_linear_program(name):
    problem = zoo()[name]
    assert problem.name in PROBLEMS
    assert 100_000 <= problem.num_steps <= 500_000
    mdp = problem.make()
    solution = solve(mdp)
    assert solution.gain == pytest.approx(linear_program_gains(mdp)[mdp.initial_state], abs=1e-7, rel=1e-7)
    assert (solution.gains_upper - solution.gains_lower).max() <= 1e-9 * max(1.0, abs(solution.gain))
    uniform = np.full((mdp.num_states, mdp.num_actions), 1.0 / mdp.num_actions)
    assert policy_values(mdp, uniform).gains[mdp.initial_state] < 0.99 * abs(solution.gain)


@pytest.mark.parametrize("name", NAMES)
def test_states_that_are_reached_communicate(name):
    mdp = zoo()[name].make()
    rows = scipy.sparse.csr_array(mdp.transitions.reshape(-1, mdp.num_states))
    owners = np.arange(mdp.num_states).repeat(mdp.num_actions)
    merge = scipy.sparse.csr_array((np.ones(len(owners)), (owners, np.arange(len(owners)))))
    graph = merge @ rows
    reached = scipy.sparse.csgraph.breadth_first_order(graph, mdp.initial_state, return_predecessors=False)
    back = scipy.sparse.csgraph.breadth_first_order(graph.T.tocsr(), mdp.initial_state, return_predecessors=False)
    assert set(reached) <= set(back)
