"""Saved agents: arrays and JSON in one .npz file. Loading builds what it names, from a list, and never runs code."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

import aapi
from aapi import algorithms, evaluation, exploration, features, improvement, schedules
from aapi.agent.agent import Agent, continuing, holds_continuing
from aapi.agent.spaces import check_same_spaces, described_space, made_space
from aapi.checks import at_least, matching, within
from aapi.environments.continuing import Continuing
from aapi.errors import AapiError, InvalidInput
from aapi.files import atomic_write, read_arrays

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["FORMAT", "load", "made_environment", "save"]

FORMAT = 2
LONGEST = 1 << 31  # a phase
# Which parts may stand where.
PLACES: dict[str, tuple[Any, ...]] = {
    "algorithm": (algorithms.PolicyIteration, algorithms.RLSVI, algorithms.Uniform),
    "features": (features.OneHot, features.Fourier, features.Tiles, features.Radial),
    "phase_length": (schedules.Growing,),
    "evaluate": (
        evaluation.Automatic,
        evaluation.ImportanceMonteCarlo,
        evaluation.LSPE,
        evaluation.LSTD,
        evaluation.MonteCarlo,
        evaluation.SelfConsistent,
        evaluation.PosteriorSampled,
    ),
    "learning_rate": (improvement.Adaptive, improvement.SampledAdaptive, improvement.Scheduled),
    "side_information": (
        improvement.ExponentialAverage,
        improvement.Predicted,
        improvement.PreviousEstimate,
        improvement.Zero,
    ),
    "exploration": (
        exploration.Discovery,
        exploration.FewestVisits,
        exploration.PosteriorSampling,
        exploration.UniformShare,
    ),
}
PARTS = {part for parts in PLACES.values() for part in parts}


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
    where = agent.whereabouts
    if agent.env is not None:
        where = {"env": _described_env(agent.env), "snapshot": None, "current": None}
        if simulation.current is not None:
            where |= {"snapshot": agent.env.snapshot(), "current": np.asarray(simulation.current)}
    snapshot = where["snapshot"] and dict(where["snapshot"])
    if snapshot:
        arrays["current"] = where["current"]
        if "actions" in snapshot:
            arrays["snapshot_actions"] = snapshot.pop("actions")
    description = {
        "format": FORMAT,
        "aapi": aapi.__version__,
        "algorithm": _described(agent.algorithm),
        "features": _described(agent.features),
        "observation_space": described_space(agent.observation_space),
        "action_space": described_space(agent.action_space),
        "bounds": agent.bounds,
        "env": where["env"],
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
        np.savez_compressed(file, **arrays)


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
    except MemoryError:
        raise InvalidInput(f"{path} describes an agent that does not fit into memory") from None
    except (
        KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError,
        gymnasium.error.Error,
    ) as error:  # fmt: skip
        told = " ".join(str(error).split())[:200]
        raise InvalidInput(f"{path} is damaged or was altered ({type(error).__name__}: {told})") from None


def made_environment(
    path: str | os.PathLike[str], name: str | None, make: Callable[..., gymnasium.Env[Any, Any]], **arguments: Any
) -> Continuing:
    """An environment like the one that the agent in a file learnt in. `make` makes it, from its id, or from `name`."""
    described = _read_description(path, read_arrays(path, "a saved agent")).get("env")
    if not isinstance(described, dict) or not (name or isinstance(described.get("id"), str)):
        raise InvalidInput(f"{path} does not say which environment it learnt in: give its id")
    if name is None and ":" in described["id"]:  # which would import a module that the file names
        raise InvalidInput(f"{path} learnt in {described['id']}: name it, if you trust that module")
    kwargs = described.get("kwargs")
    given = dict(kwargs) if name is None and isinstance(kwargs, dict) else {}
    if described.get("wrappers"):
        wrappers = ", ".join(map(str, described["wrappers"]))
        raise InvalidInput(f"{path} learnt under wrappers ({wrappers}), which a file cannot hold: use aapi.load")
    if name is None and described.get("max_episode_steps") is not None:
        given["max_episode_steps"] = described["max_episode_steps"]
    try:
        env = make(name or described["id"], **{**given, **arguments})
    except InvalidInput as error:
        if name is not None:
            raise
        raise InvalidInput(
            f"{path} learnt in {described['id']}; {error}; name it as module:{described['id']}"
        ) from None
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
    if version not in (1, FORMAT):  # 1 had phases of one length, and no memories
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
    agent.env = None if env is None else _as_it_was(env, description["env"] or {})
    observation_space, action_space = (made_space(description[name]) for name in ("observation_space", "action_space"))
    if env is not None:
        check_same_spaces(env, observation_space, action_space)
    agent._set_up(
        algorithm or _part(description["algorithm"], "algorithm"),
        observation_space,
        action_space,
        features or _part(description["features"], "features"),
        description["seed"],
        tuple(description["bounds"]),
    )
    _restore_learning(agent, description, arrays)
    snapshot = description["snapshot"]
    current = None
    if snapshot is not None:
        current = _checked_current(agent, arrays["current"])
        if "snapshot_actions" in arrays:
            snapshot["actions"] = arrays["snapshot_actions"]
        if agent.env is not None:
            agent.env.restore(snapshot)
            agent.simulation.current = int(current) if agent.basis is None else np.array(current, dtype=np.float64)
    agent.whereabouts = {"env": description["env"], "snapshot": snapshot, "current": current}
    return agent


def _as_it_was(env: Any, rule: dict[str, Any]) -> Continuing:
    """The environment with the ending rule that the agent began with."""
    if not holds_continuing(env):
        if rule.get("ending") is None:
            raise InvalidInput("it learnt with an ending rule of your own: wrap the environment in Continuing, as then")
        return Continuing(env, rule["ending"], rule.get("limit"))
    wrapped = continuing(env)
    given = described_rule(wrapped)
    if any(given[name] != rule.get(name) for name in ("ending", "limit")):
        raise InvalidInput(f"it learnt with {_words(rule)}, and this environment has {_words(given)}")
    return wrapped


def described_rule(env: Continuing) -> dict[str, Any]:
    """The ending rule as JSON; a function of the user's has no form in it, and is None."""
    rule = env.rule
    return rule | {"ending": None if callable(rule["ending"]) else rule["ending"]}


