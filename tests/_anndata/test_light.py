"""Work on a shell of an AnnData, and taking over what was done to it."""

import numpy as np
import pandas as pd
import pytest

from diffnb._anndata import adopt, light_copy


@pytest.fixture
def full(adata):
    adata.obsm["X_pca"] = np.ones((adata.n_obs, 2))
    adata.varm["loads"] = pd.DataFrame({"a": np.ones(adata.n_vars)}, index=adata.var_names)
    adata.uns["old"] = {"params": 1}
    adata.raw = adata
    return adata


def test_a_light_copy_shares_arrays(full):
    light = light_copy(full)
    assert light.X is full.X
    assert light.layers["double"] is full.layers["double"]
    assert light.obsm["X_pca"] is full.obsm["X_pca"]
    assert light.raw is not None


def test_what_is_done_to_a_light_copy_leaves_the_data_as_it_was(full):
    light = light_copy(full)
    light.var["new"] = 1
    light.obs["condition"] = "other"
    light.uns["new"] = 1
    del light.obsm["X_pca"]
    assert "new" not in full.var
    assert "new" not in full.uns
    assert set(full.obs["condition"]) == {"ctrl", "stim"}
    assert "X_pca" in full.obsm


def test_names_that_repeat_are_no_news(full):
    full.var_names = ["same"] * full.n_vars
    assert light_copy(full).n_vars == full.n_vars  # a warning would be an error here


def test_adopting_adds_replaces_and_takes_away(full):
    before, after = light_copy(full), light_copy(full)
    after.var["found"] = pd.Categorical(["x"] * full.n_vars)
    after.var["chosen"] = ~after.var["chosen"]
    after.uns["new"] = {"a": 1}
    after.uns["old"] = {"params": 2}
    del after.obsm["X_pca"]
    loads = full.varm["loads"]
    adopt(full, before, after)
    assert full.var["found"].dtype == "category"
    assert full.var["chosen"].sum() == 10
    assert full.uns["new"] == {"a": 1}
    assert full.uns["old"] == {"params": 2}
    assert "X_pca" not in full.obsm
    assert full.varm["loads"] is loads


def test_what_the_user_did_meanwhile_stays(full):
    before, after = light_copy(full), light_copy(full)
    after.uns["new"] = 1
    full.uns["mine"] = 2
    full.obs["mine"] = 3
    del full.uns["old"]
    adopt(full, before, after)
    assert full.uns["mine"] == 2
    assert full.uns["new"] == 1
    assert "old" not in full.uns
    assert "mine" in full.obs


def test_other_features_than_at_the_start_are_refused(full):
    before, after = light_copy(full), light_copy(full)
    full._inplace_subset_var(np.arange(10))
    with pytest.raises(RuntimeError, match="other features than when the run began"):
        adopt(full, before, after)


def test_a_view_becomes_actual(full):
    view = full[:, :10]
    before, after = light_copy(view), light_copy(view)
    after.uns["new"] = 1
    adopt(view, before, after)
    assert not view.is_view
    assert view.uns["new"] == 1
