"""The way in: `pull` and `pull_all` validate, and read the matrices that a method needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from ..core.arrays.ops import ColumnSummary, column_summaries, take_columns, take_rows
from ..core.arrays.residuals import CovariateDesign, covariate_designs
from ..core.arrays.residuals import residuals as residuals_of
from ..core.arrays.row_chunks import Chunked, chunked, is_dask
from ..core.runtime.progress import announce
from ..core.typing import Bools, Floats, Ints, Matrix
from .covariates import (
    check_strata,
    check_within_conditions,
    check_within_samples,
    joined,
    read_covariates,
    read_strata,
)
from .numbers import check_finite, check_magnitudes, real_numbers

MIN_OBS_PER_CONDITION = 3
#: share of the range of a feature within conditions below which residuals are rounding
MIN_RANGE_LEFT = 1e-6


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a method needs of an AnnData: one matrix per condition, and where it came from."""

    matrices: list[Matrix]
    groups: list[str]
    #: positions in `adata.obs` of the rows of each matrix
    rows: list[Ints]
    #: which of `adata.var` the columns of the matrices are
    kept: Bools
    #: per condition, the code of the sample of each row (empty without `sample_key`)
    samples: list[Ints]
    sample_names: list[str]
    n_constant: int
    #: per condition, observations × columns of the covariates (empty without them, and where they are taken out)
    covariates: list[Floats] = field(default_factory=list)
    #: per condition, the code of the stratum of each row (empty without `permute_within`)
    strata: list[Ints] = field(default_factory=list)
    #: features that were excluded because too few observations of a condition show them
    n_rare: int = 0

    @property
    def n_features(self) -> int:
        """Number of features that are used."""
        return int(self.kept.sum())


@dataclass(frozen=True, slots=True)
class PulledAll:
    """What a method without conditions needs of an AnnData: all observations, and which features are used."""

    #: never to be written to: where all features are kept it is the AnnData's own
    matrix: Matrix
    #: which of `adata.var` (of the columns of `obsm[use_rep]`) the columns of the matrix are
    kept: Bools
    n_constant: int

    @property
    def n_features(self) -> int:
        """Number of features that are used."""
        return int(self.kept.sum())


def pull(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[object] | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | Bools | None = None,
    sample_key: str | None = None,
    covariates: Sequence[str] | str | None = None,
    residuals: bool = True,
    permute_within: str | None = None,
    min_obs: int = MIN_OBS_PER_CONDITION,
    min_seen: Callable[[int], int] | None = None,
    min_features: int = 1,
    levels: pd.Categorical | None = None,
) -> Pulled:
    """Validate, and read one matrix per condition without constant and masked features.

    `levels` take the place of conditions where `groupby` is a dose; covariates need not vary within each of them.
    `min_seen` says in how many observations of a condition, given their number, a feature has to be seen. Covariates
    are taken out of the matrices, or returned beside them with `residuals=False`.
    """
    announce("reading the data")
    validate.tables_in_memory(adata)
    categories = validate.conditions(adata, groupby) if levels is None else levels
    chosen = validate.chosen_groups(categories, groupby, groups)
    rows = _rows_by_group(categories, chosen, groupby, min_obs)
    codes, sample_names = _sample_codes(adata, sample_key)
    kept = feature_mask(adata, mask_var)
    source = _source(adata, layer)
    matrices = [take_columns(take_rows(source, r), kept) for r in rows]
    shown = [f"condition {group!r}" for group in chosen]
    names, samples = np.asarray(adata.var_names), [codes[r] for r in rows] if codes is not None else []
    found = read_covariates(adata, covariates, rows=rows, taken=(groupby, sample_key))
    if levels is None:
        check_within_conditions(found, rows, shown)
    else:
        check_within_conditions(found, [np.concatenate(rows)], ["adata"])
    strata = read_strata(adata, permute_within, rows)
    if strata:
        check_strata(strata, samples, str(permute_within), sample_key)
    matrices, kept, n_constant = _varying(matrices, kept, names, shown, min_features)
    matrices, kept, n_rare = _frequent(matrices, kept, min_seen) if min_seen else (matrices, kept, 0)
    values = [joined(found, r) for r in rows] if found else []
    if values and residuals:
        designs = covariate_designs(values, units=samples)
        if sample_key is not None:
            check_within_samples(found, [own.within for own in designs], sample_key)
        matrices, kept, n_explained = _without_covariates(matrices, designs, kept, names)
        n_constant += n_explained
    return Pulled(
        matrices=matrices,
        groups=chosen,
        rows=rows,
        kept=kept,
        samples=samples,
        sample_names=sample_names,
        n_constant=n_constant,
        n_rare=n_rare,
        covariates=[] if residuals else values,
        strata=strata,
    )


