"""Pairs of features whose correlation differs between conditions, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, pull, read_covariates
from .._keys import BACKGROUND_GROUP, ScorecardKeys
from ..core.scorecard import CLASSES, EdgeOptions, Edges, fit_edges
from ..core.typing import Bools
from ._common import holds, known_group
from ._comparisons import as_names, compared_pairs, pair_design, run_conditions, run_layer, run_params
from ._conditions import disc_conditions
from ._docs import documented_reader

#: adjusted p-value above which an edge is `"unchanged"`
ALPHA = 0.05


@documented_reader
def edges(
    adata: AnnData,
    *,
    group: str | None = None,
    condition: str | None = None,
    reference: str | None = None,
    max_pval_adj: float = 0.05,
    min_difference: float = 0.0,
    max_edges: int = 10_000,
    layer: str | None = None,
    n_jobs: int | None = None,
    key: str = "disc",
) -> pd.DataFrame:
    """Compute the pairs of features whose correlation differs between conditions.

    Conditions, samples, covariates, layer and features are those of the call that made the results. With its
    `sample_key`, samples are the units: Fisher z of every sample, t tests of their means with moderated variances,
    and samples that hold both conditions compared with themselves. Without it, observations are the units, which
    overstates the evidence where they come from few donors; the variance of a correlation is then estimated for
    every pair and is at least that of normal data. p-values are adjusted over all pairs (Benjamini–Hochberg).

    Only the pairs that differ are kept, so that thousands of features need little memory. A group was chosen
    because its correlations differ: p-values within it are honest only on data that did not find it.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` or :func:`diffnb.tl.scorecard`.
    group
        A feature group, such as `"A1"`: the pairs of its features. All features by default.
    condition
        ... By default every condition is compared with those before it in their order.
    reference
    max_pval_adj
        ... 1 for all pairs.
    min_difference
    max_edges
    layer
    n_jobs
    key
        ... That of `tl.disc`, or of `tl.scorecard`.

    Returns
    -------
    One row per pair, the most significant first; columns:

    - `condition`, `reference`, `feature_1`, `feature_2`;
    - `r` in the condition and `r_reference`, each with its 95 % interval (`r_low`, `r_high`, `r_reference_low`, …);
    - `difference` of the two, and its interval;
    - `pval`, `pval_adj`;
    - `class`: `"gained"` in the condition, `"lost"`, `"reversed"` (of opposite sign, both intervals without 0), or
      `"unchanged"` where the adjusted p-value is .05 or more.

    `table.attrs` holds `n_tested` and `n_found`, the number of pairs tested and of those that fulfil the conditions.

    References
    ----------
    Smyth, Stat. Appl. Genet. Mol. Biol. 2004, for moderated variances; Zou, Psychol. Methods 2007, for the interval
    of a difference.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> table = dn.get.edges(adata, group="A1")
    >>> str(table["class"].value_counts().idxmax())
    'lost'
    """
    options = _options(max_pval_adj, min_difference, max_edges)
    n_jobs = validate.jobs(n_jobs)
    params = run_params(adata, key)
    _refuse_counts(params, layer)
    data = pull(
        adata,
        params["groupby"],
        groups=run_conditions(adata, key),
        layer=run_layer(params, layer),
        mask_var=_features(adata, group, params, key),
        sample_key=params.get("sample_key"),
        covariates=as_names(params.get("covariates")),
    )
    n_covariates = _n_covariate_columns(adata, data, params)
    tables = [
        _compared(adata, data, pair, options, n_covariates, n_jobs)
        for pair in compared_pairs(data.groups, condition, reference)
    ]
    table = pd.concat(tables, ignore_index=True)
    table.attrs = {name: sum(each.attrs[name] for each in tables) for name in ("n_tested", "n_found")}
    return table


def _options(max_pval_adj: float, min_difference: float, max_edges: int) -> EdgeOptions:
    level = validate.positive("max_pval_adj", max_pval_adj)
    if level > 1:
        raise ValueError(f"max_pval_adj={max_pval_adj!r} must be 1 at most.")
    smallest = validate.positive("min_difference", min_difference, zero=True)
    return EdgeOptions(level, smallest, validate.count("max_edges", max_edges))


def _refuse_counts(params: Mapping[str, Any], layer: str | None) -> None:
    counts = params.get("counts")
    if counts is not None and layer is None:
        raise ValueError(
            f"counts={counts!r} of the call corrects correlations for counting noise, and no interval of a corrected"
            " correlation is known here. Name the layer to correlate instead, for example layer='X' for adata.X; where"
            " conditions differ in depth, make it with pp.match_depth."
        )


def _n_covariate_columns(adata: AnnData, data: Pulled, params: Mapping[str, Any]) -> int:
    """Count the degrees of freedom that the covariates of the call took from every condition."""
    found = read_covariates(adata, as_names(params.get("covariates")), rows=data.rows)
    return sum(covariate.n_columns for covariate in found)


def _features(adata: AnnData, group: str | None, params: Mapping[str, Any], key: str) -> Bools:
    """Return the features of a group, or all that the call used."""
    if holds(adata.uns.get(key), ScorecardKeys(key)):
        if group is not None:
            raise ValueError(f"group={group!r} names a feature group, and tl.scorecard makes none; use key='disc'.")
        mask = params.get("mask_var")
        if mask is None:
            return np.ones(adata.n_vars, dtype=bool)
        return np.asarray(adata.var[mask] if isinstance(mask, str) else mask, dtype=bool)
    found = disc_conditions(adata, None, key)
    analysed = np.logical_or.reduce([condition.analysed for condition in found])
    if group is None:
        return np.asarray(analysed)
    names = [name for condition in found for name in condition.groups]
    known_group("group", group, names, was="is not a feature group")
    member = np.zeros(adata.n_vars, dtype=bool)
    for condition in found:
        labels = condition.table["feature_group"].astype(str).to_numpy()
        member[np.flatnonzero(condition.analysed)[(labels == str(group)) & (labels != BACKGROUND_GROUP)]] = True
    return member


def _compared(
    adata: AnnData, data: Pulled, pair: tuple[int, int], options: EdgeOptions, n_covariates: int, n_jobs: int | None
) -> pd.DataFrame:
    i, j = pair
    samples = pair_design(data, pair)
    found = fit_edges(
        data.matrices[i], data.matrices[j], options, samples=samples, n_covariates=n_covariates, n_jobs=n_jobs
    )
    if found.n_found > len(found.first):
        log.info(f"{len(found.first)} of {found.n_found} pairs of features are returned; raise max_edges for more")
    return _table(found, data.groups[i], data.groups[j], adata.var_names[data.kept])


def _table(found: Edges, condition: str, reference: str, names: pd.Index) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "condition": condition,
            "reference": reference,
            "feature_1": np.asarray(names)[found.first],
            "feature_2": np.asarray(names)[found.second],
            "r": found.correlation[0],
            "r_low": found.low[0],
            "r_high": found.high[0],
            "r_reference": found.correlation[1],
            "r_reference_low": found.low[1],
            "r_reference_high": found.high[1],
            "difference": found.difference,
            "difference_low": found.difference_low,
            "difference_high": found.difference_high,
            "pval": found.pval,
            "pval_adj": found.pval_adj,
            "class": pd.Categorical(found.classes(ALPHA), categories=list(CLASSES)),
        }
    )
    table.attrs = {"n_tested": found.n_tested, "n_found": found.n_found}
    return table
