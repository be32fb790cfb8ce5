"""DUFS against what it promises: python benchmarks/dufs.py [part …] [--seeds N] [--data NAME …].

Parts: gradient, moons, overlap, tables, steps, scale; all of them by default. Prints tables and writes
`benchmarks/results/dufs.json`, where parts that were not run keep what they had. The overlap and the tables need
the folder of real data (`DIFFNB_DATA`); what is not there is said and skipped.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import anndata as ad
import numpy as np
from _tools import DATA, ROOT, Missing, interleaved, peak_gigabytes, save, table
from reference import dufs as plain
from scipy.io import loadmat
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif

import diffnb as dn
from diffnb.core.dufs.objective import GATES, evaluate_objective
from diffnb.core.dufs.smoothness import BANDWIDTHS, GraphOptions
from diffnb.core.runtime.threads import thread_limits

SETS = {"Prostate-GE": "Prostate-GE", "COIL20": "COIL20", "PIX10": "pixraw10P", "warpPIE10P": "warpPIE10P"}
COUNTS = (50, 100, 150, 200, 250, 300)
N_KMEANS = 20
#: seeds of the moons that no default was chosen on
FRESH = 1000
SHAPES = ((171, 5748), (500, 2000), (1440, 1024))
CELLS = (20_000, 2000)


def real(name: str) -> tuple[ad.AnnData, np.ndarray]:
    path = DATA / "feature-selection" / f"{SETS[name]}.mat"
    if not path.exists():
        raise Missing(f"{path.name} is not in the folder of real data; point DIFFNB_DATA to it")
    found = loadmat(path)
    x = found["X"].astype(float)
    return ad.AnnData(x[:, x.std(axis=0) > 0]), found["Y"].ravel()


def quiet(work: Callable[[], Any]) -> Any:
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return work()


def order_of(adata: ad.AnnData, **options: Any) -> np.ndarray:
    """Positions of features, the widest open first."""
    quiet(lambda: dn.tl.dufs(adata, **options))
    return adata.var_names.get_indexer(dn.get.dufs(adata).index)


# --- parts --------------------------------------------------------------------------------------------------------


def gradient(_: argparse.Namespace) -> dict[str, Any]:
    """Largest difference to complex steps on the equations, for every variant."""
    worst: dict[str, float] = {}
    for gates, bandwidth, power, alone, penalty in itertools.product(
        GATES, BANDWIDTHS, (1, 2, 3), (False, True), (None, 0.3)
    ):
        rng = np.random.default_rng(power)
        x, mu = rng.normal(size=(30, 12)), rng.normal(scale=0.4, size=12)
        shape = None if gates == "deterministic" else x.shape if gates == "per_sample" else (12,)
        noise = None if shape is None else rng.normal(size=shape)
        graph = GraphOptions(2, 5.0, bandwidth, power, alone)
        ours = evaluate_objective(x, mu, graph, gates=gates, penalty=penalty, noise=noise)
        theirs = plain.gradient(
            x, mu, gates=gates, noise=noise, penalty=penalty, power=power, bandwidth=bandwidth, leave_one_out=alone
        )
        difference = float(np.abs(ours.gradient - theirs).max())
        worst[gates] = max(worst.get(gates, 0.0), difference)
    rows = [[gates, 36, difference] for gates, difference in worst.items()]
    table("Gradient against complex steps (30 × 12)", ["gates", "variants", "largest difference"], rows)
    return {"rows": rows}


def moons(args: argparse.Namespace) -> dict[str, Any]:
    """How often both true features come first, and how many are selected."""
    methods: dict[str, dict[str, Any]] = {
        "default": {},
        "t = 1": {"power": 1},
        "t = 3": {"power": 3},
        "neighbour of itself": {"leave_one_out": False},
        "scale fixed": {"adapt_scale": False},
    }
    rows = []
    for n_nuisance in (10, 20, 50, 100, 200):
        for name, options in methods.items():
            if name != "default" and n_nuisance > 20:
                continue
            first, exact = 0, 0
            for seed in range(FRESH, FRESH + args.seeds):
                adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
                leading = order_of(adata, random_state=seed, **options)[:2]
                first += set(leading) == {0, 1}
                exact += set(np.flatnonzero(adata.var["dufs"])) == {0, 1}
            rows.append([n_nuisance, name, f"{first}/{args.seeds}", f"{exact}/{args.seeds}"])
        score = 0
        for seed in range(FRESH, FRESH + args.seeds):
            adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
            dn.tl.laplacian_score(adata)
            score += set(adata.var_names.get_indexer(dn.get.laplacian_score(adata).index[:2])) == {0, 1}
        rows.append([n_nuisance, "Laplacian score (5 neighbours)", f"{score}/{args.seeds}", ""])
    table("Two moons, 100 observations", ["nuisance", "method", "both first", "just these selected"], rows)
    return {"rows": rows}


def overlap(args: argparse.Namespace) -> dict[str, Any]:
    """Shared share of the top 300 features between seeds."""
    rows = []
    for name in ("Prostate-GE",):
        adata, _ = real(name)
        for kind, options in {
            "default": {},
            "per sample, drawn": {"gates": "per_sample"},
            "per feature, drawn": {"gates": "per_feature"},
        }.items():
            tops = [set(order_of(adata, random_state=s, **options)[:300]) for s in range(args.selector_seeds)]
            shares = [len(a & b) / 300 for a, b in itertools.combinations(tops, 2)]
            rows.append([name, kind, float(np.mean(shares)), float(np.min(shares))])
    table("Overlap of the top 300 between seeds", ["data", "gates", "mean", "smallest"], rows)
    return {"rows": rows}


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    _, codes = np.unique(truth, return_inverse=True)
    counts = np.zeros((codes.max() + 1, found.max() + 1))
    np.add.at(counts, (codes, found), 1)
    return float(counts[linear_sum_assignment(-counts)].sum() / len(truth))


def clustered(x: np.ndarray, truth: np.ndarray, init: str) -> np.ndarray:
    k = len(np.unique(truth))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = [KMeans(k, init=init, n_init=1, random_state=s).fit_predict(x) for s in range(N_KMEANS)]
    return np.array([accuracy(truth, found) for found in labels])


def best_of_counts(x: np.ndarray, truth: np.ndarray, order: np.ndarray, init: str) -> tuple[float, float, int]:
    """Best mean accuracy over the numbers of features, as in Table S1: mean and sd over k-means, and the number."""
    found = [(clustered(x[:, order[:k]], truth, init), k) for k in COUNTS]
    scores, k = max(found, key=lambda one: one[0].mean())
    return float(scores.mean()), float(scores.std()), k


def tables(args: argparse.Namespace) -> dict[str, Any]:
    """Table S1's protocol, with both initialisations of k-means and what else one could do."""
    rows, kept = [], {}
    for name in args.data or SETS:
        adata, truth = real(name)
        x = np.asarray(adata.X)
        orders = {"DUFS": [order_of(adata, random_state=s) for s in range(args.selector_seeds)]}
        dn.tl.laplacian_score(adata)
        orders["Laplacian score"] = [adata.var_names.get_indexer(dn.get.laplacian_score(adata).index)]
        orders["highly variable (scanpy)"] = [highly_variable(adata)]
        orders["largest F, by labels"] = [np.argsort(-f_classif(x, truth)[0])]
        every = {init: clustered(x, truth, init) for init in ("random", "k-means++")}
        rows.append([name, "all features", *(f"{100 * s.mean():.1f} ± {100 * s.std():.1f}" for s in every.values())])
        for method, found in orders.items():
            cells = []
            for init in ("random", "k-means++"):
                scores = [best_of_counts(x, truth, order, init) for order in found]
                means = 100 * np.array([s[0] for s in scores])
                # over selector seeds where there are several, over k-means otherwise
                spread = means.std() if len(means) > 1 else 100 * scores[0][1]
                cells.append(f"{means.mean():.1f} ± {spread:.1f}")
                kept[f"{name}/{method}/{init}"] = [means.tolist(), [s[2] for s in scores]]
            rows.append([name, method, *cells])
        print(f"{name} done", file=sys.stderr)
    rows.append(["ten separate clusters", "perfect features", *perfect()])
    table(
        f"Accuracy of k-means ({N_KMEANS} times) on the best of 50 … 300 features",
        ["data", "features", "random", "++"],
        rows,
    )
    return {"rows": rows, "scores": kept}


