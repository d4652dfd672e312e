"""Logs of transitions, drawn in plain NumPy: many at once, actions uniform at random."""

import numpy as np


def uniform_logs(mdp, steps, count, seed):
    """Arrays (count, steps) of states, actions, rewards and next states."""
    rng = np.random.default_rng(seed)
    dense = mdp.transitions.toarray() if mdp.is_sparse else np.asarray(mdp.transitions)
    cumulated = dense.reshape(mdp.num_states, mdp.num_actions, -1).cumsum(axis=2)
    cumulated[:, :, -1] = 1.0
    states, actions = np.empty((2, count, steps + 1), dtype=np.int64)
    states[:, 0] = mdp.initial_state
    for t in range(steps):
        actions[:, t] = rng.integers(mdp.num_actions, size=count)
        below = cumulated[states[:, t], actions[:, t]] < rng.random(count)[:, None]
        states[:, t + 1] = below.sum(axis=1)
    rewards = mdp.rewards[states[:, :-1], actions[:, :-1]]
    if mdp.reward_spread is not None:
        rewards = rewards + mdp.reward_spread[states[:, :-1], actions[:, :-1]] * rng.standard_normal(rewards.shape)
    return states[:, :-1], actions[:, :-1], rewards, states[:, 1:]


def columns(logs, number):
    """One of these logs, as `estimate_model` takes it."""
    return {name: array[number] for name, array in zip(("state", "action", "reward", "next_state"), logs, strict=True)}
