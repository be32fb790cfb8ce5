"""The methods that `peers.py` sets side by side, each run in a process of its own.

A method takes a `Truth` and returns its answers: a score per feature, high where it sees a difference, and p-values
where it gives any. Packages are imported inside the methods, so that one that is missing is missed by its own only.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from _tools import peak_gigabytes
from _truth import KINDS, Truth, auprc, auroc, draw

#: adjusted p-value below which a feature counts as called
FDR = 0.05
#: peers that compile nothing and have no warm-up, which would cost as much as a good part of the run
COLD = ("memento-de", "contrastive", "skfeature-chappers")
#: a small data set, so that compilers and lazy imports are done before the clock starts
WARM = (120, 160)


@dataclass(frozen=True)
class Answer:
    """What one method says of every feature."""

    name: str
    score: np.ndarray
    pval: np.ndarray | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def as_anndata(truth: Truth, matrix: Any = None) -> Any:
    import anndata as ad
    import pandas as pd

    n = len(truth.a)
    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(["A", "B"], n))}, index=[f"cell{i}" for i in range(2 * n)]
    )
    var = pd.DataFrame(index=[f"gene{i}" for i in range(truth.a.shape[1])])
    return ad.AnnData(np.concatenate([truth.a, truth.b]) if matrix is None else matrix, obs=obs, var=var)


def scorecard(truth: Truth) -> list[Answer]:
    import diffnb as dn

    adata = as_anndata(truth)
    dn.tl.scorecard(adata, "condition")
    card = dn.get.scorecard(adata)
    return [
        Answer(name, np.nan_to_num(card[f"{name}_stat"].abs().to_numpy()), card[f"{name}_pval"].to_numpy())
        if name != "connectivity"  # signed: negative is less than chance
        else Answer(name, np.nan_to_num(card[f"{name}_stat"].to_numpy()), card[f"{name}_pval"].to_numpy())
        for name in ("mean", "spread", "distribution", "connectivity")
    ]


def disc(truth: Truth, question: str = "any difference") -> list[Answer]:
    import diffnb as dn

    adata = as_anndata(truth)
    dn.tl.disc(adata, "condition", question=question)
    groups = adata.var["disc_B"].astype(str).to_numpy()
    connected = truth.kind == "connected"
    named = [g for g in np.unique(groups) if g != "background"]
    match = {g: 2 * np.sum(connected & (groups == g)) / (np.sum(groups == g) + connected.sum()) for g in named}
    best = max(match, key=lambda g: match[g], default="none")
    extra = {
        "ARI of the groups": adjusted_rand(groups, connected),
        "ARI of the best group": adjusted_rand(groups == best, connected),
        "best group": best,
        "groups": {g: {k: int(np.sum((groups == g) & (truth.kind == k))) for k in KINDS} for g in np.unique(groups)},
    }
    return [
        Answer("score of B", dn.get.disc(adata, group="B")["score"].reindex(adata.var_names).to_numpy(), None, extra)
    ]


def disc_within(truth: Truth) -> list[Answer]:
    return disc(truth, question="relations")


def sparda(truth: Truth) -> list[Answer]:
    import diffnb as dn

    answers = []
    for standardize in ("global", "within"):
        adata = as_anndata(truth)
        dn.tl.sparda(adata, "condition", standardize=standardize)
        weights = dn.get.sparda(adata).query("projection == 1")["weight"].reindex(adata.var_names)
        chosen = weights.to_numpy() != 0
        extra = {"chosen": {k: int(np.sum(chosen & (truth.kind == k))) for k in KINDS}}
        answers.append(Answer(f"|weight|, {standardize}", np.abs(weights.to_numpy()), None, extra))
    return answers


def fisher_z(truth: Truth) -> list[Answer]:
    """Differential correlation, plainly: t² of the difference in Fisher z, summed or its largest."""
    from scipy import stats

    z = []
    for x in (truth.a, truth.b):
        correlation = np.corrcoef(x, rowvar=False)
        np.fill_diagonal(correlation, 0)
        z.append(np.arctanh(correlation, out=correlation))
    squared = np.square(np.subtract(*z, out=z[0]), out=z[0])
    squared /= 1 / (len(truth.a) - 3) + 1 / (len(truth.b) - 3)
    partners = len(squared) - 1
    total, largest = squared.sum(axis=0), squared.max(axis=0)
    return [
        Answer("sum of t²", total, stats.chi2.sf(total, partners)),
        Answer("largest t²", largest, -np.expm1(partners * np.log1p(-stats.chi2.sf(largest, 1)))),
    ]


def scanpy_test(truth: Truth, method: str) -> list[Answer]:
    import scanpy as sc

    adata = as_anndata(truth)
    sc.tl.rank_genes_groups(adata, "condition", method=method, groups=["B"], reference="A")
    found = sc.get.rank_genes_groups_df(adata, "B").set_index("names").loc[adata.var_names]
    return [Answer("|score|", found["scores"].abs().to_numpy(), found["pvals"].to_numpy())]


def t_test(truth: Truth) -> list[Answer]:
    return scanpy_test(truth, "t-test")


def wilcoxon(truth: Truth) -> list[Answer]:
    return scanpy_test(truth, "wilcoxon")


#: share of the molecules that memento takes to be captured; counts here are Poisson, that is, few of many
CAPTURED = 0.07


def _memento(truth: Truth) -> tuple[Any, Any]:
    import memento
    import scipy.sparse as sp

    if truth.counts is None:
        raise NotImplementedError("wants counts")
    adata = as_anndata(truth, sp.csr_matrix(np.concatenate(truth.counts)))
    adata.obs["is_b"] = (adata.obs["condition"] == "B").astype(int)
    adata.obs["captured"] = CAPTURED
    memento.setup_memento(adata, q_column="captured")
    memento.create_groups(adata, label_columns=["is_b"])
    memento.compute_1d_moments(adata, min_perc_group=0.9)
    return memento, adata


def _aligned(truth: Truth, names: Any, values: np.ndarray, missing: float) -> np.ndarray:
    """Put values of the genes that memento kept in their places."""
    out = np.full(truth.kind.size, missing)
    out[[int(name.removeprefix("gene")) for name in names]] = np.nan_to_num(values, nan=missing)
    return out


def memento_1d(truth: Truth) -> list[Answer]:
    memento, adata = _memento(truth)
    memento.ht_1d_moments(adata, treatment=memento.get_groups(adata)[["is_b"]], num_boot=5000, verbose=0, num_cpus=1)
    found = memento.get_1d_ht_result(adata)
    return [
        Answer(
            name,
            _aligned(truth, found["gene"], np.abs(found[f"{short}_coef"] / found[f"{short}_se"]).to_numpy(), 0.0),
            _aligned(truth, found["gene"], found[f"{short}_pval"].to_numpy(), 1.0),
        )
        for name, short in (("mean", "de"), ("variability", "dv"))
    ]


def memento_correlations(truth: Truth) -> list[Answer]:
    """Take memento's correlations of all pairs, which it estimates quickly, and compare them as Fisher z plainly."""
    memento, adata = _memento(truth)
    z = []
    for group in adata.uns["memento"]["groups"]:
        correlation = np.nan_to_num(np.asarray(memento.get_corr_matrix(adata, group), dtype=float))
        np.fill_diagonal(correlation, 0)
        z.append(np.arctanh(np.clip(correlation, -0.99, 0.99)))
    squared = np.square(z[0] - z[1])
    return [Answer("sum of squared differences", _aligned(truth, adata.var_names, squared.sum(axis=0), 0.0))]


