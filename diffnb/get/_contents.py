"""What an AnnData holds, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _validate as validate
from ..core.arrays.row_chunks import is_dask

#: results that can be told by what they hold
_RESULTS = {
    "DiSC": ("sigma", "group_columns"),
    "SPARDA or PDA": ("objective", "path", "pairs"),
    "scorecard": ("pairs", "params"),
    "diffusion maps": ("eigenvalues", "groups"),
}


def contents(adata: AnnData) -> pd.DataFrame:
    """Describe what an AnnData holds.

    Parameters
    ----------
    adata
        Annotated data.

    Returns
    -------
    One row a fact; column `value`. Rows say how many observations and features there are, what `X` and the
    layers hold, which embeddings and results there are, and what features are where the data says so.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.get.contents(adata).loc["features", "value"]
    '250'
    """
    facts = {"observations": f"{adata.n_obs}", "features": f"{adata.n_vars}{_kind(adata)}", "X": _matrix(adata.X)}
    facts |= {f"layer {name!r}": _matrix(values) for name, values in adata.layers.items()}
    facts["embeddings"] = validate.quoted(adata.obsm) or "none"
    facts["results"] = ", ".join(_results(adata)) or "none yet"
    if not adata.var_names.is_unique:
        facts["names"] = "names of features repeat: call adata.var_names_make_unique() first"
    return pd.DataFrame({"value": facts})


def _kind(adata: AnnData) -> str:
    kind = str(adata.uns.get("features", {}).get("kind", ""))
    return f" ({kind})" if kind else ""


def _matrix(values: Any) -> str:
    if values is None:
        return "empty"
    if sp.issparse(values):
        size = values.shape[0] * values.shape[1]
        return f"sparse {values.dtype}, {100 * values.nnz / size if size else 0:.1f} % not zero"
    if isinstance(values, np.ndarray):
        return f"dense {values.dtype}"
    if is_dask(values):
        kind = "sparse" if sp.issparse(values._meta) else "dense"
        return f"dask, {kind} {values.dtype}, {len(values.chunks[0])} chunks of rows"
    return type(values).__name__


def _results(adata: AnnData) -> list[str]:
    found = []
    for key, value in adata.uns.items():
        for name, needs in _RESULTS.items():
            if isinstance(value, dict) and all(n in value for n in needs):
                found.append(f"{name} under {key!r}")
                break
    return found
