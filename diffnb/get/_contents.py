"""What an AnnData holds, in a few lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _validate as validate
from ..core.arrays.row_chunks import is_dask
from ._docs import documented_reader
from ._results import recorded

#: what the results of a tool are called, where it is not the name of the tool
_TITLES = {"disc": "DiSC", "sparda": "SPARDA", "pda": "PDA", "dufs": "DUFS", "feature_diffmap": "diffusion maps"}


@documented_reader
def contents(adata: AnnData) -> pd.DataFrame:
    """Describe what an AnnData holds.

    Parameters
    ----------
    adata

    Returns
    -------
    One row per fact; column `value`. Rows give the numbers of observations and features, what `X` and the
    layers hold, which embeddings and results there are, and the kind of features where it is known.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.get.contents(adata).loc["features", "value"]
    '250'
    """
    facts = {"observations": f"{adata.n_obs}", "features": f"{adata.n_vars}{_kind(adata)}", "X": _matrix(adata.X)}
    facts |= {f"layer {name!r}": _matrix(adata.layers[name]) for name in validate.layer_names(adata)}
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
    tools = {key: str(entry["call"]["tool"]) for key, entry in recorded(adata).items()}
    return [f"{_TITLES.get(tool, tool)} under {key!r}" for key, tool in tools.items()]
