import numpy as np
import pytest

from diffnb.core.disc.algorithm import refit
from diffnb.core.disc.paired import average, fit_subjects, stability_over_subjects, swap_test
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings

SETTINGS = DiscSettings(FeatureGraphSettings(8), (4, 4), n_components=3)


@pytest.fixture
def subjects(rng):
    """Six subjects, two conditions; features 10–19 are correlated in the second condition of each."""
    matrices, codes = [], []
    for own in (False, True):
        rows = []
        for _ in range(6):
            x = rng.normal(size=(50, 40))
            x[:, :10] += 1.2 * rng.normal(size=(50, 1))
            if own:
                x[:, 10:20] += 1.2 * rng.normal(size=(50, 1))
            rows.append(x)
        matrices.append(np.concatenate(rows))
        codes.append(np.repeat(np.arange(6), 50))
    return matrices, codes


def test_each_subject_is_fitted_separately(subjects):
    matrices, codes = subjects
    fits = fit_subjects(matrices, codes, [1, 4], SETTINGS)
    alone = refit([m[c == 4] for m, c in zip(matrices, codes, strict=True)], SETTINGS)
    np.testing.assert_array_equal(fits[1].sigma, alone.sigma)


def test_the_shared_group_leads_the_average(subjects):
    joint = average(fit_subjects(*subjects, range(6), SETTINGS))
    strongest = np.argsort(-np.abs(joint.mean[1, :, 0]))[:10]
    assert set(strongest) == set(range(10, 20))
    assert joint.spread.shape == joint.mean.shape == (2, 40, 3)
    assert joint.sigma_each.shape == (6, 2, 3)


def test_signs_and_order_of_single_subjects_do_not_matter(subjects):
    fits = fit_subjects(*subjects, range(6), SETTINGS)
    before = average(fits)
    for fit in fits[::2]:
        fit.vectors[:] *= -1
        fit.vectors[:, :, [0, 1]] = fit.vectors[:, :, [1, 0]]
        fit.sigma[:, [0, 1]] = fit.sigma[:, [1, 0]]
    after = average(fits)
    np.testing.assert_allclose(after.mean, before.mean, atol=1e-12)
    np.testing.assert_allclose(after.sigma, before.sigma, atol=1e-12)


def test_subjects_that_agree_average_to_unit_length(subjects):
    fits = fit_subjects(*subjects, [0], SETTINGS) * 3
    joint = average(fits)
    np.testing.assert_allclose(np.linalg.norm(joint.mean[0], axis=0), 1.0)
    np.testing.assert_allclose(joint.spread, 0, atol=1e-12)
    np.testing.assert_allclose(joint.sigma, fits[0].sigma, atol=1e-12)


def test_swapping_finds_what_subjects_share(subjects):
    fits = fit_subjects(*subjects, range(6), SETTINGS)
    found = swap_test(fits, n_permutations=99, seed=0)
    assert found.pvals[1, 0] <= 0.06
    assert found.null_sigma.shape == (99, 2, 3)


def test_a_weak_condition_is_not_masked_by_a_strong_one(rng):
    """Each condition has one group; that of the first is much less correlated."""
    matrices, codes = [], []
    for own, strength in ((slice(0, 10), 0.9), (slice(10, 20), 3.0)):
        x = rng.normal(size=(10 * 80, 40))
        x[:, own] += strength * rng.normal(size=(10 * 80, 1))
        matrices.append(x)
        codes.append(np.repeat(np.arange(10), 80))
    found = swap_test(fit_subjects(matrices, codes, range(10), SETTINGS), n_permutations=99, seed=0)
    assert found.pvals[:, 0].max() <= 0.05


def test_groups_are_stable_over_subjects(subjects):
    from diffnb.core.disc.feature_groups import feature_groups

    fits = fit_subjects(*subjects, range(6), SETTINGS)
    joint = average(fits)
    groups = [feature_groups(v, s, n_clusters=2, n_leading=1) for v, s in zip(joint.mean, joint.sigma, strict=True)]
    found = stability_over_subjects(fits, groups, n_bootstraps=8, seed=0)
    assert found[1, 10:20].mean() > 0.9
