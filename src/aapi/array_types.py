"""Names for the types of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]  # states: whole numbers or vectors; and what was stored
Arrays: TypeAlias = dict[str, AnyArray]  # by name, as files hold them
Matrix: TypeAlias = Any  # FloatArray | scipy.sparse.csr_array: scipy ships no types
