"""The average of a reward per step in the long run, from one run or several, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.special

from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aapi.array_types import Array, Integers


CONFIDENCE = 0.95
BATCHES = (256, 128, 64, 32)  # numbers of them that are tried, in all runs together
FEWEST = 4  # batches of a run
QUARTERS = 4  # of a batch
CORRELATED = 0.25  # neighbouring quarters of batches may be, at most
FEWEST_EFFECTIVE = 16  # degrees of freedom
FEWEST_CYCLES = 25  # likewise, of cycles


@dataclass(frozen=True)
class LongRun:
    """An average per step, its standard error, and half of the interval of 95 %; None if the run is too short for them.

    method: what they are from, and how many of those, "64 batches"; or, if there are none, why.
    """

    mean: float
    standard_error: float | None
    half_width: float | None
    method: str

    def __str__(self) -> str:
        """The average ± half of the interval, which has two digits."""
        half = self.half_width
        if half is None:
            return f"{self.mean:.5g} ({self.method})"
        if not 1e-9 < half < 1e9:
            return f"{self.mean:.9g} ± {half:.2g}"
        decimals = max(0, 1 - math.floor(math.log10(half)))
        return f"{self.mean:.{decimals}f} ± {half:.{decimals}f}"

    @property
    def lower(self) -> float | None:
        """Of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def upper(self) -> float | None:
        """Of the interval."""
        return None if self.half_width is None else self.mean + self.half_width


def long_run(rewards: ArrayLike, states: Integers | None = None) -> LongRun:
    """The average of rewards, (steps,) or (runs, steps), and its interval.

    states: where each reward was earned, as whole numbers, if nothing else of the past matters for what follows. Then
        the run is cut at the returns to the state seen most, and the pieces are independent; if there are enough.

    Else from means of batches (Fishman and Yarberry 1997): 256 of them or fewer, as many as there can be such that
    neighbouring quarters of batches have a correlation of no more than 1/4. Half of that correlation is what the
    variance of a batch lacks, where correlations decay evenly, and is added. With more correlation in 32 batches, or
    with so few large values among them that the variance is not known, the run is too short. The quantile is Student's,
    with the degrees of freedom that the kurtosis of the batches leaves to their variance, and more where they are
    skewed: as much as is needed on the longer side (Willink 2005).
    """
    sample = np.atleast_2d(np.asarray(rewards, dtype=np.float64))
    if sample.ndim > 2 or not sample.size or not np.isfinite(sample).all():
        raise InvalidInput("rewards must be finite numbers, (steps,) or (runs, steps)")
    if states is not None and np.size(states) != sample.size:
        raise InvalidInput(f"there must be a state for each of {sample.size} rewards, not {np.size(states)}")
    exponent = math.frexp(float(np.abs(sample).max()))[1]
    found = _in_unit(np.ldexp(sample, -exponent), None if states is None else np.asarray(states).reshape(sample.shape))
    mean, error, half = math.ldexp(found.mean, exponent), found.standard_error, found.half_width
    if error is None or half is None:
        return LongRun(mean, None, None, found.method)
    return LongRun(mean, math.ldexp(error, exponent), math.ldexp(half, exponent), found.method)


def _in_unit(sample: Array, states: Integers | None) -> LongRun:
    """The same of rewards whose largest is about 1, so that their powers are numbers."""
    mean = float(sample.mean())
    if not np.ptp(sample):
        return LongRun(mean, None, None, "all rewards are the same")
    cycles = None if states is None else _by_cycles(sample, states, mean)
    return _by_batches(sample, mean) if cycles is None else cycles


def _by_batches(sample: Array, mean: float) -> LongRun:
    (runs, steps), periodic = sample.shape, False
    for number in BATCHES:
        batches = max(FEWEST, -(-number // runs))  # of a run
        size = steps // (batches * QUARTERS)
        if not size:
            continue
        used = size * batches * QUARTERS
        quarters = sample[:, steps - used :].reshape(runs, batches * QUARTERS, size).mean(axis=2)
        correlation = _neighbours(quarters)
        errors = quarters.reshape(runs, batches, QUARTERS).mean(axis=2).ravel() - quarters.mean()
        if correlation > CORRELATED or _freedom(errors) < FEWEST_EFFECTIVE:
            periodic = not np.ptp(quarters)
            continue
        more = 1.0 + 0.5 * max(0.0, correlation)
        return _from_errors(mean, errors * math.sqrt(more * used / steps), f"{len(errors)} batches")
    why = "all batches are the same: rewards are periodic" if periodic else "the run is too short"
    return LongRun(mean, None, None, why)


def _neighbours(means: Array) -> float:
    """The correlation of neighbours in the rows of a table, about the mean of all."""
    errors = means - means.mean()
    total, pairs = float((errors * errors).sum()), means.shape[1] - 1
    return float((errors[:, 1:] * errors[:, :-1]).sum()) / total * (pairs + 1) / pairs if total else 1.0


def _by_cycles(sample: Array, states: Integers, mean: float) -> LongRun | None:
    """From the cycles between visits of the state seen most; None if they are too few."""
    values, counts = np.unique(states, return_counts=True)
    if counts.max() < FEWEST_CYCLES:
        return None
    earned, lengths = [], []
    for rewards, seen in zip(sample, states, strict=True):
        at = np.flatnonzero(seen == values[counts.argmax()])
        if len(at) > 1:
            earned.append(np.add.reduceat(rewards, at)[:-1])
            lengths.append(np.diff(at))
    if not earned:
        return None
    sums, steps = np.concatenate(earned), np.concatenate(lengths)
    errors = sums - sums.sum() / steps.sum() * steps
    if np.abs(errors).max() <= 1e-9 * np.abs(sums).max():  # always the same cycle
        return None
    if _freedom(errors) < FEWEST_CYCLES:
        return None
    return _from_errors(mean, errors / steps.mean(), f"{len(errors)} cycles")


def _from_errors(mean: float, errors: Array, method: str) -> LongRun:
    """From independent errors, whose mean is the error of the average."""
    count, freedom = len(errors), _freedom(errors)
    standard_error = math.sqrt(float(errors @ errors) / (count - 1) / count)
    skew = abs(float((errors**3).mean())) / float((errors * errors).mean()) ** 1.5 / 6.0 / math.sqrt(count)
    quantile = float(scipy.special.stdtrit(freedom, 0.5 + 0.5 * CONFIDENCE))
    quantile += skew * (1.0 + 2.0 * quantile**2)
    return LongRun(mean, standard_error, quantile * standard_error, method)


def _freedom(errors: Array) -> float:
    """The degrees of freedom of a variance: n − 1 for normal numbers, and fewer the more it is due to a few of them."""
    squares = errors * errors
    total = float(squares.sum())
    if not total:
        return 0.0
    kurtosis = len(errors) * float((squares * squares).sum()) / total**2
    return min(len(errors) - 1.0, 2.0 * len(errors) / max(kurtosis - 1.0, 1e-9))
