"""Tables of what `tl.dufs`, `tl.diverse_features` and `tl.laplacian_score` found."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData

from .._keys import DiverseFeaturesKeys, DufsKeys, LaplacianScoreKeys
from ._common import entry, numbered, ranked, slot, table, table_of
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
    stored = table(adata, keys, "varm", ("gate", "mu"))
    selected = slot(adata, keys, "var", keys.var).to_numpy().astype(bool)
    columns = {"gate": stored["gate"].to_numpy(), "selected": selected}
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
def dufs_summary(adata: AnnData, *, key: str = "dufs") -> pd.DataFrame:
    """Read how many features DUFS selected, and whether that number is at an end of its range.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.dufs`.
    key

    Returns
    -------
    One row per fact; column `value`. `selected` features of `features`; `open`, those whose gate is above ½;
    `min_features`; `scale`, the width of the kernel in the end; and `edge`: `"none"`, `"few"` where fewer gates
    stayed open than `min_features`, or `"most"` where more than 80 % did, so that the gates do not distinguish
    features.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(10)
    >>> dn.tl.dufs(adata)
    >>> dn.get.dufs_summary(adata).loc["edge", "value"]
    'none'
    """
    found = entry(adata, DufsKeys(key))
    gates = dufs(adata, key=key)
    facts: dict[str, object] = {
        "selected": int(gates["selected"].sum()),
        "features": int(gates["gate"].notna().sum()),
        "open": int(found["n_open"]),
        "min_features": int(found["min_features"]),
        "scale": float(found["scale"]),
        "edge": str(found["edge"]),
    }
    return pd.DataFrame({"value": facts}, dtype=object)


@documented_reader
def diverse_features(adata: AnnData, *, key: str = "diverse_features") -> pd.DataFrame:
    """Read the rank of every feature by smoothness and diversity.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.diverse_features`.
    key

    Returns
    -------
    One row per feature, the first in rank first; columns `smoothness` (from 0 to 1, the smoothest), `unexplained`
    (share of variance that no single feature ranked before explains), `rank` (from 1) and `selected`. Excluded
    features come last, with missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.diverse_features(adata, n_features=20)
    >>> dn.get.diverse_features(adata)["rank"].iloc[:3].tolist()
    [1, 2, 3]
    """
    keys = DiverseFeaturesKeys(key)
    entry(adata, keys)
    stored = table(adata, keys, "varm", ("smoothness", "unexplained", "rank"))
    columns = {name: stored[name].to_numpy() for name in ("smoothness", "unexplained")}
    columns["selected"] = slot(adata, keys, "var", keys.var).to_numpy().astype(bool)
    return ranked(adata, columns, stored["rank"].to_numpy())[["smoothness", "unexplained", "rank", "selected"]]


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
    scores = slot(adata, keys, "var", keys.var).to_numpy(dtype=float)
    return ranked(adata, {"score": scores}, scores)
