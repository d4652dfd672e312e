"""Predictions of an agent: for one observation in a few microseconds, or for a batch."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aapi.environments.observations import Batches
from aapi.features import VectorFeatures
from aapi.simulation.masks import redirected, redirected_actions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from aapi.agent.agent import Agent
    from aapi.approximation import Policy
    from aapi.approximation.space import Actor
    from aapi.array_types import AnyArray, Array, Integers, Mask
    from aapi.environments.observations import Batch, Observations
    from aapi.gymnasium_types import Observation


class Present(NamedTuple):
    """A policy, ready to act. draw, choose: from a state to an action; state: what was known, after `time` steps.

    policy: as its learner names actions; obeying: the same without what tables know to be forbidden.
    """

    state: Callable[[], Any]
    time: int
    policy: Policy
    obeying: Policy
    draw: Actor
    choose: Actor


class Predictor:
    """What `Agent.predict` and `Agent.probabilities` do."""

    def __init__(self, agent: Agent, observations: Observations) -> None:
        self._agent, self._space, self._simulation = agent, agent.space, agent.simulation
        self._start, self._made = int(agent.action_space.start), Present(lambda: None, -1, None, None, int, int)
        self._batches = Batches(agent.observation_space, observations)
        self._own = callable(agent.features) and not isinstance(agent.features, VectorFeatures)

    def predict(self, observation: Observation, deterministic: bool, mask: ArrayLike | None) -> int | Integers:
        """An action, or those for a batch."""
        present = self._present()
        batch = self._batches.read(observation)
        if batch is not None:
            return self._start + self._actions(present, self._states(batch), deterministic, mask)
        state, masks = self._simulation.encoded(observation), self._simulation.masks
        if not deterministic:
            action, allowed = present.draw(state), masks.of(state) if mask is None else mask
            return self._start + (action if allowed is None else masks.acts_as(allowed)[action])
        return self._start + (present.choose(state) if mask is None else int(self._one(state, mask).argmax()))

    def probabilities(self, observation: Observation, mask: ArrayLike | None) -> Array:
        """π(·|observation), or of each one of a batch."""
        batch = self._batches.read(observation)
        if batch is None:
            return self._one(self._simulation.encoded(observation), mask)
        return self._several(self._states(batch), mask)

    def _present(self) -> Present:
        """The policy, which is made ready anew after something was learnt."""
        agent, made = self._agent, self._made
        state = agent.session.state
        if made.time != self._simulation.time or made.state() is not state:
            policy = agent.algorithm.current_policy(state)
            obeying = self._simulation.masks.in_table(policy)
            draw, choose = self._space.actor(policy, agent._predictions), self._space.chooser(obeying)
            made = self._made = Present(weakref.ref(state), self._simulation.time, policy, obeying, draw, choose)
        return made

    def _one(self, state: Any, mask: ArrayLike | None) -> Array:
        """π(·|state)."""
        present, masks = self._present(), self._simulation.masks
        policy = present.obeying if mask is None else present.policy
        found = np.asarray(self._space.probabilities(policy, np.asarray(state)[None, None])[0, 0])
        return found if mask is None else masks.restricted(found, mask)

    def _several(self, states: AnyArray, mask: ArrayLike | None) -> Array:
        """π(·|x) of some states, (n, actions)."""
        present = self._present()
        policy = present.obeying if mask is None else present.policy
        found = np.asarray(self._space.probabilities(policy, states[None])[0])
        return found if mask is None else redirected(found, self._allowed(mask, len(states)))

    def _actions(self, present: Present, states: AnyArray, deterministic: bool, mask: ArrayLike | None) -> Integers:
        if deterministic:
            if mask is None:
                return self._space.most_likely_actions(present.obeying, states)
            return np.asarray(self._several(states, mask).argmax(axis=1))
        table = self._simulation.masks.table
        actions = self._space.draw(present.policy, self._agent._predictions, states)
        if mask is None and table is None:
            return actions
        allowed = np.asarray(table)[states] if mask is None else self._allowed(mask, len(states))
        return redirected_actions(actions, allowed)

    def _states(self, batch: Batch) -> AnyArray:
        """The observations of a batch as states: whole numbers, or vectors."""
        if self._space.countable:
            return self._batches.states(batch)
        if self._own:
            each = [self._simulation.encoded(one) for one in self._batches.split(batch)]
            return np.array(each).reshape(batch.number, *self._space.state_shape)
        return self._batches.vectors(batch)

    def _allowed(self, mask: ArrayLike, number: int) -> Mask:
        """One mask for all observations of a batch, or one for each, as (n, actions)."""
        masks, rows = self._simulation.masks, np.asarray(mask)
        if rows.shape != (number, self._space.num_actions):
            return np.broadcast_to(masks.check(rows), (number, self._space.num_actions))
        for row in np.unique(rows, axis=0):
            masks.check(row)
        return np.asarray(rows != 0)
