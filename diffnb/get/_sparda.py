"""Tables of what `tl.sparda` and `tl.pda` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import SpardaKeys
from ._common import entry, known_group, labelled, ranked, slot, stacked, table
from ._docs import documented_reader


@dataclass(frozen=True, slots=True)
class Comparison:
    """One projection of one comparison, and where its values are."""

    group: str
    reference: str
    against_rest: bool
    #: from 1
    projection: int
    #: place among all comparisons and projections
    place: int
    #: name among the columns of weights and scores
    column: str


@documented_reader
def sparda(adata: AnnData, *, group: str | None = None, key: str = "sparda") -> pd.DataFrame:
    """Read the weights of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
    key

    Returns
    -------
    One row per feature (and comparison and projection), the largest weight in absolute value first; columns
    `group`, `reference`, `projection` (from 1), `weight`, `rank` (from 1) and `selected`. Excluded features
    come last, with missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=500, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> table = dn.get.sparda(adata)
    >>> table.columns.tolist()
    ['group', 'reference', 'projection', 'weight', 'rank', 'selected']
    >>> int(adata.var.loc[table.index[table["selected"]], "truth"].sum())
    10
    """
    keys = SpardaKeys(key)
    comparisons = _comparisons(entry(adata, keys), group)
    weights = table(adata, keys, "varm", [each.column for each in comparisons])
    return stacked([_ranked_weights(adata, weights[each.column], each) for each in comparisons])


def _ranked_weights(adata: AnnData, stored: pd.Series[Any], of: Comparison) -> pd.DataFrame:
    weights = stored.to_numpy(dtype=float)
    rows = ranked(adata, {"weight": weights, "selected": np.abs(weights) > 0}, -np.abs(weights))
    return labelled(
        rows[["weight", "rank", "selected"]], group=of.group, reference=of.reference, projection=of.projection
    )


@documented_reader
def sparda_summary(adata: AnnData, *, key: str = "sparda") -> pd.DataFrame:
    """Read how much the populations differ along each projection, by how many features, and the p-values.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    key

    Returns
    -------
    One row per comparison and projection; columns `group`, `reference`, `projection` (from 1), `objective` (the
    divergence), `share` (of the objectives of all projections of the comparison), `n_features`, `pval` and
    `certificate` (upper bound of the objective over the objective); the last two NaN where not computed.

    Where `n_features` was chosen: `at_edge`, `"low"` or `"high"` if it is the first or the last number tried;
    `flat_from` and `flat_to`, the range of numbers around it with a held-out divergence within one standard error;
    `held_out_pval`, of the held-out divergence against permuted labels (at least .025; NaN with `sample_key`); and
    `note`, what is undecided about the choice, in words. Empty or NaN otherwise.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10, n_permutations=19)
    >>> dn.get.sparda_summary(adata)[["group", "reference", "n_features", "pval"]].values.tolist()
    [['B', 'A', 10, 0.05]]
    """
    found = entry(adata, SpardaKeys(key))
    rows = _comparisons(found, None)

    def flat(name: str) -> Any:
        return np.asarray(found[name]).ravel() if name in found else np.nan

    return pd.DataFrame(
        {
            **{name: [getattr(row, name) for row in rows] for name in ("group", "reference", "projection")},
            **{name: flat(name) for name in ("objective", "share", "n_features", "pval", "certificate")},
            **_choice_columns(found),
        }
    )


def _choice_columns(found: Any) -> dict[str, Any]:
    given = {"at_edge": "", "flat_from": np.nan, "flat_to": np.nan, "held_out_pval": np.nan, "note": ""}
    chosen = found.get("choice", {})
    return {name: np.asarray(chosen[name]) if name in chosen else default for name, default in given.items()}


@documented_reader
def sparda_path(adata: AnnData, *, key: str = "sparda") -> pd.DataFrame:
    """Read the divergence for every number of features.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    key

    Returns
    -------
    One row per number of features `k` (and comparison and projection); columns `group`, `reference`,
    `projection`, `k`, `objective`, `held_out` and `held_out_sd` (mean and standard deviation of the divergence
    between held-out observations over folds), `chance` (mean with permuted labels of held-out observations; these
    three are NaN where the number was given) and `chosen`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=500, n_features=60)
    >>> dn.tl.sparda(adata, "condition")
    >>> path = dn.get.sparda_path(adata)
    >>> path.loc[path["chosen"], "k"].tolist()
    [10]
    """
    found = entry(adata, SpardaKeys(key))
    path = found["path"]
    k = np.asarray(path["k"])
    names = ("objective", "held_out", "held_out_sd", "chance")
    curves = {name: np.asarray(path[name]).reshape(-1, len(k)) for name in names if name in path}
    chosen = np.asarray(path["chosen"]).ravel()
    tables = []
    for each in _comparisons(found, None):
        curve = pd.DataFrame({"k": k, **{name: values[each.place] for name, values in curves.items()}})
        curve["chosen"] = k == chosen[each.place]
        tables.append(labelled(curve, group=each.group, reference=each.reference, projection=each.projection))
    return pd.concat(tables, ignore_index=True)


@documented_reader
def sparda_projection(
    adata: AnnData, *, group: str | None = None, projection: int = 1, key: str = "sparda"
) -> pd.DataFrame:
    """Read where every observation lies along a projection.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
    projection
        Which of its projections, from 1.
    key

    Returns
    -------
    One row per observation (and comparison), in the order of `adata.obs_names`; columns `value`, `condition`
    and `side`: `"group"`, `"reference"`, or missing for an observation of neither. With several comparisons,
    `group` and `reference` name them.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> dn.get.sparda_projection(adata)["side"].value_counts(sort=False).to_dict()
    {'group': 200, 'reference': 200}
    """
    keys = SpardaKeys(key)
    found = entry(adata, keys)
    n_projections = np.asarray(found["objective"]).shape[1]
    validate.count("projection", projection, at_most=n_projections, why=f"{n_projections} found")
    conditions = validate.conditions(adata, str(found["params"]["groupby"]))
    values = pd.DataFrame(
        np.asarray(slot(adata, keys, "obsm", keys.obsm)), index=adata.obs_names, columns=list(found["columns"])
    )
    wanted = [each for each in _comparisons(found, group) if each.projection == projection]
    tables = []
    for each in wanted:
        along = pd.DataFrame(
            {"value": values[each.column].to_numpy(), "condition": conditions, "side": _sides(conditions, each)},
            index=adata.obs_names,
        )
        several = {"group": each.group, "reference": each.reference} if len(wanted) > 1 else {}
        tables.append(labelled(along, **several))
    return stacked(tables)


def _sides(conditions: pd.Categorical, of: Comparison) -> pd.Categorical:
    names = np.asarray(conditions.astype(object))
    reference = ~pd.isna(names) & (names != of.group) if of.against_rest else names == of.reference
    codes = np.where(names == of.group, 0, np.where(reference, 1, -1))
    return pd.Categorical.from_codes(codes, ["group", "reference"])


def _comparisons(found: Any, group: object) -> list[Comparison]:
    """List every projection of every comparison; of one group where it is named."""
    pairs, columns = found["pairs"], found["columns"]
    groups = [str(g) for g in pairs["group"]]
    known_group("group", group, groups)
    n_projections = np.asarray(found["objective"]).shape[1]
    every = []
    for i, (ours, theirs, rest) in enumerate(zip(groups, pairs["reference"], pairs["against_rest"], strict=True)):
        for r in range(n_projections):
            place = i * n_projections + r
            every.append(Comparison(ours, str(theirs), bool(rest), r + 1, place, str(columns[place])))
    return [each for each in every if group is None or each.group == str(group)]
