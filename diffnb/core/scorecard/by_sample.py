"""The scorecard with the sample as its unit: every sample is summarised, and the summaries are compared.

Means and log-spreads are numbers, compared by Welch's t. Quantile functions and correlations are vectors,
compared through their inner products alone: the squared distance of the two mean vectors over its expectation from
differences between samples of one condition, an F ratio whose degrees of freedom are estimated from the samples too.
Samples that occur in both conditions are compared as pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import helmert

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64, take_columns
from ..arrays.residuals import design_rank
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..stats.block_layout import BlockLayout
from ..stats.tails import f_pvalues
from ..typing import Floats, Ints, Matrix
from .columnwise import map_column_blocks, with_fast_columns
from .connectivity import varying
from .correlation_blocks import RowGroups, sum_over_correlation_blocks
from .marginal import FeatureTest, MarginalTests, t_test, welch, welch_of_means

#: observations that a sample needs in a condition
MIN_OBS_PER_SAMPLE = 5
#: levels at which quantile functions are compared
QUANTILE_LEVELS = (np.arange(50) + 0.5) / 50
#: difference within a pair, in standard deviations, below which a covariate is the same in both conditions
MIN_COVARIATE_DIFFERENCE = 1e-9
#: added to every spread, as a share of the feature's mean spread, so that the logarithm of none at all is finite
PSEUDO_SPREAD = 0.01


@dataclass(frozen=True, slots=True)
class Design:
    """Rows of the samples in each condition; the same samples in the same order when `paired`."""

    group: list[Ints]
    reference: list[Ints]
    paired: bool
    #: per stratum (see `_Strata`), samples × columns: covariates of samples, or their differences within pairs
    covariates: tuple[Floats, ...] = ()
    #: where samples are blocks of a series
    blocks: BlockLayout | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of samples in each condition."""
        return len(self.group), len(self.reference)

    def with_blocks(self, series: tuple[Ints, Ints], stretches: tuple[Ints, Ints], /) -> Design:
        """Declare samples to be blocks of series, with codes of the series and the stretch of every observation."""

        def of_blocks(codes: tuple[Ints, Ints]) -> Ints:
            both = zip(codes, (self.group, self.reference), strict=True)
            return np.array([own[rows[0]] for own, samples in both for rows in samples])

        labels = np.repeat([1, 0], self.sizes)
        return replace(self, blocks=BlockLayout.of(labels, of_blocks(series), of_blocks(stretches)))

    def with_covariates(self, group: Floats, reference: Floats, /) -> Design:
        """Adjust comparisons for covariates (observations × columns) that are constant within samples.

        Where samples are paired, a covariate that is the same in both conditions cancels and is dropped.
        """
        first = np.stack([group[rows].mean(axis=0) for rows in self.group])
        second = np.stack([reference[rows].mean(axis=0) for rows in self.reference])
        if self.paired:
            differences = first - second
            strata = [differences[:, np.abs(differences).max(axis=0) > MIN_COVARIATE_DIFFERENCE]]
        else:
            mean = np.concatenate([first, second]).mean(axis=0)
            strata = [first - mean, second - mean]
        for values in strata:
            _refuse_saturated(values)
        return replace(self, covariates=tuple(strata) if strata[0].shape[1] else ())


def _refuse_saturated(covariates: Floats) -> None:
    """Refuse covariates that leave fewer than one degree of freedom, or that determine each other."""
    n_samples, n_columns = covariates.shape
    if n_samples < n_columns + 2:
        raise ValueError(
            f"covariates that are constant within samples take {n_columns} columns, and a condition has {n_samples}"
            f" samples to compare: at least {n_columns + 2} are needed. Leave out covariates."
        )
    if design_rank(covariates - covariates.mean(axis=0)) < n_columns:
        raise ValueError(
            "covariates that are constant within samples are constant in a condition, or determine each other there:"
            " their effect cannot be estimated. Leave out one of them."
        )


