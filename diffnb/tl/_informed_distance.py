"""`tl.informed_distance`: a metric between observations that knows which features belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import PulledAll, Results, bound, expand, feature_mask, guarded, pull_all, store, warn_of_units
from .._keys import InformedKeys
from .._options import check_informed, informed_options
from ..core.mahalanobis import InformedFit, InformedOptions, fit_informed, in_order
from ..core.typing import Bools, Floats, Ints
from ._choices import choice_note, choice_table, report
from ._docs import documented_tool


@guarded(InformedKeys)
@documented_tool
def informed_distance(
    adata: AnnData,
    *,
    local: bool = False,
    informed: bool = True,
    n_clusters: int | str = "auto",
    clustering: Literal["shared", "each"] = "shared",
    n_components: int | Literal["auto"] = "auto",
    n_neighbors: int = 20,
    solver: Literal["exact", "gradient"] = "exact",
    eigenvalues: Literal["pca", "own", "floor"] = "pca",
    cluster_weight: float | Literal["auto"] = 1.0,
    full: bool | Literal["auto"] = "auto",
    covariates: Sequence[str] | str | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    random_state: int = 0,
    key_added: str = "informed",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Measure distances between observations through clusters of features (informed Mahalanobis distance).

    The Mahalanobis distance needs the principal directions of the data, which few noisy observations do not
    determine. Features that belong together are averaged first: directions are sought among those that are constant
    on clusters of features. Results are a graph of neighbours that scanpy works on with
    `neighbors_key=key_added`, and all distances where observations are few.

    Parameters
    ----------
    adata
    local
        One metric for each observation, from its neighbourhood, for data on a curved surface (Algorithm 2);
        by default one for all (Algorithm 1). On dask arrays with `informed=False` or `clustering="each"`,
        neighbourhoods are gathered from all over the data, a few hundred or thousand rows in each pass: slow.
    informed
        `False`: the conventional (with `local`, the plain local) Mahalanobis distance, without clusters.
    n_clusters
        Clusters of features; `"auto"`: by the gap statistic, of up to 30, with a warning where it has no peak; or a
        column of `adata.var` with known clusters (pathways, networks, the groups of :func:`diffnb.tl.disc`), where
        features without one are excluded.
    clustering
        With `local`: one clustering of features for all neighbourhoods, or one for `"each"`, as in the paper.
    n_components
        Principal directions of the metric. `"auto"`: those with more variance than noise has: within
        clusters (informed), or by the optimal hard threshold (not informed); with `local`, the median over
        neighbourhoods.
    n_neighbors
        Size of a neighbourhood, the observation itself counted: of local covariances and of the graph.
    solver
        `"exact"`: best directions on the clusters by an eigenproblem; `"gradient"`: by projected gradients, as
        in the paper.
    eigenvalues
        Variances to divide by: `"pca"`, those of the principal components, as in the paper; `"own"`, those of
        the directions; `"floor"`, their own and what noise adds to eigenvalues. Without clusters the first two
        are the same and the last is ridged PCA.
    cluster_weight
        Directions between those of clusters, 1, and those of PCA, 0, for clusters that may be wrong: every
        observation is moved this part of the way to its means over clusters. `"auto"`: of six weights, the one whose
        directions keep most of the variance of observations that are left out. For the global metric with
        `solver="exact"`.
    full
        Keep distances between all observations; `"auto"`: of up to 3,000.
    covariates
        ... Slopes are those over all observations.
    use_rep
    layer
    mask_var
    random_state
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `obsp[f"{key_added}_distances"]`, `obsp[f"{key_added}_connectivities"]`: the graph of neighbours;
    - `obsp[f"{key_added}_pairwise"]`: all distances, where kept;
    - `obsm[f"X_{key_added}"]`: points whose Euclidean distance is the metric, unless `local`;
    - `obsm[f"X_{key_added}_diffmap"]`: diffusion map of the metric;
    - `var[f"{key_added}_cluster"]`, `varm[key_added]`: cluster of each feature, and principal directions;
    - `uns[key_added]`: eigenvalues, the gap statistic, parameters.

    Read them with :func:`diffnb.get.informed_distances`, :func:`diffnb.get.informed_clusters`,
    :func:`diffnb.get.informed_summary`, :func:`diffnb.get.informed_gap` and :func:`diffnb.get.informed_embedding`.

    References
    ----------
    Lahav, Talmon & Kluger, *Mahalanobis Distance Informed by Clustering*, 2019: Eqs. 26, 30 and 48,
    Algorithms 1 and 2. Number of clusters: Tibshirani, Walther & Hastie 2001.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=60)
    >>> dn.tl.informed_distance(adata)
    >>> adata.var["informed_cluster"].nunique()
    18
    >>> dn.get.informed_distances(adata).shape
    (60, 60)
    """
    n_components = validate.not_none("n_components", n_components, "auto")
    full = validate.not_none("full", full, "auto")
    arguments = {**locals(), "use_rep": use_rep or "X"}  # scanpy computes a representation where none is named
    call = bound(informed_distance, arguments, method="umap", metric="mahalanobis")
    given = SimpleNamespace(**call.arguments)
    check_informed(given)
    validate.flags(copy=copy)
    _check_known(n_clusters, clustering, use_rep)
    validate.tables_in_memory(adata)
    known, mask = _known_clusters(adata, n_clusters, mask_var, informed)
    data = pull_all(adata, layer=layer, use_rep=use_rep, mask_var=mask, covariates=covariates, min_features=2)
    if use_rep in (None, "X"):
        warn_of_units(adata, layer)
    labels = None if known is None else in_order(known[data.kept])
    known_count = None if labels is None else int(labels.max()) + 1
    options = informed_options(given, adata.n_obs, data.n_features, n_clusters=known_count)
    found = fit_informed(data.matrix, options, labels=labels)
    _log(found, data, options)
    names = None if labels is None else _names_in_order(adata, str(n_clusters), data.kept, labels)
    keys = InformedKeys(key_added)
    results = _results(keys, data, found, options)
    if use_rep in (None, "X"):
        results = replace(results, **_of_features(keys, data, found, options, names))
    return store(adata, keys, results, call, copy=copy)


