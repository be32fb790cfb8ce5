"""Preservation of groups in a query, against random sets of features of the same size and of similar variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy import stats as scipy_stats

from ..arrays.affine import inverse
from ..arrays.gram_stats import correlations
from ..arrays.ops import gram, mean_and_variance, take_rows
from ..runtime.seeds import draws
from ..runtime.threads import thread_limits
from ..stats.pvalues import permutation_pvalues
from ..stats.resampling import map_draws
from ..typing import Floats, Ints, Matrix
from .statistics import COMPOSITES, MIN_SPREAD, STATISTICS, Module, Network, preservation_statistics

#: observations that a sample of the query needs to have correlations
MIN_OBS_PER_SAMPLE = 10
#: samples from which on they are compared by a t test
MIN_SAMPLES = 3
#: random sets have as many features as the group in each of so many classes of variance
N_VARIANCE_CLASSES = 10
#: a correlation counts as at most this, so that its Fisher z is finite
MAX_CORRELATION = 0.9999


@dataclass(frozen=True, slots=True)
class PreservationOptions:
    """What a user asks for."""

    n_permutations: int = 999
    #: random sets resemble the group in the variance of their features
    match_variance: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PreservationFit:
    """Preservation of groups; rows are groups."""

    #: groups × `STATISTICS`
    observed: Floats
    pval: Floats
    #: z scores and p-values of groups × `COMPOSITES`
    z: Floats
    z_pval: Floats
    #: mean correlation with the signs of the reference, minus that in the other observations, and its p-value
    difference: Floats
    difference_pval: Floats
    #: one-sided p-value of a t test over samples that the mean correlation exceeds that of random sets
    sample_pval: Floats
    #: samples that were compared; 0 where observations are the units
    n_samples: int


def fit_preservation(
    reference: Matrix,
    query: Matrix,
    groups: Sequence[Ints],
    options: PreservationOptions,
    /,
    *,
    samples: tuple[Ints | None, Ints | None] = (None, None),
    others: tuple[Matrix, Ints | None] | None = None,
    n_jobs: int | None = None,
) -> PreservationFit:
    """Compare groups (positions of features) between matrices with the same features.

    `samples` hold the sample of each row of reference and query; correlations are then those within samples,
    averaged as Fisher z. `others` are observations of the query in which the groups should be weaker, with samples.
    """
    with thread_limits(query.shape[1], n_jobs):
        (known,) = _correlations(reference, samples[0])[:1]
        found = _correlations(query, samples[1])
        elsewhere = _correlations(*others)[0] if others is not None else None
        classes = _variance_classes(query) if options.match_variance else np.zeros(query.shape[1], dtype=int)
        network, by_sample = Network.of(found[0]), found[1:]
        rows = [
            _compare(Module.of(known[np.ix_(own, own)]), own, network, elsewhere, by_sample, classes, options, n_jobs)
            for own in groups
        ]
    columns = list(zip(*rows, strict=True)) if rows else [np.empty((0, n)) for n in (8, 8, 3, 3)] + [()] * 3
    observed, pval, z, z_pval, difference, difference_pval, sample_pval = (np.array(column) for column in columns)
    return PreservationFit(observed, pval, z, z_pval, difference, difference_pval, sample_pval, len(by_sample))


def _correlations(x: Matrix, samples: Ints | None) -> list[Floats]:
    """Return the correlations of all rows or, of samples, their mean and then each of them."""
    if samples is None:
        return [_correlated(x)]
    codes = [code for code in np.unique(samples) if (samples == code).sum() >= MIN_OBS_PER_SAMPLE]
    if len(codes) < 2:
        raise ValueError(
            f"{len(codes)} sample{'s' * (len(codes) != 1)} with {MIN_OBS_PER_SAMPLE} or more observations: at least 2"
            " are needed. Leave sample_key out to take observations as units."
        )
    each = [_correlated(take_rows(x, np.flatnonzero(samples == code))) for code in codes]
    z = np.mean([np.arctanh(np.clip(r, -MAX_CORRELATION, MAX_CORRELATION)) for r in each], axis=0)
    mean = np.tanh(z)
    np.fill_diagonal(mean, 1.0)
    return [mean, *each]


def _correlated(x: Matrix) -> Floats:
    """Correlations of the columns; sparse data stay sparse."""
    if not sp.issparse(x):
        return correlations([x])[0]
    mean, variance = mean_and_variance(x)
    scale = inverse(np.sqrt(variance))
    centred = gram(x) / x.shape[0] - np.outer(mean, mean)
    return np.asarray(centred * scale * scale[:, None])


def _variance_classes(x: Matrix) -> Ints:
    """Assign features to quantiles of their variance, in which counts differ above all in how frequent they are."""
    ranks = scipy_stats.rankdata(mean_and_variance(x)[1], method="ordinal") - 1
    return np.asarray(ranks * N_VARIANCE_CLASSES // len(ranks))


def _compare(
    module: Module,
    own: Ints,
    network: Network,
    elsewhere: Floats | None,
    by_sample: Sequence[Floats],
    classes: Ints,
    options: PreservationOptions,
    n_jobs: int | None,
) -> tuple[Floats, Floats, Floats, Floats, float, float, float]:
    """Compare one group with random sets of features."""

    def statistics(places: Ints) -> Floats:
        further = [_difference(module, network.correlations, elsewhere, places)]
        further += [_signed_mean(module, each, places) for each in by_sample]
        return np.concatenate([preservation_statistics(module, network, places), further])

    def draw(rng: np.random.Generator) -> Floats:
        return statistics(_random_set(classes, own, rng))

    # the stream depends on the group, so that each has the same sets whatever the other groups are
    seeds = draws(options.seed, "permutations", options.n_permutations, len(own), int(own.min()))
    observed, null = statistics(own), np.array(map_draws(draw, seeds, n_jobs=n_jobs))
    pvals = permutation_pvalues(observed, null)
    n = len(STATISTICS)
    z, z_pval = _composites(observed[:n], null[:, :n])
    has_others = elsewhere is not None
    return (
        observed[:n],
        pvals[:n],
        z,
        z_pval,
        float(observed[n]) if has_others else np.nan,
        float(pvals[n]) if has_others else np.nan,
        _over_samples(observed[n + 1 :], null[:, n + 1 :]),
    )


def _random_set(classes: Ints, own: Ints, rng: np.random.Generator) -> Ints:
    """Draw a feature of the same class for each of a group, in the same order."""
    drawn = np.empty_like(own)
    for value in np.unique(classes[own]):
        members = np.flatnonzero(classes[own] == value)
        drawn[members] = rng.choice(np.flatnonzero(classes == value), members.size, replace=False)
    return drawn


def _signed_mean(module: Module, correlated: Floats, places: Ints) -> float:
    above = np.triu_indices(len(places), 1)
    return float(np.mean(np.sign(module.correlations) * correlated[np.ix_(places, places)][above]))


def _difference(module: Module, here: Floats, elsewhere: Floats | None, places: Ints) -> float:
    if elsewhere is None:
        return 0.0
    return _signed_mean(module, here, places) - _signed_mean(module, elsewhere, places)


def _composites(observed: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Average the z scores of the statistics of each kind, and compare them with those of the random sets."""
    spread = null.std(axis=0)
    # where random sets are all the same, what is left is rounding, and no z score exists: 0
    scale = np.where(spread > MIN_SPREAD, spread, np.inf)
    z, null_z = (observed - null.mean(axis=0)) / scale, (null - null.mean(axis=0)) / scale
    places = [[STATISTICS.index(name) for name in names] for names in COMPOSITES.values()]
    composite = np.array([z[own].mean() for own in places])
    null_composite = np.stack([null_z[:, own].mean(axis=1) for own in places], axis=1)
    return composite, permutation_pvalues(composite, null_composite)


def _over_samples(observed: Floats, null: Floats) -> float:
    """Test over samples whether the group exceeds random sets."""
    if observed.size < MIN_SAMPLES:
        return np.nan
    excess = observed - null.mean(axis=0)
    return float(scipy_stats.ttest_1samp(excess, 0.0, alternative="greater").pvalue)
