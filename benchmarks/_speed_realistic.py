"""Part `realistic` of `speed.py`: the calls of a user with many sparse cells and six donors, as ratios of one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import combinations

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from _tools import table

from diffnb.core.arrays.ops import gram
from diffnb.core.disc.algorithm import fit_disc
from diffnb.core.disc.permutable import SampleSums
from diffnb.core.disc.settings import DiscOptions, FeatureGraphOptions
from diffnb.core.disc.significance import permutation_test
from diffnb.core.scorecard import fit_scorecard

#: donors of each condition
N_DONORS = 3
N_PERMUTATIONS = 99
#: share of numbers that are not zero
DENSITY = 0.09
#: features of the scorecard whose growth is measured
WIDTHS = (500, 1000, 2000)


def cells(n_obs: int, n_features: int, seed: int = 0) -> list[sp.csr_array]:
    """Log counts of two conditions; genes differ in level, donors in a few of them, one module is in the second."""
    rng = np.random.default_rng(seed)
    level = rng.gamma(0.5, 1.0, n_features)
    level *= DENSITY / np.mean(1 - np.exp(-level))
    conditions = []
    for number in range(2):
        rows = []
        for size in np.full(N_DONORS, n_obs // (2 * N_DONORS)):
            rate = level * rng.lognormal(0, 0.15, n_features)
            for start in range(0, size, 2000):
                height = min(2000, size - start)
                factor = np.ones((height, n_features))
                factor[:, :40] = np.exp(number * rng.normal(size=(height, 1)))
                counts = rng.poisson(rate * factor).astype(np.float32)
                rows.append(sp.csr_array(np.log1p(counts)))
        conditions.append(sp.csr_array(sp.vstack(rows)))
    return conditions


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def wilcoxon(matrices: list[sp.csr_array]) -> Callable[[], None]:
    import scanpy as sc

    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["A", "B"], [x.shape[0] for x in matrices]))})
    adata = anndata.AnnData(sp.csr_matrix(sp.vstack(matrices)), obs=obs.set_index(obs.index.astype(str)))
    return lambda: sc.tl.rank_genes_groups(adata, "condition", method="wilcoxon", groups=["B"], reference="A")


def realistic(n_obs: int, n_features: int) -> dict[str, float]:
    """Processor seconds of one thread, and their ratios."""
    matrices = cells(n_obs, n_features)
    samples = [np.sort(np.arange(x.shape[0]) % N_DONORS) + N_DONORS * m for m, x in enumerate(matrices)]
    gram(matrices[0][:10])
    spent: dict[str, float] = {"density": matrices[0].nnz / np.prod(matrices[0].shape)}
    spent["gram"] = seconds(lambda: [gram(x) for x in matrices])[0]
    dense = matrices[0][:2000].toarray().astype(float)
    spent["dense gram"] = seconds(lambda: dense.T @ dense)[0] * n_obs / len(dense)
    spent["fit"], fit = seconds(
        lambda: fit_disc(matrices, DiscOptions(graph=FeatureGraphOptions(standardize="within")))
    )
    test = partial(permutation_test, fit.without_walks(), matrices, n_permutations=N_PERMUTATIONS, samples=samples)
    spent["permutations"], found = seconds(lambda: test(null="connectivity", sums=SampleSums(matrices, samples)))
    spent["distinct assignments"] = 1 + len(found.null_sigma)
    print({name: round(value, 3) for name, value in spent.items()}, flush=True)
    for width in (w for w in WIDTHS if w <= n_features):
        narrow = [sp.csr_array(x[:, :width]) for x in matrices]
        spent[f"scorecard, {width}"] = seconds(partial(fit_scorecard, *narrow))[0]
        run = wilcoxon(narrow)
        run() if width == WIDTHS[0] else None  # compiles
        spent[f"wilcoxon, {width}"] = seconds(run)[0]
    rows = [
        ["99 permutations of donors over a fit", spent["permutations"] / spent["fit"]],
        ["sparse products over dense ones", spent["gram"] / spent["dense gram"]],
        ["fit over its products", spent["fit"] / spent["gram"]],
    ]
    widths = [w for w in WIDTHS if f"scorecard, {w}" in spent]
    rows += [[f"scorecard over Wilcoxon, {w}", spent[f"scorecard, {w}"] / spent[f"wilcoxon, {w}"]] for w in widths]
    growth = np.polyfit(np.log(widths), np.log([spent[f"scorecard, {w}"] for w in widths]), 1)[0]
    rows.append(["growth of the scorecard with features, exponent", float(growth)])
    assert len(list(combinations(range(2 * N_DONORS), N_DONORS))) == spent["distinct assignments"]
    table(
        f"{n_obs} x {n_features}, {N_DONORS} + {N_DONORS} donors, density {spent['density']:.2f}", ["", "ratio"], rows
    )
    return {**spent, **{f"ratio: {name}": float(value) for name, value in rows}}