def pull_all(
    adata: AnnData,
    *,
    layer: str | None = None,
    use_rep: str | None = None,
    mask_var: str | Sequence[bool] | Bools | None = None,
    covariates: Sequence[str] | str | None = None,
    min_obs: int = MIN_OBS_PER_CONDITION,
    min_features: int = 1,
) -> PulledAll:
    """Validate, and read all observations, for methods without conditions."""
    validate.tables_in_memory(adata)
    if adata.n_obs < min_obs:
        raise ValueError(
            f"adata has {adata.n_obs} observation{'s' * (adata.n_obs != 1)}; at least {min_obs} are needed."
        )
    if use_rep is None or use_rep == "X":
        shown = "adata.X" if layer is None else f"layer={layer!r}"
        kept, names = feature_mask(adata, mask_var), np.asarray(adata.var_names)
        matrix = take_columns(_whole(_source(adata, layer)), kept)
    else:
        shown = f"use_rep={use_rep!r}"
        matrix, names = _representation(adata, use_rep, layer, mask_var)
        kept = np.ones(matrix.shape[1], dtype=bool)
    rows = [np.arange(adata.n_obs)]
    found = read_covariates(adata, covariates, rows=rows)
    check_within_conditions(found, rows, ["adata"])
    (matrix,), kept, n_constant = _varying([matrix], kept, names, [shown], min_features)
    if found:
        designs = covariate_designs([joined(found, rows[0])])
        (matrix,), kept, n_explained = _without_covariates([matrix], designs, kept, names)
        n_constant += n_explained
    return PulledAll(matrix=matrix, kept=kept, n_constant=n_constant)


def all_rows(adata: AnnData, layer: str | None) -> Matrix:
    """Take all observations, with all features."""
    return take_rows(_source(adata, layer), np.arange(adata.n_obs))


