"""What the parameters that several readers share mean, once."""

from __future__ import annotations

from .._docs import documented

SHARED = {
    "adata": "Annotated data.",
    "group": "A condition; all by default.",
    "key": "The `key_added` of the call.",
    "n_top": "Number of leading features of each method that count as found.",
    "prefix": 'What precedes the usual keys: `"compare_"` reads `uns["compare_disc"]`, and so on.',
}

documented_reader = documented(SHARED)
