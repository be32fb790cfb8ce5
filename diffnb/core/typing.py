"""Type names that all of core shares."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
#: observations × features, dense, compressed sparse or chunked; SciPy has no type for a sparse matrix
Matrix: TypeAlias = Any
Seed: TypeAlias = int | np.random.SeedSequence
#: leaves a choice to the data
Auto: TypeAlias = Literal["auto"]
#: features standardised over all observations, or within each condition
Standardize: TypeAlias = Literal["global", "within"]
