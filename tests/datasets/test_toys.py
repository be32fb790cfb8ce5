from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from diffnb import datasets

TOYS = {
    "newly_connected": datasets.newly_connected,
    "partial_correlation": lambda **keywords: datasets.partial_correlation(0.3, **keywords),
    "subsets_of_connected": datasets.subsets_of_connected,
    "split_both_ways": datasets.split_both_ways,
    "three_conditions": datasets.three_conditions,
}
EVERY_TOY = pytest.mark.parametrize("toy", TOYS)
PLANTED = {"n_features": 120, "group_size": 10}


@cache
def large(toy):
    """Enough observations to see correlations; drawn once, never written to."""
    return TOYS[toy](n_obs=2000)


def part(adata, condition, block=None):
    """Values of one condition, and of one block of features."""
    columns = slice(None) if block is None else (adata.var["block"] == block).to_numpy()
    return adata.X[(adata.obs["condition"] == condition).to_numpy()][:, columns]


def within(x):
    """Mean absolute correlation between different columns."""
    correlation = np.abs(np.corrcoef(x.T))
    return (correlation.sum() - len(correlation)) / (correlation.size - len(correlation))


def across(x, y):
    """Mean absolute correlation of columns of one matrix with columns of the other."""
    return np.abs(np.corrcoef(x.T, y.T)[: x.shape[1], x.shape[1] :]).mean()


@EVERY_TOY
def test_same_seed_gives_the_same_numbers(toy):
    np.testing.assert_array_equal(TOYS[toy](n_obs=20).X, TOYS[toy](n_obs=20).X)


@EVERY_TOY
def test_another_seed_gives_other_numbers(toy):
    assert not np.isclose(TOYS[toy](n_obs=20).X, TOYS[toy](n_obs=20, random_state=5).X).all(axis=0).any()


@EVERY_TOY
def test_the_global_random_state_is_not_changed(toy):
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    TOYS[toy](n_obs=5)
    assert np.random.random() == expected  # noqa: NPY002


@EVERY_TOY
def test_sample_covariance_approaches_the_covariance_kept_as_truth(toy):
    adata = large(toy)
    for condition in adata.obs["condition"].cat.categories:
        sigma = adata.varp[f"covariance_{condition}"]
        error = np.linalg.norm(np.cov(part(adata, condition).T) - sigma) / np.linalg.norm(sigma)
        assert error < 0.2


@EVERY_TOY
def test_each_condition_has_its_share_of_observations(toy):
    adata = TOYS[toy](n_obs=17)
    assert (adata.obs["condition"].value_counts() == 17).all()


@pytest.mark.parametrize(
    ("toy", "n_features", "conditions"),
    [
        ("newly_connected", 250, "AB"),
        ("partial_correlation", 250, "AB"),
        ("subsets_of_connected", 200, "AB"),
        ("split_both_ways", 200, "AB"),
        ("three_conditions", 400, "ABC"),
    ],
)
def test_shape_is_that_of_the_paper(toy, n_features, conditions):
    adata = TOYS[toy](n_obs=3)
    assert adata.n_vars == n_features
    assert adata.obs["condition"].cat.categories.tolist() == list(conditions)


@pytest.mark.parametrize("toy", ["newly_connected", "three_conditions"])
def test_groups_are_correlated_in_their_condition_only(toy):
    adata = large(toy)
    conditions = adata.obs["condition"].cat.categories
    for own in conditions:
        for group in adata.var[f"truth_{own}"].cat.categories.drop("background"):
            assert within(part(adata, own, group)) > 0.5
            for other in conditions.drop(own):
                assert within(part(adata, other, group)) < 0.03


@pytest.mark.parametrize("toy", ["newly_connected", "three_conditions"])
def test_two_groups_of_a_condition_are_unrelated(toy):
    adata = large(toy)
    assert across(part(adata, "A", "A1"), part(adata, "A", "A2")) < 0.03


@pytest.mark.parametrize(
    ("toy", "block", "members"),
    [
        ("newly_connected", "shared_1", "AB"),
        ("newly_connected", "shared_2", "AB"),
        ("subsets_of_connected", "shared_1", "AB"),
        ("three_conditions", "shared_ABC_1", "ABC"),
        ("three_conditions", "shared_AC_2", "AC"),
        ("three_conditions", "shared_BC_1", "BC"),
    ],
)
def test_shared_blocks_have_one_covariance(toy, block, members):
    adata = TOYS[toy](n_obs=5)
    rows = np.flatnonzero(adata.var["block"] == block)
    first, *others = (adata.varp[f"covariance_{c}"][np.ix_(rows, rows)] for c in members)
    assert np.count_nonzero(first) == first.size
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_block_shared_by_two_of_three_conditions_is_noise_in_the_third():
    adata = large("three_conditions")
    assert within(part(adata, "A", "shared_AC_1")) > 0.5
    assert within(part(adata, "B", "shared_AC_1")) < 0.03


