"""A finite Markov chain: its recurrent classes, stationary distributions and mixing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from aapi.checks import at_least
from aapi.errors import DoesNotExist, InvalidInput, TooLarge
from aapi.mdp.arrays import ROW_SUM_TOLERANCE
from aapi.mdp.linear_systems import TransientSystem, is_sparse, row_sums

if TYPE_CHECKING:
    from aapi.array_types import Array, Integers, Mask, Matrix

MIXING_LEVEL = 0.25 + 1e-12  # the paper's 1/4, with a margin for rounding where the distance is exactly 1/4
MAX_DENSE_STATES = 2_000  # beyond this, quantities that need every power of P or every pair of rows are refused
CONTRACTING = 1e-12  # a coefficient closer to one than this counts as one
BURN_IN = 32  # steps after which often visited states have a large probability


@dataclass(frozen=True, eq=False)
class Chain:
    """The Markov chain with transition matrix `transitions`, dense or sparse, of shape (states, states)."""

    transitions: Matrix

    def __post_init__(self) -> None:
        if is_sparse(self.transitions):
            matrix = scipy.sparse.csr_array(self.transitions, dtype=np.float64, copy=True)
            matrix.eliminate_zeros()
            entries = matrix.data
        else:
            entries = matrix = np.asarray(self.transitions, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
            raise InvalidInput(f"a chain's transitions must have the shape (states, states), not {matrix.shape}")
        off = abs(row_sums(matrix) - 1.0)
        if not (off.max() <= ROW_SUM_TOLERANCE and entries.min() >= 0.0):
            raise InvalidInput("a chain's transitions must be probabilities, each row with the sum 1")
        object.__setattr__(self, "transitions", matrix)

    @property
    def num_states(self) -> int:
        """The number of states."""
        return int(self.transitions.shape[0])

    # Structure ---------------------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> Matrix:
        """The transitions as a sparse matrix: its entries are the edges."""
        return scipy.sparse.csr_array(self.transitions)

    @cached_property
    def recurrent_classes(self) -> tuple[Integers, ...]:
        """The closed communicating classes, each as sorted states, ordered by their first state."""
        _, label = scipy.sparse.csgraph.connected_components(self.graph, directed=True, connection="strong")
        edges = self.graph.tocoo()
        closed = np.ones(label.max() + 1, dtype=bool)
        closed[label[edges.row[label[edges.row] != label[edges.col]]]] = False
        recurrent = np.flatnonzero(closed[label])
        recurrent = recurrent[np.argsort(label[recurrent], kind="stable")]
        classes = np.split(recurrent, np.flatnonzero(np.diff(label[recurrent])) + 1)
        return tuple(sorted((np.asarray(c, dtype=np.int64) for c in classes), key=lambda c: int(c[0])))

    @cached_property
    def transient_states(self) -> Integers:
        """The states in no recurrent class."""
        return np.setdiff1d(np.arange(self.num_states), np.concatenate(self.recurrent_classes))

    @cached_property
    def periods(self) -> tuple[int, ...]:
        """The period of each recurrent class."""
        return tuple(self._period(states) for states in self.recurrent_classes)

    @property
    def period(self) -> int:
        """The least d such that Pᵈⁿ converges: the period of the recurrent class, or the l.c.m. of several."""
        return math.lcm(*self.periods)

    def _period(self, states: Integers) -> int:
        graph = self.graph[states][:, states]
        level = scipy.sparse.csgraph.dijkstra(graph, indices=0, unweighted=True).astype(np.int64)
        edges = graph.tocoo()
        return int(np.gcd.reduce(level[edges.row] + 1 - level[edges.col]))

    # Stationary behaviour ----------------------------------------------------------------------------------------

    @cached_property
    def _anchors(self) -> Integers:
        """One often visited state of each recurrent class, so that the numbers in `_system` are small."""
        mass = np.full(self.num_states, 1.0 / self.num_states)
        for _ in range(BURN_IN):
            mass = 0.5 * (mass + mass @ self.transitions)
        return np.array([states[np.argmax(mass[states])] for states in self.recurrent_classes])

    @cached_property
    def _others(self) -> Integers:
        return np.setdiff1d(np.arange(self.num_states), self._anchors)

    @cached_property
    def _system(self) -> TransientSystem:
        """The chain until it reaches an anchor; long-run quantities are solutions of this system."""
        return TransientSystem(self.transitions[self._others], self._others, self._anchors)

    def extend(self, values: Array) -> Array:
        """E_x[values at the class that absorbs x], for `values` with one entry per recurrent class."""
        if len(self.recurrent_classes) == 1:
            return np.full(self.num_states, values[0])
        extended = np.empty(self.num_states)
        extended[self._anchors] = values
        extended[self._others] = self._system.solve(self.transitions[self._others][:, self._anchors] @ values)
        for states, value in zip(self.recurrent_classes, values, strict=True):
            extended[states] = value
        return extended

    def poisson(self, rewards: Array) -> Array:
        """The h with h − P h = rewards and h = 0 in one state of each class, for rewards of mean zero on each class."""
        h = np.zeros(self.num_states)
        h[self._others] = self._system.solve(rewards[self._others])
        return h

    @cached_property
    def stationary_distributions(self) -> Array:
        """One row per recurrent class: its stationary distribution over all states."""
        weights = np.ones(self.num_states)
        out_of_anchors = np.asarray(self.transitions[self._anchors][:, self._others].sum(axis=0)).ravel()
        weights[self._others] = self._system.solve(out_of_anchors, transposed=True)
        result = np.zeros((len(self.recurrent_classes), self.num_states))
        for row, states in zip(result, self.recurrent_classes, strict=True):
            row[states] = np.maximum(weights[states], 0.0)
            row /= row.sum()
        return result

    @property
    def stationary_distribution(self) -> Array:
        """The only μ with μ P = μ; an error if there are several."""
        self.require_one_class("the stationary distribution is not unique")
        return np.asarray(self.stationary_distributions[0])

    def require_one_class(self, what: str) -> None:
        """Raise an error that begins with `what` and names the classes, unless there is just one."""
        if len(self.recurrent_classes) > 1:
            raise DoesNotExist(
                f"{what}: the chain has the recurrent classes {describe_classes(self.recurrent_classes)}"
            )

    # Speed of convergence ----------------------------------------------------------------------------------------

    @cached_property
    def mixing_time(self) -> int:
        """The least t ≥ 1 with max_x ‖Pᵗ(x,·) − μ‖₁ ≤ 1/4 (Hao et al. 2021, definition 2.1)."""
        self.require_one_class("the mixing time does not exist")
        if self.period > 1:
            raise DoesNotExist(f"the mixing time does not exist: the chain is periodic, with period {self.period}")
        self._require_small("the mixing time")
        powers = [self._dense()]
        while self._distance(powers[-1]) > MIXING_LEVEL:
            if len(powers) > 60:
                raise DoesNotExist(
                    "the mixing time exceeds 2^60 steps: the chain is not irreducible to double precision"
                )
            powers.append(_multiply(powers[-1], powers[-1]))
        if len(powers) == 1:
            return 1
        # The distance never grows with t: bisect (2^(k−1), 2^k] by adding smaller powers while still too far.
        time, reached = 1 << (len(powers) - 2), powers[-2]
        for exponent in range(len(powers) - 3, -1, -1):
            further = _multiply(reached, powers[exponent])
            if self._distance(further) > MIXING_LEVEL:
                time, reached = time + (1 << exponent), further
        return time + 1

    def distance_to_stationarity(self, time: int) -> float:
        """max_x ‖Pᵗ(x,·) − μ‖₁ at t = `time`."""
        at_least(0, time=time)
        self.require_one_class("there is no one distribution to converge to")
        self._require_small("the distance to stationarity")
        return self._distance(np.linalg.matrix_power(self._dense(), time))

    @cached_property
    def _furthest_rows(self) -> tuple[float, int, int]:
        """The largest ‖P(x,·) − P(y,·)‖₁, and x < y that have it."""
        self._require_small("the contraction coefficient")
        return furthest_rows(self._dense())

    @property
    def contraction(self) -> float:
        """Dobrushin's coefficient: the least c with ‖(μ − ν) P‖₁ ≤ c ‖μ − ν‖₁ for all distributions μ, ν."""
        return self._furthest_rows[0] / 2.0

    @property
    def contraction_time(self) -> float:
        """The least t with ‖(μ − ν) P‖₁ ≤ exp(−1/t) ‖μ − ν‖₁: what the paper's proofs use in place of the mixing time.

        Ergodic chains need not have one: two states without a common successor suffice.
        """
        _, x, y = self._furthest_rows
        return time_to_contract(self.contraction, f"states {x} and {y}")

    @cached_property
    def spectral_gap(self) -> float:
        """1 − the second largest modulus of an eigenvalue of P; zero for periodic chains and for several classes.

        Where eigenvectors are nearly parallel, eigenvalues are known to a fraction of double precision only.
        """
        if len(self.recurrent_classes) > 1 or self.period > 1:
            return 0.0
        if self.num_states == 1:
            return 1.0
        self._require_small("the spectral gap")
        moduli = np.sort(np.abs(np.linalg.eigvals(self._dense())))
        return float(1.0 - moduli[-2])

    def hitting_times(self, target: int | Iterable[int]) -> Array:
        """The expected number of steps to reach `target`, a state or several, from each state.

        Zero on the target, infinite where it is missed with positive probability.
        """
        states = np.atleast_1d(np.asarray(list(target) if isinstance(target, Iterable) else target))
        if states.size == 0 or states.dtype.kind not in "iu" or states.min() < 0 or states.max() >= self.num_states:
            raise InvalidInput(f"target must be states in 0..{self.num_states - 1}, not {target!r}")
        on_target = np.zeros(self.num_states, dtype=bool)
        on_target[states] = True
        doomed = can_reach(self.graph, ~can_reach(self.graph, on_target), avoiding=on_target)
        times = np.where(doomed, np.inf, 0.0)
        inner = np.flatnonzero(~on_target & ~doomed)
        if inner.size:
            system = TransientSystem(self.transitions[inner], inner, np.flatnonzero(on_target))
            times[inner] = system.solve(np.ones(inner.size))
        return times

    def _require_small(self, what: str) -> None:
        if self.num_states > MAX_DENSE_STATES:
            raise TooLarge(
                f"{what} is computed for at most {MAX_DENSE_STATES} states, and this chain has {self.num_states}"
            )

    def _dense(self) -> Array:
        return np.asarray(self.transitions.toarray() if is_sparse(self.transitions) else self.transitions)

    def _distance(self, power: Array) -> float:
        return float(np.abs(power - self.stationary_distribution).sum(axis=1).max())


