"""Results of `tl.informed_distance` as tables and arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import InformedKeys, counted
from ..core.typing import Matrix
from ._common import entry, numbered, slot, table_of, whole_table, wrote
from ._docs import documented_reader

DISTANCES = ("auto", "pairwise", "neighbors")


@documented_reader
def informed_distances(
    adata: AnnData, *, kind: Literal["auto", "pairwise", "neighbors"] = "auto", key: str = "informed"
) -> Matrix:
    """Read distances between observations.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    kind
        `"pairwise"`: all of them, as an array; `"neighbors"`: those to nearest neighbours, as a sparse matrix;
        `"auto"`: the former where they were kept.
    key

    Returns
    -------
    Observations × observations, an array or a sparse matrix.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> dn.get.informed_distances(adata, kind="neighbors").nnz
    1140
    """
    validate.choice("kind", kind, DISTANCES)
    keys = InformedKeys(key)
    found = entry(adata, keys)
    if kind == "pairwise" and not found["has_pairwise"]:
        raise ValueError(
            f"kind='pairwise': distances between all {adata.n_obs} observations were not kept;"
            " run dn.tl.informed_distance with full=True, or read kind='neighbors'."
        )
    pairwise = bool(found["has_pairwise"]) if kind == "auto" else kind == "pairwise"
    return slot(adata, keys, "obsp", keys.pairwise if pairwise else keys.distances).copy()


@documented_reader
def informed_clusters(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the cluster of each feature, and the principal directions that are constant on clusters.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    key

    Returns
    -------
    Index: feature. Columns: `cluster` (missing where a feature was excluded) and `direction_1`, … of a global
    metric.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18, n_components=2)
    >>> dn.get.informed_clusters(adata).columns.tolist()
    ['cluster', 'direction_1', 'direction_2']
    """
    keys = InformedKeys(key)
    found = entry(adata, keys)
    table = pd.DataFrame(index=adata.var_names)
    if wrote(found, "var", keys.clusters, adata):
        table["cluster"] = slot(adata, keys, "var", keys.clusters).array
    if wrote(found, "varm", keys.varm, adata):
        directions = whole_table(adata, keys, "varm")
        table = pd.concat([table, directions.set_axis(adata.var_names, axis=0)], axis=1)
    if not len(table.columns):
        raise ValueError(
            f"key={key!r} holds neither clusters that all observations share nor directions: the metric is local"
            " without clusters, with one clustering for each neighbourhood, or of a representation (use_rep)."
        )
    return table


@documented_reader
def informed_summary(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the numbers of clusters and components, and how decided they are where the data chose them.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    key

    Returns
    -------
    Index: `n_clusters` (0 without clusters) and `n_components`. Columns: `value`; `chosen`, whether the data chose
    it; `at_edge`, `"low"` or `"high"` if it is the first or the last number tried; `flat_from` and `flat_to`, the
    range of numbers around it that do as well, within one standard error; and `note`, what is undecided about it.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_components=2)
    >>> dn.get.informed_summary(adata)[["value", "chosen", "at_edge"]].values.tolist()
    [[18, True, ''], [2, False, '']]
    """
    found = entry(adata, InformedKeys(key))
    names = ["n_clusters", "n_components"]
    table = pd.DataFrame({"value": [int(found[name]) for name in names]}, index=pd.Index(names, name="parameter"))
    columns = ("at_edge", "flat_from", "flat_to", "note")
    stored = found.get("choice", {"parameter": [], **{name: [] for name in columns}})
    choices = table_of(stored, ("parameter", *columns)).set_index("parameter").reindex(names)
    table["chosen"] = table.index.isin(list(stored["parameter"]))
    texts = ["at_edge", "note"]  # columns of numbers where nothing was chosen
    choices[texts] = choices[texts].astype(object).fillna("")
    return table.join(choices)


@documented_reader
def informed_gap(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the gap statistic by which the number of clusters was chosen.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance` with `n_clusters="auto"`.
    key

    Returns
    -------
    A row per number of clusters `k`; columns `gap`, `error` and `chosen`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata)
    >>> dn.get.informed_gap(adata).query("chosen")["k"].item()
    18
    """
    found = entry(adata, InformedKeys(key))
    params = found["params"]
    estimated = str(params.get("n_clusters")) == "auto" and bool(params.get("informed", True))
    if "gap" not in found and not estimated:
        raise ValueError(
            f"key={key!r} has no gap statistic: the number of clusters was given, or none were needed."
            " Use n_clusters='auto'."
        )
    table = table_of(found["gap"], ("k", "gap", "error"))
    return table.assign(chosen=table["k"] == int(found["gap"]["chosen"]))


@documented_reader
def informed_embedding(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the diffusion map of the metric.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    key

    Returns
    -------
    Index: observation. A column per component, λφ (Eq. 36), without the trivial one.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> side = dn.get.informed_embedding(adata)["component_1"] > 0
    >>> int(side.groupby(adata.obs["condition"], observed=True).nunique().max())
    1
    """
    keys = InformedKeys(key)
    entry(adata, keys)
    values = np.asarray(slot(adata, keys, "obsm", keys.diffmap))
    return pd.DataFrame(values, index=adata.obs_names, columns=counted("component", values.shape[1]))


@documented_reader
def informed_eigenvalues(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the eigenvalues of a global metric.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    key

    Returns
    -------
    A row per component; columns `used` by the metric, `own` (variance along the direction) and `pca` (of the
    principal component with the same number).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18, eigenvalues="own")
    >>> table = dn.get.informed_eigenvalues(adata)
    >>> bool((table["own"] <= table["pca"]).all())
    True
    """
    found = entry(adata, InformedKeys(key))
    if "eigenvalues" not in found and found["params"].get("local"):
        raise ValueError(f"key={key!r} holds local metrics, each with different eigenvalues.")
    return numbered(table_of(found["eigenvalues"], ("used", "own", "pca")), "component")


@documented_reader
def informed_covariance(adata: AnnData, *, key: str = "informed") -> pd.DataFrame:
    """Read the covariance that a global metric is the inverse of, U Λ Uᵀ (Eq. 25).

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.informed_distance`.
    key

    Returns
    -------
    Features × features, without excluded ones.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> dn.get.informed_covariance(adata).shape
    (900, 900)
    """
    used = informed_eigenvalues(adata, key=key)["used"].to_numpy()
    keys = InformedKeys(key)
    if not wrote(entry(adata, keys), "varm", keys.varm, adata):
        raise ValueError(f"key={key!r} is a metric of a representation (use_rep), not of the features of adata.")
    directions: Any = whole_table(adata, keys, "varm").dropna()
    u = directions.to_numpy()
    return pd.DataFrame((u * used) @ u.T, index=directions.index, columns=directions.index)
