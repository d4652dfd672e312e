"""Types of what is written as JSON, and of the settings of algorithms and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]
Setting: TypeAlias = bool | int | float | str
Settings: TypeAlias = Mapping[str, Setting]
