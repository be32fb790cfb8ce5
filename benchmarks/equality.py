"""Results of the public tools with fixed seeds, to compare two versions of the package.

    python benchmarks/equality.py --write before.npz        # with the old version
    python benchmarks/equality.py --against before.npz      # with the new version

Prints the largest difference of every result, relative to its largest value, and exits with status 1 where a result
that involves no random numbers differs by more than the tolerance. Results that depend on random streams
(permutations, folds, random starts) are listed separately: a version may change how it seeds them. They are those of
one seed, and features share its folds and permutations: judge a difference against that between other seeds.

MADELON and Prostate-GE are read from the folder of real data (`DIFFNB_DATA`) and skipped where they are missing.
To run this file with another checkout of the package, set `PYTHONPATH` to that checkout.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
from _tools import DATA, Missing, table

import diffnb as dn

TOLERANCE = 1e-12
N_PERMUTATIONS = 9
#: features above which nothing is permuted: a permutation of DiSC or SPARDA then takes seconds
MAX_FEATURES_TO_PERMUTE = 1000
#: features above which the clusters of the informed distance start from a random subset of them
MAX_FEATURES_TO_CLUSTER = 5000
Results = dict[str, np.ndarray]


# --- data ---------------------------------------------------------------------------------------------------------


def real(name: str, n_obs: int | None = None) -> ad.AnnData:
    """Read a data set of scikit-feature, its labels in `obs["condition"]`, constant features removed."""
    from scipy.io import loadmat

    path = DATA / "feature-selection" / f"{name}.mat"
    if not path.exists():
        raise Missing(f"{path.name} is not in the folder of real data; set DIFFNB_DATA to that folder")
    found = loadmat(path)
    x, labels = found["X"][:n_obs].astype(float), found["Y"].ravel()[:n_obs]
    x = x[:, x.std(axis=0) > 0]
    names = [f"f{i}" for i in range(x.shape[1])]
    obs = pd.DataFrame({"condition": [f"class {int(label)}" for label in labels]}, index=map(str, range(len(x))))
    return ad.AnnData(x, obs=obs, var=pd.DataFrame(index=names))


def with_donors(adata: ad.AnnData, per_condition: int = 4) -> ad.AnnData:
    """Add donors nested in conditions, the observations assigned to them in turn."""
    place = adata.obs.groupby("condition", observed=True).cumcount()
    adata.obs["donor"] = adata.obs["condition"].astype(str) + "-" + (place % per_condition).astype(str)
    return adata


DATASETS: dict[str, Callable[[], ad.AnnData]] = {
    "newly_connected": lambda: with_donors(dn.datasets.newly_connected(n_obs=1000)),
    "subsets_of_connected": lambda: with_donors(dn.datasets.subsets_of_connected(n_obs=1000)),
    "three_conditions": lambda: with_donors(dn.datasets.three_conditions(n_obs=1000)),
    "MADELON": lambda: real("madelon", 2000),
    "Prostate-GE": lambda: real("Prostate-GE"),
    "hidden_square": lambda: dn.datasets.hidden_square(),
}


# --- tools --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Results of one call: those that involve no random numbers, and those that do."""

    exact: Results
    random: Results


def by_feature(frame: pd.DataFrame, adata: ad.AnnData, columns: list[str]) -> Results:
    """Split a table of features, sorted by its reader, into one array per column in the order of `var_names`."""
    return {name: frame.loc[adata.var_names, name].to_numpy() for name in columns}


def permutations(adata: ad.AnnData) -> int:
    return N_PERMUTATIONS if adata.n_vars <= MAX_FEATURES_TO_PERMUTE else 0


def disc(adata: ad.AnnData, question: str = "any difference", **options: Any) -> Found:
    asked = {"question": question, "n_clusters": 2, "n_permutations": permutations(adata), **options}
    dn.tl.disc(adata, "condition", **asked)
    exact: Results = {}
    for group in adata.obs["condition"].astype("category").cat.categories:
        frame = dn.get.disc(adata, group=group).loc[adata.var_names]
        exact[f"vectors {group}"] = frame.filter(like="vector_").to_numpy()
        exact[f"groups {group}"] = frame["feature_group"].to_numpy().astype(str)
    tested = dn.get.disc_significance(adata)
    dn.tl.meta_features(adata)
    exact |= {"sigma": tested["sigma"].to_numpy(), "meta-features": dn.get.meta_features(adata).to_numpy()}
    return Found(exact, {"pval": tested["pval"].to_numpy()})


def disc_within(adata: ad.AnnData) -> Found:
    return disc(adata, question="relations")


