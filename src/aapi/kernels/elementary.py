"""exp, log, sin, cos and angles inside kernels, from + − × / and bit operations alone: the same bits on all processors.

A C library chooses other code on other processors, and its last bits differ. These are at most one unit in the last
place from the exact value. Each reduces its argument to a small interval, where a Taylor polynomial is as exact as the
numbers are. `exp` has no branches, so that a loop over it becomes vector instructions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aapi.kernels.jit import kernel

LOG2_E = 1.4426950408889634
# ln 2 and π/2 in parts: the product of a whole number, up to 2¹¹ or 2²⁶, and a part but the last is exact.
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")
TWO_OVER_PI = 0.6366197723675814
HALF_PI = tuple(
    float.fromhex(part) for part in ("0x1.921fb54p+0", "0x1.10b461p-30", "0x1.a62633p-58", "0x1.45c06e0e68948p-86")
)
TURN = 2.0 * math.pi
FURTHEST = 2.0**26  # larger angles are first reduced by turns of this precision: the same everywhere, but inexact

ROUND = 1.5 * 2.0**52  # added and subtracted again, it rounds a number to a whole one, whose bits are the sum's lowest
BIAS = 1023.0  # of the exponent in a number's bits
EXPONENT = np.int64(52)  # and its place there
MANTISSA = np.int64((1 << 52) - 1)
ONE = np.int64(1023 << 52)

# 1/k!, and 2/(2k + 1) in the series of log((1 + s)/(1 − s)).
F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17 = (1.0 / math.factorial(k) for k in range(2, 18))
# 1/(2k + 1) in the series of arctan, and the arctangents of 1/4, 1/2, 3/4 and 1 from which it is taken.
A3, A5, A7, A9, A11, A13, A15, A17, A19 = (1.0 / k for k in range(3, 20, 2))
QUARTERS = (0.0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844, 0.7853981633974483)
L3, L5, L7, L9, L11, L13, L15, L17, L19, L21 = (2.0 / k for k in range(3, 22, 2))


@kernel
def _power_of_two(k: Any) -> Any:
    """2^k, of a whole number k from −1022 to 1023."""
    return np.int64(np.float64(k + BIAS + ROUND).view(np.int64) << EXPONENT).view(np.float64)


@kernel
def exp(x: Any) -> Any:
    """e^x = 2^k e^r, |r| ≤ ln 2 / 2; 0 and ∞ where that is too small or too large."""
    x = -746.0 if x < -746.0 else x
    x = 720.0 if x > 720.0 else x
    k = (x * LOG2_E + ROUND) - ROUND
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    rest = (high - r) - low
    r2 = r * r
    r4 = r2 * r2
    r8 = r4 * r4
    first = (F2 + r * F3) + r2 * (F4 + r * F5)
    middle = (F6 + r * F7) + r2 * (F8 + r * F9)
    last = (F10 + r * F11) + r2 * (F12 + r * F13)
    value = 1.0 + (r + (rest + r2 * (first + r4 * middle + r8 * last)))
    half = (0.5 * k + ROUND) - ROUND  # 2^k itself may be too small to be a number where its product with e^r is not
    return value * _power_of_two(half) * _power_of_two(k - half)


@kernel
def log(x: Any) -> Any:
    """log x = k log 2 + log m, x = 2^k m, ½ ≤ m² < 2; −∞ at 0, and not a number below."""
    if not 0.0 < x < math.inf:
        return x if x > 0.0 else -math.inf if x == 0.0 else math.nan
    k = -1023
    if x < 2.3e-308:  # it has leading zeros
        x *= 2.0**54
        k -= 54
    bits = np.float64(x).view(np.int64)
    k += int(bits >> EXPONENT)
    m = np.int64((bits & MANTISSA) | ONE).view(np.float64)
    if m > 1.4142135623730951:
        m *= 0.5
        k += 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = L5 + w * (L9 + w * (L13 + w * (L17 + w * L21)))
    odd = L3 + w * (L7 + w * (L11 + w * (L15 + w * L19)))
    square = 0.5 * f * f
    series = s * (square + (z * odd + w * even))  # log m = f − f²/2 + s (f²/2 + …)
    return k * LN2_HIGH - ((square - (series + k * LN2_LOW)) - f)


@kernel
def _reduce(x: Any) -> Any:
    """The quarter turn k nearest to an angle, modulo 4, and what is left, |r| ≤ π/4, as a sum of two numbers."""
    while not abs(x) < FURTHEST:
        x -= TURN * np.rint(x / TURN)
    k = (x * TWO_OVER_PI + ROUND) - ROUND
    a = x - k * HALF_PI[0]
    b = k * HALF_PI[1]
    s = a - b
    shadow = a - s
    lost = (a - (s + shadow)) + (shadow - b)
    c = k * HALF_PI[2]
    t = s - c
    shadow = s - t
    lost += (s - (t + shadow)) + (shadow - c)
    lost -= k * HALF_PI[3]
    r = t + lost
    return int(k) & 3, r, (t - r) + lost


@kernel
def _sine(r: Any, rest: Any) -> Any:
    """sin(r + rest), |r| ≤ π/4."""
    z = r * r
    w = z * z
    series = (F5 - z * F7) + w * ((F9 - z * F11) + w * ((F13 - z * F15) + w * F17))
    return r + (rest * (1.0 - 0.5 * z) - r * z * (F3 - z * series))


@kernel
def _cosine(r: Any, rest: Any) -> Any:
    """cos(r + rest), |r| ≤ π/4."""
    z = r * r
    w = z * z
    half = 0.5 * z
    near = 1.0 - half
    series = (F4 - z * F6) + w * ((F8 - z * F10) + w * ((F12 - z * F14) + w * F16))
    return near + (((1.0 - near) - half) + (w * series - r * rest))


@kernel
def sin(x: Any) -> Any:
    """The sine of an angle; not a number if that is not finite."""
    return sin_cos(x)[0]


@kernel
def cos(x: Any) -> Any:
    """The cosine of an angle; not a number if that is not finite."""
    return sin_cos(x)[1]


@kernel
def sin_cos(x: Any) -> Any:
    """Sine and cosine of an angle, for little more than the cost of one."""
    if not abs(x) < math.inf:
        return math.nan, math.nan
    quarter, r, rest = _reduce(x)
    sine, cosine = _sine(r, rest), _cosine(r, rest)
    if quarter & 1:
        sine, cosine = cosine, -sine
    sign = 1.0 - (quarter & 2)
    return sign * sine, sign * cosine


@kernel
def angle(x: Any, y: Any) -> Any:
    """The angle of the vector (x, y), from −π to π, within three units in the last place; 0 for that of length zero.

    arctan t = arctan q/4 + arctan r, r = (t − q/4)/(1 + t q/4), with the whole number q nearest to 4t: |r| ≤ 1/8.
    """
    a, b = abs(x), abs(y)
    large, small = max(a, b), min(a, b)
    if not large > 0.0:
        return 0.0
    t = small / large
    q = int(4.0 * t + 0.5)
    r = (t - 0.25 * q) / (1.0 + 0.25 * q * t)
    z = r * r
    series = z * (A11 - z * (A13 - z * (A15 - z * (A17 - z * A19))))
    turned = QUARTERS[q] + (r - r * z * (A3 - z * (A5 - z * (A7 - z * (A9 - series)))))
    if b > a:
        turned = 0.5 * math.pi - turned
    if x < 0.0:
        turned = math.pi - turned
    return -turned if y < 0.0 else turned
