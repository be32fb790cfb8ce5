from __future__ import annotations

import numpy as np
import pytest

from diffnb.datasets import from_image_pair, from_parcels


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def cubes(rng):
    return rng.random((3, 4, 5)), rng.random((3, 4, 5))


def test_each_pixel_keeps_its_spectra(cubes):
    before, after = cubes
    adata = from_image_pair(before, after)
    for j, (r, c) in enumerate(adata.var[["row", "col"]].to_numpy()):
        np.testing.assert_array_equal(adata.X[:5, j], before[r, c])
        np.testing.assert_array_equal(adata.X[5:, j], after[r, c])


def test_images_become_conditions_in_their_order(cubes):
    obs = from_image_pair(*cubes, names=["z", "a"]).obs
    assert obs["condition"].cat.categories.tolist() == ["z", "a"]
    assert obs["condition"].tolist() == ["z"] * 5 + ["a"] * 5


def test_wavelengths_repeat_for_both_images(cubes):
    obs = from_image_pair(*cubes, wavelengths=[400, 450, 500, 550, 600]).obs
    assert obs["wavelength"].tolist() == [400, 450, 500, 550, 600] * 2


def test_bands_are_counted_where_wavelengths_are_unknown(cubes):
    assert from_image_pair(*cubes).obs["band"].tolist() == [0, 1, 2, 3, 4] * 2


def test_mask_selects_pixels_and_keeps_the_shape_of_the_image(cubes):
    mask = np.zeros((3, 4), dtype=bool)
    mask[1, 2] = mask[2, 0] = True
    adata = from_image_pair(*cubes, mask=mask)
    assert adata.var[["row", "col"]].to_numpy().tolist() == [[1, 2], [2, 0]]
    np.testing.assert_array_equal(adata.X[:5, 0], cubes[0][1, 2])
    assert adata.uns["features"]["shape"].tolist() == [3, 4]


def test_integer_images_become_floating(cubes):
    whole = [(1000 * cube).astype(np.uint16) for cube in cubes]
    adata = from_image_pair(*whole)
    assert adata.X.dtype == np.float32
    np.testing.assert_array_equal(adata.X[:5, 0], whole[0][0, 0])


def test_single_precision_stays_single(cubes):
    assert from_image_pair(*(cube.astype(np.float32) for cube in cubes)).X.dtype == np.float32


def test_pixels_that_are_not_finite_may_be_masked(cubes):
    before, after = cubes
    before[0, 0, 3] = np.nan
    with pytest.raises(ValueError, match=r"before has 1 kept pixels .* mask="):
        from_image_pair(before, after)
    adata = from_image_pair(before, after, mask=np.isfinite(before).all(axis=2))
    assert adata.n_vars == 11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": np.zeros((3, 4))}, r"before has shape \(3, 4\); give a cube"),
        ({"after": np.zeros((3, 4, 6))}, r"before has shape \(3, 4, 5\) and after \(3, 4, 6\)"),
        ({"wavelengths": [1, 2]}, r"wavelengths has shape \(2,\); give one value for each band: \(5,\)"),
        ({"mask": np.ones((4, 3))}, r"mask has shape \(4, 3\).*\(3, 4\)"),
        ({"mask": np.zeros((3, 4))}, "mask keeps no pixel"),
        ({"names": ["a", "a"]}, r"names=\['a', 'a'\] .* two different names"),
        ({"names": "ab"}, "names='ab'"),
        ({"after": np.ma.masked_less(np.arange(60.0).reshape(3, 4, 5), 9)}, "after is a masked array with 9 masked"),
    ],
)
def test_a_bad_image_argument_is_named(cubes, change, message):
    before, after = change.pop("before", cubes[0]), change.pop("after", cubes[1])
    with pytest.raises(ValueError, match=message):
        from_image_pair(before, after, **change)


def test_runs_are_stacked_with_their_condition_and_subject(rng):
    runs = [rng.random((4, 3)), rng.random((6, 3))]
    adata = from_parcels(runs, conditions=["task", "rest"], subjects=[1, 2], t_r=2.0)
    np.testing.assert_array_equal(adata.X, np.vstack(runs))
    assert adata.obs["condition"].tolist() == ["task"] * 4 + ["rest"] * 6
    assert adata.obs["subject"].tolist() == ["1"] * 4 + ["2"] * 6
    assert adata.obs["time"].tolist() == [0, 2, 4, 6, 0, 2, 4, 6, 8, 10]
    assert adata.obs["run"].tolist() == [1] * 4 + [2] * 6


def test_one_matrix_takes_a_condition_for_each_time_point(rng):
    series = rng.random((4, 3))
    adata = from_parcels(series, conditions=["b", "b", "a", "a"], subjects=["x", "x", "y", "y"])
    np.testing.assert_array_equal(adata.X, series)
    assert adata.obs["condition"].tolist() == ["b", "b", "a", "a"]
    assert adata.obs["subject"].tolist() == ["x", "x", "y", "y"]


def test_a_run_may_change_condition_within_itself(rng):
    adata = from_parcels([rng.random((3, 2)), rng.random((2, 2))], conditions=[["a", "b", "a"], "b"])
    assert adata.obs["condition"].tolist() == ["a", "b", "a", "b", "b"]


def test_a_stack_of_matrices_is_a_list_of_runs(rng):
    adata = from_parcels(rng.random((2, 5, 3)), conditions=["a", "b"])
    assert adata.shape == (10, 3)


