from __future__ import annotations

import numpy as np
import pytest

from diffnb.datasets import hyperspectral_tarp
from diffnb.datasets._hyperspectral import reflectance

SMALL = {"size": 50, "n_bands": 60}
MONTHS = ("aug", "sep", "oct", "nov")


@pytest.fixture(scope="module")
def scene():
    return hyperspectral_tarp(**SMALL)


def spectrum(adata, condition, pixels):
    """Mean spectrum of some pixels in one image, scaled to length 1."""
    x = adata.X[(adata.obs["condition"] == condition).to_numpy()][:, np.asarray(pixels)]
    mean = x.mean(axis=1).astype(float)
    return mean / np.linalg.norm(mean)


def test_same_seed_gives_the_same_images():
    np.testing.assert_array_equal(hyperspectral_tarp(**SMALL).X, hyperspectral_tarp(**SMALL).X)


def test_another_seed_gives_other_images(scene):
    assert not np.isclose(scene.X, hyperspectral_tarp(**SMALL, random_state=1).X).all(axis=0).any()


def test_bands_are_observations_and_pixels_are_features():
    adata = hyperspectral_tarp()
    assert adata.shape == (2 * 124, 100 * 100)
    assert adata.uns["features"]["kind"] == "pixels"
    assert adata.uns["features"]["shape"].tolist() == [100, 100]


def test_rows_and_columns_rebuild_the_image(scene):
    image = np.full((50, 50), "", dtype=object)
    image[scene.var["row"], scene.var["col"]] = scene.var["material"]
    assert set(image[0]) == {"trees"}
    assert image[33, 25] == "tarp"
    assert set(image[-1]) == {"grass"}


def test_tarp_is_on_grass_inside_the_frame(scene):
    tarp = scene.var[scene.var["material"] == "tarp"]
    frame = scene.var[scene.var["material"] == "metal"]
    assert set(tarp["material_before"]) == {"grass"}
    for side in ("row", "col"):
        assert frame[side].min() < tarp[side].min()
        assert tarp[side].max() < frame[side].max()


def test_nothing_but_the_tarp_changes_material(scene):
    same = scene.var["material"].astype(str) == scene.var["material_before"].astype(str)
    assert (same == (scene.var["truth_oct-change"] == "background")).all()
    assert 0 < (~same).sum() < 0.1 * scene.n_vars


@pytest.mark.parametrize("month", MONTHS)
def test_tarp_looks_like_grass_before_and_unlike_it_after(month):
    adata = hyperspectral_tarp(**SMALL, month=month)
    tarp, grass = adata.var["material"] == "tarp", adata.var["material"] == "grass"
    before = spectrum(adata, month, tarp) @ spectrum(adata, month, grass)
    after = spectrum(adata, "oct-change", tarp) @ spectrum(adata, "oct-change", grass)
    assert before > 0.999
    assert after < 0.9


def test_materials_have_different_spectra(scene):
    names = scene.var["material"].cat.categories
    spectra = [spectrum(scene, "oct-change", scene.var["material"] == name) for name in names]
    angles = np.degrees(np.arccos(np.clip(np.array(spectra) @ np.array(spectra).T, -1, 1)))
    assert angles[np.triu_indices(4, 1)].min() > 2


def test_grass_pixels_are_nearer_to_each_other_than_to_the_tarp(scene):
    x = scene.X[(scene.obs["condition"] == "oct-change").to_numpy()].astype(float)
    grass, tarp = (x[:, (scene.var["material"] == name).to_numpy()] for name in ("grass", "tarp"))
    centre = grass.mean(axis=1, keepdims=True)
    assert np.linalg.norm(grass - centre, axis=0).max() < np.linalg.norm(tarp - centre, axis=0).min()


def test_months_grow_darker_towards_winter():
    images = {month: hyperspectral_tarp(**SMALL, month=month) for month in MONTHS}
    levels = [adata.X[(adata.obs["condition"] == month).to_numpy()].mean() for month, adata in images.items()]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > 1.3 * levels[-1]


def test_november_differs_more_from_october_than_october_does():
    def change_of_grass(month):
        adata = hyperspectral_tarp(**SMALL, month=month)
        grass = adata.var["material"] == "grass"
        return 1 - spectrum(adata, month, grass) @ spectrum(adata, "oct-change", grass)

    assert change_of_grass("nov") > 10 * change_of_grass("oct")


def test_plants_have_a_red_edge_and_metal_has_none():
    red, infrared = 675.0, 800.0
    for plant in ("grass", "trees"):
        low, high = reflectance(plant, np.array([red, infrared]))
        assert high > 8 * low
    low, high = reflectance("metal", np.array([red, infrared]))
    assert high == pytest.approx(low, rel=0.1)


def test_chlorophyll_makes_plants_greener_than_red_and_blue():
    blue, green, red = reflectance("grass", np.array([450.0, 550.0, 675.0]))
    assert green > 1.5 * max(blue, red)


def test_tarp_is_blue():
    blue, green, red = reflectance("tarp", np.array([460.0, 550.0, 675.0]))
    assert blue > green > red


@pytest.mark.parametrize("material", ["grass", "trees", "metal", "tarp"])
@pytest.mark.parametrize("green", [1.0, 0.6])
def test_reflectance_is_a_share_of_light(material, green):
    values = reflectance(material, np.linspace(400, 1000, 200), green=green)
    assert ((values > 0) & (values < 1)).all()


def test_noise_adds_the_requested_variance(scene):
    noisy = hyperspectral_tarp(**SMALL, noise=0.05)
    assert (noisy.X - scene.X).std() == pytest.approx(0.05, rel=0.1)


def test_an_unknown_month_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"month='dec' .* 'aug', 'sep', 'oct', 'nov'"):
        hyperspectral_tarp(month="dec")


def test_a_scene_too_small_to_hold_the_frame_is_refused():
    with pytest.raises(ValueError, match=r"size=10 .* at least 20"):
        hyperspectral_tarp(size=10)
