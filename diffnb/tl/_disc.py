"""`tl.disc`: groups of features whose connectivity differs between conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import (
    Pulled,
    bound,
    guarded,
    measurable,
    pull,
    pull_counts,
    store,
    warn_of_depth,
    warn_of_series,
    warn_of_stretches,
    warn_of_units,
)
from .._keys import DiscKeys
from .._options import DEFAULT_COMPONENTS, check_disc, disc_options, frequent_enough
from ..core.disc import analyse, complete_samples
from ..core.spectral.kernels import KernelFunction
from ..core.stats.samples import nested
from ._disc_groups import described_groups
from ._disc_results import log_choices, results_of, warn_of_evidence
from ._docs import documented_tool


@guarded(DiscKeys)
@documented_tool
def disc(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[str] | None = None,
    sample_key: str | None = None,
    covariates: Sequence[str] | str | None = None,
    layer: str | None = None,
    counts: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    question: Literal["relations", "any difference"] = "relations",
    min_obs: int | Literal["auto"] = "auto",
    metric: Literal["euclidean", "correlation", "cosine"] = "euclidean",
    standardize: Literal["auto", "global", "within"] | None = "auto",
    kernel: Literal["self_tuning", "self_tuning_product", "rbf"] | KernelFunction = "self_tuning",
    density_normalize: bool = True,
    graph: Literal["auto", "dense", "knn"] = "auto",
    neighbors: Literal["auto", "exact", "approximate"] = "auto",
    n_neighbors: int | Literal["auto"] = "auto",
    n_eigenvectors: int | Sequence[int] | Mapping[str, int] | Literal["auto"] = "auto",
    n_components: int = DEFAULT_COMPONENTS,
    n_clusters: int | Literal["auto"] = "auto",
    n_permutations: int = 0,
    null: Literal["auto", "labels", "connectivity"] = "auto",
    permute_within: str | None = None,
    n_bootstraps: int = 0,
    project_trivial: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "disc",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Find groups of features whose connectivity differs between conditions (DiSC).

    Each condition gives a graph of features and a random walk P on it. The differential vectors of a
    condition are the right singular vectors of P Q, where Q projects off the leading eigenvectors of all
    other conditions: what connects features in this condition and in no other. Their singular values σ measure
    how strongly; groups of features are clusters of the vectors' rows.

    Parameters
    ----------
    adata
    groupby
    groups
        ... Two give Algorithm 1 of the paper, more Algorithm 2.
    sample_key
        ... Where samples hold every condition, one analysis is done per sample, vectors are aligned and averaged
        and their spread is kept; where each sample belongs to one condition, whole samples are permuted.
    covariates
        ... Slopes are those within each condition, or within the samples of `sample_key`.
    layer
    counts
        ... The graph of every condition is made of these correlations ρ, with squared distances 2(1 − ρ); `layer`,
        `metric` and `standardize` do not change it. Correlations are shrunk towards zero by what may be
        noise, to half at two standard errors, and features that vary too little beyond counting noise are excluded.
        Where depths differ, the shallower condition remains noisier: match depth first, and name the matched counts.
    mask_var
    question
        `"relations"`: which features are connected in one condition only, whatever their levels and spreads do; every
        feature is standardised within each condition. `"any difference"`: the setting of the paper, in which
        features are compared as they are, so that a change in level or spread counts as one in connectivity.
    min_obs
        Features that are seen in fewer observations of a condition are excluded, since a feature that is zero (or at
        any other end of its range) almost everywhere has no correlations to compare and makes permutations look
        strong. `"auto"`: a tenth of the observations of the condition, 20 at most.
    metric
    standardize
        ... `"within"`: within each condition, which leaves differences in relations only. `"auto"`: as `question`
        asks, `"within"` for relations and `None` for any difference.
    kernel
        `"self_tuning"`: ½[exp(−d²/σᵢ²) + exp(−d²/σⱼ²)], as in the authors' code;
        `"self_tuning_product"`: exp(−d²/σᵢσⱼ), as in the paper; `"rbf"`: exp(−d²/ε²) with ε the median local
        scale; or a function of (distance, scale of one end, scale of the other end), all arrays.
    density_normalize
        Divide out the density of features before the walk is made, as the authors' code does.
    graph
        ... `"auto"`: dense where features are on one scale (or made so by `metric` or `standardize`) and at most
        5,000, nearest neighbours otherwise.
    neighbors
    n_neighbors
        The local scale of a feature is the distance to this neighbour; `"auto"`: 25, or a fifth of the
        features.
    n_eigenvectors
        Eigenvectors of the other conditions to project off, the constant one counted; one number, or one per
        condition (a list in the order of the conditions, or a mapping). `"auto"`: by the gap in the spectrum
        of each condition, at least 10; 20 where there is none; fewer where features are few.
    n_components
        Differential vectors per condition.
    n_clusters
        Groups of features per condition, the background counted. `"auto"`: groups are named only on evidence. Where
        the largest σ of a condition does not exceed that of every permutation of the labels (up to 19, fewer where
        the answer is clear) and lie outside their distribution (p ≤ 0.01, adjusted for the number of conditions), all
        features are background. The number of groups then follows from the last clear drop in σ and the silhouette,
        and their members are the features that co-vary with the group more than the other conditions explain (local
        false discovery rate ≤ 0.2). A number skips the test.
    n_permutations
    null
        `"labels"`: no difference at all; `"connectivity"`: no difference besides shifts and scales of single
        features. `"auto"`: connectivity where features are standardised within conditions.
    permute_within
    n_bootstraps
        Bootstrap draws for the stability of each feature's group; 0 for none.
    project_trivial
        `True` projects the constant eigenvector off with the others; `False` leaves it out and drops the
        first singular vector, as the authors' code does.
    random_state
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `varm[key_added]`: vectors, score (and membership, stability, spread) of each feature, a column each;
    - `var[f"{key_added}_{condition}"]`: group of each feature, `"background"` or the condition with a number;
    - `var[f"{key_added}_{condition}_nested"]`: groups with their subgroups, such as `A1.2`, where a group has parts
      whose features correlate at least twice as much with each other as with the rest;
    - `uns[key_added]`: σ, p-values, what was chosen, parameters.

    Read them with :func:`diffnb.get.disc`, :func:`diffnb.get.disc_groups`, :func:`diffnb.get.disc_significance` and,
    with `sample_key`, :func:`diffnb.get.disc_replication`.

    References
    ----------
    Sristi, Mishne & Jaffe, *DiSC: Differential Spectral Clustering of Features*, NeurIPS 2022: Eqs. 6 and 7,
    Algorithm 1; Eqs. 19–21, Algorithm 2.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition")
    >>> adata.var["disc_A"].cat.categories.tolist()
    ['background', 'A1', 'A2']
    """
    call = bound(disc, locals())
    given = SimpleNamespace(**call.arguments)
    check_disc(given)
    validate.flags(copy=copy)
    n_jobs = validate.jobs(n_jobs)
    data = pull(
        adata,
        groupby,
        groups=groups,
        layer=layer,
        mask_var=mask_var,
        sample_key=sample_key,
        covariates=covariates,
        permute_within=permute_within,
        min_seen=frequent_enough(min_obs),
        min_features=2,
    )
    _warn_of_rare(data, min_obs)
    data, raw = measurable(data, pull_counts(adata, data, counts, covariates=covariates))
    if raw is None:
        warn_of_units(adata, layer)
    warn_of_depth(adata, data, groupby)
    if sample_key is None:
        warn_of_series(adata, data, groupby)
    warn_of_stretches(adata, data, groupby, sample_key)
    if sample_key is not None:
        _check_samples(data, sample_key)
    options = disc_options(given, data.groups, data.n_features)
    matrices = data.matrices if raw is None else raw
    analysis = analyse(matrices, options, samples=data.samples, strata=data.strata, n_jobs=n_jobs)
    log_choices(analysis, data)
    warn_of_evidence(analysis, data, sample_key)
    keys = DiscKeys(key_added)
    described = {"n_rare": data.n_rare, **described_groups(adata, groupby, data, analysis)}
    return store(adata, keys, results_of(keys, data, analysis, described), call, copy=copy)


