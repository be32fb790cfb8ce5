import numpy as np
import pytest
from reference import dufs as plain

from diffnb.core.dufs import diverse
from diffnb.core.dufs.diverse import DiverseOptions, fit_diverse_features, relative_smoothness
from diffnb.core.runtime import budget


@pytest.fixture
def blocks(rng):
    """Three factors with ten copies each, and ten features of noise."""
    factors = rng.normal(size=(80, 3)) * [1.0, 1.0, 1.0]
    copies = np.repeat(factors, 10, axis=1) + 0.1 * rng.normal(size=(80, 30))
    return np.hstack([copies, rng.normal(size=(80, 10))])


def test_the_ranking_equals_the_plain_one(blocks):
    fit = fit_diverse_features(blocks, DiverseOptions(12, (2, 4), 0.7))
    smoothness, order = plain.diverse_order(blocks, (2, 4), 0.7)
    np.testing.assert_allclose(fit.smoothness, smoothness, atol=1e-12)
    np.testing.assert_array_equal(np.argsort(fit.rank), order)
    np.testing.assert_array_equal(fit.selected, fit.rank <= 12)


def test_the_first_features_come_from_different_blocks(blocks):
    order = np.argsort(fit_diverse_features(blocks, DiverseOptions(3)).rank)
    assert set(order[:3] // 10) == {0, 1, 2}
    alone = np.argsort(fit_diverse_features(blocks, DiverseOptions(3, redundancy=0.0)).rank)
    assert (np.diff(relative_smoothness(blocks, blocks, (2, 3, 5))[alone]) <= 0).all()


def test_a_copy_of_a_feature_comes_last(rng):
    x = rng.normal(size=(50, 6))
    x = np.hstack([x, x[:, :2] * 3 - 1])
    fit = fit_diverse_features(x, DiverseOptions(6))
    assert set(np.flatnonzero(~fit.selected) % 6) == {0, 1}
    np.testing.assert_allclose(fit.unexplained[~fit.selected], 0, atol=1e-9)


def test_ranks_do_not_depend_on_how_many_are_selected(blocks, monkeypatch):
    monkeypatch.setattr(diverse, "MIN_RANKED_FEATURES", 20)
    few, many = (fit_diverse_features(blocks, DiverseOptions(n)).rank for n in (5, 20))
    np.testing.assert_array_equal(few, many)


def test_candidates_in_small_batches_give_the_same(blocks, monkeypatch):
    expected = fit_diverse_features(blocks, DiverseOptions(10))
    monkeypatch.setattr(diverse, "MAX_CANDIDATE_FEATURES", 3)
    found = fit_diverse_features(blocks, DiverseOptions(10))
    np.testing.assert_array_equal(found.rank, expected.rank)
    with budget.limited(2**11):
        np.testing.assert_array_equal(fit_diverse_features(blocks, DiverseOptions(10)).rank, expected.rank)


def test_every_kind_of_array_gives_the_same(any_array_type, rng):
    x = rng.poisson(1.0, size=(60, 12)).astype(float)
    x[:, :6] += rng.poisson(2.0, size=(60, 1))
    expected = fit_diverse_features(x, DiverseOptions(4))
    found = fit_diverse_features(any_array_type(x), DiverseOptions(4))
    np.testing.assert_array_equal(found.rank, expected.rank)
    np.testing.assert_allclose(found.unexplained, expected.unexplained, atol=1e-9)


def test_scale_and_shift_of_features_do_not_matter(blocks, rng):
    moved = blocks * rng.uniform(0.5, 20, size=40) + rng.normal(size=40) * 10
    expected = fit_diverse_features(blocks, DiverseOptions(10))
    np.testing.assert_array_equal(fit_diverse_features(moved, DiverseOptions(10)).rank, expected.rank)


def test_a_single_feature_is_ranked(rng):
    fit = fit_diverse_features(rng.normal(size=(20, 1)), DiverseOptions(1))
    assert fit.rank.tolist() == [1]
    assert fit.smoothness.tolist() == [1.0]


def test_after_a_feature_of_every_block_the_next_is_not_of_the_block_that_many_share(rng):
    """The mean over all features ranked before counts, not only the most similar one."""
    shared, alone = rng.normal(size=(2, 200, 1))
    noise = rng.normal(size=(200, 24))
    x = np.hstack([0.6 * shared + 0.8 * noise[:, :20], 0.6 * alone + 0.8 * noise[:, 20:]])
    order = np.argsort(fit_diverse_features(x, DiverseOptions(8)).rank)
    single = np.argsort(-relative_smoothness(x, x, (2, 3, 5)), kind="stable")
    assert (order[:8] >= 20).sum() > (single[:8] >= 20).sum()


def test_of_equally_smooth_features_the_lower_laplacian_score_comes_first_in_every_order():
    x = np.random.default_rng(1).normal(size=(30, 4))
    order = np.array([2, 0, 3, 1])
    plain, moved = (fit_diverse_features(v, DiverseOptions(2, (2, 3))) for v in (x, x[:, order]))
    assert len(set(plain.smoothness)) < 4
    np.testing.assert_array_equal(moved.rank, plain.rank[order])
