from __future__ import annotations

import numpy as np
import pytest

import diffnb as dn
from diffnb.datasets import semi_synthetic_pair


@pytest.fixture
def cube(rng):
    return 100 + 10 * rng.random((16, 12, 20))


@pytest.fixture
def target():
    mask = np.zeros((16, 12), dtype=bool)
    mask[4:7, 3:6] = True
    return mask


def images(adata):
    """Bands × pixels of the first and of the second image."""
    return [adata.X[(adata.obs["condition"] == name).to_numpy()] for name in adata.obs["condition"].cat.categories]


def bands_by_pixels(cube):
    return cube.reshape(-1, cube.shape[2]).T


def test_targets_are_background_from_elsewhere_before_and_themselves_after(cube, target):
    adata = semi_synthetic_pair(cube, target, gain=0, noise=0)
    before, after = images(adata)
    scene, where = bands_by_pixels(cube), target.ravel()
    np.testing.assert_array_equal(after, scene)
    np.testing.assert_array_equal(before[:, ~where], scene[:, ~where])
    background = {tuple(spectrum) for spectrum in scene[:, ~where].T}
    replaced = [tuple(spectrum) for spectrum in before[:, where].T]
    assert set(replaced) <= background
    assert len(set(replaced)) == where.sum()


def test_without_appearance_both_images_show_the_targets(cube, target):
    adata = semi_synthetic_pair(cube, target, appears=False, gain=0, noise=0)
    before, after = images(adata)
    np.testing.assert_array_equal(before, after)
    assert (adata.var["truth_after"] == "background").all()
    assert adata.var["target"].sum() == target.sum()


def test_the_second_image_has_a_smooth_gain_within_its_limits(cube, target):
    before, after = images(semi_synthetic_pair(cube, target, appears=False, gain=0.1, noise=0))
    gain = after / before
    assert 0.9**2 <= gain.min() < 1 < gain.max() <= 1.1**2
    # one profile over bands for all pixels, and one field over pixels for all bands
    np.testing.assert_allclose(np.linalg.svd(gain, compute_uv=False)[1:], 0, atol=1e-9)
    assert np.abs(np.diff(gain, axis=0)).max() < 0.5 * np.ptp(gain)


def test_both_images_have_independent_noise_of_the_given_size(cube, target):
    before, after = images(semi_synthetic_pair(cube, target, appears=False, gain=0, noise=0.5))
    scene = bands_by_pixels(cube)
    noise = [(image - scene) / cube.std(axis=(0, 1))[:, None] for image in (before, after)]
    assert [float(n.std()) for n in noise] == pytest.approx([0.5, 0.5], rel=0.1)
    assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.1


def test_truth_names_the_targets_in_the_second_image_only(cube, target):
    var = semi_synthetic_pair(cube, target, names=["may", "june"]).var
    assert (var["truth_may"] == "background").all()
    np.testing.assert_array_equal(var["truth_june"] == "target", target.ravel())
    np.testing.assert_array_equal(var["target"], target.ravel())


def test_wavelengths_and_seed_are_passed_on(cube, target):
    first, again, other = (
        semi_synthetic_pair(cube, target, wavelengths=np.arange(20), random_state=s) for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert first.obs["wavelength"].tolist() == [*range(20)] * 2


def test_the_scene_given_stays_as_it_is(cube, target):
    as_given = cube.copy()
    semi_synthetic_pair(cube, target)
    np.testing.assert_array_equal(cube, as_given)


def test_a_change_detector_finds_the_targets_of_another_material(cube, target):
    cube[target] = 200 - cube[target]
    adata = semi_synthetic_pair(cube, target)
    dn.tl.feature_change(adata, "condition", method="spectral_angle")
    found = adata.var["feature_change"].nlargest(int(target.sum())).index
    assert adata.var.loc[found, "target"].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cube": np.ones((4, 5))}, r"cube has shape \(4, 5\); give a cube of rows × columns × bands"),
        (
            {"target": np.ones((2, 3), dtype=bool)},
            r"target has shape \(2, 3\); .*each pixel: \(16, 12\)",
        ),
        ({"target": np.zeros((16, 12), dtype=bool)}, "target marks 0 of 192 pixels; mark at least one"),
        ({"target": np.ones((16, 12), dtype=bool)}, "target marks 192 of 192 pixels.*at most half"),
        ({"gain": 2}, "gain=2 is out of range"),
        ({"noise": -1}, "noise=-1 is too small"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(cube, target, change, message):
    arguments = {"cube": cube, "target": target} | change
    with pytest.raises(ValueError, match=message):
        semi_synthetic_pair(arguments.pop("cube"), arguments.pop("target"), **arguments)