def disc_samples(adata: ad.AnnData) -> Found:
    return disc(adata, sample_key="donor")


def disc_auto(adata: ad.AnnData) -> Found:
    """Group features as many ways as permuted data suggest, and bootstrap the groups."""
    dn.tl.disc(adata, "condition", n_bootstraps=5)
    frame = dn.get.disc(adata)
    return Found({}, {"groups": frame["feature_group"].to_numpy().astype(str)})


def scorecard(adata: ad.AnnData) -> Found:
    dn.tl.scorecard(adata, "condition")
    frame = dn.get.scorecard(adata)
    kinds = [c for c in frame.columns if c.endswith(("_stat", "_pval", "_pval_adj"))]
    values = {column: frame[column].to_numpy() for column in kinds}
    random = {name: value for name, value in values.items() if name.startswith("connectivity")}
    return Found({name: value for name, value in values.items() if name not in random}, random)


def scorecard_samples(adata: ad.AnnData) -> Found:
    dn.tl.scorecard(adata, "condition", sample_key="donor")
    frame = dn.get.scorecard(adata)
    columns = [c for c in frame.columns if c.endswith(("_stat", "_pval", "_pval_adj"))]
    return Found({column: frame[column].to_numpy() for column in columns}, {})


def sparda(adata: ad.AnnData, n_features: int = 10) -> Found:
    """Random directions are among the starts, so nothing of SPARDA is free of random numbers."""
    groups = list(adata.obs["condition"].astype("category").cat.categories)
    dn.tl.sparda(
        adata,
        "condition",
        group=groups[1],
        reference=groups[0],
        n_features=n_features,
        n_permutations=permutations(adata),
    )
    summary = dn.get.sparda_summary(adata)
    weights = by_feature(dn.get.sparda(adata), adata, ["weight"])
    path = dn.get.sparda_path(adata)
    along = {f"path {name}": path[name].to_numpy() for name in ("n_features", "objective") if name in path}
    return Found({}, weights | along | {name: summary[name].to_numpy(float) for name in ("objective", "pval")})


def dufs(adata: ad.AnnData) -> Found:
    dn.tl.dufs(adata, n_steps=50, random_state=0)
    values = by_feature(dn.get.dufs(adata), adata, ["gate", "rank"])
    values["loss"] = dn.get.dufs_training(adata)["loss"].to_numpy()
    # up to 1,000 observations the default takes all of them at every step, from a start without noise
    return Found(values, {}) if adata.n_obs <= 1000 else Found({}, values)


def diverse_features(adata: ad.AnnData) -> Found:
    dn.tl.diverse_features(adata)
    return Found(by_feature(dn.get.diverse_features(adata), adata, ["smoothness", "rank"]), {})


def laplacian_score(adata: ad.AnnData) -> Found:
    dn.tl.laplacian_score(adata)
    return Found(by_feature(dn.get.laplacian_score(adata), adata, ["score"]), {})


def informed(adata: ad.AnnData, **options: Any) -> Found:
    dn.tl.informed_distance(adata, n_components=2, full=True, **options)
    embedding = dn.get.informed_embedding(adata).to_numpy()
    values = {"distances": np.asarray(dn.get.informed_distances(adata)), "embedding": embedding[:, :2]}
    return Found(values, {}) if adata.n_vars <= MAX_FEATURES_TO_CLUSTER else Found({}, values)


def informed_global(adata: ad.AnnData) -> Found:
    return informed(adata, n_clusters=3)


def informed_local(adata: ad.AnnData) -> Found:
    return informed(adata[:200].copy(), n_clusters=3, local=True)


def informed_auto(adata: ad.AnnData) -> Found:
    """Choose the number of clusters against random reference data."""
    dn.tl.informed_distance(adata, n_components=2)
    return Found({}, {"clusters": dn.get.informed_clusters(adata)["cluster"].to_numpy().astype(str)})


def feature_diffmap(adata: ad.AnnData) -> Found:
    dn.tl.feature_diffmap(adata, "condition")
    return Found({"coordinates": dn.get.feature_diffmap(adata).select_dtypes("number").to_numpy()}, {})


def feature_change(adata: ad.AnnData) -> Found:
    groups = list(adata.obs["condition"].astype("category").cat.categories)[:2]
    dn.tl.feature_change(adata, "condition", groups=groups)
    return Found({"distance": adata.var["feature_change"].to_numpy()}, {})


