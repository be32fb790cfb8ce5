"""Edges between features: how many are called where nothing differs, time and memory, a plain z test beside them.

    python benchmarks/edges.py [null] [speed] [power] [nbs] [--seeds N]

`nbs` needs `pip install bctpy`.

The real data are taken from the folder in DIFFNB_DATA (by default ../shared/data) and are not part of the project.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import time
import tracemalloc
import warnings
from importlib.util import find_spec

import anndata as ad
import numpy as np
import pandas as pd
import scipy.sparse as sp
from _real_nulls import cells, frames, one_type, subjects, variable_cells
from _tools import table

import diffnb as dn

LEVELS = (0.05, 1e-2, 1e-3, 1e-4)
#: features of each null, the most variable ones
N_FEATURES = 1000


def most_variable(adata: ad.AnnData) -> ad.AnnData:
    x = adata.X.toarray() if sp.issparse(adata.X) else np.asarray(adata.X)
    return adata[:, np.sort(np.argsort(-x.var(axis=0), kind="stable")[:N_FEATURES])].copy()


def whole_subjects(seed: int) -> ad.AnnData:
    """Resting runs of ten subjects, five of them in each condition at random."""
    adata = subjects(seed)
    drawn = np.random.default_rng(seed).permutation(10)[:5].astype(str)
    adata.obs["half"] = pd.Categorical(np.where(adata.obs["subject"].isin(drawn), "B", "A"))
    return adata


NULLS = {
    "control cells, frequent genes": cells,
    "control cells, variable genes": variable_cells,
    "control monocytes": one_type,
    "frames of a resting run": frames,
    "five and five subjects": whole_subjects,
    "halves of ten subjects, paired": subjects,
}


def tested(adata: ad.AnnData, **options: object) -> pd.DataFrame:
    """All edges of the comparison of both halves, as `tl.scorecard` and `tl.disc` record it."""
    units = "subject" if "subject" in adata.obs else None
    recorded = {"pairs": {"group": np.array(["B"]), "reference": np.array(["A"]), "columns": np.array(["B_vs_A"])}}
    params = {"groupby": "half"} | ({"sample_key": units} if units else {})
    adata.uns["scorecard"] = {**recorded, "params": params}
    return dn.get.edges(adata, key="scorecard", **options)


def null(seeds: int) -> None:
    rows = []
    for name, make in NULLS.items():
        shares, called, runs = [], [], 0
        for seed in range(seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                adata = most_variable(make(seed))
                found = tested(adata, max_pval_adj=1.0, max_edges=10**7)
            shares.append([(found["pval"] <= level).sum() / found.attrs["n_tested"] for level in LEVELS])
            called.append(int((found["pval_adj"] <= 0.05).sum()))
            runs += called[-1] > 0
        rows.append([name, adata.n_vars, *(float(s) for s in np.mean(shares, axis=0)), called, runs])
        print(rows[-1], flush=True)
    head = ["data", "features", *(f"p ≤ {level:g}" for level in LEVELS), "adjusted edges", "runs with any"]
    table("Nothing differs: share of pairs below a level, and edges with adjusted p ≤ .05", head, rows)


def modules(n_features: int, seed: int, n_obs: int = 1500) -> ad.AnnData:
    """Sparse counts in which 40 features are connected in the second condition only."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.5, 0.6, size=n_features)
    parts = []
    for own in (False, True):
        factor = np.ones((n_obs, n_features))
        if own:
            rates[:40] = np.maximum(rates[:40], 0.5)
            factor[:, :40] = np.exp(0.7 * rng.normal(size=(n_obs, 1)) - 0.245)
        parts.append(sp.csr_matrix(np.log1p(rng.poisson(rates * factor)).astype(np.float32)))
    obs = pd.DataFrame({"half": pd.Categorical(np.repeat(["A", "B"], n_obs))})
    return ad.AnnData(sp.vstack(parts, format="csr"), obs=obs.set_index(obs.index.astype(str)))


def speed(_: int) -> None:
    rows = []
    for n_features in (500, 2000, 5000):
        adata = modules(n_features, 0)
        start = time.process_time()
        wall = time.perf_counter()
        found = tested(adata)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
        tracemalloc.start()
        tested(adata)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        rows.append([n_features, adata.n_obs, f"{seconds:.1f}", f"{wall:.1f}", f"{peak:.0f}", len(found)])
        print(rows[-1], flush=True)
    table("Time and memory", ["features", "observations", "CPU s", "wall s", "peak MB", "edges"], rows)


def power(seeds: int) -> None:
    """Recall and precision of the pairs of a planted module, and those of z tests that assume normal data."""
    rows = []
    for seed in range(seeds):
        adata = modules(500, seed)
        found = tested(adata, max_edges=10**6)
        places = adata.var_names.get_indexer
        true = (places(found["feature_1"]) < 40) & (places(found["feature_2"]) < 40)
        plain = normal_edges(adata)
        rows.append([seed, true.sum() / 780, true.mean(), plain[:40, :40].sum() / 2 / 780, _precision(plain)])
    head = ["seed", "recall", "precision", "recall, normal z", "precision, normal z"]
    table("A module of 40 among 500 features", head, rows)


