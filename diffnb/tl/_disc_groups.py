"""The groups of `tl.disc` one by one: how strongly their features co-vary, and which columns of `obs` they follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import Pulled
from .._candidates import level_count
from ..core.disc import Analysis, Correlations, cohesion, group_values
from ..core.stats.association import auroc, eta_squared, squared_correlation
from ..core.typing import Floats

#: columns of `obs` that groups are compared with, the first ones
MAX_COLUMNS = 40
#: a column with more levels names observations
MAX_LEVELS = 50


def described_groups(adata: AnnData, groupby: str, data: Pulled, analysis: Analysis) -> dict[str, Any]:
    """Describe every named group, for `uns`; empty where there is none."""
    if not any(g.labels.any() for g in analysis.groups):
        return {}
    related = [Correlations.of(x) for x in data.matrices]
    columns = _columns(adata, groupby)
    names: list[str] = []
    parts: dict[str, list[Any]] = {"condition": [], "cohesion": [], "eta2": [], "auroc": []}
    for m, group in enumerate(data.groups):
        labels = analysis.groups[m].labels
        n_groups = int(labels.max())
        if not n_groups:
            continue
        names += [f"{group}{i + 1}" for i in range(n_groups)]
        parts["condition"].append(np.full(n_groups, m))
        parts["cohesion"].append(cohesion(labels, related))
        values = group_values(data.matrices[m], labels)
        followed = [_followed(values, adata.obs[c].iloc[data.rows[m]]) for c in columns]
        parts["eta2"].append(np.stack([eta2 for eta2, _ in followed], axis=1) if columns else np.empty((n_groups, 0)))
        parts["auroc"].append(np.stack([area for _, area in followed], axis=1) if columns else np.empty((n_groups, 0)))
    table: dict[str, Any] = {name: np.concatenate(found) for name, found in parts.items()}
    if not columns:
        del table["eta2"], table["auroc"]
    else:
        table["columns"] = np.array(columns, dtype=object)
    return {"feature_groups": {"name": np.array(names, dtype=object), **table}}


def _columns(adata: AnnData, groupby: str) -> list[str]:
    """List the columns of `obs` that hold measurements or a few levels, besides the conditions themselves."""
    unique = [str(c) for c in adata.obs.columns if list(adata.obs.columns).count(c) == 1 and str(c) != groupby]
    return [c for c in unique if _is_comparable(adata.obs[c])][:MAX_COLUMNS]


def _is_comparable(column: Any) -> bool:
    levels, _ = level_count(column)
    if levels:
        return 2 <= levels <= MAX_LEVELS
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _followed(values: Floats, column: Any) -> tuple[Floats, Floats]:
    """Return η² (r² of a measurement) of every group with a column, and the AUROC where it has two levels."""
    nothing = np.full(len(values), np.nan)
    levels, _ = level_count(column)
    if not levels:
        measured = column.to_numpy(dtype=float, na_value=np.nan)
        known = np.isfinite(measured)
        return (squared_correlation(values, measured) if known.sum() > 2 else nothing), nothing
    codes, names = pd.factorize(column, sort=True)
    if len(names) < 2:
        return nothing, nothing
    return eta_squared(values, codes), auroc(values, codes) if len(names) == 2 else nothing
