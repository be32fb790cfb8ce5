"""`tl.project`: what was found in one data set, computed on another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Results, all_rows, bound, check_anndata, check_values, guarded, store
from .._keys import DiscKeys, DiverseFeaturesKeys, DufsKeys, Keys, ProjectionKeys, SpardaKeys
from ..core.arrays.ops import matmul, pooled_moments, take_columns, take_rows
from ..core.typing import Floats, Ints
from ..get._common import holds
from ..get._conditions import compared_conditions
from ..get._disc import vectors
from ..get._gene_sets import gene_sets
from ._docs import documented_tool

#: results that can be projected
SOURCES: tuple[type[Keys], ...] = (DiscKeys, SpardaKeys, DufsKeys, DiverseFeaturesKeys)


@guarded(ProjectionKeys, data="query")
@documented_tool
def project(
    query: AnnData,
    reference: AnnData,
    *,
    key: str = "disc",
    layer: str | None = None,
    key_added: str = "projected",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Compute on one data set what was found in another: meta-features, scores of groups, projections, selections.

    Features are matched by name. Those that the query lacks count as their mean in the reference, and how much of the
    weights they hold is reported: a projection that loses much of it is not the one that was found.

    Parameters
    ----------
    query
        ... On the same scale as the reference.
    reference
        Annotated data after :func:`diffnb.tl.disc`, :func:`diffnb.tl.sparda`, :func:`diffnb.tl.pda`,
        :func:`diffnb.tl.dufs` or :func:`diffnb.tl.diverse_features`.
    key
    layer
        ... Of both; that of the call where none is named.
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy of the query. Adds `uns[key_added]`, which says what matched, and of

    - DiSC: `obsm[f"X_{key_added}"]`, the meta-features (X V), and `obsm[f"X_{key_added}_groups"]`, the mean of the
      features of each group in standard deviations of the reference;
    - SPARDA: `obsm[f"X_{key_added}"]`, projections standardised as in the fit by moments of the reference;
    - DUFS and diverse features: `var[key_added]`, the selection (features that the reference lacks are not selected).

    Read them with :func:`diffnb.get.projection`.

    Examples
    --------
    >>> import diffnb as dn
    >>> reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(reference, "condition", n_components=2)
    >>> dn.tl.project(query, reference)
    >>> query.obsm["X_projected"].shape, query.obsm["X_projected_groups"].columns.tolist()
    ((400, 4), ['A1', 'A2', 'B1', 'B2'])
    """
    call = bound(project, locals())
    check_anndata("reference", reference)
    source = _source(reference, key)
    places = _places(query, reference)
    keys = ProjectionKeys(key_added)
    used_layer = reference.uns[key]["params"].get("layer") if layer is None else layer
    if isinstance(source, DiscKeys):
        results = _of_disc(query, reference, source, keys, places, used_layer)
    elif isinstance(source, SpardaKeys):
        results = _of_sparda(query, reference, source, keys, places, used_layer)
    else:
        results = _selection(reference, source, keys, places, query.n_vars)
    _report(results.described["matched"])
    return store(query, keys, results, call, copy=copy)


def _source(reference: AnnData, key: str) -> Keys:
    for kind in SOURCES:
        keys = kind(key)
        if holds(reference.uns.get(key), keys):
            return keys
    there = [
        str(name) for name, found in reference.uns.items() if any(holds(found, kind(str(name))) for kind in SOURCES)
    ]
    raise KeyError(
        f"no results under key={key!r} of the reference that could be projected; there are"
        f" {validate.quoted(there) or 'none'}. Run dn.tl.disc, dn.tl.sparda or dn.tl.dufs on it first."
    )


def _places(query: AnnData, reference: AnnData) -> Ints:
    """Return the place of every feature of the reference in the query, −1 where it has none."""
    for name, adata in (("reference", reference), ("query", query)):
        validate.tables_in_memory(adata)
        if not adata.var_names.is_unique:
            raise ValueError(f"var_names of {name} are not unique; make them so with {name}.var_names_make_unique().")
    places = query.var_names.get_indexer(reference.var_names)
    if not (places >= 0).any():
        raise ValueError(
            f"no feature of the query ({validate.quoted(query.var_names, 3)}) is in the reference"
            f" ({validate.quoted(reference.var_names, 3)}); use the same names in both."
        )
    return np.asarray(places)


