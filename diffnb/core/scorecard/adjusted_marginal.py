"""Marginal tests with covariates: means, spreads and distributions adjusted to the same covariates in both conditions.

The adjusted mean of a condition is the intercept of a regression on the covariates within it, at the mean covariates
of both conditions. Its variance is estimated from squared residuals over 1 − leverage, so that it holds where
observations vary more in one batch than in another; degrees of freedom are those of Bell & McCaffrey (2002). Without
covariates both are those of Welch's test.

Ranks of such residuals would not do for a test of the distribution: values that are equal before covariates are taken
out, such as zeros, are not equal after it, and differ between conditions by the error of the slopes. So values are
aligned with slopes that both conditions share, by numeric covariates only where values hardly repeat, and the
difference between the two distribution functions is adjusted as well: at every value it is a coefficient in a
regression of whether observations are below that value, to which errors of the slopes contribute nothing to first
order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Bools, Floats, Ints
from .marginal import FeatureTest, anderson_darling, welch_of_means

#: 1 − leverage below which an observation determines a coefficient by itself and has no residual
MIN_FREE_SHARE = 1e-8
#: a variance below this share of the mean square is rounding, and a difference below this share of its root
MIN_RELATIVE_VARIANCE, MIN_RELATIVE_DIFFERENCE = 1e-26, 1e-13
#: steps in which the median is sought, and the share of the mean distance from it below which a value is at it
N_MEDIAN_STEPS, MIN_RELATIVE_DISTANCE = 30, 1e-6
#: powers of covariates in the regression of distribution functions, which are not linear in them even if means are,
#: the standard deviations beyond which powers stay the same, and the observations needed for each column
MAX_POWER, MAX_POWERED_SD, MIN_OBS_PER_COLUMN = 3, 3.0, 20
#: a covariate with no more values in a condition has no powers of its own
MAX_LEVELS = 10
#: share of equal neighbours among sorted values above which numeric covariates do not move them
MAX_TIED_SHARE = 0.05
#: a step between values below this share of the largest is rounding
MIN_RELATIVE_STEP = 1e-13
#: singular values below this share of the largest belong to columns that repeat others, as powers of two levels do
MIN_RELATIVE_SINGULAR_VALUE = 1e-8


@dataclass(frozen=True, slots=True)
class AdjustedMean:
    """How the adjusted mean of a condition, and its variance, follow from its observations."""

    #: of the observations in the adjusted mean
    weights: Floats
    #: of the squared residuals in its variance
    squares: Floats
    #: orthonormal, observations × (1 + covariates)
    basis: Floats
    df: float

    @classmethod
    def of(cls, covariates: Floats, /) -> AdjustedMean:
        """Prepare the adjusted mean at covariates of 0."""
        n_obs, n_columns = covariates.shape
        basis, triangle = np.linalg.qr(np.column_stack([np.ones(n_obs), covariates]))
        weights = basis @ np.linalg.solve(triangle.T, np.eye(1 + n_columns)[0])
        leverage = np.einsum("ij,ij->i", basis, basis)
        free = 1 - leverage > MIN_FREE_SHARE
        squares = np.where(free, weights**2 / np.where(free, 1 - leverage, 1.0), 0.0)
        # an observation without a residual gets the mean variance of all
        squares = squares + np.sum(weights[~free] ** 2) / max(1, n_obs - 1 - n_columns)
        return cls(weights, squares, basis, _satterthwaite(squares, basis, leverage))

    @property
    def residual_scale(self) -> float:
        """Factor that makes up for the variance that estimated slopes take from the residuals."""
        n_obs, n_columns = self.basis.shape
        return float(np.sqrt((n_obs - 1) / (n_obs - n_columns)))

    def residuals(self, x: Floats, /) -> Floats:
        """Residuals of every row (features × observations)."""
        return np.asarray(x - (x @ self.basis) @ self.basis.T)

    def mean_and_variance(self, x: Floats, /) -> tuple[Floats, Floats]:
        """Return the adjusted mean of every row, and the variance of that mean."""
        residuals = self.residuals(x)
        variance = np.square(residuals) @ self.squares
        rounding = MIN_RELATIVE_VARIANCE * np.einsum("ij,ij->i", x, x) / x.shape[1]
        return x @ self.weights, np.where(variance > rounding, variance, 0.0)

    def medians(self, x: Floats, /) -> Floats:
        """Median of every row as a linear function of the covariates, by iteratively reweighted least squares.

        Unlike a mean it stays at a value that most observations share, such as zero, and the mean distance to it
        does not depend on its error, to first order.
        """
        n_columns = self.basis.shape[1]
        products = np.einsum("ij,ik->ijk", self.basis, self.basis).reshape(len(x[0]), -1)
        distance = np.abs(self.residuals(x))
        smallest = np.maximum(MIN_RELATIVE_DISTANCE * distance.mean(axis=1, keepdims=True), np.finfo(float).tiny)
        fitted = x
        for _ in range(N_MEDIAN_STEPS):
            weights = smallest / np.maximum(distance, smallest)
            gram = (weights @ products).reshape(-1, n_columns, n_columns)
            sums = (weights * x) @ self.basis
            fitted = np.linalg.solve(gram, sums[..., None])[..., 0] @ self.basis.T
            distance = np.abs(x - fitted)
        return fitted


def _satterthwaite(squares: Floats, basis: Floats, leverage: Floats) -> float:
    """Degrees of freedom of Σ squares · residuals² for equal variances: (Σλ)² / Σλ² of the quadratic form."""
    inner = basis.T @ (squares[:, None] * basis)
    total = np.sum(squares * (1 - leverage))
    return float(total**2 / (np.sum(squares**2 * (1 - 2 * leverage)) + np.sum(inner**2)))


@dataclass(frozen=True, slots=True)
class AdjustedDifference:
    """How the adjusted difference of two distribution functions follows from the observations of both conditions."""

    #: of the observations, those of the group first; orthogonal to the covariates
    weights: Floats
    #: orthonormal, observations × columns, without the constant
    basis: Floats
    #: observations × covariates, as they are, and as the inverse that gives slopes within both conditions
    covariates: Floats
    slopes: Floats
    #: which covariates are indicators of categories
    is_indicator: Bools

    @classmethod
    def of(cls, group: Floats, reference: Floats, /) -> AdjustedDifference:
        """Prepare the difference for the covariates of both conditions."""
        in_group = np.repeat([1.0, 0.0], [len(group), len(reference)])
        together = np.concatenate([group, reference])
        basis = _powers(together)
        centered = in_group - in_group.mean()
        rest = centered - basis @ (basis.T @ centered)
        within = np.concatenate([group - group.mean(axis=0), reference - reference.mean(axis=0)])
        is_indicator = np.array([len(np.unique(column)) <= 2 for column in together.T])
        return cls(rest / np.sum(rest**2), basis, together, np.linalg.pinv(within).T, is_indicator)

    def aligned(self, values: Floats, /) -> Floats:
        """Subtract what the covariates add to the values (features × observations), the same in both conditions.

        Categories move all values of an observation alike, so that ties within them stay ties. Numbers would break
        ties; where these are frequent, numbers are left to the regression of the distribution function.
        """
        slopes = values @ self.slopes
        if not self.is_indicator.all():
            tied = np.mean(np.diff(np.sort(values, axis=1), axis=1) == 0, axis=1)
            slopes[np.ix_(tied > MAX_TIED_SHARE, ~self.is_indicator)] = 0.0
        return np.asarray(values - slopes @ self.covariates.T)

    def cdf_gap(self, order: Ints, /) -> tuple[Floats, Floats]:
        """Return the adjusted difference after each value but the last, and the share of its variance that is left.

        `order` sorts the observations of every feature (features × observations).
        """
        n_obs, n_columns = self.basis.shape
        below = np.arange(1, n_obs) / n_obs
        explained = np.zeros((len(order), n_obs - 1))
        for column in self.basis.T:
            explained += np.square(np.cumsum(column[order], axis=1)[:, :-1])
        share = 1 - explained / (n_obs * below * (1 - below))
        gap = np.cumsum(self.weights[order], axis=1)[:, :-1]
        return gap, share * (n_obs - 1) / (n_obs - 1 - n_columns)


def _powers(covariates: Floats) -> Floats:
    """Return an orthonormal basis of centred covariates and their powers, where observations suffice for these."""
    bounded = np.clip(covariates, -MAX_POWERED_SD, MAX_POWERED_SD)
    basis = _orthonormal(np.hstack([covariates, *(bounded**power for power in range(2, MAX_POWER + 1))]))
    if len(covariates) < MIN_OBS_PER_COLUMN * basis.shape[1]:
        return _orthonormal(covariates)
    return basis


def _orthonormal(columns: Floats) -> Floats:
    centered = columns - columns.mean(axis=0)
    length = np.linalg.norm(centered, axis=0)
    left, values, _ = np.linalg.svd(centered / np.where(length > 0, length, 1.0), full_matrices=False)
    return np.asarray(left[:, values > MIN_RELATIVE_SINGULAR_VALUE * values.max(initial=0.0)])


def with_powers(group: Floats, reference: Floats, /) -> tuple[Floats, Floats]:
    """Append powers of the numeric covariates, centred over both conditions, where both have the observations.

    The spread of counts is no linear function of a number even if their mean is nearly one, and the linear median of
    a count moves in steps.
    """
    sizes, together = (len(group), len(reference)), np.concatenate([group, reference])
    is_number = [
        min(len(np.unique(part[:, j])) for part in (group, reference)) > MAX_LEVELS for j in range(together.shape[1])
    ]
    bounded = np.clip(together[:, is_number], -MAX_POWERED_SD, MAX_POWERED_SD)
    powers = np.hstack([bounded[:, :0], *(bounded**power for power in range(2, MAX_POWER + 1))])
    columns = np.hstack([together, powers - powers.mean(axis=0)])
    if min(sizes) < MIN_OBS_PER_COLUMN * (1 + columns.shape[1]):
        return group, reference
    return columns[: len(group)], columns[len(group) :]


@dataclass(frozen=True, slots=True)
class AdjustedComparison:
    """Tests of a block of features in two conditions with covariates."""

    group: AdjustedMean
    reference: AdjustedMean
    #: the same for distances to the median, which depend on powers of the covariates, too
    spreads: tuple[AdjustedMean, AdjustedMean]
    difference: AdjustedDifference

    @classmethod
    def of(cls, group: Floats, reference: Floats, /) -> AdjustedComparison:
        """Prepare for the covariates of both conditions, standardised over both."""
        first, second = with_powers(group, reference)
        spreads = AdjustedMean.of(first), AdjustedMean.of(second)
        return cls(AdjustedMean.of(group), AdjustedMean.of(reference), spreads, AdjustedDifference.of(group, reference))

    def __call__(self, group: Floats, reference: Floats) -> Floats:
        """Compare rows (features × observations); return mean, spread and distribution as stat, pval each."""
        tests = (self._means(group, reference), self._spreads(group, reference), self._distributions(group, reference))
        return np.stack([row for test in tests for row in (test.stat, test.pval)])

    def _means(self, group: Floats, reference: Floats) -> FeatureTest:
        return self._compared((self.group, self.reference), group, reference)

    def _compared(self, adjusted: tuple[AdjustedMean, AdjustedMean], group: Floats, reference: Floats) -> FeatureTest:
        """Compare adjusted means by Welch's test."""
        (first, first_variance), (second, second_variance) = (
            own.mean_and_variance(x) for own, x in zip(adjusted, (group, reference), strict=True)
        )
        # a feature that follows from the covariates has neither a difference nor a variance, up to rounding
        size = np.sqrt(np.mean(group**2, axis=1) + np.mean(reference**2, axis=1))
        difference = np.where(np.abs(first - second) > MIN_RELATIVE_DIFFERENCE * size, first - second, 0.0)
        return welch_of_means(difference, (first_variance, second_variance), (adjusted[0].df, adjusted[1].df))

    def _spreads(self, group: Floats, reference: Floats) -> FeatureTest:
        """Compare distances to the median as means are compared: both may depend on the covariates."""
        parts = zip(self.spreads, (group, reference), strict=True)
        first, second = (own.residual_scale * np.abs(x - own.medians(x)) for own, x in parts)
        return self._compared(self.spreads, first, second)

    def _distributions(self, group: Floats, reference: Floats) -> FeatureTest:
        n = group.shape[1], reference.shape[1]
        values = self.difference.aligned(np.concatenate([group, reference], axis=1))
        order = np.argsort(values, axis=1)
        step = np.diff(np.take_along_axis(values, order, axis=1), axis=1)
        # ties that rounding has broken in the alignment
        step[step <= MIN_RELATIVE_STEP * np.abs(values).max(axis=1, keepdims=True)] = 0.0
        gap, share = self.difference.cdf_gap(order)
        distance = np.einsum("ij,ij->i", np.abs(gap), step)
        varies: Bools = share > MIN_FREE_SHARE
        # in units in which a difference of plain distribution functions has the same variance
        unit = np.sqrt((1 / n[0] + 1 / n[1]) * np.sum(self.difference.weights**2) ** -1)
        standard = np.divide(gap * unit, np.sqrt(np.where(varies, share, 1.0)))
        within = self._pooled_sd(group, reference)
        pval = anderson_darling(standard, (step > 0) & varies, n)
        return FeatureTest(distance / np.where(within > 0, within, 1.0), pval)

    def _pooled_sd(self, group: Floats, reference: Floats) -> Floats:
        parts = ((self.group, group), (self.reference, reference))
        squares = sum(np.square(own.residuals(x)).sum(axis=1) for own, x in parts)
        df = sum(own.basis.shape[0] - own.basis.shape[1] for own, _ in parts)
        return np.asarray(np.sqrt(squares / df))
