"""Results of `tl.survival` as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import SurvivalKeys
from ._common import entry, labelled, table_of
from ._docs import documented_reader

CURVE = ("time", "survival", "lower", "upper", "at_risk", "events", "censored")


@documented_reader
def survival(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read Kaplan–Meier curves.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key

    Returns
    -------
    A row per time of each `group`; columns `time`, `survival` with its 95 % interval `lower`, `upper`, and
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
    found = entry(adata, SurvivalKeys(key))
    curves = [table_of(found["curves"][str(i)], CURVE) for i in range(len(found["groups"]))]
    tables = [labelled(curve, group=str(group)) for curve, group in zip(curves, found["groups"], strict=True)]
    return pd.concat(tables, ignore_index=True)


@documented_reader
def survival_tests(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read log-rank tests.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key

    Returns
    -------
    First a row of all groups together, then, of more than two groups, a row per pair; columns `group`,
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
    return table_of(entry(adata, SurvivalKeys(key))["tests"], ("group", "reference", "statistic", "pval"))


@documented_reader
def survival_groups(adata: AnnData, *, key: str = "survival") -> pd.DataFrame:
    """Read how many samples and events each group has.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.survival`.
    key

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
    found = entry(adata, SurvivalKeys(key))
    curves = survival(adata, key=key)
    half = curves[curves["survival"] <= 0.5].groupby("group")["time"].min()
    names = pd.Index([str(g) for g in found["groups"]], name="group")
    return table_of(found, ("n", "n_events")).set_axis(names).assign(median=half.reindex(names).fillna(np.inf))
