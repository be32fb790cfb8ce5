"""Part `nulls` of `real.py`: real data in which nothing differs; how often DiSC names a group."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from _real_cells import control_cells, folder, halves
from _tools import table

import diffnb as dn

QUESTIONS = ("relations", "any difference")
N_GENES = 2000
#: cells in which a gene of the first set is seen
MIN_CELLS = 200


def random_labels(n_obs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(n_obs) < n_obs // 2


def normalised(adata: ad.AnnData) -> ad.AnnData:
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def cells(seed: int) -> ad.AnnData:
    """Control cells of Kang et al., split at random."""
    adata = control_cells()
    split = halves(adata, random_labels(adata.n_obs, seed))
    sc.pp.filter_genes(split, min_cells=MIN_CELLS)
    return normalised(split)


def variable_cells(seed: int) -> ad.AnnData:
    """Control cells with highly variable genes only, rare ones among them."""
    adata = control_cells()
    adata = normalised(halves(adata, random_labels(adata.n_obs, seed)))
    sc.pp.highly_variable_genes(adata, n_top_genes=N_GENES)
    return adata[:, adata.var["highly_variable"]].copy()


def one_type(seed: int) -> ad.AnnData:
    """Control monocytes, split at random."""
    adata = cells(seed)
    marker = np.asarray(adata[:, ["LYZ", "S100A8", "FCER1G", "TYROBP"]].X.mean(axis=1)).ravel()
    return adata[marker > 1.5].copy()


def blood(seed: int) -> ad.AnnData:
    """PBMC that scanpy ships, split at random."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs = pd.DataFrame({"half": _letters(random_labels(adata.n_obs, seed))}, index=adata.obs_names)
    return adata


def frames(seed: int) -> ad.AnnData:
    """Frames of one resting run, split at random."""
    series = _run(seed % 10)
    obs = pd.DataFrame({"half": _letters(random_labels(len(series), seed))})
    return ad.AnnData(series, obs=obs.set_index(obs.index.astype(str)))


def subjects(seed: int) -> ad.AnnData:
    """Resting runs of ten subjects in two halves, which of them is called first drawn for each subject."""
    rng = np.random.default_rng(seed)
    runs, labels, names = [], [], []
    for number in range(10):
        series = _run(number)
        first = np.arange(len(series)) < len(series) // 2
        runs.append(series)
        labels.append(first ^ bool(rng.integers(2)))
        names += [str(number)] * len(series)
    obs = pd.DataFrame({"half": _letters(np.concatenate(labels)), "subject": names})
    return ad.AnnData(np.concatenate(runs), obs=obs.set_index(obs.index.astype(str)))


def pixels(seed: int) -> ad.AnnData:
    """One real scene twice, with noise of 2 % of the standard deviation of each band; every third pixel."""
    from scipy.io import loadmat

    cube = loadmat(folder() / "hyperspectral" / "targets" / "abu-urban-2.mat")["data"].astype(float)[::3, ::3]
    rng = np.random.default_rng(seed)
    spread = 0.02 * cube.std(axis=(0, 1))
    adata = dn.datasets.from_image_pair(*(cube + spread * rng.normal(size=cube.shape) for _ in range(2)))
    adata.obs["half"] = adata.obs["condition"]
    return adata


def _run(number: int) -> np.ndarray:
    return np.load(folder() / "fmri" / "hcp" / f"rest_subject{number + 1:02d}.npz")["series"].astype(np.float32)


def _letters(second: np.ndarray) -> pd.Categorical:
    return pd.Categorical(np.where(second, "B", "A"))


NULLS: dict[str, Callable[[int], ad.AnnData]] = {
    "control cells, frequent genes": cells,
    "control cells, variable genes": variable_cells,
    "control monocytes": one_type,
    "PBMC of scanpy": blood,
    "frames of a resting run": frames,
    "halves of resting runs, subjects as units": subjects,
    "one scene twice": pixels,
}


def named(adata: ad.AnnData, question: str) -> list[int]:
    """Sizes of the groups that are named."""
    sample_key = "subject" if "subject" in adata.obs else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dn.tl.disc(adata, "half", question=question, sample_key=sample_key)
    columns = [adata.var[c] for c in adata.uns["disc"]["group_columns"]]
    return [int(n) for c in columns for g, n in c.value_counts().items() if g != "background" and n]


def report(seeds: int) -> None:
    rows = []
    for name, make in NULLS.items():
        for question in QUESTIONS:
            found = []
            for seed in range(seeds):
                adata = make(seed)
                found.append(named(adata, question))
            sizes = "; ".join(f"seed {s}: {', '.join(map(str, f))}" for s, f in enumerate(found) if f)
            runs = sum(bool(f) for f in found)
            rows.append([name, question, f"{adata.n_obs} × {adata.n_vars}", f"{runs} of {seeds}", sizes or "none"])
            print(rows[-1], flush=True)
    table("Nothing differs: runs that name a group", ["data", "question", "size", "runs", "features in groups"], rows)
