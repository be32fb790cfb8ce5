"""How significant the projections of PDA and SPARDA are: objectives compared with those of permuted labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..runtime import budget
from ..runtime.progress import bar
from ..runtime.seeds import draws
from ..runtime.threads import thread_limits
from ..stats.pvalues import monotone, permutation_pvalues
from ..stats.resampling import map_items, permuted_rows, permuted_samples
from ..typing import Floats, Ints
from .ascent import MAX_STARTS
from .fit import Projection, SpardaFit, named
from .labelings import Labelings
from .path import MAX_FEATURES_WITHOUT_WORKING_SET, fit_path, k_grid, max_standardized_log
from .streamed_operator import n_sharing_passes, run_sharing_passes

#: growth of k along the paths of permuted labels, of which only the objective is wanted
PERMUTATION_GRID_GROWTH = 1.6
#: permutations that share their products: more of them gain little, and leave less for other jobs
MAX_PERMUTATIONS_PER_BATCH = 32
#: arrays of starts × (observations + features) that an ascent holds at a time
N_ARRAYS_PER_ASCENT = 8


def divergence_test(
    fit: SpardaFit, /, *, n_permutations: int, n_jobs: int | None = None, progress: str | None = None
) -> SpardaFit:
    """Return the fit with a permutation p-value for every projection.

    Observations, or whole samples, are permuted between the populations. With a given number of features the
    objective is the statistic. Otherwise every labeling, the observed one among them, chooses the k at which its
    objective is most extreme among all labelings: log J(k) minus its mean, over its standard deviation. All labelings
    are treated alike, so the test is exact, and no k has to be known. (J at the k that cross-validation chooses would
    be no such statistic: it grows with k, and large k are chosen for permuted labels.)
    """
    labelings, pvals = fit.labelings, []
    with thread_limits(1, n_jobs):
        for i, projection in enumerate(fit.projections):
            name = named(progress, f"projection {i + 1}, permutations")
            pvals.append(_pvalue(labelings, projection, fit, n_permutations, n_jobs, name))
            labelings = labelings.deflated_by(projection.weights)
    tested = zip(fit.projections, monotone(np.array(pvals)), strict=True)
    return replace(fit, projections=[replace(projection, pval=float(pval)) for projection, pval in tested])


def _pvalue(
    labelings: Labelings,
    projection: Projection,
    fit: SpardaFit,
    n_permutations: int,
    n_jobs: int | None,
    progress: str | None,
) -> float:
    n_features, settings = fit.options.n_features, fit.options.path_settings
    also = None if isinstance(n_features, str) else n_features
    ks = k_grid(labelings.n_features, also=also, min_growth=PERMUTATION_GRID_GROWTH)
    if np.array_equal(ks, projection.k):
        observed = projection.path[None]
    else:
        # on this coarser grid the path is not that of the fit, and all labelings must be treated alike
        observed = fit_path(labelings, ks, settings).objective

    def pvalue(null: Floats) -> float:
        objectives = np.concatenate([observed, null])
        if n_features == "auto":
            statistics = max_standardized_log(objectives)
        else:
            statistics = objectives[:, np.searchsorted(ks, n_features or labelings.n_features)]
        return float(permutation_pvalues(statistics[:1], statistics[1:, None])[0])

    def so_far(null: list[Floats]) -> str:
        return f"p so far {pvalue(np.concatenate(null)):.2g}"

    return pvalue(_null_objectives(labelings, fit, ks, n_permutations, n_jobs, progress, so_far))


def _null_objectives(
    labelings: Labelings,
    fit: SpardaFit,
    ks: Ints,
    n_permutations: int,
    n_jobs: int | None,
    progress: str | None,
    so_far: Callable[[list[Floats]], str] | None = None,
) -> Floats:
    """Return the objectives of permuted labels, permutations × k.

    Every permutation has its own seed, so that it is the same whatever batch it is computed in.
    """
    seeds = draws(fit.options.seed, "permutations", n_permutations)
    size = _batch_size(labelings, n_permutations)
    batches = [seeds[start : start + size] for start in range(0, n_permutations, size)]

    def work(batch: list[np.random.SeedSequence]) -> Floats:
        rows = [_permuted(labelings, fit, np.random.default_rng(seed)) for seed in batch]
        return _objectives(labelings, rows, ks, fit)

    if labelings.streamed is None:
        return np.concatenate(map_items(work, batches, n_jobs=n_jobs, progress=progress, so_far=so_far))
    n_sharing = n_sharing_passes(size * _numbers_per_permutation(labelings))
    with bar(total=len(batches), desc=progress, disable=progress is None, delay=1.0) as shown:
        drawn = run_sharing_passes(labelings.streamed, work, batches, n_sharing=n_sharing, on_done=shown.update)
    return np.concatenate(drawn)


def _batch_size(labelings: Labelings, n_permutations: int) -> int:
    """Return how many permutations to compute together, whatever the number of jobs: p-values are the same then."""
    if labelings.n_features > MAX_FEATURES_WITHOUT_WORKING_SET:
        return 1
    n_fitting = budget.count(8 * N_ARRAYS_PER_ASCENT * _numbers_per_permutation(labelings))
    n_batches = -(-n_permutations // min(n_fitting, MAX_PERMUTATIONS_PER_BATCH))
    return -(-n_permutations // n_batches)


def _numbers_per_permutation(labelings: Labelings) -> int:
    return MAX_STARTS * (labelings.n_obs + labelings.n_features)


def _permuted(labelings: Labelings, fit: SpardaFit, rng: np.random.Generator) -> tuple[Ints, Ints]:
    samples, strata = fit.samples, fit.strata
    if not samples:
        sizes = [labelings.x_rows.shape[1], labelings.y_rows.shape[1]]
        x_rows, y_rows = permuted_rows(sizes, rng, strata=strata)
    elif np.intersect1d(samples[0], samples[1]).size:
        x_rows, y_rows = _exchanged_within_samples(samples, rng)
    else:
        x_rows, y_rows = permuted_samples(samples, rng, strata=strata)
    return x_rows, y_rows


def _exchanged_within_samples(samples: Sequence[Ints], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Exchange the two conditions of every sample, or not, with equal probability."""
    codes = np.concatenate(samples)
    in_first = np.arange(len(codes)) < len(samples[0])
    exchanged = np.flatnonzero(rng.random(int(codes.max()) + 1) < 0.5)
    in_first = in_first ^ np.isin(codes, exchanged)
    return np.flatnonzero(in_first), np.flatnonzero(~in_first)


def _objectives(labelings: Labelings, rows: Sequence[tuple[Ints, Ints]], ks: Ints, fit: SpardaFit) -> Floats:
    """Return the objectives of other labelings, labelings × k; those of the same sizes share their products."""
    values = np.zeros((len(rows), len(ks)))
    sizes = np.array([len(x_rows) for x_rows, _ in rows])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        x_rows, y_rows = (np.stack(stacked) for stacked in zip(*(rows[int(i)] for i in same), strict=True))
        relabeled = labelings.relabeled(x_rows, y_rows, standardize=fit.options.standardize)
        values[same] = fit_path(relabeled, ks, fit.options.path_settings).objective
    return values
