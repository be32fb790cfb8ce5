"""Part `realistic` of `speed.py`: the calls of a user with many sparse cells and six donors, as ratios of one run.

Every row is a piece of work, what it is measured beside, and the ratio of processor seconds; work and what is beside
it are run in turn, and the faster of the repeats counts. Ratios depend on the density of the data, which is printed,
and on the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from _speed_calls import Ratio, calls, in_turn, seconds
from _tools import peak_gigabytes, table

import diffnb as dn
from diffnb.core.arrays.ops import gram
from diffnb.core.arrays.sparse_gram import gram_by_rows
from diffnb.core.disc.algorithm import fit_disc
from diffnb.core.disc.permutable import SampleSums
from diffnb.core.disc.settings import DiscOptions, FeatureGraphOptions
from diffnb.core.disc.significance import permutation_test
from diffnb.core.scorecard import fit_scorecard
from diffnb.core.scorecard.stored_values import column_statistics

#: donors of each condition
N_DONORS = 3
N_PERMUTATIONS = 99
#: share of numbers that are not zero before donors and the module change levels; what comes of it is printed
DENSITY = 0.09
#: genes of the scorecard, beside another test and by themselves
WIDTHS, WIDE = (500, 1000, 2000), (1250, 2500, 5000)
#: cells of each condition, genes and density of a small data set
SMALL, SMALL_DENSITY = (2000, 2000), 0.18
WITHIN = DiscOptions(graph=FeatureGraphOptions(standardize="within"))


def cells(n_obs: int, n_features: int, seed: int = 0, density: float = DENSITY) -> list[sp.csr_array]:
    """Log counts of two conditions; genes differ in level, donors in a few of them, one module is in the second."""
    rng = np.random.default_rng(seed)
    level = rng.gamma(0.5, 1.0, n_features)
    level *= density / np.mean(1 - np.exp(-level))
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


def annotated(matrices: Sequence[sp.csr_array | np.ndarray], samples: Sequence[np.ndarray] = ()) -> anndata.AnnData:
    """Stack conditions A and B."""
    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["A", "B"], [x.shape[0] for x in matrices]))})
    if len(samples):
        obs["donor"] = pd.Categorical([f"d{code}" for code in np.concatenate(list(samples))])
    obs.index = obs.index.astype(str)
    x = sp.csr_matrix(sp.vstack(matrices)) if sp.issparse(matrices[0]) else np.concatenate(list(matrices))
    return anndata.AnnData(x, obs=obs)


def wilcoxon(matrices: Sequence[sp.csr_array | np.ndarray]) -> Callable[[], None]:
    import scanpy as sc

    adata = annotated(matrices)
    return lambda: sc.tl.rank_genes_groups(adata, "condition", method="wilcoxon", groups=["B"], reference="A")


def donors_of(matrices: Sequence[sp.csr_array]) -> list[np.ndarray]:
    return [np.sort(np.arange(x.shape[0]) % N_DONORS) + N_DONORS * m for m, x in enumerate(matrices)]


def permutations(matrices: list[sp.csr_array]) -> list[Ratio]:
    """Products, a fit, permutations of donors, and the whole call."""
    samples = donors_of(matrices)
    dense = matrices[0][:2000].toarray().astype(float)
    products, dense_products = in_turn(lambda: [gram(x) for x in matrices], lambda: dense.T @ dense)
    dense_products *= sum(x.shape[0] for x in matrices) / len(dense)
    fitted, fit = seconds(lambda: fit_disc(matrices, WITHIN).without_walks())
    test = partial(permutation_test, fit, matrices, n_permutations=N_PERMUTATIONS, samples=samples, null="connectivity")
    permuted, found = seconds(lambda: test(sums=SampleSums(matrices, samples)))
    n_distinct = len(list(combinations(range(2 * N_DONORS), N_DONORS)))
    assert n_distinct == 1 + len(found.null_sigma)
    # assignments that differ in the order of conditions only are one, where conditions have as many eigenvectors
    n_fitted = n_distinct / 2 - 1 if len(set(fit.settings.n_eigenvectors)) == 1 else n_distinct - 1
    adata = annotated(matrices, samples)
    whole, named = in_turn(
        lambda: dn.tl.disc(adata, "condition", n_clusters=4, overwrite=True),
        lambda: dn.tl.disc(adata, "condition", overwrite=True),
        repeats=1,
    )
    return [
        Ratio("products of sparse columns", "of dense ones", products, dense_products),
        Ratio("a fit", "its products", fitted, products),
        Ratio("tl.disc, n_clusters=4", "a fit", whole, fitted),
        Ratio("tl.disc, as it is called", "a fit", named, fitted),
        Ratio(f"{N_PERMUTATIONS} permutations of donors, {n_distinct} distinct", "tl.disc", permuted, named),
        Ratio("one of these assignments", "tl.disc", (permuted - products) / n_fitted, named),
    ]


def scorecards(matrices: list[sp.csr_array]) -> list[Ratio]:
    """Compare the scorecard with a Wilcoxon test of each gene, by width, and by donor."""
    rows, widths = [], [w for w in WIDTHS if w <= matrices[0].shape[1]]
    wilcoxon([x[:200, :50] for x in matrices])()  # compiles
    for width in widths:
        narrow = [sp.csr_array(x[:, :width]) for x in matrices]
        spent, beside = in_turn(partial(fit_scorecard, *narrow), wilcoxon(narrow))
        rows.append(Ratio(f"scorecard, {width} genes", "Wilcoxon", spent, beside))
    by_donor = partial(fit_scorecard, *narrow, samples=tuple(donors_of(narrow)))
    last = rows[-1]
    return [*rows, Ratio(f"scorecard by donor, {width} genes", "Wilcoxon", *in_turn(by_donor), last.seconds_beside)]


def _density(matrices: Sequence[sp.csr_array]) -> float:
    return sum(x.nnz for x in matrices) / sum(int(np.prod(x.shape)) for x in matrices)


def small_scorecards() -> list[Ratio]:
    """Compare them for few cells, of which more numbers are there, or all."""
    counts = cells(2 * SMALL[0], SMALL[1], density=SMALL_DENSITY)
    rng = np.random.default_rng(0)
    kinds = {
        f"sparse counts, density {_density(counts):.2f}": counts,
        "dense counts": [x.toarray() for x in counts],
        "Gaussian": [rng.normal(size=SMALL).astype(np.float32) for _ in range(2)],
    }
    shown = f"scorecard, {SMALL[0]} + {SMALL[0]} cells, {SMALL[1]} genes"
    return [
        Ratio(f"{shown}, {name}", "Wilcoxon", *in_turn(partial(fit_scorecard, *x), wilcoxon(x)))
        for name, x in kinds.items()
    ]


def exponent(n_obs: int) -> float:
    """Power of the number of genes with which the time of the scorecard grows."""
    wide = cells(n_obs, WIDE[-1])
    spent = [in_turn(partial(fit_scorecard, *[sp.csr_array(x[:, :w]) for x in wide]), repeats=1)[0] for w in WIDE]
    return float(np.polyfit(np.log(WIDE), np.log(spent), 1)[0])


def realistic(n_obs: int, n_features: int) -> dict[str, object]:
    """Print all ratios, and return them with what they were made of."""
    matrices = cells(n_obs, n_features)
    warm(matrices)
    density = _density(matrices)
    rows = []
    for part in (lambda: permutations(matrices), lambda: scorecards(matrices), small_scorecards, calls):
        rows += (found := part())
        print(*[f"{r.work} / {r.beside}: {r.ratio:.2f}" for r in found], sep="\n", file=sys.stderr, flush=True)
    power = exponent(n_obs // 10)
    head = ["work", "seconds", "beside", "seconds", "ratio"]
    title = f"{n_obs} x {n_features}, {N_DONORS} + {N_DONORS} donors, density {density:.2f}; processor seconds"
    table(title, head, [[r.work, r.seconds, r.beside, r.seconds_beside, r.ratio] for r in rows])
    print(f"scorecard, {n_obs // 10} cells, {WIDE[0]} to {WIDE[-1]} genes: time grows with their number to {power:.2f}")
    print(f"peak memory: {peak_gigabytes():.2f} GB")
    ratios = [asdict(r) | {"ratio": r.ratio} for r in rows]
    return {"density": density, "ratios": ratios, "exponent in genes": power, "peak GB": peak_gigabytes()}


def warm(matrices: list[sp.csr_array]) -> None:
    """Load and compile what large sparse data needs, so that no row pays for it."""
    some = [x[:300, :100] for x in matrices]
    gram_by_rows(some[0])
    column_statistics(*some)
    fit_scorecard(*some)
    fit_disc(some, WITHIN)
