"""Names of what is observed and done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from aapi.errors import InvalidInput

NamesGiven: TypeAlias = "Names | Mapping[str, Sequence[str]] | None"


@dataclass(frozen=True)
class Names:
    """Names of the numbers of an observation, and of the actions; empty where there are none."""

    observations: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    def filled(self, dimension: int, num_actions: int, first_action: int = 0) -> Names:
        """The same with plain names where there are none; an error if these are too few or too many."""
        plain = ("observation",) if dimension == 1 else tuple(f"observation[{i}]" for i in range(dimension))
        numbers = tuple(str(first_action + a) for a in range(num_actions))
        found = Names(self.observations or plain, self.actions or numbers)
        wanted = (("observations", found.observations, dimension), ("actions", found.actions, num_actions))
        for what, names, count in wanted:
            if len(names) != count:
                raise InvalidInput(f"there are {count} {what} to name, and {len(names)} names: {', '.join(names)}")
        return found

    def fitting(self, dimension: int, num_actions: int) -> Names:
        """Those of which there are as many as there are things to name: wrappers may show and do other things."""
        return Names(
            self.observations if len(self.observations) == dimension else (),
            self.actions if len(self.actions) == num_actions else (),
        )

    def updated(self, given: NamesGiven) -> Names:
        """With others in the place of these, where they are given."""
        if given is None:
            return self
        if isinstance(given, Names):
            given = {"observations": given.observations, "actions": given.actions}
        if not isinstance(given, Mapping) or not given.keys() <= {"observations", "actions"}:
            raise InvalidInput(f'names are {{"observations": […], "actions": […]}}, not {given!r}')
        found = {what: _texts(names) for what, names in given.items()}
        if wrong := [what for what, names in found.items() if names is None]:
            raise InvalidInput(f"names of {wrong[0]} are a list of texts, not {given[wrong[0]]!r}")
        return Names(found.get("observations") or self.observations, found.get("actions") or self.actions)


@runtime_checkable
class _NamesObservations(Protocol):
    observation_names: object


@runtime_checkable
class _NamesActions(Protocol):
    action_names: object


def names_of(env: object) -> Names:
    """What an environment offers as `observation_names` and `action_names`, lists of texts."""
    observations = _texts(env.observation_names) if isinstance(env, _NamesObservations) else None
    actions = _texts(env.action_names) if isinstance(env, _NamesActions) else None
    return Names(observations or (), actions or ())


def _texts(given: object) -> tuple[str, ...] | None:
    """A list or tuple of texts as a tuple; None if it is none."""
    if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        return tuple(given)
    return None
