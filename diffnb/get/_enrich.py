"""Table of what `tl.enrich` found."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import EnrichKeys
from ._common import entry, table_of
from ._docs import documented_reader

COLUMNS = ("list", "set", "n_overlap", "n_list", "n_set", "log_odds", "pval", "pval_adj", "features")


@documented_reader
def enrich(adata: AnnData, *, key: str = "enrich") -> pd.DataFrame:
    """Read which sets are over-represented among the features that were found.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.enrich`.
    key

    Returns
    -------
    One row per list and set, the most significant first: `list`, `set`, the numbers of features in both
    (`n_overlap`), in each and in the background, `log_odds` (Haldane–Anscombe corrected), `pval`, `pval_adj` (over all
    rows) and the `features` in both.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition")
    >>> dn.tl.enrich(adata, {"late": adata.var_names[150:]})
    >>> dn.get.enrich(adata)[["list", "n_overlap", "n_set"]].values.tolist()[0]
    ['A1', 25, 100]
    """
    found = entry(adata, EnrichKeys(key))
    table = table_of(found, COLUMNS)
    table.insert(5, "n_background", int(np.asarray(found["n_background"])))
    return table.sort_values(["pval", "log_odds"], ascending=[True, False], kind="stable", ignore_index=True)