def can_reach(graph: Matrix, target: Mask, avoiding: Mask | None = None) -> Mask:
    """The states with a path into `target` whose states before it are not in `avoiding`."""
    if not target.any():
        return np.zeros_like(target)
    edges = graph.tocoo()
    keep = ~avoiding[edges.row] if avoiding is not None else np.ones(len(edges.row), dtype=bool)
    n = graph.shape[0]
    # Reversed edges, and a node n from which every target state is one step away.
    sources = np.concatenate([edges.col[keep], np.full(int(target.sum()), n)])
    sinks = np.concatenate([edges.row[keep], np.flatnonzero(target)])
    reverse = scipy.sparse.csr_array((np.ones(len(sources)), (sources, sinks)), shape=(n + 1, n + 1))
    reached = np.zeros(n + 1, dtype=bool)
    reached[scipy.sparse.csgraph.breadth_first_order(reverse, n, return_predecessors=False)] = True
    return reached[:n]


def furthest_rows(rows: Array, group: int = 1) -> tuple[float, int, int]:
    """The largest ‖rows[i] − rows[j]‖₁ of two rows that are not in one group of `group` rows, and i < j."""
    furthest = (0.0, 0, 0)
    for i in range(len(rows) - group):
        later = (i // group + 1) * group  # the first row of the next group
        distances = np.abs(rows[later:] - rows[i]).sum(axis=1)
        j = int(distances.argmax())
        furthest = max(furthest, (float(distances[j]), i, later + j), key=lambda found: found[0])
    return furthest


def time_to_contract(coefficient: float, furthest: str) -> float:
    """The t with exp(−1/t) = `coefficient`; an error that names the `furthest` states where that is 1."""
    if coefficient > 1.0 - CONTRACTING:
        raise DoesNotExist(
            f"no contraction time: {furthest} have no common successor of a probability above {CONTRACTING:g}, "
            "so one step need not bring distributions closer"
        )
    return -1.0 / math.log(coefficient) if coefficient > 0.0 else 0.0


def _multiply(left: Array, right: Array) -> Array:
    product = left @ right
    return np.asarray(product / product.sum(axis=1, keepdims=True))


def describe_states(states: Iterable[int]) -> str:
    """{0,3}, shortened where there are many."""
    names = [str(int(state)) for state in states]
    return "{" + ",".join(names if len(names) <= 8 else [*names[:6], "…", names[-1]]) + "}"


def describe_classes(classes: Iterable[Integers]) -> str:
    """{0,3} and {5}, shortened where there are many."""
    names = [describe_states(states) for states in classes]
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}"
