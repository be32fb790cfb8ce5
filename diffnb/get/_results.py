"""Which results an AnnData holds, and the calls that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import changes, in_memory, replayed
from .._keys import is_recorded
from ._docs import documented_reader
from ._stale import DATA


@documented_reader
def results(adata: AnnData) -> pd.DataFrame:
    """List the results that an AnnData holds.

    Parameters
    ----------
    adata

    Returns
    -------
    One row per result. Index: `key`, the `key_added` of the call. Columns: `tool`, the function of `dn.tl` that was
    called; `replayable`, whether its parameters are all there: of a function, such as a `kernel`, of other data and
    of a dictionary of sets only a description is kept; and `changed`, what of the data has changed since, an empty
    text if nothing has.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", key_added="mine")
    >>> dn.get.results(adata)["tool"].to_dict()
    {'mine': 'disc'}
    """
    found = recorded(adata)
    table = {
        "tool": [str(entry["call"]["tool"]) for entry in found.values()],
        "replayable": [np.size(entry["call"].get("functions", ())) == 0 for entry in found.values()],
        "changed": ["; ".join(changes(adata, entry[DATA])) if DATA in entry else "" for entry in found.values()],
    }
    return pd.DataFrame(table, index=pd.Index(list(found), name="key", dtype=object))


def recorded(adata: AnnData) -> dict[str, dict[str, Any]]:
    """Return the entries of `uns` that record a call, by key."""
    return {str(key): in_memory(entry) for key, entry in adata.uns.items() if is_recorded(entry, str(key))}


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
    All arguments by name, those with their default value included, without `adata`, `overwrite` and `copy`:
    `dn.tl.disc(adata, **params)` makes the same call again. Of a function, such as a `kernel`, of other data and of a
    dictionary of sets only a description is kept, with a warning: replace it by what was given.

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
    found = recorded(adata)
    if key not in found:
        listed = f"; there are {validate.quoted(found)}" if found else ""
        raise KeyError(f"no call of dn.tl is recorded under key={key!r}{listed}.{validate.nearest(key, found)}")
    entry = found[key]
    for part in ("params", "arguments", "functions"):
        if part not in (entry if part == "params" else entry["call"]):
            raise KeyError(f"the call under key={key!r} is incomplete: {part} is missing (removed by hand).")
    for name in np.atleast_1d(entry["call"]["functions"]):
        log.warn(
            f"params[{str(name)!r}] only describes what was given, {str(entry['params'][name])!r};"
            " replace it by that to make the same call again."
        )
    return replayed(entry)
