import numpy as np
import pytest
from reference import sparda as reference

from diffnb.core.sparda.ascent import normalised
from diffnb.core.sparda.certificate import certificate
from diffnb.core.sparda.divergence import DIVERGENCES, evaluate_divergence
from diffnb.core.sparda.fit import SpardaOptions, fit_sparda
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import PathSettings, fit_path, k_grid


@pytest.mark.parametrize("max_dense", [20, 5])
def test_equals_the_largest_eigenvalue_over_the_objective(populations, max_dense, monkeypatch):
    monkeypatch.setattr("diffnb.core.sparda.certificate.MAX_DENSE_EIGEN_FEATURES", max_dense)
    x, y = populations[0][:15], populations[1][:20]
    labelings = labelings_of(x, y, standardize=None)
    beta = normalised(np.ones((1, 12)))[0]
    _, coupling = reference.transport(x @ beta, y @ beta)
    bound = np.linalg.eigvalsh(reference.between(x, y, coupling))[-1]
    assert certificate(labelings, beta) == pytest.approx(bound / reference.objective(x, y, beta), rel=1e-9)


@pytest.mark.parametrize("p", [12, 30])
def test_no_direction_exceeds_the_bound(p, rng):
    labelings = labelings_of(rng.normal(size=(40, p)), rng.normal(0.2, 1, size=(50, p)))
    best = fit_path(labelings, k_grid(p), PathSettings())
    projected = labelings.project(normalised(rng.normal(size=(200, p))), np.zeros(200, dtype=int))
    values = evaluate_divergence(*projected, DIVERGENCES["wasserstein2"], labelings.coupling).values
    bound = certificate(labelings, best.weights[0, -1]) * best.objective[0, -1]
    assert bound >= best.objective[0, -1]
    assert bound >= values.max()


def test_a_mean_difference_alone_is_nearly_certain(rng):
    x, y = 0.1 * rng.normal(size=(2, 60, 6))
    y[:, 0] += 5.0
    fit = fit_sparda(x, y, SpardaOptions(None, standardize=None, certificate=True))
    assert fit.projections[0].certificate < 1.02


def test_equal_populations_have_none(rng):
    x = rng.normal(size=(30, 6))
    assert np.isnan(certificate(labelings_of(x, rng.permutation(x), standardize=None), np.zeros(6)))
