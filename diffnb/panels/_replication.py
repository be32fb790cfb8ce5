"""The line of a panel that tells which findings replicate in halves of the samples."""

from __future__ import annotations

import html
from typing import Any

from anndata import AnnData

from .. import get


def has_replication(adata: AnnData, key: str) -> bool:
    """Whether halves of the samples were compared."""
    return not get.disc_replication(adata, key=key).empty


def replication_line(adata: AnnData, key: str) -> str:
    """Describe the replication of the first vector and of the named groups of every condition, as HTML."""
    found = get.disc_replication(adata, key=key)
    if found.empty:
        return ""
    shown = found[(found["kind"] == "feature_group") | ((found["kind"] == "vector") & (found["component"] == 1))]
    listed = "; ".join(html.escape(_finding(row)) for row in shown.to_dict("records"))
    return f"<p>Replication in halves of {found['n_samples'].iloc[0]} samples: {listed}.</p>"


def _finding(row: dict[Any, Any]) -> str:
    name = f"{row['group']}, first vector" if row["kind"] == "vector" else f"group {row['feature_group']}"
    verdict = "replicates" if row["replicates"] else "does not replicate"
    return f"{name} {row['replication']:.2f} (chance {row['chance']:.2f}), {verdict}"
