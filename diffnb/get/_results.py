"""Which results an AnnData holds, and the calls that made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import replayed
from ._docs import documented_reader


@documented_reader
def results(adata: AnnData) -> pd.DataFrame:
    """List the results that an AnnData holds.

    Parameters
    ----------
    adata

    Returns
    -------
    One row per result. Index: `key`, the `key_added` of the call. Columns: `tool`, the function of `dn.tl` that was
    called, and `replayable`, whether its parameters are all there: a function, such as a `kernel`, is kept by its
    name only.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", key_added="mine")
    >>> dn.get.results(adata)["tool"].to_dict()
    {'mine': 'disc'}
    """
    calls = {str(key): entry["call"] for key, entry in adata.uns.items() if _is_result(str(key), entry)}
    table = {
        "tool": [str(call["tool"]) for call in calls.values()],
        "replayable": [np.size(call["functions"]) == 0 for call in calls.values()],
    }
    return pd.DataFrame(table, index=pd.Index(list(calls), name="key", dtype=object))


@documented_reader
def params(adata: AnnData, *, key: str) -> dict[str, Any]:
    """Read the arguments of the call that made a result.

    Parameters
    ----------
    adata
        Annotated data after a function of `dn.tl`.
    key

    Returns
    -------
    All arguments by name, those with their default value included, without `adata` and `copy`:
    `dn.tl.disc(adata, **params)` makes the same call again. A function, such as a `kernel`, is kept by its name
    only, with a warning: replace it by the function itself.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=3)
    >>> params = dn.get.params(adata, key="disc")
    >>> params["groupby"], params["n_components"], params["metric"]
    ('condition', 3, 'euclidean')
    >>> dn.tl.disc(adata, **params)
    """
    entry = adata.uns.get(key)
    if not _is_result(key, entry):
        there = list(results(adata).index)
        listed = f"; there are {validate.quoted(there)}" if there else ""
        raise KeyError(f"no call of dn.tl is recorded under key={key!r}{listed}.{validate.nearest(key, there)}")
    for name in np.atleast_1d(entry["call"]["functions"]):
        log.warn(
            f"params[{str(name)!r}] is the name of a function, {str(entry['params'][name])!r};"
            " replace it by the function itself to make the same call again."
        )
    return replayed(entry)


def _is_result(key: str, entry: Any) -> bool:
    call = entry.get("call") if isinstance(entry, Mapping) else None
    return isinstance(call, Mapping) and "tool" in call and str(call.get("key")) == key
