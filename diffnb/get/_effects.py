"""How large the differences between conditions are, with intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Pulled, expand, pull
from ..core.scorecard import Effects, fit_effects
from ._comparisons import as_names, compared_pairs, pair_design, run_conditions, run_layer, run_params
from ._docs import documented_reader

EFFECTS = ("mean", "log2_fold_change", "spread", "distribution", "connectivity")


@documented_reader
def effects(
    adata: AnnData,
    *,
    group: str | None = None,
    reference: str | None = None,
    layer: str | None = None,
    n_jobs: int | None = None,
    key: str = "scorecard",
) -> pd.DataFrame:
    """Estimate how large every difference of the scorecard is, with 95 % intervals.

    Conditions, samples, covariates and layer are those of the call. With its `sample_key` samples are the units (of
    at least four per condition for connectivity), without it observations. Intervals are in closed form.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.scorecard` (or :func:`diffnb.tl.disc`).
    group
        ... One that was compared with another.
    reference
    layer
    n_jobs
    key

    Returns
    -------
    One row per feature and pair of conditions: `group`, `reference` and, each with `…_low` and `…_high`,

    - `mean`: difference of means;
    - `log2_fold_change`: log₂ of the ratio of means on the linear scale (values are taken as log(1 + x) where
      `adata.uns` has `"log1p"`, as scanpy leaves it); missing where values are negative or a mean is 0;
    - `spread`: ratio of the mean distances from the median;
    - `distribution`: Wasserstein distance in pooled standard deviations, cross-fitted, so that it is about 0 where
      nothing differs;
    - `connectivity`: mean absolute Δr with its partners, the features with which its correlation differs by four
      standard errors in the other half of the units; missing without any. `n_partners` is their number.

    Excluded features are missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> table = dn.get.effects(adata)
    >>> bool((table["connectivity"].dropna() > 0.3).mean() > 0.9)
    True
    """
    n_jobs = validate.jobs(n_jobs)
    params = run_params(adata, key)
    mask = params.get("mask_var")
    data = pull(
        adata,
        params["groupby"],
        groups=run_conditions(adata, key),
        layer=run_layer(params, layer),
        mask_var=mask if mask is None or isinstance(mask, str) else np.asarray(mask, dtype=bool),
        sample_key=params.get("sample_key"),
        covariates=as_names(params.get("covariates")),
    )
    is_log1p = "log1p" in adata.uns and params.get("covariates") is None
    tables = []
    for i, j in compared_pairs(data.groups, group, reference):
        samples = pair_design(data, (i, j))
        found = fit_effects(data.matrices[i], data.matrices[j], samples=samples, is_log1p=is_log1p, n_jobs=n_jobs)
        tables.append(_table(found, data, adata.var_names, data.groups[i], data.groups[j]))
    return pd.concat(tables) if len(tables) > 1 else tables[0]


def _table(found: Effects, data: Pulled, names: pd.Index, group: str, reference: str) -> pd.DataFrame:
    columns: dict[str, object] = {"group": group, "reference": reference}
    for name in EFFECTS:
        interval = getattr(found, name)
        for ending, values in (("", interval.estimate), ("_low", interval.low), ("_high", interval.high)):
            columns[f"{name}{ending}"] = expand(values, data.kept)
    columns["n_partners"] = expand(found.n_partners, data.kept)
    return pd.DataFrame(columns, index=names)
