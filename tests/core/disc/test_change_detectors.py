import numpy as np
import pytest

from diffnb.core.disc.change_detectors import (
    CHANGE_DETECTORS,
    _alterations,
    bulk_pvalues,
    chronochrome,
    difference_rx,
    ir_mad,
    projected_chronochrome,
    spectral_angle,
)

N_BANDS, N_PIXELS, CHANGED = 12, 900, slice(0, 15)


@pytest.fixture
def images(rng):
    """Spectra of three materials in two images with noise; a few pixels become a fourth material."""
    materials = rng.uniform(1, 3, size=(4, N_BANDS))
    share = rng.dirichlet(np.ones(3), size=N_PIXELS)
    before = (share @ materials[:3]).T
    after = before.copy()
    after[:, CHANGED] = materials[3][:, None]
    return [image + 0.02 * rng.normal(size=image.shape) for image in (before, after)]


@pytest.mark.parametrize("name", CHANGE_DETECTORS)
def test_changed_pixels_come_first(images, name):
    score = CHANGE_DETECTORS[name](*images)
    assert set(np.argsort(-score)[:15]) == set(range(15))


@pytest.mark.parametrize("name", CHANGE_DETECTORS)
def test_an_image_has_not_changed_against_itself(images, name):
    score = CHANGE_DETECTORS[name](images[0], images[0])
    assert np.isfinite(score).all()
    assert score.max() < 0.01  # rounding, where a changed pixel has a score of several


@pytest.mark.parametrize("name", ["chronochrome", "ir_mad"])
def test_illumination_changes_nothing(images, name, rng):
    """A gain and an offset for every band are what the regression, or the canonical variates, absorb."""
    before, after = images
    gain, offset = rng.uniform(0.5, 2, size=(N_BANDS, 1)), rng.normal(size=(N_BANDS, 1))
    expected = CHANGE_DETECTORS[name](before, after)
    np.testing.assert_allclose(CHANGE_DETECTORS[name](before, gain * after + offset), expected, rtol=1e-5)


def test_the_spectral_angle_is_blind_to_brightness(images, rng):
    before, after = images
    np.testing.assert_allclose(
        spectral_angle(before, rng.uniform(0.5, 2, size=N_PIXELS) * after), spectral_angle(before, after), atol=1e-9
    )


def test_the_spectral_angle_is_the_arc_cosine(images):
    before, after = images
    expected = [
        np.arccos(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) for x, y in zip(before.T, after.T, strict=True)
    ]
    np.testing.assert_allclose(spectral_angle(before, after), expected, atol=1e-7)


def test_rx_is_the_mahalanobis_distance_of_the_difference(images):
    difference = images[1] - images[0]
    centered = difference - difference.mean(axis=1, keepdims=True)
    inverse = np.linalg.inv(np.cov(difference, bias=True))
    expected = [np.sqrt(d @ inverse @ d) for d in centered.T]
    np.testing.assert_allclose(difference_rx(*images), expected, rtol=1e-9)


def test_chronochrome_is_the_mahalanobis_distance_of_regression_residuals(images):
    before, after = images
    design = np.column_stack([np.ones(N_PIXELS), before.T])
    residuals = (after.T - design @ np.linalg.lstsq(design, after.T, rcond=None)[0]).T
    inverse = np.linalg.inv(np.cov(residuals, bias=True))
    expected = [np.sqrt(r @ inverse @ r) for r in residuals.T]
    np.testing.assert_allclose(chronochrome(before, after), expected, rtol=1e-6)


def test_alterations_have_a_degree_of_freedom_per_band_before_any_reweighting(rng):
    x = rng.normal(size=(N_BANDS, 5000))
    y = 0.6 * x + 0.8 * rng.normal(size=(N_BANDS, 5000))
    squared, correlations = _alterations(x, y, np.ones(5000))
    assert squared.mean() == pytest.approx(N_BANDS)
    assert squared.var() == pytest.approx(2 * N_BANDS, rel=0.15)
    np.testing.assert_allclose(correlations, 0.6, atol=0.06)


def test_reweighting_keeps_what_changed_from_hiding_itself(images):
    before, after = images
    plain = np.sqrt(_alterations(before, after, np.ones(N_PIXELS))[0])
    contrast = [score[CHANGED].min() / np.median(score) for score in (ir_mad(before, after), plain)]
    assert contrast[0] > 2 * contrast[1]


@pytest.mark.parametrize("name", CHANGE_DETECTORS)
def test_black_pixels_and_constant_bands_give_no_nan(images, name):
    before, after = (image.copy() for image in images)
    before[:, 100] = after[:, 100] = 0.0
    before[3] = after[3] = 1.0
    assert np.isfinite(CHANGE_DETECTORS[name](before, after)).all()


def test_a_brightness_that_varies_over_the_field_does_not_move_the_projected_residual(images, rng):
    """What is left of the residual of a changed pixel is orthogonal to what was predicted for it."""
    before, after = images
    brighter = after.copy()
    brighter[:, 100:110] *= rng.uniform(1.3, 1.6, size=10)
    plain, projected = (detector(before, brighter) for detector in (chronochrome, projected_chronochrome))
    assert np.median(plain[100:110]) > 3 * np.median(plain)
    assert np.median(projected[100:110]) < 2 * np.median(projected)
    assert set(np.argsort(-projected)[:15]) == set(range(15))


def test_projecting_leaves_the_part_of_the_residual_across_the_prediction(images):
    before, after = images
    design = np.column_stack([np.ones(N_PIXELS), before.T])
    predicted = (design @ np.linalg.lstsq(design, after.T, rcond=None)[0]).T
    residual = after - predicted
    # in any coordinates in which residuals are white, lengths and angles are the same
    whiten = np.linalg.cholesky(np.linalg.inv(np.cov(residual, bias=True))).T
    r, p = whiten @ residual, whiten @ predicted
    expected = [np.sqrt(a @ a - (a @ b) ** 2 / (b @ b)) for a, b in zip(r.T, p.T, strict=True)]
    np.testing.assert_allclose(projected_chronochrome(before, after), expected, rtol=1e-6)


def test_pvalues_are_uniform_for_the_bulk_and_small_for_what_stands_out(rng):
    score = np.exp(rng.normal(2.0, 0.3, size=20_000))
    score[:50] = np.exp(2 + 0.3 * 8)
    p = bulk_pvalues(score)
    for level in (0.3, 0.05, 0.01):
        assert np.mean(p[50:] < level) == pytest.approx(level, rel=0.15)
    assert p[:50].max() < 1e-12


def test_scores_without_any_spread_give_no_evidence():
    np.testing.assert_array_equal(bulk_pvalues(np.zeros(10)), 1.0)
