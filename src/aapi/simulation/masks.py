"""Forbidden actions: what `action_mask` in the info of an environment allows, and what a forbidden action acts as."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aapi.approximation.rule_policy import RulePolicy
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from aapi.approximation import Policy, QSpace
    from aapi.array_types import Array, Integers, Mask


class ActionMasks:
    """The masks of an environment, as they are met; and, in tables, those of all states seen.

    A forbidden action acts as the first that is allowed: it is another name for that one. So to a learner every action
    is there to be tried in every state, none waits for what can never be seen, and its policies are worth what they do.

    table: what was allowed whenever a state was seen, (states, actions), or what was allowed last if that is nothing;
    None before the first mask, and where states cannot be counted.
    """

    def __init__(self, space: QSpace) -> None:
        self.shape, self.countable = space.shape(1)[1:], space.countable
        self.table: Mask | None = None
        self._known: dict[tuple[str, bytes], list[int]] = {}
        self._last: dict[int, bytes] = {}  # by state
        self._warned = False

    def acts_as(self, mask: object) -> list[int]:
        """The action that each one acts as under a mask: itself, or the first that is allowed."""
        array = np.asarray(mask)
        key = array.dtype.str, array.tobytes()
        known = self._known.get(key)
        if known is None or array.shape != self.shape[1:]:
            allowed = self.check(array)
            known = np.where(allowed, np.arange(len(allowed)), int(allowed.argmax())).tolist()
            self._known[key] = known
        return known

    def check(self, mask: object) -> Mask:
        """A mask as true and false for every action, or an error."""
        array = np.asarray(mask)
        if array.shape != self.shape[1:] or array.dtype.kind not in "biuf":
            raise InvalidInput(
                f"action_mask must hold 1 or 0 for each of {self.shape[1]} actions, not {array.dtype} of shape "
                f"{array.shape}"
            )
        if not array.any():
            raise InvalidInput("action_mask forbids every action: allow one")
        return np.asarray(array != 0)

    def see(self, state: Any, mask: object) -> None:
        """Remember the mask of a state, if states can be counted."""
        if not self.countable:
            return
        key = np.asarray(mask).tobytes()
        last = self._last.get(state)
        if last == key:
            return
        allowed = self.check(mask)
        if self.table is None:
            self.table = np.ones(self.shape, dtype=bool)
        before = self.table[state]
        if last is not None and not self._warned and not (before == allowed).all():
            self._warned = True
            warnings.warn(
                f"what is allowed changed in one state, {state}: what the environment allows is obeyed at every step, "
                "and predictions take actions that were always allowed; better give what it depends on in observations",
                stacklevel=2,
            )
        both = before & allowed
        self.table[state] = both if both.any() else allowed
        self._last[state] = key

    def of(self, state: Any) -> Mask | None:
        """What is allowed in a state, if a table knows it."""
        return None if self.table is None else self.table[state]

    def restricted(self, probabilities: Array, mask: object) -> Array:
        """Probabilities of actions, (actions,), with those of forbidden ones given to what these act as."""
        allowed = np.zeros_like(probabilities)
        np.add.at(allowed, self.acts_as(mask), probabilities)
        return allowed

    def in_table(self, policy: Policy) -> Policy:
        """A policy in which nothing is forbidden, as far as a table knows."""
        if self.table is None:
            return policy
        if isinstance(policy, RulePolicy):
            return replace(policy, allowed=self.table)
        return redirected(policy[0], self.table)[None]


def redirected(probabilities: Array, allowed: Mask) -> Array:
    """Probabilities, (n, actions), with those of forbidden actions given to the first that is allowed."""
    done = np.where(allowed, probabilities, 0.0)
    done[np.arange(len(done)), allowed.argmax(axis=1)] += np.where(allowed, 0.0, probabilities).sum(axis=1)
    return done


def redirected_actions(actions: Integers, allowed: Mask) -> Integers:
    """Actions, (n,), with the first that is allowed in place of forbidden ones."""
    return np.where(allowed[np.arange(len(actions)), actions], actions, allowed.argmax(axis=1))
