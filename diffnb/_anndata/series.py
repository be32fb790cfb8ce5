"""Whether rows follow each other like the frames of a series, which tests of single rows must not ignore."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from ..core.arrays.ops import dense64
from ..core.stats.autocorrelation import Autocorrelation, autocorrelation, without_levels
from ..core.typing import Floats, Ints, Matrix
from .read import Pulled

#: features and rows that are read; rows in a few long runs, as only neighbours say anything
MAX_FEATURES_READ = 200
MAX_ROWS_PER_RUN = 1024
MAX_RUNS_PER_CONDITION = 4
#: rows per level from which a column of `obs` can explain that neighbours are alike: that they were sorted by it
MIN_ROWS_PER_LEVEL = 50


def warn_of_series(adata: AnnData, data: Pulled, groupby: str) -> None:
    """Warn where rows are units of a test but neighbouring rows are alike."""
    if _is_image(adata):
        return
    found, series = _autocorrelation(data.matrices)
    if not found.is_clear or _is_sorted(adata, data, series):
        return
    n_obs = sum(len(rows) for rows in data.rows)
    log.warn(
        f"neighbouring rows are alike (lag-1 correlation {found.lag_1:.2f}; {n_obs:,} rows count as about"
        f" {n_obs / found.time:,.0f}), but tests of single rows treat them as independent. If rows are frames of a"
        f" series, use subjects or blocks as units: sample_key='subject', or dn.pp.time_blocks(adata, {groupby!r}) and"
        " then sample_key='block'. If independent observations were only sorted, ignore this."
    )


def row_autocorrelation(matrices: Sequence[Matrix], /) -> Autocorrelation:
    """Autocorrelation of the rows of each matrix in their order, from some rows and features."""
    return _autocorrelation(matrices)[0]


def _is_image(adata: AnnData) -> bool:
    """Features are pixels: rows are then bands of a spectrum, which are alike, too, but no series in time."""
    return str(adata.uns.get("features", {}).get("kind", "")) == "pixels"


def _autocorrelation(matrices: Sequence[Matrix]) -> tuple[Autocorrelation, list[tuple[list[Ints], list[Floats]]]]:
    series = []
    for x in matrices:
        runs = _runs(x.shape[0])
        columns = _spread(x.shape[1], MAX_FEATURES_READ)
        values = dense64(x[np.concatenate(runs)][:, columns])
        series.append((runs, np.split(values, np.cumsum([len(r) for r in runs])[:-1])))
    return autocorrelation([values for _, values in series]), series


def _runs(n_obs: int) -> list[Ints]:
    """Return all rows as one run, or several long runs at equal distances."""
    if n_obs <= MAX_ROWS_PER_RUN * MAX_RUNS_PER_CONDITION:
        return [np.arange(n_obs)]
    starts = np.linspace(0, n_obs - MAX_ROWS_PER_RUN, MAX_RUNS_PER_CONDITION).astype(int)
    return [np.arange(start, start + MAX_ROWS_PER_RUN) for start in starts]


def _spread(n: int, limit: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, min(n, limit)).astype(int))


def _is_sorted(adata: AnnData, data: Pulled, series: Sequence[tuple[list[Ints], list[Floats]]]) -> bool:
    """Whether neighbours are alike only because rows are sorted by a column of `obs`, such as the cell type."""
    for name in adata.obs.columns:
        codes = pd.factorize(adata.obs[name])[0] + 1  # 0 is a missing value
        if len(codes) < MIN_ROWS_PER_LEVEL * len(np.unique(codes)):
            continue
        remaining = [
            [without_levels(values, codes[rows[run]]) for run, values in zip(runs, parts, strict=True)]
            for rows, (runs, parts) in zip(data.rows, series, strict=True)
        ]
        if not autocorrelation(remaining).is_clear:
            return True
    return False
