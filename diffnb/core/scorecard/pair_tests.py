"""Tests of single pairs of features over all blocks of correlations: which pairs could be significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy import special

from ..arrays.ops import take_columns
from ..runtime.seeds import generator
from ..stats.moderation import VariancePrior, variance_prior
from ..stats.tails import t_pvalues
from ..typing import Bools, Floats, Ints
from .by_sample import Design
from .correlation_blocks import CORRELATION_MARGIN, RowGroups, correlations_by_block

#: features whose pairs tell the prior of variances between samples
MAX_PRIOR_FEATURES = 200
#: standard errors below this are rounding
MIN_ERROR = 1e-9


@dataclass(frozen=True, slots=True)
class Pairs:
    """Some pairs: numbers of their features, Fisher z and its standard error (conditions × pairs), p-values."""

    first: Ints
    second: Ints
    z: Floats
    error: Floats
    pval: Floats
    #: degrees of freedom of the standard errors of both conditions
    df: tuple[float, float]

    def take(self, places: Ints | Bools, /) -> Pairs:
        """Return some of the pairs."""
        first, second, pval = self.first[places], self.second[places], self.pval[places]
        return Pairs(first, second, self.z[:, places], self.error[:, places], pval, self.df)


@dataclass(frozen=True, slots=True)
class ObservationTest:
    """Fisher z of both conditions, with observations as units and the variance of normal data."""

    conditions: Sequence[RowGroups]

    @property
    def errors(self) -> Floats:
        """Standard error of both conditions."""
        return np.sqrt([condition.variances()[0] for condition in self.conditions])

    @property
    def df(self) -> tuple[float, float]:
        """Degrees of freedom of both standard errors."""
        first, second = (1 / error**2 for error in self.errors)
        return first, second

    def pvalues(self, z: Floats, error: Floats) -> Floats:
        """Compare conditions; the lower number of degrees of freedom makes p grow with the standard errors."""
        return t_pvalues((z[0] - z[1]) / np.hypot(error[0], error[1]), min(self.df))

    def compare(self, z: Floats, max_pval: float) -> tuple[Ints, Pairs]:
        """Return the pairs of a block (conditions × pairs) with low p-values: their places, and themselves."""
        error = self.errors[:, None]
        limit = -special.ndtri(max_pval / 2) * np.hypot(*self.errors)  # of a normal distribution, the narrowest
        places = np.flatnonzero(np.abs(z[0] - z[1]) >= limit)
        z = z[:, places]
        return places, Pairs(places, places, z, np.broadcast_to(error, z.shape), self.pvalues(z, error), self.df)


@dataclass(frozen=True, slots=True)
class SampleTest:
    """Fisher z of both conditions, with samples as units and moderated variances."""

    conditions: Sequence[RowGroups]
    samples: Design
    #: of the group, the reference and, where samples are pairs, of their differences
    priors: Sequence[VariancePrior]

    @classmethod
    def of(cls, conditions: Sequence[RowGroups], samples: Design) -> SampleTest:
        """Estimate what the variances between samples have in common from the pairs of some features."""
        return cls(conditions, samples, _priors(conditions, samples))

    def compare(self, z: Floats, max_pval: float) -> tuple[Ints, Pairs]:
        """Return the pairs of a block (samples × pairs) with low p-values: their places, and themselves."""
        parts = _strata(z, self.samples)
        sizes = [len(part) for part in parts]
        means = np.stack([part.mean(axis=0) for part in parts])
        errors = np.stack(
            [
                np.sqrt(prior.moderate(part.var(axis=0, ddof=1), n - 1) / n)
                for part, prior, n in zip(parts, self.priors, sizes, strict=True)
            ]
        )
        np.maximum(errors, MIN_ERROR, out=errors)
        dfs = [n - 1 + prior.df for n, prior in zip(sizes, self.priors, strict=True)]
        if self.samples.paired:
            pval = t_pvalues(means[2] / errors[2], dfs[2])
        else:
            pval = _welch_pvalues(means[0] - means[1], np.square(errors), (dfs[0], dfs[1]))
        places = np.flatnonzero(pval <= max_pval)
        return places, Pairs(places, places, means[:2, places], errors[:2, places], pval[places], (dfs[0], dfs[1]))


PairTest: TypeAlias = ObservationTest | SampleTest


def scan(test: PairTest, max_pval: float, n_jobs: int | None, /) -> Pairs:
    """Test all pairs, and return those whose p-value is low enough to matter."""
    from joblib import Parallel, delayed

    limits = _limits(test.conditions)

    def of_block(first: slice, second: slice, correlations: Floats) -> Pairs:
        rows, columns = _pairs_above(first, second)
        z = _fisher_z(correlations[:, rows - first.start, columns - second.start], limits)
        places, pairs = test.compare(z, max_pval)
        return replace(pairs, first=rows[places], second=columns[places])

    found: list[Pairs] = []
    with Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        for correlate, blocks in correlations_by_block(test.conditions):
            found += parallel(delayed(lambda i, j, c=correlate: of_block(i, j, c(i, j)))(i, j) for i, j in blocks)
    return _joined(found)


def leading(pairs: Pairs, count: int, /) -> Ints:
    """Return the places of the most significant pairs, the larger difference first among equals."""
    size = np.abs(pairs.z[0] - pairs.z[1])
    return np.lexsort((pairs.second, pairs.first, -size, pairs.pval))[:count]


def adjusted_among(some: Floats, smallest: Floats, n_tested: int, /) -> Floats:
    """Adjust p-values by Benjamini–Hochberg, given the smallest of `n_tested`, which are those that matter."""
    if not some.size:
        return np.empty(0)
    ordered = np.sort(smallest)
    # those that are not listed are larger than any adjusted p-value of interest, and so never the minimum
    raised = np.minimum(ordered * (n_tested / np.arange(1, ordered.size + 1)), 1.0)
    lowest = np.minimum.accumulate(raised[::-1])[::-1]
    return np.asarray(lowest[np.searchsorted(ordered, some, side="right") - 1])


def _joined(parts: Sequence[Pairs]) -> Pairs:
    first, second, pval = (np.concatenate([getattr(p, name) for p in parts]) for name in ("first", "second", "pval"))
    z, error = (np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("z", "error"))
    return Pairs(first, second, z, error, pval, parts[0].df)


def _pairs_above(first: slice, second: slice) -> tuple[Ints, Ints]:
    """Return the features of all pairs of a block that are above the diagonal."""
    rows, columns = np.mgrid[first, second].reshape(2, -1)
    above = rows < columns
    return rows[above], columns[above]


def _limits(conditions: Sequence[RowGroups]) -> Floats:
    sizes = np.array([rows.size for condition in conditions for rows in condition.rows])
    return np.asarray((1 - CORRELATION_MARGIN / sizes)[:, None])


def _fisher_z(correlations: Floats, limits: Floats) -> Floats:
    np.clip(correlations, -limits, limits, out=correlations)
    return np.arctanh(correlations, out=correlations)


def _welch_pvalues(difference: Floats, variances: Floats, dfs: tuple[float, float]) -> Floats:
    total = variances.sum(axis=0)
    df = total**2 / (variances[0] ** 2 / dfs[0] + variances[1] ** 2 / dfs[1])
    return t_pvalues(difference / np.sqrt(total), df)


def _strata(z: Floats, samples: Design) -> list[Floats]:
    n = samples.sizes[0]
    group, reference = z[:n], z[n:]
    return [group, reference, group - reference] if samples.paired else [group, reference]


def _priors(conditions: Sequence[RowGroups], samples: Design) -> list[VariancePrior]:
    n_features = conditions[0].matrix.shape[1]
    chosen = np.ones(n_features, dtype=bool)
    if n_features > MAX_PRIOR_FEATURES:
        some = generator(0, "subsample").choice(n_features, MAX_PRIOR_FEATURES, replace=False)
        chosen = np.isin(np.arange(n_features), some)
    subset = [replace(condition, matrix=take_columns(condition.matrix, chosen)) for condition in conditions]
    limits, variances = _limits(conditions), []
    for correlate, blocks in correlations_by_block(subset):
        for first, second in blocks:
            rows, columns = _pairs_above(first, second)
            z = _fisher_z(correlate(first, second)[:, rows - first.start, columns - second.start], limits)
            variances.append([part.var(axis=0, ddof=1) for part in _strata(z, samples)])
    sizes = [*samples.sizes, samples.sizes[0]]
    return [
        variance_prior(np.concatenate(own), n - 1) for own, n in zip(zip(*variances, strict=True), sizes, strict=False)
    ]
