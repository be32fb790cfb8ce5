"""What a report shows of the results of each tool: tables, figures, and the paper to cite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from anndata import AnnData

from .._calls import Call

#: differential vectors of the table of DiSC; the others are in the AnnData
MAX_VECTORS = 2

DISC = "Sristi, Mishne & Jaffe. DiSC: Differential Spectral Clustering of Features. NeurIPS 2022."
PDA = "Mueller & Jaakkola. Principal Differences Analysis. NeurIPS 2015."
DUFS = "Lindenbaum et al. Differentiable Unsupervised Feature Selection based on a Gated Laplacian. NeurIPS 2021."
INFORMED = "Lahav, Talmon & Kluger. Mahalanobis Distance Informed by Clustering. Information and Inference, 2019."
PRESERVATION = (
    "Ritchie et al. A Scalable Permutation Approach Reveals Replication and Preservation Patterns of Network Modules in"
    " Large Datasets. Cell Systems 3, 2016 (NetRep)."
)
LAPLACIAN = "He, Cai & Niyogi. Laplacian Score for Feature Selection. NeurIPS 2005."


def _few_vectors(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns=[c for c in table.columns if _number_of_vector(str(c)) > MAX_VECTORS])


def _by_score(table: pd.DataFrame) -> pd.DataFrame:
    return _few_vectors(table).sort_values("score", ascending=False, kind="stable", na_position="last")


def _by_best_pvalue(table: pd.DataFrame) -> pd.DataFrame:
    best = table[[c for c in table.columns if str(c).endswith("_pval_adj")]].min(axis=1)
    return table.iloc[best.reset_index(drop=True).sort_values(kind="stable").index.to_numpy()]


def _number_of_vector(column: str) -> int:
    stem, _, number = column.rpartition("_")
    return int(number) if stem in ("vector", "spread") and number.isdigit() else 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table by the function of `get` that reads it."""

    title: str
    name: str
    select: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table

    def call(self, key: str) -> Call:
        """Return the call that reads the table of the results under a key."""
        return Call(f"dn.get.{self.name}", (), {"key": key}, result=self.name)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by the function of `pl` that draws it."""

    title: str
    name: str

    def call(self, key: str) -> Call:
        """Return the call that draws the results under a key."""
        return Call(f"dn.pl.{self.name}", (), {"key": key})


@dataclass(frozen=True, slots=True)
class Section:
    """The results of a tool."""

    title: str
    question: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    paper: str = ""


_SPARDA = (
    (Table("Projections", "sparda_summary"), Table("Features", "sparda")),
    (
        Figure("Weights", "sparda"),
        Figure("Number of features", "sparda_path"),
        Figure("Projection", "sparda_projection"),
    ),
)

SECTIONS = {
    "scorecard": Section(
        "Scorecard",
        "How does each feature differ: in its mean, spread, distribution, or connectivity?",
        (Table("Features", "scorecard", _by_best_pvalue),),
        (Figure("Leading features", "scorecard"), Figure("Trends of leading features", "trend")),
    ),
    "disc": Section(
        "DiSC",
        "Which groups of features are connected in one condition only?",
        (
            Table("Evidence for groups", "disc_evidence"),
            Table("Groups", "disc_groups"),
            Table("Replication in halves of the samples", "disc_replication"),
            Table("Singular values", "disc_significance"),
            Table("Features", "disc", _by_score),
        ),
        (Figure("Singular values and permutations", "disc_significance"), Figure("Groups", "disc_groups")),
        DISC,
    ),
    "enrich": Section(
        "Enrichment",
        "Which named sets hold more of the features that were found than chance would have it?",
        (Table("Sets", "enrich"),),
        (Figure("Leading sets", "enrich"),),
    ),
    "preservation": Section(
        "Preservation",
        "Are the groups that were found in a reference connected in these data?",
        (Table("Groups", "preservation"),),
        (Figure("Groups against random sets", "preservation"),),
        PRESERVATION,
    ),
    "project": Section(
        "Projection",
        "How much of what was found in a reference do the features of these data hold?",
        (Table("Projections", "projection"),),
    ),
    "power": Section(
        "Power",
        "How many units does a group of connected features need to be found?",
        (Table("Sizes", "power"),),
        (Figure("Power", "power"),),
    ),
    "sparda": Section("SPARDA", "Along which few features do two conditions differ most?", *_SPARDA, PDA),
    "pda": Section("PDA", "Along which direction do two conditions differ most?", *_SPARDA, PDA),
    "dufs": Section(
        "DUFS",
        "Which features carry the structure of the data, without any labels?",
        (Table("Gates that are open", "dufs_summary"), Table("Features", "dufs")),
        (Figure("Gates", "dufs"),),
        DUFS,
    ),
    "diverse_features": Section(
        "Diverse features",
        "Which features carry the structure of the data, and are not redundant?",
        (Table("Features", "diverse_features"),),
    ),
    "laplacian_score": Section(
        "Laplacian score",
        "Which features vary smoothly over similar observations?",
        (Table("Features", "laplacian_score"),),
        paper=LAPLACIAN,
    ),
    "informed_distance": Section(
        "Informed distance",
        "How far apart are observations, given that features form clusters?",
        (Table("Numbers chosen", "informed_summary"), Table("Features", "informed_clusters")),
        (Figure("Embedding", "informed_embedding"), Figure("Number of clusters", "informed_gap")),
        INFORMED,
    ),
    "feature_diffmap": Section(
        "Diffusion maps of features",
        "Which features are connected in each condition?",
        (Table("Features", "feature_diffmap"),),
        (Figure("Diffusion maps", "feature_diffmap"),),
    ),
    "feature_change": Section(
        "Change of features", "Where do two conditions differ?", (Table("Features", "feature_change"),)
    ),
    "survival": Section(
        "Survival",
        "Do groups of samples survive differently?",
        (Table("Tests", "survival_tests"), Table("Groups", "survival_groups")),
        (Figure("Kaplan–Meier curves", "survival"),),
    ),
}


def read_table(adata: AnnData, table: Table, key: str) -> pd.DataFrame | None:
    """Read a table; `None` where these results have none."""
    try:
        found = table.select(table.call(key).run(adata))
    except (KeyError, ValueError):
        return None
    return found if isinstance(found, pd.DataFrame) and not found.empty else None
