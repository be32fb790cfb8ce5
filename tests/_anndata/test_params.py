"""Arguments of a call come back from `uns`, from h5ad and from zarr, as they were given."""

import functools

import anndata
import numpy as np
import pandas as pd
import pytest

from diffnb._anndata import Results, ToolCall, bound, replayed, store
from diffnb._keys import Keys

MASK = np.array([True, False, True])

#: what is given, and what comes back
ARGUMENTS = {
    "text": ("within", "within"),
    "empty": ("", ""),
    "number": (3, 3),
    "numpy_number": (np.int32(3), 3),
    "fraction": (0.25, 0.25),
    "truth": (True, True),
    "falsehood": (np.bool_(False), False),
    "nothing": (None, None),
    "names": (["ctrl", "CD4/CD8", "σ"], ["ctrl", "CD4/CD8", "σ"]),
    "names_in_a_tuple": (("a",), ["a"]),
    "names_in_an_index": (pd.Index(["a", "b"]), ["a", "b"]),
    "numbers": ([4, 5], [4, 5]),
    "fractions": ((0.5, 1.5), [0.5, 1.5]),
    "names_and_numbers": (["a", 1], ["a", "1"]),
    "mask": (MASK, MASK),
    "mask_in_a_list": ([True, False], np.array([True, False])),
    "mask_in_a_series": (pd.Series([True, False]), np.array([True, False])),
    "mapping": ({"ctrl": 3, "CD4/CD8": 5}, {"ctrl": 3, "CD4/CD8": 5}),
}


@pytest.fixture
def stored():
    adata = anndata.AnnData(np.ones((2, 3), dtype=np.float32))
    arguments = {name: given for name, (given, _) in ARGUMENTS.items()}
    store(adata, Keys("mine"), Results(), ToolCall("tool", arguments, {"method": "umap"}))
    return adata


def through_a_file(adata, path, kind):
    if kind == "memory":
        return adata
    getattr(adata, f"write_{kind}")(path / f"a.{kind}")
    return getattr(anndata, f"read_{kind}")(path / f"a.{kind}")


@pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning")
@pytest.mark.parametrize("kind", ["memory", "h5ad", "zarr"])
def test_every_kind_of_argument_comes_back(stored, tmp_path, kind):
    found = replayed(through_a_file(stored, tmp_path, kind).uns["mine"])
    assert list(found) == list(ARGUMENTS)
    for name, (_, expected) in ARGUMENTS.items():
        assert type(found[name]) is type(expected), name
        np.testing.assert_array_equal(found[name], expected, err_msg=name, strict=True)


def test_a_mask_that_changes_later_does_not_change_what_is_stored():
    adata, mask = anndata.AnnData(np.ones((2, 3), dtype=np.float32)), MASK.copy()
    store(adata, Keys("mine"), Results(), ToolCall("tool", {"mask_var": mask}))
    mask[:] = False
    np.testing.assert_array_equal(replayed(adata.uns["mine"])["mask_var"], MASK)


def test_what_other_packages_read_is_stored_and_not_replayed(stored):
    assert stored.uns["mine"]["params"]["method"] == "umap"
    assert "method" not in replayed(stored.uns["mine"])


def test_a_function_is_kept_by_its_qualified_name():
    call = ToolCall("tool", {"kernel": np.linalg.norm, "other": functools.partial(len), "metric": "cosine"})
    assert call.encoded()["kernel"] == "numpy.linalg.norm"
    assert call.encoded()["other"].startswith("functools.partial")
    assert call.described()["functions"].tolist() == ["kernel", "other"]


def test_arguments_are_those_of_the_signature_with_their_defaults():
    def tool(adata, groupby, *, layer=None, n=3, copy=False):
        intermediate = n + 1
        return bound(tool, locals(), extra=intermediate)

    call = tool("data", "condition", n=5)
    assert call.tool == "tool"
    assert call.arguments == {"groupby": "condition", "layer": None, "n": 5}
    assert call.extra == {"extra": 6}
