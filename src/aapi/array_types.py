"""Names for arrays whose type of number is known where they are used."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]  # states: whole numbers or vectors; and what was stored
Arrays: TypeAlias = dict[str, AnyArray]  # by name, as files hold them