def test_noise_has_the_standard_deviation_of_the_paper():
    adata = datasets.newly_connected(n_obs=5000)
    np.testing.assert_allclose(part(adata, "A", "noise").std(axis=0), 0.8 * 0.005, rtol=0.05)


@pytest.mark.parametrize("split", [20, 25])
def test_parts_of_a_connected_group_lose_only_their_connection(split):
    adata = datasets.subsets_of_connected(n_obs=2000, split=split)
    whole, separate = adata.varp["covariance_A"], adata.varp["covariance_B"]
    first, second = slice(100, 100 + split), slice(100 + split, 200)
    np.testing.assert_array_equal(whole[first, first], separate[first, first])
    np.testing.assert_array_equal(whole[second, second], separate[second, second])
    assert across(part(adata, "A", "B1"), part(adata, "A", "B2")) > 0.5
    assert across(part(adata, "B", "B1"), part(adata, "B", "B2")) < 0.05


def test_nothing_is_particular_to_the_condition_whose_group_is_whole():
    assert datasets.subsets_of_connected(n_obs=5).var["truth_A"].unique().tolist() == ["background"]


def test_each_condition_splits_a_group_of_the_other():
    adata = large("split_both_ways")
    for condition, other in ("AB", "BA"):
        first, second = f"{condition}1", f"{condition}2"
        assert across(part(adata, condition, first), part(adata, condition, second)) < 0.05
        assert across(part(adata, other, first), part(adata, other, second)) > 0.5


def test_no_partial_correlation_is_independence():
    adata = datasets.partial_correlation(0.0, n_obs=2000)
    assert within(part(adata, "B", "A1")) < 0.03
    assert within(part(adata, "A", "A1")) > 0.5


def test_full_partial_correlation_makes_the_conditions_alike_there():
    adata = datasets.partial_correlation(1.0, n_obs=5)
    rows = slice(150, 200)
    np.testing.assert_array_equal(adata.varp["covariance_A"][rows, rows], adata.varp["covariance_B"][rows, rows])
    assert adata.var["truth_A"].unique().tolist() == ["background"]


def test_partial_correlation_grows_with_p():
    levels = [within(part(datasets.partial_correlation(p, n_obs=2000), "B", "A1")) for p in (0, 0.1, 0.3, 1)]
    assert levels == sorted(levels)
    assert levels[-1] - levels[0] > 0.5


def test_planted_groups_have_the_requested_correlation():
    adata = datasets.planted_groups(**PLANTED, n_obs=4000, rho=0.3)
    for block, condition in [("A1", "A"), ("A2", "A"), ("B2", "B"), ("shared_1", "A"), ("shared_1", "B")]:
        assert within(part(adata, condition, block)) == pytest.approx(0.3, abs=0.04)
    assert within(part(adata, "B", "A1")) < 0.03


def test_planted_groups_do_not_change_mean_and_variance():
    adata = datasets.planted_groups(**PLANTED, n_obs=4000, rho=0.8)
    for condition in "AB":
        values = part(adata, condition)
        assert np.abs(values.mean(axis=0)).max() < 0.08
        assert np.abs(values.var(axis=0) - 1).max() < 0.12


def test_planted_groups_take_any_number_of_conditions():
    adata = datasets.planted_groups(**PLANTED, n_obs=5, n_conditions=3, n_groups=1)
    assert [c for c in adata.var if c.startswith("truth_")] == ["truth_A", "truth_B", "truth_C"]


def test_planted_groups_reproduce_from_their_seed_alone():
    first, again, other = (datasets.planted_groups(**PLANTED, n_obs=9, random_state=s).X for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_planted_groups_that_do_not_fit_are_refused_with_the_number_needed():
    with pytest.raises(ValueError, match=r"n_features=50 .* at least 60 features"):
        datasets.planted_groups(n_features=50, group_size=10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.newly_connected(n_obs=1), r"n_obs=1 .* at least 2"),
        (lambda: datasets.partial_correlation(1.5), r"p=1\.5 .* between 0\.0 and 1\.0"),
        (lambda: datasets.subsets_of_connected(split=100), r"split=100 .* between 1 and 99"),
        (lambda: datasets.planted_groups(rho=-0.1), r"rho=-0\.1 .* between"),
        (lambda: datasets.planted_groups(n_conditions=27), r"n_conditions=27 .* between 1 and 26"),
    ],
)
def test_a_bad_argument_is_named_with_a_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()
