"""Statistics over runs, with confidence intervals."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.special

from aapi.errors import DoesNotExist

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers


RESAMPLES = 2000
CONFIDENCE = 0.95
USABLE = 0.975  # the least share of resamples in which a statistic must exist


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % bootstrap interval."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class ConfidenceBand:
    """Means over runs with pointwise 95 % intervals; those of a single run are nan."""

    mean: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Spread:
    """A sample of runs: mean and standard deviation as in the paper, and more robust statistics."""

    count: int
    mean: Interval
    std: float
    interquartile_mean: Interval
    worst: float


def interquartile_mean(values: ArrayLike) -> Array:
    """The mean of the middle half, along the last axis, which outliers hardly change."""
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=-1)
    cut = ordered.shape[-1] // 4
    return np.asarray(ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1))


def spread(values: ArrayLike) -> Spread:
    """Mean, deviation, interquartile mean and the worst of a sample."""
    sample = np.asarray(values, dtype=np.float64)
    middle = _bootstrap(interquartile_mean, sample)
    return Spread(sample.size, mean_interval(sample), float(deviation(sample)), middle, float(sample.min()))


def deviation(values: ArrayLike) -> Array:
    """The standard deviation over the first axis; 0 for one run. Squares of large rewards do not overflow."""
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2:
        return np.zeros(sample.shape[1:])
    unit = 2.0 ** np.frexp(np.abs(sample).max(axis=0))[1]  # a power of two: divisions by it are exact
    return np.asarray(unit * (sample / unit).std(axis=0, ddof=1))


def confidence_band(values: ArrayLike) -> ConfidenceBand:
    """The mean over the first axis, the runs, with Student's interval."""
    sample = np.asarray(values, dtype=np.float64)
    count, mean = len(sample), sample.mean(axis=0)
    half = np.full_like(mean, np.nan)
    if count > 1:
        half = scipy.special.stdtrit(count - 1, 0.5 + 0.5 * CONFIDENCE) * deviation(sample) / math.sqrt(count)
    return ConfidenceBand(mean, mean - half, mean + half)


def mean_interval(values: ArrayLike) -> Interval:
    """The mean of a sample with its bootstrap interval."""
    return _bootstrap(lambda rows: rows.mean(axis=-1), np.asarray(values, dtype=np.float64))


def bootstrapped(statistic: Callable[[Array], Array], sample: Array, resamples: int = 500) -> list[Interval]:
    """Each number that `statistic` computes from a sample, with its bootstrap interval over runs, the last axis.

    `statistic` may return nan, where it does not exist, for fewer than one in forty resamples. The interval of a single
    run is nan.
    """
    count = sample.shape[-1]
    if count < 2:
        return [Interval(float(value), math.nan, math.nan) for value in statistic(sample)]
    picks = np.random.default_rng(0).integers(count, size=(resamples, count))
    draws = np.array([statistic(sample[..., pick]) for pick in picks])
    draws = draws[~np.isnan(draws).any(axis=1)]
    if len(draws) < USABLE * resamples:
        raise DoesNotExist("runs differ too much for an interval: take more of them")
    return [_interval(float(value), column) for value, column in zip(statistic(sample), draws.T, strict=True)]


def compare(ours: ArrayLike, theirs: ArrayLike) -> tuple[Interval, Interval]:
    """The difference of the means, and the probability of improvement, each with its interval.

    That is P(X > Y) + P(X = Y)/2 for a run X of ours and a run Y of theirs.
    """
    x, y = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    rng, wins = np.random.default_rng(0), 0.5 * (x[:, None] > y) + 0.5 * (x[:, None] >= y)
    # How often each run is drawn: a resampled mean is then a product.
    of_x = rng.multinomial(x.size, np.full(x.size, 1.0 / x.size), RESAMPLES) / x.size
    of_y = rng.multinomial(y.size, np.full(y.size, 1.0 / y.size), RESAMPLES) / y.size
    difference = _interval(float(x.mean() - y.mean()), of_x @ x - of_y @ y)
    return difference, _interval(float(wins.mean()), ((of_x @ wins) * of_y).sum(axis=1))


@dataclass(frozen=True)
class PairComparison:
    """How two samples differ in their means. p: of the permutation test, with Holm's correction for all pairs."""

    ours: str
    theirs: str
    difference: float
    p: float

    @property
    def verdict(self) -> int:
        """1 if the first has the larger mean, −1 if the second, 0 if that cannot be told."""
        return 0 if self.p > 1.0 - CONFIDENCE else int(math.copysign(1.0, self.difference))


def compare_all(samples: Mapping[str, ArrayLike]) -> list[PairComparison]:
    """Every pair of samples, such that with 95 % probability no verdict among all of them is wrong (Holm 1979)."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in samples.items()}
    pairs = list(itertools.combinations(arrays, 2))
    values = [permutation_p(arrays[ours], arrays[theirs]) for ours, theirs in pairs]
    return [
        PairComparison(ours, theirs, float(arrays[ours].mean() - arrays[theirs].mean()), p)
        for (ours, theirs), p in zip(pairs, holm(values), strict=True)
    ]


def permutation_p(x: Array, y: Array, permutations: int = 19_999) -> float:
    """How often samples that are dealt out anew differ in their means as much as these do; the seed is fixed."""
    both, observed = np.concatenate([x, y]), abs(float(x.mean() - y.mean()))
    if not observed:
        return 1.0
    sums = both[_deals(both.size, x.size, permutations)].sum(axis=1)
    differences = np.abs(sums / x.size - (both.sum() - sums) / y.size)
    return float((1 + (differences >= observed * (1.0 - 1e-12)).sum()) / (1 + permutations))


@functools.lru_cache(4)
def _deals(size: int, count: int, number: int) -> Integers:
    """So many ways to take `count` of `size` things, at random, (number, count)."""
    ranks = np.random.default_rng(0).random((number, size)).argpartition(count - 1, axis=1)
    return np.ascontiguousarray(ranks[:, :count])


def holm(values: Sequence[float]) -> list[float]:
    """Values of p that hold for all of several tests together (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(values)[order]))
    return [float(value) for value in adjusted]


def _bootstrap(statistic: Callable[[Array], Array], sample: Array) -> Interval:
    """The percentile bootstrap, with a fixed seed: reports are reproducible."""
    rows = np.random.default_rng(0).choice(sample, (RESAMPLES, sample.size))
    return _interval(float(statistic(sample)), statistic(rows))


def _interval(estimate: float, draws: Array) -> Interval:
    tail = 50.0 * (1.0 - CONFIDENCE)
    lower, upper = np.percentile(draws, [tail, 100.0 - tail])
    return Interval(estimate, float(lower), float(upper))
