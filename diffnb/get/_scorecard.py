"""Table of what `tl.scorecard` found."""

from __future__ import annotations

import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import ScorecardKeys
from ..core.scorecard import KINDS
from ._common import entry


def scorecard(
    adata: AnnData, *, group: str | None = None, reference: str | None = None, key: str = "scorecard"
) -> pd.DataFrame:
    """Read by what every feature differs between conditions.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard`.
    group
        A condition that was compared with another; all by default.
    reference
        The condition it was compared with; all by default.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature (and pair of conditions), in the order of `adata.var_names`; columns `group`,
    `reference`, `stat`, `pval` and `pval_adj` of each of `mean`, `spread`, `distribution` and `connectivity`
    (`mean_stat`, …), and `kind`. Features that took no part are missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> table = dn.get.scorecard(adata)
    >>> table[["group", "reference"]].drop_duplicates().values.tolist()
    [['B', 'A']]
    """
    found = entry(adata, key, "tl.scorecard(adata, groupby)", ("pairs", "params"))["pairs"]
    pairs = [tuple(map(str, p)) for p in zip(found["group"], found["reference"], found["columns"], strict=True)]
    _refuse_unknown("group", group, [p[0] for p in pairs])
    _refuse_unknown("reference", reference, [p[1] for p in pairs])
    wanted = [p for p in pairs if group in (None, p[0]) and reference in (None, p[1])]
    if not wanted:
        raise ValueError(
            f"group={group!r} was not compared with reference={reference!r}; there are"
            f" {validate.quoted([f'{g} vs {r}' for g, r, _ in pairs])}."
        )
    stored: pd.DataFrame = adata.varm[ScorecardKeys(key).varm]
    names = [f"{kind}_{name}" for kind in KINDS for name in ("stat", "pval", "pval_adj")]
    tables: list[pd.DataFrame] = []
    for ours, theirs, prefix in wanted:
        table = stored[[f"{prefix}_{name}" for name in [*names, "kind"]]].set_axis([*names, "kind"], axis=1)
        table = table.set_axis(adata.var_names, axis=0)
        table.insert(0, "group", ours)
        table.insert(1, "reference", theirs)
        tables.append(table)
    return pd.concat(tables) if len(tables) > 1 else tables[0]


def _refuse_unknown(name: str, value: object, known: list[str]) -> None:
    if value is not None and value not in known:
        known = list(dict.fromkeys(known))
        raise ValueError(
            f"{name}={value!r} was not compared as such; there are {validate.quoted(known)}."
            f"{validate.nearest(value, known)}"
        )