def test_parcels_have_labels_networks_and_coordinates(rng):
    places = rng.random((3, 3))
    adata = from_parcels(
        rng.random((4, 3)),
        conditions=list("aabb"),
        labels=["p", "q", "r"],
        networks=list("NNM"),
        coordinates=places,
    )
    assert adata.var_names.tolist() == ["p", "q", "r"]
    assert adata.var["network"].tolist() == ["N", "N", "M"]
    np.testing.assert_array_equal(adata.var[["x", "y", "z"]], places)
    assert adata.uns["features"]["kind"] == "parcels"


class Masker:
    """Reads an image as its number, and records the calls."""

    def __init__(self):
        self.seen = []

    def fit_transform(self, image):
        self.seen.append(image)
        return np.full((2, 3), float(len(self.seen)))


def test_images_are_read_by_the_masker_one_by_one():
    masker = Masker()
    adata = from_parcels(["one.nii.gz", "two.nii.gz"], conditions=["a", "b"], masker=masker)
    assert masker.seen == ["one.nii.gz", "two.nii.gz"]
    assert adata.X[:, 0].tolist() == [1, 1, 2, 2]


def test_nilearn_averages_the_voxels_of_each_label(rng, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    maskers = pytest.importorskip("nilearn.maskers")
    labels = np.zeros((4, 4, 4), dtype=np.int32)
    labels[:2], labels[2:] = 1, 2
    volumes = rng.random((4, 4, 4, 6)).astype(np.float32)
    paths = {name: tmp_path / f"{name}.nii.gz" for name in ("atlas", "run")}
    nibabel.save(nibabel.Nifti1Image(labels, np.eye(4)), paths["atlas"])
    nibabel.save(nibabel.Nifti1Image(volumes, np.eye(4)), paths["run"])
    masker = maskers.NiftiLabelsMasker(labels_img=str(paths["atlas"]), standardize="zscore_sample")
    adata = from_parcels([str(paths["run"])], conditions=[list("aaabbb")], masker=masker)
    means = np.stack([volumes[labels == k].mean(axis=0) for k in (1, 2)], axis=1)
    expected = (means - means.mean(axis=0)) / means.std(axis=0, ddof=1)
    np.testing.assert_allclose(adata.X, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("series", "keywords", "message"),
    [
        (
            [np.zeros(5)],
            {"conditions": ["a"]},
            r"series\[0\] has shape \(5,\); give a matrix of time × parcels",
        ),
        ([np.zeros((5, 2)), np.zeros((5, 3))], {"conditions": ["a", "b"]}, r"series\[1\] has 3 parcels .* 2"),
        ([], {"conditions": []}, "series is empty"),
        ("run.nii", {"conditions": ["a"]}, r"series='run.nii' is a single path; give a list"),
        (["run.nii"], {"conditions": ["a"]}, r"series\[0\]='run.nii' is a path and there is no masker"),
        ([np.zeros((5, 2))], {"conditions": ["a", "b"]}, "conditions has 2 entries for 1 runs"),
        ([np.zeros((5, 2))], {"conditions": "a"}, "conditions has 'a' for 1 runs"),
        ([np.zeros((5, 2))], {"conditions": [["a", "b"]]}, r"conditions\[0\] has 2 labels for 5 time points"),
        (np.zeros((5, 2)), {"conditions": ["a", "b"]}, r"conditions\[0\] has 2 labels for 5 time points"),
        ([np.zeros((5, 2))], {"conditions": ["a"], "subjects": []}, "subjects has 0 entries for 1 runs"),
        ([np.zeros((5, 2))], {"conditions": ["a"], "networks": ["N"]}, r"networks has shape \(1,\).*\(2,\)"),
        (
            [np.zeros((5, 2))],
            {"conditions": ["a"], "coordinates": np.zeros((2, 2))},
            r"coordinates .*\(2, 3\)",
        ),
        ([np.zeros((5, 2))], {"conditions": ["a"], "labels": ["p", "p"]}, "labels repeats 'p'"),
        ([np.zeros((5, 2)), np.full((5, 2), np.nan)], {"conditions": ["a", "b"]}, r"series\[1\] has no finite value"),
        ([np.zeros((0, 2))], {"conditions": ["a"]}, r"series\[0\] has shape \(0, 2\): it has no time points"),
        ([np.ma.masked_equal(np.eye(3), 0)], {"conditions": ["a"]}, r"series\[0\] is a masked array with 6 masked"),
    ],
)
def test_a_bad_parcel_argument_is_named(series, keywords, message):
    with pytest.raises(ValueError, match=message):
        from_parcels(series, **keywords)


def test_complex_images_and_series_are_refused(cubes):
    with pytest.raises(TypeError, match="before has dtype complex128: complex numbers; choose what to compare"):
        from_image_pair(1j * cubes[0], cubes[1])
    with pytest.raises(TypeError, match=r"series\[0\] has dtype complex128"):
        from_parcels([1j * np.ones((5, 2))], conditions=["a"])


def test_an_object_that_cannot_mask_is_refused():
    with pytest.raises(TypeError, match="masker is of type int; give an object with fit_transform"):
        from_parcels(["run.nii"], conditions=["a"], masker=3)


def test_the_class_of_a_masker_is_not_an_instance():
    with pytest.raises(TypeError, match=r"masker is the class Masker; give an instance, Masker\(\.\.\.\)"):
        from_parcels(["run.nii"], conditions=["a"], masker=Masker)
