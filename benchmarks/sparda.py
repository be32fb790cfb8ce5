"""PDA and SPARDA against what they promise: python benchmarks/sparda.py [part …] [--replicates N].

Parts: coupling, solvers, madelon, pot, nuisance, choice, power, null, size, zeisel; all by default. Prints tables
and writes `benchmarks/results/sparda.json`, where parts that were not run keep what they had. MADELON and Zeisel
need the folder of real data (`DIFFNB_DATA`); POT is a peer to compare with, not a dependency. Parts whose data or
packages are missing are skipped with a message.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
from _tools import DATA, ROOT, Missing, interleaved, peak_gigabytes, save, table
from joblib import Parallel, delayed
from scipy.io import loadmat
from scipy.spatial.distance import cdist
from scipy.stats import binom

import diffnb as dn
from diffnb.core.runtime.threads import thread_limits
from diffnb.core.sparda.coupling import wasserstein

#: features of MADELON that matter, counted from 0
RELEVANT = np.array([28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493])
#: rows of MADELON: 1000 of each class
N_MADELON = 2000
ZEISEL_SHAPE = (1691, 1314, 10_305)
LEVEL = 0.05


# --- data ---------------------------------------------------------------------------------------------------------


def two(x: np.ndarray, y: np.ndarray) -> ad.AnnData:
    obs = pd.DataFrame(
        {"condition": np.repeat(["A", "B"], [len(y), len(x)])}, index=[str(i) for i in range(len(x) + len(y))]
    )
    return ad.AnnData(np.concatenate([y, x]), obs=obs)


def matrix(folder: str, name: str) -> dict[str, Any]:
    path = DATA / folder / f"{name}.mat"
    if not path.exists():
        raise Missing(f"{folder}/{name}.mat is not in the folder of real data; point DIFFNB_DATA to it")
    return loadmat(path)


def madelon_data() -> ad.AnnData:
    found = matrix("feature-selection", "madelon")
    x, y = found["X"][:N_MADELON].astype(float), found["Y"][:N_MADELON].ravel()
    return two(x[y > 0], x[y < 0])


def pot() -> Any:
    try:
        import ot
    except ImportError:
        raise Missing("POT is not installed (pip install pot)") from None
    return ot


def standardized(adata: ad.AnnData) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(adata.X, dtype=float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    is_group = (adata.obs["condition"] == "B").to_numpy()
    return x[is_group], x[~is_group]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def both_times(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock and of the processor: on a busy machine only the latter are comparable."""
    start = time.process_time()
    seconds, found = timed(work)
    return seconds, time.process_time() - start, found


def selected(adata: ad.AnnData, key: str = "sparda") -> np.ndarray:
    weights = dn.get.sparda(adata, key=key)
    return adata.var_names.get_indexer(weights.index[weights["selected"].astype(bool)])


def objective(adata: ad.AnnData, key: str) -> float:
    return float(dn.get.sparda_summary(adata, key=key)["objective"].iloc[0])


# --- parts --------------------------------------------------------------------------------------------------------


def coupling(_: argparse.Namespace) -> dict[str, Any]:
    """Exact W₂² on a line beside POT's, sizes drawn at random, every other sample full of ties."""
    ot, rng, rows = pot(), np.random.default_rng(0), []
    for i in range(200):
        n, m = rng.integers(1, 400, size=2)
        u, v = rng.normal(size=n), 2 * rng.normal(size=m) + 1
        if i % 2:
            u, v = np.round(u), np.round(v)
        theirs = float(ot.emd2_1d(u, v, metric="sqeuclidean"))
        rows.append(abs(wasserstein(u, v) - theirs) / max(1.0, theirs))
    table("Coupling against POT's emd2_1d", ["pairs of samples", "largest difference"], [[len(rows), max(rows)]])
    return {"pairs": len(rows), "largest_difference": max(rows)}


