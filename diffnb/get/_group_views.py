"""One group of features seen from its observations: scores, correlations, and what marks some of the observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Pulled, all_rows, pull
from ..core.arrays.gram_stats import correlations
from ..core.arrays.ops import matmul, mean_and_variance, take_columns, take_rows
from ..core.typing import Bools, Floats, Ints
from ._common import known_group
from ._comparisons import as_names, run_conditions, run_layer, run_params
from ._conditions import DiscCondition, disc_conditions
from ._docs import documented_reader

#: correlations of fewer observations say nothing
MIN_OBSERVATIONS = 4


@documented_reader
def group_scores(
    adata: AnnData,
    *,
    group: str | None = None,
    members: Sequence[str] | None = None,
    layer: str | None = None,
    key: str = "disc",
) -> pd.DataFrame:
    """Compute the score of every observation in groups of features: the mean of their standardised values.

    Features are standardised over all observations that were compared, as :func:`diffnb.tl.project` does it.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A feature group, such as `"A1"`; all of them by default.
    members
        Names of features to score instead of a group.
    layer
    key

    Returns
    -------
    One row per observation; a column per group, or the column `score` for given members. Features that do not vary
    count as 0.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.get.group_scores(adata, group="A1").shape
    (400, 1)
    """
    params = run_params(adata, key)
    sets = _all_members(adata, group, key) if members is None else {"score": _named(adata, members)}
    if not sets:
        return pd.DataFrame(index=adata.obs_names)
    used = np.logical_or.reduce(list(sets.values()))
    values = take_columns(all_rows(adata, run_layer(params, layer)), used)
    mean, variance = mean_and_variance(take_rows(values, _compared_rows(adata, params, key)))
    inverse = np.where(variance > 0, 1 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    weights = np.stack([inverse * member[used] / max(1, int(member.sum())) for member in sets.values()], axis=1)
    return pd.DataFrame(matmul(values, weights) - mean @ weights, index=adata.obs_names, columns=list(sets))


@documented_reader
def group_correlations(
    adata: AnnData,
    *,
    group: str | None = None,
    observations: Sequence[bool] | Sequence[str] | Bools | None = None,
    max_features: int = 300,
    layer: str | None = None,
    key: str = "disc",
) -> pd.DataFrame:
    """Compute the correlations between the features of a group in every condition, of some observations if wanted.

    Where a group was found in cells of many types, correlations within one type tell whether its features are
    connected there, or only follow the types. Layer and covariates are those of the call.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A feature group, such as `"A1"`; the first by default.
    observations
    max_features
        At most this many features, those with the largest membership, or score.
    layer
    key

    Returns
    -------
    A square table per condition, stacked: rows have the levels `group` (the condition) and `feature`. Features that
    do not vary among the observations have missing values. A condition with fewer than 4 of the observations is left
    out; `table.attrs["n_obs"]` has their number in every condition.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> table = dn.get.group_correlations(adata, group="A1", observations=adata.obs_names[:100])
    >>> table.loc["A"].shape, table.attrs["n_obs"]
    ((25, 25), {'A': 100, 'B': 0})
    """
    most = validate.count("max_features", max_features, at_least=2)
    names = _leading(*_own_condition(adata, group, key), most)
    params, keep = run_params(adata, key), _chosen(adata, observations)
    data = _pulled(adata, params, adata.var_names.isin(names), layer, key)
    order = adata.var_names[data.kept].get_indexer(names)
    rows = [np.flatnonzero(keep[own]) for own in data.rows]
    tables = {
        name: _square(take_rows(matrix, own), order)
        for name, matrix, own in zip(data.groups, data.matrices, rows, strict=True)
        if own.size >= MIN_OBSERVATIONS
    }
    index = pd.MultiIndex.from_product([list(tables), names], names=["group", "feature"])
    values = np.vstack(list(tables.values())) if tables else np.empty((0, len(names)))
    table = pd.DataFrame(values, index=index, columns=pd.Index(names, name="feature"))
    table.attrs["n_obs"] = {name: int(own.size) for name, own in zip(data.groups, rows, strict=True)}
    return table


@documented_reader
def group_features(
    adata: AnnData,
    *,
    group: str | None = None,
    observations: Sequence[bool] | Sequence[str] | Bools | None = None,
    layer: str | None = None,
    key: str = "disc",
) -> pd.DataFrame:
    """Describe the features of a group: how they belong to it, and how they mark some of the observations.

    Observations that were chosen by looking at them differ from the rest by choice: there are no p-values. Save them
    as a column of `obs` and compare with new data to test what is seen here.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A feature group, such as `"A1"`; the first by default.
    observations
    layer
    key

    Returns
    -------
    One row per feature, the one with the largest membership first; columns `score`, `membership` where it was
    computed, and with `observations`, in the units of the layer, `mean` (of these observations), `mean_rest`, and
    `difference`, that of the means in standard deviations of all observations.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> table = dn.get.group_features(adata, group="A1", observations=adata.obs["condition"] == "A")
    >>> table.columns.tolist()
    ['score', 'membership', 'mean', 'mean_rest', 'difference']
    """
    condition, name = _own_condition(adata, group, key)
    names = _leading(condition, name, len(condition.table))
    table = condition.table.loc[names, [c for c in ("score", "membership") if c in condition.table.columns]]
    if observations is None:
        return table
    chosen = _chosen(adata, observations)
    layer = run_layer(run_params(adata, key), layer)
    values = take_columns(all_rows(adata, layer), np.asarray(adata.var_names.isin(names)))
    places = adata.var_names[adata.var_names.isin(names)].get_indexer(names)
    mean, rest = (_means(take_rows(values, np.flatnonzero(rows)))[places] for rows in (chosen, ~chosen))
    variance = mean_and_variance(values)[1][places]
    spread = np.where(variance > 0, np.sqrt(variance), np.nan)
    return table.assign(mean=mean, mean_rest=rest, difference=(mean - rest) / spread)


def _all_members(adata: AnnData, group: str | None, key: str) -> dict[str, Bools]:
    """Return which features belong to each group, or to one."""
    found = {
        name: np.asarray(adata.var_names.isin(condition.table.index[condition.table["feature_group"] == name]))
        for condition in disc_conditions(adata, None, key)
        for name in condition.groups
    }
    known_group("group", group, list(found), was="is not a feature group")
    return found if group is None else {str(group): found[str(group)]}


def _own_condition(adata: AnnData, group: str | None, key: str) -> tuple[DiscCondition, str]:
    """Return the condition that a feature group belongs to, and its name; those of the first group by default."""
    found = {name: condition for condition in disc_conditions(adata, None, key) for name in condition.groups}
    known_group("group", group, list(found), was="is not a feature group")
    if not found:
        raise ValueError(f"no feature group was named under key={key!r}; dn.get.disc_evidence says why.")
    name = next(iter(found)) if group is None else str(group)
    return found[name], name


def _leading(condition: DiscCondition, group: str, n_features: int) -> list[str]:
    """Return the features of a group, those with the largest membership first."""
    members = condition.table[condition.table["feature_group"] == group]
    by = [name for name in ("membership", "score") if name in members]
    return [str(name) for name in members.sort_values(by, ascending=False, kind="stable").index[:n_features]]


def _named(adata: AnnData, members: Sequence[str]) -> Bools:
    """Return which features have these names."""
    names = [members] if isinstance(members, str) else [str(name) for name in members]
    unknown = [name for name in names if name not in adata.var_names]
    if unknown or not names:
        hint = validate.nearest(unknown[0], adata.var_names) if unknown else ""
        raise ValueError(f"members={validate.quoted(unknown or names) or '[]'} are not in adata.var_names.{hint}")
    return np.asarray(adata.var_names.isin(names))


def _chosen(adata: AnnData, observations: Any) -> Bools:
    """Return which observations are chosen, by a boolean for each or by their names."""
    if observations is None:
        return np.ones(adata.n_obs, dtype=bool)
    given = np.asarray(observations)
    if given.dtype == bool:
        if given.shape != (adata.n_obs,):
            raise ValueError(f"observations has shape {given.shape}, but adata has {adata.n_obs} observations.")
        return given
    unknown = [str(name) for name in given if str(name) not in adata.obs_names]
    if unknown:
        raise ValueError(
            f"observations={validate.quoted(unknown, 3)} are not in adata.obs_names; give names, or a boolean for each."
        )
    return np.asarray(adata.obs_names.isin([str(name) for name in given]))


def _compared_rows(adata: AnnData, params: Mapping[str, Any], key: str) -> Ints:
    labels = np.asarray(validate.conditions(adata, params["groupby"]).astype(object))
    return np.flatnonzero(np.isin(labels, run_conditions(adata, key) or []))


def _pulled(adata: AnnData, params: Mapping[str, Any], member: Bools, layer: str | None, key: str) -> Pulled:
    return pull(
        adata,
        params["groupby"],
        groups=run_conditions(adata, key),
        layer=run_layer(params, layer),
        mask_var=np.asarray(member),
        covariates=as_names(params.get("covariates")),
    )


def _square(matrix: Any, order: Ints) -> Floats:
    """Correlations in the wanted order, missing for features that do not vary, or are not there (−1)."""
    (found,) = correlations([matrix])
    found = np.where(np.diag(found)[:, None] * np.diag(found) > 0, found, np.nan)
    padded = np.pad(found, (0, 1), constant_values=np.nan)  # the last place is that of features that are not there
    return np.asarray(padded[np.ix_(order, order)])


def _means(matrix: Any) -> Floats:
    return mean_and_variance(matrix)[0] if matrix.shape[0] else np.full(matrix.shape[1], np.nan)
