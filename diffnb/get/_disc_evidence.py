"""The evidence on which `tl.disc` named groups, or named none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import replayed
from .._keys import BACKGROUND_GROUP, DiscKeys
from ..core.disc import MIN_PERMUTATIONS
from ._common import entry, slot
from ._docs import documented_reader


@documented_reader
def disc_evidence(adata: AnnData, *, key: str = "disc") -> pd.DataFrame:
    """Read the evidence of every condition for a leading vector, without which no group is named.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    key

    Returns
    -------
    One row per condition. Columns:

    - `n_groups`: how many groups are named;
    - `tested`: whether they needed evidence, which they do unless their number was given (`n_clusters`);
    - `accepted`: whether the evidence suffices;
    - `pval`: adjusted for the number of conditions;
    - `sigma`: the largest σ, or the agreement of the samples where each of them was analysed separately;
    - `n_permutations`, `null_low`, `null_high`: permutations of the labels that were drawn, and the range of their σ;
    - `note`: all of it as a sentence.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.get.disc_evidence(adata)[["n_groups", "tested", "accepted"]].values.tolist()
    [[2, True, True], [2, True, True]]
    """
    table = _measured(adata, key)
    edges = [str(note) for note in entry(adata, DiscKeys(key)).get("notes", [""] * len(table))]
    sentences = [_note(row) for row in table.to_dict("records")]
    return table.assign(note=["; ".join(filter(None, both)) for both in zip(sentences, edges, strict=True)])


def question_of(options: Mapping[str, Any], /) -> str:
    """Return the question that `tl.disc` answers with these options; an explicit standardization decides."""
    standardize = options["standardize"]
    if standardize == "auto":
        return str(options["question"])
    return "relations" if standardize == "within" else "any difference"


def answered_question(adata: AnnData, key: str) -> str:
    """Return the question that stored results answer."""
    return question_of(replayed(entry(adata, DiscKeys(key))))


def _measured(adata: AnnData, key: str) -> pd.DataFrame:
    keys = DiscKeys(key)
    found = entry(adata, keys)
    conditions = [str(g) for g in found["groups"]]
    named = [_n_groups(slot(adata, keys, "var", str(column))) for column in found["group_columns"]]
    table = pd.DataFrame({"n_groups": named}, index=pd.Index(conditions, name="group"))
    naming = found.get("naming")
    if naming is None:
        untested = {"tested": False, "accepted": False, "pval": np.nan, "sigma": np.asarray(found["sigma"])[:, 0]}
        return table.assign(**untested, n_permutations=0, null_low=np.nan, null_high=np.nan)
    null = np.asarray(naming["sigma_null"]).reshape(-1, len(conditions))
    return table.assign(
        tested=True,
        accepted=np.asarray(naming["accepted"], dtype=bool),
        pval=np.asarray(naming["pvals"]),
        sigma=np.asarray(naming["sigma"]),
        n_permutations=len(null),
        null_low=null.min(axis=0) if len(null) else np.nan,
        null_high=null.max(axis=0) if len(null) else np.nan,
    )


def _n_groups(labels: pd.Series) -> int:
    return int(labels[labels.notna() & (labels != BACKGROUND_GROUP)].nunique())


def _note(row: Mapping[Hashable, Any]) -> str:
    n_groups = row["n_groups"]
    named = "1 group is named" if n_groups == 1 else f"{n_groups} groups are named"
    if not row["tested"]:
        return f"{named} without a test, since their number was given"
    if n_groups:
        return f"{named}, p = {row['pval']:.2g} ({_compared(row)})"
    return f"no group is named: {_reason(row)}"


def _reason(row: Mapping[Hashable, Any]) -> str:
    if row["accepted"]:
        return (
            f"σ is larger than chance explains, p = {row['pval']:.2g} ({_compared(row)}), but no features stand out"
            " from the others"
        )
    if row["n_permutations"] < MIN_PERMUTATIONS:
        return "the samples are too few to permute their labels"
    return f"σ is not larger than chance explains, p = {row['pval']:.2g} ({_compared(row)})"


def _compared(row: Mapping[Hashable, Any]) -> str:
    low, high, n = row["null_low"], row["null_high"], row["n_permutations"]
    return f"σ {row['sigma']:.2g}; {low:.2g} to {high:.2g} in {n} permutations of the labels"
