"""Whether rows follow each other like the frames of a series, which tests of single rows must not ignore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from ..core.arrays.ops import dense64
from ..core.stats.autocorrelation import Autocorrelation, autocorrelation, without_levels
from ..core.stats.block_layout import BlockLayout
from ..core.stats.stretches import stretches_of_rows
from ..core.typing import Floats, Ints, Matrix
from .read import Pulled

#: entry of `uns` that `pp.time_blocks` writes
TIME_BLOCKS = "time_blocks"
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


def warn_of_stretches(adata: AnnData, data: Pulled, groupby: str, sample_key: str | None) -> None:
    """Warn where blocks of a recording are units but its conditions hardly alternate."""
    found = series_of_blocks(adata, groupby, sample_key)
    if found is None:
        return
    for i, j in combinations(range(len(data.groups)), 2):
        rows = np.concatenate([data.rows[i], data.rows[j]])
        first = np.unique(np.concatenate([data.samples[i], data.samples[j]]), return_index=True)[1]
        labels = (first < len(data.rows[i])).astype(np.int64)
        if BlockLayout.of(labels, *(codes[rows[first]] for codes in found)).confounded:
            log.warn(
                f"{data.groups[i]!r} and {data.groups[j]!r} are in so few stretches of the recording that whatever"
                " drifts with time differs between them as well, and connectivity is called more often than p-values"
                " say. Alternate the conditions, at least four times each, or compare subjects with sample_key."
            )


def series_of_blocks(adata: AnnData, groupby: str, sample_key: str | None) -> tuple[Ints, Ints] | None:
    """Codes of the series and of the stretch of every row where `sample_key` holds blocks of `pp.time_blocks`.

    A series is the subject or run that `pp.time_blocks` was given, all rows if none.
    """
    found = adata.uns.get(TIME_BLOCKS)
    if sample_key is None or not isinstance(found, Mapping):
        return None
    if sample_key not in [str(c) for c in np.atleast_1d(found.get("columns", []))]:
        return None
    column = str(found.get("sample_key", ""))
    series = _codes(adata, column) if column in adata.obs else np.zeros(adata.n_obs, dtype=np.int64)
    condition = _codes(adata, groupby)
    by_condition = series * (condition.max() + 1) + condition
    return series, stretches_of_rows(by_condition, _codes(adata, sample_key))


def _codes(adata: AnnData, column: str) -> Ints:
    return np.asarray(pd.factorize(adata.obs[column])[0] + 1, dtype=np.int64)  # 0 is a missing value


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
