"""The informed Mahalanobis distance against what it promises: python benchmarks/informed.py [part …].

Parts: reconstruction, square, clusters, embedding, local, speed, scale, recall, survival; all of them by default.
Prints tables and writes `benchmarks/results/informed.json`, where parts that were not run keep what they had. The
survival part reads data that scikit-survival and SurvSet ship; what is not installed is said and skipped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import anndata as ad
import numpy as np
import pandas as pd
from _tools import ROOT, Missing, peak_gigabytes, save, table
from reference import mahalanobis as plain
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

import diffnb as dn
from diffnb.core.mahalanobis.clusters import cluster_features, indicators
from diffnb.core.mahalanobis.covariance import sample_covariance
from diffnb.core.mahalanobis.metric import informed_metric, reconstruction_error
from diffnb.core.mahalanobis.neighbors import observation_diffusion_map

TYPES = {"n_clusters": 18, "n_components": 18}
LARGE = (50_000, 1000, 20)
MIDDLE = (5000, 2000, 18)
#: patients drawn for each seed of the survival part, and the genes its authors took, by falling spread
SHARE = 0.9
GENES = slice(1, 201)
EXPRESSION = ("NSBCD", "DBCD", "DLBCL", "vdv", "AML_Bull", "chop", "MCLcleaned", "gse1992", "gse3143", "gse4335")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def distances(adata: ad.AnnData, **options: Any) -> np.ndarray:
    dn.tl.informed_distance(adata, **options)
    return np.asarray(dn.get.informed_distances(adata, kind="pairwise"))


def upper(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


def correlation(found: np.ndarray, hidden: np.ndarray) -> float:
    return float(np.corrcoef(upper(found), upper(hidden))[0, 1])


# --- parts --------------------------------------------------------------------------------------------------------


def reconstruction(_: argparse.Namespace) -> dict[str, Any]:
    """Error (29) of the gradient's directions over that of the exact ones, run by run."""
    rows, worst = [], np.inf
    for name, make, k, d in (
        ("hidden square", lambda s: dn.datasets.hidden_square(n_obs=50, random_state=s), 3, 1),
        ("two types, n=20", lambda s: dn.datasets.two_types(n_obs=20, random_state=s), 18, 10),
        ("two types, n=60", lambda s: dn.datasets.two_types(n_obs=60, random_state=s), 18, 17),
        ("curved square", lambda s: dn.datasets.curved_square(random_state=s), 6, 3),
    ):
        ratios = []
        for seed in range(20):
            data = sample_covariance(make(seed).X)
            h = indicators(cluster_features(data, k))
            exact, gradient = (
                reconstruction_error(data, informed_metric(data, h, n_components=d, solver=solver).directions)
                for solver in ("exact", "gradient")
            )
            ratios.append(gradient / exact)
        worst = min(worst, *ratios)
        rows.append([name, d, min(ratios), float(np.mean(ratios)), max(ratios)])
    table("Reconstruction error, gradient over exact, 20 seeds each", ["data", "d", "least", "mean", "most"], rows)
    return {"rows": rows, "least": worst}


def square(_: argparse.Namespace) -> dict[str, Any]:
    """Section 3.3: correlation with hidden distances from 50 and from 500 columns."""
    rows, results = [], {}
    methods: dict[str, dict[str, Any]] = {
        "informed, exact": {"n_clusters": 3},
        "informed, gradient": {"n_clusters": 3, "solver": "gradient"},
        "conventional": {"informed": False, "n_components": 2},
    }
    for n in (50, 500):
        found: dict[str, list[float]] = {name: [] for name in (*methods, "Euclidean", "hidden, whitened")}
        for seed in range(100):
            adata = dn.datasets.hidden_square(random_state=seed)[:n].copy()
            points = adata.obsm["hidden"]
            hidden = cdist(points, points)
            for name, options in methods.items():
                found[name].append(correlation(distances(adata, **options), hidden))
            found["Euclidean"].append(correlation(cdist(adata.X, adata.X), hidden))
            # what no metric of these columns can pass: the hidden points by their own sample covariance
            white = points @ np.linalg.cholesky(np.linalg.inv(np.cov(points.T)))
            found["hidden, whitened"].append(correlation(cdist(white, white), hidden))
        for name, values in found.items():
            batches = np.reshape(values, (5, 20)).mean(axis=1)
            rows.append([n, name, float(np.mean(values[:20])), float(np.mean(values)), batches.min(), min(values)])
            results[f"{name}, {n}"] = values
    head = ["columns", "metric", "seeds 0–19", "seeds 0–99", "lowest 20 of 100", "lowest seed"]
    table("Hidden square: correlation with hidden distances", head, rows)
    return results


