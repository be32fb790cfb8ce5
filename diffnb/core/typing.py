"""Names for the kinds of arrays that the numerics take."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
#: observations × features, dense or compressed sparse; SciPy has no types of its own to name the latter
Matrix: TypeAlias = Any
Seed: TypeAlias = int | np.random.SeedSequence
#: features standardised over all observations, or within each condition
Standardize: TypeAlias = Literal["global", "within"]
