"""Tables of what `tl.dufs` and `tl.laplacian_score` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import DufsKeys, LaplacianScoreKeys
from ._common import entry

MADE_BY = "tl.dufs(adata)"
NEEDS = ("training", "scale", "params")


def dufs(adata: AnnData, *, key: str = "dufs") -> pd.DataFrame:
    """Read the gate of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature, the widest open first; columns `gate` (from 0 to 1), `rank` (from 1; among gates that are
    all at 1 the one that would be wider comes first) and `selected`. Features that took no part come last, with
    missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> sorted(dn.get.dufs(adata).query("selected").index)
    ['moon_x', 'moon_y']
    """
    entry(adata, key, MADE_BY, NEEDS)
    keys = DufsKeys(key)
    stored = adata.varm[keys.varm]
    selected = adata.var[keys.var].to_numpy().astype(bool)
    table = _ranked(adata, {"gate": stored["gate"].to_numpy()}, -stored["mu"].to_numpy())
    table["selected"] = pd.Series(selected, index=adata.var_names).iloc[_order(-stored["mu"].to_numpy())].to_numpy()
    return table


def dufs_training(adata: AnnData, *, key: str = "dufs") -> pd.DataFrame:
    """Read how training went.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a step; columns `loss`, `smoothness` (per observation and feature) and `open` (the mean chance of a
    gate to be open).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> training = dn.get.dufs_training(adata)
    >>> bool(training["loss"].iloc[-1] < training["loss"].iloc[0])
    True
    """
    training = entry(adata, key, MADE_BY, NEEDS)["training"]
    table = pd.DataFrame({name: np.asarray(training[name]) for name in ("loss", "smoothness", "open")})
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="step"), axis=0)


def laplacian_score(adata: AnnData, *, key: str = "laplacian_score") -> pd.DataFrame:
    """Read the Laplacian score of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.laplacian_score`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature, the smoothest first; columns `score` and `rank` (from 1). Features that took no part come
    last, with missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(3)
    >>> dn.tl.laplacian_score(adata)
    >>> dn.get.laplacian_score(adata).columns.tolist()
    ['score', 'rank']
    """
    entry(adata, key, "tl.laplacian_score(adata)", ("params", "column"))
    scores = adata.var[LaplacianScoreKeys(key).var].to_numpy(dtype=float)
    return _ranked(adata, {"score": scores}, scores)


def _order(by: Any) -> Any:
    return np.argsort(by, kind="stable")  # missing ones go last


def _ranked(adata: AnnData, columns: dict[str, Any], by: Any) -> pd.DataFrame:
    """Put features in order of `by`, the smallest first, and number them."""
    order = _order(by)
    table = pd.DataFrame(columns, index=adata.var_names).iloc[order].copy()
    rank = pd.array(np.arange(1, len(order) + 1), dtype="Int64")
    rank[np.isnan(np.asarray(by)[order])] = pd.NA
    table["rank"] = rank
    return table
