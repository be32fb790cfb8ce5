"""Correlations between features in every condition, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import pull
from .._keys import BACKGROUND_GROUP
from ..core.arrays.gram_stats import correlations
from ..core.typing import Bools, Floats, Ints
from ._conditions import DiscCondition, compared_conditions, disc_conditions, disc_params
from ._docs import documented_reader


@documented_reader
def disc_graph(
    adata: AnnData,
    *,
    group: str | None = None,
    n_features: int = 200,
    layer: str | None = None,
    key: str = "disc",
) -> pd.DataFrame:
    """Compute the correlations between the leading features in every condition, and their differences.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition whose scores and feature groups choose and order the features; those of all conditions by
        default.
    n_features
        At most this many features, those with the highest scores of each condition.
    layer
    key

    Returns
    -------
    A square table per condition, stacked: rows have the levels `group` (the condition), `feature_group` and
    `feature`, columns the levels `statistic` and `feature`. `table["correlation"].loc["A"]` holds the
    correlations in condition A, `table["difference"].loc["A"]` their difference from the mean over the other
    conditions. Features are sorted by feature group, the groups of the first condition first and the background
    last; a feature that belongs to groups of several conditions is listed in that of the first.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> table = dn.get.disc_graph(adata, n_features=100)
    >>> table["correlation"].loc["A"].shape
    (100, 100)
    """
    validate.count("n_features", n_features, at_least=2)
    names, params = compared_conditions(adata, key), disc_params(adata, key)
    found = disc_conditions(adata, group, key)
    chosen = _leading_features(found, n_features)
    data = pull(
        adata,
        params["groupby"],
        groups=names,
        layer=params.get("layer") if layer is None else layer,
        mask_var=chosen,
        sample_key=params.get("sample_key"),
        covariates=params.get("covariates"),
    )
    labels = _first_groups(found)[data.kept]
    order = _by_group(labels, found)
    matrices = [each[np.ix_(order, order)] for each in correlations(data.matrices)]
    return _stacked(names, matrices, labels[order], adata.var_names[data.kept][order])


def _leading_features(found: Sequence[DiscCondition], n_features: int) -> Bools:
    """Choose features by their best rank in any condition, so that each condition is represented."""
    ranks = np.full(found[0].analysed.size, np.inf)
    for condition in found:
        rank = np.empty(len(condition.table))
        rank[np.argsort(-condition.table["score"].to_numpy(), kind="stable")] = np.arange(len(rank))
        ranks[condition.analysed] = np.minimum(ranks[condition.analysed], rank)
    n_features = min(n_features, int(np.isfinite(ranks).sum()))
    chosen = np.zeros(ranks.size, dtype=bool)
    chosen[np.argsort(ranks, kind="stable")[:n_features]] = True
    return chosen


def _first_groups(found: Sequence[DiscCondition]) -> np.ndarray:
    """Feature group of every feature, that of the first condition in which it belongs to one."""
    labels = np.full(found[0].analysed.size, BACKGROUND_GROUP, dtype=object)
    for condition in found[::-1]:
        own = condition.table["feature_group"].astype(str).to_numpy()
        labels[np.flatnonzero(condition.analysed)[own != BACKGROUND_GROUP]] = own[own != BACKGROUND_GROUP]
    return labels


def _by_group(labels: np.ndarray, found: Sequence[DiscCondition]) -> Ints:
    ranks = {name: i for i, name in enumerate([g for c in found for g in c.groups] + [BACKGROUND_GROUP])}
    return np.argsort([ranks[name] for name in labels], kind="stable")


def _stacked(names: Sequence[str], matrices: Sequence[Floats], labels: np.ndarray, features: pd.Index) -> pd.DataFrame:
    blocks = []
    for m, own in enumerate(matrices):
        others = np.mean([c for i, c in enumerate(matrices) if i != m], axis=0)
        blocks.append(np.hstack([own, own - others]))
    rows = pd.MultiIndex.from_tuples(
        [(name, group, feature) for name in names for group, feature in zip(labels, features, strict=True)],
        names=["group", "feature_group", "feature"],
    )
    columns = pd.MultiIndex.from_product([["correlation", "difference"], features], names=["statistic", "feature"])
    return pd.DataFrame(np.vstack(blocks), index=rows, columns=columns)