def clusters(_: argparse.Namespace) -> dict[str, Any]:
    """Section 5: error of the principal directions, 50 repeats, and the number of clusters found."""
    rows = []
    for n in (20, 40, 60, 100, 200):
        errors: dict[str, list[float]] = {name: [] for name in ("pca", "random", "ward", "known")}
        chosen = []
        for seed in range(50):
            adata = dn.datasets.two_types(n_obs=n, random_state=seed)
            data = sample_covariance(adata.X)
            truth = indicators(adata.var["cluster"].cat.codes.to_numpy())
            # the first 18 eigenvectors of the true covariance span the clusters
            span = truth @ truth.T
            labels = {
                # one start of k-means++, the default of MATLAB's kmeans
                "random": KMeans(18, n_init=1, random_state=seed).fit_predict(adata.X.T),
                "ward": cluster_features(data, 18),
                "known": adata.var["cluster"].cat.codes.to_numpy(),
            }
            for name, found in labels.items():
                h = indicators(found)
                solver = "gradient" if name == "random" else "exact"
                metric = informed_metric(data, h, n_components=min(18, h.shape[1]), solver=solver)
                # normalised gradients are not orthogonal: the projection on what they span
                u = np.linalg.qr(metric.directions)[0]
                errors[name].append(float(np.linalg.norm(span - u @ u.T)))
            u = data.leading(min(18, n - 1)).vectors
            errors["pca"].append(float(np.linalg.norm(span - u @ u.T)))
            if seed < 10:
                dn.tl.informed_distance(adata, random_state=seed, n_neighbors=10)
                chosen.append(int(adata.uns["informed"]["n_clusters"]))
        rows.append([n, *(float(np.mean(e)) for e in errors.values()), max(errors["known"]), chosen.count(18)])
    head = ["n", "PCA", "gradient, random starts", "exact, Ward", "exact, known", "worst known", "18 found of 10"]
    table("Principal directions, e_f, mean of 50", head, rows)
    return {"rows": rows}


def split_accuracy(adata: ad.AnnData, first: np.ndarray) -> float:
    right = float(((first > 0) == (adata.obs["condition"] == "A")).mean())
    return max(right, 1 - right)


def embedding(_: argparse.Namespace) -> dict[str, Any]:
    """Figure 8 with its controls: two types separated by the sign of the first diffusion component."""
    methods: dict[str, dict[str, Any]] = {
        "informed, PCA's eigenvalues (paper)": TYPES,
        "the same, gradient": {**TYPES, "solver": "gradient"},
        "informed, own eigenvalues": {**TYPES, "eigenvalues": "own"},
        "informed, own with floor": {**TYPES, "eigenvalues": "floor"},
        "informed, all chosen from the data": {},
        "conventional (paper's control)": {"informed": False, "n_components": 18},
        "conventional with floor (ridged PCA)": {"informed": False, "n_components": 18, "eigenvalues": "floor"},
    }
    found: dict[str, list[float]] = {name: [] for name in (*methods, "Euclidean")}
    for seed in range(50):
        adata = dn.datasets.two_types(n_obs=100, random_state=seed)
        for name, options in methods.items():
            dn.tl.informed_distance(adata, **options)
            first = dn.get.informed_embedding(adata)["component_1"].to_numpy()
            found[name].append(split_accuracy(adata, first))
        euclidean = observation_diffusion_map(cdist(adata.X, adata.X), 1)[1][:, 0]
        found["Euclidean"].append(split_accuracy(adata, euclidean))
    rows = [[name, float(np.mean(v)), min(v)] for name, v in found.items()]
    table("Two types parted, n = 100, 50 seeds", ["metric", "mean accuracy", "lowest"], rows)
    return found


def local(_: argparse.Namespace) -> dict[str, Any]:
    """Compare with hidden distances of the curved square, on the closest tenth of pairs, and on all."""
    informed = {"local": True, "n_clusters": 6, "n_components": 2}
    methods: dict[str, dict[str, Any]] = {
        "local, plain": {"local": True, "informed": False, "n_components": 2},
        "local, plain, components chosen": {"local": True, "informed": False},
        "local, plain with floor": {"local": True, "informed": False, "n_components": 2, "eigenvalues": "floor"},
        "local, informed, clusters each": {**informed, "clustering": "each"},
        "local, informed, clusters shared": informed,
        "the same, all chosen from the data": {"local": True},
        "global, informed": {"n_clusters": 6},
    }
    rows = []
    for noise, bend, size in ((1.0, 0.5, 20), (1.0, 0.5, 50), (1.0, 1.0, 20), (0.3, 0.5, 20), (2.0, 0.5, 20)):
        near: dict[str, list[float]] = {name: [] for name in ("Euclidean", *methods)}
        everywhere: dict[str, list[float]] = {name: [] for name in near}
        for seed in range(5):
            adata = dn.datasets.curved_square(noise=noise, bend=bend, random_state=seed)
            hidden = upper(cdist(adata.obsm["hidden"], adata.obsm["hidden"]))
            closest = hidden <= np.quantile(hidden, 0.1)
            for name in near:
                options = methods.get(name)
                found = upper(
                    cdist(adata.X, adata.X) if options is None else distances(adata, n_neighbors=size, **options)
                )
                near[name].append(float(np.corrcoef(found[closest], hidden[closest])[0, 1]))
                everywhere[name].append(float(np.corrcoef(found, hidden)[0, 1]))
        rows += [[noise, bend, size, n, float(np.mean(near[n])), float(np.mean(everywhere[n]))] for n in near]
    head = ["noise", "bend", "N", "metric", "closest tenth", "all pairs"]
    table("Curved square: correlation with hidden distances, 5 seeds", head, rows)
    return {"rows": rows}


