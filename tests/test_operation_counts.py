"""How much work a call does, counted: what a slow machine cannot hide, and a fast one cannot either.

Counts of one fixed data set. A change that needs a tenth more of anything fails here, and the test says of what. One
that halves a count should lower the number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import anndata
import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.arrays import affine, gram_stats, ops
from diffnb.core.dufs import train
from diffnb.core.scorecard import connectivity
from diffnb.core.scorecard.correlation_blocks import MAX_BLOCK_FEATURES
from diffnb.core.spectral import eigen, walk

N_EACH, N_FEATURES, CHUNK = 300, 520, 100
#: features more than the direct eigensolver takes
assert N_FEATURES > eigen.MAX_DIRECT_NODES


def data(n_each: int = N_EACH, n_features: int = N_FEATURES) -> anndata.AnnData:
    rng = np.random.default_rng(0)
    parts = [rng.poisson(0.3, size=(n_each, n_features)).astype(float) for _ in range(2)]
    parts[1][:, :20] += rng.poisson(1.0, size=(n_each, 1))
    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["A", "B"], n_each))})
    obs["donor"] = pd.Categorical([f"{c}{i % 3}" for i, c in enumerate(obs["condition"])])
    obs.index = obs.index.astype(str)
    return anndata.AnnData(sp.csr_matrix(np.log1p(np.concatenate(parts))), obs=obs)


@contextmanager
def counted(module: object, name: str, amount) -> Iterator[list[float]]:
    """Add up what `amount` says of the arguments of every call."""
    found, original = [0.0], getattr(module, name)

    def counting(*arguments, **options):
        found[0] += amount(*arguments)
        return original(*arguments, **options)

    with patch.object(module, name, counting):
        yield found


def at_most(found: float, expected: float, slack: float = 1.1) -> None:
    assert expected / 2 < found <= slack * expected


class Chunks:
    """Rows in memory in place of a file, which count how often they are read."""

    def __init__(self, x: sp.csr_matrix) -> None:
        self.x, self.n_read = x, 0

    def read(self, start: int) -> sp.csr_matrix:
        self.n_read += 1
        return self.x[start : start + CHUNK]

    def as_dask(self) -> da.Array:
        meta = sp.csr_matrix((0, 0), dtype=self.x.dtype)
        shape = (CHUNK, self.x.shape[1])
        blocks = [
            da.from_delayed(dask.delayed(self.read, pure=False)(start), shape, self.x.dtype, meta=meta)
            for start in range(0, self.x.shape[0], CHUNK)
        ]
        return da.concatenate(blocks)

    @property
    def n_passes(self) -> float:
        return self.n_read * CHUNK / self.x.shape[0]


@contextmanager
def counted_products_of_graphs() -> Iterator[list[float]]:
    """Count the vectors by which a graph of features is multiplied."""
    one = lambda _, v: 1 if v.ndim == 1 else v.shape[1]  # noqa: E731
    with counted(eigen, "multiply_symmetric", one) as direct, counted(walk, "multiply_symmetric", one) as steps:
        found = [0.0]
        yield found
        found[0] = direct[0] + steps[0]


@pytest.mark.parametrize(("options", "expected"), [({"n_clusters": 4}, 815), ({}, 3627)], ids=["fit", "evidence"])
def test_eigensolvers_multiply_by_a_graph_so_many_times(options, expected):
    with counted_products_of_graphs() as found:
        dn.tl.disc(data(), "condition", **options)
    # one more restart of a solver, by rounding, is no slow-down
    at_most(found[0], expected, 1.25)


def test_all_permutations_of_donors_multiply_every_row_once():
    with counted(gram_stats, "gram", lambda x: x.shape[0]) as found:
        dn.tl.disc(data(n_features=100), "condition", sample_key="donor", n_permutations=19)
    assert found[0] == 2 * N_EACH


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: dn.tl.disc(x, "condition", n_clusters=4), 6.2),
        (lambda x: dn.tl.disc(x, "condition", sample_key="donor", n_permutations=9), 4.2),
        (lambda x: dn.tl.scorecard(x, "condition"), 25.7),  # ten draws of folds, as there are few features
        (lambda x: dn.tl.scorecard(x, "condition", sample_key="donor"), 4.7),
    ],
    ids=["disc", "disc by donor", "scorecard", "scorecard by donor"],
)
def test_chunks_are_read_so_many_times(call, expected):
    adata = data(n_features=60)
    chunks = Chunks(adata.X)
    adata.X = chunks.as_dask()
    call(adata)
    at_most(chunks.n_passes, expected)


def test_the_scorecard_looks_at_every_pair_of_features_once_for_each_contrast():
    with counted(connectivity, "excess_of_features", lambda difference, *_: difference.size) as found:
        dn.tl.scorecard(data(), "condition")
    # two draws of eight folds: the difference, and three null contrasts of each condition, added and subtracted
    n_contrasts = 2 * (1 + 2 * 3 * 3)
    at_most(found[0], n_contrasts * N_FEATURES * (N_FEATURES + MAX_BLOCK_FEATURES) / 2)


def test_sparda_projects_the_observations_so_many_times():
    with counted(affine, "_directions_times", lambda _, directions: len(directions)) as found:
        dn.tl.sparda(data(100, 80), "condition", n_features=5)
    at_most(found[0], 443)


def test_dufs_evaluates_its_objective_so_many_times():
    adata = data(40, 30)
    with counted(train, "evaluate_objective", lambda *_: 1) as found:
        dn.tl.dufs(adata, n_steps=60)
    at_most(found[0], 60)


def test_inner_products_of_a_fit_are_taken_once():
    with counted(ops, "cross", lambda x, _: x.shape[0]) as found:
        dn.tl.disc(data(), "condition", n_clusters=4)
    at_most(found[0], 2 * N_EACH)
