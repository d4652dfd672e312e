"""Rules of thumb for agents: functions of what is observed, what has `predict`, and names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeAlias

import gymnasium

from aapi.agent.acting import Predicts
from aapi.approximation.rule_policy import RulePolicy
from aapi.environments.copies import LocalCopies
from aapi.errors import InvalidInput
from aapi.features import Grid, OneHot, VectorFeatures
from aapi.registration import ENVIRONMENTS
from aapi.registry.user_code import is_own, load_function, named_in_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gymnasium.spaces import Discrete

    from aapi.agent.representation import AgentFeatures
    from aapi.environments.copies import Copies
    from aapi.environments.observations import Observations
    from aapi.gymnasium_types import Env, Observation

    Function = Callable[[Observation], object]


Rule: TypeAlias = "Function | Predicts | str"


def rule_policy(
    rule: Rule, env: Copies | None, observations: Observations, actions: Discrete[Any], features: AgentFeatures
) -> RulePolicy:
    """A rule as a policy for an agent."""
    if not isinstance(features, OneHot | Grid | VectorFeatures):
        raise InvalidInput("a rule sees observations, which features of your own do not hold: take Grid() or Tiles(…)")
    act = _function(rule, env.envs[0] if isinstance(env, LocalCopies) else None)
    return RulePolicy(act, observations.observation, int(actions.n), int(actions.start))


def _function(rule: Rule, env: Env | None) -> Function:
    if isinstance(rule, str):
        return load_function(rule) if ":" in rule else built_in_rule(rule, env)
    if isinstance(rule, Predicts):
        return lambda observation: _first(rule.predict(observation))
    if not callable(rule):
        raise InvalidInput(f"rule must be a function from an observation to an action, or a name, not {rule!r}")
    return rule


def _first(predicted: object) -> object:
    return predicted[0] if isinstance(predicted, tuple) else predicted


def built_in_rule(name: str, env: Env | None) -> Function:
    """The rule of that name for an environment of ours that is a queueing network."""
    from aapi.environments.queueing.env import NetworkEnv
    from aapi.registry.rules import network_rule

    inside = None if env is None else env.unwrapped
    if not isinstance(inside, NetworkEnv):
        raise InvalidInput(f"rule must be module:function here, such as shop:threshold, not {name!r}")
    return network_rule(name, inside.network)


def stored_rule(name: str, path: str, env: Mapping[str, Any]) -> Function:
    """The rule that a file names, which is made when it is first to act; that a module is imported then is said.

    env: the id of the environment, and how it was made.
    """
    found: list[Function] = []
    module = named_in_file(name.partition(":")[0], path) if ":" in name else None

    def make() -> Function:
        if module is not None:
            if not is_own(module):
                raise InvalidInput(f"{path} names {name}, which is not here: give the rule again, rule=… (--rule)")
            print(f"{path}: importing {module} for its rule {name}", file=sys.stderr)
            return load_function(name)
        ours = env.get("id") in ENVIRONMENTS
        return built_in_rule(name, gymnasium.make(env["id"], **env.get("kwargs", {})) if ours else None)

    def act(observation: Observation) -> object:
        if not found:
            found.append(make())
        return found[0](observation)

    return act
