"""Where counts are, and whether conditions were measured to different depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from ..core.arrays.ops import matmul
from ..core.arrays.row_chunks import chunked, is_dask
from ..core.stats.depth import compare_depths
from ..core.stats.thinning import are_counts
from ..core.typing import Floats, Ints, Matrix
from .read import Pulled

#: layer with raw counts, and columns of `obs` with their totals, by the names that packages of the field use
COUNTS_LAYER = "counts"
#: column of `obs` with the share of counts that `pp.match_depth` kept, and entry of `uns`
MATCHED = "match_depth"
#: integers in a sparse `X` are taken for counts if observations have at least this total
MIN_MEDIAN_TOTAL = 20
TOTALS_COLUMNS = ("total_counts", "n_counts", "nCount_RNA", "nUMI", "n_umi", "total_umis")


def counts_of(adata: AnnData, layer: str | None) -> Matrix:
    """Return the matrix with the counts, or say where they could be."""
    if layer is None:
        return adata.X
    if not isinstance(layer, str) or layer not in adata.layers:
        there = validate.layer_names(adata) or ["none"]
        raise ValueError(
            f"layer={layer!r} is not in adata.layers ({validate.quoted(there)}). Keep raw counts there before you"
            " normalise (adata.layers['counts'] = adata.X.copy()), or pass layer=None if adata.X holds them."
        )
    return adata.layers[layer]


def totals_of(counts: Matrix) -> Floats:
    """Sum the counts of every observation."""
    source = chunked(counts) if is_dask(counts) else counts
    if hasattr(source, "to_memory"):
        source = source.to_memory()
    return matmul(source, np.ones((source.shape[1], 1))).ravel()


def warn_of_depth(adata: AnnData, data: Pulled, groupby: str) -> None:
    """Warn where conditions differ in depth, with the numbers and the remedy."""
    note = depth_note(adata, groupby, dict(zip(data.groups, data.rows, strict=True)), data.samples)
    if note is not None:
        log.warn(note)


def depth_note(adata: AnnData, groupby: str, rows: Mapping[str, Ints], samples: Sequence[Ints]) -> str | None:
    """Say how conditions, given by their rows, differ in depth; `None` where they do not or it is unknown."""
    totals = _known_totals(adata)
    if totals is None:
        return None
    found = compare_depths([totals[some] for some in rows.values()], samples=samples)
    if not found.matters:
        return None
    depths = ", ".join(f"{group!r} {mean:,.0f}" for group, mean in zip(rows, found.means, strict=True))
    return (
        f"conditions differ in depth by a factor of {found.ratio:.2f} (mean total counts: {depths}; p ="
        f" {found.pval:.1g}). Depth alone looks like a difference in mean, spread, distribution and connectivity."
        f" Match it first: dn.pp.match_depth(adata, {groupby!r}), then normalise again. For the connectivity"
        " column of the scorecard alone, counts=… corrects correlations instead and keeps all counts."
    )


def _known_totals(adata: AnnData) -> Floats | None:
    """Return the total counts of observations, where counts or their totals are there."""
    if COUNTS_LAYER in adata.layers:
        counts: Any = adata.layers[COUNTS_LAYER]
        if isinstance(counts, np.ndarray) or sp.issparse(counts):
            return _as_matched(adata, totals_of(counts))
    # dense integers are pixels or ranks as often as molecules, and so are few small ones
    if sp.issparse(adata.X) and are_counts(adata.X):
        totals = totals_of(adata.X)
        if np.median(totals) >= MIN_MEDIAN_TOTAL:
            return totals
    for name in TOTALS_COLUMNS:
        if name in adata.obs and pd.api.types.is_numeric_dtype(adata.obs[name]):
            values = adata.obs[name].to_numpy(dtype=float)
            if np.isfinite(values).all():
                return np.asarray(values)
    return None


def _as_matched(adata: AnnData, totals: Floats) -> Floats:
    """Return the totals after `pp.match_depth`, where these are the counts that it thinned."""
    record = adata.uns.get(MATCHED)
    if record is None or MATCHED not in adata.obs or not np.isclose(record["total_counts"], totals.sum()):
        return totals
    return np.asarray(totals * adata.obs[MATCHED].fillna(1.0).to_numpy())
