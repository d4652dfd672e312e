"""Random models and policies, and an independent way to solve them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import processes
import scipy.optimize
import scipy.sparse
from hypothesis import strategies as st

from aapi.mdp import FiniteMDP


@st.composite
def models(draw: st.DrawFn, max_states: int = 7, max_actions: int = 3) -> FiniteMDP:
    """Small models of every kind: deterministic and random, unichain, multichain, periodic; dense or sparse."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states, actions = draw(st.integers(1, max_states)), draw(st.integers(1, max_actions))
    branching = draw(st.integers(1, states))
    transitions = np.zeros((states, actions, states))
    for x, a in np.ndindex(states, actions):
        successors = random.choice(states, size=random.integers(1, branching + 1), replace=False)
        transitions[x, a, successors] = random.dirichlet(np.ones(len(successors)))
    transitions /= transitions.sum(axis=2, keepdims=True)
    rewards = random.choice([-1.0, 0.0, 0.5, 2.0], size=(states, actions)) + draw(st.sampled_from([0.0, 10.0]))
    rewards = rewards * draw(st.sampled_from([1e-6, 1.0, 1e6]))
    if draw(st.booleans()):
        return FiniteMDP(scipy.sparse.csr_array(transitions.reshape(states * actions, states)), rewards)
    return FiniteMDP(transitions, rewards)


@st.composite
def policies(draw: st.DrawFn, mdp: FiniteMDP) -> np.ndarray:
    """Stationary policies, most with zero probabilities, some deterministic."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = random.random((mdp.num_states, mdp.num_actions)) * (
        random.random((mdp.num_states, mdp.num_actions)) < 0.5
    )
    weights[np.arange(mdp.num_states), random.integers(mdp.num_actions, size=mdp.num_states)] += 0.3
    return weights / weights.sum(axis=1, keepdims=True)


def dense_transitions(mdp: FiniteMDP) -> np.ndarray:
    """P as a (states, actions, states) array, however the model holds it."""
    rows = mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions
    return rows.reshape(mdp.num_states, mdp.num_actions, mdp.num_states)


def linear_program_gains(mdp: FiniteMDP) -> np.ndarray:
    """The optimal gain of every state by the dual of the multichain linear program (Puterman 1994, section 9.3).

    maximise Σ r·x subject to Σ_a x(j,a) = Σ p(j|s,a) x(s,a) and Σ_a x(j,a) + Σ_a y(j,a) − Σ p(j|s,a) y(s,a) = α_j.
    The gains are the multipliers of the second set of constraints.
    """
    n, a = mdp.num_states, mdp.num_actions
    flow = (np.repeat(np.eye(n), a, axis=0) - dense_transitions(mdp).reshape(n * a, n)).T
    occupancy = np.repeat(np.eye(n), a, axis=0).T
    scale = float(np.abs(mdp.rewards).max()) or 1.0
    result = scipy.optimize.linprog(
        -np.concatenate([mdp.rewards.ravel() / scale, np.zeros(n * a)]),
        A_eq=np.block([[flow, np.zeros((n, n * a))], [occupancy, flow]]),
        b_eq=np.concatenate([np.zeros(n), np.full(n, 1.0 / n)]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return -np.asarray(result.eqlin.marginals[n:]) * scale


def interpreted(file: str, function: str) -> object:
    """What a function of a test module returns, in JSON, where kernels run in plain Python."""
    module = Path(file).stem
    script = f"import {module}, json; print(json.dumps({module}.{function}()))"
    path = os.pathsep.join([str(Path(file).parent), *filter(None, sys.path)])
    environment = {**os.environ, "AAPI_INTERPRETED": "1", "PYTHONPATH": path}
    return json.loads(processes.python("-c", script, env=environment, check=True).stdout)