def _warn_of_rare(data: Pulled, min_obs: object) -> None:
    if not data.n_rare:
        return
    n_features = data.n_rare + data.n_features
    which = f"{data.n_rare} of {n_features} features are seen in too few observations of a condition"
    if data.n_features < 2:
        raise ValueError(f"{which}: nothing is left to compare. Lower min_obs={min_obs!r}.")
    log.warn(
        f"{which} (min_obs={min_obs!r}) and are left out; their results are NaN. tl.scorecard compares their means."
    )


def _check_samples(data: Pulled, sample_key: str) -> None:
    """Refuse samples that are neither complete nor nested; warn of those that will be excluded."""
    subjects = complete_samples(data.samples)
    n_samples = len(np.unique(np.concatenate(data.samples)))
    if len(subjects) >= 2:
        if len(subjects) < n_samples:
            log.warn(
                f"{n_samples - len(subjects)} of {n_samples} samples lack a condition (3 observations each are"
                " needed) and are excluded from the analysis per sample."
            )
        return
    if not nested(data.samples):
        raise ValueError(
            f"sample_key={sample_key!r} gives samples of which some hold several conditions but fewer than two hold"
            " all of them with 3 observations each; samples must hold every condition, or one each."
        )
    few = [g for g, codes in zip(data.groups, data.samples, strict=True) if len(np.unique(codes)) < 2]
    if few:
        raise ValueError(
            f"sample_key={sample_key!r} gives condition {few[0]!r} a single sample: whole samples cannot be"
            " permuted. At least two per condition are needed."
        )
