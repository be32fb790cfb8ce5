"""How features change with a dose: the dose as numbers, and means and spreads of features at every level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import special

from .. import _validate as validate
from .._anndata import all_rows
from .._keys import ScorecardKeys
from ..core.arrays.ops import dense64, take_columns, take_rows
from ..core.arrays.row_chunks import Chunked
from ..core.scorecard import CONFIDENCE, dose_levels
from ..core.typing import Floats, Ints, Matrix
from ._common import entry
from ._docs import documented_reader


@documented_reader
def trend(
    adata: AnnData,
    *,
    features: str | Sequence[str] | None = None,
    layer: str | None = None,
    key: str = "scorecard",
) -> pd.DataFrame:
    """Compute mean and spread of features at every level of a dose.

    Levels, samples and layer are those of the call. With its `sample_key`, a level's mean is that of its samples, and
    so is its interval; without it, observations are the units.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard` with `trend=True`.
    features
        Names of the features; all by default.
    layer
    key

    Returns
    -------
    One row per feature and level: `feature`, `level` (from 1), `dose` (its mean), `n_units`, `mean` with its 95 %
    interval (`mean_low`, `mean_high`), and `spread`, the mean distance from the median.

    Examples
    --------
    >>> import numpy as np
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> adata.obs["dose"] = np.repeat([0.0, 1.0, 2.0, 4.0], 100)
    >>> dn.tl.scorecard(adata, "dose", trend=True)
    >>> dn.get.trend(adata, features=adata.var_names[:2])["dose"].tolist()
    [0.0, 1.0, 2.0, 4.0, 0.0, 1.0, 2.0, 4.0]
    """
    chosen = adata.var_names if features is None else features
    names = [chosen] if isinstance(chosen, str) else [str(name) for name in chosen]
    params = entry(adata, ScorecardKeys(key))["params"]
    if not params.get("trend", False):
        raise ValueError(f"key={key!r} holds no trend; run dn.tl.scorecard(adata, groupby, trend=True) first.")
    unknown = [name for name in names if name not in adata.var_names]
    if unknown:
        hint = validate.nearest(unknown[0], adata.var_names)
        raise ValueError(f"features names {unknown[0]!r}, which is not in adata.var_names.{hint}")
    groups = params.get("groups")
    dose = dose_column(adata, params["groupby"], None if groups is None else [str(g) for g in np.atleast_1d(groups)])
    known = np.flatnonzero(np.isfinite(dose))
    levels = dose_levels(dose[known])
    sample_key = params.get("sample_key")
    samples = None if sample_key is None else pd.factorize(adata.obs[sample_key], sort=True)[0]
    source = all_rows(adata, params.get("layer") if layer is None else layer)
    matrix = take_columns(source, np.isin(np.arange(adata.n_vars), adata.var_names.get_indexer(names)))
    order = [name for name in adata.var_names if name in names]
    tables = []
    for level in range(int(levels.max()) + 1):
        rows = known[levels == level]
        values = _values(matrix, rows)
        units = np.arange(rows.size) if samples is None else pd.factorize(samples[rows])[0]
        table = _summary(values, units)
        tables.append(table.assign(feature=order, level=level + 1, dose=dose[rows].mean()))
    table = pd.concat(tables)
    table["feature"] = pd.Categorical(table["feature"], categories=names)
    table = table.sort_values(["feature", "level"], kind="stable").astype({"feature": str}).reset_index(drop=True)
    return table[["feature", "level", "dose", "n_units", "mean", "mean_low", "mean_high", "spread"]]


def dose_column(
    adata: AnnData, groupby: str, groups: Sequence[object] | None, /, *, argument: str = "groupby"
) -> Floats:
    """Read a column of `obs` as a dose, missing values (and levels not in `groups`) as NaN."""
    column = validate.obs_column(adata, argument, groupby)
    values = _numbers(column, groupby, argument)
    if np.isinf(values).any():
        raise ValueError(f"{argument}={groupby!r} has infinite values; replace them first.")
    if groups is not None:
        chosen = validate.chosen_groups(validate.conditions(adata, groupby), groupby, groups)
        values[~validate.conditions(adata, groupby).isin(chosen)] = np.nan
    return values


def _numbers(column: pd.Series[Any], groupby: str, argument: str) -> Floats:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return np.array(column.to_numpy(dtype=float, na_value=np.nan))
    levels = column.cat if isinstance(column.dtype, pd.CategoricalDtype) else pd.Categorical(column)
    read = pd.to_numeric(pd.Series(levels.categories.astype(str)), errors="coerce")
    codes = np.asarray(levels.codes)
    if read.notna().all():
        places = read.to_numpy(dtype=float)
    elif levels.ordered:
        places = np.arange(len(read), dtype=float)
    else:
        raise ValueError(
            f"{argument}={groupby!r} holds names without an order ({validate.quoted(levels.categories)}); a trend needs"
            f" numbers, or an order: adata.obs[{groupby!r}] = pd.Categorical(adata.obs[{groupby!r}],"
            " categories=[…, from low to high], ordered=True)."
        )
    return np.where(codes >= 0, places[codes], np.nan)


def _values(matrix: Matrix, rows: Ints) -> Floats:
    own = take_rows(matrix, rows)
    return dense64(own.load() if isinstance(own, Chunked) else own)


def _summary(values: Floats, units: Ints) -> pd.DataFrame:
    """Mean of all units with its interval, and the mean spread of observations around their median."""
    counts = np.bincount(units)
    means = np.stack([np.bincount(units, column) / counts for column in values.T], axis=1)
    n, mean = len(means), means.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = means.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(mean.shape, np.nan)
    width = special.stdtrit(max(n - 1, 1), (1 + CONFIDENCE) / 2) * error
    spread = np.abs(values - np.median(values, axis=0)).mean(axis=0)
    return pd.DataFrame(
        {"n_units": n, "mean": mean, "mean_low": mean - width, "mean_high": mean + width, "spread": spread}
    )
