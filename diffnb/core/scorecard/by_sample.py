"""The scorecard with the sample as its unit: every sample is summarised, and the summaries are compared.

Means and log-spreads are numbers, compared by Welch's t. Quantile functions and correlations are vectors,
compared through their inner products (see `strata`). Samples that occur in both conditions are compared as pairs;
where some do and others do not, the differences of pairs and that of the others are averaged.
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
from ..typing import Floats, Ints, Matrix
from .columnwise import map_column_blocks, with_fast_columns
from .connectivity import varying
from .correlation_blocks import RowGroups, sum_over_correlation_blocks
from .marginal import FeatureTest, MarginalTests, t_test, welch
from .strata import Strata, compare_numbers_in, compare_vectors_in, intercept, weight_of_first

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
    #: per stratum (see `Strata`), samples × columns: covariates of samples, or their differences within pairs
    covariates: tuple[Floats, ...] = ()
    #: in a mixed design, the first so many of both are the same samples, and the others are in one condition only
    n_mixed_pairs: int = 0

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of samples in each condition."""
        return len(self.group), len(self.reference)

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


def design(group: Ints, reference: Ints, /, *, mixed: bool = False) -> Design:
    """Group observations by sample, given the code of the sample of each; pair samples that are in both conditions.

    Samples with fewer than `MIN_OBS_PER_SAMPLE` observations are excluded. Where two or more are in both conditions,
    those that are not are excluded too, unless `mixed` is true and each condition has two of them.
    """
    in_group, in_reference = _rows_by_sample(group), _rows_by_sample(reference)
    common = sorted(in_group.keys() & in_reference.keys())
    if len(common) < 2:
        return Design(list(in_group.values()), list(in_reference.values()), paired=False)
    pairs = [in_group[c] for c in common], [in_reference[c] for c in common]
    others = [[rows for c, rows in found.items() if c not in common] for found in (in_group, in_reference)]
    if mixed and min(map(len, others)) >= 2:
        return Design(pairs[0] + others[0], pairs[1] + others[1], paired=False, n_mixed_pairs=len(common))
    return Design(*pairs, paired=True)


def marginal_tests_by_sample(
    group: Matrix, reference: Matrix, samples: Design, /, *, n_jobs: int | None = None
) -> MarginalTests:
    """Compare means, log-spreads and quantile functions of the samples, feature by feature."""
    summaries = summaries_of([group, reference], [samples.group, samples.reference], n_jobs)
    return _compare_summaries(summaries, samples)


def summaries_of(matrices: Sequence[Matrix], rows: Sequence[Sequence[Ints]], n_jobs: int | None, /) -> Floats:
    """Summarise every sample of every matrix, feature by feature: samples × summaries × features."""
    if isinstance(matrices[0], Chunked):
        # only summaries are computed by column block: the number of directions is estimated from all features
        blocks = load_column_blocks([x for x in matrices if isinstance(x, Chunked)])
        return np.concatenate([summaries_of(loaded, rows, n_jobs) for _, loaded in blocks], axis=2)
    fast = [with_fast_columns(x) for x in matrices]
    width = budget.count(16 * sum(x.shape[0] for x in fast))

    def summarize(where: slice) -> Floats:
        blocks = [(dense64(x[:, where]), own) for x, own in zip(fast, rows, strict=True)]
        return np.stack([_summary(block[r]) for block, own in blocks for r in own])

    return np.concatenate(map_column_blocks(summarize, fast[0].shape[1], width, n_jobs=n_jobs), axis=2)


def log_spreads(summaries: Floats, /) -> Floats:
    """Logarithm of the spread of every sample; that of none at all is finite."""
    mean_spread = summaries[:, 1].mean(axis=0)
    return np.asarray(np.log(summaries[:, 1] + np.where(mean_spread > 0, PSEUDO_SPREAD * mean_spread, 1.0)))


def _compare_summaries(summaries: Floats, samples: Design) -> MarginalTests:
    log_spread = log_spreads(summaries)
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
    """F ratio of mean vectors from the inner products of all samples (features × samples × samples)."""
    return compare_vectors_in(products, _strata(samples))


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
    if samples.covariates or samples.n_mixed_pairs:
        return compare_numbers_in(values, _strata(samples))
    n, m = samples.sizes
    group, reference = values[:n], values[n:]
    if samples.paired:
        differences = group - reference
        error = differences.std(axis=0, ddof=1) / np.sqrt(n)
        return t_test(differences.mean(axis=0), error, n - 1)
    variances = group.var(axis=0, ddof=1), reference.var(axis=0, ddof=1)
    return welch(group.mean(axis=0) - reference.mean(axis=0), variances, (n, m))


def _wasserstein(quantiles: Floats, variances: Floats, samples: Design) -> Floats:
    """Distance of the mean quantile functions in standard deviations within samples."""
    n = samples.sizes[0]
    if samples.covariates or samples.n_mixed_pairs:
        gap = np.tensordot(_strata(samples).effect, quantiles, axes=1)
    else:
        gap = quantiles[:n].mean(axis=0) - quantiles[n:].mean(axis=0)
    within = np.sqrt(variances.mean(axis=0))
    return np.asarray(np.abs(gap).mean(axis=0) / np.where(within > 0, within, 1.0))


def _strata(samples: Design) -> Strata:
    n, m = samples.sizes
    if samples.n_mixed_pairs:
        return _mixed_strata(n, m, samples.n_mixed_pairs)
    if samples.paired:
        between = np.concatenate([np.eye(n), -np.eye(n)], axis=1)  # one difference per sample
        size, mean, within = intercept(n, *samples.covariates)
        return Strata([size], mean @ between, [within @ between])
    group, reference = samples.covariates or (np.empty((n, 0)), np.empty((m, 0)))
    (size, mean, within), (other_size, other_mean, other_within) = intercept(n, group), intercept(m, reference)
    return Strata(
        [size, other_size],
        np.concatenate([mean, -other_mean]),
        [
            np.concatenate([within, np.zeros((len(within), m))], axis=1),
            np.concatenate([np.zeros((len(other_within), n)), other_within], axis=1),
        ],
    )


def _mixed_strata(n: int, m: int, n_pairs: int) -> Strata:
    """Average the difference within pairs and that between all others.

    Weights are inverse variances for samples whose two conditions correlate with ½; they do not depend on the data,
    so that the test is exact whatever the correlation.
    """
    units = np.eye(n + m)
    group, reference = units[n_pairs:n], units[n + n_pairs :]
    differences = units[:n_pairs] - units[n : n + n_pairs]
    share = weight_of_first(1 / n_pairs, 1 / len(group) + 1 / len(reference))
    return Strata(
        [n_pairs / share**2, len(group) / (1 - share) ** 2, len(reference) / (1 - share) ** 2],
        share * differences.mean(axis=0) + (1 - share) * (group.mean(axis=0) - reference.mean(axis=0)),
        [helmert(len(part)) @ part for part in (differences, group, reference)],
    )