def _moments(reference: AnnData, layer: str | None, groupby: str, conditions: list[str]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every feature over the observations that were compared; 1 for constant ones."""
    categories = validate.conditions(reference, groupby)
    rows = np.flatnonzero(np.isin(np.asarray(categories.astype(object)), conditions))
    mean, variance = pooled_moments([take_rows(all_rows(reference, layer), rows)])
    return mean, np.where(variance > 0, np.sqrt(variance), 1.0)


def _projected(query: AnnData, layer: str | None, places: Ints, weights: Floats, mean: Floats) -> Floats:
    """Weight and sum the features that match; the others contribute their mean."""
    found, weighted = places >= 0, weights.any(axis=1)
    used = np.zeros(query.n_vars, dtype=bool)
    used[places[found & weighted]] = True
    constant = _summed(mean, np.where(found[:, None], 0.0, weights))
    if not used.any():
        return np.tile(constant, (query.n_obs, 1))
    matrix = take_columns(all_rows(query, layer), used)
    check_values(matrix, np.asarray(query.var_names)[used], "query")
    own = np.zeros((query.n_vars, weights.shape[1]))
    own[places[found]] = weights[found]
    return np.asarray(matmul(matrix, own[used]) + constant)


def _summed(mean: Floats, weights: Floats) -> Floats:
    """Weight and sum means of features; those without a weight may be missing."""
    weighted = weights.any(axis=1)
    return np.asarray(mean[weighted] @ weights[weighted])


def _of_disc(
    query: AnnData, reference: AnnData, source: DiscKeys, keys: ProjectionKeys, places: Ints, layer: str | None
) -> Results:
    conditions = compared_conditions(reference, source.key)
    mean, sd = _moments(reference, layer, reference.uns[source.key]["params"]["groupby"], conditions)
    tables = vectors(reference, key=source.key)
    weights = np.nan_to_num(np.hstack([table.to_numpy(dtype=float) for table in tables.values()]))
    columns = source.meta_features(conditions, next(iter(tables.values())).shape[1])
    sets = gene_sets(reference, key=source.key)
    members = np.stack([reference.var_names.isin(own) for own in sets.values()], axis=1) if sets else None
    described = _matched(columns, weights, places)
    results: dict[str, Any] = {keys.obsm: _projected(query, layer, places, weights, mean)}
    if members is not None:
        found = members & (places >= 0)[:, None]
        share = found / np.maximum(found.sum(axis=0), 1)
        means = _projected(query, layer, places, share / sd[:, None], np.zeros_like(mean)) - _summed(mean / sd, share)
        means[:, ~found.any(axis=0)] = np.nan
        results[keys.group_scores] = pd.DataFrame(means, index=query.obs_names, columns=list(sets))
        described["matched_groups"] = found.sum(axis=0) / members.sum(axis=0)
        described["groups"] = np.array(list(sets), dtype=object)
    return Results(obsm=results, described=described)


def _of_sparda(
    query: AnnData, reference: AnnData, source: SpardaKeys, keys: ProjectionKeys, places: Ints, layer: str | None
) -> Results:
    found = reference.uns[source.key]
    params = found["params"]
    standardize = params.get("standardize")
    if standardize == "within" or params.get("covariates") is not None:
        raise ValueError(
            "the projections of this call are standardised within each population, or free of covariates: a new"
            " observation has no place on them. Repeat the call with standardize='global' and without covariates."
        )
    weights = np.nan_to_num(reference.varm[source.varm].to_numpy(dtype=float))
    each = np.asarray(found["objective"]).shape[1]
    values = []
    for i, pair in enumerate(zip(found["pairs"]["group"], found["pairs"]["reference"], strict=True)):
        own = _deflated(weights[:, i * each : (i + 1) * each])
        compared = [str(name) for name in pair]
        if bool(np.atleast_1d(found["pairs"]["against_rest"])[i]):
            compared = [str(c) for c in validate.conditions(reference, params["groupby"]).categories]
            compared = compared if params.get("groups") is None else [str(g) for g in np.atleast_1d(params["groups"])]
        mean, sd = _moments(reference, layer, params["groupby"], compared)
        if standardize is None:
            values.append(_projected(query, layer, places, own, mean))
        else:
            scaled = own / sd[:, None]
            values.append(_projected(query, layer, places, scaled, mean) - _summed(mean, scaled))
    columns = [str(name) for name in found["columns"]]
    return Results(obsm={keys.obsm: np.hstack(values)}, described=_matched(columns, weights, places))


def _deflated(weights: Floats) -> Floats:
    """Take from every direction what lies along the earlier ones, as the fit took it from the data."""
    directions: list[Floats] = []
    for w in weights.T:
        for earlier in directions[::-1]:
            length = float(earlier @ earlier)
            w = w - earlier * (float(earlier @ w) / length if length else 0.0)
        directions.append(w)
    return np.stack(directions, axis=1)


def _selection(reference: AnnData, source: Keys, keys: ProjectionKeys, places: Ints, n_vars: int) -> Results:
    selected = reference.var[source.var].to_numpy().astype(bool)
    chosen = np.zeros(n_vars, dtype=bool)
    chosen[places[selected & (places >= 0)]] = True
    described = _matched([source.key], selected[:, None].astype(float), places)
    return Results(var={keys.var: chosen}, described=described)


def _matched(columns: list[str], weights: Floats, places: Ints) -> dict[str, Any]:
    """Say how much of the squared weights of every column is on features that the query has."""
    squares = weights**2
    total = squares.sum(axis=0)
    share = np.divide(squares[places >= 0].sum(axis=0), total, out=np.ones_like(total), where=total > 0)
    return {
        "columns": np.array(columns, dtype=object),
        "matched": share,
        "n_missing": int(((squares.sum(axis=1) > 0) & (places < 0)).sum()),
    }


def _report(matched: Floats) -> None:
    lowest = float(np.min(matched))
    if lowest < 0.9:
        log.warn(
            f"the query lacks features that hold up to {1 - lowest:.0%} of the squared weights; they count as their"
            " mean in the reference. See `matched` of dn.get.projection."
        )
