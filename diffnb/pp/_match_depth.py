"""`pp.match_depth`: counts of all conditions at one depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import MATCHED, Change, change_slots, counts_of, guarded, totals_of
from ..core.arrays.row_chunks import is_dask
from ..core.stats.thinning import are_counts, matched_totals, thinned
from ..core.typing import Floats, Matrix

#: groups of observations whose depths are matched, each with every other: seconds for a thousand
MAX_UNITS = 2000


@guarded()
def match_depth(
    adata: AnnData,
    groupby: str,
    *,
    sample_key: str | None = None,
    layer: str | None = "counts",
    random_state: int = 0,
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Thin counts so that no condition, and no sample, is sequenced deeper than another.

    Means, spreads and correlations of log-normalised counts change with depth, so that depth alone looks like a
    difference in every column of the scorecard and like rewiring to DiSC. Every molecule is kept with a probability
    (binomial thinning) such that the depths of all conditions have one distribution: at each quantile, the depth of
    the shallowest. Normalise again afterwards, for example with `sc.pp.normalize_total` and `sc.pp.log1p`.

    Parameters
    ----------
    adata
        Annotated data with raw counts.
    groupby
        Column of `adata.obs` with the conditions.
    sample_key
        Column of `adata.obs` with the sample (donor, subject) of each observation: depths are matched between samples
        rather than conditions.
    layer
        Layer with the counts, which stays as it is; `None` for `adata.X`.
    random_state
        Seed. The same seed gives the same answer.
    overwrite
        Replace `adata.obs["match_depth"]` and `adata.uns["match_depth"]` even if this function has not written them.
    copy
        Work on a copy and return it.

    Returns
    -------
    `None`, or the copy. `adata.X` holds the thinned counts, and `adata.obs["match_depth"]` the share of each
    observation's counts that was kept (NaN without a condition, and then nothing is thinned);
    `adata.uns["match_depth"]` the parameters.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.scrna(n_cells=300)
    >>> first = (adata.obs["condition"] == adata.obs["condition"].cat.categories[0]).to_numpy()
    >>> counts = adata.layers["counts"].toarray()
    >>> counts[first] *= 3  # as if the first condition had been sequenced three times as deep
    >>> adata.layers["counts"] = counts
    >>> dn.pp.match_depth(adata, "condition")
    >>> depth = adata.X.sum(axis=1)
    >>> round(float(depth[first].mean() / depth[~first].mean()), 1)
    1.0
    """
    random_state = validate.seed(random_state)
    _refuse_unwritable(adata, overwrite)
    counts = counts_of(adata, layer)
    units = _units(adata, groupby, sample_key)
    totals = totals_of(counts)
    kept = np.full(adata.n_obs, np.nan)
    targets = matched_totals([totals[rows] for rows in units])
    for rows, target in zip(units, targets, strict=True):
        kept[rows] = np.divide(target, totals[rows], out=np.ones(len(rows)), where=totals[rows] > 0)
    thin = _thinned(counts, np.nan_to_num(kept, nan=1.0), random_state, layer)
    adata = adata.copy() if copy else adata
    # with the total, so that a later warning knows whether the counts that it finds are those that were matched
    record = {"groupby": groupby, "total_counts": float(totals.sum()), "random_state": random_state}
    change_slots(adata, Change((), {("obs", MATCHED): kept, ("uns", MATCHED): record}, {"_X": thin}))
    log.info(f"kept {np.nanmean(kept):.0%} of the counts of an observation on average to match {len(units)} depths")
    return adata if copy else None


def _refuse_unwritable(adata: AnnData, overwrite: bool) -> None:
    """Refuse data whose `X` cannot be replaced in memory, and slots that hold something else."""
    if adata.isbacked:
        raise ValueError("adata is backed, and its X a file: read it into memory first, adata = adata.to_memory().")
    found = adata.uns.get(MATCHED)
    if overwrite or (isinstance(found, Mapping) and "total_counts" in found):
        return
    for place in ("obs", "uns"):
        if MATCHED in getattr(adata, place):
            raise ValueError(
                f"adata.{place}[{MATCHED!r}] exists and was not written by pp.match_depth, so that it is not replaced:"
                " rename it to keep it, or give overwrite=True to replace it."
            )


def _units(adata: AnnData, groupby: str, sample_key: str | None) -> list[Any]:
    """Return the rows of every condition, or of every sample in every condition."""
    categories = validate.conditions(adata, groupby)
    codes = np.asarray(categories.codes)
    if sample_key is not None:
        samples = validate.obs_column(adata, "sample_key", sample_key).astype("category").cat.codes.to_numpy()
        codes = np.where((codes >= 0) & (samples >= 0), codes * (samples.max() + 1) + samples, -1)
    units = [np.flatnonzero(codes == code) for code in np.unique(codes[codes >= 0])]
    if len(units) < 2:
        raise ValueError(f"groupby={groupby!r} has a single condition: there is no other depth to match.")
    if len(units) > MAX_UNITS:
        what = "conditions" if sample_key is None else "samples in conditions"
        raise ValueError(
            f"groupby={groupby!r} has {len(units):,} {what}; depths of at most {MAX_UNITS:,} can be matched. Name a"
            " column with fewer categories."
        )
    return units


def _thinned(counts: Matrix, kept: Floats, seed: int, layer: str | None) -> Matrix:
    if is_dask(counts):
        return _thinned_lazily(counts, kept, seed)
    if not are_counts(counts):
        shown = "adata.X" if layer is None else f"layer={layer!r}"
        raise ValueError(f"{shown} does not hold raw counts: values are negative or not integers.")
    return thinned(counts, kept, seed)


def _thinned_lazily(counts: Any, kept: Floats, seed: int) -> Any:
    """Thin a dask array when it is read, block by block."""
    whole_rows = counts.rechunk({1: -1})

    def thin(block: Matrix, block_info: Any = None) -> Matrix:
        start, stop = block_info[0]["array-location"][0]
        return thinned(block, kept[start:stop], seed, rows=np.arange(start, stop))

    return whole_rows.map_blocks(thin, dtype=counts.dtype, meta=counts._meta)
