"""Results of `tl.survival` as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from ._common import entry

MADE_BY = "tl.survival(adata)"
NEEDS = ("curves", "tests", "n_events")
COLUMNS = ("time", "survival", "lower", "upper", "at_risk", "events", "censored")


def survival(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read Kaplan–Meier curves.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key
        The `key_added` of the call.

    Returns
    -------
    A row a time of each `group`; columns `time`, `survival` with its 95 % interval `lower`, `upper`, and
    `at_risk`, `events`, `censored`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=40)
    >>> adata.obs["time"], adata.obs["event"] = range(1, 41), True
    >>> dn.tl.survival(adata, "condition")
    >>> float(dn.get.survival(adata)["survival"].min())
    0.0
    """
    found = entry(adata, key, MADE_BY, NEEDS)
    tables = []
    for i, group in enumerate(found["groups"]):
        curve = found["curves"][str(i)]
        table = pd.DataFrame({name: np.asarray(curve[name]) for name in COLUMNS})
        table.insert(0, "group", str(group))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def survival_tests(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read log-rank tests.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key
        The `key_added` of the call.

    Returns
    -------
    First a row of all groups together, then, of more than two groups, a row a pair; columns `group`,
    `reference`, `statistic`, `pval`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=40)
    >>> adata.obs["time"], adata.obs["event"] = range(1, 41), True
    >>> dn.tl.survival(adata, "condition")
    >>> dn.get.survival_tests(adata)["group"].tolist()
    ['all']
    """
    tests = entry(adata, key, MADE_BY, NEEDS)["tests"]
    return pd.DataFrame({name: np.asarray(tests[name]) for name in ("group", "reference", "statistic", "pval")})


def survival_groups(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read how many samples and events each group has.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key
        The `key_added` of the call.

    Returns
    -------
    Index: group. Columns: `n`, `n_events` and `median`, the time by which half had the event (infinite where
    fewer had).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=40)
    >>> adata.obs["time"], adata.obs["event"] = range(1, 41), True
    >>> dn.tl.survival(adata, "condition")
    >>> int(dn.get.survival_groups(adata)["n"].sum())
    40
    """
    found = entry(adata, key, MADE_BY, NEEDS)
    curves = survival(adata, key=key)
    half = curves[curves["survival"] <= 0.5].groupby("group")["time"].min()
    names = pd.Index([str(g) for g in found["groups"]], name="group")
    table = pd.DataFrame({"n": np.asarray(found["n"]), "n_events": np.asarray(found["n_events"])}, index=names)
    return table.assign(median=half.reindex(names).fillna(np.inf))
