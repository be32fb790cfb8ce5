"""Members of a group: features that co-vary with it in one condition more than others explain."""

import numpy as np
import pytest
from scipy import stats

from diffnb.core.arrays.count_moments import Counts
from diffnb.core.disc.membership import (
    Correlations,
    Members,
    distinct,
    labels_of,
    local_fdr,
    refine,
    related,
    seeds_of,
    shared_factors,
    stands_out,
)

P = 200


@pytest.fixture
def planted(rng):
    """Features 0–29 correlate in the first condition only, 30–59 in both."""
    conditions = []
    for own in (True, False):
        x = rng.normal(size=(300, P))
        x[:, 30:60] += rng.normal(size=(300, 1))
        if own:
            x[:, :30] += 0.6 * rng.normal(size=(300, 1))
        conditions.append(x)
    return conditions


def where(*features):
    found = np.zeros(P, dtype=bool)
    found[np.concatenate([np.atleast_1d(f) for f in features])] = True
    return found


def test_fisher_z_is_that_of_the_sum_of_all_other_features(any_array_type, rng):
    x = rng.poisson(1.0, size=(50, 12)).astype(float)
    weights = rng.uniform(size=12)
    z = Correlations.of(any_array_type(x)).fisher_z(weights)
    standardised = (x - x.mean(axis=0)) / x.std(axis=0)
    for j in range(12):
        rest = standardised @ np.where(np.arange(12) == j, 0.0, weights)
        expected = np.arctanh(np.corrcoef(standardised[:, j], rest)[0, 1]) * np.sqrt(47)
        np.testing.assert_allclose(z[j], expected, atol=1e-10)


def test_correlations_within_samples_ignore_levels_of_samples(rng):
    samples = np.repeat([0, 1, 2], 20)
    x = rng.normal(size=(60, 5))
    shifted = x + 100 * samples[:, None]
    weights = np.ones(5)
    found = [Correlations.of(m, samples).times(weights) for m in (x, shifted)]
    np.testing.assert_allclose(*found, atol=1e-8)


def test_correlations_of_counts_are_the_corrected_ones(rng):
    """Depth and counting noise aside, the two features are the same."""
    rate = rng.lognormal(0, 0.8, size=(4000, 1)) * np.ones(6)
    size = rng.uniform(0.5, 2, size=4000)
    counts = Counts(rng.poisson(size[:, None] * rate).astype(float), size)
    (corrected,), (plain,) = related([counts]), related([counts.matrix])
    pair = np.array([0.0, 1, 0, 0, 0, 0])
    assert corrected.times(pair)[0] > 0.9 > plain.times(pair)[0] + 0.2


def test_a_constant_feature_correlates_with_nothing(rng):
    x = rng.normal(size=(30, 4))
    x[:, 2] = 7.0
    z = Correlations.of(x).fisher_z(np.ones(4))
    assert z[2] == 0
    assert np.isfinite(z).all()


def test_cohesion_is_the_mean_correlation_between_members(rng):
    x = rng.normal(size=(40, 6)) + rng.normal(size=(40, 1))
    members = np.arange(6) < 4
    r = np.corrcoef(x[:, :4].T)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(Correlations.of(x).cohesion(members), r.mean(), rtol=1e-12)


@pytest.mark.parametrize("seeds", [where(range(5)), where(range(20), range(100, 110))], ids=["part", "mixed"])
def test_a_group_grows_from_part_of_it_and_loses_what_is_foreign(planted, seeds):
    own, other = map(Correlations.of, planted)
    found = refine(seeds, own, [other])
    assert found.member[:30].mean() > 0.95
    assert found.member[30:].mean() < 0.02


def test_features_that_co_vary_in_both_conditions_do_not_join(planted):
    mixed = [x.copy() for x in planted]
    rng = np.random.default_rng(1)
    for x in mixed:  # a factor that all features but the planted ones share, in both conditions
        x[:, 30:] += 0.5 * rng.normal(size=(300, 1))
        x[:, :10] += 0.5 * rng.normal(size=(300, 1))
    own, other = map(Correlations.of, mixed)
    found = refine(where(range(30)), own, [other])
    assert found.member[30:].mean() < 0.05


def test_seeds_without_a_group_have_no_members(rng):
    own, other = (Correlations.of(rng.normal(size=(300, P))) for _ in range(2))
    found = refine(where(range(20)), own, [other])
    assert found is None or found.member.sum() <= 25


def test_the_local_rate_is_that_of_two_known_normal_distributions(rng):
    z = np.concatenate([rng.normal(size=9000), rng.normal(6, 1, size=1000)])
    member = np.arange(10000) >= 9000
    rate = local_fdr(z, member)
    exact = 0.9 * stats.norm.pdf(z) / (0.9 * stats.norm.pdf(z) + 0.1 * stats.norm.pdf(z, 6, 1))
    near = (z > 2) & (z < 5)
    np.testing.assert_allclose(rate[near], exact[near], atol=0.1)
    assert (np.diff(rate[np.argsort(z)]) <= 0).all()


