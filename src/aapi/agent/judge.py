"""Judging anyone's policy: what it earns a step in the long run, without episodes, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

import gymnasium
import numpy as np
from gymnasium import spaces

from aapi.agent.acting import AnyPolicy, Predicts, acting, checked
from aapi.agent.agent import Agent
from aapi.agent.score import Comparison, Score, shows_state
from aapi.checks import at_least
from aapi.environments.copies import continuing, holds_continuing
from aapi.environments.env_defaults import env_defaults
from aapi.environments.gymnasium import FiniteMDPEnv
from aapi.errors import AapiError, InvalidInput, one_line
from aapi.mdp import FiniteMDP
from aapi.progress import progress_bar
from aapi.registry.gymnasium_ids import make_environment
from aapi.registry.problems import PROBLEMS, make_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from aapi.environments.continuing import Continuing, Ending, Episode
    from aapi.gymnasium_types import Action, Env, Observation


AnyEnv: TypeAlias = "str | Env | FiniteMDP | Callable[[], Env]"
FIRST_SEED = 1000  # others than those that people train with
STRIDE = 1000  # steps between two looks at the progress bar


@overload
def evaluate(
    policy: Mapping[str, AnyPolicy], env: AnyEnv, num_steps: int = ..., seeds: int | Sequence[int] = ..., *,
    warm_up: int | None = ..., deterministic: bool = ..., ending: Ending | None = ..., limit: int | None = ...,
    progress: bool = ...,
) -> Comparison: ...  # fmt: skip


@overload
def evaluate(
    policy: AnyPolicy, env: AnyEnv, num_steps: int = ..., seeds: int | Sequence[int] = ..., *,
    warm_up: int | None = ..., deterministic: bool = ..., ending: Ending | None = ..., limit: int | None = ...,
    progress: bool = ...,
) -> Score: ...  # fmt: skip


def evaluate(
    policy: AnyPolicy | Mapping[str, AnyPolicy], env: AnyEnv, num_steps: int = 20_000, seeds: int | Sequence[int] = 5,
    *, warm_up: int | None = None, deterministic: bool = False, ending: Ending | None = None, limit: int | None = None,
    progress: bool = False,
) -> Score | Comparison:  # fmt: skip
    """What a policy earns a step in the long run, without learning; or several by name, side by side.

    policy: an agent of ours; anything with `predict`, such as an agent of Stable-Baselines3; a function from an
        observation to an action; an array with an action for each state, or probabilities, (states, actions); or the
        name of a rule, such as "random".
    env: an id, also "module:Id-v0"; a Gymnasium environment; a function that makes one; a `FiniteMDP`, or the name of
        a built-in problem that is one.
    num_steps: of each run. seeds: how many runs there are, or the seeds of their environments. Policies that are
        compared have the same seeds, and differences are taken step by step.
    warm_up: steps before those, which do not count; by default a tenth of them.
    deterministic: take the most likely action, where the policy can be asked for that.
    ending, limit: what the end of an episode pays, as in `Continuing`: the next episode follows in the same step. By
        default the rule known for the id, or else the environment's own rewards.
    """
    warm_up = num_steps // 10 if warm_up is None else warm_up
    at_least(1, num_steps=num_steps)
    at_least(0, warm_up=warm_up)
    given = range(FIRST_SEED, FIRST_SEED + _number(seeds)) if not isinstance(seeds, Sequence) else list(seeds)
    at_least(1, seeds=len(given))
    for seed in given:
        at_least(0, seed=seed)
    if len(set(given)) < len(given):
        raise InvalidInput(f"seeds must differ, or runs are the same: {', '.join(map(str, given))}")
    named: Mapping[str, AnyPolicy] = policy if isinstance(policy, Mapping) else {"": policy}
    if not named:
        raise InvalidInput("there is no policy to judge")
    where = _made(env, ending, limit)
    name = where.spec.id if where.spec else env if isinstance(env, str) else ""
    judge = _Judge(name, where, num_steps, warm_up, given, deterministic)
    with progress_bar("evaluating", len(named) * len(given) * (num_steps + warm_up), show=progress) as advance:
        judge.advance = advance
        scores = {name: judge.score(name, each) for name, each in named.items()}
    return Comparison(scores, judge.setting) if isinstance(policy, Mapping) else scores[""]


def _number(seeds: int) -> int:
    at_least(1, seeds=seeds)
    return seeds


def _made(env: AnyEnv, ending: Ending | None, limit: int | None) -> Continuing:
    """The environment without ends."""
    made: object = env
    if isinstance(env, str):
        made = make_problem(env, {}) if env in PROBLEMS else make_environment(env)
        if env in PROBLEMS and not isinstance(made, FiniteMDP):
            raise InvalidInput(f"{env} is no finite model: give a Gymnasium id, such as aapi/CartPole-v0")
    elif callable(env):
        made = env()
    if isinstance(made, FiniteMDP):
        made = FiniteMDPEnv(made)
    if not isinstance(made, gymnasium.Env):
        raise InvalidInput(
            f"env must be a Gymnasium environment, its id, a function that makes one or a FiniteMDP, not {made!r}"
        )
    if ending is None and limit is None:
        return continuing(made)
    if holds_continuing(made):
        raise InvalidInput("the environment is Continuing, which has an ending rule: give no ending and no limit")
    return continuing(made, env_defaults(made).ending if ending is None else ending, limit)


class _Judge:
    """Runs policies one after the other in an environment that never ends."""

    def __init__(
        self, name: str, env: Continuing, num_steps: int, warm_up: int, seeds: Sequence[int], deterministic: bool
    ) -> None:
        self.env, self.num_steps, self.warm_up = env, num_steps, warm_up
        self.seeds, self.deterministic = seeds, deterministic
        self.advance: Callable[..., None] = lambda *_: None
        runs = f"{len(seeds)} runs" if len(seeds) > 1 else "one run"
        before = f" after {warm_up:,} that do not count" if warm_up else ""
        self.setting = f"{f'{name}, ' if name else ''}{runs} of {num_steps:,} steps{before}"

    def score(self, name: str, policy: AnyPolicy) -> Score:
        """All runs of one policy."""
        try:
            parts = [self._run(policy, seed) for seed in self.seeds]
        except AapiError as error:
            raise InvalidInput(f"{name}: {error}" if name else str(error)) from error.__cause__
        lengths = tuple(length for part in parts for length in part.lengths)
        if lengths and "episode" not in self.setting:
            self.setting += f"; an episode that ends is followed by the next, {self._how}"
        states = [part.states for part in parts if part.states is not None]
        return Score(
            np.concatenate([part.rewards for part in parts]),
            np.concatenate([part.actions for part in parts]),
            parts[0].num_actions,
            lengths,
            tuple(earned for part in parts for earned in part.returns),
            np.concatenate(states) if states else None,
            self.setting,
        )

    def _run(self, policy: AnyPolicy, seed: int) -> Score:
        total = self.warm_up + self.num_steps
        if isinstance(policy, Agent):
            score = policy.evaluate(total, self.env, deterministic=self.deterministic, seed=seed)
            self.advance(total)
            return self._counted(score)
        return self._counted(self._played(policy, seed, total))

    @property
    def _how(self) -> str:
        """What the end of an episode pays."""
        ending, limit = self.env.rule["ending"], self.env.rule["limit"]
        pays = "by a function of yours" if callable(ending) else "in its own rewards"
        if ending == "shortfall":
            pays = "with h − limit for the last of h steps"
        elif isinstance(ending, float):
            pays = f"with {ending:+g} where one is terminated"
        return pays if limit is None else f"{pays}, after {limit} steps at the latest"

    def _played(self, policy: AnyPolicy, seed: int, total: int) -> Score:
        """One run of a policy that is not an agent of ours."""
        env, space = self.env, self.env.action_space
        act = checked(acting(policy, env, seed, self.deterministic), env)
        start, count = (int(space.start), int(space.n)) if isinstance(space, spaces.Discrete) else (0, 0)
        code = ":" in policy if isinstance(policy, str) else isinstance(policy, Predicts) or callable(policy)
        shows = shows_state(env) and not code  # somebody's code may remember more than it is shown
        seen: list[Observation] = []
        taken: list[Action] = []
        earned: list[float] = []
        episodes: list[Episode] = []
        begins = True
        try:
            observation, _ = env.reset(seed=seed)
            for t in range(1, total + 1):
                action = act(observation, begins)
                if shows:
                    seen.append(observation)
                if count:
                    taken.append(action)
                observation, reward, _, _, info = env.step(action)
                earned.append(float(reward))
                begins = "ended" in info
                if begins:
                    episodes.append(info["ended"])
                if not t % STRIDE or t == total:
                    self.advance((t - 1) % STRIDE + 1)
        except AapiError as error:
            raise InvalidInput(f"step {len(earned) + 1}: {error}") from error
        except Exception as error:
            raise InvalidInput(f"step {len(earned) + 1}: the environment raised {one_line(error)}") from error
        rewards = np.array([earned])
        if not np.isfinite(rewards).all():
            t = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise InvalidInput(f"step {t + 1}: the reward is {rewards[0, t]}, not a finite number")
        actions = np.array([taken], dtype=np.int64) - start
        states = np.array([seen], dtype=np.int64) if shows else None
        lengths, returns = tuple(each["length"] for each in episodes), tuple(each["return"] for each in episodes)
        return Score(rewards, actions, count, lengths, returns, states)

    def _counted(self, score: Score) -> Score:
        """Without the steps that do not count, and the episodes that ended in them."""
        first = int(np.searchsorted(np.cumsum(score.lengths), self.warm_up, side="right"))
        after = slice(self.warm_up, None)
        states = None if score.states is None else score.states[:, after]
        rewards, actions = score.rewards[:, after], score.actions[:, after]
        return Score(rewards, actions, score.num_actions, score.lengths[first:], score.returns[first:], states)
