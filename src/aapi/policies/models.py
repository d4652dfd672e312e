"""Policies of finite models as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput
from aapi.mdp import policy_values
from aapi.policies.names import Names
from aapi.policies.table import PolicyTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array
    from aapi.mdp import FiniteMDP
    from aapi.policies.names import NamesGiven


def policy_table(model: FiniteMDP, policy: ArrayLike, names: NamesGiven = None) -> PolicyTable:
    """What a policy does in the states of a model, where it spends most of its time first.

    policy: an action for each state, as `solve` gives, or probabilities, (states, actions).
    names: of the coordinates of states, and of the actions: {"observations": […], "actions": […]}.
    """
    probabilities = _probabilities(model, policy)
    values = policy_values(model, probabilities)
    visits = None
    if len(values.chain.recurrent_classes) == 1:  # with several, shares depend on the start
        visits = values.stationary_distribution[:, None] * probabilities
    order = np.arange(model.num_states) if visits is None else np.argsort(-visits.sum(axis=1), kind="stable")
    states = np.arange(model.num_states)[:, None] if model.coordinates is None else model.coordinates
    dimension, known = states.shape[1], Names(actions=tuple(model.action_names or ()))
    if model.coordinates is None:
        known = known.updated(Names(observations=("state",)))
    elif model.grid_shape is not None:
        known = known.updated(Names(observations=("row", "column")))
    return PolicyTable(
        np.asarray(states[order], dtype=np.float64), probabilities[order],
        None if visits is None else visits[order],
        known.updated(names).filled(dimension, model.num_actions),
        None if model.state_names is None else tuple(model.state_names[x] for x in order),
        f"a policy of {model.num_states} states",
        "share of time",
    )  # fmt: skip


def _probabilities(model: FiniteMDP, policy: ArrayLike) -> Array:
    array = np.asarray(policy)
    if array.shape == (model.num_states,) and array.dtype.kind in "iu":
        if array.min() < 0 or array.max() >= model.num_actions:
            raise InvalidInput(f"actions lie in 0..{model.num_actions - 1}, not {array.min()} to {array.max()}")
        return np.asarray(np.eye(model.num_actions)[array])
    if array.shape != (model.num_states, model.num_actions):
        raise InvalidInput(
            f"a policy is an action for each of {model.num_states} states, or probabilities of shape "
            f"{(model.num_states, model.num_actions)}, not an array of shape {array.shape}"
        )
    return array.astype(np.float64)
