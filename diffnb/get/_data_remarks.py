"""What to mind about data before anything is asked: few samples, depth, raw counts, rare features, missing labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _candidates as candidates
from .._anndata.depth import depth_note
from .._anndata.units import units_note
from ..core.typing import Ints
from ._candidates import MIN_OBS_FOR_GROUPS
from ._remarks import Remark, unit_remark

#: a feature that is not zero in a smaller share of the observations of every condition is rare
MIN_SHARE_SEEN = 0.02
#: with fewer samples in a condition hardly any difference can be told from chance
MIN_SAMPLES = 3
#: larger matrices are not read for remarks
MAX_NUMBERS_READ = 500_000_000


def data_remarks(adata: AnnData, groupby: str, sample_key: str | None) -> list[Remark]:
    """Return what to mind before these conditions are compared, with these samples."""
    groups = adata.obs[groupby].astype("category").cat.remove_unused_categories()
    rows = {str(name): np.flatnonzero(groups == name) for name in groups.cat.categories}
    found = [
        _sizes(adata, rows, sample_key),
        *_missing(groups),
        *_samples(adata, groupby, rows, sample_key),
        *_matrix(adata, groupby, rows, sample_key),
    ]
    return [*found, unit_remark(adata, groupby, sample_key)]


def _sizes(adata: AnnData, rows: Mapping[str, Ints], sample_key: str | None) -> Remark:
    def described(name: str, found: Ints) -> str:
        samples = "" if sample_key is None else f" of {adata.obs[sample_key].iloc[found].nunique()} samples"
        return f"{name}: {len(found):,} observations{samples}"

    listed = "; ".join(described(name, found) for name, found in list(rows.items())[:8])
    more = f"; and {len(rows) - 8} more" if len(rows) > 8 else ""
    few = bool(rows) and min(map(len, rows.values())) < MIN_OBS_FOR_GROUPS
    note = f". Fewer than {MIN_OBS_FOR_GROUPS} observations: groups of features may be poor" if few else ""
    return Remark("mind" if few else "plain", f"{listed}{more}{note}.")


def _missing(groups: pd.Series) -> Iterator[Remark]:
    n = int(groups.isna().sum())
    if n:
        yield Remark("mind", f"{n:,} observations have no value in {groups.name!r} and are excluded.")


def _samples(adata: AnnData, groupby: str, rows: Mapping[str, Ints], sample_key: str | None) -> Iterator[Remark]:
    """Warn of one donor, or few of them, per condition."""
    names = [sample_key] if sample_key is not None else _called_samples(adata, groupby)
    for name in names:
        column = adata.obs[name]
        counts = [column.iloc[found].nunique() for found in rows.values()]
        alone = max(counts, default=0) == 1 and column.nunique() == len(rows)
        if alone:
            text = f"Each condition is one {name!r}: what differs between conditions cannot be told from what differs"
            yield Remark("mind", f"{text} between any two of them. Single observations as units do not mend that.")
        elif sample_key is not None and min(counts, default=MIN_SAMPLES) < MIN_SAMPLES:
            text = f"A condition has {min(counts)} samples in {name!r}: with so few, hardly any p-value can be small"
            yield Remark("mind", f"{text}.")


def _called_samples(adata: AnnData, groupby: str) -> list[str]:
    return [str(name) for name in adata.obs.columns if name != groupby and candidates.is_called_sample(name)]


def _matrix(adata: AnnData, groupby: str, rows: Mapping[str, Ints], sample_key: str | None) -> Iterator[Remark]:
    note = units_note(adata.X, "adata.X")
    if note is not None:
        yield Remark("mind", note)
    samples = [] if sample_key is None else [pd.factorize(adata.obs[sample_key])[0][found] for found in rows.values()]
    depth = depth_note(adata, groupby, rows, samples) if len(rows) > 1 else None
    if depth is not None:
        yield Remark("mind", f"{depth[0].upper()}{depth[1:]}")
    rare = _n_rare(adata, rows)
    if rare:
        share = f"{100 * MIN_SHARE_SEEN:g} %"
        text = f"{rare:,} of {adata.n_vars:,} features are not zero in fewer than {share} of the observations"
        yield Remark("plain", f"{text} of any condition: rare features can hardly be compared.")


def _n_rare(adata: AnnData, rows: Mapping[str, Ints]) -> int:
    """Count features that are rare in every condition; 0 for matrices that are not sparse in memory."""
    x = adata.X
    if not sp.issparse(x) or x.nnz > MAX_NUMBERS_READ or not rows:
        return 0
    seen = sp.csr_matrix((np.ones(len(x.data), dtype=np.float32), x.tocsr().indices, x.tocsr().indptr), shape=x.shape)
    shares = [np.asarray(seen[found].sum(axis=0)).ravel() / max(1, len(found)) for found in rows.values()]
    return int((np.max(shares, axis=0) < MIN_SHARE_SEEN).sum())
