"""Models given by a function: the same model as matrices, certificates, and published optima of queueing networks."""

import numpy as np
import pytest
from support import dense_transitions

from aapi.environments import access_control, deep_sea, ergodic, garnet, river_swim
from aapi.environments.queueing import criss_cross_network
from aapi.errors import DoesNotExist, InvalidInput
from aapi.mdp import EventModel, FiniteMDP, solve, solve_events


@pytest.mark.parametrize(
    "mdp", [ergodic(6, 3), garnet(40, 3, 4), deep_sea(6), river_swim(12), access_control(3)], ids=str
)
def test_model_to_function_to_model(mdp):
    model = EventModel.from_model(mdp)
    back = model.to_model()
    assert dense_transitions(back) == pytest.approx(dense_transitions(mdp), abs=1e-15)
    assert back.rewards == pytest.approx(mdp.rewards, abs=1e-15)
    assert back.initial_state == mdp.initial_state
    found, exact = solve_events(model, 1e-8), solve(mdp)
    assert found.lower <= exact.gain + 1e-12
    assert found.upper >= exact.gain - 1e-12
    assert found.upper - found.lower <= 2e-8
    assert "certified within" in repr(found)
    one_hot = np.eye(mdp.num_actions)[found.policy]
    assert float(solve(FiniteMDP(*_only(mdp, one_hot))).gain) == pytest.approx(exact.gain, abs=1e-7)


def _only(mdp, policy):
    """The model in which nothing but the policy can be done."""
    transitions, rewards = mdp.under(policy)
    dense = transitions.toarray() if mdp.is_sparse else transitions
    return dense[:, None, :], rewards[:, None]


# Dai and Gluzman (2022), table 1; caps as in an independent computation with matrices.
@pytest.mark.parametrize(("regime", "optimum"), [("IL", 0.67062), ("BL", 0.84321)])
def test_criss_cross_in_light_traffic(regime, optimum):
    solution = solve_events(criss_cross_network(regime).event_model(), 1e-6)
    assert -solution.gain == pytest.approx(optimum, abs=6e-6)
    assert solution.upper - solution.lower <= 2e-6


def test_it_begins_where_one_likes():
    model = EventModel.from_model(garnet(30, 3, 3))
    best = solve_events(model, 1e-8)
    assert solve_events(model, 1e-8, policy=best.policy).evaluations <= best.evaluations


def test_two_gains_have_no_certificate():
    def events(states, action):
        return 1.0, states, states.astype(float)

    with pytest.raises(DoesNotExist, match=r"between 0 and 1.*to_model"):
        solve_events(EventModel(2, 1, events))


def test_an_accuracy_beyond_rounding_is_refused_at_once():
    def queue(jobs, action):
        after = np.stack([np.minimum(jobs + 1, 99_999), np.maximum(jobs - 1, 0)])
        return np.array([[0.45], [0.55]]), after, -jobs.astype(float)

    with pytest.raises(DoesNotExist, match="rounded too much to certify 1e-06: ask for an accuracy of"):
        solve_events(EventModel(100_000, 1, queue), 1e-6)
    assert solve_events(EventModel(100_000, 1, queue), 0.01).gain == pytest.approx(-4.5, abs=0.01)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (lambda x, a: (0.9, x, 0.0), "events of action 0 in state 0 sum to 0.9"),
        (lambda x, a: (1.0, x + 1, 0.0), "successors of action 0"),
        (lambda x, a: (1.0, x, np.nan), "a reward of action 0 is not a finite number"),
        (lambda x, a: (1.0, np.zeros((1, 5), dtype=int), 0.0), "shape"),
    ],
)
def test_wrong_functions(events, message):
    with pytest.raises(InvalidInput, match=message):
        solve_events(EventModel(3, 2, events))


def test_wrong_arguments():
    model = EventModel(3, 1, lambda x, a: (1.0, (x + 1) % 3, x))
    with pytest.raises(InvalidInput, match="accuracy"):
        solve_events(model, 0.0)
    with pytest.raises(InvalidInput, match="policy"):
        solve_events(model, policy=[0, 0, 1])
    with pytest.raises(InvalidInput, match="initial_state"):
        EventModel(3, 1, model.events, initial_state=3)
    assert solve_events(model).gain == pytest.approx(1.0, abs=1e-6)
