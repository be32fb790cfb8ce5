"""Pairs of features whose correlation differs between conditions, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, pull, read_covariates
from .._keys import BACKGROUND_GROUP, DiscKeys, ScorecardKeys
from ..core.scorecard import CLASSES, MIN_OBS_PER_SAMPLE, Design, EdgeOptions, Edges, design, fit_edges
from ..core.typing import Bools
from ._common import entry, holds, known_group
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
        Threads that work concurrently.
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
    >>> table["class"].unique().tolist()
    ['lost']
    """
    options = _options(max_pval_adj, min_difference, max_edges)
    params = _params(adata, key)
    _refuse_counts(params, layer)
    data = pull(
        adata,
        params["groupby"],
        groups=_groups(adata, key),
        layer=_layer(params, layer),
        mask_var=_features(adata, group, params, key),
        sample_key=params.get("sample_key"),
        covariates=_names(params.get("covariates")),
    )
    n_covariates = _n_covariate_columns(adata, data, params)
    tables = [
        _compared(adata, data, pair, options, n_covariates, n_jobs)
        for pair in _pairs(data.groups, condition, reference)
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


def _params(adata: AnnData, key: str) -> Mapping[str, Any]:
    """Return the stored arguments of `tl.disc`, or of `tl.scorecard` under the same key."""
    is_scorecard = holds(adata.uns.get(key), ScorecardKeys(key))
    params: Mapping[str, Any] = entry(adata, ScorecardKeys(key) if is_scorecard else DiscKeys(key))["params"]
    return params


def _groups(adata: AnnData, key: str) -> list[str] | None:
    """Names of the conditions in the order of the call."""
    found = adata.uns[key]
    if "groups" in found:
        return [str(name) for name in found["groups"]]
    pairs = found["pairs"]
    named = [str(name) for name in (*pairs["reference"], *pairs["group"])]
    order = [str(c) for c in validate.conditions(adata, found["params"]["groupby"]).categories]
    return [name for name in order if name in named]


def _refuse_counts(params: Mapping[str, Any], layer: str | None) -> None:
    counts = params.get("counts")
    if counts is not None and layer is None:
        raise ValueError(
            f"counts={counts!r} of the call corrects correlations for counting noise, and no interval of a corrected"
            " correlation is known here. Name the layer to correlate instead, for example layer='X' for adata.X; where"
            " conditions differ in depth, make it with pp.match_depth."
        )


def _layer(params: Mapping[str, Any], layer: str | None) -> str | None:
    """Name the layer to read; `"X"` stands for `adata.X`."""
    chosen = params.get("layer") if layer is None else layer
    return None if chosen == "X" else chosen


def _n_covariate_columns(adata: AnnData, data: Pulled, params: Mapping[str, Any]) -> int:
    """Count the degrees of freedom that the covariates of the call took from every condition."""
    found = read_covariates(adata, _names(params.get("covariates")), rows=data.rows)
    return sum(covariate.n_columns for covariate in found)


def _names(given: Any) -> list[str] | None:
    return None if given is None else [str(name) for name in np.atleast_1d(given)]


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


def _pairs(names: list[str], condition: str | None, reference: str | None) -> list[tuple[int, int]]:
    """Positions of condition and reference of every comparison, the later with the earlier unless they are named."""
    for argument, value in (("condition", condition), ("reference", reference)):
        known_group(argument, value, names)
    if condition is not None and condition == reference:
        raise ValueError(f"condition={condition!r} is the reference, too.")
    places = range(len(names))
    if condition is None and reference is None:
        return [(later, earlier) for earlier, later in combinations(places, 2)]
    chosen = places if condition is None else [names.index(str(condition))]
    others = places if reference is None else [names.index(str(reference))]
    return [(i, j) for i in chosen for j in others if i != j]


def _compared(
    adata: AnnData, data: Pulled, pair: tuple[int, int], options: EdgeOptions, n_covariates: int, n_jobs: int | None
) -> pd.DataFrame:
    i, j = pair
    samples = _design(data, pair)
    found = fit_edges(
        data.matrices[i], data.matrices[j], options, samples=samples, n_covariates=n_covariates, n_jobs=n_jobs
    )
    if found.n_found > len(found.first):
        log.info(f"{len(found.first)} of {found.n_found} pairs of features are returned; raise max_edges for more")
    return _table(found, data.groups[i], data.groups[j], adata.var_names[data.kept])


def _design(data: Pulled, pair: tuple[int, int]) -> Design | None:
    if not data.samples:
        return None
    found = design(*(data.samples[place] for place in pair))
    if min(found.sizes) < 2:
        names = " and ".join(repr(data.groups[place]) for place in pair)
        raise ValueError(
            f"sample_key leaves {min(found.sizes)} samples with {MIN_OBS_PER_SAMPLE} or more observations in {names};"
            " at least 2 are needed in each. Repeat the call without sample_key to take observations as units."
        )
    return found


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
