"""Covariates: columns of `obs` that are taken out, and strata within which labels are permuted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from ..core.arrays.residuals import design_rank
from ..core.stats.samples import nested, sample_counts
from ..core.typing import Floats, Ints

#: degrees of freedom that covariates must leave in every condition
MIN_RESIDUAL_DF = 2
#: different integers up to which a column is more likely a code of categories than a measurement
MAX_INTEGER_CODES = 12


@dataclass(frozen=True, slots=True)
class Covariate:
    """One covariate as columns of numbers: itself, or an indicator of each category but the first."""

    name: str
    #: all observations of the AnnData × columns
    values: Floats
    #: category of each observation, `None` for numbers
    levels: pd.Categorical | None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])


def read_covariates(
    adata: AnnData, names: Sequence[str] | str | None, /, *, rows: Sequence[Ints], taken: Sequence[str | None] = ()
) -> list[Covariate]:
    """Read columns of `obs` for the observations in `rows`; `taken` are columns with another role in the call."""
    if names is None:
        return []
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise TypeError(f"covariates={names!r} must be a column of adata.obs, or a list of them.")
    listed = [names] if isinstance(names, str) else list(names)
    repeated = [name for i, name in enumerate(listed) if name in listed[:i]]
    if repeated:
        raise ValueError(f"covariates={listed!r} names {repeated[0]!r} twice.")
    for name in listed:
        if name in taken:
            raise ValueError(f"covariates names {name!r}, which is what is compared, or its samples; leave it out.")
    used = np.concatenate(list(rows))
    return [_covariate(adata, name, used) for name in listed]


def _covariate(adata: AnnData, name: object, used: Ints) -> Covariate:
    column = _column(adata, name)
    missing = int(column.iloc[used].isna().sum())
    if missing:
        raise ValueError(
            f"covariates names {name!r}, which is missing for {missing} of {used.size} observations;"
            " drop them, or fill in the values first."
        )
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        _check_numbers(str(name), values[used], column.dtype.kind in "iu")
        return Covariate(str(name), values[:, None], None)
    levels = pd.Categorical(column.where(np.isin(np.arange(adata.n_obs), used))).remove_unused_categories()
    if len(levels.categories) < 2:
        raise ValueError(f"covariates names {name!r}, which is the same for all observations; leave it out.")
    indicators = levels.codes[:, None] == np.arange(1, len(levels.categories))
    return Covariate(str(name), indicators.astype(float), levels)


def _column(adata: AnnData, name: object) -> pd.Series:
    validate.tables_in_memory(adata)
    if not isinstance(name, str) or name not in adata.obs.columns:
        raise ValueError(
            f"covariates names {name!r}, which is not a column of adata.obs ({validate.quoted(adata.obs.columns)})."
            f"{validate.nearest(name, adata.obs.columns)}"
        )
    return adata.obs[name]


def _check_numbers(name: str, values: Floats, integers: bool) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"covariates names {name!r}, which has infinite values; replace them first.")
    n_different = len(np.unique(values))
    if n_different < 2:
        raise ValueError(f"covariates names {name!r}, which is the same for all observations; leave it out.")
    if integers and 2 < n_different <= MAX_INTEGER_CODES:
        log.info(
            f"covariate {name!r} holds {n_different} different integers and is taken out as a number; if they are"
            f" codes of categories: adata.obs[{name!r}] = adata.obs[{name!r}].astype('category')"
        )


def check_within_conditions(covariates: Sequence[Covariate], rows: Sequence[Ints], groups: Sequence[str], /) -> None:
    """Refuse covariates whose effect cannot be estimated within every condition."""
    for covariate in covariates:
        for group, own in zip(groups, rows, strict=True):
            _check_within(covariate, group, own)
    n_columns = sum(covariate.n_columns for covariate in covariates)
    for group, own in zip(groups, rows, strict=True):
        if own.size - 1 - n_columns < MIN_RESIDUAL_DF:
            raise ValueError(
                f"covariates take {n_columns} column{'s' * (n_columns != 1)}, and {group} has {own.size}"
                f" observations: at least {n_columns + 1 + MIN_RESIDUAL_DF} are needed. Leave out covariates, or merge"
                " their categories."
            )
        _check_rank(covariates, group, own)


def _check_within(covariate: Covariate, group: str, own: Ints) -> None:
    if np.ptp(covariate.values[own], axis=0).max() == 0:
        raise ValueError(
            f"covariates names {covariate.name!r}, which is the same for all observations of {group}: its effect"
            " cannot be told from that of the condition. Leave it out."
        )
    if covariate.levels is None:
        return
    present = np.bincount(covariate.levels.codes[own], minlength=len(covariate.levels.categories))
    absent = [str(level) for level, n in zip(covariate.levels.categories, present, strict=True) if n == 0]
    if absent:
        raise ValueError(
            f"covariates names {covariate.name!r}, but {group} has no observation of {validate.quoted(absent)}:"
            " conditions can only be compared at levels that all of them have. Leave these observations out, or merge"
            " the levels with others."
        )


def _check_rank(covariates: Sequence[Covariate], group: str, own: Ints) -> None:
    columns = np.empty((own.size, 0))
    for covariate in covariates:
        columns = np.hstack([columns, covariate.values[own]])
        if design_rank(columns - columns.mean(axis=0)) < columns.shape[1]:
            raise ValueError(
                f"covariates names {covariate.name!r}, which follows from the covariates before it in {group}; leave"
                " it out."
            )


def check_within_samples(covariates: Sequence[Covariate], within: Sequence[Floats], sample_key: str, /) -> None:
    """Refuse covariates that are constant within samples, where samples are permuted as a whole.

    `within` holds, per condition, the covariates minus their means in each sample.
    """
    start = 0
    for covariate in covariates:
        own = slice(start, start + covariate.n_columns)
        start = own.stop
        if not any(part[:, own].any() for part in within):
            raise ValueError(
                f"covariates names {covariate.name!r}, which is the same for all observations of every sample of"
                f" sample_key={sample_key!r}: whole samples are permuted, and there is nothing to take out within"
                f" them. Leave it out, or permute within its levels with permute_within={covariate.name!r};"
                " tl.scorecard takes such covariates."
            )


def joined(covariates: Sequence[Covariate], rows: Ints, /) -> Floats:
    """Return the columns of all covariates for some observations."""
    return np.hstack([covariate.values[rows] for covariate in covariates])


def read_strata(adata: AnnData, name: str | None, rows: Sequence[Ints], /) -> list[Ints]:
    """Read the stratum of each observation, per condition; empty without a name."""
    if name is None:
        return []
    column = validate.obs_column(adata, "permute_within", name)
    used = np.concatenate(list(rows))
    missing = int(column.iloc[used].isna().sum())
    if missing:
        raise ValueError(f"permute_within={name!r} is missing for {missing} observations; drop or name them first.")
    codes, levels = pd.factorize(column, sort=True)
    if len(levels) > used.size // 2:
        raise ValueError(
            f"permute_within={name!r} has {len(levels)} different values for {used.size} observations: strata of two"
            " or more are needed. Bin it into categories first, for example with pandas.qcut."
        )
    return [codes[own] for own in rows]


def check_strata(strata: Sequence[Ints], samples: Sequence[Ints], name: str, sample_key: str | None, /) -> None:
    """Refuse strata within which nothing can be permuted."""
    counts = sample_counts(strata)
    if (np.count_nonzero(counts, axis=0) <= 1).all():
        raise ValueError(
            f"permute_within={name!r} has no category with observations of two conditions: no label can be permuted"
            " within categories. Leave it out."
        )
    if not samples:
        return
    if not nested(samples):
        raise ValueError(
            f"permute_within={name!r} is for samples of one condition each; those of sample_key={sample_key!r} hold"
            " several, whose labels are exchanged within every sample. Leave it out."
        )
    pairs = np.unique(np.column_stack([np.concatenate(list(samples)), np.concatenate(list(strata))]), axis=0)
    if len(pairs) > len(np.unique(pairs[:, 0])):
        raise ValueError(
            f"permute_within={name!r} differs between observations of one sample of sample_key={sample_key!r}: whole"
            " samples are permuted, and must belong to one category each."
        )
