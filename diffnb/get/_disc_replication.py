"""Table of how well halves of the samples agree on what `tl.disc` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import BACKGROUND_GROUP, DiscKeys
from ._common import entry, slot
from ._docs import documented_reader

#: columns of the table, as they are stored
MEASURES = ("replication", "chance", "chance_95", "replicates")


@documented_reader
def disc_replication(adata: AnnData, *, key: str = "disc") -> pd.DataFrame:
    """Read how well vectors and groups replicate in halves of the samples.

    Samples are split into halves up to 20 times, and vectors and groups of both halves are compared. Conditions share
    structure, on which halves agree whatever the labels; so the same is done with labels of conditions permuted
    within samples (between them, where each sample belongs to one condition). A finding *replicates* if the median
    over splits reaches the 95 % quantile of these permutations and is at least one third, or one half for a named
    group. Where halves agree to a third, the reliability of the vector of all samples is one half (Spearman–Brown).

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc` with `sample_key`.
    key

    Returns
    -------
    One row per condition and vector, condition, and condition and named group; columns `group` (the condition), `kind`,
    `component` (from 1, for vectors), `feature_group` (for groups), `replication`, `chance` (median of the
    permutations), `chance_95`, `replicates`, `n_splits` and `n_samples`. `replication` is, for `kind` `"vector"`,
    the absolute cosine; for `"partition"`, the adjusted Rand index of all groups; for `"feature_group"`, the share of
    members that halves have in common, corrected for that of random sets (Cohen's κ), where each half selects as many
    features at the place of the group as the group has. Empty where nothing was computed: without `sample_key`, with
    fewer than four samples, or (if each sample belongs to one condition) without a named group.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nback_fmri(n_subjects=12)
    >>> dn.tl.disc(adata, "condition", sample_key="subject", standardize="within", n_components=2)
    >>> dn.get.disc_replication(adata).query("kind == 'vector'")["component"].tolist()
    [1, 2, 1, 2]
    """
    keys = DiscKeys(key)
    found = entry(adata, keys)
    stored = found.get("replication")
    groups = [str(g) for g in found["groups"]]
    names = [_named_groups(slot(adata, keys, "var", str(column))) for column in found["group_columns"]]
    rows = [] if stored is None else _rows(stored, groups, names)
    columns = ["group", "kind", "component", "feature_group", *MEASURES, "n_splits", "n_samples"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"component": "Int64", "replicates": bool, "n_splits": int, "n_samples": int})


def _named_groups(labels: pd.Series[Any]) -> list[str]:
    return [str(name) for name in labels.astype("category").cat.categories if name != BACKGROUND_GROUP]


def _rows(stored: Any, groups: list[str], names: list[list[str]]) -> list[dict[str, Any]]:
    n_vectors = np.asarray(stored["vectors"]["replication"]).shape[1]
    counts = {"n_splits": int(stored["n_splits"]), "n_samples": int(stored["n_samples"])}
    rows: list[dict[str, Any]] = []
    for m, group in enumerate(groups):
        rows += [
            {"group": group, "kind": "vector", "component": i + 1, **_measured(stored["vectors"], m, i), **counts}
            for i in range(n_vectors)
        ]
        if names[m]:
            rows.append({"group": group, "kind": "partition", **_measured(stored["partitions"], m), **counts})
        rows += [
            {
                "group": group,
                "kind": "feature_group",
                "feature_group": name,
                **_measured(stored["groups"], m, g),
                **counts,
            }
            for g, name in enumerate(names[m])
        ]
    return rows


def _measured(stored: Any, *place: int) -> dict[str, Any]:
    return {name: np.asarray(stored[name])[place] for name in MEASURES}
