"""How much of a variable follows another one, against plain formulas."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from diffnb.core.stats.association import auroc, eta_squared, squared_correlation


@pytest.fixture
def values(rng):
    return rng.normal(size=(3, 60))


def test_eta_squared_is_the_variance_between_levels(values, rng):
    codes = rng.integers(4, size=60)
    for row, found in zip(values, eta_squared(values, codes), strict=True):
        fitted = np.array([row[codes == c].mean() for c in range(4)])[codes]
        np.testing.assert_allclose(found, fitted.var() / row.var(), rtol=1e-12)


def test_missing_levels_and_measurements_are_left_out(values, rng):
    codes = rng.integers(3, size=60)
    codes[:10] = -1
    np.testing.assert_allclose(eta_squared(values, codes), eta_squared(values[:, 10:], codes[10:]), rtol=1e-12)
    measured = rng.normal(size=60)
    measured[:10] = np.nan
    expected = [np.corrcoef(row[10:], measured[10:])[0, 1] ** 2 for row in values]
    np.testing.assert_allclose(squared_correlation(values, measured), expected, rtol=1e-12)


def test_auroc_is_that_of_scikit_learn(values, rng):
    second = rng.integers(2, size=60)
    expected = [roc_auc_score(second, row) for row in values]
    np.testing.assert_allclose(auroc(values, second), expected, rtol=1e-12)


def test_a_constant_or_a_single_level_explains_nothing(values):
    assert np.isnan(auroc(values, np.zeros(60, dtype=int))).all()
    assert np.isnan(squared_correlation(values, np.ones(60))).all()