def feature_mask(adata: AnnData, mask_var: str | Sequence[bool] | Bools | None) -> Bools:
    """Read `mask_var`, a boolean column of `adata.var` or an array, as an array."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var.columns:
            raise ValueError(
                f"mask_var={mask_var!r} is not a column of adata.var.{validate.nearest(mask_var, adata.var.columns)}"
            )
        values: Any = adata.var[mask_var].to_numpy()
        shown = f"mask_var={mask_var!r}"
    else:
        values, shown = np.asarray(mask_var), "mask_var"
    if values.dtype != bool:
        raise TypeError(f"{shown} must hold booleans, one per feature, got {values.dtype}.")
    if values.shape != (adata.n_vars,):
        raise ValueError(f"{shown} has shape {values.shape}, but adata has {adata.n_vars} features.")
    if not values.any():
        raise ValueError(f"{shown} selects none of the {adata.n_vars} features.")
    return np.asarray(values)


def expand(values: Floats, kept: Bools) -> Floats:
    """Spread values of used features over all features, NaN where a feature was excluded."""
    full = np.full((kept.size, *values.shape[1:]), np.nan, dtype=np.result_type(values.dtype, np.float32))
    full[kept] = values
    return full


def _rows_by_group(categories: pd.Categorical, chosen: Sequence[str], groupby: str, min_obs: int) -> list[Ints]:
    names = [str(c) for c in categories.categories]
    rows: list[Ints] = [np.flatnonzero(categories.codes == names.index(group)) for group in chosen]
    for group, found in zip(chosen, rows, strict=True):
        if found.size < min_obs:
            raise ValueError(
                f"condition {group!r} of groupby={groupby!r} has {found.size} observation{'s' * (found.size != 1)};"
                f" at least {min_obs} are needed. Leave it out with groups=[…]."
            )
    return rows


def _sample_codes(adata: AnnData, sample_key: str | None) -> tuple[Ints | None, list[str]]:
    if sample_key is None:
        return None, []
    column = validate.obs_column(adata, "sample_key", sample_key)
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(f"sample_key={sample_key!r} is missing for {missing} observations; drop or name them first.")
    codes, names = pd.factorize(column, sort=True)
    return codes, [str(name) for name in names]


def _source(adata: AnnData, layer: str | None) -> Any:
    there = validate.layer_names(adata)
    if layer is None:
        if adata.X is None:
            named = f"name one of its layers: {validate.quoted(there)}" if there else "it has no layers"
            raise ValueError(f"adata.X is empty; {named}.")
        return _readable(real_numbers(adata.X, "adata.X"))
    if not isinstance(layer, str) or layer not in adata.layers:
        raise ValueError(
            f"layer={layer!r} is not a layer of adata ({validate.quoted(there) or 'it has none'})."
            f"{validate.nearest(layer, there)}"
        )
    return _readable(real_numbers(adata.layers[layer], f"layer={layer!r}"))


def _readable(source: Any) -> Any:
    """Wrap a dask array so that it is read one row block at a time; everything else stays as it is."""
    return chunked(source) if is_dask(source) else source


def _whole(source: Any) -> Matrix:
    """All rows in memory, without a copy where they are there already."""
    source = _readable(source)
    if isinstance(source, np.ndarray):
        return np.asarray(source)
    if isinstance(source, Chunked):
        return source
    if sp.issparse(source) and source.format in ("csr", "csc"):
        return source
    return take_rows(source, np.arange(source.shape[0]))


def _representation(adata: AnnData, use_rep: object, layer: object, mask_var: object) -> tuple[Matrix, Any]:
    """Read `obsm[use_rep]` and name its columns."""
    if not isinstance(use_rep, str) or use_rep not in adata.obsm:
        raise ValueError(
            f"use_rep={use_rep!r} is neither 'X' nor a key of adata.obsm"
            f" ({validate.quoted(adata.obsm) or 'it has none'}).{validate.nearest(use_rep, adata.obsm)}"
        )
    for name, value in (("layer", layer), ("mask_var", mask_var)):
        if value is not None:
            raise ValueError(f"{name} is for the features of adata; with use_rep={use_rep!r} leave it out.")
    found: Any = adata.obsm[use_rep]
    if isinstance(found, pd.DataFrame):
        found, columns = real_numbers(found.to_numpy(), f"use_rep={use_rep!r}"), np.asarray(found.columns.astype(str))
        return found, columns
    matrix = _whole(real_numbers(found, f"use_rep={use_rep!r}"))
    return matrix, np.array([f"{use_rep}_{j + 1}" for j in range(matrix.shape[1])], dtype=object)


def _varying(
    matrices: list[Matrix], kept: Bools, names: Any, shown: Sequence[str], min_features: int
) -> tuple[list[Matrix], Bools, int]:
    """Refuse values that are not finite, and exclude features that are constant over all observations."""
    names = names[kept]
    if names.size < max(1, min_features):
        found = f"there {'is' if names.size == 1 else 'are'} {names.size} feature{'s' * (names.size != 1)}"
        why = ", since features are compared with one another" if min_features > 1 else ""
        raise ValueError(f"{found}; at least {max(1, min_features)} are needed{why}.")
    summaries = column_summaries(matrices)
    for summary, of in zip(summaries, shown, strict=True):
        check_finite(summary, names, of)
    check_magnitudes(summaries, names, matrices[0].dtype)
    varying = _varies(summaries)
    n_constant = int((~varying).sum())
    if not n_constant:
        return matrices, kept, 0
    kept = kept.copy()
    kept[np.flatnonzero(kept)[~varying]] = False
    _warn_constant(n_constant, names[~varying], int(kept.sum()), max(2, min_features))
    return [take_columns(m, varying) for m in matrices], kept, n_constant


def _without_covariates(
    matrices: list[Matrix], designs: Sequence[CovariateDesign], kept: Bools, names: Any
) -> tuple[list[Matrix], Bools, int]:
    """Take covariates out, and exclude features of which nothing is left."""
    before = _ranges(matrices)
    matrices = residuals_of(matrices, designs)
    left = _ranges(matrices) > MIN_RANGE_LEFT * before
    n_explained = int((~left).sum())
    if not n_explained:
        return matrices, kept, 0
    excluded = names[kept][~left]
    kept = kept.copy()
    kept[np.flatnonzero(kept)[~left]] = False
    if kept.sum() < 2:
        raise ValueError("the covariates explain all features: nothing is left to compare.")
    listed = validate.quoted([str(n) for n in excluded], limit=3)
    log.warn(
        f"{n_explained} feature{'s' * (n_explained != 1)} left out that the covariates explain ({listed});"
        " their results are NaN."
    )
    return [take_columns(m, left) for m in matrices], kept, n_explained


def _ranges(matrices: Sequence[Matrix]) -> Floats:
    """Return the largest range of every feature in a condition."""
    return np.asarray(np.max([summary.high - summary.low for summary in column_summaries(matrices)], axis=0))


def _frequent(matrices: list[Matrix], kept: Bools, min_seen: Callable[[int], int]) -> tuple[list[Matrix], Bools, int]:
    """Exclude features that are seen in too few observations of a condition."""
    found = zip(matrices, column_summaries(matrices), strict=True)
    rare = np.any([summary.n_seen(x.shape[0]) < min_seen(x.shape[0]) for x, summary in found], axis=0)
    n_rare = int(rare.sum())
    if not n_rare:
        return matrices, kept, 0
    kept = kept.copy()
    kept[np.flatnonzero(kept)[rare]] = False
    return [take_columns(x, ~rare) for x in matrices], kept, n_rare


def _varies(summaries: Sequence[ColumnSummary]) -> Bools:
    low = np.min([summary.low for summary in summaries], axis=0)
    high = np.max([summary.high for summary in summaries], axis=0)
    return np.asarray(high > low)


def _warn_constant(n_constant: int, names: Any, n_left: int, min_features: int) -> None:
    if n_left < min_features:
        left = "nothing is left" if n_left < 2 else f"{n_left} are left, and {min_features} are needed"
        raise ValueError(
            f"{n_constant} of {n_constant + n_left} features are constant over all observations: {left} to compare."
        )
    listed = validate.quoted([str(n) for n in names], limit=3)
    log.warn(f"{n_constant} constant feature{'s' * (n_constant != 1)} left out ({listed}); their results are NaN.")