def _words(rule: dict[str, Any]) -> str:
    ending = rule.get("ending")
    return f"ending {'of your own' if ending is None else repr(ending)} and limit {rule.get('limit')}"


def _restore_learning(agent: Agent, description: dict[str, Any], arrays: dict[str, Any]) -> None:
    """What was learnt, and the phase under way. Kernels check nothing, so that all of it is checked here."""
    simulation = agent.simulation
    prefix = "history_"
    stored = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    phase = int(matching(stored, "phase", np.array(0)))
    filled = arrays["phase_rewards"].shape[1]
    steps = description["steps"]
    at_least(filled, steps=steps)
    agent.history.restore(stored)
    if hasattr(agent.algorithm, "resume"):
        agent.algorithm.resume(simulation, agent.history, steps - filled)
    length = agent.history.steps
    if phase < 0 or not filled <= length <= LONGEST:
        raise InvalidInput(f"{filled} steps cannot be of phase {phase + 1}, which has {length}")
    alike = not callable(agent.algorithm.phase_length) and not getattr(agent.algorithm, "exploration", ())
    if alike and steps != phase * length + filled:
        raise InvalidInput(f"{steps!r} steps are not {phase} phases and {filled} steps of another")
    simulation.begin_phase(length)
    for name, stream in (("predictions", agent._predictions), ("stream", simulation.streams)):
        stream[:] = matching(arrays, name, stream)
        if not stream.any():
            raise InvalidInput(f"{name} is not the state of a random stream")
    for name in ("states", "actions", "rewards"):
        room = getattr(simulation, name)
        room[:, :filled] = matching(arrays, f"phase_{name}", room[:, :filled])
    within(simulation.actions[:, :filled], agent.num_actions, "phase_actions")
    if agent.basis is None:
        within(simulation.states[:, :filled], simulation.shape[1], "phase_states")
    simulation.time, simulation.filled = int(steps), filled
    agent.reward_sum = float(description["reward_sum"])
    episodes = [(e["length"] + 0, e["return"] + 0.0, e["terminated"]) for e in description["episodes"]]
    simulation.episodes = [dict(zip(("length", "return", "terminated"), e, strict=True)) for e in episodes]
    if not math.isfinite(agent.reward_sum):
        raise InvalidInput(f"reward_sum is {agent.reward_sum}, not a finite number")


def _checked_current(agent: Agent, current: Any) -> Any:
    """The state or vector that the agent was in."""
    if agent.basis is None:
        if current.shape != () or current.dtype.kind != "i":
            raise InvalidInput(f"current must be the number of a state, not {current.dtype} of shape {current.shape}")
        within(current, agent.simulation.shape[1], "current")
        return current
    return matching({"current": current}, "current", np.empty(agent.basis.dimension))


def _described(part: Any) -> Any:
    """A part as its name and arguments; one of the user's, which has no name here, as what it calls itself."""
    if dataclasses.is_dataclass(part) and type(part) in PARTS:
        fields = {field.name: _described(getattr(part, field.name)) for field in dataclasses.fields(part)}
        return {"part": type(part).__name__} | fields
    if part is None or isinstance(part, bool | int | float | str):
        return part
    if isinstance(part, list | tuple | np.ndarray):
        return [_described(value) for value in part]
    if isinstance(part, np.generic):
        return part.item()
    return {"own": getattr(part, "__name__", type(part).__name__)}


def _part(described: Any, place: str) -> Any:
    """The part that `_described` described, if it may stand in this place."""
    if not isinstance(described, dict):
        raise InvalidInput(f"{place} is {described!r}, not a part")
    if "own" in described:
        what = place if place == "features" else "algorithm"
        raise InvalidInput(f"it was made with your own {described['own']}: pass {what}=… to load")
    found = [part for part in PLACES[place] if part.__name__ == described.get("part")]
    if not found:
        raise InvalidInput(f"it names {described.get('part')!r} as {place}, which is unknown")
    fields = {name: value for name, value in described.items() if name != "part"}
    for name, value in fields.items():
        if name in PLACES and isinstance(value, list):
            fields[name] = tuple(_part(each, name) for each in value)
        elif name in PLACES and (name != "phase_length" or isinstance(value, dict)):
            fields[name] = _part(value, name)
        elif isinstance(value, list):
            fields[name] = tuple(value)
    return found[0](**fields)


def _described_env(env: Continuing) -> Any:
    """How the environment was made, for the command; a file never makes one by itself."""
    spec = env.env.spec
    return {
        "id": spec.id if spec else None,
        "kwargs": {key: value for key, value in (spec.kwargs if spec else {}).items() if key != "render_mode"},
        "max_episode_steps": spec.max_episode_steps if spec else None,
        "wrappers": [wrapper.name for wrapper in spec.additional_wrappers] if spec else [],
    } | described_rule(env)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return repr(value)
