"""What a user asks of DiSC (options), and the same with every choice resolved (settings)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..spectral.distances import Metric
from ..spectral.feature_knn import Search
from ..spectral.kernels import KernelFunction
from ..typing import Auto, Standardize

GraphKind: TypeAlias = Literal["dense", "knn"]

#: neighbours that a feature keeps in a nearest-neighbour graph, in units of n_neighbors
KEPT_PER_NEIGHBOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGraphOptions:
    """How the features of a condition become a graph; `"auto"` leaves a choice to the data."""

    kind: GraphKind | Auto = "auto"
    #: the bandwidth of a feature is the distance to this neighbour
    n_neighbors: int | Auto = "auto"
    #: how a nearest-neighbour graph finds its neighbours
    search: Search | Auto = "auto"
    metric: Metric = "euclidean"
    standardize: Standardize | None = None
    kernel: str | KernelFunction = "self_tuning"
    density_normalize: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FeatureGraphSettings:
    """Options of a graph with every choice resolved."""

    n_neighbors: int
    kind: GraphKind = "dense"
    search: Search = "exact"
    metric: Metric = "euclidean"
    standardize: Standardize | None = None
    kernel: str | KernelFunction = "self_tuning"
    density_normalize: bool = True
    seed: int = 0


def kept_neighbors(n_neighbors: int, n_features: int, /) -> int:
    """Return how many neighbours a feature keeps in a nearest-neighbour graph."""
    return min(KEPT_PER_NEIGHBOR * n_neighbors, n_features - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscOptions:
    """What DiSC needs besides the data; `"auto"` leaves a choice to the data."""

    graph: FeatureGraphOptions = field(default_factory=FeatureGraphOptions)
    #: per condition, how many of its eigenvectors are projected off the others
    n_eigenvectors: tuple[int, ...] | Auto = "auto"
    n_components: int = 10
    #: True projects the constant eigenvector off with the others; False leaves it out, as the authors' code does
    project_trivial: bool = True


@dataclass(frozen=True, slots=True)
class DiscSettings:
    """Options of DiSC with every choice resolved."""

    graph: FeatureGraphSettings
    n_eigenvectors: tuple[int, ...]
    n_components: int = 10
    project_trivial: bool = True

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return self.graph.seed

    @property
    def n_skipped(self) -> int:
        """Number of leading (constant) vectors that are not counted."""
        return 0 if self.project_trivial else 1