def solvers(_: argparse.Namespace) -> dict[str, Any]:
    """Objectives and times of the two solvers."""
    sets = {
        "nuisance factor, 500+500 × 300": dn.datasets.nuisance_factor(),
        "differing block, 100+100 × 20": dn.datasets.differing_block(),
    }
    try:
        sets["MADELON, 1000+1000 × 500"] = madelon_data()
    except Missing as reason:
        print(f"without MADELON: {reason}")
    rows = []
    for name, adata in sets.items():
        for solver in ("tighten", "relax"):
            seconds, _ = timed(
                lambda adata=adata, solver=solver: dn.tl.pda(
                    adata, "condition", group="B", reference="A", solver=solver, certificate=True, key_added=solver
                )
            )
            summary = dn.get.sparda_summary(adata, key=solver).iloc[0]
            rows.append([name, solver, float(summary["objective"]), float(summary["certificate"]), seconds])
    table("Solvers of PDA", ["data", "solver", "objective", "certificate", "seconds"], rows)
    return {"rows": rows}


def madelon(_: argparse.Namespace) -> dict[str, Any]:
    """Relevant and false features on MADELON, with k given and chosen, and the time of it."""
    adata, rows = madelon_data(), []
    dn.tl.sparda(adata[::10], "condition", n_features=5, copy=True)  # warm up
    for k, seed in [(16, 0), *(("auto", seed) for seed in range(5))]:
        seconds, _ = timed(
            lambda k=k, seed=seed: dn.tl.sparda(
                adata, "condition", group="B", reference="A", n_features=k, random_state=seed
            )
        )
        found = selected(adata)
        hits = int(np.isin(found, RELEVANT).sum())
        rows.append([str(k), seed, len(found), hits, len(found) - hits, objective(adata, "sparda"), seconds])
    path = dn.get.sparda_path(adata)
    rising = bool((np.diff(path.sort_values("k")["objective"]) >= 0).all())
    seconds, length = path_time(adata)
    table("MADELON", ["k", "seed", "features", "relevant", "false", "objective", "seconds"], rows)
    table(
        "The whole path, without cross-validation", ["values of k", "seconds", "J rises"], [[length, seconds, rising]]
    )
    return {"rows": rows, "path_values": length, "path_seconds": seconds, "path_rises": rising}


def path_time(adata: ad.AnnData) -> tuple[float, int]:
    from diffnb.core.sparda.labelings import labelings_of
    from diffnb.core.sparda.path import PathSettings, fit_path, k_grid

    is_group = (adata.obs["condition"] == "B").to_numpy()
    x, y = (np.asarray(adata.X[rows]) for rows in (is_group, ~is_group))
    grid = k_grid(adata.n_vars)

    def whole_path() -> object:
        with thread_limits(adata.n_vars):
            return fit_path(labelings_of(x, y), grid, PathSettings())

    return min(timed(whole_path)[0] for _ in range(3)), len(grid)


def against_pot(_: argparse.Namespace) -> dict[str, Any]:
    """PDA beside the best of POT's random directions, on the same standardised MADELON."""
    ot, adata = pot(), madelon_data()
    x, y = standardized(adata)
    dn.tl.pda(adata[::10], "condition", copy=True)  # warm up
    roots = []
    seconds = interleaved(
        {
            "ours": lambda: dn.tl.pda(adata, "condition", group="B", reference="A"),
            "theirs": lambda: roots.append(ot.max_sliced_wasserstein_distance(x, y, n_projections=5000, seed=0)),
        }
    )
    found, random = objective(adata, "pda"), float(roots[0]) ** 2
    rows = [
        ["PDA", found, seconds["ours"]],
        ["POT, 5000 projections", random, seconds["theirs"]],
        ["ratio", found / random, seconds["ours"] / seconds["theirs"]],
    ]
    head = ["", "objective", "seconds, median of 5 in turn"]
    table("Objective against POT's max_sliced_wasserstein_distance", head, rows)
    return {"rows": rows}


