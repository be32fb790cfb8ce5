"""Covariates taken out of the features: residuals of a regression within each condition, around an adjusted mean.

With z the covariates of an observation minus their mean over all observations, every condition has its own slopes B,
and zB is subtracted from x. What is left has the mean that the condition would have at the mean covariates of all
observations, as in an analysis of covariance with interaction. Data that is sparse or read in row blocks stays as it
is: zB has the rank of the covariates, and is subtracted from one row block at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..runtime import budget
from ..typing import Floats, Ints, Matrix
from .adjustment import RowAdjustment
from .ops import cross, float64
from .row_chunks import Chunked, in_row_blocks, stacked

#: singular values of standardised covariates below this share of the largest are rounding
MIN_RELATIVE_SINGULAR_VALUE = 1e-10


@dataclass(frozen=True, slots=True)
class CovariateDesign:
    """The covariates of the observations of one condition."""

    #: observations × columns, in standard deviations from the mean over all conditions
    values: Floats
    #: the same, minus the mean of the condition, or of each of its samples: what slopes are estimated from
    within: Floats
    #: observations minus the means that were subtracted
    df: int

    @property
    def n_obs(self) -> int:
        """Number of observations."""
        return len(self.values)

    @property
    def offset(self) -> Floats:
        """Mean of the covariates in this condition minus that over all conditions."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def inverse(self) -> Floats:
        """Inverse of the sums of products of `within`."""
        return np.asarray(np.linalg.pinv(self.within.T @ self.within, hermitian=True))

    @property
    def residual_scale(self) -> float:
        """Factor that makes up for the variance that estimated slopes take from the residuals."""
        return float(np.sqrt(self.df / (self.df - design_rank(self.within))))

    @property
    def mean_precision(self) -> float:
        """Standard error of a plain mean over that of the adjusted mean, at most 1.

        The variance of the adjusted mean is s²(1/n + d'(Z'Z)⁻¹d), with d the offset.
        """
        added = self.n_obs * float(self.offset @ self.inverse @ self.offset)
        return float(1 / np.sqrt(1 + added))


def covariate_designs(covariates: Sequence[Floats], /, *, units: Sequence[Ints] = ()) -> list[CovariateDesign]:
    """Standardise the covariates of all conditions by their common mean and standard deviation.

    With `units`, the sample of each observation per condition, slopes are estimated within samples, so that
    differences between samples are not taken for effects of a covariate. Observations of unit −1 are not used.
    """
    together = np.concatenate(list(covariates))
    mean, sd = together.mean(axis=0), together.std(axis=0)
    sd[sd == 0] = 1.0
    codes = units or [np.zeros(len(z), dtype=int) for z in covariates]
    return [_design((z - mean) / sd, own) for z, own in zip(covariates, codes, strict=True)]


def _design(values: Floats, units: Ints) -> CovariateDesign:
    within, df = np.zeros_like(values), 0
    for unit in np.unique(units[units >= 0]):
        rows = np.flatnonzero(units == unit)
        within[rows] = values[rows] - values[rows].mean(axis=0)
        df += rows.size - 1
    # a column that is constant within units has no slope; rounding would give it one
    within[:, np.abs(within).max(axis=0, initial=0.0) <= MIN_RELATIVE_SINGULAR_VALUE] = 0.0
    return CovariateDesign(values, within, df)


def design_rank(within: Floats, /) -> int:
    """Rank of centred covariates, each on its own scale."""
    length = np.linalg.norm(within, axis=0)
    unit = within / np.where(length > 0, length, 1.0)
    return int(np.linalg.matrix_rank(unit, tol=MIN_RELATIVE_SINGULAR_VALUE)) if unit.size else 0


