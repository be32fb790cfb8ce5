"""Files that earlier releases wrote are read by this one, with the same answers."""

import json
import re
import shutil
from pathlib import Path

import anndata
import numpy as np
import pytest
import readers

import diffnb as dn

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("diffnb-*.tar.xz"))
READERS = {"h5ad": anndata.read_h5ad, "zarr": anndata.read_zarr}
MAX_FILE_BYTES = 100_000


def version_of(path):
    return re.match(r"diffnb-(\d+\.\d+\.\d+)\.", path.name)[1]


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def stored(request, tmp_path):
    shutil.unpack_archive(request.param, tmp_path, filter="data")
    (path,) = tmp_path.glob("data.*")
    return version_of(request.param), READERS[path.suffix[1:]](path)


def same(ours, theirs):
    """Compare descriptions; numbers may differ by the rounding of another machine."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, str) and re.fullmatch(r"[\d.e+-]+", theirs):
        return float(ours) == pytest.approx(float(theirs), rel=1e-4)
    return ours == theirs


@pytest.mark.slow
def test_every_reader_answers_as_when_the_file_was_written(stored):
    version, adata = stored
    expected = json.loads((HERE / f"expected-{version}.json").read_text(encoding="utf-8"))
    found = readers.described(readers.read_all(adata))
    assert {name: value for name, value in expected.items() if not same(found.get(name), value)} == {}


@pytest.mark.slow
def test_the_data_survives_and_is_read_again_when_written_by_this_release(stored, tmp_path):
    _, adata = stored
    adata.write_h5ad(tmp_path / "again.h5ad")
    again = anndata.read_h5ad(tmp_path / "again.h5ad")
    np.testing.assert_array_equal(again.X, adata.X)
    assert dn.get.results(again).equals(dn.get.results(adata))


def test_every_release_left_both_kinds_of_files():
    names = {path.name for path in FILES}
    versions = {version_of(path) for path in FILES}
    assert dn.__version__ in versions, "python tests/stored/write.py"
    assert names == {f"diffnb-{v}.{kind}" for v in versions for kind in ("h5ad.tar.xz", "zarr.tar.xz")}
    assert max(path.stat().st_size for path in FILES) < MAX_FILE_BYTES


def test_every_reader_is_asked_or_left_out_with_a_reason():
    (path, *_) = HERE.glob(f"expected-{dn.__version__}.json")
    expected = json.loads(path.read_text(encoding="utf-8"))
    asked = {name for name in expected if "(" not in name}
    assert asked | set(readers.LEFT_OUT) >= set(dn.get.__all__)
    answered = [name for name in asked if "error" not in (expected[name] or {})]
    assert set(asked) - set(answered) <= readers.WITHOUT_AN_ANSWER
