"""A linear adjustment of the rows of a matrix, applied to row blocks as they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class RowAdjustment:
    """scale · x − scores · slopes, with rows and columns numbered as those of the matrix x."""

    #: one number per row
    scale: Floats
    #: rows × terms
    scores: Floats
    #: terms × columns
    slopes: Floats

    def of(self, block: Any, rows: Ints, columns: Ints | None = None, /) -> Floats:
        """Adjust a block of some rows, with all columns or some; always a new dense array."""
        dense = np.array(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
        dense *= self.scale[rows, None]
        dense -= self.scores[rows] @ (self.slopes if columns is None else self.slopes[:, columns])
        return dense
