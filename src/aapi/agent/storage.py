"""Saved agents: arrays and JSON in one .npz file. Loading builds what it names, from the registry, and runs no code."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import gymnasium
import numpy as np

import aapi
from aapi.agent.agent import Agent
from aapi.agent.formats import FORMAT, upgraded
from aapi.agent.rule import stored_rule
from aapi.agent.spaces import check_same_spaces, described_space, made_space
from aapi.checks import at_least, check_indices, check_like
from aapi.environments.continuing import Continuing
from aapi.environments.copies import copies_of
from aapi.environments.observations import observations_of
from aapi.errors import AapiError, InvalidInput, one_line
from aapi.files import MOST_BYTES, atomic_write, read_arrays
from aapi.learners.learner import LONGEST
from aapi.learners.state import restored, stored
from aapi.policies import Names
from aapi.registry import part_from_json, part_to_json
from aapi.registry.gymnasium_ids import module_of
from aapi.registry.user_code import named_in_file

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from aapi.agent.representation import AgentFeatures
    from aapi.agent.rule import Rule
    from aapi.array_types import AnyArray, Arrays
    from aapi.environments.copies import Copies
    from aapi.gymnasium_types import AnyVectorEnv, Env
    from aapi.learners.learner import AnyLearner

Description: TypeAlias = dict[str, Any]  # JSON as a file has it: whatever is wrong with it, one of the errors of `load`


MOST_COUNTED = 1_000_000  # steps whose phases are counted one by one


@dataclass(frozen=True, eq=False)
class EnvSnapshot:
    """Where an environment was. description: how it was made.

    snapshots: what `Continuing.restore` takes, of each copy; state: what the agent saw of them; both None before the
    first step, and where it cannot be told.
    """

    description: Description | None = None
    snapshots: list[Description] | None = None
    state: AnyArray | None = None


def save(agent: Agent, path: str | os.PathLike[str]) -> None:
    """Write an agent; the file appears whole or not at all."""
    simulation = agent.simulation
    filled = simulation.time - agent.algorithm.act(agent.session.state).start
    arrays = {f"state_{name}": array for name, array in stored(agent.session.state).items()}
    arrays |= {
        "stream": simulation.streams,
        "predictions": agent._predictions,
        "stretch_states": simulation.states[:, :filled],
        "stretch_actions": simulation.actions[:, :filled],
        "stretch_rewards": simulation.rewards[:, :filled],
    }
    if simulation.masks.table is not None:
        arrays["allowed"] = simulation.masks.table
    where = agent.env_snapshot or EnvSnapshot()
    if agent.copies is not None:
        began = simulation.current is not None
        where = EnvSnapshot(
            _described_env(agent.copies), agent.copies.snapshots() if began else None,
            np.array(simulation.current) if simulation.current is not None else None,
        )  # fmt: skip
    snapshots = None if where.snapshots is None else [dict(each) for each in where.snapshots]
    if snapshots is not None and where.state is not None:
        arrays["current"] = where.state if len(where.state) > 1 else where.state[0]
        for name, snapshot in zip(_action_names(len(snapshots)), snapshots, strict=True):
            if "actions" in snapshot:
                arrays[name] = snapshot.pop("actions")
    description = {
        "format": FORMAT,
        "aapi": aapi.__version__,
        "algorithm": part_to_json(agent.algorithm),
        "rule": part_to_json(agent.rule),
        "features": part_to_json(agent.features),
        "observation_space": described_space(agent.observation_space),
        "action_space": described_space(agent.action_space),
        "bounds": agent.bounds,
        "env": where.description,
        "seed": agent.seed,
        "steps": simulation.time,
        "reward_sum": simulation.total_reward - float(simulation.rewards[:, :filled].sum()),
        "episodes": simulation.episodes,
        "snapshot": snapshots[0] if snapshots is not None and len(snapshots) == 1 else snapshots,
    } | ({"copies": agent.space.copies} if agent.space.copies > 1 else {})
    if agent.names != Names():
        description["names"] = dataclasses.asdict(agent.names)
    if agent.logged_steps:
        description["logged"] = agent.logged_steps
    try:
        text = json.dumps(description, default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this agent cannot be saved: {error}") from None
    arrays["agent"] = np.frombuffer(text.encode(), dtype=np.uint8)
    with atomic_write(path) as file:
        np.savez_compressed(file, **cast("dict[str, Any]", arrays))


def load(
    path: str | os.PathLike[str],
    env: Env | AnyVectorEnv | None = None,
    *,
    algorithm: AnyLearner | None = None,
    features: AgentFeatures | None = None,
    rule: Rule | None = None,
) -> Agent:
    """The agent in a file. With an environment, made as the first one was, it goes on learning as if it never stopped.

    algorithm, features, rule: needed only if the agent has parts of your own, which a file cannot hold. Of a rule
        module:function it has the name: the module is imported when the rule is to act.
    """
    arrays = read_arrays(path, "a saved agent", most_bytes=MOST_BYTES)
    description = _read_description(path, arrays)
    try:
        description["exact"] = description["format"] == FORMAT  # others may hold more than is needed
        description, arrays = upgraded(description, arrays)
        return _rebuilt(path, description, arrays, env, algorithm, features, rule)
    except AapiError as error:
        raise InvalidInput(f"{path}: {error}") from None
    except MemoryError:
        raise InvalidInput(f"{path} describes an agent that does not fit into memory") from None
    except (
        KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError,
        gymnasium.error.Error,
    ) as error:  # fmt: skip
        line = " ".join(str(error).split())[:200]
        raise InvalidInput(f"{path} is damaged or was altered ({type(error).__name__}: {line})") from None


def made_environment(
    path: str | os.PathLike[str], name: str | None, make: Callable[..., Env], **arguments: object
) -> Continuing:
    """An environment like the one that the agent in a file learnt in. `make` makes it, from its id, or from `name`."""
    described = _read_description(path, read_arrays(path, "a saved agent", ["agent"], MOST_BYTES)).get("env")
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
        env = make(name or _with_module(path, described), **{**given, **arguments})
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


def _with_module(path: str | os.PathLike[str], described: Description) -> str:
    """The id to make an environment by: with the module that the file names, which is said, if the id is not known."""
    name, module = str(described["id"]), described.get("module")
    if module is None or name in gymnasium.registry:
        return name
    module = named_in_file(module, path)
    print(f"importing {module}, in which {path} learnt", file=sys.stderr, flush=True)
    return f"{module}:{name}"


def copies_made(path: str | os.PathLike[str]) -> tuple[int, bool]:
    """How many copies of an environment the agent in a file learns in, and whether each has a process of its own."""
    description = _read_description(path, read_arrays(path, "a saved agent", ["agent"], MOST_BYTES))
    number, env = description.get("copies", 1), description.get("env")
    at_least(1, copies=number)
    return number, bool(isinstance(env, dict) and env.get("processes"))


def _read_description(path: str | os.PathLike[str], arrays: Arrays) -> Description:
    """What a file says of its agent, checked for its version only."""
    if "agent" not in arrays:
        raise InvalidInput(f"{path} is not a saved agent: it holds {', '.join(arrays) or 'nothing'}")
    try:
        description = json.loads(arrays["agent"].tobytes())
        version = description["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput(f"{path} is damaged or was altered: its description cannot be read") from None
    if version not in range(1, FORMAT + 1):
        newer = isinstance(version, int) and version > FORMAT
        raise InvalidInput(
            f"{path} has format {version!r}, and this version of aapi reads format {FORMAT}"
            + (": upgrade aapi to read it" if newer else "")
        )
    return cast("Description", description)


def _rebuilt(
    path: str | os.PathLike[str], description: Description, arrays: Arrays, env: Env | AnyVectorEnv | None,
    algorithm: AnyLearner | None, features: AgentFeatures | None, rule: Rule | None,
) -> Agent:  # fmt: skip
    agent, number = Agent.__new__(Agent), int(description.get("copies", 1))
    at_least(1, copies=number)
    copies = None if env is None else _as_it_was(env, description["env"] or {})
    observation_space, action_space = (made_space(description[name]) for name in ("observation_space", "action_space"))
    if copies is not None:
        check_same_spaces(copies, observation_space, action_space)
        if copies.number != number:
            raise InvalidInput(f"it learnt in {number} copies of its environment, and there are {copies.number} here")
    agent._set_up(
        algorithm or part_from_json(description["algorithm"], "algorithm"),
        copies,
        number,
        observation_space,
        action_space,
        features or part_from_json(description["features"], "features"),
        description["seed"],
        tuple(description["bounds"]),
        _rule_of(description, str(path)) if rule is None else rule,
    )
    agent.rule = description.get("rule") if rule is None else rule
    if rule is not None and description.get("rule") is None:
        raise InvalidInput("it learns without a rule: drop rule (--rule)")
    agent.names = Names().updated(description.get("names")).updated(agent.names)
    agent.names.filled(len(observations_of(observation_space).low), agent.num_actions)  # or an error
    _restore_learning(agent, description, arrays)
    snapshots, state = description["snapshot"], None
    if snapshots is not None:
        snapshots = snapshots if isinstance(snapshots, list) else [snapshots]
        state = _checked_states(agent, arrays["current"])
        for name, snapshot in zip(_action_names(number), snapshots, strict=True):
            if name in arrays:
                snapshot["actions"] = arrays[name]
        if copies is not None:
            _restore(copies, snapshots)
            agent.simulation.current = list(state) if state.ndim > 1 else state.tolist()
    agent.env_snapshot = EnvSnapshot(description["env"], snapshots, state)
    agent.saved = (path, agent.num_steps)
    return agent


def _rule_of(description: Description, path: str) -> Rule | None:
    """The rule that is named, if one is."""
    described = description.get("rule")
    if isinstance(described, dict):
        again = "aapi.load(…, rule=…), or aapi train --resume … --rule"
        raise InvalidInput(f"it has a rule of your own, {described.get('own')}: give it again, {again}")
    if described is None:
        return None
    if not isinstance(described, str):
        raise InvalidInput(f"rule is {described!r}, not a name")
    return stored_rule(described, path, description["env"] or {})


def _action_names(copies: int) -> list[str]:
    """Under which names the actions of the episodes under way are stored."""
    return ["snapshot_actions", *(f"snapshot_actions_{copy}" for copy in range(1, copies))]


def _restore(env: Copies, snapshots: list[Description]) -> None:
    """Bring an environment back to where it was; whatever it raises when it cannot."""
    try:
        env.restore(snapshots)
    except AapiError:
        raise
    except Exception as error:
        raise InvalidInput(f"its environment cannot be brought back to where it was ({one_line(error)})") from error


def _as_it_was(env: Env | AnyVectorEnv, rule: Description) -> Copies:
    """The environment, or its copies, with the ending rule that the agent began with."""
    copies = copies_of(env, rule.get("ending"), rule.get("limit"))
    given = described_rule(copies.rule)
    if rule.get("ending") is None and given["ending"] is not None:
        raise InvalidInput("it learnt with an ending rule of your own: wrap the environment in Continuing, as then")
    if any(given[name] != rule.get(name) for name in ("ending", "limit")):
        raise InvalidInput(f"it learnt with {_words(rule)}, and this environment has {_words(given)}")
    return copies


def described_rule(rule: Description) -> Description:
    """The ending rule as JSON; a function of the user's has no form in it, and is None."""
    return rule | {"ending": None if callable(rule["ending"]) else rule["ending"]}