def nuisance(args: argparse.Namespace) -> dict[str, Any]:
    """Features found where a factor that both conditions share is stronger than their difference."""
    rows = Parallel(n_jobs=args.jobs)(delayed(nuisance_seed)(seed) for seed in range(10))
    head = ["seed", "k = 10", "k chosen", "k", "false", "sparse PCA", "lasso", "marginal W₂", "seconds"]
    table("Of 10 features that differ in correlation only", head, rows)
    return {"head": head, "rows": rows}


def nuisance_seed(seed: int) -> list[Any]:
    from sklearn.decomposition import SparsePCA
    from sklearn.linear_model import LogisticRegression

    with thread_limits(0), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = dn.datasets.nuisance_factor(random_state=seed)
        truth = np.flatnonzero(adata.var["truth"])

        def hits(order: Any) -> int:
            return int(np.isin(order, truth).sum())

        dn.tl.sparda(adata, "condition", group="B", reference="A", n_features=10, key_added="given")
        seconds, _ = timed(lambda: dn.tl.sparda(adata, "condition", group="B", reference="A"))
        chosen = selected(adata)
        x, y = standardized(adata)
        both, label = np.concatenate([x, y]), np.repeat([1, 0], [len(x), len(y)])
        loadings = SparsePCA(n_components=1, alpha=1.0, random_state=0).fit(both).components_[0]
        lasso = np.zeros(adata.n_vars)
        for c in np.geomspace(0.005, 1, 30):  # from none up to the first ten
            lasso = LogisticRegression(solver="liblinear", C=c, **l1()).fit(both, label).coef_[0]
            if np.count_nonzero(lasso) >= 10:
                break
        marginal = np.array([wasserstein(a, b) for a, b in zip(x.T, y.T, strict=True)])
        first = [largest(score, 10) for score in (loadings, lasso, marginal)]
        return [
            seed,
            hits(selected(adata, "given")),
            hits(chosen),
            len(chosen),
            len(chosen) - hits(chosen),
            *(hits(order) for order in first),
            seconds,
        ]


#: observations per population, features, planted ones, correlation of those in the second population
PLANTED = ((300, 40, 6, 0.5), (200, 100, 10, 0.5), (500, 200, 15, 0.4), (100, 60, 5, 0.6))


def choice(args: argparse.Namespace) -> dict[str, Any]:
    """How many of planted features, and how many others, the number chosen by cross-validation brings."""
    rows = []
    for planted in PLANTED:
        found = np.array(Parallel(n_jobs=args.jobs)(delayed(choice_seed)(*planted, seed) for seed in range(20)))
        hits, others = found.T
        missed = int((hits < planted[2]).sum())
        rows.append(
            [f"{planted[0]}+{planted[0]}", *planted[1:3], hits.mean(), missed, others.mean(), int(others.max())]
        )
    head = [
        "observations",
        "features",
        "planted",
        "found, mean",
        "draws that miss some",
        "others, mean",
        "others, most",
    ]
    table("Number of features by cross-validation, 20 draws each", head, rows)
    return {"head": head, "rows": rows}


def choice_seed(n: int, p: int, size: int, rho: float, seed: int) -> tuple[int, int]:
    rng = np.random.default_rng([2000, seed])
    x, y = rng.normal(size=(n, p)), rng.normal(size=(n, p))
    y[:, :size] = np.sqrt(1 - rho) * y[:, :size] + np.sqrt(rho) * rng.normal(size=(n, 1))
    adata = two(x, y)
    with thread_limits(0):
        dn.tl.sparda(adata, "condition", random_state=seed)
    chosen = selected(adata)
    return int((chosen < size).sum()), int((chosen >= size).sum())