def design(group: Ints, reference: Ints, /) -> Design:
    """Group observations by sample, given the code of the sample of each; pair samples that are in both conditions.

    Samples with fewer than `MIN_OBS_PER_SAMPLE` observations are excluded; where two or more are in both conditions,
    so are those that are not.
    """
    in_group, in_reference = _rows_by_sample(group), _rows_by_sample(reference)
    common = sorted(in_group.keys() & in_reference.keys())
    if len(common) >= 2:
        return Design([in_group[c] for c in common], [in_reference[c] for c in common], paired=True)
    return Design(list(in_group.values()), list(in_reference.values()), paired=False)


def marginal_tests_by_sample(
    group: Matrix, reference: Matrix, samples: Design, /, *, n_jobs: int | None = None
) -> MarginalTests:
    """Compare means, log-spreads and quantile functions of the samples, feature by feature."""
    if isinstance(group, Chunked):
        # only summaries are computed by column block: the number of directions is estimated from all features
        blocks = load_column_blocks([group, reference])
        summaries = [_summaries(first, second, samples, n_jobs) for _, (first, second) in blocks]
        return _compare_summaries(np.concatenate(summaries, axis=2), samples)
    return _compare_summaries(_summaries(group, reference, samples, n_jobs), samples)


def _summaries(group: Matrix, reference: Matrix, samples: Design, n_jobs: int | None) -> Floats:
    """Summarise every sample, feature by feature: samples × summaries × features."""
    group, reference = with_fast_columns(group), with_fast_columns(reference)
    width = budget.count(16 * (group.shape[0] + reference.shape[0]))

    def summarize(where: slice) -> Floats:
        parts = ((group, samples.group), (reference, samples.reference))
        blocks = [(dense64(x[:, where]), rows) for x, rows in parts]
        return np.stack([_summary(block[r]) for block, rows in blocks for r in rows])

    return np.concatenate(map_column_blocks(summarize, group.shape[1], width, n_jobs=n_jobs), axis=2)


def _compare_summaries(summaries: Floats, samples: Design) -> MarginalTests:
    mean_spread = summaries[:, 1].mean(axis=0)
    log_spread = np.log(summaries[:, 1] + np.where(mean_spread > 0, PSEUDO_SPREAD * mean_spread, 1.0))
    quantiles = summaries[:, 3:]
    tested = compare_vectors(np.einsum("sqj,tqj->jst", quantiles, quantiles, optimize=True), samples)
    return MarginalTests(
        _compare_numbers(summaries[:, 0], samples),
        _compare_numbers(log_spread, samples),
        FeatureTest(_wasserstein(quantiles, summaries[:, 2], samples), tested.pval),
    )


def connectivity_test_by_sample(
    group: Matrix, reference: Matrix, samples: Design, /, *, n_jobs: int | None = None
) -> FeatureTest:
    """Compare the Fisher z of every feature with all others between the samples of two conditions."""
    varies = varying(group, reference)
    stat, pval = np.full(varies.size, np.nan), np.full(varies.size, np.nan)
    if varies.sum() > 1:
        conditions = [
            RowGroups(take_columns(with_fast_columns(group), varies), samples.group),
            RowGroups(take_columns(with_fast_columns(reference), varies), samples.reference),
        ]
        products = sum_over_correlation_blocks(conditions, inner_products, n_jobs=n_jobs)
        tested = compare_vectors(products.transpose(2, 0, 1), samples)
        stat[varies], pval[varies] = tested.stat, tested.pval
    return FeatureTest(stat, pval)


