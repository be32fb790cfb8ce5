"""Trends of features with a dose: `tl.scorecard(trend=True)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .._anndata import Pulled, Results, expand, pull, warn_of_depth, warn_of_series, warn_of_units
from .._keys import ScorecardKeys
from ..core.arrays.residuals import design_rank
from ..core.scorecard import KINDS, NONE, ScorecardFit, TrendFit, dose_levels, fit_trend
from ..core.typing import Bools, Floats
from ..get._trend import dose_column

#: stands for the reference where the first of both names is a dose
TREND = "trend"
MIN_LEVELS = 2


def trends(
    adata: AnnData,
    groupby: str,
    groups: Sequence[str] | None,
    sample_key: str | None,
    covariates: Sequence[str] | str | None,
    layer: str | None,
    mask_var: str | Sequence[bool] | Bools | None,
    keys: ScorecardKeys,
    n_jobs: int | None,
) -> Results:
    """Test all features for trends, and lay out the results like those of one pair of conditions."""
    dose = dose_column(adata, groupby, groups)
    levels = _levels(dose, groupby)
    data = pull(
        adata,
        groupby,
        layer=layer,
        mask_var=mask_var,
        sample_key=sample_key,
        covariates=covariates,
        residuals=False,
        levels=levels,
    )
    doses = [dose[rows] for rows in data.rows]
    _refuse_confounded(doses, data.covariates, groupby)
    warn_of_units(adata, layer)
    warn_of_depth(adata, data, groupby)
    if sample_key is None:
        warn_of_series(adata, data, groupby)
    fit = fit_trend(
        data.matrices,
        doses,
        samples=data.samples or None,
        covariates=data.covariates or None,
        n_jobs=n_jobs,
    )
    _log_units(fit, data, doses, groupby)
    (prefix,) = keys.prefixes([(groupby, TREND)])
    table = feature_table(fit, data, keys.columns(prefix, KINDS))
    for name, column in keys.slopes(prefix).items():
        table[column] = expand(getattr(fit, name), data.kept)
    compared = {
        "group": np.array([groupby], dtype=object),
        "reference": np.array([TREND], dtype=object),
        "columns": np.array([prefix], dtype=object),
    }
    described: dict[str, Any] = {"pairs": compared, "levels": np.array([float(own.mean()) for own in doses])}
    return Results(varm={keys.varm: table}, described=described)


def _levels(dose: Floats, groupby: str) -> pd.Categorical:
    known = np.isfinite(dose)
    codes = np.full(dose.size, -1)
    codes[known] = dose_levels(dose[known])
    n_levels = int(codes.max()) + 1
    if n_levels < MIN_LEVELS:
        raise ValueError(
            f"groupby={groupby!r} has {np.unique(dose[known]).size} different values for {int(known.sum())}"
            f" observations: a trend needs {MIN_LEVELS} levels or more, of 8 observations each."
        )
    means = [dose[codes == level].mean() for level in range(n_levels)]
    return pd.Categorical.from_codes(codes, [f"{level + 1}: {mean:.4g}" for level, mean in enumerate(means)])


def _refuse_confounded(doses: Sequence[Floats], covariates: Sequence[Floats], groupby: str) -> None:
    if not covariates:
        return
    columns = np.column_stack([np.concatenate(list(covariates)), np.concatenate(list(doses))])
    if design_rank(columns - columns.mean(axis=0)) < columns.shape[1]:
        raise ValueError(
            f"covariates determine groupby={groupby!r}: no trend can be told from their effects. Leave one out."
        )


def _log_units(fit: TrendFit, data: Pulled, doses: Sequence[Floats], groupby: str) -> None:
    low, high = min(own.min() for own in doses), max(own.max() for own in doses)
    found = fit.settings
    units = f"{sum(own.size for own in doses)} observations"
    if data.samples:
        units = f"{found.n_single} samples with one dose and {found.n_multiple} with several"
        n_samples = len(np.unique(np.concatenate(data.samples)))
        n_excluded = n_samples - found.n_single - found.n_multiple
        if n_excluded:
            log.warn(
                f"{n_excluded} of {n_samples} samples have fewer than 5 observations at a dose, or are too few of their"
                " kind (with one dose, or with several), and are excluded from the trend."
            )
    log.info(f"trend with {groupby!r} from {low:g} to {high:g}: {found.n_levels} levels, {units}")


def feature_table(card: ScorecardFit | TrendFit, data: Pulled, names: dict[str, str]) -> pd.DataFrame:
    """Make the columns of one comparison, with a row for every feature."""
    table = pd.DataFrame(
        {
            names[f"{kind}_{value}"]: expand(np.asarray(getattr(card, value))[:, k], data.kept)
            for k, kind in enumerate(KINDS)
            for value in ("stat", "pval", "pval_adj")
        }
    )
    kinds = np.full(data.kept.size, None, dtype=object)
    kinds[data.kept] = card.kind
    table[names["kind"]] = pd.Categorical(kinds, categories=[*KINDS, NONE])
    return table