def _words(rule: Description) -> str:
    ending = rule.get("ending")
    return f"ending {'of your own' if ending is None else repr(ending)} and limit {rule.get('limit')}"


def _restore_learning(agent: Agent, description: Description, arrays: Arrays) -> None:
    """What was learnt, and the stretch under way. Kernels check nothing, so that all of it is checked here."""
    simulation, session = agent.simulation, agent.session
    mine = {name.removeprefix("state_"): array for name, array in arrays.items() if name.startswith("state_")}
    state = restored(session.state, mine)
    if unknown := description["exact"] and mine.keys() - stored(state).keys():
        raise InvalidInput(f"it holds {', '.join(sorted(unknown))}, of which its learner knows nothing")
    stretch = agent.algorithm.act(state)
    agent.space.check_policy(stretch.policy, 1)
    agent.space.check_policy(stretch.acting, 1)
    steps, filled = description["steps"], arrays["stretch_rewards"].shape[1]
    at_least(filled, steps=steps)
    most = simulation.whole(stretch.steps)
    if stretch.number < 1 or not (filled <= most and stretch.steps <= LONGEST) or steps != stretch.start + filled:
        raise InvalidInput(
            f"after {steps} steps it cannot be {filled} steps into phase {stretch.number}, which began after "
            f"{stretch.start} and has {stretch.steps}"
        )
    short = stretch.start <= MOST_COUNTED or agent.algorithm.phase_steps is not None  # else counting may take long
    if not 0 <= state.k <= stretch.start:
        raise InvalidInput(f"{state.k} phases cannot end after {stretch.start} steps")
    agent.logged_steps = int(description.get("logged", 0))
    at_least(0, logged=agent.logged_steps)
    if agent.logged_steps > stretch.start:
        raise InvalidInput(f"of {stretch.start} steps, {agent.logged_steps} cannot be logged ones")
    short = short and not agent.logged_steps  # whose last phase is as long as the log
    known = short and agent.algorithm.schedule is not None and agent.space.copies == 1  # else lengths are rounded up
    if known and agent.algorithm.count_phases(stretch.start, agent.space) != state.k:
        raise InvalidInput(f"{state.k} phases do not end after {stretch.start} steps")
    for memory in state.memories.values():
        memory.check_steps(stretch.start)
    if "allowed" in arrays:
        shape = agent.space.shape(1)[1:]
        agent.space.require_countable("remembered masks need")
        allowed = check_like(arrays, "allowed", np.ones(shape, dtype=bool))
        if not allowed.any(axis=1).all():
            raise InvalidInput(f"no action is allowed in state {int(np.argmin(allowed.any(axis=1)))}")
        simulation.masks.table = allowed.copy()
    simulation.time = stretch.start
    simulation.begin(most)
    simulation.need_room(filled)
    for name, stream in (("predictions", agent._predictions), ("stream", simulation.streams)):
        stream[:] = check_like(arrays, name, stream)
        if not stream.any():
            raise InvalidInput(f"{name} is not the state of a random stream")
    for name, room in (("states", simulation.states), ("actions", simulation.actions), ("rewards", simulation.rewards)):
        room[:, :filled] = check_like(arrays, f"stretch_{name}", room[:, :filled])
    check_indices(simulation.actions[:, :filled], agent.num_actions, "stretch_actions")
    agent.space.check_states(simulation.states[:, :filled], "stretch_states")
    episodes = [(e["length"] + 0, e["return"] + 0.0, e["terminated"]) for e in description["episodes"]]
    simulation.episodes = [{"length": n, "return": r, "terminated": ended} for n, r, ended in episodes]
    simulation.earned = float(description["reward_sum"])
    if not math.isfinite(simulation.earned):
        raise InvalidInput(f"reward_sum is {simulation.earned}, not a finite number")
    simulation.time, simulation.filled, session.state = int(steps), filled, state


def _checked_states(agent: Agent, current: AnyArray) -> AnyArray:
    """The state that each copy was in, (copies, …): numbers of any kind, or vectors."""
    space = agent.space
    shape = (space.copies,) if space.copies > 1 else ()
    if not space.state_shape and current.shape == shape and current.dtype.kind == "i":
        space.check_states(current, "current")
        current = current.astype(space.state_dtype)
    like: AnyArray = np.empty(shape + space.state_shape, dtype=space.state_dtype)
    state = check_like({"current": current}, "current", like)
    space.check_states(state, "current")
    return state.reshape(space.copies, *space.state_shape)


def _described_env(env: Copies) -> Description:
    """How the environment was made, for the command; a file never makes one by itself."""
    spec = env.inner_spec
    return (
        {
            "id": spec.id if spec else None,
            "module": module_of(spec) if spec else None,
            "kwargs": {key: value for key, value in (spec.kwargs if spec else {}).items() if key != "render_mode"},
            "max_episode_steps": spec.max_episode_steps if spec else None,
            "wrappers": [wrapper.name for wrapper in spec.additional_wrappers] if spec else [],
        }
        | described_rule(env.rule)
        | ({"processes": env.processes} if env.number > 1 else {})
    )


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return repr(value)
