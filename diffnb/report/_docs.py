"""Parameters of the report."""

from __future__ import annotations

from .._docs import documented

documented_report = documented(
    {
        "adata": "Annotated data, observations × features.",
    }
)
