"""Table of what `tl.power` simulated."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import PowerKeys
from ._common import entry, table_of
from ._docs import documented_reader


@documented_reader
def power(adata: AnnData, *, key: str = "power") -> pd.DataFrame:
    """Read how often a group of connected features would be found in studies of several sizes.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.power`.
    key

    Returns
    -------
    One row per size: `n_units` (observations, or samples, per condition), `power` (share of the group that is called)
    with its standard `error` over simulations, `others` (share of the other features that is called) and `measured`
    (mean correlation within the group). `table.attrs` has `needed`, the units for a power of .8 (missing beyond those
    tried), and `units`, what they are.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=100)
    >>> dn.tl.power(adata, "condition", n_units=[20, 100], n_simulations=4)
    >>> dn.get.power(adata)["n_units"].tolist()
    [20, 100]
    """
    found = entry(adata, PowerKeys(key))
    table = table_of(found, ("n_units", "power", "error", "others", "measured"))
    table.attrs = {"needed": float(np.asarray(found["needed"])), "units": str(found["units"])}
    return table
