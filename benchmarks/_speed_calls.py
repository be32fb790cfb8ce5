"""Whole calls of other methods for `speed.py --only realistic`, beside what they cannot avoid."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import anndata
import numpy as np
import pandas as pd
from _tools import ROOT
from reference import disc as plain

import diffnb as dn
from diffnb.core.arrays import affine
from diffnb.core.disc.algorithm import refit
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings

#: features of a DiSC call beside the authors' routine, and its neighbours and eigenvectors
N_PIXELS, N_NEIGHBORS, N_EIGENVECTORS = 784, 10, 20
#: observations of each condition and features for SPARDA; observations and features for DUFS and the distance
SPARDA_SIZE, DUFS_SIZE, DISTANCE_SIZE = (500, 1000), (300, 200), (1000, 500)


@dataclass(frozen=True)
class Ratio:
    """Processor seconds of some work, and of what is beside it."""

    work: str
    beside: str
    seconds: float
    seconds_beside: float

    @property
    def ratio(self) -> float:
        """How many times as long the work takes."""
        return self.seconds / self.seconds_beside


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def in_turn(*works: Callable[[], object], repeats: int = 2) -> list[float]:
    """Processor seconds of each, the faster of repeats in which they alternate."""
    spent = [[seconds(work)[0] for work in works] for _ in range(repeats)]
    return np.min(spent, axis=0).tolist()


def noise_with_groups(n_each: int, n_features: int) -> anndata.AnnData:
    """Two conditions of noise, in which different features are connected."""
    rng = np.random.default_rng(0)
    parts = []
    for number in range(2):
        x = rng.normal(size=(n_each, n_features))
        x[:, 20 * number : 20 * number + 20] += rng.normal(size=(n_each, 1))
        parts.append(x)
    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["A", "B"], n_each))})
    obs.index = obs.index.astype(str)
    return anndata.AnnData(np.concatenate(parts), obs=obs)


def multiplications_per_second() -> float:
    """Rate of a large matrix product."""
    x = np.random.default_rng(0).normal(size=(1500, 1500))
    return 1500**3 / in_turn(lambda: x @ x, repeats=3)[0]


@contextmanager
def counted_products() -> Iterator[list[int]]:
    """Count the multiplications of observations with directions and with weights."""
    found = [0]

    def counting(product: Callable[..., Any]) -> Callable[..., Any]:
        def counted(x: Any, other: np.ndarray) -> Any:
            found[0] += len(other) * x.shape[0] * x.shape[1]
            return product(x, other)

        return counted

    names = ("_directions_times", "_weights_times")
    with patch.multiple(affine, **{name: counting(getattr(affine, name)) for name in names}):
        yield found


def against_authors() -> list[Ratio]:
    """DiSC at the size of small images: the inner routine and the whole call beside the authors' routine."""
    adata = noise_with_groups(500, N_PIXELS)
    parts = [adata.X[:500], adata.X[500:]]
    settings = DiscSettings(FeatureGraphSettings(N_NEIGHBORS), (N_EIGENVECTORS, N_EIGENVECTORS))
    asked = {"n_neighbors": N_NEIGHBORS, "n_eigenvectors": N_EIGENVECTORS, "overwrite": True}
    authors, inner, given, named = in_turn(
        lambda: plain.disc(parts, N_NEIGHBORS, N_EIGENVECTORS, trivial_in_u=True),
        lambda: refit(parts, settings),
        lambda: dn.tl.disc(adata, "condition", question="any difference", n_clusters=4, **asked),
        lambda: dn.tl.disc(adata, "condition", question="any difference", **asked),
    )
    beside = f"the authors' routine, {N_PIXELS} features"
    return [
        Ratio("inner routine of DiSC", beside, inner, authors),
        Ratio("tl.disc, n_clusters=4", beside, given, authors),
        Ratio("tl.disc, as it is called", beside, named, authors),
    ]


def projections() -> list[Ratio]:
    """SPARDA beside its products at the rate of a large matrix product."""
    adata, rate = noise_with_groups(*SPARDA_SIZE), multiplications_per_second()
    rows = []
    for name, options in {"20 features": {"n_features": 20}, "defaults": {}}.items():
        call = partial(dn.tl.sparda, adata, "condition", overwrite=True, **options)
        with counted_products() as found:
            spent = seconds(call)[0]
        size = f"{2 * SPARDA_SIZE[0]} x {SPARDA_SIZE[1]}"
        rows.append(Ratio(f"tl.sparda, {name}, {size}", "its products as one", spent, found[0] / rate))
    return rows


def without_labels() -> list[Ratio]:
    """DUFS and the informed distance beside one product of all observations with each other."""
    rows = []
    works = {
        "tl.dufs": (DUFS_SIZE, lambda x: dn.tl.dufs(x, overwrite=True)),
        "tl.informed_distance": (DISTANCE_SIZE, lambda x: dn.tl.informed_distance(x, overwrite=True)),
    }
    for name, ((n, p), work) in works.items():
        adata = noise_with_groups(n // 2, p)
        x = np.asarray(adata.X)
        spent, product = in_turn(partial(work, adata), lambda x=x: [x @ x.T for _ in range(20)], repeats=1)
        rows.append(Ratio(f"{name}, {n} x {p}", "one product of all observations", spent, product / 20))
    return rows


FIRST = """
import json, time, warnings
import anndata, numpy, pandas
warnings.simplefilter("ignore")
start = time.process_time()
import scipy.optimize, scipy.sparse.linalg, scipy.special, sklearn.cluster, sklearn.metrics
others = time.process_time() - start
import diffnb as dn
adata = dn.datasets.newly_connected(n_obs=500)
spent = []
for _ in range(3):
    start = time.process_time()
    dn.tl.disc(adata, "condition", overwrite=True)
    spent.append(time.process_time() - start)
print(json.dumps([others, spent[0], min(spent[1:])]))
"""


def first_use() -> list[Ratio]:
    """Compare the first result of a new process with a later one, on 1,000 x 250."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True, cwd=ROOT.parent)
    others, first, warm = json.loads(done.stdout.strip().splitlines()[-1])
    return [
        Ratio("a first tl.disc, SciPy and scikit-learn loaded", "a later one", first, warm),
        Ratio("a first tl.disc, and loading them", "a later one", others + first, warm),
    ]


def calls() -> list[Ratio]:
    """All of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*against_authors(), *projections(), *without_labels(), *first_use()]
