"""Every slot and column name of every result, once.

A key is what the user gives as `key_added`; from it follow the slots of the AnnData.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._key_checks import check_key

#: places of an AnnData that hold results by name
PLACES = ("obs", "var", "obsm", "varm", "obsp", "varp", "uns")

#: a place of an AnnData and a name in it, such as `("varm", "disc")`
Slot = tuple[str, str]

#: the feature group of all features that belong to no group
BACKGROUND_GROUP = "background"

#: a group with a larger share of all features follows a global factor rather than a mechanism of few features
MAX_SHARE_OF_FEATURES = 1 / 3
#: among fewer features a third is a group like any other
MIN_FEATURES_FOR_GLOBAL = 100


def follows_global_factor(n_members: int, n_features: int) -> bool:
    """Return whether a group is too large to be anything but a cell type, depth, motion or illumination."""
    return n_features >= MIN_FEATURES_FOR_GLOBAL and n_members > MAX_SHARE_OF_FEATURES * n_features


def plain(name: str) -> str:
    """Make a category usable inside a slot name: HDF5 and zarr read slashes as folders."""
    # characters that look the same and are only characters
    return name.replace("/", "∕").replace("\\", "⧵")


def unique(names: Sequence[str]) -> list[str]:
    """Make names unique by numbering the repeated ones."""
    taken = set(names)
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        numbered.append(name if seen[name] == 1 else next(free for free in _numbers(name, seen) if free not in taken))
        taken.add(numbered[-1])
    return numbered


def _numbers(name: str, seen: dict[str, int]) -> Iterator[str]:
    """Yield a name with one number after the other, from that of its last repetition."""
    while True:
        yield f"{name}_{seen[name]}"
        seen[name] += 1


def counted(name: str, n: int) -> list[str]:
    """Name `n` columns of the same kind, from 1."""
    return [f"{name}_{i + 1}" for i in range(n)]


def by_group(groups: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Name the stored columns of each condition: `by_group(["A"], ["score"])["A"]["score"]` is `"A_score"`."""
    stored = iter(unique([f"{plain(group)}_{name}" for group in groups for name in names]))
    return {group: {name: next(stored) for name in names} for group in groups}