def largest(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the features with the largest scores in absolute value, never one without any."""
    order = np.argsort(-np.abs(scores), kind="stable")[:count]
    return order[scores[order] != 0]


def l1() -> dict[str, Any]:
    """Ask for the lasso in the words of the scikit-learn that is installed."""
    import sklearn

    major, minor = (int(part) for part in sklearn.__version__.split(".")[:2])
    return {"l1_ratio": 1.0} if (major, minor) >= (1, 8) else {"penalty": "l1"}


def power(args: argparse.Namespace) -> dict[str, Any]:
    """Share of rejections at 0.05 where three of d features differ (Figure 1c)."""
    return rejections("Power, three of d features differ", args, n_differing=3)


def null(args: argparse.Namespace) -> dict[str, Any]:
    """Share of rejections at 0.05 where nothing differs."""
    return rejections("Nothing differs", args, n_differing=0)


def rejections(title: str, args: argparse.Namespace, n_differing: int) -> dict[str, Any]:
    rows = []
    low, high = (float(binom.ppf(q, args.replicates, LEVEL) / args.replicates) for q in (0.005, 0.995))
    for d in args.sizes:
        found = Parallel(n_jobs=args.jobs)(
            delayed(p_values)(d, n_differing, seed, args.permutations) for seed in range(args.replicates)
        )
        rows.append([d, args.replicates, *(float(v) for v in (np.array(found) <= LEVEL).mean(axis=0))])
        print(rows[-1], flush=True)
    head = ["d", "replicates", "SPARDA", *(["PDA"] if n_differing else []), "MMD", "energy distance"]
    bounds = f"99 % of an exact test: {low:.3f}–{high:.3f}"
    table(f"{title}; {args.permutations} permutations, 100+100 ({bounds})", head, rows)
    return {"head": head, "rows": rows, "permutations": args.permutations, "bounds": [low, high]}


def p_values(d: int, n_differing: int, seed: int, n_permutations: int) -> list[float]:
    with thread_limits(0):
        adata = dn.datasets.differing_block(n_features=d, n_differing=n_differing, random_state=seed)
        # another stream of random numbers than that of the data
        asked = {"group": "B", "reference": "A", "n_permutations": n_permutations, "random_state": 10_000 + seed}
        dn.tl.sparda(adata, "condition", **asked)
        keys = ["sparda"]
        if n_differing:
            dn.tl.pda(adata, "condition", **asked)
            keys.append("pda")
        ours = [float(dn.get.sparda_summary(adata, key=key)["pval"].iloc[0]) for key in keys]
        return [*ours, *kernel_tests(*standardized(adata), 10_000 + seed, n_permutations)]


def kernel_tests(x: np.ndarray, y: np.ndarray, seed: int, n_permutations: int) -> list[float]:
    """MMD² with a Gaussian kernel of median width, and the energy distance: both are sᵀKs for some K."""
    distance = cdist(*2 * [np.concatenate([x, y])])
    width = np.median(distance[np.triu_indices_from(distance, 1)])
    signs = np.repeat([1 / len(x), -1 / len(y)], [len(x), len(y)])
    rng = np.random.default_rng(seed)
    permuted = np.array([signs, *(rng.permutation(signs) for _ in range(n_permutations))])
    found = []
    for kernel in (np.exp(-0.5 * (distance / width) ** 2), -distance):
        stat = np.einsum("ri,ij,rj->r", permuted, kernel, permuted, optimize=True)
        # equal to the observed one up to rounding counts as reaching it
        found.append(float((stat >= stat[0] * (1 - 1e-12)).mean()))
    return found


def size(_: argparse.Namespace) -> dict[str, Any]:
    """Fit and cross-validation at the size of the paper's single cells, in a separate process."""
    done = subprocess.run([sys.executable, __file__, "--run-size"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    made, peak, seconds, cpu, k, hits = (float(v) for v in done.stdout.split()[-6:])
    head = [
        "observations",
        "features",
        "GB before",
        "GB at most",
        "seconds",
        "CPU seconds",
        "k chosen",
        "of 40 planted",
    ]
    rows = [[f"{ZEISEL_SHAPE[0]}+{ZEISEL_SHAPE[1]}", ZEISEL_SHAPE[2], made, peak, seconds, cpu, int(k), int(hits)]]
    table("Fit and cross-validation, simulated in the shape of Zeisel", head, rows)
    return {"head": head, "rows": rows}


def run_size() -> None:
    n, m, p = ZEISEL_SHAPE
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.4, 1.0, size=p)
    x = np.log1p(rng.poisson(rates, size=(n + m, p)).astype(np.float32))
    busy = np.argsort(-rates)[:200]
    own = np.sort(rng.choice(busy, 40, replace=False))
    x[:n, own] += 0.7 * rng.standard_normal((n, 1), dtype=np.float32)
    adata = two(x[:n], x[n:])
    del x
    warnings.simplefilter("ignore")  # genes that no cell has
    made = peak_gigabytes()
    seconds, cpu, _ = both_times(lambda: dn.tl.sparda(adata, "condition", group="B", reference="A"))
    found = selected(adata)
    peak = peak_gigabytes()
    print(made, peak, seconds, cpu, len(found), np.isin(found, own).sum())


def zeisel(_: argparse.Namespace) -> dict[str, Any]:
    """Pyramidal cells of the somatosensory cortex against those of CA1, in the extract of 4,000 genes."""
    names = np.array([str(row[0][0]) for row in matrix("zeisel", "zeisel_names")["zeisel_names"]])
    x = matrix("zeisel", "zeisel_data")["zeisel_data"].T.astype(np.float32)
    wanted = np.isin(names, ["pyramidal SS", "pyramidal CA1"])
    obs = pd.DataFrame({"cells": names[wanted]}, index=[str(i) for i in np.flatnonzero(wanted)])
    adata = ad.AnnData(x[wanted], obs=obs)
    rows = []
    for standardize in ("global", "within"):
        key = f"sparda_{standardize}"
        seconds, _ = timed(
            lambda standardize=standardize, key=key: dn.tl.sparda(
                adata,
                "cells",
                group="pyramidal SS",
                reference="pyramidal CA1",
                standardize=standardize,
                key_added=key,
            )
        )
        path, found = dn.get.sparda_path(adata, key=key), selected(adata, key)
        best = path["held_out"].max()
        enough = int(path.loc[path["held_out"] >= 0.5 * best, "k"].min())
        rows.append([standardize, len(found), objective(adata, key), best, enough, seconds, found[:10].tolist()])
    sizes = " against ".join(f"{(obs['cells'] == name).sum()} {name}" for name in ("pyramidal SS", "pyramidal CA1"))
    both = len(set(selected(adata, "sparda_global")) & set(selected(adata, "sparda_within")))
    head = ["standardize", "k chosen", "objective", "held out", "k for half of it", "seconds", "largest weights"]
    table(f"Zeisel, {sizes}, {adata.n_vars} genes; {both} genes in both", head, rows)
    return {"head": head, "rows": rows, "in_both": both, "cells": sizes}


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "coupling": coupling,
    "solvers": solvers,
    "madelon": madelon,
    "pot": against_pot,
    "nuisance": nuisance,
    "choice": choice,
    "power": power,
    "null": null,
    "size": size,
    "zeisel": zeisel,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="parts to run; all by default")
    parser.add_argument(
        "--replicates", type=int, default=100, help="data sets for power and null; 400 and more are informative"
    )
    parser.add_argument("--permutations", type=int, default=99, help="19, 39, 59 or 99 reject at 0.05 exactly")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 20, 50], help="features, for power and null")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--run-size", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run_size:
        run_size()
        return
    unknown = sorted(set(args.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; parts are {', '.join(PARTS)}")
    for name in args.parts or PARTS:
        try:
            seconds, found = timed(lambda name=name: PARTS[name](args))
        except Missing as reason:
            print(f"\n{name} was skipped: {reason}.", flush=True)
            continue
        print(f"({name}: {seconds:.0f} s)", flush=True)
        keep(name, found)


def keep(name: str, found: dict[str, Any]) -> None:
    """Write one part beside those that are there."""
    written = ROOT / "results" / "sparda.json"
    results = json.loads(written.read_text()) if written.exists() else {}
    save("sparda", {part: found if part == name else results[part] for part in PARTS if part in {name, *results}})


if __name__ == "__main__":
    main()
