"""`tl.disc`: groups of features whose connectivity differs between conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

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
    warn_of_units,
)
from .._keys import DiscKeys
from ..core.disc import AnalysisOptions, DiscOptions, FeatureGraphOptions, Null, analyse, complete_samples
from ..core.spectral.distances import METRICS
from ..core.spectral.kernels import KERNELS, KernelFunction
from ..core.stats.samples import nested
from ..core.typing import Standardize
from ._disc_groups import described_groups
from ._disc_results import log_choices, results_of, warn_of_evidence
from ._docs import documented_tool
from ._feature_graph import GRAPHS, check_memory, check_neighbors

QUESTIONS = ("relations", "any difference")
STANDARDIZE = ("global", "within")
NULLS = ("labels", "connectivity")
#: `min_obs="auto"`: one of so many observations of a condition, up to the largest
OBS_PER_MIN_OBS = 10
MAX_MIN_OBS = 20
DEFAULT_COMPONENTS = 10


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
    validate.flags(density_normalize=density_normalize, project_trivial=project_trivial, copy=copy)
    n_jobs = validate.jobs(n_jobs)
    _check_options(question, metric, standardize, kernel, graph, null)
    standardized = _standardized(question, standardize)
    check_neighbors(neighbors, graph)
    data = pull(
        adata,
        groupby,
        groups=groups,
        layer=layer,
        mask_var=mask_var,
        sample_key=sample_key,
        covariates=covariates,
        permute_within=permute_within,
        min_seen=_min_seen(min_obs),
        min_features=2,
    )
    _warn_of_rare(data, min_obs)
    data, raw = measurable(data, pull_counts(adata, data, counts, covariates=covariates))
    if raw is None:
        warn_of_units(adata, layer)
    warn_of_depth(adata, data, groupby)
    if sample_key is None:
        warn_of_series(adata, data, groupby)
    if sample_key is not None:
        _check_samples(data, sample_key)
    p = data.n_features
    check_memory(graph, p, len(data.groups))
    few = f"there are {p} features"
    options = AnalysisOptions(
        disc=DiscOptions(
            graph=FeatureGraphOptions(
                kind=graph,
                n_neighbors=validate.auto_count("n_neighbors", n_neighbors, at_most=p - 1, why=few) or "auto",
                search=neighbors,
                metric=metric,
                standardize=standardized,
                kernel=kernel,
                density_normalize=density_normalize,
                seed=validate.seed(random_state),
            ),
            n_eigenvectors=_eigenvector_counts(n_eigenvectors, data.groups, p) or "auto",
            n_components=_number_of_components(n_components, p),
            project_trivial=project_trivial,
        ),
        n_clusters=validate.auto_count("n_clusters", n_clusters, at_least=2, at_most=p, why=few) or "auto",
        n_permutations=validate.repeats("n_permutations", n_permutations),
        null=_null(null, standardized),
        n_bootstraps=validate.repeats("n_bootstraps", n_bootstraps),
    )
    matrices = data.matrices if raw is None else raw
    analysis = analyse(matrices, options, samples=data.samples, strata=data.strata, n_jobs=n_jobs)
    log_choices(analysis, data)
    warn_of_evidence(analysis, data, sample_key)
    keys = DiscKeys(key_added)
    described = {"n_rare": data.n_rare, **described_groups(adata, groupby, data, analysis)}
    return store(adata, keys, results_of(keys, data, analysis, described), call, copy=copy)


def _check_options(
    question: object, metric: object, standardize: object, kernel: object, graph: object, null: object
) -> None:
    validate.choice("question", question, QUESTIONS)
    validate.choice("metric", metric, METRICS)
    validate.choice("graph", graph, ("auto", *GRAPHS))
    validate.choice("null", null, ("auto", *NULLS))
    if standardize is not None:
        validate.choice("standardize", standardize, ("auto", *STANDARDIZE))
    if not callable(kernel):
        validate.choice("kernel", kernel, tuple(KERNELS))


def _standardized(question: str, standardize: str | None) -> Standardize | None:
    if standardize == "auto":
        return "within" if question == "relations" else None
    return cast("Standardize | None", standardize)


def _null(null: str, standardize: Standardize | None) -> Null:
    if null == "auto":
        return "connectivity" if standardize == "within" else "labels"
    return cast("Null", null)


def _number_of_components(n_components: object, p: int) -> int:
    """Warn of a number that cannot be reached; the default means "as many as there are" for few features."""
    number = validate.count("n_components", n_components)
    if number != DEFAULT_COMPONENTS and number > p - 1:
        log.warn(f"n_components={number}: {p} features have {p - 1} differential vectors at most, which are computed.")
    return min(number, p - 1)


def _min_seen(min_obs: object) -> Callable[[int], int]:
    """Return in how many of so many observations of a condition a feature has to be seen."""
    given = validate.auto_count("min_obs", min_obs, at_least=0)
    return lambda n_obs: min(MAX_MIN_OBS, n_obs // OBS_PER_MIN_OBS) if given is None else given


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


def _eigenvector_counts(value: object, groups: Sequence[str], p: int) -> tuple[int, ...] | None:
    if isinstance(value, Mapping):
        missing = [g for g in groups if g not in value]
        if missing:
            raise ValueError(f"n_eigenvectors gives no number for {validate.quoted(missing)}.")
        listed = [value[g] for g in groups]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != len(groups):
            raise ValueError(f"n_eigenvectors has {len(value)} numbers for {len(groups)} conditions.")
        listed = list(value)
    else:
        listed = [value] * len(groups)
    why = f"there are {p} features"
    counts = [validate.auto_count("n_eigenvectors", v, at_most=p - 1, why=why) for v in listed]
    resolved = tuple(c for c in counts if c is not None)
    if not resolved:
        return None
    together = sum(resolved) - min(resolved)
    if together >= p:
        raise ValueError(
            f"n_eigenvectors={value!r} projects off {together} directions of {p} features: nothing is left."
            " Ask for fewer."
        )
    return resolved
