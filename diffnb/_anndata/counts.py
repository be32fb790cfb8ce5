"""Raw counts of the observations and features that a tool reads, with size factors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from ..core.arrays.count_correlations import is_measurable
from ..core.arrays.count_moments import Counts
from ..core.arrays.ops import matmul, take_columns, take_rows
from ..core.arrays.row_chunks import Chunked, chunked, is_dask, map_rows
from ..core.stats.thinning import are_counts
from ..core.typing import Floats, Matrix
from .numbers import real_numbers
from .read import Pulled

#: value of `counts` that stands for `adata.X`
X = "X"
#: features that a graph needs
MIN_FEATURES = 3


def pull_counts(adata: AnnData, data: Pulled, counts: str | None, *, covariates: object = None) -> list[Counts] | None:
    """Read the counts of the same observations and features as `data`, per condition; `None` where none are named.

    Covariates cannot be taken out of counts, which would no longer be counts.
    """
    if counts is None:
        return None
    if covariates is not None:
        raise ValueError(
            f"counts={counts!r} and covariates={covariates!r} cannot be combined: what is left of counts without the"
            " covariates are no counts. Use pp.match_depth instead of counts=, or ask within one level of a covariate."
        )
    source = _counts_named(adata, counts)
    totals = _totals(source, counts)
    # correlations do not depend on the unit of size factors, and numbers near one lose no digits
    scale = np.mean(np.concatenate([totals[rows] for rows in data.rows]))
    if not scale > 0:
        raise ValueError(f"counts={counts!r} holds no counts of these observations.")
    return [Counts(take_columns(take_rows(source, rows), data.kept), totals[rows] / scale) for rows in data.rows]


def measurable(data: Pulled, counts: list[Counts] | None) -> tuple[Pulled, list[Counts] | None]:
    """Exclude features that vary too little beyond their counting noise to have correlations, and log how many."""
    if counts is None:
        return data, None
    used = is_measurable(counts)
    n_excluded = int((~used).sum())
    if not n_excluded:
        return data, counts
    if used.sum() < MIN_FEATURES:
        raise ValueError(
            f"{n_excluded} of {used.size} features vary no more than counting noise in a condition: too few are left."
            " Leave counts out, or use deeper data."
        )
    log.info(
        f"{n_excluded} of {used.size} features excluded: in a condition their counts vary too little beyond counting"
        " noise to be correlated; their results are NaN"
    )
    kept = data.kept.copy()
    kept[np.flatnonzero(kept)[~used]] = False
    matrices = [take_columns(x, used) for x in data.matrices]
    return replace(data, matrices=matrices, kept=kept), [x.columns(np.flatnonzero(used)) for x in counts]


def _counts_named(adata: AnnData, counts: str) -> Any:
    if counts == X:
        source = adata.X
    elif isinstance(counts, str) and counts in adata.layers:
        source = adata.layers[counts]
    else:
        there = validate.layer_names(adata)
        raise ValueError(
            f"counts={counts!r} is not a layer of adata ({validate.quoted(there) or 'it has none'}), nor 'X'."
            f"{validate.nearest(counts, there)} Keep raw counts there before you normalise:"
            " adata.layers['counts'] = adata.X.copy()."
        )
    source = real_numbers(source, f"counts={counts!r}")
    if is_dask(source):
        return chunked(source)
    return source.to_memory() if hasattr(source, "to_memory") else source


def _totals(source: Matrix, counts: str) -> Floats:
    """Sum the counts of every observation over all features, and refuse values that are no counts."""
    if isinstance(source, Chunked):
        total, is_count = map_rows(source, _totals_of_block, 2).T
    else:
        total, is_count = _totals_of_block(source).T
    if not is_count.all():
        shown = "adata.X" if counts == X else f"layer {counts!r}"
        raise ValueError(
            f"counts={counts!r} needs raw counts, but {shown} has values that are negative or not integers. Name the"
            " layer with the counts as they were before normalisation."
        )
    return np.asarray(total)


def _totals_of_block(block: Matrix) -> Floats:
    total = matmul(block, np.ones((block.shape[1], 1)))
    return np.concatenate([total, np.full_like(total, are_counts(block))], axis=1)
