"""Table of what `tl.scorecard` found."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import ScorecardKeys
from ..core.scorecard import KINDS
from ._common import entry, known_group, labelled, named, stacked
from ._docs import documented_reader


@documented_reader
def scorecard(
    adata: AnnData, *, group: str | None = None, reference: str | None = None, key: str = "scorecard"
) -> pd.DataFrame:
    """Read how every feature differs between conditions.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard`.
    group
        ... One that was compared with another.
    reference
    key

    Returns
    -------
    One row per feature (and pair of conditions), in the order of `adata.var_names`; columns `group`,
    `reference`, `stat`, `pval` and `pval_adj` of each of `mean`, `spread`, `distribution` and `connectivity`
    (`mean_stat`, …), and `kind`. Excluded features are missing values. Of a trend, `group` is the dose, `reference`
    is `"trend"`, and `slope` is the change of the mean for one unit of the dose, with its 95 % interval
    (`slope_low`, `slope_high`).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> table = dn.get.scorecard(adata)
    >>> table[["group", "reference"]].drop_duplicates().values.tolist()
    [['B', 'A']]
    """
    keys = ScorecardKeys(key)
    found = entry(adata, keys)["pairs"]
    pairs = [tuple(map(str, p)) for p in zip(found["group"], found["reference"], found["columns"], strict=True)]
    for i, (name, value) in enumerate((("group", group), ("reference", reference))):
        known_group(name, value, [p[i] for p in pairs], was="was not compared as such")
    wanted = [p for p in pairs if group in (None, p[0]) and reference in (None, p[1])]
    if not wanted:
        raise ValueError(
            f"group={group!r} was not compared with reference={reference!r}; there are"
            f" {validate.quoted([f'{g} vs {r}' for g, r, _ in pairs])}."
        )
    is_trend = bool(entry(adata, keys)["params"].get("trend", False))
    tables = []
    for ours, theirs, prefix in wanted:
        columns = {**keys.columns(prefix, KINDS), **(keys.slopes(prefix) if is_trend else {})}
        tables.append(labelled(named(adata, keys, columns), group=ours, reference=theirs))
    return stacked(tables)
