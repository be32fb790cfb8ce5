"""Items of the DUFS supplement on real data: Table S1 with both starts of k-means, and what we recommend instead."""

from __future__ import annotations

from collections.abc import Callable

import anndata as ad
import dufs
import numpy as np
from _evidence import Finding, Run, item, judged
from _real_dufs import INITS, best_accuracy, by_diversity, by_laplacian_score, clustered
from _unsupervised_peers import mcfs, ndfs

import diffnb as dn

PAPER_S1 = {"Prostate-GE": 64.7, "COIL20": 65.8, "PIX10": 88.4}
STARTS = {"random": "random starts", "k-means++": "k-means++"}
#: draws of random features
N_RANDOM = 5


def by_peer(select: Callable[[np.ndarray, int], np.ndarray], adata: ad.AnnData, truth: np.ndarray) -> np.ndarray:
    return select(np.asarray(adata.X, dtype=float), len(np.unique(truth)))


def means_of_sets(
    names: list[str], orders_of: Callable[[ad.AnnData, np.ndarray], dict[str, list[np.ndarray]]]
) -> dict[str, list[float]]:
    """Best accuracy over the numbers of features, in %, of every selection, set and start of k-means."""
    values: dict[str, list[float]] = {}
    for name in names:
        adata, truth = dufs.real(name)
        x = np.asarray(adata.X, dtype=np.float32)
        orders = orders_of(adata, truth)
        orders["random"] = [np.random.default_rng(s).permutation(adata.n_vars) for s in range(N_RANDOM)]
        for init in INITS:
            values[f"all, {name}, {STARTS[init]}"] = [100 * float(clustered(x, truth, init).mean())]
            for method, found in orders.items():
                scores = [best_accuracy(x, truth, order, init) for order in found]
                values[f"{method}, {name}, {STARTS[init]}"] = scores
    return values


def mean_of(values: dict[str, list[float]], method: str, start: str) -> float:
    sets = [f"{method}, {name}, {start}" for name in dufs.SETS]
    return float(np.mean([np.mean(values[name]) for name in sets if name in values]))


@item(
    "dufs.table_s1",
    claim="Table S1: k-means on the best of 50 … 300 features of DUFS is more accurate than with Laplacian scores, "
    "MCFS, NDFS and all features",
    paper="Prostate 64.7, COIL20 65.8, PIX10 88.4 % (all features 58.1, 53.6, 74.3; Laplacian score 58.6, 60.0, 76.6)",
    authors="PIX10 86.5, COIL20 64.9, in part by the noise of their start (k-means++)",
    rule="mean over sets at or above the paper's − 2 points with random starts of k-means; partly if above all "
    "features and random ones with both starts",
    seeds=1,
)
def table_s1(run: Run) -> Finding:
    def orders_of(adata: ad.AnnData, truth: np.ndarray) -> dict[str, list[np.ndarray]]:
        return {
            "DUFS": [dufs.order_of(adata, random_state=s) for s in run.seeds],
            "Laplacian score": [by_laplacian_score(adata)],
            "MCFS": [by_peer(mcfs, adata, truth)],
            "NDFS": [by_peer(ndfs, adata, truth)],
        }

    values = means_of_sets(list(PAPER_S1), orders_of)
    methods = ("DUFS", "Laplacian score", "MCFS", "NDFS", "random", "all")
    mean = {(m, s): mean_of(values, m, s) for m in methods for s in STARTS.values()}
    values |= {f"mean of {m}, {s}": [v] for (m, s), v in mean.items()}
    near = mean["DUFS", "random starts"] >= np.mean(list(PAPER_S1.values())) - 2
    above = all(mean["DUFS", s] > max(mean["random", s], mean["all", s]) for s in STARTS.values())
    differs = (
        "Labels pick the number of features, as in the paper, for all methods and random features too; the paper's "
        "labels pick the penalty as well. MCFS and NDFS are ours, with the same settings for all sets"
    )
    return Finding(values, judged(bool(near), above), differs)


@item(
    "dufs.diverse",
    claim="Sec. S8, future work: correlated features. Diverse features, our recommendation, are above random features "
    "and the Laplacian score where DUFS is not",
    paper="none; “we plan to extend DUFS to handle correlated variables”",
    rule="no verdict: mean over Prostate-GE, COIL20, PIX10 and warpPIE10P of accuracy minus that of random features "
    "and minus that of the Laplacian score",
    seeds=1,
)
def diverse(_: Run) -> Finding:
    def orders_of(adata: ad.AnnData, _: np.ndarray) -> dict[str, list[np.ndarray]]:
        order = dufs.order_of(adata)
        found = {"diverse": by_diversity(adata), "Laplacian score": by_laplacian_score(adata), "DUFS": order}
        # the choice after training: diverse features among the open gates
        dn.tl.diverse_features(adata, mask_var="dufs")
        found["DUFS, then diverse"] = adata.var_names.get_indexer(dn.get.diverse_features(adata).index)
        return {name: [order] for name, order in found.items()}

    values = means_of_sets(list(dufs.SETS), orders_of)
    for start in STARTS.values():
        for ours in ("diverse", "DUFS, then diverse", "DUFS"):
            for other in ("random", "Laplacian score"):
                lead = mean_of(values, ours, start) - mean_of(values, other, start)
                values[f"{ours} minus {other}, mean, {start}"] = [lead]
    differs = "One configuration, the default. It was settled on these sets; docs/validation/dufs.md has seven others"
    return Finding(values, "ours", differs)
