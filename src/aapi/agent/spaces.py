"""Gymnasium spaces as JSON, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from gymnasium import spaces

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aapi.environments.copies import Copies
    from aapi.gymnasium_types import Env, Space
    from aapi.json_types import JsonObject


def described_space(space: Space) -> JsonObject:
    """A space as JSON. Equal descriptions are equal spaces, down to the order of a Dict."""
    if isinstance(space, spaces.Dict):
        return {"space": "Dict", "parts": [[key, described_space(part)] for key, part in space.items()]}
    if isinstance(space, spaces.Tuple):
        return {"space": "Tuple", "parts": [described_space(part) for part in space]}
    if isinstance(space, spaces.Discrete):
        return {"space": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        whole = {"n": space.nvec.tolist(), "start": space.start.tolist()}
        return {"space": "MultiDiscrete", "dtype": str(space.dtype)} | whole
    if isinstance(space, spaces.MultiBinary):
        return {"space": "MultiBinary", "n": space.n if isinstance(space.n, int) else list(map(int, space.shape))}
    box = cast("spaces.Box", space)
    return {
        "space": "Box",
        "low": [float(value).hex() for value in np.ravel(box.low)],
        "high": [float(value).hex() for value in np.ravel(box.high)],
        "shape": list(box.shape),
        "dtype": str(box.dtype),
    }


def made_space(described: Mapping[str, Any]) -> Space:
    """The space that `described_space` described."""
    kind = described["space"]
    if kind == "Dict":
        return spaces.Dict([(key, made_space(part)) for key, part in described["parts"]])
    if kind == "Tuple":
        return spaces.Tuple([made_space(part) for part in described["parts"]])
    if kind == "Discrete":
        return spaces.Discrete(described["n"], start=described["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(described["n"], dtype=np.dtype(described["dtype"]).type, start=described["start"])
    if kind == "MultiBinary":
        return spaces.MultiBinary(described["n"])
    if kind != "Box":
        raise InvalidInput(f"it names an unknown space, {kind!r}")
    shape, dtype = tuple(described["shape"]), np.dtype(described["dtype"])
    low, high = (
        np.array([float.fromhex(value) for value in described[end]]).astype(dtype).reshape(shape)
        for end in ("low", "high")
    )
    return spaces.Box(low, high, shape, dtype)


def check_same_spaces(env: Env | Copies, observation_space: Space, action_space: Space) -> None:
    """Raise an error if an environment's spaces are not those that an agent learnt with."""
    name = env.spec.id if env.spec else "this environment"
    for given, learnt, what in (
        (env.observation_space, observation_space, "observations"),
        (env.action_space, action_space, "actions"),
    ):
        if type(given) is not type(learnt) or described_space(given) != described_space(learnt):
            raise InvalidInput(
                f"the agent learnt with {what} {learnt}, and those of {name} are {' '.join(str(given).split())}"
            )
