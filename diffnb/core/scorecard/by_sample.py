"""The scorecard with the sample as its unit: every sample is summed up, and the summaries are compared.

Means and log-spreads are numbers, compared by Welch's t. Quantile functions and correlations are vectors,
compared by their inner products alone: the squared distance of the two mean vectors over what differences
between samples of one condition let expect, an F ratio whose degrees of freedom come from the samples too.
Samples that were seen in both conditions are compared with themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.linalg import helmert

from ..arrays.column_blocks import load_column_blocks
from ..arrays.ops import dense64, take_columns
from ..arrays.row_chunks import Chunked
from ..runtime import budget
from ..stats.pvalues import floored
from ..typing import Floats, Ints, Matrix
from .connectivity import varying
from .correlation_blocks import Units, over_correlation_blocks
from .marginal import Tested, TwoSample, by_columns, in_blocks, t_test, welch

#: observations that a sample needs in a condition
MIN_OBS_PER_SAMPLE = 5
#: levels at which quantile functions are compared
LEVELS = (np.arange(50) + 0.5) / 50
#: share of a feature's usual spread that keeps the logarithm of none at all in bounds
FLOOR = 0.01


@dataclass(frozen=True, slots=True)
class Design:
    """Rows of the samples in each condition; sample by sample the same when `paired`."""

    group: list[Ints]
    reference: list[Ints]
    paired: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of samples in each condition."""
        return len(self.group), len(self.reference)


def design(group: Ints, reference: Ints, /) -> Design:
    """Sort observations by sample, given the code of its sample for each; pair samples in both conditions.

    Samples with fewer than `MIN_OBS_PER_SAMPLE` observations are excluded; where two or more are in both conditions,
    so are those that are not.
    """
    ours, theirs = _rows_by_sample(group), _rows_by_sample(reference)
    common = sorted(ours.keys() & theirs.keys())
    if len(common) >= 2:
        return Design([ours[c] for c in common], [theirs[c] for c in common], paired=True)
    return Design(list(ours.values()), list(theirs.values()), paired=False)


def two_sample_by_sample(
    group: Matrix, reference: Matrix, samples: Design, /, *, n_jobs: int | None = None
) -> TwoSample:
    """Compare means, log-spreads and quantile functions of the samples, feature by feature."""
    if isinstance(group, Chunked):
        # only summaries slab by slab: how many directions samples move in is told by all features together
        slabs = load_column_blocks([group, reference])
        summaries = [_summaries(ours, theirs, samples, n_jobs) for _, (ours, theirs) in slabs]
        return _compare_summaries(np.concatenate(summaries, axis=2), samples)
    return _compare_summaries(_summaries(group, reference, samples, n_jobs), samples)


def _summaries(group: Matrix, reference: Matrix, samples: Design, n_jobs: int | None) -> Floats:
    """Sum up every sample, feature by feature: samples × summaries × features."""
    group, reference = by_columns(group), by_columns(reference)
    width = budget.count(16 * (group.shape[0] + reference.shape[0]))

    def summarise(where: slice) -> Floats:
        parts = ((group, samples.group), (reference, samples.reference))
        blocks = [(dense64(x[:, where]), rows) for x, rows in parts]
        return np.stack([_summary(block[r]) for block, rows in blocks for r in rows])

    return np.concatenate(in_blocks(summarise, group.shape[1], width, n_jobs), axis=2)


def _compare_summaries(summaries: Floats, samples: Design) -> TwoSample:
    usual = summaries[:, 1].mean(axis=0)
    log_spread = np.log(summaries[:, 1] + np.where(usual > 0, FLOOR * usual, 1.0))
    quantiles = summaries[:, 3:]
    tested = compare_vectors(np.einsum("sqj,tqj->jst", quantiles, quantiles, optimize=True), samples)
    return TwoSample(
        _compare_numbers(summaries[:, 0], samples),
        _compare_numbers(log_spread, samples),
        Tested(_wasserstein(quantiles, summaries[:, 2], samples), tested.pval),
    )


def connectivity_by_sample(
    group: Matrix, reference: Matrix, samples: Design, /, *, n_jobs: int | None = None
) -> Tested:
    """Compare the Fisher z of every feature with all others between the samples of two conditions."""
    varies = varying(group, reference)
    stat, pval = np.full(varies.size, np.nan), np.full(varies.size, np.nan)
    if varies.sum() > 1:
        units = [
            Units(take_columns(by_columns(group), varies), samples.group),
            Units(take_columns(by_columns(reference), varies), samples.reference),
        ]
        tested = compare_vectors(over_correlation_blocks(units, _inner_products, n_jobs).transpose(2, 0, 1), samples)
        stat[varies], pval[varies] = tested.stat, tested.pval
    return Tested(stat, pval)


