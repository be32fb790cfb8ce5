"""The informed Mahalanobis distance from data to metric, neighbours and maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..arrays.ops import matmul
from ..runtime.progress import bar, quietly
from ..runtime.threads import thread_limits
from ..stats.choices import Choice, limited
from ..typing import Floats, Ints, Matrix
from .clusters import Gap, cluster_features, gap_statistic, indicators
from .covariance import SampleCovariance, sample_covariance
from .local import Clustering, LocalOptions, all_distances, local_metrics
from .metric import DirectionSolver, Eigenvalues, MahalanobisMetric, conventional_metric, informed_metric
from .neighbors import (
    CANDIDATES_PER_NEIGHBOR,
    ObservationNeighbors,
    candidate_pairs,
    connectivities,
    mean_metric_points,
    nearest_in_space,
    nearest_of_all,
    nearest_of_candidates,
    nearest_points,
    observation_diffusion_map,
    with_self,
)
from .trade_off import blended_metric

#: observations up to which all distances are kept
MAX_OBS_FOR_ALL_DISTANCES = 3000
N_DIFFUSION_COMPONENTS = 10
#: blocks of observations from which on a progress bar is shown
MIN_BLOCKS_FOR_BAR = 10


@dataclass(frozen=True, slots=True)
class InformedOptions:
    """What a user asks for."""

    informed: bool = True
    local: bool = False
    clustering: Clustering = "shared"
    #: `"auto"`: by the gap statistic
    n_clusters: int | Literal["auto"] = "auto"
    n_components: int | Literal["auto"] = "auto"
    #: size of a neighbourhood, the observation itself included
    n_neighbors: int = 20
    solver: DirectionSolver = "exact"
    eigenvalues: Eigenvalues = "pca"
    #: of the clusters beside PCA, 1 for directions that are constant on clusters; of the global metric
    cluster_weight: float | Literal["auto"] = 1.0
    #: keep all distances; `"auto"`: where there are few observations
    full: bool | Literal["auto"] = "auto"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class InformedSettings:
    """What was used, every choice resolved."""

    #: 0 without clusters
    n_clusters: int
    #: of the metric, or of each local metric
    n_components: int
    #: whether all distances are kept
    full: bool
    #: of the clusters beside PCA, 0 without clusters
    cluster_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class InformedFit:
    """The metric, and distances, neighbours and maps under it."""

    settings: InformedSettings
    #: the global metric; with `local`, that of neighbourhoods without variance
    metric: MahalanobisMetric
    #: cluster of every feature; `None` without clusters, or where each neighbourhood has its own
    labels: Ints | None
    #: `None` where the number of clusters was given
    gap: Gap | None
    #: points whose Euclidean distance is the metric; `None` for local metrics
    coordinates: Floats | None
    #: all distances, where kept
    pairwise: Floats | None
    nearest: ObservationNeighbors
    #: weights of the graph of neighbours
    weights: sp.csr_matrix
    #: eigenvalues and coordinates of the diffusion map
    diffusion: tuple[Floats, Floats]
    #: numbers that the data chose, by the names of their options
    choices: dict[str, Choice]


@dataclass(frozen=True, slots=True)
class _Clusters:
    """Clusters of features, all empty without them."""

    labels: Ints | None = None
    count: int = 0
    gap: Gap | None = None


def fit_informed(
    x: Matrix, options: InformedOptions, /, *, labels: Ints | None = None, n_jobs: int | None = None
) -> InformedFit:
    """Compute the metric and find neighbours under it; `labels` are clusters of features, where they are known."""
    with thread_limits(max(x.shape), n_jobs):
        data = sample_covariance(x)
        clusters = _find_clusters(data, options, labels) if options.informed else _Clusters()
        metric, weight = _global_metric(data, options, clusters.labels)
        full = data.shape[0] <= MAX_OBS_FOR_ALL_DISTANCES if options.full == "auto" else options.full
        coordinates = None
        if options.local:
            n_components, pairwise, nearest = _local_distances(data, options, clusters, metric, full)
        else:
            n_components = metric.own.size
            coordinates = matmul(x, metric.factor)
            pairwise, nearest = _global_distances(coordinates, options, full)
        each = options.local and options.clustering == "each"
        return InformedFit(
            settings=InformedSettings(clusters.count, n_components, full, weight),
            metric=metric,
            labels=None if each else clusters.labels,
            gap=clusters.gap,
            coordinates=coordinates,
            pairwise=pairwise,
            nearest=nearest,
            weights=connectivities(nearest),
            diffusion=_diffusion(pairwise, nearest, options.seed),
            choices=_choices(data, options, clusters, n_components),
        )


def _choices(
    data: SampleCovariance, options: InformedOptions, clusters: _Clusters, n_components: int
) -> dict[str, Choice]:
    choices = {}
    if clusters.gap is not None:
        choices["n_clusters"] = clusters.gap.choice
    if options.n_components == "auto":
        n_obs = options.n_neighbors if options.local else data.shape[0]
        choices["n_components"] = limited(n_components, 1, min(n_obs - 1, clusters.count or data.shape[1]))
    return choices


def _find_clusters(data: SampleCovariance, options: InformedOptions, labels: Ints | None) -> _Clusters:
    gap = None
    if labels is None:
        count = options.n_clusters
        if count == "auto":
            gap = gap_statistic(data, seed=options.seed)
            count = gap.chosen
        labels = cluster_features(data, count, seed=options.seed)
    found = int(labels.max()) + 1
    if options.n_components != "auto" and options.n_components > found:
        how = "the gap statistic chose" if gap is not None else "features form"
        raise ValueError(
            f"n_components={options.n_components} is more than the {found} clusters that {how};"
            " ask for fewer components, or for more clusters with n_clusters."
        )
    return _Clusters(labels, found, gap)


def _global_metric(
    data: SampleCovariance, options: InformedOptions, labels: Ints | None
) -> tuple[MahalanobisMetric, float]:
    """Return the metric, and the weight of the clusters in it."""
    # of local metrics, the number of components is that of a neighbourhood
    count = "auto" if options.local else options.n_components
    if labels is None:
        metric = conventional_metric(data, n_components=count, eigenvalues=options.eigenvalues, seed=options.seed)
        return metric, 0.0
    h, weight = indicators(labels), options.cluster_weight
    if weight != 1.0:
        return blended_metric(data, h, weight, n_components=count, eigenvalues=options.eigenvalues, seed=options.seed)
    metric = informed_metric(
        data, h, n_components=count, solver=options.solver, eigenvalues=options.eigenvalues, seed=options.seed
    )
    return metric, weight


def _global_distances(
    coordinates: Floats, options: InformedOptions, full: bool
) -> tuple[Floats | None, ObservationNeighbors]:
    count = options.n_neighbors - 1
    if not full:
        return None, nearest_points(coordinates, count)
    pairwise = cdist(coordinates, coordinates)
    return pairwise, nearest_of_all(pairwise, count)


def _local_distances(
    data: SampleCovariance, options: InformedOptions, clusters: _Clusters, metric: MahalanobisMetric, full: bool
) -> tuple[int, Floats | None, ObservationNeighbors]:
    """Return the number of components, all distances where wanted, and neighbours."""
    n, count = data.shape[0], options.n_neighbors - 1
    n_candidates = count if full else min(CANDIDATES_PER_NEIGHBOR * count, n - 1)
    near = nearest_in_space(data, n_candidates, seed=options.seed)
    clustering = options.clustering if options.informed else None
    asked = LocalOptions(options.n_components, options.solver, options.eigenvalues, clustering, clusters.count)
    around = with_self(near, options.n_neighbors)
    local = local_metrics(data, around, asked, fallback=metric, labels=clusters.labels)
    if full:
        pairwise = all_distances(local, progress=_with_bar)
        return local.n_components, pairwise, nearest_of_all(pairwise, count)
    # candidates by the mean of local metrics as well: neighbours under these need not be near in Euclidean distance
    pairs = candidate_pairs(near, nearest_points(mean_metric_points(local), n_candidates).indices)
    return local.n_components, None, nearest_of_candidates(local, pairs, count, progress=_with_bar)


def _diffusion(pairwise: Floats | None, nearest: ObservationNeighbors, seed: int) -> tuple[Floats, Floats]:
    count = min(N_DIFFUSION_COMPONENTS, nearest.indices.shape[0] - 2)
    return observation_diffusion_map(nearest.as_graph() if pairwise is None else pairwise, count, seed=seed)


def _with_bar(blocks: Iterable[Ints]) -> Iterator[Ints]:
    listed = list(blocks)
    for block in bar(listed, desc="local metrics", disable=len(listed) < MIN_BLOCKS_FOR_BAR):
        with quietly():
            yield block
