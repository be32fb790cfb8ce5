"""DiSC: groups of features whose connectivity differs between conditions (Algorithms 1 and 2 of the paper).

Sristi, Mishne & Jaffe, "DiSC: Differential Spectral Clustering of Features", NeurIPS 2022.

`fit_disc` resolves what the options leave to the data; `refit` repeats a fit on other observations with its settings,
as permutations, bootstraps and the analysis of single subjects do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..arrays.gram_stats import GramStats
from ..runtime.threads import thread_limits
from ..spectral.eigen import complement, right_singular_pairs, walk_eigenvectors
from ..spectral.walk import Walk
from ..typing import Floats, Matrix
from .defaults import components_for, eigenvectors_for, n_eigenvalues_for, resolve_graph
from .feature_graph import as_points, feature_walk, points_from_stats
from .settings import DiscOptions, DiscSettings, FeatureGraphSettings

#: eigenvalues in descending order, and eigenvectors as columns
Eigenpairs: TypeAlias = tuple[Floats, Floats]

#: relative differences in σ below this are rounding: a fit may have computed more eigenvectors than it projects off
SIGMA_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class DiscFit:
    """Differential vectors and their significance levels, per condition."""

    settings: DiscSettings
    #: per condition, the random walk on its features: p × p numbers for a dense graph; see `without_walks`
    walks: list[Walk]
    #: conditions × components
    sigma: Floats
    #: conditions × features × components
    vectors: Floats
    #: per condition, the leading eigenvalues of its random walk
    eigenvalues: list[Floats]

    def without_walks(self) -> DiscFit:
        """Return the fit without its walks, to release their memory while other fits are computed."""
        return replace(self, walks=[])


def fit_disc(
    matrices: Sequence[Matrix], options: DiscOptions, /, *, stats: Sequence[GramStats] | None = None
) -> DiscFit:
    """Compute differential vectors of every condition against the span of all others (Eqs. 6, 7; 19–21).

    `stats` are sums over each condition, where they are known already.
    """
    with thread_limits(matrices[0].shape[1]):
        if stats is None:
            points = as_points(matrices, options.graph.standardize)
        else:
            points = points_from_stats([(own,) for own in stats], options.graph.standardize)
        graph = resolve_graph(points, options.graph)
        walks = [feature_walk(c, graph) for c in points]
        known = [_leading_pairs(walk, graph) for walk in walks] if options.n_eigenvectors == "auto" else None
        return fit_walks(walks, _settings(options, graph, known, points[0].n_features), known=known)


def resolve(matrices: Sequence[Matrix], options: DiscOptions, /) -> DiscSettings:
    """Return the settings of `fit_disc` without the fit: no more is computed than open choices depend on."""
    with thread_limits(matrices[0].shape[1]):
        points = as_points(matrices, options.graph.standardize)
        graph = resolve_graph(points, options.graph)
        known = None
        if options.n_eigenvectors == "auto":
            known = [_leading_pairs(feature_walk(c, graph), graph) for c in points]
        return _settings(options, graph, known, points[0].n_features)


def refit(matrices: Sequence[Matrix], settings: DiscSettings, /) -> DiscFit:
    """Fit with settings that have been resolved before."""
    with thread_limits(matrices[0].shape[1]):
        points = as_points(matrices, settings.graph.standardize)
        return fit_walks([feature_walk(c, settings.graph) for c in points], settings)


def _leading_pairs(walk: Walk, graph: FeatureGraphSettings) -> Eigenpairs:
    return walk_eigenvectors(walk, n_eigenvalues_for(walk.n_features), seed=graph.seed)


def _settings(
    options: DiscOptions, graph: FeatureGraphSettings, known: Sequence[Eigenpairs] | None, n_features: int
) -> DiscSettings:
    if options.n_eigenvectors != "auto":
        counts = options.n_eigenvectors
    else:
        assert known is not None
        trivial = 0 if options.project_trivial else 1
        counts = tuple(eigenvectors_for(values, n_features, len(known)) - trivial for values, _ in known)
    n_components = components_for(options.n_components, counts, n_features)
    return DiscSettings(graph, counts, n_components, project_trivial=options.project_trivial)


def fit_walks(
    walks: Sequence[Walk], settings: DiscSettings, /, *, known: Sequence[Eigenpairs] | None = None
) -> DiscFit:
    """Compute differential vectors from random walks.

    `known` eigenpairs, at least as many as the settings ask for, are not computed again.
    """
    skipped, counts = settings.n_skipped, settings.n_eigenvectors
    if known is None:
        known = [
            walk_eigenvectors(walk, skipped + count, seed=settings.seed)
            for walk, count in zip(walks, counts, strict=True)
        ]
    spans = [vectors[:, skipped : skipped + count] for (_, vectors), count in zip(known, counts, strict=True)]
    found = [_differential(walk, spans[:m] + spans[m + 1 :], settings) for m, walk in enumerate(walks)]
    return DiscFit(
        settings,
        list(walks),
        sigma=np.stack([sigma for sigma, _ in found]),
        vectors=np.stack([vectors for _, vectors in found]),
        eigenvalues=[values for values, _ in known],
    )


def _differential(walk: Walk, others: Sequence[Floats], settings: DiscSettings) -> tuple[Floats, Floats]:
    """Significance levels and differential vectors of one condition against the spans of the others."""
    skipped = settings.n_skipped
    sigma, vectors = right_singular_pairs(walk, complement(others), settings.n_components + skipped, seed=settings.seed)
    return sigma[skipped:], vectors[:, skipped:]
