"""Features by name: fourier:4, tiles:8x8, radial:300, one-hot, coordinates, aggregate:5."""

from __future__ import annotations

import re
from typing import Any

from aapi.errors import InvalidInput, did_you_mean

FEATURES_HELP = "one-hot, grid, fourier:ORDER, tiles:SIDExTILINGS or radial:NUMBER"
FINITE_HELP = "coordinates or aggregate:GROUPS"


def make_features(
    text: str | None,
    low: str | None = None,
    high: str | None = None,
    *,
    finite: bool,
    vectors: bool = True,
    word: str = "--features",
) -> Any:
    """The features that a text describes; None leaves the choice to the problem.

    finite: whether it may have a model; vectors: whether it may have observation vectors.
    """
    from aapi import features

    if text is None and low is None and high is None:
        return None
    plain: dict[str, Any] = (
        {"one-hot": features.OneHot}
        | ({"grid": features.Grid} if vectors else {})
        | ({"coordinates": features.Coordinates} if finite else {})
    )
    if text in plain and low is None and high is None:
        return plain[text]()
    if finite and (match := re.fullmatch(r"aggregate:(\d+)", text or "")):
        return features.Aggregation(int(match[1]))
    bounds: dict[str, Any] = {
        name: _numbers(name, value) for name, value in (("low", low), ("high", high)) if value is not None
    }
    if text in plain:
        raise InvalidInput(f"--low and --high scale observation vectors: {text} features have no use for them")
    known = (*plain, *(["aggregate"] if finite else []), *(["fourier", "tiles", "radial"] if vectors else []))
    hint = did_you_mean((text or "").partition(":")[0], known)
    if not vectors:
        raise InvalidInput(f"{word} must be one-hot, {FINITE_HELP}, not {text!r}{hint}")
    if match := re.fullmatch(r"fourier(?::(\d+))?", text or "fourier"):
        return features.Fourier(**_given(order=match[1]), **bounds)
    if match := re.fullmatch(r"tiles(?::(\d+)(?:x(\d+))?)?", text or ""):
        return features.Tiles(**_given(tiles=match[1], tilings=match[2]), **bounds)
    if match := re.fullmatch(r"radial(?::(\d+))?", text or ""):
        return features.Radial(**_given(num_features=match[1]), **bounds)
    more = f", {FINITE_HELP}" if finite else ""
    raise InvalidInput(f"{word} must be {FEATURES_HELP}{more}, not {text!r}{hint}")


def _given(**texts: str | None) -> dict[str, Any]:
    return {name: int(text) for name, text in texts.items() if text is not None}


def _numbers(name: str, text: str) -> tuple[float, ...] | float:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"--{name} must be a number or numbers with commas between, not {text!r}") from None
    return values[0] if len(values) == 1 else values
