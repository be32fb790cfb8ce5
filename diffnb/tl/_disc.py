"""`tl.disc`: groups of features whose connectivity differs between conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, Results, bound, expand, measurable, pull, pull_counts, store, warn_of_depth
from .._keys import DiscKeys
from ..core.disc import Analysis, AnalysisOptions, DiscOptions, FeatureGraphOptions, analyse, complete_samples
from ..core.spectral.distances import METRICS
from ..core.spectral.kernels import KERNELS, KernelFunction
from ..core.stats.samples import nested
from ..core.typing import Floats
from ._docs import documented_tool
from ._feature_graph import GRAPHS, check_neighbors

STANDARDIZE = ("global", "within")
NULLS = ("labels", "connectivity")


@documented_tool
def disc(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[str] | None = None,
    sample_key: str | None = None,
    layer: str | None = None,
    counts: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    metric: Literal["euclidean", "correlation", "cosine"] = "euclidean",
    standardize: Literal["global", "within"] | None = None,
    kernel: Literal["self_tuning", "self_tuning_product", "rbf"] | KernelFunction = "self_tuning",
    density_normalize: bool = True,
    graph: Literal["auto", "dense", "knn"] = "auto",
    neighbors: Literal["auto", "exact", "approximate"] = "auto",
    n_neighbors: int | Literal["auto"] = "auto",
    n_eigenvectors: int | Sequence[int] | Mapping[str, int] | Literal["auto"] = "auto",
    n_components: int = 10,
    n_clusters: int | Literal["auto"] = "auto",
    n_permutations: int = 0,
    null: Literal["labels", "connectivity"] = "labels",
    n_bootstraps: int = 0,
    project_trivial: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "disc",
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
    layer
    counts
        ... The graph of every condition is made of these correlations ρ, with squared distances 2(1 − ρ); `layer`,
        `metric` and `standardize` do not change it. Correlations are shrunk towards zero by what may be
        noise, to half at two standard errors, and features that vary too little beyond counting noise are excluded.
        Where depths differ, the shallower condition remains noisier: match depth first, and name the matched counts.
    mask_var
    metric
    standardize
        ... `"within"`: within each condition, which leaves differences in relations only.
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
        Groups of features per condition, the background counted; `"auto"`: by σ above that of a few permutations
        of the labels, the last clear drop in it, and the silhouette. Where no σ is above chance, all features
        are background.
    n_permutations
    null
        `"labels"`: no difference at all; `"connectivity"`: no difference besides shifts and scales of single
        features.
    n_bootstraps
        Bootstrap draws for the stability of each feature's group; 0 for none.
    project_trivial
        `True` projects the constant eigenvector off with the others; `False` leaves it out and drops the
        first singular vector, as the authors' code does.
    random_state
    n_jobs
    key_added
    copy

    Returns
    -------
    `None`, or the copy. Adds

    - `varm[key_added]`: vectors, score (and stability, spread) of each feature, a column each;
    - `var[f"{key_added}_{condition}"]`: group of each feature, `"background"` or the condition with a number;
    - `uns[key_added]`: σ, p-values, what was chosen, parameters.

    Read them with :func:`diffnb.get.disc` and :func:`diffnb.get.disc_significance`.

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
    _check_options(metric, standardize, kernel, graph, null)
    check_neighbors(neighbors, graph)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var, sample_key=sample_key)
    data, raw = measurable(data, pull_counts(adata, data, counts))
    warn_of_depth(adata, data, groupby)
    if sample_key is not None:
        _check_samples(data, sample_key)
    p = data.n_features
    few = f"there are {p} features"
    options = AnalysisOptions(
        disc=DiscOptions(
            graph=FeatureGraphOptions(
                kind=graph,
                n_neighbors=validate.auto_count("n_neighbors", n_neighbors, at_most=p - 1, why=few) or "auto",
                search=neighbors,
                metric=metric,
                standardize=standardize,
                kernel=kernel,
                density_normalize=density_normalize,
                seed=validate.count("random_state", random_state, at_least=0),
            ),
            n_eigenvectors=_eigenvector_counts(n_eigenvectors, data.groups, p) or "auto",
            n_components=validate.count("n_components", n_components),
            project_trivial=project_trivial,
        ),
        n_clusters=validate.auto_count("n_clusters", n_clusters, at_least=2, at_most=p, why=few) or "auto",
        n_permutations=validate.count("n_permutations", n_permutations, at_least=0),
        null=null,
        n_bootstraps=validate.count("n_bootstraps", n_bootstraps, at_least=0),
    )
    analysis = analyse(data.matrices if raw is None else raw, options, samples=data.samples, n_jobs=n_jobs)
    _log(analysis, data)
    keys = DiscKeys(key_added)
    return store(adata, keys, _results(keys, data, analysis), call, copy=copy)


def _check_options(metric: object, standardize: object, kernel: object, graph: object, null: object) -> None:
    validate.choice("metric", metric, METRICS)
    validate.choice("graph", graph, ("auto", *GRAPHS))
    validate.choice("null", null, NULLS)
    if standardize is not None:
        validate.choice("standardize", standardize, STANDARDIZE)
    if not callable(kernel):
        validate.choice("kernel", kernel, tuple(KERNELS))


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


def _log(analysis: Analysis, data: Pulled) -> None:
    settings, graph = analysis.settings, analysis.settings.graph
    log.info(
        f"DiSC of {data.n_features} features: {graph.kind} graph ({graph.search} neighbors),"
        f" n_neighbors={graph.n_neighbors}, n_eigenvectors={list(settings.n_eigenvectors)},"
        f" n_clusters={[g.n_clusters for g in analysis.groups]}"
    )


def _values(analysis: Analysis, m: int) -> dict[str, Floats]:
    """Return the columns of one condition by their names."""
    found = {f"vector_{i + 1}": vector for i, vector in enumerate(analysis.vectors[m].T)}
    found["score"] = analysis.groups[m].scores
    if analysis.stability is not None:
        found["stability"] = analysis.stability[m]
    if analysis.spread is not None:
        found |= {f"spread_{i + 1}": spread for i, spread in enumerate(analysis.spread[m].T)}
    return found


def _results(keys: DiscKeys, data: Pulled, analysis: Analysis) -> Results:
    has_stability, has_spread = analysis.stability is not None, analysis.spread is not None
    names = keys.columns(data.groups, analysis.sigma.shape[1], stability=has_stability, spread=has_spread)
    table = {
        names[group][name]: expand(values, data.kept)
        for m, group in enumerate(data.groups)
        for name, values in _values(analysis, m).items()
    }
    columns = keys.feature_groups(data.groups)
    labels = [_named(g.labels, group, data) for g, group in zip(analysis.groups, data.groups, strict=True)]
    return Results(
        var=dict(zip(columns, labels, strict=True)),
        varm={keys.varm: pd.DataFrame(table)},
        described={
            "groups": np.array(data.groups, dtype=object),
            "group_columns": np.array(columns, dtype=object),
            "n_constant": data.n_constant,
            "has_stability": has_stability,
            "has_spread": has_spread,
            **_described(analysis),
            **_tested(analysis),
            **_per_sample(analysis, data),
        },
    )


def _described(analysis: Analysis) -> dict[str, Any]:
    settings = analysis.settings
    return {
        "sigma": analysis.sigma,
        "graph": settings.graph.kind,
        "neighbors": settings.graph.search,
        "n_neighbors": settings.graph.n_neighbors,
        "n_eigenvectors": np.array(settings.n_eigenvectors),
        "n_clusters": np.array([g.n_clusters for g in analysis.groups]),
        "n_leading": np.array([g.n_leading for g in analysis.groups]),
    }


def _tested(analysis: Analysis) -> dict[str, Any]:
    tested = analysis.significance
    if tested is None:
        return {}
    return {"pvals": tested.pvals, "sigma_tested": tested.sigma, "sigma_null": tested.null_sigma}


def _per_sample(analysis: Analysis, data: Pulled) -> dict[str, Any]:
    if analysis.sigma_each is None:
        return {}
    samples = np.array([data.sample_names[s] for s in analysis.subjects], dtype=object)
    return {"sigma_each": analysis.sigma_each, "samples": samples}


def _named(labels: Any, group: str, data: Pulled) -> pd.Categorical:
    names = ["background", *(f"{group}{i}" for i in range(1, int(labels.max()) + 1))]
    codes = np.full(data.kept.size, -1)
    codes[data.kept] = labels
    return pd.Categorical.from_codes(codes, names)
