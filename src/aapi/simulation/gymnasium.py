"""A Gymnasium environment, or copies of it, as a batch of one run: the step loop where environments are Python."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, SupportsFloat, cast

import numpy as np

from aapi.environments.continuing import MASK
from aapi.environments.copies import LocalCopies, VectorCopies
from aapi.errors import AapiError, InvalidInput, one_line
from aapi.files import uninterrupted
from aapi.kernels.random import draw, streams
from aapi.simulation.data import NO_GRID, PhaseData
from aapi.simulation.masks import ActionMasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymnasium.spaces import Discrete

    from aapi.approximation import Policy, QSpace
    from aapi.approximation.space import Actor
    from aapi.array_types import AnyArray, Streams
    from aapi.environments.continuing import Episode
    from aapi.environments.copies import Copies
    from aapi.environments.observations import Encoder
    from aapi.files import CtrlC
    from aapi.gymnasium_types import Observation
    from aapi.simulation.data import StepRule, Stretch


STRIDE = 500  # steps between two calls of `watch`
ROOM = 1 << 14  # steps of a stretch for which there is room at first


class RuleActor:
    """A rule that acts and learns in the copies of an environment."""

    def __init__(self, rule: StepRule, streams: Streams) -> None:
        self._rule, self._stream = rule, streams[0]
        self._learnt = rule.q, rule.visits, rule.numbers, rule.settings, rule.work, 0

    def act(self, copy: int, state: Any) -> int:
        """The action in a state."""
        if self._rule.on_policy and self._rule.next_actions[copy] >= 0:
            return int(self._rule.next_actions[copy])
        return self._choose(state)

    def learn(self, copy: int, state: Any, action: int, reward: object, after: Any) -> bool:
        """Take in a step; false if there is no finite number in it, and nothing may be learnt from then on."""
        if not (isinstance(reward, SupportsFloat) and math.isfinite(reward) and np.isfinite(after).all()):
            return False
        following = -1
        if self._rule.on_policy:
            self._rule.next_actions[copy] = following = self._choose(after)
        self._rule.learn(*self._learnt, state, action, float(reward), after, following)
        return True

    def _choose(self, state: Any) -> int:
        return int(self._rule.choose(*self._learnt, state, draw(self._stream)))


class Limits:
    """The limits of a stretch, of which some steps were taken already. met: whether it is over."""

    def __init__(self, stretch: Stretch, space: QSpace, states: AnyArray, actions: AnyArray) -> None:
        limits, self.look_ahead = np.asarray(stretch.limits), stretch.look_ahead
        space.require_countable("limits of visits need")
        if limits.shape != space.shape(1):
            raise InvalidInput(f"limits must be of shape {space.shape(1)}, not {limits.shape}")
        self.left = np.array(limits[0], dtype=np.int64)
        self.least = 0 if self.look_ahead else 1  # with less it is over
        np.subtract.at(self.left, (states, actions), 1)
        self.met = bool((self.left[states, actions] < self.least).any())
        self.spent = set(np.flatnonzero((self.left <= 0).any(axis=1)).tolist())  # states where to look

    def prevent(self, state: Any, act: Actor, stream: Streams) -> bool:
        """Whether the stretch ends before the next step: the action is looked at, and will be the same if not."""
        if self.look_ahead and state in self.spent:
            unspent = stream.copy()
            self.met = bool(self.left[state, act(state)] <= 0)
            stream[:] = unspent
        return self.look_ahead and self.met

    def count(self, state: Any, action: int) -> None:
        """Take in a step."""
        left = self.left[state, action] = int(self.left[state, action]) - 1
        if left <= 0:
            self.spent.add(int(state))
            self.met = self.met or left < self.least


class GymnasiumSimulation:
    """Steps an environment that never ends, or its copies in turn, and may pause anywhere within a stretch.

    Of n copies, stretches and what is asked for are rounded up to multiples of n steps.

    encode: from an observation to what `space` takes for a state. watch: called now and then with the steps just taken.
    current: the present state of each copy, once they were reset. episodes: those that ended since the list was
        emptied.
    states, actions, rewards: of the stretch under way, of which `filled` steps were taken. earned: in those before it.
    masks: what the environment allows. as_done: note forbidden actions as what they act as, so that nothing can be
        learnt from them.
    """

    def __init__(self, env: Copies | None, space: QSpace, encode: Encoder, seed: int) -> None:
        self.env, self.space, self.encode = env, space, encode
        self.copies = space.copies if env is None else env.number
        self.streams, self.grid = streams(seed, [0]), NO_GRID
        self.time = self.filled = 0
        self.earned = 0.0
        self.current: list[Any] | None = None
        self.masks, self.as_done = ActionMasks(space), False
        self.episodes: list[Episode] = []
        self.watch: Callable[[int], None] = lambda _: None
        self._make_room(0)

    @property
    def average_reward(self) -> float:
        """Of the stretch under way."""
        return float(self.rewards[0, : self.filled].mean())

    @property
    def total_reward(self) -> float:
        """Earned in all steps so far."""
        return self.earned + float(self.rewards[:, : self.filled].sum())

    def begin(self, steps: int) -> None:
        """Begin a stretch of so many steps, or less."""
        self.earned, self.filled = self.total_reward, 0
        self._make_room(min(steps, ROOM))

    def _make_room(self, steps: int) -> None:
        self.states: AnyArray = np.zeros((1, steps, *self.space.state_shape), dtype=self.space.state_dtype)
        self.actions, self.rewards = np.zeros((1, steps), dtype=np.int32), np.zeros((1, steps))

    def need_room(self, steps: int) -> None:
        """Room for so many steps of the stretch under way, whose length may be far from what it is allowed to be."""
        held = self.rewards.shape[1]
        if steps > held:
            states, actions, rewards = self.states, self.actions, self.rewards
            self._make_room(max(steps, 2 * held))
            self.states[:, :held], self.actions[:, :held], self.rewards[:, :held] = states, actions, rewards

    def reset(self, seed: int | None = None) -> None:
        """Start the environment."""
        with uninterrupted() as ctrl_c:
            ctrl_c.patient = False
            try:
                observations = self._environment().reset(seed)
            except InvalidInput:
                raise
            except Exception as error:
                raise InvalidInput(f"the environment raised {one_line(error)} on reset") from error
            self.current = [self.encoded(observation) for observation in observations]
            self._see_masks(self.current)

    def _see_masks(self, states: list[Any]) -> list[list[int] | None]:
        """Remember the masks of the states that the copies are in; what each action acts as there, if some do not."""
        masks = self._environment().masks
        for state, mask in zip(states, masks, strict=True):
            if mask is not None:
                self.masks.see(state, mask)
        return [None if mask is None else self.masks.acts_as(mask) for mask in masks]

    def whole(self, steps: int) -> int:
        """So many steps, or more, such that every copy has taken as many."""
        return -(-steps // self.copies) * self.copies

    def _in_turn(self) -> list[Any]:
        """The present states, that of the copy whose turn it is first."""
        turn, current = self.filled % self.copies, cast("list[Any]", self.current)
        return current[turn:] + current[:turn]

    def rollout(self, stretch: Stretch, most: int) -> PhaseData:
        """Act in a stretch, from where it paused; its data so far."""
        policy = self.space.check_policy(stretch.acting, 1)
        actor = None if stretch.rule is None else RuleActor(stretch.rule, self.streams)
        steps = self.whole(stretch.steps)
        if stretch.start == self.time:
            self.begin(steps)
        past = self.states[0, : self.filled], self.actions[0, : self.filled]
        limits = None if stretch.limits is None else Limits(stretch, self.space, *past)
        last = min(steps, self.whole(self.filled + most))
        while self.filled < last and (limits is None or not limits.met or self.filled % self.copies):
            before = self.filled
            self._take(policy, actor, min(self.whole(STRIDE), last - self.filled), limits)
            self.watch(self.filled - before)
        last_state = self._in_turn() if self.copies == 1 else [self._in_turn()]
        taken = slice(0, self.filled)
        rewards = self.rewards[:, taken]
        return PhaseData(
            self.states[:, taken], self.actions[:, taken], rewards, np.array(last_state),
            rewards.sum(axis=1, keepdims=True), np.array([self.filled]), self.time,
            self.filled == steps or (limits is not None and limits.met), self.streams,
        )  # fmt: skip

    def _take(self, policy: Policy, rule: RuleActor | None, steps: int, limits: Limits | None) -> None:
        """Take some steps of the stretch under way, until a limit is met and all copies have taken as many.

        Ctrl-C waits until the step under way was taken and learnt from; a second one does not wait for an environment.
        """
        env = self._environment()
        act = self.space.actor(policy, self.streams[0])
        start = int(cast("Discrete[Any]", env.action_space).start)
        with uninterrupted() as ctrl_c:
            if isinstance(env, VectorCopies):
                self._take_at_once(env, act, rule, start, steps, limits, ctrl_c)
            else:
                self._take_in_turn(cast("LocalCopies", env), act, rule, start, steps, limits, ctrl_c)

    def _take_in_turn(
        self, env: LocalCopies, act: Actor, rule: RuleActor | None, start: int, steps: int, limits: Limits | None,
        ctrl_c: CtrlC,
    ) -> None:  # fmt: skip
        encode, current = self.encode, list(cast("list[Any]", self.current))
        masks, acts_as = self.masks, self._see_masks(current)
        copy = turn = self.filled % self.copies
        turns = itertools.cycle([*enumerate(each.step for each in env.envs)])
        seen: list[Any] = []  # lists: an item of an array takes half a microsecond
        taken: list[int] = []
        earned: list[Any] = []
        reading = False
        try:
            for copy, step in itertools.islice(turns, turn, turn + steps):
                state = current[copy]
                if limits is not None and copy == 0 and limits.prevent(state, act, self.streams[0]):
                    break
                action = act(state) if rule is None else rule.act(copy, state)
                others = acts_as[copy]
                done = action if others is None else others[action]
                reading = ctrl_c.patient = False
                observation, reward, _, _, info = step(start + done)
                reading = ctrl_c.patient = True
                after = encode(observation)
                seen.append(state)
                taken.append(done if self.as_done else action)
                earned.append(reward)
                current[copy] = after
                if MASK in info:
                    masks.see(after, info[MASK])
                    acts_as[copy] = masks.acts_as(info[MASK])
                else:
                    acts_as[copy] = None
                if rule is not None and not rule.learn(copy, state, action, reward, after):
                    break
                if "ended" in info:
                    self.episodes.append(info["ended"])
                if limits is not None:
                    limits.count(state, action)
                    if limits.met and copy == self.copies - 1:
                        break
                if ctrl_c.pressed:
                    break
        except BaseException as error:
            if not isinstance(error, Exception):  # an interrupt: the environment may be a step ahead
                current[copy] = encode(env.envs[copy].observation)
                self._account(seen, taken, earned, current)
                raise
            self._account(seen, taken, earned, current)  # which raises where an earlier value is the cause
            raise self._failure(error, f"the observation {observation!r}" if reading else None) from error
        self._account(seen, taken, earned, current)

    def _take_at_once(
        self, env: VectorCopies, act: Actor, rule: RuleActor | None, start: int, steps: int, limits: Limits | None,
        ctrl_c: CtrlC,
    ) -> None:  # fmt: skip
        encode, current = self.encode, list(cast("list[Any]", self.current))
        acts_as = self._see_masks(current)
        seen: list[Any] = []
        taken: list[int] = []
        earned: list[Any] = []
        reading, between, over = False, True, False
        try:
            for _ in range(steps // self.copies):
                if limits is not None and limits.prevent(current[0], act, self.streams[0]):
                    break
                reading = between = False
                if rule is None:
                    actions = [act(state) for state in current]
                else:
                    actions = [rule.act(copy, state) for copy, state in enumerate(current)]
                done = [a if other is None else other[a] for a, other in zip(actions, acts_as, strict=True)]
                observations, rewards, ended = env.step([start + action for action in done])
                reading = True
                after = [encode(observation) for observation in observations]
                acts_as = self._see_masks(after)
                if rule is not None:
                    each = enumerate(zip(current, actions, rewards, after, strict=True))
                    over = not all(rule.learn(copy, *step) for copy, step in each)
                seen += current
                taken += done if self.as_done else actions
                earned += rewards
                self.episodes += ended
                if limits is not None:
                    for state, action in zip(current, actions, strict=True):
                        limits.count(state, action)
                    over = limits.met
                current, between = after, True
                if over or ctrl_c.pressed:
                    break
        except BaseException as error:
            self._account(seen, taken, earned, current)
            if not between:
                self.current = None  # some copies may be a step ahead
            if not isinstance(error, Exception):
                raise
            raise self._failure(error, f"one of the observations {observations!r}" if reading else None) from error
        self._account(seen, taken, earned, current)

    def _failure(self, error: Exception, observed: str | None) -> InvalidInput:
        """What to say of an error in the environment's step, or in reading what it showed."""
        what = "the environment raised" if observed is None else f"{observed} cannot be read"
        line = str(error) if isinstance(error, AapiError) else f"{what} {one_line(error)}"
        return InvalidInput(f"step {self.time + 1}: {line}")

    def _account(self, seen: list[Any], taken: list[int], earned: list[Any], current: list[Any]) -> None:
        """Note the steps taken, which are fewer than wished if one failed; unless a number in them is not finite."""
        with uninterrupted():
            self._note(seen, taken, earned, current)

    def _note(self, seen: list[Any], taken: list[int], earned: list[Any], current: list[Any]) -> None:
        count = min(len(seen), len(taken), len(earned))  # an interrupt may come between them
        first, before = self.filled, self.time
        self.filled, self.time, self.current = first + count, before + count, current
        if not count:
            return
        self.need_room(self.filled)
        self.states[0, first : self.filled] = seen[:count]
        self.actions[0, first : self.filled] = taken[:count]
        rewards = self.rewards[0, first : self.filled]
        rewards[:] = earned[:count]
        if not np.isfinite(rewards).all():
            t = int(np.flatnonzero(~np.isfinite(rewards))[0])
            self.filled, self.time = first + t, before + t  # what came before is good
            raise InvalidInput(f"step {before + t + 1}: the reward is {rewards[t]}, not a finite number")
        after = np.concatenate([self.states[0, first : self.filled], self._in_turn()])[self.copies :]
        if not np.isfinite(after).all():
            t, j = map(int, np.argwhere(~np.isfinite(after))[0])
            self.filled, self.time, self.current = first + t, before + t, None
            raise InvalidInput(f"step {before + t + 1}: observation[{j}] is {after[t, j]}, not a finite number")

    def encoded(self, observation: Observation) -> Any:
        """An observation as a state, or an error that says what is wrong with it."""
        try:
            encoded = self.encode(observation)
        except InvalidInput:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise InvalidInput(f"the observation {observation!r} cannot be read ({one_line(error)})") from error
        if not self.space.countable and not np.isfinite(encoded).all():
            j = int(np.flatnonzero(~np.isfinite(encoded))[0])
            raise InvalidInput(f"observation[{j}] is {encoded[j]}, not a finite number")
        return encoded

    def _environment(self) -> Copies:
        if self.env is None:
            raise InvalidInput("this agent has no environment to act in: give one, aapi.load(path, env=…)")
        return self.env