def _check_known(n_clusters: object, clustering: object, use_rep: object) -> None:
    """Refuse known clusters where the clusters would be others."""
    if not isinstance(n_clusters, str) or n_clusters == "auto":
        return
    if clustering == "each":
        raise ValueError(f"n_clusters={n_clusters!r} names known clusters, which all share; use clustering='shared'.")
    if use_rep not in (None, "X"):
        raise ValueError(
            f"n_clusters={n_clusters!r} names clusters of features; with use_rep={use_rep!r} give a number."
        )


def _known_clusters(adata: AnnData, n_clusters: object, mask_var: Any, informed: bool) -> tuple[Ints | None, Any]:
    """Read clusters from a column of `var`, and exclude the features that have none."""
    if not isinstance(n_clusters, str) or n_clusters == "auto":
        return None, mask_var
    if n_clusters not in adata.var.columns:
        raise ValueError(
            f"n_clusters={n_clusters!r} is neither a number, 'auto' nor a column of adata.var."
            f"{validate.nearest(n_clusters, ['auto', *adata.var.columns])}"
        )
    codes, _ = pd.factorize(adata.var[n_clusters])
    mask = feature_mask(adata, mask_var) & (codes >= 0)
    if len(np.unique(codes[mask])) < 2:
        raise ValueError(
            f"n_clusters={n_clusters!r} has {len(np.unique(codes[mask]))} cluster of the features that are used;"
            " at least two are needed."
        )
    without = int((codes < 0).sum())
    if without:
        log.info(f"{without} features without a {n_clusters} are excluded")
    return (codes if informed else None), mask


def _log(found: InformedFit, data: PulledAll, options: InformedOptions) -> None:
    used = found.settings
    kind = "local" if options.local else "global"
    of = f"{used.n_clusters} clusters of " if options.informed else ""
    how = "all distances" if used.full else "nearest neighbours only"
    log.info(f"{kind} metric by {of}{data.n_features} features, n_components={used.n_components}, {how}")
    if options.cluster_weight == "auto" and options.informed:
        log.info(f"cluster_weight={used.cluster_weight:g} keeps most of the variance of left-out observations")
    for name, choice in found.choices.items():
        # the gap statistic may rise beyond the last number; all directions above noise is an answer
        misleading = name == "n_clusters" and choice.at_edge == "high"
        report(choice_note(name, choice), misleading=misleading)


def _names_in_order(adata: AnnData, column: str, kept: Bools, labels: Ints) -> list[str]:
    """Names of known clusters in the order of their numbers."""
    values = adata.var[column].to_numpy()[kept]
    _, first = np.unique(labels, return_index=True)
    return [str(values[i]) for i in first]


def _results(keys: InformedKeys, data: PulledAll, found: InformedFit, options: InformedOptions) -> Results:
    kind = np.float32 if data.matrix.dtype == np.float32 else np.float64
    obsp: dict[str, Any] = {
        keys.distances: found.nearest.as_graph().astype(kind),
        keys.connectivities: found.weights.astype(kind),
    }
    if found.pairwise is not None:
        obsp[keys.pairwise] = found.pairwise.astype(kind)
    obsm: dict[str, Floats] = {keys.diffmap: found.diffusion[1].astype(kind)}
    if found.coordinates is not None:
        obsm[keys.obsm] = found.coordinates.astype(kind)
    described: dict[str, Any] = {
        "connectivities_key": keys.connectivities,
        "distances_key": keys.distances,
        "n_clusters": found.settings.n_clusters,
        "n_components": found.settings.n_components,
        "cluster_weight": found.settings.cluster_weight,
        "diffmap_evals": found.diffusion[0],
        "has_pairwise": found.pairwise is not None,
        "n_constant": data.n_constant,
    }
    if not options.local:
        described["eigenvalues"] = {
            "used": found.metric.eigenvalues,
            "own": found.metric.own,
            "pca": found.metric.pca,
        }
    if found.choices:
        described["choice"] = choice_table(found.choices)
    if found.gap is not None:
        gap = found.gap
        described["gap"] = {"k": gap.k, "gap": gap.gap, "error": gap.error, "chosen": gap.chosen}
    return Results(obsm=obsm, obsp=obsp, described=described)


def _of_features(
    keys: InformedKeys, data: PulledAll, found: InformedFit, options: InformedOptions, names: list[str] | None
) -> dict[str, Any]:
    """Return clusters and directions of the features; a representation has no place for its own."""
    var, varm = {}, {}
    if found.labels is not None:
        var[keys.clusters] = _named(found.labels, data.kept, names)
    if not options.local:
        columns = {f"direction_{i + 1}": expand(u, data.kept) for i, u in enumerate(found.metric.directions.T)}
        varm[keys.varm] = pd.DataFrame(columns)
    return {"var": var, "varm": varm}


def _named(labels: Ints, kept: Bools, names: list[str] | None) -> pd.Categorical:
    codes = np.full(kept.size, -1)
    codes[kept] = labels
    return pd.Categorical.from_codes(codes, names or [str(i + 1) for i in range(int(labels.max()) + 1)])
