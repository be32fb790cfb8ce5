"""What several methods found, in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from ..core.scorecard import KINDS
from ._disc import disc
from ._docs import documented_reader
from ._scorecard import scorecard
from ._sparda import sparda

#: methods in the order of columns, with the keys under which their results are read
METHODS = {
    "DiSC": "disc",
    "SPARDA": "sparda",
    "scorecard": "scorecard",
    "rank_genes_groups": "rank_genes_groups",
}


@documented_reader
def compare(adata: AnnData, *, group: str | None = None, n_top: int = 50, prefix: str = "") -> pd.DataFrame:
    """Rank every feature by each method whose results are there, and name the methods that find it.

    Parameters
    ----------
    adata
        Annotated data after two or more of :func:`diffnb.tl.disc`, :func:`diffnb.tl.sparda`,
        :func:`diffnb.tl.scorecard` and :func:`scanpy.tl.rank_genes_groups`.
    group
        ... A feature then has the best of its ranks over conditions and comparisons.
    n_top
    prefix

    Returns
    -------
    One row per feature, in the order of `adata.var_names`; a column of ranks (from 1) for each method, `n_methods`
    and `found_by`, the methods that have the feature among their first `n_top`. DiSC ranks by score, SPARDA by
    weight (features of weight 0 have no rank), the scorecard by its smallest adjusted p-value, scanpy by the
    size of its score.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.scorecard(adata, "condition")
    >>> table = dn.get.compare(adata, n_top=20)
    >>> table.columns.tolist()
    ['DiSC', 'scorecard', 'n_methods', 'found_by']
    """
    validate.count("n_top", n_top)
    table = _ranks(adata, group, prefix)
    found = table.le(n_top)
    table["n_methods"] = found.sum(axis=1)
    names = np.array(found.columns, dtype=object)
    table["found_by"] = [", ".join(names[row]) for row in found.to_numpy()]
    return table


@documented_reader
def compare_overlap(adata: AnnData, *, group: str | None = None, n_top: int = 50, prefix: str = "") -> pd.DataFrame:
    """Count the features that each pair of methods has in common.

    Parameters
    ----------
    adata
        Annotated data, as for :func:`diffnb.get.compare`.
    group
        ... A feature then has the best of its ranks over conditions and comparisons.
    n_top
    prefix

    Returns
    -------
    Methods × methods; on the diagonal, the number of features of a method.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.scorecard(adata, "condition")
    >>> int(dn.get.compare_overlap(adata, n_top=20).loc["DiSC", "DiSC"])
    20
    """
    validate.count("n_top", n_top)
    found = _ranks(adata, group, prefix).le(n_top).to_numpy().astype(int)
    names = _present(adata, prefix)
    return pd.DataFrame(found.T @ found, index=names, columns=names)


def _present(adata: AnnData, prefix: str) -> list[str]:
    return [method for method, key in METHODS.items() if prefix + key in adata.uns]


def _ranks(adata: AnnData, group: str | None, prefix: str) -> pd.DataFrame:
    present = _present(adata, prefix)
    if not present:
        keys = validate.quoted(prefix + key for key in METHODS.values())
        raise KeyError(f"no results under {keys}; run two or more of these methods first.")
    strength = {"DiSC": _disc, "SPARDA": _sparda, "scorecard": _scorecard, "rank_genes_groups": _genes}
    ranks: dict[str, Any] = {}
    for method in present:
        values = strength[method](adata, group, prefix + METHODS[method])
        ranks[method] = pd.Series(values, index=adata.var_names).rank(ascending=False, method="first").to_numpy()
    return pd.DataFrame(ranks, index=adata.var_names)


def _best(rows: pd.DataFrame, column: str, n_features: int) -> Any:
    """Take the largest value of each feature over conditions, which are stacked."""
    values = rows[column].to_numpy(dtype=float).reshape(-1, n_features)
    with np.errstate(all="ignore"):
        return np.where(np.isnan(values).all(axis=0), np.nan, np.nanmax(np.nan_to_num(values, nan=-np.inf), axis=0))


def _disc(adata: AnnData, group: str | None, key: str) -> Any:
    return _best(disc(adata, group=group, key=key), "score", adata.n_vars)


def _sparda(adata: AnnData, group: str | None, key: str) -> Any:
    table = sparda(adata, key=key)
    table = _of(table[table["projection"] == 1], group)
    size = table["weight"].abs().where(table["weight"] != 0)
    # rows are in the order of weights: bring them back to that of features
    best = size.groupby(level=0).max()
    return best.reindex(adata.var_names).to_numpy(dtype=float)


def _scorecard(adata: AnnData, group: str | None, key: str) -> Any:
    table = _of(scorecard(adata, key=key), group)
    pvals = table[[f"{kind}_pval_adj" for kind in KINDS]].min(axis=1)
    stats = table[[f"{kind}_stat" for kind in KINDS]].abs().max(axis=1)
    # among equal p-values (many are 0) the larger statistic goes first
    order = np.lexsort((stats.to_numpy(), -pvals.to_numpy()))
    strength = pd.Series(np.nan, index=range(len(table)))
    strength.iloc[order] = np.arange(len(table), dtype=float)
    return _best(pd.DataFrame({"strength": strength.where(pvals.notna().to_numpy())}), "strength", adata.n_vars)


def _genes(adata: AnnData, group: str | None, key: str) -> Any:
    names, scores = adata.uns[key]["names"], adata.uns[key]["scores"]
    compared = list(names.dtype.names)
    wanted = [group] if group in compared else compared
    sizes = []
    for name in wanted:
        found = pd.Series(np.abs(scores[name].astype(float)), index=names[name].astype(str))
        sizes.append(found[~found.index.duplicated()].reindex(adata.var_names).to_numpy(dtype=float))
    return _best(pd.DataFrame({"size": np.concatenate(sizes)}), "size", adata.n_vars)


def _of(table: pd.DataFrame, group: str | None) -> pd.DataFrame:
    """Select the comparisons of one condition with another, or all of them."""
    mine = (table["group"] == group) | (table["reference"] == group)
    return table[mine] if group is not None and mine.any() else table
