"""The groups of features that `tl.disc` named, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import BACKGROUND_GROUP, DiscKeys, follows_global_factor
from ._common import entry
from ._disc import disc
from ._docs import documented_reader

#: features that are listed for a group
N_LISTED = 5
#: column of `var` that tells modalities apart
MODALITY = "modality"


COLUMNS = (
    "group",
    "n_features",
    "share",
    "cohesion",
    "cohesion_elsewhere",
    "membership",
    "pval",
    "tested",
    "global_factor",
    "features",
)


@documented_reader
def disc_groups(adata: AnnData, *, group: str | None = None, key: str = "disc") -> pd.DataFrame:
    """Read the named groups of features: their size, their evidence, and which columns of `obs` they follow.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    key

    Returns
    -------
    One row per named group; none where nothing was named. Columns:

    - `group`: the condition; `n_features`, and `share` of all features that were used;
    - `cohesion`, `cohesion_elsewhere`: mean correlation between the features, in the condition and in the one of the
      others in which it is largest;
    - `membership`: mean over the features of 1 − their local false discovery rate;
    - `pval`, `tested`: evidence for a leading vector in the condition (see `n_clusters` of :func:`diffnb.tl.disc`);
      not tested where the number of groups was given;
    - `global_factor`: more than a third of 100 or more features, which a cell type, depth, motion or illumination
      explains more often than a mechanism of few features;
    - `features`: those with the largest membership, or score;
    - `eta2_…`: share of the variance of the group's mean, within the condition, that a column of `obs` explains (r²
      for measurements); `auroc_…` for columns with two levels;
    - `modality_…`: share of each modality among the features, where :func:`diffnb.datasets.from_mudata` has put
      several next to each other.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.get.disc_groups(adata)[["group", "n_features"]].values.tolist()
    [['A', 25], ['A', 25], ['B', 25], ['B', 25]]
    """
    found = entry(adata, DiscKeys(key))
    table = disc(adata, group=group, key=key)
    rows = {
        str(name): _described(str(name), members, table, found)
        for name, members in table.groupby("feature_group", observed=True, sort=False)
        if str(name) != BACKGROUND_GROUP
    }
    names = sorted(rows, key=lambda name: _place(name, found))
    described = pd.DataFrame([rows[name] for name in names], index=pd.Index(names, name="feature_group"))
    if names:
        described = described.join(_modalities(adata, table, names))
    return described.reindex(columns=[*COLUMNS, *(c for c in described.columns if c not in COLUMNS)])


def _modalities(adata: AnnData, table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Share of each modality in every group; no columns where there is only one modality."""
    if MODALITY not in adata.var.columns or adata.var[MODALITY].nunique() < 2:
        return pd.DataFrame(index=names)
    modality = adata.var[MODALITY].astype(str).reindex(table.index)
    shares = pd.crosstab(table["feature_group"].astype(str).to_numpy(), modality.to_numpy(), normalize="index")
    columns = [str(name) for name in pd.unique(adata.var[MODALITY].astype(str)) if name in shares.columns]
    return shares.reindex(index=names, columns=columns, fill_value=0.0).add_prefix(f"{MODALITY}_")


def _place(name: str, found: Mapping[str, Any]) -> int:
    listed = found.get("feature_groups")
    return [str(n) for n in listed["name"]].index(name) if listed is not None else 0


def _described(name: str, members: pd.DataFrame, table: pd.DataFrame, found: Mapping[str, Any]) -> dict[str, Any]:
    condition = str(members["group"].iloc[0])
    m = [str(g) for g in found["groups"]].index(condition)
    used = int(
        (table["group"] == condition).to_numpy().sum() - table.loc[table["group"] == condition, "score"].isna().sum()
    )
    by = "membership" if "membership" in members else "score"
    leading = members.sort_values([by, "score"], ascending=False).index[:N_LISTED]
    naming = found.get("naming")
    return {
        "group": condition,
        "n_features": len(members),
        "share": len(members) / used,
        "membership": float(members["membership"].mean()) if "membership" in members else np.nan,
        "pval": np.nan if naming is None else float(np.asarray(naming["pvals"])[m]),
        "tested": naming is not None,
        "global_factor": follows_global_factor(len(members), used),
        "features": ", ".join(map(str, leading)),
        **_measured(name, m, found),
    }


def _measured(name: str, m: int, found: Mapping[str, Any]) -> dict[str, float]:
    """Read what was measured when the group was named."""
    listed = found.get("feature_groups")
    if listed is None:  # results of earlier versions
        return {}
    row = [str(n) for n in listed["name"]].index(name)
    by_condition = np.asarray(listed["cohesion"])[row]
    measured = {"cohesion": float(by_condition[m]), "cohesion_elsewhere": float(np.delete(by_condition, m).max())}
    for kind in ("eta2", "auroc") if "columns" in listed else ():
        for column, value in zip(listed["columns"], np.asarray(listed[kind])[row], strict=True):
            if np.isfinite(value):
                measured[f"{kind}_{column}"] = float(value)
    return measured