def compare_vectors(products: Floats, samples: Design, /) -> FeatureTest:
    """F ratio of mean vectors from the inner products of all samples (features × samples × samples).

    The numerator sums squares over an effective number of independent directions, (Σλ)² / Σλ² for eigenvalues λ
    of the covariance between samples. That number is estimated from products of contrasts within conditions and
    over all features, so that few samples suffice; it is lower for a feature whose samples are correlated.
    """
    strata = _strata(samples)
    squared = _quadratic(products, strata.effect[None])[:, 0, 0]
    within = [_quadratic(products, rows) for rows in strata.residuals]
    variances = np.stack(
        [np.trace(w, axis1=1, axis2=2) / len(w[0]) / size for w, size in zip(within, strata.sizes, strict=True)]
    )
    error = variances.sum(axis=0)
    df = error**2 / np.maximum(sum(v**2 / n for v, n in zip(variances, strata.dfs, strict=True)), 1e-300)
    known = error > 0
    directions = _directions(_quadratic(products, np.concatenate(strata.residuals)), strata.dfs, variances)
    ratio = np.divide(squared, error, out=np.ones_like(error), where=known)
    spread = np.sqrt(2 / directions * (1 + 1 / np.where(known, df, 1.0)))
    pval = f_pvalues(ratio, directions, directions * np.where(known, df, 1.0))
    return FeatureTest(np.where(known, (ratio - 1) / spread, np.nan), np.where(known, pval, np.nan))


def inner_products(z: Floats, diagonal: bool, /) -> tuple[Floats, Floats]:
    """Inner products of all samples for the features of the rows and of the columns of a block."""
    if diagonal:
        z[:, np.arange(z.shape[1]), np.arange(z.shape[2])] = 0.0
    by_row = z.transpose(1, 0, 2)
    rows = (by_row @ by_row.transpose(0, 2, 1)).transpose(1, 2, 0)
    if diagonal:
        return rows, np.zeros_like(rows)
    by_column = z.transpose(2, 0, 1)
    return rows, (by_column @ by_column.transpose(0, 2, 1)).transpose(1, 2, 0)


def _rows_by_sample(codes: Ints) -> dict[int, Ints]:
    found = {int(code): np.flatnonzero(codes == code) for code in np.unique(codes)}
    return {code: rows for code, rows in found.items() if rows.size >= MIN_OBS_PER_SAMPLE}


def _summary(x: Floats) -> Floats:
    """Mean, mean distance to the median, variance and quantiles of every column."""
    mean = x.mean(axis=0)
    spread = np.abs(x - np.median(x, axis=0)).mean(axis=0)
    variance = x.var(axis=0, ddof=1)
    return np.concatenate([np.stack([mean, spread, variance]), np.quantile(x, QUANTILE_LEVELS, axis=0)])


def _compare_numbers(values: Floats, samples: Design) -> FeatureTest:
    if samples.covariates:
        return _compare_adjusted_numbers(values, _strata(samples))
    n, m = samples.sizes
    group, reference = values[:n], values[n:]
    if samples.paired:
        differences = group - reference
        error = differences.std(axis=0, ddof=1) / np.sqrt(n)
        return t_test(differences.mean(axis=0), error, n - 1)
    variances = group.var(axis=0, ddof=1), reference.var(axis=0, ddof=1)
    return welch(group.mean(axis=0) - reference.mean(axis=0), variances, (n, m))


def _compare_adjusted_numbers(values: Floats, strata: _Strata) -> FeatureTest:
    difference = strata.effect @ values
    variances = [
        np.square(rows @ values).mean(axis=0) / n for rows, n in zip(strata.residuals, strata.sizes, strict=True)
    ]
    if len(variances) == 1:
        return t_test(difference, np.sqrt(variances[0]), strata.dfs[0])
    return welch_of_means(difference, (variances[0], variances[1]), (strata.dfs[0], strata.dfs[1]))


def _wasserstein(quantiles: Floats, variances: Floats, samples: Design) -> Floats:
    """Distance of the mean quantile functions in standard deviations within samples."""
    n = samples.sizes[0]
    if samples.covariates:
        gap = np.tensordot(_strata(samples).effect, quantiles, axes=1)
    else:
        gap = quantiles[:n].mean(axis=0) - quantiles[n:].mean(axis=0)
    within = np.sqrt(variances.mean(axis=0))
    return np.asarray(np.abs(gap).mean(axis=0) / np.where(within > 0, within, 1.0))


