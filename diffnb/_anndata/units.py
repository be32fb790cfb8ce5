"""Whether a matrix holds expression that was not normalised, or not log-transformed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from anndata import AnnData

from .. import _logging as log
from ..core.stats.thinning import are_counts
from ..core.typing import Matrix
from .depth import MIN_MEDIAN_TOTAL, totals_of

#: log1p of normalised counts stays below this, whatever the target sum
MAX_LOG_VALUE = 30.0


def units_note(x: Matrix, shown: str, /) -> str | None:
    """Say what is unusual about the units of a sparse matrix; `None` where nothing is, or where it cannot be told.

    Dense integers are pixels or ranks as often as molecules, so that only sparse matrices are judged.
    """
    if not sp.issparse(x) or x.nnz == 0 or x.data.dtype.kind not in "iuf":
        return None
    largest = float(x.data.max())
    if largest <= 1 or not np.isfinite(largest) or x.data.min() < 0:
        return None
    if are_counts(x):
        median = float(np.median(totals_of(x)))
        if median < MIN_MEDIAN_TOTAL:
            return None
        return (
            f"{shown} holds raw counts (whole numbers, {median:,.0f} per observation in the median). Observations with"
            " more counts are then larger in every feature, which looks like a difference and like connections."
            f" Keep them and normalise first: adata.layers['counts'] = {shown}.copy(); sc.pp.normalize_total(adata);"
            " sc.pp.log1p(adata)."
        )
    if largest > MAX_LOG_VALUE:
        return (
            f"{shown} is sparse and has values up to {largest:,.0f}: normalised, it seems, but not log-transformed. A"
            " few large values then decide means and correlations. Transform first: sc.pp.log1p(adata)."
        )
    return None


def warn_of_units(adata: AnnData, layer: str | None) -> None:
    """Warn where the analysed matrix is of raw counts, or was not log-transformed."""
    shown = "adata.X" if layer is None else f"adata.layers[{layer!r}]"
    note = units_note(adata.X if layer is None else adata.layers[layer], shown)
    if note is not None:
        log.warn(note)
