"""Names for the kinds of arrays that the numerics take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = sp.spmatrix | sp.sparray
#: observations × features, dense or compressed sparse
Matrix: TypeAlias = Floats | Sparse
Seed: TypeAlias = int | np.random.SeedSequence
