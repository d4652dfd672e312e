"""RLSVI on weights, against regressions in plain NumPy."""

import numpy as np
import pytest

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole
from aapi.features import Fourier
from aapi.kernels.random import fill_normal


@pytest.mark.parametrize("form", ["relative", "finite-horizon", "discounted"])
def test_rlsvi_draws_from_the_regressions_it_says(form):
    variance, ridge = 0.3, 0.4
    learner = aapi.RLSVI(phase_length=80, horizon=3, form=form, ridge=ridge, noise_variance=variance, memory=120)
    simulation = simulator(cartpole(), Fourier(1), 2)([0])
    basis, state = simulation.space.basis, learner.init(simulation.space, 1)
    state, _ = learner.update(state, simulation.rollout(learner.act(state), 80))
    data, stream = simulation.rollout(learner.act(state), 80), simulation.streams[0].copy()
    state, _ = learner.update(state, data)
    (window,) = state.memories.values()
    assert window.rewards.shape == (1, 120)  # the rest is forgotten
    psi, after, size = basis(window.states[0]), basis(window.successors[0]), basis.num_features
    assert (after[-80:] == basis(np.concatenate([data.states[0, 1:], data.last_state]))).all()
    theta, noise = np.zeros((size, 2)), np.empty(2 * size)
    for _ in range(3):
        draws = []
        offset = (psi @ theta).max(axis=1).mean() if form == "relative" else 0.0
        discount = 2 / 3 if form == "discounted" else 1.0
        targets = window.rewards[0] + discount * ((after @ theta).max(axis=1) - offset)
        fill_normal(stream, noise)
        for action in range(2):
            of = window.actions[0] == action
            matrix = psi[of].T @ psi[of] / variance + ridge * np.eye(size)
            mean = np.linalg.solve(matrix, psi[of].T @ targets[of] / variance)
            rough = np.linalg.solve(np.linalg.cholesky(matrix).T, noise[action * size : (action + 1) * size])
            draws.append(mean + rough)
        theta = np.stack(draws, axis=1)
    assert state.q_hat[0] == pytest.approx(theta, rel=1e-6, abs=1e-6)
