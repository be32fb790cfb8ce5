import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.stats.thinning import are_counts, matched_totals, thinned


@pytest.fixture
def counts(rng):
    return rng.poisson(3.0, size=(60, 40)).astype(float)


def test_every_kind_of_matrix_is_thinned_to_the_same_counts(array_type, counts, rng):
    kept = rng.uniform(0.2, 1.0, size=60)
    found = thinned(array_type(counts), kept, 0)
    assert type(found) is type(array_type(counts))
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, thinned(counts, kept, 0))


def test_blocks_of_rows_are_thinned_to_what_they_are_in_the_whole(counts, rng):
    kept, rows = rng.uniform(0.2, 1.0, size=60), np.arange(60)
    parts = [thinned(counts[part], kept[part], 5, rows=rows[part]) for part in (slice(0, 7), slice(7, 60))]
    np.testing.assert_array_equal(np.concatenate(parts), thinned(counts, kept, 5))


def test_counts_are_binomial_of_what_was_there():
    kept = np.full(4000, 0.3)
    found = thinned(np.full((4000, 5), 10.0), kept, 1)
    assert found.mean() == pytest.approx(3.0, abs=0.05)
    assert found.var() == pytest.approx(10 * 0.3 * 0.7, rel=0.05)
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.05


def test_nothing_is_drawn_where_all_is_kept(counts):
    np.testing.assert_array_equal(thinned(counts, np.ones(60), 0), counts)


def test_the_seed_decides(counts):
    kept = np.full(60, 0.5)
    np.testing.assert_array_equal(thinned(counts, kept, 3), thinned(counts, kept, 3))
    assert (thinned(counts, kept, 3) != thinned(counts, kept, 4)).any()


def test_matched_totals_have_one_distribution_and_exceed_none(rng):
    deep, shallow = rng.lognormal(8, 0.5, 500), rng.lognormal(7, 0.8, 300)
    first, second = matched_totals([deep, shallow])
    assert (first <= deep).all()
    assert (second <= shallow).all()
    levels = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(np.quantile(first, levels), np.quantile(second, levels), rtol=0.05)


def test_equal_depths_are_left_alone():
    totals = np.array([5.0, 9.0, 9.0, 30.0])
    for found in matched_totals([totals, totals.copy()]):
        np.testing.assert_allclose(found, totals)


@pytest.mark.parametrize(("values", "expected"), [([0.0, 3.0], True), ([0.5], False), ([-1.0], False), ([], True)])
def test_counts_are_whole_numbers_from_zero(values, expected):
    x = np.array([values]) if values else np.empty((0, 0))
    assert are_counts(x) is expected
    assert are_counts(sp.csr_array(x.reshape(1, -1))) is expected
