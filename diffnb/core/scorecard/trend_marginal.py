"""Trends in mean, spread and distribution of every feature with a dose, observations being the units.

A trend is a slope over the dose, free of covariates: that of the values, of their distances from the median of their
level, and of the share of observations up to each value. Variances of slopes are robust (HC3), so that a trend in
spread is none in mean. Where few observations decide the slope, p-values come from permuted doses (`trend_permuted`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64
from ..arrays.row_chunks import Chunked
from ..typing import Floats, Matrix
from .columnwise import map_column_blocks, with_fast_columns
from .marginal import MAX_SORTED_NUMBERS, FeatureTest, MarginalTests, bridge_pvalues, t_test
from .trend_permuted import permuted_slopes

#: degree of the polynomial of the dose's ranks that is taken out before distances from medians are taken
SMOOTH_DEGREE = 3
#: 1 − leverage is at least this, so that an observation that alone decides a coefficient does not divide by zero
MIN_FREEDOM = 0.01
#: effective number of observations in a slope below which doses are permuted, and the most observations of which
MIN_EFFECTIVE_OBS, MAX_PERMUTED_OBS = 200.0, 5000
#: observations up to which medians of levels are taken again for every permutation
MAX_OBS_FOR_MEDIANS = 200


@dataclass(frozen=True, slots=True)
class SlopeDesign:
    """Weights with which observations enter a slope, and what is taken out of them first."""

    #: dose, free of the covariates
    weights: Floats
    #: observations × columns, orthonormal: constant, dose and covariates
    basis: Floats
    #: factor of squared residuals: 1 / (1 − leverage)²
    inflation: Floats
    #: orthonormal basis that is taken out before distances from medians; no column where levels tell all there is
    smooth: Floats
    #: factor of what is left then: 1 / √(1 − leverage)
    restored: Floats
    #: first observation of every level, and the end of the last
    edges: Sequence[int]
    #: standard deviation of the dose
    dose_sd: float

    @classmethod
    def of(cls, doses: Sequence[Floats], covariates: Sequence[Floats] | None) -> SlopeDesign:
        """Design of the observations of all levels, in their order."""
        dose = np.concatenate(list(doses))
        n_obs = dose.size
        added = np.empty((n_obs, 0)) if covariates is None else np.concatenate(list(covariates))
        around = _orthonormal(np.column_stack([np.ones(n_obs), added]))
        weights = dose - around @ (around.T @ dose)
        basis = np.column_stack([around, weights / np.linalg.norm(weights)])
        freedom = np.maximum(1 - np.sum(basis**2, axis=1), MIN_FREEDOM)
        smooth: Floats = np.empty((n_obs, 0))
        if added.shape[1] or any(np.ptp(own) > 0 for own in doses):
            rank = rankdata(dose) / n_obs - 0.5  # powers of the dose itself would follow single large doses
            powers = np.stack([rank**k for k in range(SMOOTH_DEGREE + 1)], axis=1)
            smooth = _orthonormal(np.column_stack([powers, dose, added]))
        restored = 1 / np.sqrt(np.maximum(1 - np.sum(smooth**2, axis=1), MIN_FREEDOM))
        edges = np.cumsum([0, *(own.size for own in doses)]).tolist()
        return cls(weights, basis, 1 / freedom**2, smooth, restored, edges, float(dose.std()))

    @property
    def residual_df(self) -> int:
        """Degrees of freedom of the residuals."""
        return int(len(self.basis) - self.basis.shape[1])

    @property
    def df(self) -> float:
        """Degrees of freedom of the robust variance: few large weights make it uncertain."""
        return min(float(self.residual_df), float(np.sum(self.weights**2) ** 2 / np.sum(self.weights**4)))

    @property
    def is_permuted(self) -> bool:
        """Return whether p-values come from permuted doses; with covariates, doses cannot be permuted."""
        few = self.df < MIN_EFFECTIVE_OBS and len(self.basis) <= MAX_PERMUTED_OBS
        return few and self.basis.shape[1] == 2

    def slope(self, x: Floats) -> tuple[Floats, Floats]:
        """Slope of every row (features × observations) and its standard error."""
        square = float(self.weights @ self.weights)
        residual = x - (x @ self.basis) @ self.basis.T
        variance = np.square(residual, out=residual) @ (self.weights**2 * self.inflation)
        return x @ self.weights / square, np.sqrt(variance) / square

    def distances(self, x: Floats) -> Floats:
        """Distance of every value from the median of its level, as far as the smooth trend leaves any."""
        left = (x - (x @ self.smooth) @ self.smooth.T) * self.restored if self.smooth.shape[1] else x.copy()
        for start, end in zip(self.edges[:-1], self.edges[1:], strict=True):
            own = left[:, start:end]
            # a median is nearer to few values than to many
            own -= np.median(own, axis=1, keepdims=True)
            own *= np.sqrt((end - start) / (end - start - 1)) if end - start > 1 else 1.0
        return np.abs(left, out=left)


@dataclass(frozen=True, slots=True)
class MarginalTrends:
    """Tests of every feature, and the slope of its mean with error and degrees of freedom."""

    tests: MarginalTests
    slope: Floats
    error: Floats
    df: Floats


def marginal_trends(
    matrices: Sequence[Matrix],
    doses: Sequence[Floats],
    /,
    *,
    covariates: Sequence[Floats] | None = None,
    n_jobs: int | None = None,
) -> MarginalTrends:
    """Test every column for trends with the dose; matrices hold the observations of one level each."""
    rows = _rows(matrices, SlopeDesign.of(doses, covariates), n_jobs)
    tests = MarginalTests(FeatureTest(*rows[0:2]), FeatureTest(*rows[2:4]), FeatureTest(*rows[4:6]))
    return MarginalTrends(tests, *rows[6:9])


def _rows(matrices: Sequence[Matrix], design: SlopeDesign, n_jobs: int | None) -> Floats:
    if isinstance(matrices[0], Chunked):
        blocks = load_column_blocks([x for x in matrices if isinstance(x, Chunked)])
        return np.concatenate([_rows(loaded, design, n_jobs) for _, loaded in blocks], axis=1)
    fast = [with_fast_columns(x) for x in matrices]
    width = max(1, MAX_SORTED_NUMBERS // design.weights.size)

    def of_block(where: slice) -> Floats:
        return _trends_of_rows(np.concatenate([dense64(x[:, where]).T for x in fast], axis=1), design)

    return np.concatenate(map_column_blocks(of_block, fast[0].shape[1], width, n_jobs=n_jobs), axis=1)


def _trends_of_rows(x: Floats, design: SlopeDesign) -> Floats:
    """Test rows (features × observations): statistic and p-value of each kind, then slope, error and df."""
    slope, error = design.slope(x)
    # without this, the rounding of constant features would be a trend
    constant = np.ptp(x, axis=1) == 0
    slope[constant], error[constant] = 0.0, 0.0
    distances = design.distances(x)
    mean, spread = t_test(slope, error, design.df), t_test(*design.slope(distances), design.df)
    if design.is_permuted:
        mean, spread = (
            permuted_slopes(y, design.weights, test.stat, design.df) for y, test in ((x, mean), (distances, spread))
        )
    distribution = _distribution_trend(x, design)
    tests = [mean.stat, mean.pval, spread.stat, spread.pval, distribution.stat, distribution.pval]
    return np.stack([*tests, slope, error, np.full_like(slope, design.df)])


def _distribution_trend(x: Floats, design: SlopeDesign) -> FeatureTest:
    """Wasserstein distance per standard deviation of the dose, and the Anderson–Darling test of its weights."""
    order = np.argsort(x, axis=1, kind="stable")
    gap = np.diff(np.take_along_axis(x, order, axis=1), axis=1)
    square = float(design.weights @ design.weights)
    weighted = np.cumsum(design.weights[order], axis=1)[:, :-1]
    pval = bridge_pvalues(weighted, gap > 0, 1 / square)
    distance = np.einsum("ij,ij->i", np.abs(weighted), gap) * (design.dose_sd / square)
    residual = x - (x @ design.basis) @ design.basis.T
    within = np.sqrt(np.einsum("ij,ij->i", residual, residual) / design.residual_df)
    return FeatureTest(distance / np.where(within > 0, within, 1.0), pval)


def _orthonormal(columns: Floats) -> Floats:
    """Orthonormal basis of the columns, without those that follow from others."""
    length = np.linalg.norm(columns, axis=0)
    u, singular, _ = np.linalg.svd(columns[:, length > 0] / length[length > 0], full_matrices=False)
    return np.asarray(u[:, singular > 1e-10 * singular[0]])