@dataclass(frozen=True, slots=True)
class Keys:
    """Slots of the results under one key, the names that most tools share."""

    key: str

    #: how to make such results, for errors
    made_by: ClassVar[str]
    #: what an entry of `uns` holds if it is one of these results
    entries: ClassVar[tuple[str, ...]]
    #: the slots that every call writes besides `uns`, as places and names of properties
    written: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __post_init__(self) -> None:
        """Refuse a key that no file can hold."""
        check_key("key", self.key)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the functions that make such results."""
        return (self.made_by.removeprefix("tl.").partition("(")[0],)

    @property
    def uns(self) -> str:
        """What describes the results as a whole, with the parameters of the call."""
        return self.key

    @property
    def var(self) -> str:
        """One value per feature."""
        return self.key

    @property
    def varm(self) -> str:
        """Several values per feature, a table with named columns."""
        return self.key

    @property
    def obsm(self) -> str:
        """Several values per observation."""
        return f"X_{self.key}"

    @property
    def always(self) -> list[Slot]:
        """Slots that every call writes; others depend on the data and on arguments."""
        return [("uns", self.uns), *((place, getattr(self, name)) for place, name in self.written)]

    def owned(self, adata: Any, /) -> list[Slot]:
        """List the slots that earlier calls under this key have written and that still exist."""
        entry = adata.uns.get(self.uns)
        if entry is None:
            return []
        written = [*recorded_slots(entry, self.key), ("uns", self.uns)]
        return [(place, name) for place, name in written if name in getattr(adata, place)]


def recorded_slots(entry: Any, key: str, /) -> list[Slot]:
    """List the slots that the record of a call under this key names, without its entry of `uns`."""
    if not is_recorded(entry, key):
        return []
    slots = [str(slot).partition("/") for slot in np.atleast_1d(np.asarray(entry["call"].get("slots", ())))]
    return [(place, name) for place, _, name in slots if place in PLACES]


def is_recorded(entry: Any, key: str, /) -> bool:
    """Return whether an entry of `uns` records a call of a tool under this key.

    An entry that was copied to another key lists the slots of the original, which are not for the copy to remove.
    """
    call = entry.get("call") if isinstance(entry, Mapping) else None
    return isinstance(call, Mapping) and "tool" in call and str(call.get("key")) == key


def is_of_earlier_version(entry: Any, /) -> bool:
    """Return whether an entry of `uns` looks like results that were stored before calls were recorded."""
    if not isinstance(entry, Mapping) or "call" in entry or not isinstance(entry.get("params"), Mapping):
        return False
    return any({*keys.entries, "params"} <= set(entry) for keys in Keys.__subclasses__())


def owner_of(adata: Any, slot: Slot, /) -> str | None:
    """Return the key under which results are stored that this slot belongs to."""
    for key, entry in adata.uns.items():
        if slot in recorded_slots(entry, str(key)):
            return str(key)
    return None


@dataclass(frozen=True, slots=True)
class DiscKeys(Keys):
    """`tl.disc`: `varm` with vectors, score, stability and spread; `obsm` with the meta-features."""

    key: str = "disc"
    made_by: ClassVar[str] = "tl.disc(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("sigma", "groups", "group_columns", "n_leading", "params")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("varm", "varm"),)

    def feature_groups(self, groups: Sequence[str]) -> list[str]:
        """Name the `var` columns that hold the feature groups, one per condition."""
        return unique([f"{self.key}_{plain(group)}" for group in groups])

    def nested_groups(self, groups: Sequence[str]) -> list[str]:
        """Name the `var` columns that hold subgroups, one per condition."""
        columns = self.feature_groups(groups)
        # a condition may itself be called "A_nested"
        return unique([*columns, *(f"{self.key}_{plain(group)}_nested" for group in groups)])[len(columns) :]

    def columns(
        self, groups: Sequence[str], n_vectors: int, *, stability: bool, spread: bool, membership: bool = False
    ) -> dict[str, dict[str, str]]:
        """Name the columns of `varm`, for each condition."""
        further = [name for name, has in (("membership", membership), ("stability", stability)) if has]
        names = [*counted("vector", n_vectors), "score", *further]
        return by_group(groups, [*names, *(counted("spread", n_vectors) if spread else [])])

    def meta_features(self, groups: Sequence[str], n_vectors: int) -> list[str]:
        """Name the columns of `obsm`, condition by condition."""
        return unique([f"{plain(group)}_{i + 1}" for group in groups for i in range(n_vectors)])


@dataclass(frozen=True, slots=True)
class DiffmapKeys(Keys):
    """`tl.feature_diffmap`: `varm` with the diffusion vectors."""

    key: str = "feature_diffmap"
    made_by: ClassVar[str] = "tl.feature_diffmap(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("eigenvalues", "groups")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("varm", "varm"),)

    def columns(self, groups: Sequence[str], n_vectors: int) -> dict[str, dict[str, str]]:
        """Name the columns of `varm`, for each condition."""
        return by_group(groups, counted("vector", n_vectors))


@dataclass(frozen=True, slots=True)
class ChangeKeys(Keys):
    """`tl.feature_change`: `var` with the distance between the conditions, and with p-values of detectors."""

    key: str = "feature_change"
    made_by: ClassVar[str] = "tl.feature_change(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("groups", "change", "params")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("var", "var"),)

    @property
    def pval(self) -> str:
        """Chance that a feature without change scores as high."""
        return f"{self.key}_pval"


@dataclass(frozen=True, slots=True)
class ScorecardKeys(Keys):
    """`tl.scorecard`: `varm` with statistics and p-values."""

    key: str = "scorecard"
    made_by: ClassVar[str] = "tl.scorecard(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("pairs", "params")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("varm", "varm"),)

    def prefixes(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Name the comparisons, group and reference; columns of `varm` begin with it."""
        return unique([f"{plain(group)}_vs_{plain(reference)}" for group, reference in pairs])

    def columns(self, prefix: str, kinds: Sequence[str]) -> dict[str, str]:
        """Name the columns of `varm` of one comparison."""
        names = [f"{kind}_{value}" for kind in kinds for value in ("stat", "pval", "pval_adj")]
        return {name: f"{prefix}_{name}" for name in [*names, "kind"]}

    def slopes(self, prefix: str) -> dict[str, str]:
        """Name the columns of `varm` with the slope of the mean in a trend."""
        return {name: f"{prefix}_mean_{name}" for name in ("slope", "slope_low", "slope_high")}


