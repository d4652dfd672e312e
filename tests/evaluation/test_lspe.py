"""What LSPE has beyond LSTD: steps, and that they may not settle. That both agree is in test_lstd.py."""

import numpy as np
import pytest
from experience import Past, uniform

import aapi
from aapi.batch import simulator
from aapi.environments import ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import LSPE, LSTD
from aapi.mdp import FiniteMDP


def circle(states):
    """Round and round, whatever one does: a chain of this period."""
    transitions = np.zeros((states, 2, states))
    for x in range(states):
        transitions[x, :, (x + 1) % states] = 1.0
    return FiniteMDP(transitions, np.arange(2.0 * states).reshape(states, 2))


def estimate(evaluate, mdp, steps=400):
    """The uniform policy from its own steps, and the memory of them."""
    simulation = simulator(mdp)([0])
    past = Past.of(simulation, evaluate)
    past.roll(simulation, uniform(simulation), steps)
    return past.estimate(evaluate, uniform(simulation)), past.memory


def test_a_periodic_chain_needs_a_trace_or_a_smaller_step():
    mdp = circle(4)
    with pytest.raises(InvalidInput) as error:
        estimate(LSPE(ridge=1e-6), mdp)
    assert str(error.value) == (
        "LSPE did not settle within 10000 sweeps: data of other policies, or a periodic chain, can make it diverge; "
        "give a smaller step or reuse='phase', on a periodic chain a trace, or use LSTD"
    )
    for arguments in ({"step": 0.5}, {"trace": 0.5}):
        found, _ = estimate(LSPE(ridge=1e-6, tolerance=1e-12, **arguments), mdp)
        expected, _ = estimate(LSTD(ridge=1e-6, trace=arguments.get("trace", 0.0)), mdp)
        assert abs(found.q_hat - expected.q_hat).max() <= 1e-8 * abs(expected.q_hat).max()


def test_too_few_sweeps():
    with pytest.raises(InvalidInput, match="did not settle within 2 sweeps"):
        estimate(LSPE(sweeps=2), ergodic(5, 2))


def test_one_sweep_is_a_regression_on_rewards():
    """From w = 0 with one-hot features: r̄(x, a) n/(n + ridge) − g n/(n + ridge)."""
    found, memory = estimate(LSPE(sweeps=1, tolerance=2.0), ergodic(3, 2))
    share = memory.visits / (memory.visits + 0.1)
    rewards = ergodic(3, 2).rewards[None]
    gain = (memory.visits * share * rewards).sum() / (memory.visits * share).sum()
    assert found.q_hat == pytest.approx(share * (rewards - gain))


def test_nothing_earned():
    mdp = ergodic(4, 2)
    found, memory = estimate(LSPE(), FiniteMDP(mdp.transitions, np.zeros((4, 2))))
    assert (found.q_hat == 0.0).all()
    assert found.rank.tolist() == [8]
    most, least = memory.visits.max() + 0.1, memory.visits.min() + 0.1
    assert found.conditioning == pytest.approx([most / least])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"step": 0.0}, "step must be a finite number larger than 0, not 0.0"),
        ({"tolerance": 0.0}, "tolerance must be a finite number larger than 0, not 0.0"),
        ({"sweeps": 0}, "sweeps must be at least 1, not 0"),
    ],
)
def test_wrong_arguments(arguments, line):
    with pytest.raises(InvalidInput) as error:
        aapi.run(aapi.AAPI(phase_length=50, evaluate=LSPE(**arguments)), ergodic(5, 2), 100)
    assert str(error.value) == line
