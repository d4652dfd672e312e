"""Saved agents: arrays and JSON in one .npz file. Loading builds what it names, from a list, and never runs code."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

import aapi
from aapi import algorithms, evaluation, features, improvement
from aapi.agent.agent import Agent, continuing
from aapi.environments.continuing import Continuing
from aapi.errors import AapiError, InvalidInput
from aapi.files import atomic_write, read_arrays
from aapi.improvement.history import matching

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import gymnasium

__all__ = ["FORMAT", "load", "made_environment", "save"]

FORMAT = 1
PARTS: dict[str, Any] = {
    part.__name__: part
    for part in (
        algorithms.PolicyIteration, algorithms.RLSVI, evaluation.MonteCarlo, improvement.Adaptive,
        improvement.SampledAdaptive, improvement.Scheduled, improvement.PreviousEstimate, improvement.Zero,
        features.OneHot, features.Fourier, features.Tiles, features.Radial,
    )
}  # fmt: skip


def save(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent; the file appears whole or not at all."""
    simulation = agent.simulation
    filled = simulation.filled
    arrays = {f"history_{name}": array for name, array in agent.history.arrays().items()}
    arrays |= {
        "stream": simulation.streams,
        "predictions": agent._predictions,
        "phase_states": simulation.states[:, :filled],
        "phase_actions": simulation.actions[:, :filled],
        "phase_rewards": simulation.rewards[:, :filled],
    }
    snapshot = None
    if simulation.current is not None:
        arrays["current"] = np.asarray(simulation.current)
        if agent.env is not None:
            snapshot = agent.env.snapshot()
            if "actions" in snapshot:
                arrays["snapshot_actions"] = snapshot.pop("actions")
    description = {
        "format": FORMAT,
        "aapi": aapi.__version__,
        "algorithm": _described(agent.algorithm),
        "features": _described(agent.features),
        "observation_space": _described_space(agent.observation_space),
        "action_space": _described_space(agent.action_space),
        "bounds": agent.bounds,
        "env": _described_env(agent),
        "seed": agent.seed,
        "steps": simulation.time,
        "reward_sum": agent.reward_sum,
        "episodes": simulation.episodes,
        "snapshot": snapshot,
    }
    try:
        text = json.dumps(description, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this agent cannot be saved: {error}") from None
    arrays["agent"] = np.frombuffer(text.encode(), dtype=np.uint8)
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load(
    path: str | os.PathLike[str],
    env: gymnasium.Env[Any, Any] | None = None,
    *,
    algorithm: Any = None,
    features: Any = None,
) -> Agent:
    """The agent in a file. With an environment, made as the first one was, it goes on learning as if it never stopped.

    algorithm, features: needed only if the agent has parts of your own, which a file cannot hold.
    """
    arrays = read_arrays(path, "a saved agent")
    description = _read_description(path, arrays)
    try:
        return _rebuilt(description, arrays, env, algorithm, features)
    except AapiError as error:
        raise InvalidInput(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InvalidInput(f"{path} is damaged or was altered ({type(error).__name__}: {error})") from None


def made_environment(
    path: str | os.PathLike[str], name: str | None, make: Callable[..., gymnasium.Env[Any, Any]], **arguments: Any
) -> Continuing:
    """An environment like the one that the agent in a file learnt in. `make` makes it, from its id, or from `name`."""
    described = _read_description(path, read_arrays(path, "a saved agent")).get("env")
    if not isinstance(described, dict) or not (name or isinstance(described.get("id"), str)):
        raise InvalidInput(f"{path} does not say which environment it learnt in: give its id")
    if name is None and ":" in described["id"]:  # which would import a module that the file names
        raise InvalidInput(f"{path} learnt in {described['id']}: name it, if you trust that module")
    given = described.get("kwargs")
    env = make(name or described["id"], **(given if isinstance(given, dict) else {}), **arguments)
    ending = described.get("ending")
    if ending is None:
        raise InvalidInput(f"{path} learnt with an ending rule of your own, which a file cannot hold: use aapi.load")
    return Continuing(env, ending, described.get("limit"))


def _read_description(path: str | os.PathLike[str], arrays: dict[str, Any]) -> dict[str, Any]:
    """What a file says of its agent, checked for its version only."""
    if "agent" not in arrays:
        raise InvalidInput(f"{path} is not a saved agent: it holds {', '.join(arrays) or 'nothing'}")
    try:
        description = json.loads(arrays["agent"].tobytes())
        version = description["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput(f"{path} is damaged or was altered: its description cannot be read") from None
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        raise InvalidInput(
            f"{path} has format {version!r}, and this version of aapi reads format {FORMAT}"
            + (": upgrade aapi to read it" if newer else "")
        )
    found: dict[str, Any] = description
    return found


def _rebuilt(
    description: dict[str, Any], arrays: dict[str, Any], env: Any, algorithm: Any, features: Any
) -> Agent:  # fmt: skip
    agent = Agent.__new__(Agent)
    agent.env = None if env is None else continuing(env)
    observation_space, action_space = (_space(description[name]) for name in ("observation_space", "action_space"))
    if env is not None and (env.observation_space, env.action_space) != (observation_space, action_space):
        raise InvalidInput(
            f"the agent learnt with observations {observation_space} and actions {action_space}, "
            f"not {env.observation_space} and {env.action_space}"
        )
    agent._set_up(
        algorithm or _part(description["algorithm"], "algorithm"),
        observation_space,
        action_space,
        features or _part(description["features"], "features"),
        description["seed"],
        tuple(description["bounds"]),
    )
    prefix = "history_"
    agent.history.restore({name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)})
    agent.reward_sum = float(description["reward_sum"])
    agent._predictions[:] = matching(arrays, "predictions", agent._predictions)
    simulation = agent.simulation
    simulation.streams[:] = matching(arrays, "stream", simulation.streams)
    simulation.time, simulation.episodes = int(description["steps"]), list(description["episodes"])
    filled = arrays["phase_rewards"].shape[1]
    if filled > simulation.phase_length or not math.isfinite(agent.reward_sum):
        raise InvalidInput("the phase under way is longer than a phase")
    for name in ("states", "actions", "rewards"):
        room = getattr(simulation, name)
        room[:, :filled] = matching(arrays, f"phase_{name}", room[:, :filled])
    simulation.filled = filled
    snapshot = description["snapshot"]
    if snapshot is not None:
        if "snapshot_actions" in arrays:
            snapshot["actions"] = arrays["snapshot_actions"]
        if agent.env is not None:
            agent.env.restore(snapshot)
            current = arrays["current"]
            simulation.current = int(current) if agent.basis is None else np.array(current, dtype=np.float64)
    return agent


def _described(part: Any) -> Any:
    """A part as its name and arguments; one of the user's, which has no name here, as what it calls itself."""
    if dataclasses.is_dataclass(part) and PARTS.get(type(part).__name__) is type(part):
        fields = {field.name: _described(getattr(part, field.name)) for field in dataclasses.fields(part)}
        return {"part": type(part).__name__} | fields
    if part is None or isinstance(part, bool | int | float | str):
        return part
    if isinstance(part, list | tuple | np.ndarray):
        return [_described(value) for value in part]
    if isinstance(part, np.generic):
        return part.item()
    return {"own": getattr(part, "__name__", type(part).__name__)}


def _part(described: Any, what: str) -> Any:
    if isinstance(described, list):
        return tuple(_part(value, what) for value in described)
    if not isinstance(described, dict):
        return described
    if "own" in described:
        raise InvalidInput(f"it was made with your own {described['own']}: pass {what}=… to load")
    name = described.get("part")
    if name not in PARTS:
        raise InvalidInput(f"it names an unknown part, {name!r}")
    fields = {key: _part(value, what) for key, value in described.items() if key != "part"}
    return PARTS[name](**fields)


def _described_space(space: Any) -> Any:
    if isinstance(space, spaces.Dict):
        return {"space": "Dict", "parts": [[key, _described_space(part)] for key, part in space.items()]}
    if isinstance(space, spaces.Tuple):
        return {"space": "Tuple", "parts": [_described_space(part) for part in space]}
    if isinstance(space, spaces.Discrete):
        return {"space": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"space": "MultiDiscrete", "n": space.nvec.tolist(), "start": space.start.tolist()}
    if isinstance(space, spaces.MultiBinary):
        return {"space": "MultiBinary", "shape": list(space.shape)}
    return {
        "space": "Box",
        "low": [float(value).hex() for value in np.ravel(space.low)],
        "high": [float(value).hex() for value in np.ravel(space.high)],
        "shape": list(space.shape),
        "dtype": str(space.dtype),
    }


def _space(described: dict[str, Any]) -> Any:
    kind = described["space"]
    if kind == "Dict":
        return spaces.Dict({key: _space(part) for key, part in described["parts"]})
    if kind == "Tuple":
        return spaces.Tuple([_space(part) for part in described["parts"]])
    if kind == "Discrete":
        return spaces.Discrete(described["n"], start=described["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(described["n"], start=described["start"])
    if kind == "MultiBinary":
        return spaces.MultiBinary(described["shape"])
    if kind != "Box":
        raise InvalidInput(f"it names an unknown space, {kind!r}")
    shape, dtype = tuple(described["shape"]), np.dtype(described["dtype"])
    low, high = (
        np.array([float.fromhex(value) for value in described[end]]).astype(dtype).reshape(shape)
        for end in ("low", "high")
    )
    return spaces.Box(low, high, shape, dtype)


def _described_env(agent: Agent) -> Any:
    """How the environment was made, for the command; a file never makes one by itself."""
    if agent.env is None:
        return getattr(agent, "described_env", None)
    spec = agent.env.env.spec
    arguments = agent.env._saved_kwargs
    ending, limit = arguments["ending"], arguments["limit"]
    return {
        "id": spec.id if spec else None,
        "kwargs": {key: value for key, value in (spec.kwargs if spec else {}).items() if key != "render_mode"},
        "ending": None if callable(ending) else ending,
        "limit": limit,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return repr(value)