def test_seeds_are_the_features_farthest_out():
    rows = np.linspace(0, 1, P)[:, None]
    seeds = seeds_of(rows, where(range(100, P)))
    np.testing.assert_array_equal(np.flatnonzero(seeds), np.arange(150, P))


def test_groups_with_the_same_members_are_one_and_shared_features_go_to_the_likelier():
    first = Members(where(range(10)), np.where(np.arange(P) < 10, 0.9, 0.0))
    again = Members(where(range(9)), np.where(np.arange(P) < 9, 0.95, 0.0))
    second = Members(where(range(8, 30)), np.where((np.arange(P) >= 8) & (np.arange(P) < 30), 0.99, 0.0))
    kept = distinct([first, again, second])
    assert len(kept) == 2
    labels, probability = labels_of(kept, P)
    np.testing.assert_array_equal(labels[:10], [1] * 8 + [2] * 2)
    assert (labels[10:30] == 2).all()
    assert not labels[30:].any()
    assert probability[9] == 0.99


def test_correlations_without_factors_are_partial_correlations(any_array_type, rng):
    x = rng.poisson(2.0, size=(80, 12)).astype(float) + rng.poisson(2.0, size=(80, 1))
    loadings = rng.normal(size=(12, 2))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    scores = z @ loadings
    left = z - scores @ np.linalg.lstsq(scores, z, rcond=None)[0]
    expected = np.corrcoef(left, rowvar=False)
    found = Correlations.of(any_array_type(x)).without(loadings)
    np.testing.assert_allclose(found.times(np.eye(12)), expected, atol=1e-10)
    np.testing.assert_allclose(found.times(np.eye(12)[3]), expected[3], atol=1e-10)
    assert found.n_free == 78


def test_a_feature_that_factors_explain_completely_correlates_with_nothing(rng):
    found = Correlations.of(rng.normal(size=(50, 5))).without(np.eye(5)[:, :1])
    assert found.diagonal.tolist() == [0, 1, 1, 1, 1]
    assert found.times(np.eye(5))[0].tolist() == [0] * 5


def test_factors_that_conditions_share_are_found_outside_the_group(planted):
    weights = shared_factors(related(planted)[1:], ~where(range(30)))
    np.testing.assert_allclose(weights[:30], 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=0), 1)
    assert (weights[30:60, 0] ** 2).sum() > 0.8


def test_too_few_features_outside_a_group_have_no_factors(planted):
    assert shared_factors(related(planted)[1:], where(range(19))) is None


@pytest.mark.parametrize("draw", [2, 3])
def test_a_group_is_found_beside_a_factor_that_all_conditions_share(draw, monkeypatch):
    """A third of the other features belong to the factor, more or less, and so does the group in its own condition."""
    rng = np.random.default_rng(draw)
    loadings = rng.uniform(0.2, 1.2, size=70)
    conditions = []
    for own in (True, False):
        x, factor = rng.normal(size=(400, P)), rng.normal(size=(400, 1)) * (1 if own else 0.9)
        x[:, 30:100] += factor * loadings
        if own:
            x[:, :30] += 0.8 * rng.normal(size=(400, 1)) + 0.5 * factor
        conditions.append(x)
    own, other = related(conditions)
    assert refine(where(range(10)), own, [other]).member.nonzero()[0].tolist() == list(range(30))
    monkeypatch.setattr("diffnb.core.disc.membership.MAX_SHARED_FACTORS", 0)
    assert refine(where(range(10)), own, [other]) is None


def test_what_a_group_shares_with_another_condition_does_not_make_it_vanish(rng):
    """The group is connected in both conditions, more strongly in its own, and is the leading factor of either."""
    conditions = [rng.normal(size=(400, P)) for _ in range(2)]
    for x, loading in zip(conditions, (1.0, 0.4), strict=True):
        x[:, :30] += loading * rng.normal(size=(400, 1))
    own, other = related(conditions)
    found = refine(where(range(10)), own, [other]).member
    assert found[:30].all()
    assert found[30:].sum() <= 2


def test_a_cluster_stands_out_where_its_sum_varies_twice_as_much(planted):
    own, other = related(planted)
    assert stands_out(where(range(30)), own, [other])
    assert not stands_out(where(range(30, 60)), own, [other])
    assert not stands_out(where(range(60, 100)), own, [other])


def test_seeds_that_leave_no_feature_outside_make_no_group(rng):
    own, other = related([rng.normal(size=(40, 12)), rng.normal(size=(40, 12))])
    assert refine(np.ones(12, dtype=bool), own, [other]) is None
