"""Elementary functions against decimal arithmetic, and their bits against stored ones."""

import hashlib
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aapi.kernels.elementary import angle, cos, exp, log, sin, sin_cos
from aapi.kernels.jit import kernel

SMALLEST = 5e-324
with localcontext(prec=60):
    # Machin (1706): π/2 = 2 (4 arctan 1/5 − arctan 1/239).
    HALF_PI = 2 * sum(
        factor * (-1) ** k / ((2 * k + 1) * Decimal(n) ** (2 * k + 1))
        for n, factor in ((5, 4), (239, -1))
        for k in range(45)
    )


def sine(x):
    """By Taylor's series, to 40 digits."""
    x -= 4 * HALF_PI * (x / (4 * HALF_PI)).to_integral_value()
    total, term, k = Decimal(0), x, 1
    while abs(term) > abs(x) * Decimal(10) ** -40:
        total += term
        term *= -x * x / ((k + 1) * (k + 2))
        k += 2
    return total


EXACT = {
    exp: lambda x: x.exp(),
    log: lambda x: x.ln(),
    sin: sine,
    cos: lambda x: sine(HALF_PI - x),
}


def apart(function, x):
    """How far from the exact value, in units of the last place."""
    with localcontext(prec=60, Emin=-9999, Emax=9999):
        exact = EXACT[function](Decimal(x))
        unit = math.ulp(float(exact)) if abs(exact) < Decimal("1.7e308") else math.ulp(1.7e308)
        return float(abs(Decimal(function(x)) - exact) / Decimal(unit))


@given(st.floats(-745.0, 709.7))
def test_exp(x):
    assert apart(exp, x) <= 1.0


@given(st.one_of(st.floats(SMALLEST, 1.7e308), st.floats(0.5, 2.0)))
def test_log(x):
    assert apart(log, x) <= 1.0


@pytest.mark.parametrize("function", [sin, cos])
@given(
    x=st.one_of(
        st.floats(-10.0, 10.0), st.floats(-6e7, 6e7), st.integers(-(10**6), 10**6).map(lambda k: k * math.pi / 2)
    )
)
def test_sine_and_cosine(function, x):
    assert apart(function, x) <= 1.0


def test_many_values_at_once():
    random = np.random.default_rng(0)
    for function, points in (
        (exp, random.uniform(-745.0, 709.0, 2000)),
        (log, np.exp(random.uniform(-700.0, 700.0, 2000))),
        (sin, random.uniform(-1e3, 1e3, 500)),
        (cos, random.uniform(-1e3, 1e3, 500)),
    ):
        assert max(apart(function, x) for x in points.tolist()) <= 0.9


def test_special_values():
    assert [exp(x) for x in (-math.inf, math.inf, -1e308, 1e308, 0.0)] == [0.0, math.inf, 0.0, math.inf, 1.0]
    assert [log(x) for x in (0.0, 1.0, math.inf, SMALLEST)] == [-math.inf, 0.0, math.inf, math.log(SMALLEST)]
    assert sin_cos(0.0) == (0.0, 1.0)
    wrong = [exp(math.nan), log(math.nan), log(-1.0), sin(math.nan), cos(math.inf)]
    assert np.isnan(wrong).all()
    assert -1.0 <= sin(1e300) <= 1.0


@kernel
def fill(x, out):
    for i in range(x.size):
        out[i, 0] = exp(-x[i])
        out[i, 1] = log(x[i])
        out[i, 2], out[i, 3] = sin_cos(x[i])


def test_the_same_bits_on_every_machine():
    x = np.random.default_rng(1).random(20_000) * 50.0 + 2.0**-20
    out = np.empty((len(x), 4))
    fill(x, out)
    assert hashlib.sha256(out.tobytes()).hexdigest()[:16] == "57f7556c18d7ecad"


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_angle(x, y):
    expected = math.atan2(y + 0.0, x) if x or y else 0.0
    assert abs(angle(x, y) - expected) <= 4.0 * math.ulp(expected) or (y == 0.0 and x < 0.0)


def test_angles_of_axes():
    assert [angle(*each) for each in ((0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (-1.0, 0.0), (0.0, -1.0))] == [
        0.0, 0.0, math.pi / 2, math.pi, -math.pi / 2,
    ]  # fmt: skip