@dataclass(frozen=True, slots=True)
class _Strata:
    """Contrasts of the samples, those of the group first; strata are the conditions, or the differences of pairs."""

    #: number of samples over which the variance of each stratum is divided; lower than it is, with covariates
    sizes: list[float]
    #: between conditions
    effect: Floats
    #: orthonormal contrasts within each stratum, free of covariates
    residuals: list[Floats]

    @property
    def dfs(self) -> list[int]:
        """Degrees of freedom of each stratum."""
        return [len(rows) for rows in self.residuals]


def _strata(samples: Design) -> _Strata:
    n, m = samples.sizes
    if samples.paired:
        between = np.concatenate([np.eye(n), -np.eye(n)], axis=1)  # one difference per sample
        size, mean, within = _intercept(n, *samples.covariates)
        return _Strata([size], mean @ between, [within @ between])
    group, reference = samples.covariates or (np.empty((n, 0)), np.empty((m, 0)))
    (size, mean, within), (other_size, other_mean, other_within) = _intercept(n, group), _intercept(m, reference)
    return _Strata(
        [size, other_size],
        np.concatenate([mean, -other_mean]),
        [
            np.concatenate([within, np.zeros((len(within), m))], axis=1),
            np.concatenate([np.zeros((len(other_within), n)), other_within], axis=1),
        ],
    )


def _intercept(n: int, covariates: Floats | None = None) -> tuple[float, Floats, Floats]:
    """Return the effective size, the weights and the orthonormal residual contrasts of a mean at covariates of 0."""
    if covariates is None or not covariates.shape[1]:
        return n, np.full(n, 1 / n), helmert(n)
    columns = np.column_stack([np.ones(n), covariates])
    weights = np.linalg.pinv(columns)[0]
    basis = np.linalg.qr(columns, mode="complete")[0]
    return float(1 / np.sum(weights**2)), weights, basis[:, columns.shape[1] :].T


def _directions(products: Floats, dfs: Sequence[int], variances: Floats) -> Floats:
    """Effective number of independent directions of every feature, at most that of all features together.

    Its inverse is the mean squared cosine between contrasts within conditions, weighted by their lengths, on average
    over all orthonormal contrasts: the order of samples changes nothing.
    """
    known = (variances > 0).all(axis=0)
    if sum(dfs) < 2 or not known.any():
        return np.ones(len(products))
    angles, lengths = _squared_cosines(products[known], dfs, variances[:, known])
    of_all = angles.sum() / lengths.sum()
    cosine = np.full(len(products), of_all)
    cosine[known] = np.maximum(angles / np.where(lengths > 0, lengths, np.inf), of_all)
    return np.asarray(1 / np.clip(cosine, 1e-9, 1.0))


def _squared_cosines(products: Floats, dfs: Sequence[int], variances: Floats) -> tuple[Floats, Floats]:
    """Sum squared products of different contrasts, and products of their squared lengths, over all pairs.

    Each pair is weighted by the inverse variances of its strata, so that conditions have equal weight.
    """
    angles, lengths = np.zeros((2, len(products)))
    ends = np.cumsum(dfs)
    strata = [slice(end - df, end) for df, end in zip(dfs, ends, strict=True)]
    traces = [np.trace(products[:, own, own], axis1=1, axis2=2) for own in strata]
    for i, (own, df) in enumerate(zip(strata, dfs, strict=True)):
        if df > 1:  # expected products of two rows of a random rotation of the contrasts
            squares = np.sum(products[:, own, own] ** 2, axis=(1, 2))
            angle = (df * squares - traces[i] ** 2) / (2 * (df + 2))
            angles += angle / variances[i] ** 2
            lengths += ((df - 1) * squares / 2 - (df + 1) * angle) / variances[i] ** 2
        for k in range(i):
            weight = 1 / (variances[i] * variances[k])
            angles += np.sum(products[:, own, strata[k]] ** 2, axis=(1, 2)) * weight
            lengths += traces[i] * traces[k] * weight
    return angles, lengths


def _quadratic(products: Floats, contrasts: Floats) -> Floats:
    return np.asarray(contrasts @ products @ contrasts.T)
