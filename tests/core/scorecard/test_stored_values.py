"""Statistics from stored values are those of dense columns, zeros included."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.scorecard import marginal
from diffnb.core.scorecard import stored_values as module
from diffnb.core.scorecard.marginal import marginal_tests
from diffnb.core.scorecard.stored_values import by_stored_values, column_statistics


def counts(rng):
    return np.log1p(rng.poisson(0.3, size=(90, 12)) * rng.uniform(1, 2, size=(90, 12)))


def ties(rng):
    return rng.poisson(0.2, size=(90, 12)).astype(float)


def both_signs(rng):
    return np.where(rng.random((90, 12)) < 0.4, rng.integers(-2, 3, size=(90, 12)), 0).astype(float)


def no_zeros(rng):
    x = ties(rng)
    x[:, ::2] = rng.normal(5, 1, size=(90, 6))
    return x


def empty_columns(rng):
    """One condition, or both, with zeros only; values that differ between conditions, but not within."""
    x = ties(rng)
    x[:, 0] = 0
    x[:35, 1] = 0
    x[35:, 2] = 0
    x[:, 3] = np.arange(90) < 35
    return x


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", [counts, ties, both_signs, no_zeros, empty_columns])
@pytest.mark.parametrize("split", [35, 36, 45])
def test_tests_are_those_of_dense_columns(kind, split, compiled, rng, monkeypatch):
    x = kind(rng)
    monkeypatch.setattr(module, "COLUMNS_AT_ONCE", 5)
    if not compiled:
        monkeypatch.setattr(module, "compiled", lambda: None)
    monkeypatch.setattr(marginal, "by_stored_values", lambda *_: True)
    ours = marginal_tests(sp.csr_array(x[:split]), sp.csc_array(x[split:]))
    monkeypatch.setattr(marginal, "by_stored_values", lambda *_: False)
    theirs = marginal_tests(x[:split], x[split:])
    for name in ("mean", "spread", "distribution"):
        own, other = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(own.stat, other.stat, rtol=1e-9, atol=1e-11, err_msg=name)
        np.testing.assert_allclose(own.pval, other.pval, rtol=1e-8, err_msg=name)


def test_stored_zeros_and_duplicates_count_as_the_value_they_are(rng):
    x = ties(rng)
    parts = sp.coo_array(x)
    rows, columns = np.nonzero(x == 0)
    where = np.concatenate([parts.row, parts.row, rows[:50]]), np.concatenate([parts.col, parts.col, columns[:50]])
    stored = sp.csr_array((np.concatenate([parts.data / 2, parts.data / 2, np.zeros(50)]), where), shape=x.shape)
    first, second = (column_statistics(y[:40], y[40:]) for y in (stored, sp.csr_array(x)))
    for name in ("area", "statistic", "cumulants"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-12)
    np.testing.assert_allclose(first.group.variance, second.group.variance, rtol=1e-12)
    assert stored.nnz > parts.nnz  # the data given is left alone


def test_numbers_that_differ_in_the_last_bit_only_are_ties(rng):
    x = ties(rng)
    y = np.nextafter(x, np.inf) * (x > 0)
    for pair in ((x, x), (x, y)):
        area = column_statistics(*(sp.csr_array(half) for half in pair)).area
        np.testing.assert_allclose(area, 0.0, atol=1e-15)


def test_small_dense_and_uncompiled_work_is_left_to_dense_columns(rng, monkeypatch):
    x = sp.csr_array(ties(rng))
    assert not by_stored_values(x, x)  # small
    monkeypatch.setattr(module, "MIN_NUMBERS", 1)
    assert by_stored_values(x, x)
    assert not by_stored_values(x.toarray(), x.toarray())
    assert not by_stored_values(*[sp.csr_array(np.ones((40, 5)))] * 2)
    monkeypatch.setattr(module, "compiled", lambda: None)
    assert not by_stored_values(x, x)


def test_every_stored_number_is_read_and_no_zero(rng):
    """The work, counted: the loops see as many numbers as are stored."""
    x = sp.csc_array(ties(rng))
    seen = []

    def side(values, *others):
        seen.append(values.size)
        module.side_statistics(values, *others)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "compiled", lambda: (side, module.step_statistics))
        column_statistics(x[:40], x[40:])
    assert seen == [x.nnz, x.nnz]  # once for each condition


def test_without_numba_nothing_is_compiled(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    assert module.compiled.__wrapped__() is None