@dataclass(frozen=True, slots=True)
class SpardaKeys(Keys):
    """`tl.sparda` and `tl.pda`: `varm` with weights, `obsm` with projections, columns in the same order."""

    key: str = "sparda"
    made_by: ClassVar[str] = "tl.sparda(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("pairs", "columns", "objective", "path", "share")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("varm", "varm"), ("obsm", "obsm"))

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the functions that make such results."""
        return ("sparda", "pda")

    def columns(self, pairs: Sequence[tuple[str, str]], n_projections: int) -> list[str]:
        """Name the columns of `varm` and `obsm`, comparison by comparison."""
        return unique([f"{plain(g)}_vs_{plain(r)}_{i + 1}" for g, r in pairs for i in range(n_projections)])


@dataclass(frozen=True, slots=True)
class InformedKeys(Keys):
    """`tl.informed_distance`: a neighbour graph as scanpy reads it, and the metric; `varm` with its directions."""

    key: str = "informed"
    made_by: ClassVar[str] = "tl.informed_distance(adata)"
    entries: ClassVar[tuple[str, ...]] = ("distances_key", "has_pairwise", "n_components", "diffmap_evals")
    written: ClassVar[tuple[tuple[str, str], ...]] = (
        ("obsp", "distances"),
        ("obsp", "connectivities"),
        ("obsm", "diffmap"),
    )

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
    def diffmap(self) -> str:
        """`obsm`: diffusion map of the metric."""
        return f"X_{self.key}_diffmap"

    @property
    def clusters(self) -> str:
        """`var`: cluster of each feature."""
        return f"{self.key}_cluster"


@dataclass(frozen=True, slots=True)
class SurvivalKeys(Keys):
    """`tl.survival`: `uns` with curves and tests."""

    key: str = "survival"
    made_by: ClassVar[str] = "tl.survival(adata)"
    entries: ClassVar[tuple[str, ...]] = ("curves", "tests", "n_events")

    @property
    def obs(self) -> str:
        """Group of each observation, where the call made the groups."""
        return f"{self.key}_group"


@dataclass(frozen=True, slots=True)
class DufsKeys(Keys):
    """`tl.dufs`: `var` with the selection, `varm` with gates."""

    key: str = "dufs"
    made_by: ClassVar[str] = "tl.dufs(adata)"
    entries: ClassVar[tuple[str, ...]] = ("training", "scale", "params")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("var", "var"), ("varm", "varm"))


@dataclass(frozen=True, slots=True)
class DiverseFeaturesKeys(Keys):
    """`tl.diverse_features`: `var` with the selection, `varm` with smoothness, unexplained share and rank."""

    key: str = "diverse_features"
    made_by: ClassVar[str] = "tl.diverse_features(adata)"
    entries: ClassVar[tuple[str, ...]] = ("params", "n_selected")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("var", "var"), ("varm", "varm"))


@dataclass(frozen=True, slots=True)
class LaplacianScoreKeys(Keys):
    """`tl.laplacian_score`: `var` with the score."""

    key: str = "laplacian_score"
    made_by: ClassVar[str] = "tl.laplacian_score(adata)"
    entries: ClassVar[tuple[str, ...]] = ("params", "column")
    written: ClassVar[tuple[tuple[str, str], ...]] = (("var", "var"),)


@dataclass(frozen=True, slots=True)
class PreservationKeys(Keys):
    """`tl.preservation`: `uns` with a table of groups."""

    key: str = "preservation"
    made_by: ClassVar[str] = "tl.preservation(reference, query)"
    entries: ClassVar[tuple[str, ...]] = ("groups", "n_matched", "params")


@dataclass(frozen=True, slots=True)
class ProjectionKeys(Keys):
    """`tl.project`: `obsm` with projections and scores of groups, `var` with selections, `uns` with what matched."""

    key: str = "projected"
    made_by: ClassVar[str] = "tl.project(query, reference)"
    entries: ClassVar[tuple[str, ...]] = ("matched", "columns", "params")

    @property
    def group_scores(self) -> str:
        """`obsm`: one column per group of features."""
        return f"X_{self.key}_groups"


@dataclass(frozen=True, slots=True)
class EnrichKeys(Keys):
    """`tl.enrich`: `uns` with a table of lists and sets."""

    key: str = "enrich"
    made_by: ClassVar[str] = "tl.enrich(adata, gene_sets)"
    entries: ClassVar[tuple[str, ...]] = ("list", "set", "n_background", "params")


@dataclass(frozen=True, slots=True)
class PowerKeys(Keys):
    """`tl.power`: `uns` with the power for every size of a study."""

    key: str = "power"
    made_by: ClassVar[str] = "tl.power(adata, groupby)"
    entries: ClassVar[tuple[str, ...]] = ("n_units", "power", "needed", "params")
