"""Keys are checked on entry, in every function that takes one."""

import inspect
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn
from diffnb._key_checks import MAX_KEY_BYTES, check_key

BAD = ["a/b", "a\\b", "..", ".", "", " ", " mine", "mine ", "a\x00b", "a\nb", "\ud800", "_index", "x" * 300, ".zattrs"]
GOOD = ["disc", "a b", "CD4+", "ä", "a:b", "a.b", "∕", "x" * MAX_KEY_BYTES]
STORING = {
    f"{package}.{name}": function
    for package, module in (("tl", dn.tl), ("pp", dn.pp))
    for name in module.__all__
    if "key_added" in inspect.signature(function := getattr(module, name)).parameters
}
READING = {
    f"{package}.{name}": function
    for package, module in (("get", dn.get), ("pl", dn.pl))
    for name in module.__all__
    if "key" in inspect.signature(function := getattr(module, name)).parameters
}


@pytest.mark.parametrize("key", BAD)
def test_a_key_that_a_file_cannot_hold_is_refused_with_one_that_it_can(key):
    with pytest.raises(ValueError, match=r"key_added=.*h5ad or zarr could not hold.*; use ") as caught:
        check_key("key_added", key)
    offered = str(caught.value).rpartition("use ")[2].split("'")[1]
    assert check_key("key_added", offered) == offered


@pytest.mark.parametrize("key", [3, None, ("a",), b"disc", 2.5])
def test_a_key_that_is_no_text_is_refused(key):
    with pytest.raises(TypeError, match="must be a text"):
        check_key("key_added", key)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("key", GOOD)
def test_every_other_key_survives_files(key, tmp_path):
    adata = anndata.AnnData(np.ones((4, 3)))
    adata.uns[check_key("key_added", key)] = {"x": 1}
    adata.var[key] = 1.0
    adata.varm[key] = pd.DataFrame({"A": np.ones(3)}, index=adata.var_names)
    adata.obsm[f"X_{key}_diffmap"] = np.ones((4, 2))
    for kind in ("h5ad", "zarr"):
        getattr(adata, f"write_{kind}")(tmp_path / kind)
        back = getattr(anndata, f"read_{kind}")(tmp_path / kind)
        assert key in back.uns
        assert key in back.var
        assert key in back.varm
        assert f"X_{key}_diffmap" in back.obsm


@pytest.mark.parametrize("key", ["a/b", 3, ""])
@pytest.mark.parametrize("name", list(STORING))
def test_every_function_that_stores_refuses_a_bad_key_before_it_does_anything(adata, name, key):
    function = STORING[name]
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    others = [adata if p.name in ("adata", "query", "reference") else "condition" for p in required]
    with pytest.raises((TypeError, ValueError), match="key_added="):
        function(*others, key_added=key)
    assert not adata.uns


@pytest.mark.parametrize("key", ["a/b", 3, ""])
@pytest.mark.parametrize("name", list(READING))
def test_every_reader_refuses_a_bad_key(adata, name, key):
    function = READING[name]
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    others = {p.name: adata if p.name == "adata" else "condition" for p in required if p.name != "key"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((TypeError, ValueError, KeyError), match=r"key=|is not|are not|no layout"):
            function(**others, key=key)
