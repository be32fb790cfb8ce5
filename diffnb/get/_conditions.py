"""Results of `tl.disc` condition by condition, as figures and other readers need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import BACKGROUND_GROUP, DiscKeys
from ..core.typing import Bools
from ._common import entry
from ._disc import disc


@dataclass(frozen=True, slots=True)
class DiscCondition:
    """Results of one condition, without the features that were excluded from the analysis."""

    name: str
    table: pd.DataFrame
    n_leading: int
    #: one entry per feature of `adata.var`: whether it is a row of the table
    analysed: Bools

    @property
    def n_vectors(self) -> int:
        """Number of vectors that were computed."""
        return int(self.table.columns.str.fullmatch(r"vector_\d+").sum())

    @property
    def groups(self) -> list[str]:
        """Feature groups in their order, without the background."""
        present = self.table["feature_group"].cat.remove_unused_categories().cat.categories
        return [str(g) for g in present if g != BACKGROUND_GROUP]

    def ranked(self) -> pd.DataFrame:
        """Features sorted by score, the highest first."""
        return self.table.sort_values("score", ascending=False, kind="stable")


def disc_conditions(adata: AnnData, group: str | None, key: str) -> list[DiscCondition]:
    """Read one condition, or all of them."""
    names = compared_conditions(adata, key)
    leading = dict(zip(names, np.asarray(_summary(adata, key)["n_leading"]).tolist(), strict=True))
    wanted = names if group is None else [str(group)]
    tables = [disc(adata, group=name, key=key) for name in wanted]
    masks = [table["score"].notna().to_numpy() for table in tables]
    return [
        DiscCondition(name, table.loc[mask], int(leading[name]), mask)
        for name, table, mask in zip(wanted, tables, masks, strict=True)
    ]


def compared_conditions(adata: AnnData, key: str) -> list[str]:
    """Names of the conditions that `tl.disc` compared, in its order."""
    return [str(g) for g in _summary(adata, key)["groups"]]


def disc_params(adata: AnnData, key: str) -> Mapping[str, Any]:
    """Parameters that `tl.disc` was called with."""
    params: Mapping[str, Any] = _summary(adata, key)["params"]
    return params


def _summary(adata: AnnData, key: str) -> Any:
    return entry(adata, DiscKeys(key))
