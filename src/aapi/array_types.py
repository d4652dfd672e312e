"""Names for arrays, by the type of number in them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Actions: TypeAlias = NDArray[np.int32]
Mask: TypeAlias = NDArray[np.bool_]
Streams: TypeAlias = NDArray[np.uint64]  # random streams, one for each run, (runs, 4)
AnyArray: TypeAlias = NDArray[Any]  # states: whole numbers or vectors; and what was stored
Arrays: TypeAlias = dict[str, AnyArray]  # by name, as files hold them
Matrix: TypeAlias = Any  # Array | scipy.sparse.csr_array: scipy ships no types