def compare_vectors(products: Floats, samples: Design, /) -> Tested:
    """F ratio of mean vectors from the inner products of all samples (features × samples × samples).

    The numerator sums squares in as many independent directions as there are, (Σλ)² / Σλ² for eigenvalues λ
    of the covariance between samples. That number is estimated from products of contrasts within conditions,
    over all features, which is what lets few samples do, and lower for one whose samples move together.
    """
    strata, effect, residuals = _contrasts(samples)
    squared = _quadratic(products, effect[None])[:, 0, 0]
    within = [_quadratic(products, rows) for rows in residuals]
    variances = np.stack(
        [np.trace(w, axis1=1, axis2=2) / len(w[0]) / size for w, size in zip(within, strata, strict=True)]
    )
    error = variances.sum(axis=0)
    df = error**2 / np.maximum(sum(v**2 / (size - 1) for v, size in zip(variances, strata, strict=True)), 1e-300)
    known = error > 0
    directions = _directions(_quadratic(products, np.concatenate(residuals)), strata, variances)
    ratio = np.divide(squared, error, out=np.ones_like(error), where=known)
    spread = np.sqrt(2 / directions * (1 + 1 / np.where(known, df, 1.0)))
    pval = special.fdtrc(directions, directions * np.where(known, df, 1.0), ratio)
    return Tested(np.where(known, (ratio - 1) / spread, np.nan), np.where(known, floored(pval), np.nan))


def _inner_products(z: Floats, diagonal: bool) -> tuple[Floats, Floats]:
    """Inner products of all units for the features of the rows and of the columns of a tile."""
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
    return np.concatenate([mean[None], spread[None], x.var(axis=0, ddof=1)[None], np.quantile(x, LEVELS, axis=0)])


def _compare_numbers(values: Floats, samples: Design) -> Tested:
    n, m = samples.sizes
    ours, theirs = values[:n], values[n:]
    if samples.paired:
        differences = ours - theirs
        error = differences.std(axis=0, ddof=1) / np.sqrt(n)
        return t_test(differences.mean(axis=0), error, n - 1)
    variances = ours.var(axis=0, ddof=1), theirs.var(axis=0, ddof=1)
    return welch(ours.mean(axis=0) - theirs.mean(axis=0), variances, (n, m))


def _wasserstein(quantiles: Floats, variances: Floats, samples: Design) -> Floats:
    """Distance of the mean quantile functions in standard deviations within samples."""
    n = samples.sizes[0]
    distance = np.abs(quantiles[:n].mean(axis=0) - quantiles[n:].mean(axis=0)).mean(axis=0)
    within = np.sqrt(variances.mean(axis=0))
    return np.asarray(distance / np.where(within > 0, within, 1.0))


def _contrasts(samples: Design) -> tuple[list[int], Floats, list[Floats]]:
    """Sizes, the contrast between conditions, and orthonormal contrasts within what is compared."""
    n, m = samples.sizes
    if samples.paired:
        between = np.concatenate([np.eye(n), -np.eye(n)], axis=1)  # one difference a sample
        return [n], between.mean(axis=0), [helmert(n) @ between]
    effect = np.concatenate([np.full(n, 1 / n), np.full(m, -1 / m)])
    ours = np.concatenate([helmert(n), np.zeros((n - 1, m))], axis=1)
    theirs = np.concatenate([np.zeros((m - 1, n)), helmert(m)], axis=1)
    return [n, m], effect, [ours, theirs]


def _quadratic(products: Floats, contrasts: Floats) -> Floats:
    return np.asarray(contrasts @ products @ contrasts.T)


def _directions(products: Floats, strata: Sequence[int], variances: Floats) -> Floats:
    """Effective number of independent directions of every feature, at most that of all features together.

    Its inverse is the mean squared cosine between contrasts within conditions, weighed by their lengths.
    """
    variance = [v[:, None].repeat(size - 1, axis=1) for v, size in zip(variances, strata, strict=True)]
    scale = np.concatenate(variance, axis=1)  # of each contrast, so that conditions count alike
    known = (scale > 0).all(axis=1)
    first, second = np.triu_indices(scale.shape[1], 1)
    if not first.size or not known.any():
        return np.ones(len(products))
    both = scale[known][:, first] * scale[known][:, second]
    squares = np.einsum("jmm->jm", products[known])
    angles = np.sum(products[known][:, first, second] ** 2 / both, axis=1)
    lengths = np.sum(squares[:, first] * squares[:, second] / both, axis=1)
    usual = angles.sum() / lengths.sum()
    cosine = np.full(len(products), usual)
    cosine[known] = np.maximum(angles / np.where(lengths > 0, lengths, np.inf), usual)
    return np.asarray(1 / np.clip(cosine, 1e-9, 1.0))
