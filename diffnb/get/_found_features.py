"""Lists of features that a call found, whatever the tool, and the features that it tested."""

from __future__ import annotations

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._keys import BACKGROUND_GROUP, DiscKeys, DiverseFeaturesKeys, DufsKeys, ScorecardKeys, SpardaKeys
from ..core.scorecard import ALPHA, KINDS
from ..core.typing import Bools
from ._common import entry, holds
from ._disc import disc
from ._dufs import diverse_features, dufs
from ._gene_sets import gene_sets
from ._scorecard import scorecard
from ._sparda import sparda


def found_features(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    """Return the lists of features of a call, or of a column of `var`, and which features it tested."""
    found = adata.uns.get(key)
    for kind, read in READERS.items():
        if holds(found, kind(key)):
            return read(adata, key)
    if key in adata.var.columns:
        return _of_column(adata, key)
    entry(adata, DiscKeys(key))
    raise AssertionError


def _of_disc(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    scores = disc(adata, key=key)["score"].notna().to_numpy().reshape(-1, adata.n_vars)
    lists = {name: np.asarray(adata.var_names.isin(own)) for name, own in gene_sets(adata, key=key).items()}
    return lists, np.asarray(scores.any(axis=0))


def _of_scorecard(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    lists, tested = {}, np.zeros(adata.n_vars, dtype=bool)
    for (group, reference), table in scorecard(adata, key=key).groupby(["group", "reference"], sort=False):
        for kind in KINDS:
            pval_adj = table[f"{kind}_pval_adj"].to_numpy(dtype=float)
            tested |= np.isfinite(pval_adj)
            if (pval_adj < ALPHA).any():
                lists[f"{group} vs {reference}: {kind}"] = pval_adj < ALPHA
    return lists, tested


def _of_sparda(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    lists, tested = {}, np.zeros(adata.n_vars, dtype=bool)
    table = sparda(adata, key=key)
    for (group, reference, number), own in table.groupby(["group", "reference", "projection"], sort=False):
        rows = own.reindex(adata.var_names)
        tested |= rows["weight"].notna().to_numpy()
        lists[f"{group} vs {reference}, projection {number}"] = rows["selected"].to_numpy(dtype=bool)
    return lists, tested


def _of_dufs(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    rows = dufs(adata, key=key).reindex(adata.var_names)
    return {"selected": rows["selected"].to_numpy(dtype=bool)}, rows["gate"].notna().to_numpy()


def _of_diverse_features(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    rows = diverse_features(adata, key=key).reindex(adata.var_names)
    return {"selected": rows["selected"].to_numpy(dtype=bool)}, rows["smoothness"].notna().to_numpy()


def _of_column(adata: AnnData, key: str) -> tuple[dict[str, Bools], Bools]:
    column = adata.var[key]
    if column.dtype == bool:
        return {key: column.to_numpy()}, np.ones(adata.n_vars, dtype=bool)
    names = [str(name) for name in dict.fromkeys(column[column.notna()])]
    if len(names) > adata.n_vars // 2:
        raise ValueError(
            f"key={key!r} is a column of adata.var with {len(names)} different values ({validate.quoted(names, 3)});"
            " lists of features are categories, or booleans."
        )
    labels = column.astype(str).to_numpy()
    return {name: labels == name for name in names if name != BACKGROUND_GROUP}, column.notna().to_numpy()


READERS = {
    DiscKeys: _of_disc,
    SpardaKeys: _of_sparda,
    ScorecardKeys: _of_scorecard,  # after SPARDA, whose entry holds pairs of conditions, too
    DufsKeys: _of_dufs,
    DiverseFeaturesKeys: _of_diverse_features,
}