def memento_pairs(truth: Truth, each: int = 100) -> list[Answer]:
    """Test the correlation of given pairs by bootstrap: pairs of the module, of the shared one, and of noise."""
    memento, adata = _memento(truth)
    rng = np.random.default_rng(0)
    kept = np.array([int(name.removeprefix("gene")) for name in adata.var_names])
    pairs, kinds = [], []
    for kind in ("connected", "shared", "noise"):
        members = kept[truth.kind[kept] == kind]
        pairs += [tuple(f"gene{i}" for i in rng.choice(members, 2, replace=False)) for _ in range(each)]
        kinds += [kind] * each
    memento.compute_2d_moments(adata, pairs)
    memento.ht_2d_moments(adata, treatment=memento.get_groups(adata)[["is_b"]], num_boot=5000, verbose=0, num_cpus=1)
    found = memento.get_2d_ht_result(adata)
    score = np.abs(found["corr_coef"] / found["corr_se"]).to_numpy()
    extra = {"kinds": kinds, "pairs": len(pairs), "of": kept.size * (kept.size - 1) // 2}
    return [Answer(f"{len(pairs)} given pairs", np.nan_to_num(score), found["corr_pval"].to_numpy(), extra)]


def contrastive_pca(truth: Truth) -> list[Answer]:
    """Correlate every feature with two contrastive components of B; of its own α the one that does best is taken."""
    from contrastive import CPCA

    model = CPCA(n_components=2)
    model.fit(truth.b, truth.a)
    found, alphas = model.automated_cpca(model.fg, 4, 40, 3)
    b = (truth.b - truth.b.mean(axis=0)) / truth.b.std(axis=0)
    answers = []
    for components, alpha in list(zip(found, alphas, strict=True))[1:]:  # the first α is 0: plain PCA
        components = np.real(components)
        loading = b.T @ ((components - components.mean(axis=0)) / components.std(axis=0)) / len(b)
        score = np.sqrt(np.square(loading).sum(axis=1))
        answers.append(Answer("best of its own α", score, None, {"α": float(alpha)}))
    noise = truth.kind == "noise"
    return [max(answers, key=lambda x: auroc(x.score[truth.kind == "connected"], x.score[noise]))]


def _standardised(truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    both = np.concatenate([truth.a, truth.b])
    mean, deviation = both.mean(axis=0), both.std(axis=0)
    return (truth.a - mean) / deviation, (truth.b - mean) / deviation


def pot_1d(truth: Truth) -> list[Answer]:
    import ot

    a, b = _standardised(truth)
    return [Answer("W₂² of each feature", np.asarray(ot.wasserstein_1d(a, b, p=2)))]


def pot_max_sliced(truth: Truth) -> list[Answer]:
    import ot

    a, b = _standardised(truth)
    _, log = ot.max_sliced_wasserstein_distance(a, b, n_projections=1000, seed=0, log=True)
    best = int(np.argmax(log["projected_emds"]))
    return [Answer("|weight| of the best of 1000 directions", np.abs(log["projections"][:, best]))]


def hyppo_features(truth: Truth) -> list[Answer]:
    from hyppo.ksample import KSample

    found = [KSample("Dcorr").test(x[:, None], y[:, None]) for x, y in zip(truth.b.T, truth.a.T, strict=True)]
    stat, pval = (np.array([float(row[i]) for row in found]) for i in range(2))
    return [Answer("Dcorr of each feature", stat, pval)]


def hyppo_all(truth: Truth) -> list[Answer]:
    """Compare all features at once: one p-value, here also for data in which only connectivity differs."""
    from hyppo.ksample import MMD, KSample

    a, b = _standardised(truth)
    quiet = np.isin(truth.kind, ["connected", "shared", "noise"])
    tests = {"Dcorr": KSample("Dcorr"), "MMD": MMD()}
    extra = {
        f"{name}, {what}": float(test.test(b[:, where], a[:, where])[1])
        for name, test in tests.items()
        for what, where in (("all features", slice(None)), ("without mean and variance features", quiet))
    }
    return [Answer("one p-value", np.zeros(truth.kind.size), None, extra)]


def laplacian_score(truth: Truth) -> list[Answer]:
    from skfeature.function.similarity_based.lap_score import lap_score

    x = np.concatenate(_standardised(truth))
    best_first = np.asarray(lap_score(x, mode="index"))
    score = np.empty(best_first.size)
    score[best_first] = -np.arange(best_first.size)
    return [Answer("rank, no labels used", score)]


def relieff(truth: Truth) -> list[Answer]:
    from skfeature.function.similarity_based.reliefF import reliefF

    x = np.concatenate(_standardised(truth))
    best_first = np.asarray(reliefF(x, np.repeat([0, 1], len(truth.a)), mode="index"))
    score = np.empty(best_first.size)
    score[best_first] = -np.arange(best_first.size)
    return [Answer("rank", score)]


Method = Callable[[Truth], list[Answer]]
#: name, function and the distribution it comes from; None is this project, or plain NumPy
METHODS: dict[str, tuple[Method, str | None]] = {
    "scorecard": (scorecard, None),
    "DiSC": (disc, None),
    "DiSC, within": (disc_within, None),
    "SPARDA": (sparda, None),
    "Fisher z, plain": (fisher_z, None),
    "scanpy t-test": (t_test, "scanpy"),
    "scanpy Wilcoxon": (wilcoxon, "scanpy"),
    "memento": (memento_1d, "memento-de"),
    "memento, correlations": (memento_correlations, "memento-de"),
    "memento, pairs": (memento_pairs, "memento-de"),
    "contrastive PCA": (contrastive_pca, "contrastive"),
    "POT, 1-D": (pot_1d, "POT"),
    "POT, max-sliced": (pot_max_sliced, "POT"),
    "hyppo, features": (hyppo_features, "hyppo"),
    "hyppo, all at once": (hyppo_all, "hyppo"),
    "scikit-feature, Laplacian score": (laplacian_score, "skfeature-chappers"),
    "scikit-feature, ReliefF": (relieff, "skfeature-chappers"),
}


def adjusted_rand(first: np.ndarray, second: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first.astype(str), second.astype(str)))


def judged(answer: Answer, kind: np.ndarray) -> dict[str, Any]:
    """Compare the features of each kind with noise."""
    extra = dict(answer.extra)
    kind = np.array(extra.pop("kinds", kind))
    row: dict[str, Any] = {"answer": answer.name, "extra": extra, "auroc": {}, "auprc": {}, "called": {}}
    scored = np.ptp(answer.score) > 0
    noise = answer.score[kind == "noise"]
    for name in [k for k in KINDS[:-1] if scored and np.any(kind == k)]:
        row["auroc"][name] = auroc(answer.score[kind == name], noise)
        row["auprc"][name] = auprc(answer.score[kind == name], noise)
    if answer.pval is not None:
        called = benjamini_hochberg(np.nan_to_num(answer.pval, nan=1.0)) < FDR
        row["called"] = {k: float(np.mean(called[kind == k])) for k in KINDS if np.any(kind == k)}
    return row


def benjamini_hochberg(pval: np.ndarray) -> np.ndarray:
    order = np.argsort(pval)
    raised = pval[order] * pval.size / np.arange(1, pval.size + 1)
    adjusted = np.empty_like(pval)
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return adjusted


def run(name: str, flavour: str, n: int, p: int, seed: int) -> dict[str, Any]:
    """Run one method once; whatever goes wrong is an answer, too."""
    method, package = METHODS[name]
    if package is not None:
        try:
            installed = f"{package} {version(package)}"
        except PackageNotFoundError:
            return {"status": "not installed"}
    else:
        installed = "-"
    try:
        if package not in COLD:
            method(draw(flavour, *WARM, seed=seed))
    except ImportError as error:
        return {"status": f"not installed: {error}"}
    except Exception as error:  # too small for it, perhaps: the real run says
        print(f"warm-up: {error!r}", file=sys.stderr)
    truth = draw(flavour, n, p, seed)
    before = 1024 * peak_gigabytes()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        answers = method(truth)
    except NotImplementedError as error:
        return {"status": str(error), "package": installed}
    except ImportError as error:
        return {"status": f"not installed: {error}", "package": installed}
    except Exception as error:
        traceback.print_exc()
        return {"status": f"failed: {type(error).__name__}: {error}"[:200], "package": installed}
    return {
        "status": "ran",
        "package": installed,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_mb": 1024 * peak_gigabytes(),
        "before_mb": before,
        "answers": [judged(answer, truth.kind) for answer in answers],
    }


def ratio(flavour: str, n: int, p: int, repeats: int) -> dict[str, Any]:
    """CPU seconds of the scorecard and of scanpy's Wilcoxon on the same AnnData, turn by turn."""
    import scanpy as sc
    import scipy.sparse as sp

    import diffnb as dn

    truth = draw(flavour.removesuffix(", sparse"), n, p, 0)
    both = np.concatenate([truth.a, truth.b])
    adata = as_anndata(truth, sp.csr_matrix(both) if flavour.endswith("sparse") else both)
    times = []
    for _ in range(repeats + 1):  # the first is for compilers and imports
        start = time.process_time()
        sc.tl.rank_genes_groups(adata, "condition", method="wilcoxon", groups=["B"], reference="A")
        middle = time.process_time()
        dn.tl.scorecard(adata, "condition")
        times.append((time.process_time() - middle, middle - start))
    ours, theirs = np.array(times[1:]).T
    return {
        "scorecard": float(np.median(ours)),
        "wilcoxon": float(np.median(theirs)),
        "ratio": float(np.median(ours / theirs)),
        "lowest": float(np.min(ours / theirs)),
        "highest": float(np.max(ours / theirs)),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ.setdefault("TQDM_DISABLE", "1")
    asked = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (asked["limit"], asked["limit"] + 10))
    result = ratio(**asked["ratio"]) if "ratio" in asked else run(**asked["run"])
    Path(asked["out"]).write_text(json.dumps(result, default=float), encoding="utf-8")
