"""How Q-functions are held: one interface, and nobody who uses it asks whether there are tables or weights behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aapi.approximation.reservoir import draw_sample, sample_scales, sample_size
from aapi.approximation.rule_policy import RulePolicy
from aapi.array_types import Actions, AnyArray, Array, Integers, Streams
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.approximation.projected_equations import Equations
    from aapi.approximation.temporal_differences import Rates, Rule
    from aapi.mdp import FiniteMDP


States: TypeAlias = AnyArray  # whole numbers, or vectors, with an axis more
# A table (runs, states, actions) or a `LinearPolicy`, a number for each state or a `LinearTemperature`: what they are
# is between a space and its simulation.
Policy: TypeAlias = Any
Actor: TypeAlias = Callable[[Any], int]  # from a state to an action
Temperature: TypeAlias = Any
NORMS = ("sup", "span")
NOT_STORED = {"stored": False}  # metadata of fields of a state that are not saved with it: they follow from the rest


def no_streams() -> Streams:
    """The random streams of no run."""
    return np.empty((0, 4), dtype=np.uint64)


def as_numbers(values: object, what: str) -> Array:
    """What a part returned as an array of numbers as kernels need it, in C's order and writeable; or an error."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.flags.carray and values.ndim:
        return values  # as nearly always
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must return numbers, not {type(values).__name__}") from None
    return np.require(array, np.float64, ("C", "W")) if array.ndim else array.astype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Surprise(ABC):
    """‖Q̂_s − M_s‖ for s = 1 … k in every run and state, or as much as is remembered of it.

    span: the norm is (max − min)/2 over actions, in place of max |·|. num_phases: how many there will be, if that is
    known. num_actions: A. streams: random streams for samples of the past.
    """

    span: bool = field(metadata=NOT_STORED)
    num_phases: int | None = field(metadata=NOT_STORED)
    num_actions: int = field(metadata=NOT_STORED)
    k: int = field(default=0, metadata=NOT_STORED)
    streams: Streams = field(default_factory=no_streams, metadata=NOT_STORED)

    @property
    @abstractmethod
    def last(self) -> Array | None:
        """‖Q̂_k − M_k‖, (runs, states); None where states cannot be listed."""

    @abstractmethod
    def add(self, k: int, q_hat: Array, prediction: Array, weight: float, streams: Streams) -> Surprise:
        """Take in weight · ‖Q̂_k − M_k‖; it may use the room of the one before."""

    @abstractmethod
    def root(self, scale: float = 1.0) -> Temperature:
        """scale · (Σ_{s≤k} ‖Q̂_s − M_s‖²)^½ in every state; for weights, an estimate from 30 of the past differences."""

    @abstractmethod
    def sampled_root(self, scale: float, num_sampled: int, keep_first: bool = False) -> Temperature:
        """The same, estimated from `num_sampled` of the past differences, drawn anew by every run."""

    def _draw(self, num_sampled: int, keep_first: bool, size: int) -> tuple[Integers, Array]:
        """The places of a sample in a reservoir, (runs, n_k), and by what to multiply what is there, (n_k,)."""
        count = sample_size(self.k, num_sampled, size)
        sample = draw_sample(self.k, size, count, keep_first, self.streams)
        return sample, sample_scales(self.k, count, keep_first)


