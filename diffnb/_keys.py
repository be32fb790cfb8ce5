"""Every slot name of every result, once.

A key is what the user gives as `key_added`; from it follow the places in the AnnData.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: the feature group of all features that belong to no group
BACKGROUND_GROUP = "background"


def plain(name: str) -> str:
    """Make a category usable inside a slot name: HDF5 and zarr read a slash as a folder."""
    return name.replace("/", "∕")  # the division slash, which looks the same and is only a character


def unique(names: Sequence[str]) -> list[str]:
    """Tell apart names that became equal."""
    seen: dict[str, int] = {}
    told_apart = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told_apart.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return told_apart


@dataclass(frozen=True, slots=True)
class DiscKeys:
    """Where `tl.disc` and its companions keep their results."""

    key: str = "disc"

    @property
    def uns(self) -> str:
        """Parameters, σ, p-values and what was chosen."""
        return self.key

    @property
    def varm(self) -> str:
        """Vectors, score, stability and spread of every feature, a column each."""
        return self.key

    @property
    def obsm(self) -> str:
        """Meta-features of every observation."""
        return f"X_{self.key}"

    def feature_groups(self, groups: Sequence[str]) -> list[str]:
        """Name the `var` columns that hold the feature groups, one a condition."""
        return unique([f"{self.key}_{plain(group)}" for group in groups])


@dataclass(frozen=True, slots=True)
class DiffmapKeys:
    """Where `tl.feature_diffmap` keeps its results."""

    key: str = "feature_diffmap"

    @property
    def uns(self) -> str:
        """Parameters and eigenvalues."""
        return self.key

    @property
    def varm(self) -> str:
        """Diffusion vectors of every feature, a column each."""
        return self.key


@dataclass(frozen=True, slots=True)
class ChangeKeys:
    """Where `tl.feature_change` keeps its results."""

    key: str = "feature_change"

    @property
    def uns(self) -> str:
        """Parameters and the two conditions."""
        return self.key

    @property
    def var(self) -> str:
        """How far every feature moves between the conditions."""
        return self.key


@dataclass(frozen=True, slots=True)
class ScorecardKeys:
    """Where `tl.scorecard` keeps its results."""

    key: str = "scorecard"

    @property
    def uns(self) -> str:
        """Parameters and the pairs of conditions."""
        return self.key

    @property
    def varm(self) -> str:
        """Statistics and p-values of every feature, a column each."""
        return self.key


@dataclass(frozen=True, slots=True)
class SpardaKeys:
    """Where `tl.sparda` and `tl.pda` keep their results."""

    key: str = "sparda"

    @property
    def uns(self) -> str:
        """Parameters, pairs, objectives, p-values and the path along the number of features."""
        return self.key

    @property
    def varm(self) -> str:
        """Weights of every feature, a column per comparison and projection."""
        return self.key

    @property
    def obsm(self) -> str:
        """Projections of every observation, columns in the same order."""
        return f"X_{self.key}"

    def columns(self, pairs: Sequence[tuple[str, str]], n_projections: int) -> list[str]:
        """Name the columns of weights, comparison by comparison."""
        return unique(
            [f"{plain(g)}_vs_{plain(r)}_{i + 1}" for g, r in pairs for i in range(n_projections)],
        )


@dataclass(frozen=True, slots=True)
class InformedKeys:
    """Where `tl.informed_distance` keeps its results; the first three are what scanpy reads."""

    key: str = "informed"

    @property
    def uns(self) -> str:
        """Parameters, eigenvalues, the gap statistic; scanpy's `neighbors_key`."""
        return self.key

    @property
    def distances(self) -> str:
        """`obsp`: distances to nearest neighbours."""
        return f"{self.key}_distances"

    @property
    def connectivities(self) -> str:
        """`obsp`: weights between neighbours."""
        return f"{self.key}_connectivities"

    @property
    def pairwise(self) -> str:
        """`obsp`: distances between all observations."""
        return f"{self.key}_pairwise"

    @property
    def coordinates(self) -> str:
        """`obsm`: points whose Euclidean distance is the global metric."""
        return f"X_{self.key}"

    @property
    def diffmap(self) -> str:
        """`obsm`: diffusion map of the metric."""
        return f"X_{self.key}_diffmap"

    @property
    def varm(self) -> str:
        """Principal directions of the global metric, a column each."""
        return self.key

    @property
    def clusters(self) -> str:
        """`var`: cluster of each feature."""
        return f"{self.key}_cluster"


@dataclass(frozen=True, slots=True)
class SurvivalKeys:
    """Where `tl.survival` keeps its results."""

    key: str = "survival"

    @property
    def uns(self) -> str:
        """Parameters, curves and tests."""
        return self.key

    @property
    def obs(self) -> str:
        """Group of each observation, where the call made the groups."""
        return f"{self.key}_group"


@dataclass(frozen=True, slots=True)
class DufsKeys:
    """Where `tl.dufs` keeps its results."""

    key: str = "dufs"

    @property
    def uns(self) -> str:
        """Parameters and how training went."""
        return self.key

    @property
    def var(self) -> str:
        """Whether a feature is selected."""
        return self.key

    @property
    def varm(self) -> str:
        """Gate and µ of every feature, a column each."""
        return self.key


@dataclass(frozen=True, slots=True)
class LaplacianScoreKeys:
    """Where `tl.laplacian_score` keeps its results."""

    key: str = "laplacian_score"

    @property
    def uns(self) -> str:
        """Parameters."""
        return self.key

    @property
    def var(self) -> str:
        """Score of every feature."""
        return self.key