COMMON = [disc, scorecard, sparda, dufs, diverse_features, laplacian_score]
TOYS = [*COMMON, disc_within, disc_samples, disc_auto, scorecard_samples, feature_diffmap, feature_change]
TOOLS: dict[str, list[Callable[[ad.AnnData], Found]]] = {
    "newly_connected": [*TOYS, informed_global, informed_auto],
    "subsets_of_connected": TOYS,
    "three_conditions": TOYS,
    "MADELON": [*COMMON, disc_within],
    "Prostate-GE": [*COMMON, informed_global],
    "hidden_square": [informed_global, informed_local, informed_auto, dufs, diverse_features, laplacian_score],
}
RANDOM = "random: "


def compute() -> Iterator[tuple[str, np.ndarray]]:
    """Yield every result with its name, `data | tool | result`."""
    for name, make in DATASETS.items():
        try:
            adata = make()
        except Missing as missing:
            print(f"{name} skipped: {missing}")
            continue
        for tool in TOOLS[name]:
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = tool(adata.copy())
            print(f"{name} | {tool.__name__}: {time.perf_counter() - started:.1f} s", flush=True)
            for prefix, results in (("", found.exact), (RANDOM, found.random)):
                for result, value in results.items():
                    yield f"{prefix}{name} | {tool.__name__} | {result}", value


# --- comparison ---------------------------------------------------------------------------------------------------


def difference(before: np.ndarray, after: np.ndarray, /) -> float:
    """Largest difference relative to the largest value; the share of unequal entries for names and labels."""
    if before.shape != after.shape:
        return np.inf
    if before.dtype.kind not in "fiub":
        return float(np.mean(before != after))
    before, after = before.astype(float), after.astype(float)
    if not np.array_equal(np.isnan(before), np.isnan(after)):
        return np.inf
    largest = np.nanmax(np.abs(before), initial=0.0)
    apart = np.nanmax(np.abs(before - after), initial=0.0)
    return float(apart / largest) if largest > 0 else float(apart)


def distribution(before: np.ndarray, after: np.ndarray, /) -> list[Any]:
    """Medians before and after, and the largest difference of the distribution functions (Kolmogorov–Smirnov)."""
    from scipy.stats import ks_2samp

    if before.dtype.kind not in "fiub" or not (np.isfinite(before).any() and np.isfinite(after).any()):
        return ["", "", ""]
    finite = [values[np.isfinite(values)].astype(float) for values in (before, after)]
    return [*(float(np.median(values)) for values in finite), float(ks_2samp(*finite).statistic)]


def compare(before: Results, after: Results) -> list[list[Any]]:
    """Return a row for every result: where it comes from, how it differs, whether random numbers are involved."""
    rows = []
    for name in sorted(before.keys() | after.keys(), key=lambda name: name.removeprefix(RANDOM)):
        both = name in before and name in after
        apart = difference(before[name], after[name]) if both else np.nan
        shapes = distribution(before[name], after[name]) if both else ["", "", ""]
        size = "×".join(map(str, (before if name in before else after)[name].shape))
        rows.append([*name.removeprefix(RANDOM).split(" | "), size, apart, *shapes, name.startswith(RANDOM)])
    return rows


def report(rows: list[list[Any]], tolerance: float) -> bool:
    """Print both tables and return whether all results that involve no random numbers are equal."""
    head = ["data", "tool", "result", "shape", "largest relative difference"]
    exact = [row[:5] for row in rows if not row[-1]]
    table("Results without random numbers", head, exact)
    more = ["median before", "median after", "distance of distributions"]
    table("Results that depend on random streams", [*head, *more], [row[:-1] for row in rows if row[-1]])
    unequal = [row for row in exact if not row[-1] <= tolerance and not np.isnan(row[-1])]
    missing = sum(np.isnan(row[-1]) for row in exact)
    print(f"\n{len(exact) - len(unequal) - missing} of {len(exact)} results equal to {tolerance:g};", end=" ")
    print(f"{len(unequal)} differ, {missing} computed in one version only.")
    return not unequal


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="write the results to an .npz file")
    what.add_argument("--against", type=Path, metavar="FILE", help="compare with the results in an .npz file")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    return parser.parse_args()


def main() -> int:
    given = arguments()
    print(f"diffnb of {Path(dn.__file__).parent}")
    results = dict(compute())
    if given.write:
        np.savez_compressed(given.write, **results)
        print(f"{len(results)} results written to {given.write}")
        return 0
    with np.load(given.against, allow_pickle=False) as stored:
        before = dict(stored)
    return 0 if report(compare(before, results), given.tolerance) else 1


if __name__ == "__main__":
    sys.exit(main())