def residuals(
    matrices: Sequence[Matrix], designs: Sequence[CovariateDesign], /, *, exchangeable: bool = True
) -> list[Matrix]:
    """Take covariates out of the features of each condition, and keep the adjusted means.

    Residuals are scaled by √(df/(df − q)) for q columns, so that conditions of different sizes have comparable
    variances. Where conditions differ in their covariates, an adjusted mean varies more than the mean of as many
    residuals; with `exchangeable`, the deviation of adjusted means from their average is reduced by that ratio, so
    that permuted residuals show as much by chance as the observed ones. The result is dense, or chunked where the
    input is chunked or sparse and too large to be dense.
    """
    matrices = _in_one_source(matrices)
    sums = _sums(matrices, designs)
    n_terms = designs[0].values.shape[1] + 1
    slopes = [design.inverse @ own[:-1] for design, own in zip(designs, sums, strict=True)]
    means = [
        own[-1] / design.n_obs - design.offset @ slope for design, own, slope in zip(designs, sums, slopes, strict=True)
    ]
    center = np.average(means, axis=0, weights=[design.n_obs for design in designs])
    scores, terms = [], np.zeros((len(designs) * n_terms, len(center)))
    for number, (design, slope, mean) in enumerate(zip(designs, slopes, means, strict=True)):
        own = slice(number * n_terms, (number + 1) * n_terms)
        kept = design.mean_precision if exchangeable else 1.0
        target = center + kept * (mean - center)
        terms[own] = np.vstack([design.residual_scale * slope, design.residual_scale * mean - target])
        scores.append(np.zeros((design.n_obs, len(terms))))
        scores[-1][:, own] = np.column_stack([design.values, np.ones(design.n_obs)])
    return _adjusted(matrices, scores, [design.residual_scale for design in designs], terms)


def _in_one_source(matrices: Sequence[Matrix]) -> list[Matrix]:
    """Return large sparse matrices as row blocks of one source, and all others as they are."""
    n_obs, n_features = sum(x.shape[0] for x in matrices), matrices[0].shape[1]
    if not sp.issparse(matrices[0]) or budget.fits(8 * n_obs * n_features, "kept"):
        return list(matrices)
    whole = in_row_blocks(sp.vstack([sp.csr_array(x) for x in matrices], format="csr"))
    return [whole[rows] for rows in np.split(np.arange(n_obs), np.cumsum([x.shape[0] for x in matrices])[:-1])]


def _sums(matrices: Sequence[Matrix], designs: Sequence[CovariateDesign]) -> list[Floats]:
    """Sum products of the covariates with the features, and the features, within each condition."""
    weights = [np.column_stack([design.within, np.ones(design.n_obs)]) for design in designs]
    if not isinstance(matrices[0], Chunked):
        return [_products(x, own).T for x, own in zip(matrices, weights, strict=True)]
    # all conditions in one pass
    products = cross(stacked(matrices), _block_diagonal(weights))
    return list(np.split(products.T, len(designs)))


def _products(x: Matrix, weights: Floats) -> Floats:
    return np.asarray(float64(x).T @ weights) if sp.issparse(x) else cross(x, weights)


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    width = blocks[0].shape[1]
    joined = np.zeros((sum(len(block) for block in blocks), width * len(blocks)))
    start = 0
    for number, block in enumerate(blocks):
        joined[start : start + len(block), number * width : (number + 1) * width] = block
        start += len(block)
    return joined


def _adjusted(
    matrices: Sequence[Matrix], scores: Sequence[Floats], scales: Sequence[float], terms: Floats
) -> list[Matrix]:
    scale = [np.full(len(own), factor) for own, factor in zip(scores, scales, strict=True)]
    if not isinstance(matrices[0], Chunked):
        each = zip(matrices, scale, scores, strict=True)
        return [_adjusted_in_memory(x, RowAdjustment(factor, own, terms)) for x, factor, own in each]
    whole = stacked(matrices)
    if whole.adjustment is not None:
        raise ValueError("these row blocks are adjusted already.")
    n_rows = int(whole.source.edges[-1])
    all_scales, all_scores = np.ones(n_rows), np.zeros((n_rows, len(terms)))
    all_scales[whole.rows], all_scores[whole.rows] = np.concatenate(scale), np.concatenate(list(scores))
    adjustment = RowAdjustment(all_scales, all_scores, _spread_over_columns(terms, whole))
    view = whole.adjusted(adjustment)
    parts = np.split(np.arange(len(whole.rows)), np.cumsum([x.shape[0] for x in matrices])[:-1])
    return [view[rows] for rows in parts]


def _spread_over_columns(terms: Floats, x: Chunked) -> Floats:
    """Give slopes of the selected columns the places of these columns in the source."""
    if x.columns is None:
        return terms
    spread = np.zeros((len(terms), x.source.n_columns))
    spread[:, x.columns] = terms
    return spread


def _adjusted_in_memory(x: Matrix, adjustment: RowAdjustment) -> Floats:
    n_rows, n_columns = x.shape
    out = np.empty((n_rows, n_columns), dtype=np.float32 if x.dtype == np.float32 else np.float64)
    source = x.tocsr() if sp.issparse(x) else x
    height = budget.count(8 * n_columns)
    for start in range(0, n_rows, height):
        rows = np.arange(start, min(start + height, n_rows))
        out[rows] = adjustment.of(source[start : start + height], rows)
    return out
