"""Names for Gymnasium's types, whose observations may be anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import gymnasium


Observation: TypeAlias = Any  # a number, an array, a tuple or a dict, as the space of the environment says
Action: TypeAlias = Any  # likewise
Info: TypeAlias = dict[str, Any]  # what reset() and step() return besides; also the options of reset()
Env: TypeAlias = "gymnasium.Env[Any, Any]"
AnyVectorEnv: TypeAlias = "gymnasium.vector.VectorEnv[Any, Any, Any]"
Space: TypeAlias = "gymnasium.Space[Any]"