def highly_variable(adata: ad.AnnData) -> np.ndarray:
    import scanpy as sc

    work = ad.AnnData(np.asarray(adata.X) - np.asarray(adata.X).min())
    quiet(lambda: sc.pp.highly_variable_genes(work, n_top_genes=max(COUNTS), flavor="seurat", n_bins=20))
    return np.argsort(-work.var["dispersions_norm"].fillna(-np.inf).to_numpy(), kind="stable")


def perfect() -> list[str]:
    """Measure what the protocol itself gives where features could not be better: 10 × 10 points far apart."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(10), 10)
    x = rng.normal(scale=5, size=(10, 100))[truth] + 0.3 * rng.normal(size=(100, 100))
    found = [clustered(x, truth, init) for init in ("random", "k-means++")]
    return [f"{100 * s.mean():.1f} ± {100 * s.std():.1f}" for s in found]


def steps(_: argparse.Namespace) -> dict[str, Any]:
    """Time of one step beside a plain one that keeps every operation, as automatic differentiation does."""
    rows = []
    for n, d in SHAPES:
        rng = np.random.default_rng(0)
        x, mu, noise = rng.normal(size=(n, d)), 0.01 * rng.normal(size=d), rng.normal(size=(n, d))
        times = interleaved(
            {
                "plain": lambda x=x, mu=mu, noise=noise: plain.tape_step(x, mu, noise),
                "drawn": lambda x=x, mu=mu, noise=noise: evaluate_objective(
                    x, mu, GraphOptions(), gates="per_sample", noise=noise
                ),
                "moments": lambda x=x, mu=mu: evaluate_objective(x, mu, GraphOptions(leave_one_out=True)),
            }
        )
        ratio = [times["plain"] / times[k] for k in ("drawn", "moments")]
        rows.append([f"{n} × {d}", *(1000 * t for t in times.values()), *ratio])
    head = ["shape", "plain, ms", "drawn, ms", "moments, ms", "plain / drawn", "plain / moments"]
    table("One step", head, rows)
    return {"head": head, "rows": rows}


def scale(_: argparse.Namespace) -> dict[str, Any]:
    """Cells by mini-batches, sparse and dense, each in a process of its own so that its memory is its own."""
    rows = []
    for kind in ("sparse", "dense"):
        done = subprocess.run([sys.executable, __file__, "--cells", kind], capture_output=True, text=True, check=True)
        rows.append([kind, *json.loads(done.stdout.splitlines()[-1])])
    head = ["input", "seconds", "GB at most", "GB before", "planted", "selected", "of them planted"]
    table(f"{CELLS[0]:,} × {CELLS[1]:,} in batches of 500", head, rows)
    return {"head": head, "rows": rows}


def cells(kind: str) -> None:
    """Select among counts of which 100 features follow five clusters, by mini-batches; print what it took."""
    import scipy.sparse as sp

    (n, d), rng = CELLS, np.random.default_rng(0)
    cluster = rng.integers(5, size=n)
    rate = np.full((5, d), 0.3)
    rate[:, :100] *= np.exp(rng.normal(scale=1.0, size=(5, 100)))
    x = sp.vstack(
        [sp.csr_array(np.log1p(rng.poisson(rate[c])).astype(np.float32)) for c in np.array_split(cluster, 40)]
    )
    adata = ad.AnnData(sp.csr_matrix(x) if kind == "sparse" else x.toarray())
    del x
    before = peak_gigabytes()
    start = time.perf_counter()
    quiet(lambda: dn.tl.dufs(adata))
    seconds = time.perf_counter() - start
    selected = adata.var["dufs"].to_numpy()
    peak = peak_gigabytes()
    print(json.dumps([seconds, peak, before, 100, int(selected.sum()), int(selected[:100].sum())]))


PARTS = {
    "gradient": gradient,
    "moons": moons,
    "overlap": overlap,
    "tables": tables,
    "steps": steps,
    "scale": scale,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=30, help="data sets of two moons")
    parser.add_argument("--selector-seeds", type=int, default=10, help="seeds of the selector")
    parser.add_argument("--data", nargs="*", choices=list(SETS), help="data sets of the tables; all by default")
    parser.add_argument("--cells", choices=("sparse", "dense"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cells:
        cells(args.cells)
        return
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    before = ROOT / "results" / "dufs.json"
    results = json.loads(before.read_text()) if before.exists() else {}
    for name in args.parts or PARTS:
        try:
            with thread_limits(1001):
                results[name] = PARTS[name](args)
        except Missing as reason:
            print(f"\n{name} skipped: {reason}")
    save("dufs", results)


if __name__ == "__main__":
    main()
