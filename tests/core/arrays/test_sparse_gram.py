"""Products of sparse columns row by row are those of dense ones, in less work."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.arrays import ops
from diffnb.core.arrays import sparse_gram as module
from diffnb.core.arrays.sparse_gram import by_rows, gram_by_rows


@pytest.fixture
def counts(rng):
    """Few numbers in most columns, and many in some of them."""
    level = np.full(30, 0.1)
    level[[3, 11, 12, 29]] = 1.5
    return sp.csr_array(rng.poisson(level, size=(50, 30)).astype(float))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", ["csr", "csc", "float32", "duplicates"])
def test_products_are_those_of_dense_columns(compiled, kind, counts, monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 16)  # several blocks
    if not compiled:
        monkeypatch.setattr(module, "compiled", lambda: None)
    x = {"csr": counts, "csc": counts.tocsc(), "float32": counts.astype(np.float32), "duplicates": counts}[kind]
    if kind == "duplicates":
        parts = counts.tocoo()
        where = np.concatenate([parts.row, parts.row[::-1]]), np.concatenate([parts.col, parts.col[::-1]])
        unordered = sp.coo_array((np.concatenate([parts.data, parts.data[::-1]]) / 2, where), shape=counts.shape)
        x = sp.csr_array(unordered)
    dense = counts.toarray()
    np.testing.assert_allclose(gram_by_rows(x), dense.T @ dense, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(x.toarray(), dense)


def test_small_dense_and_uncompiled_work_is_left_to_other_products(counts, monkeypatch):
    assert not by_rows(counts)  # small
    monkeypatch.setattr(module, "MIN_MULTIPLICATIONS", 1)
    assert by_rows(counts)
    assert not by_rows(counts.toarray())
    assert not by_rows(sp.csr_array(np.ones((40, 5))))
    monkeypatch.setattr(module, "compiled", lambda: None)
    assert not by_rows(counts)


def test_without_numba_nothing_is_compiled(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    assert module.compiled.__wrapped__() is None


def test_every_product_is_added_once_and_on_one_side_only(counts):
    """The work, counted: m (m + 1) / 2 additions for a row with m numbers."""
    added = []

    class Line:
        def __init__(self, first):
            self.first = first

        def __getitem__(self, column):
            return 0.0

        def __setitem__(self, column, value):
            added.append((self.first, int(column)))

    columns = counts.tocsc()
    lines = [Line(first) for first in range(30)]
    module.add_products(
        counts.indptr, counts.indices, counts.data, columns.indptr, columns.indices, counts.indptr[:-1].copy(), lines
    )
    per_row = np.diff(counts.indptr)
    assert len(added) == np.sum(per_row * (per_row + 1) // 2)
    assert all(first <= other for first, other in added)


def test_columns_with_many_numbers_are_made_dense_and_no_others(counts, monkeypatch):
    """The work, counted: rows of dense columns added once for every number of the others."""
    added = []

    def loop(starts, rows, values, dense, n_dense, total):
        added.append((len(rows), n_dense, dense.shape))
        module.add_dense_products(starts, rows, values, dense, n_dense, total)

    monkeypatch.setattr(module, "MAX_COLUMN_DENSITY", 0.4)
    monkeypatch.setattr(module, "compiled", lambda: (module.add_products, loop))
    gram_by_rows(counts)
    columns = counts.tocsc()
    others = sum(np.diff(columns.indptr)[j] for j in range(30) if j not in (3, 11, 12, 29))
    assert added == [(others, 4, (50, 4))]


def test_a_large_sparse_matrix_is_multiplied_row_by_row(counts, monkeypatch):
    monkeypatch.setattr(module, "MIN_MULTIPLICATIONS", 1)
    monkeypatch.setattr(ops, "cross", None)
    dense = counts.toarray()
    np.testing.assert_allclose(ops.gram(counts), dense.T @ dense, rtol=1e-12)


@pytest.mark.parametrize("dense_from", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("width", [1, 12, 30])
def test_a_band_of_columns_is_multiplied_with_all_columns(width, dense_from, counts, monkeypatch):
    monkeypatch.setattr(module, "MAX_COLUMN_DENSITY", dense_from)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 16)
    monkeypatch.setattr(module, "MIRRORED_AT_ONCE", 5)
    dense = counts.toarray()
    np.testing.assert_allclose(module.band_by_rows(counts, width), dense[:, :width].T @ dense, rtol=1e-12)


def test_parts_of_a_large_matrix_are_multiplied_as_the_whole_is(counts, monkeypatch):
    monkeypatch.setattr(module, "MIN_MULTIPLICATIONS", 1000 * 30**2)
    assert not by_rows(counts)
    assert by_rows(counts, 1000)


@pytest.mark.parametrize("where", [slice(0, 7), slice(9, 13), slice(20, 30), slice(0, 30)])
def test_some_columns_are_multiplied_with_all_columns(where, counts, monkeypatch):
    monkeypatch.setattr(module, "MIN_MULTIPLICATIONS", 1)
    monkeypatch.setattr(ops, "cross", None)
    dense = counts.toarray()
    np.testing.assert_allclose(ops.gram_band(counts, where), dense[:, where].T @ dense, rtol=1e-12)