class QSpace(ABC):
    """How the Q-functions of a batch of runs are held: `Tabular`, or `Linear` in features of vectors.

    A Q-function is an array (runs, rows, actions): values of states in a table, or weights of features for each action.
    Sums and differences of Q-functions are those of the arrays; all else about them is asked here.

    rows: states, or features of an action. num_features: of all actions together.
    countable: whether states can be counted. model: the dynamics, where they are known.
    state_shape, state_dtype: of one state in arrays of states: a number, or a vector.
    copies: of the environment that a run goes round: its step t and its step t + copies are of the same one.
    rule: a rule of thumb to act beside, as a policy, if there is one.
    """

    rows: int
    num_actions: int
    num_features: int
    countable: bool
    state_shape: tuple[int, ...]
    state_dtype: type
    model: FiniteMDP | None = None
    copies: int = 1
    rule: Policy = None

    def shape(self, runs: int) -> tuple[int, int, int]:
        """The shape of the Q-functions of so many runs."""
        return runs, self.rows, self.num_actions

    def describe(self) -> str:
        """What there is, for people: 16 states, or 81 features."""
        return f"{self.rows} {'states' if self.countable else 'features'}"

    def zeros(self, runs: int) -> Array:
        """Q = 0."""
        return np.zeros(self.shape(runs))

    def check(self, values: Array, runs: int, what: str) -> Array:
        """What a part returned, as kernels need it, which check nothing; or an error."""
        array = as_numbers(values, what)
        if array.shape != self.shape(runs):
            rows = "states" if self.countable else "features"
            raise InvalidInput(
                f"{what} must return an array of shape {self.shape(runs)}, (runs, {rows}, actions), not {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput(f"{what} returned a value that is not a finite number")
        return array

    def require_countable(self, what: str) -> None:
        """Raise an error if states cannot be counted."""
        if not self.countable:
            raise InvalidInput(f"{what} countable states, and these are observation vectors")

    def check_states(self, states: States, name: str) -> None:  # noqa: ARG002 - for tables
        """Raise an error if some of these, which were stored, are no states."""
        return  # any finite vector is one

    @abstractmethod
    def uniform(self, runs: int) -> Policy:
        """π(a|x) = 1/A."""

    def check_policy(self, policy: Policy, runs: int) -> Policy:
        """A policy as kernels need it, which check nothing; or an error. A rule of thumb is one as it is."""
        return policy if isinstance(policy, RulePolicy) else self._check_policy(policy, runs)

    @abstractmethod
    def _check_policy(self, policy: Policy, runs: int) -> Policy: ...

    @abstractmethod
    def softmax(self, index: Array, temperature: Temperature) -> Policy:
        """π(a|x) ∝ exp(index(x, a)/temperature(x)). temperature: a number, one for each run, or what `Surprise` gives.

        At temperature zero all probability is shared by the actions of the largest index.
        """

    def most_likely(self, policy: Policy) -> Policy:
        """The policy that takes the most likely action of another one."""
        return policy if isinstance(policy, RulePolicy) else self._most_likely(policy)

    @abstractmethod
    def _most_likely(self, policy: Policy) -> Policy: ...

    def probabilities(self, policy: Policy, states: States) -> Array:
        """π(·|x), (runs, n, actions), at `n` states of each run."""
        rule = isinstance(policy, RulePolicy)
        return policy.probabilities(states) if rule else self._probabilities(policy, states)

    @abstractmethod
    def _probabilities(self, policy: Policy, states: States) -> Array: ...

    def action_probabilities(self, policy: Policy, states: States, actions: Actions) -> Array:
        """π(a|x) of actions that were taken, (runs, n)."""
        every = self.probabilities(policy, states)
        return np.asarray(np.take_along_axis(every, actions[:, :, None], axis=2)[:, :, 0])

    @abstractmethod
    def values(self, q: Array, states: States) -> Array:
        """Q(x, ·), (runs, n, actions), at `n` states of each run."""

    @abstractmethod
    def temperatures(self, temperature: Temperature, runs: int, states: States) -> Array:
        """The temperatures, (runs, n), at `n` states of each run."""

    @abstractmethod
    def join(self, policies: Sequence[Policy]) -> Policy:
        """The policies of several batches as one."""

    def actor(self, policy: Policy, stream: Streams) -> Actor:
        """A function that draws an action for a state of the first run."""
        return policy.action if isinstance(policy, RulePolicy) else self._actor(policy, stream)

    @abstractmethod
    def _actor(self, policy: Policy, stream: Streams) -> Actor: ...

    def chooser(self, policy: Policy) -> Actor:
        """A function from a state of the first run to the most likely action, the first if there are several."""
        return policy.action if isinstance(policy, RulePolicy) else self._chooser(policy)

    def _chooser(self, policy: Policy) -> Actor:
        return lambda state: int(self.probabilities(policy, np.asarray(state)[None, None])[0, 0].argmax())

    def most_likely_actions(self, policy: Policy, states: States) -> Integers:
        """The most likely actions at states of the first run, (n,)."""
        return np.asarray(self.probabilities(policy, states[None])[0].argmax(axis=1))

    def draw(self, policy: Policy, stream: Streams, states: States) -> Integers:
        """Actions for states of the first run, (n,): those that `actor` would draw one after the other."""
        if isinstance(policy, RulePolicy):
            return np.array([policy.action(state) for state in states], dtype=np.int64)
        return self._draw(policy, stream, states)

    @abstractmethod
    def _draw(self, policy: Policy, stream: Streams, states: States) -> Integers: ...

    @abstractmethod
    def surprise(self, runs: int, norm: str, num_sampled: int | None, num_phases: int | None) -> Surprise:
        """No surprise yet. num_sampled: how many past differences will be asked for at a time; None: all there are."""

    @abstractmethod
    def fit(
        self, states: States, actions: Actions, targets: Array, ridge: float, weights: Array | None = None
    ) -> Array:
        """Q = φᵀw with w = argmin Σ_t u_t (φ(x_t, a_t)ᵀw − target_t)² + ridge ‖w‖², in every run.

        targets: (runs, n), of the first n steps; weights: u_t, of the same shape; 1 if not given.
        """

    @abstractmethod
    def equations(
        self, states: States, actions: Actions, rewards: Array, successors: States, policy: Policy, trace: float
    ) -> Iterator[Equations]:
        """The projected equations of LSTD-Q(λ) for a policy, run by run, from steps, (runs, n)."""

    @abstractmethod
    def temporal_differences(self, difference: Any, rates: Rates, runs: int) -> Rule:
        """Learning at every step, by a kernel for α δ; see `aapi.approximation.temporal_differences`."""

    @abstractmethod
    def from_weights(self, blocks: Array) -> Array:
        """The Q-function φᵀw of one run, (rows, actions), given w in its blocks."""