def large_data(n: int, m: int, k: int) -> ad.AnnData:
    """Cells on a curved surface of six dimensions, features in k clusters, in single precision."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((n, 6), dtype=np.float32)
    profiles = np.tanh(hidden @ rng.standard_normal((6, k), dtype=np.float32))
    x = rng.standard_normal((n, m), dtype=np.float32)
    labels = np.arange(m) % k
    for start in range(0, n, 5000):
        x[start : start + 5000] += profiles[start : start + 5000][:, labels]
    return ad.AnnData(x)


def speed(_: argparse.Namespace) -> dict[str, Any]:
    """Race a plain transcription of Algorithm 2 at 82 × 200, one run each; then time 5000 × 2000."""
    adata = dn.datasets.two_types(n_obs=82, n_features=200, n_clusters=7)
    options: dict[str, Any] = {"local": True, "n_clusters": 7, "n_components": 6, "n_neighbors": 20}
    distances(adata, **options)  # libraries load on first use
    with threadpool_limits(1):
        slow, _ = timed(lambda: plain.informed_local_distances(adata.X.T, 20, 7, 6, np.random.default_rng(0)))
        fast = {
            "shared": timed(lambda: distances(adata, **options))[0],
            "each, exact": timed(lambda: distances(adata, clustering="each", **options))[0],
            "each, gradient": timed(lambda: distances(adata, clustering="each", solver="gradient", **options))[0],
        }
    rows = [["plain transcription", slow, 1.0], *([name, s, slow / s] for name, s in fast.items())]
    table("Local informed metric, 82 × 200, one run on one thread", ["", "seconds", "times faster"], rows)
    middle = large_data(*MIDDLE)
    more = []
    for name, given in (
        ("global, clusters chosen", {}),
        ("local shared, clusters given", {"local": True, "n_clusters": MIDDLE[2]}),
        ("local shared, clusters chosen", {"local": True}),
    ):
        more.append([name, timed(lambda given=given: dn.tl.informed_distance(middle, **given))[0]])
    table("5000 × 2000, single precision", ["", "seconds"], more)
    return {"small": rows, "middle": more}


SCALES: dict[str, dict[str, Any]] = {"global": {}, "local": {"local": True}}


def one_scale(which: str) -> None:
    """Run one large problem in a process of its own and print time and memory as JSON."""
    adata = large_data(*LARGE)
    made = peak_gigabytes()
    start = time.process_time()
    seconds, _ = timed(lambda: dn.tl.informed_distance(adata, **SCALES[which]))
    processor = time.process_time() - start
    peak = peak_gigabytes()
    info = adata.uns["informed"]
    print(json.dumps([seconds, processor, made, peak, int(info["n_clusters"]), int(info["n_components"])]))


def scale(_: argparse.Namespace) -> dict[str, Any]:
    """50,000 × 1000 in single precision, neighbours only, each in a process of its own."""
    rows = []
    for which in SCALES:
        done = subprocess.run(
            [sys.executable, __file__, "--one-scale", which], capture_output=True, text=True, check=True
        )
        rows.append([which, *json.loads(done.stdout.strip().splitlines()[-1])])
    head = ["metric", "seconds", "of the processor", "GB with the data made", "GB at most", "clusters", "components"]
    table("50,000 × 1000, all chosen from the data", head, rows)
    return {"rows": rows}


def recall(_: argparse.Namespace) -> dict[str, Any]:
    """Share of true neighbours under local metrics that candidates hold, n = 4000."""
    sets = {
        "curved clusters, 500 features": large_data(4000, 500, 20),
        "curved square": dn.datasets.curved_square(n_obs=4000),
        "two types": dn.datasets.two_types(n_obs=4000),
    }
    rows = []
    for name, adata in sets.items():
        for kind, options in (("informed", {}), ("plain", {"informed": False, "n_components": 6})):
            graphs = []
            for full in (True, False):
                dn.tl.informed_distance(adata, local=True, full=full, **options)
                graphs.append(dn.get.informed_distances(adata, kind="neighbors"))
            shared = [
                len(np.intersect1d(graphs[0][i].indices, graphs[1][i].indices)) / graphs[0][i].nnz for i in range(4000)
            ]
            rows.append([name, kind, float(np.mean(shared))])
    table("Recall of neighbours under local metrics", ["data", "metric", "recall"], rows)
    return {"rows": rows}


def survival_sets() -> Iterator[ad.AnnData]:
    """Expression with survival, as packages ship it; the genes of largest spread but the first."""
    try:
        yield _spread_most(dn.datasets.breast_cancer(), "breast_cancer (scikit-survival)")
    except ImportError as reason:
        print(f"without breast_cancer: {reason}")
    try:
        from SurvSet.data import SurvLoader
    except ImportError:
        raise Missing("SurvSet is not installed (pip install SurvSet)") from None
    loader = SurvLoader()
    for name in EXPRESSION:
        frame = loader.load_dataset(ds_name=name)["df"]
        genes = frame.filter(like="num_")
        values = genes.fillna(genes.median()).to_numpy(dtype=float)
        obs = frame[["time", "event"]].astype(float).set_axis(frame.index.astype(str))
        yield _spread_most(ad.AnnData(values, obs=obs), f"{name} (SurvSet)")


def _spread_most(adata: ad.AnnData, name: str) -> ad.AnnData:
    spread = np.asarray(adata.X).std(axis=0)
    chosen = np.argsort(-spread, kind="stable")[GENES if adata.n_vars > 201 else slice(None)]
    part = adata[:, np.sort(chosen[spread[chosen] > 0])].copy()
    part.uns["name"] = name
    return part


def p_value(adata: ad.AnnData, first: np.ndarray) -> float:
    adata.obs["side"] = np.where(first > 0, "high", "low")
    if adata.obs["side"].nunique() < 2:
        return 1.0
    dn.tl.survival(adata, "side")
    return float(dn.get.survival_tests(adata)["pval"].iloc[0])


def survival(_: argparse.Namespace) -> dict[str, Any]:
    """Section 6: log-rank p of the split by the first diffusion component, for repeated draws of patients."""
    paper: dict[str, Any] = {"local": True, "n_components": 6, "n_neighbors": 20}
    methods: dict[str, dict[str, Any] | None] = {
        "Euclidean": None,
        "local, plain": {**paper, "informed": False},
        "local, informed shared": {**paper, "n_clusters": 7},
        "local, informed each": {**paper, "n_clusters": 7, "clustering": "each"},
        "global, informed": {},
    }
    results = {}
    for adata in survival_sets():
        found: dict[str, list[float]] = {name: [] for name in methods}
        for seed in range(-1, 20):
            # first all patients, then draws of them: exact metrics have no other chance in them
            rng = np.random.default_rng(max(seed, 0))
            drawn = np.sort(rng.choice(adata.n_obs, int(SHARE * adata.n_obs), replace=False))
            part = adata.copy() if seed < 0 else adata[drawn].copy()
            for name, options in methods.items():
                if options is None:
                    first = observation_diffusion_map(cdist(part.X, part.X), 1)[1][:, 0]
                else:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        dn.tl.informed_distance(part, **options)
                    first = dn.get.informed_embedding(part)["component_1"].to_numpy()
                found[name].append(p_value(part, first))
        title = f"{adata.uns['name']}, {adata.n_obs} × {adata.n_vars}, {int(adata.obs['event'].sum())} events"
        rows = []
        for name, values in found.items():
            draws = np.array(values[1:])
            rows.append([name, values[0], float(np.median(draws)), int((draws < 0.05).sum())])
        table(title, ["metric", "p, all patients", "median p of 20 draws", "p < .05 of 20"], rows)
        results[adata.uns["name"]] = found
    names = list(methods)
    best = pd.Series([min(names, key=lambda n: np.median(f[n][1:])) for f in results.values()]).value_counts()
    table("Lowest median p", ["metric", "sets"], [[n, int(best.get(n, 0))] for n in names])
    return results


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    part.__name__: part for part in (reconstruction, square, clusters, embedding, local, speed, scale, recall, survival)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--one-scale", choices=list(SCALES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_scale:
        one_scale(options.one_scale)
        return
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    results: dict[str, Any] = {}
    for name in options.parts or PARTS:
        try:
            results[name] = PARTS[name](options)
        except Missing as reason:
            print(f"\n{name} left out: {reason}")
    path = ROOT / "results" / "informed.json"
    save("informed", (json.loads(path.read_text()) if path.exists() else {}) | results)


if __name__ == "__main__":
    main()