def normal_edges(adata: ad.AnnData) -> np.ndarray:
    """Return which pairs differ by the z test of DGCA and others, written plainly, at an adjusted p of .05."""
    from scipy.stats import false_discovery_control, norm

    second = (adata.obs["half"] == "B").to_numpy()
    x = adata.X.toarray()
    with np.errstate(all="ignore"):
        z = [np.arctanh(np.clip(np.nan_to_num(np.corrcoef(x[rows].T)), -0.9999, 0.9999)) for rows in (second, ~second)]
    error = np.sqrt(1 / (second.sum() - 3) + 1 / ((~second).sum() - 3))
    above = np.triu_indices(len(z[0]), 1)
    pval_adj = false_discovery_control(2 * norm.sf(np.abs(z[0] - z[1])[above] / error))
    found = np.zeros(z[0].shape, dtype=bool)
    found[above] = pval_adj <= 0.05
    return found | found.T


def _precision(found: np.ndarray, size: int = 40) -> float:
    return float(found[:size, :size].sum() / max(1, found.sum()))


def recordings(seed: int, *, differ: bool, n_subjects: int = 10, n_parcels: int = 60) -> ad.AnnData:
    """Simulate subjects of two groups; 12 parcels are more connected in the second, where the groups differ."""
    rng, n_frames = np.random.default_rng(seed), 150
    rows = []
    for subject in range(2 * n_subjects):
        shared = rng.normal(size=(n_frames, 3)) @ (0.6 * rng.normal(size=(3, n_parcels)))
        x = shared + rng.normal(size=(n_frames, n_parcels))
        strength = abs(rng.normal(0.3, 0.1)) + 0.5 * (differ and subject >= n_subjects)
        x[:, :12] += strength * rng.normal(size=(n_frames, 1))
        rows.append(x)
    subjects = np.repeat(np.arange(2 * n_subjects), n_frames)
    obs = pd.DataFrame(
        {
            "half": pd.Categorical(np.where(subjects < n_subjects, "A", "B")),
            "subject": pd.Categorical(subjects.astype(str)),
        }
    )
    return ad.AnnData(np.concatenate(rows), obs=obs.set_index(obs.index.astype(str)))


def by_nbs(adata: ad.AnnData, threshold: float, seed: int) -> tuple[np.ndarray, float]:
    """Return the edges of the components that NBS calls at .05, and the processor seconds it took."""
    import bct

    start = time.process_time()
    z = []
    for subject in adata.obs["subject"].cat.categories:
        r = np.corrcoef(adata.X[(adata.obs["subject"] == subject).to_numpy()].T)
        z.append(np.arctanh(r * (1 - np.eye(len(r)))))
    half = len(z) // 2
    x, y = np.stack(z[:half], axis=2), np.stack(z[half:], axis=2)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            pval, component, _ = bct.nbs_bct(x, y, threshold, k=200, seed=seed)
    except bct.utils.BCTParamError:  # no edge is above the threshold
        return np.zeros(x.shape[:2], dtype=bool), time.process_time() - start
    called = [number + 1 for number, p in enumerate(pval) if p <= 0.05]
    return np.isin(component, called) & (component > 0), time.process_time() - start


def by_edges(adata: ad.AnnData) -> tuple[np.ndarray, float]:
    """Return the edges of `get.edges` with subjects as units."""
    start = time.process_time()
    found = tested(adata, max_edges=10**5)
    edges = np.zeros((adata.n_vars, adata.n_vars), dtype=bool)
    places = [adata.var_names.get_indexer(found[name]) for name in ("feature_1", "feature_2")]
    edges[places[0], places[1]] = edges[places[1], places[0]] = True
    return edges, time.process_time() - start


def nbs(seeds: int) -> None:
    """Compare with the network-based statistic, with subjects as units."""
    ways = {f"NBS, t > {t}": functools.partial(by_nbs, threshold=t) for t in (2.0, 3.0, 4.0)}
    ways["get.edges"] = lambda adata, seed: by_edges(adata)
    rows = []
    for name, way in ways.items():
        recall, precision, empty, seconds = [], [], [], []
        for seed in range(seeds):
            edges, taken = way(recordings(seed, differ=True), seed=seed)
            recall.append(edges[:12, :12].sum() / (12 * 11))
            precision.append(_precision(edges, 12) if edges.any() else np.nan)
            seconds.append(taken)
            empty.append(way(recordings(1000 + seed, differ=False), seed=seed)[0].any())
        rows.append([name, np.mean(recall), np.nanmean(precision), np.mean(empty), np.mean(seconds)])
        print(rows[-1], flush=True)
    head = ["method", "recall", "precision", "runs with any edge where nothing differs", "CPU s"]
    table("10 + 10 subjects, 60 parcels of which 12 are more connected in the second group", head, rows)


PARTS = {"null": null, "speed": speed, "power": power, "nbs": nbs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    # unless it is asked for, NBS is left out where it is not installed
    usual = [part for part in PARTS if part != "nbs" or find_spec("bct")]
    for part in given.parts or usual:
        PARTS[part](given.seeds)


if __name__ == "__main__":
    main()
