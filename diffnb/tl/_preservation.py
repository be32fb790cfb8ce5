"""`tl.preservation`: whether groups found in one data set are connected in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Results, all_rows, bound, check_anndata, check_values, guarded, store
from .._keys import BACKGROUND_GROUP, DiscKeys, PreservationKeys
from ..core.arrays.ops import column_summaries, take_columns, take_rows
from ..core.preservation import COMPOSITES, STATISTICS, PreservationFit, PreservationOptions, fit_preservation
from ..core.runtime.seeds import generator
from ..core.stats.pvalues import adjusted
from ..core.typing import Bools, Floats, Ints, Matrix
from ..get._common import entry, holds
from ..get._gene_sets import gene_sets_by_condition
from ._docs import documented_tool

#: features of no group among which random sets are drawn
MAX_OTHER_FEATURES = 2000
#: features of a group that have to be in both data sets
MIN_MATCHED = 3
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of features of the reference, and the condition in whose observations they were found (or none)."""

    names: list[str]
    conditions: list[str | None]
    features: list[list[str]]


@dataclass(frozen=True, slots=True)
class Observations:
    """Rows of one condition, of one data set."""

    matrix: Matrix
    #: sample of each row, where samples are the units
    samples: Ints | None


@guarded(PreservationKeys, data="query")
@documented_tool
def preservation(
    reference: AnnData,
    query: AnnData,
    *,
    key: str = "disc",
    groupby: str | None = None,
    sample_key: str | None = None,
    layer: str | None = None,
    n_permutations: int = 999,
    match_variance: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "preservation",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Ask whether the groups of features found in one data set are connected in another.

    Features are matched by name. Every group is compared with random sets of features of the query, of the same size
    and, feature by feature, of similar variance, by the statistics of NetRep and of WGCNA's module preservation:

    - *density*: are its features as correlated as a group should be? Mean absolute r; share of variance that the first
      principal component explains; mean r, and mean correlation with that component, with the signs of the reference;
    - *connectivity*: is the pattern within the group the same? Correlations between both data sets of r, of the sum
      of absolute r of every feature, and of the correlations with the component. A group whose features are all
      alike has no pattern, and fails here without being absent;
    - *separability*: mean absolute r within the group minus that with all other features.

    z scores of the statistics are averaged for each of the three. A group is `preserved` where the adjusted p-values
    of density and separability are at most .05.

    Parameters
    ----------
    reference
        Annotated data after :func:`diffnb.tl.disc`, in which the groups were found.
    query
    key
        ... That of :func:`diffnb.tl.disc`, or a column of `reference.var` with groups from elsewhere.
    groupby
        Column of `query.obs` with the conditions of the reference: each group is looked for in the observations of the
        condition that it was found in, and `difference` says how much weaker it is in the others. `None`: in all
        observations of the query.
    sample_key
        ... In the query and, where it has such a column, in the reference. Correlations are then those within samples,
        averaged, and `sample_pval` tests over samples (from three on) that the group exceeds random sets.
    layer
        ... Of both data sets; that of :func:`diffnb.tl.disc` where none is named.
    n_permutations
        ... A permutation is a random set of features instead of each group.
    match_variance
        Draw random sets that resemble the group in the variances of their features: frequent genes are more
        correlated than rare ones whether they form a group or not.
    random_state
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy of the query. Adds `query.uns[key_added]`; read it with :func:`diffnb.get.preservation`.

    References
    ----------
    Ritchie et al., Cell Systems 2016 (NetRep); Langfelder et al., PLoS Comput. Biol. 2011 (WGCNA).

    Examples
    --------
    >>> import diffnb as dn
    >>> reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(reference, "condition")
    >>> dn.tl.preservation(reference, query, groupby="condition", n_permutations=99)
    >>> dn.get.preservation(query)["preserved"].tolist()
    [True, True, True, True]
    """
    call = bound(preservation, locals())
    validate.flags(match_variance=match_variance)
    if sample_key is not None:
        validate.obs_column(query, "sample_key", sample_key)
    n_permutations = validate.repeats("n_permutations", n_permutations, at_least=19)
    seed, n_jobs = validate.seed(random_state), validate.jobs(n_jobs)
    check_anndata("reference", reference)
    groups = _groups(reference, key)
    names = _matched_names(reference, query)
    layer = _layer(reference, key) if layer is None else layer
    tables = []
    for condition in dict.fromkeys(groups.conditions):
        chosen = [i for i, own in enumerate(groups.conditions) if own == condition]
        sets = [groups.features[i] for i in chosen]
        features = _features(names, sets, seed)
        there = _observations(reference, features, _reference_rows(reference, key, condition), layer, sample_key, False)
        here, others = _query_rows(query, groupby, condition)
        options = PreservationOptions(n_permutations, match_variance, seed)
        observed = _observations(query, features, here, layer, sample_key, True)
        elsewhere = None if others is None else _observations(query, features, others, layer, sample_key, True)
        tables.append(_compared(groups, chosen, features, there, observed, elsewhere, options, n_jobs))
    keys = PreservationKeys(key_added)
    return store(query, keys, Results(described=_described(groups, tables)), call, copy=copy)


def _groups(reference: AnnData, key: str) -> Groups:
    if holds(reference.uns.get(key), DiscKeys(key)):
        found = gene_sets_by_condition(reference, None, key)
        groups = Groups([n for n, _, _ in found], [c for _, c, _ in found], [f for _, _, f in found])
    elif key in reference.var.columns:
        column = reference.var[key].astype(str)
        names = [n for n in dict.fromkeys(column) if n not in (BACKGROUND_GROUP, "nan", "None")]
        listed = [[str(f) for f in reference.var_names[(column == n).to_numpy()]] for n in names]
        groups = Groups(names, [None] * len(names), listed)
    else:
        entry(reference, DiscKeys(key))
        raise AssertionError
    if not groups.names:
        raise ValueError(f"key={key!r} of the reference holds no group of features: there is nothing to look for.")
    return groups


def _layer(reference: AnnData, key: str) -> str | None:
    found = reference.uns.get(key)
    params = found["params"] if holds(found, DiscKeys(key)) else {}
    return params.get("layer")


def _matched_names(reference: AnnData, query: AnnData) -> pd.Index:
    for name, adata in (("reference", reference), ("query", query)):
        validate.tables_in_memory(adata)
        if not adata.var_names.is_unique:
            raise ValueError(f"var_names of {name} are not unique; make them so with {name}.var_names_make_unique().")
    names = query.var_names[query.var_names.isin(reference.var_names)]
    if len(names) < MIN_MATCHED:
        raise ValueError(
            f"{len(names)} of {query.n_vars} features of the query are in the reference, which has"
            f" {validate.quoted(reference.var_names, 3)}; use the same names in both."
        )
    return names


def _features(names: pd.Index, groups: Sequence[Sequence[str]], seed: int) -> pd.Index:
    """Return the features of the groups that matched, and others among which random sets are drawn."""
    member = names.isin([feature for own in groups for feature in own])
    others = np.flatnonzero(~member)
    if others.size > MAX_OTHER_FEATURES:
        others = generator(seed, "subsample").choice(others, MAX_OTHER_FEATURES, replace=False)
    kept = member.copy()
    kept[others] = True
    return names[kept]


def _reference_rows(reference: AnnData, key: str, condition: str | None) -> Ints:
    if condition is None:
        return np.arange(reference.n_obs)
    categories = validate.conditions(reference, reference.uns[key]["params"]["groupby"])
    return np.flatnonzero(np.asarray(categories == condition))


def _query_rows(query: AnnData, groupby: str | None, condition: str | None) -> tuple[Ints, Ints | None]:
    """Return the rows in which a group is looked for, and those in which it should be weaker."""
    if groupby is None or condition is None:
        return np.arange(query.n_obs), None
    categories = validate.conditions(query, groupby)
    present = [str(c) for c in categories.categories]
    if condition not in present:
        raise ValueError(
            f"groupby={groupby!r} of the query has no {condition!r}, in which groups were found; there are"
            f" {validate.quoted(present)}. Rename its categories, or leave groupby out to take all observations."
        )
    own = np.asarray(categories == condition)
    others = np.flatnonzero(~own & (categories.codes >= 0))
    return np.flatnonzero(own), others if others.size else None


def _observations(
    adata: AnnData, features: pd.Index, rows: Ints, layer: str | None, sample_key: str | None, is_query: bool
) -> Observations:
    matrix = take_rows(all_rows(adata, layer), rows)[:, adata.var_names.get_indexer(features)]
    check_values(matrix, np.asarray(features), "query" if is_query else "reference")
    if sample_key is None or (not is_query and sample_key not in adata.obs.columns):
        return Observations(matrix, None)
    column = validate.obs_column(adata, "sample_key", sample_key).iloc[rows]
    if column.isna().any():
        raise ValueError(
            f"sample_key={sample_key!r} of the {'query' if is_query else 'reference'} is missing for"
            f" {int(column.isna().sum())} observations; drop or name them first."
        )
    return Observations(matrix, pd.factorize(column, sort=True)[0])


def _compared(
    groups: Groups,
    chosen: Sequence[int],
    features: pd.Index,
    reference: Observations,
    query: Observations,
    others: Observations | None,
    options: PreservationOptions,
    n_jobs: int | None,
) -> pd.DataFrame:
    both = [reference.matrix, query.matrix, *([] if others is None else [others.matrix])]
    varies = _varies(both[:2])
    position = pd.Series(np.arange(int(varies.sum())), index=features[varies])
    places = [position.reindex(groups.features[i]).dropna().to_numpy(dtype=int) for i in chosen]
    kept = [n for n, own in enumerate(places) if own.size >= MIN_MATCHED]
    reference_x, query_x, *other_x = (take_columns(x, varies) for x in both)
    fit = fit_preservation(
        reference_x,
        query_x,
        [places[n] for n in kept],
        options,
        samples=(reference.samples, query.samples),
        others=None if others is None else (other_x[0], others.samples),
        n_jobs=n_jobs,
    )
    table = _table(fit).set_axis(kept, axis=0).reindex(range(len(chosen)))
    table["n_matched"] = [own.size for own in places]
    table["n_samples"] = fit.n_samples
    missing = [groups.names[i] for n, i in enumerate(chosen) if n not in kept]
    if missing:
        log.warn(
            f"groups {validate.quoted(missing)} have fewer than {MIN_MATCHED} features that vary in both data sets;"
            " nothing is said of them."
        )
    return table.set_axis(list(chosen), axis=0)


def _varies(matrices: Sequence[Matrix]) -> Bools:
    """Return which features vary in each of the matrices."""
    summaries = [column_summaries([x])[0] for x in matrices]
    return np.asarray(np.all([own.high > own.low for own in summaries], axis=0))


def _table(fit: PreservationFit) -> pd.DataFrame:
    columns: dict[str, Floats] = {}
    for n, name in enumerate(COMPOSITES):
        columns[f"{name}_z"], columns[f"{name}_pval"] = fit.z[:, n], fit.z_pval[:, n]
    for n, name in enumerate(STATISTICS):
        columns[name], columns[f"{name}_stat_pval"] = fit.observed[:, n], fit.pval[:, n]
    columns["difference"], columns["difference_pval"] = fit.difference, fit.difference_pval
    columns["sample_pval"] = fit.sample_pval
    return pd.DataFrame(columns)


def _described(groups: Groups, tables: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Put groups in their order, and adjust p-values over them."""
    table = pd.concat(tables).sort_index()
    for name in (*COMPOSITES, "difference"):
        table[f"{name}_pval_adj"] = adjusted(table[f"{name}_pval"].to_numpy(dtype=float))
    largest = table[["density_pval_adj", "separability_pval_adj"]].max(axis=1, skipna=False)
    table["preserved"] = (largest <= ALPHA).to_numpy()
    table["n_features"] = [len(own) for own in groups.features]
    conditions = ["" if condition is None else condition for condition in groups.conditions]
    return {
        "groups": np.array(groups.names, dtype=object),
        "conditions": np.array(conditions, dtype=object),
        **{str(name): table[name].to_numpy() for name in table.columns},
    }
