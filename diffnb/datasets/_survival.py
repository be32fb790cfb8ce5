"""Data with survival times, from packages that ship it."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd

CLINICAL = ("age", "er", "grade", "size")


def breast_cancer() -> ad.AnnData:
    """Load 76 genes of 198 breast cancers with the time to distant metastasis (Desmedt et al. 2007).

    Shipped by scikit-survival, which has to be installed (`pip install 'diffnb[tutorials]'`); nothing is
    downloaded.

    Returns
    -------
    Expression in `X`; `time` in days, `event` (distant metastasis), and `age`, `er`, `grade`, `size` in `obs`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.breast_cancer()  # doctest: +SKIP
    >>> adata.shape  # doctest: +SKIP
    (198, 76)
    """
    try:
        from sksurv.datasets import load_breast_cancer
    except ImportError:
        raise ImportError(
            "breast_cancer is shipped by scikit-survival; install it with pip install 'diffnb[tutorials]'."
        ) from None
    table, outcome = load_breast_cancer()
    genes = [name for name in table.columns if name not in CLINICAL]
    obs = table[list(CLINICAL)].set_axis([f"patient_{i + 1:03d}" for i in range(len(table))])
    event, time = outcome.dtype.names
    obs = obs.assign(time=np.asarray(outcome[time], dtype=float), event=np.asarray(outcome[event], dtype=bool))
    var = pd.DataFrame(index=[name.removeprefix("X") for name in genes])
    return ad.AnnData(table[genes].to_numpy(dtype=float), obs=obs, var=var)
