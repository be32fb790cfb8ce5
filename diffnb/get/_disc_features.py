"""All results about the features of one condition, in one table."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData

from .._keys import ScorecardKeys
from ._disc import disc
from ._docs import documented_reader
from ._scorecard import scorecard


@documented_reader
def disc_features(
    adata: AnnData, *, group: str | None = None, key: str = "disc", scorecard_key: str = "scorecard"
) -> pd.DataFrame:
    """Read the features of one condition: group, score, membership, stability, vectors, and how each differs.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`, and after :func:`diffnb.tl.scorecard` for the kinds.
    group
        A condition; the first by default.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    scorecard_key
        The `key_added` of :func:`diffnb.tl.scorecard`; left out where there is nothing under it.

    Returns
    -------
    One row per feature, in the order of `adata.var_names`; columns `feature_group`, `score`, and where they were
    computed `subgroup`, `membership` and `stability`, `kind` (`kind_vs_…` where several
    conditions were compared with this one), `vector_1` ….

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition", n_components=2)
    >>> dn.tl.scorecard(adata, "condition")
    >>> dn.get.disc_features(adata, group="B").columns.tolist()
    ['feature_group', 'score', 'membership', 'kind', 'vector_1', 'vector_2']
    """
    table = disc(adata, group=group, key=key)
    name = str(table["group"].iloc[0])
    table = table[table["group"] == name]
    leading = [c for c in ("feature_group", "subgroup", "score", "membership", "stability") if c in table.columns]
    kinds = _kinds(adata, name, scorecard_key)
    return pd.concat([table[leading], kinds, table.drop(columns=["group", *leading])], axis=1)


def _kinds(adata: AnnData, group: str, key: str) -> pd.DataFrame:
    if ScorecardKeys(key).uns not in adata.uns:
        return pd.DataFrame(index=adata.var_names)
    cards = scorecard(adata, key=key)
    mine = cards[(cards["group"] == group) | (cards["reference"] == group)]
    pairs = [rows for _, rows in mine.groupby(["group", "reference"], sort=False, observed=True)]
    if len(pairs) == 1:
        return pairs[0][["kind"]]
    others = [str(set(rows[["group", "reference"]].iloc[0]).difference([group]).pop()) for rows in pairs]
    return pd.DataFrame(
        {f"kind_vs_{other}": rows["kind"].array for other, rows in zip(others, pairs, strict=True)},
        index=adata.var_names,
    )
