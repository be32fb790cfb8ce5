"""Tables of what `tl.dufs` and `tl.laplacian_score` found."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData

from .._keys import DufsKeys, LaplacianScoreKeys
from ._common import entry, numbered, ranked, table_of
from ._docs import documented_reader


@documented_reader
def dufs(adata: AnnData, *, key: str = "dufs") -> pd.DataFrame:
    """Read the gate of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    key

    Returns
    -------
    One row per feature, the widest open first; columns `gate` (from 0 to 1), `rank` (from 1; among gates that are
    all at 1 the one that would be wider comes first) and `selected`. Excluded features come last, with missing
    values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> sorted(dn.get.dufs(adata).query("selected").index)
    ['moon_x', 'moon_y']
    """
    keys = DufsKeys(key)
    entry(adata, keys)
    stored = adata.varm[keys.varm]
    columns = {"gate": stored["gate"].to_numpy(), "selected": adata.var[keys.var].to_numpy().astype(bool)}
    return ranked(adata, columns, -stored["mu"].to_numpy())[["gate", "rank", "selected"]]


@documented_reader
def dufs_training(adata: AnnData, *, key: str = "dufs") -> pd.DataFrame:
    """Read loss, smoothness and open gates along the training.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    key

    Returns
    -------
    One row per step; columns `loss`, `smoothness` (per observation and feature) and `open` (the mean probability
    of a gate to be open).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> training = dn.get.dufs_training(adata)
    >>> bool(training["loss"].iloc[-1] < training["loss"].iloc[0])
    True
    """
    training = entry(adata, DufsKeys(key))["training"]
    return numbered(table_of(training, ("loss", "smoothness", "open")), "step")


@documented_reader
def laplacian_score(adata: AnnData, *, key: str = "laplacian_score") -> pd.DataFrame:
    """Read the Laplacian score of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.laplacian_score`.
    key

    Returns
    -------
    One row per feature, the smoothest first; columns `score` and `rank` (from 1). Excluded features come last,
    with missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(3)
    >>> dn.tl.laplacian_score(adata)
    >>> dn.get.laplacian_score(adata).columns.tolist()
    ['score', 'rank']
    """
    keys = LaplacianScoreKeys(key)
    entry(adata, keys)
    scores = adata.var[keys.var].to_numpy(dtype=float)
    return ranked(adata, {"score": scores}, scores)
