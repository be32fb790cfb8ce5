"""From data to metric, neighbours and maps in one call: what `tl.informed_distance` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..arrays.ops import matmul
from ..runtime.progress import bar, quietly
from ..typing import Floats, Ints, Matrix
from .clusters import Gap, cluster_features, gap_statistic, indicators
from .covariance import Observed, observed
from .local import Clustering, Plan, all_distances, local_metrics
from .metric import Eigenvalues, Metric, Solver, conventional_metric, informed_metric
from .neighbors import (
    CANDIDATES,
    Nearest,
    candidates,
    connectivities,
    diffusion_map,
    mean_metric_points,
    nearest_in_space,
    nearest_of_all,
    nearest_of_candidates,
    nearest_points,
    with_self,
)

#: samples up to which all distances are kept
FULL_MOST = 3000
N_DIFFMAP = 10
#: runs of samples that are worth a bar
WORTH_A_BAR = 10


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for."""

    informed: bool = True
    local: bool = False
    clustering: Clustering = "shared"
    #: `None`: by the gap statistic
    n_clusters: int | None = None
    n_components: int | None = None
    n_neighbors: int = 20
    solver: Solver = "exact"
    eigenvalues: Eigenvalues = "pca"
    #: keep all distances; `None`: where there are few samples
    full: bool | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Distances:
    """What is found."""

    #: the global metric; with `local`, the one that neighbourhoods without spread take
    metric: Metric
    #: cluster of every feature; `None` without clusters or with one clustering each
    labels: Ints | None
    n_clusters: int
    gap: Gap | None
    n_components: int
    #: points whose Euclidean distance is the metric; `None` for local metrics
    coordinates: Floats | None
    #: all distances, or `None`
    pairwise: Floats | None
    nearest: Nearest
    weights: sp.csr_matrix
    #: eigenvalues and coordinates of the diffusion map
    diffusion: tuple[Floats, Floats]


def distances(x: Matrix, request: Request, /, *, labels: Ints | None = None) -> Distances:
    """Make the metric and find neighbours under it; `labels` are clusters of features that are known."""
    data = observed(x)
    gap = None
    n_clusters = 0
    if request.informed:
        labels, n_clusters, gap = _clusters(data, request, labels)
    metric = _global_metric(data, request, labels)
    if request.local:
        coordinates = None
        n_components, pairwise, nearest = _local_distances(data, request, labels, metric, n_clusters)
    else:
        n_components = metric.own.size
        coordinates = matmul(x, metric.factor)
        pairwise, nearest = _global_distances(coordinates, request)
    return Distances(
        metric=metric,
        labels=labels if request.informed and not (request.local and request.clustering == "each") else None,
        n_clusters=n_clusters,
        gap=gap,
        n_components=n_components,
        coordinates=coordinates,
        pairwise=pairwise,
        nearest=nearest,
        weights=connectivities(nearest),
        diffusion=_diffusion(pairwise, nearest, request.seed),
    )


def _clusters(data: Observed, request: Request, labels: Ints | None) -> tuple[Ints, int, Gap | None]:
    gap, count = None, request.n_clusters
    if labels is None:
        if count is None:
            gap = gap_statistic(data, seed=request.seed)
            count = gap.chosen
        labels = cluster_features(data, count, seed=request.seed)
    found = int(labels.max()) + 1
    if request.n_components is not None and request.n_components > found:
        how = "the gap statistic chose" if gap is not None else "features form"
        raise ValueError(
            f"n_components={request.n_components} is more than the {found} clusters that {how};"
            " ask for fewer components, or for more clusters with n_clusters."
        )
    return labels, found, gap


def _global_metric(data: Observed, request: Request, labels: Ints | None) -> Metric:
    # of local metrics, the number of components is that of a neighbourhood
    count = None if request.local else request.n_components
    options: dict[str, Any] = {"n_components": count, "eigenvalues": request.eigenvalues, "seed": request.seed}
    if labels is not None:
        return informed_metric(data, indicators(labels), solver=request.solver, **options)
    return conventional_metric(data, **options)


def _local_distances(
    data: Observed, request: Request, labels: Ints | None, metric: Metric, n_clusters: int
) -> tuple[int, Floats | None, Nearest]:
    n, count = data.shape[0], request.n_neighbors - 1
    keep_all = _keep_all(request, n)
    wanted = count if keep_all else min(CANDIDATES * count, n - 1)
    near = nearest_in_space(data, wanted, seed=request.seed)
    plan = Plan(request.n_components, request.solver, request.eigenvalues, n_clusters)
    local = local_metrics(
        data,
        with_self(near, request.n_neighbors),
        plan,
        spare=metric,
        labels=labels,
        clustering=request.clustering if request.informed else None,
    )
    if keep_all:
        pairwise = all_distances(local, wrap=_bar)
        return local.n_components, pairwise, nearest_of_all(pairwise, count)
    # near by the mean of local metrics as well: what is near under each need not be in Euclidean distance
    pairs = candidates(near, nearest_points(mean_metric_points(local), wanted).indices)
    return local.n_components, None, nearest_of_candidates(local, pairs, count, wrap=_bar)


def _global_distances(coordinates: Floats, request: Request) -> tuple[Floats | None, Nearest]:
    count = request.n_neighbors - 1
    if _keep_all(request, len(coordinates)):
        pairwise = cdist(coordinates, coordinates)
        return pairwise, nearest_of_all(pairwise, count)
    return None, nearest_points(coordinates, count)


def _keep_all(request: Request, n: int) -> bool:
    return n <= FULL_MOST if request.full is None else request.full


def _diffusion(pairwise: Floats | None, nearest: Nearest, seed: int) -> tuple[Floats, Floats]:
    count = min(N_DIFFMAP, nearest.indices.shape[0] - 2)
    return diffusion_map(nearest.as_graph() if pairwise is None else pairwise, count, seed=seed)


def _bar(parts: Iterable[Ints]) -> Iterator[Ints]:
    listed = list(parts)
    for part in bar(listed, desc="local metrics", disable=len(listed) < WORTH_A_BAR):
        with quietly():
            yield part
