import numpy as np
import pytest

import diffnb as dn


def test_diffusion_maps_are_read_by_the_names_of_their_columns(adata):
    dn.tl.feature_diffmap(adata, "condition", n_components=2, mask_var="chosen")
    stored = adata.varm["feature_diffmap"]
    adata.varm["feature_diffmap"] = stored[stored.columns[::-1]]
    table = dn.get.feature_diffmap(adata)
    assert table.columns.tolist() == ["group", "vector_1", "vector_2"]
    for group in ("ctrl", "stim"):
        part = table[table["group"] == group]
        np.testing.assert_array_equal(part["vector_1"], stored[f"{group}_vector_1"])
        assert part.index.equals(adata.var_names)


def test_changes_are_ranked_the_largest_first_and_excluded_features_last(adata):
    dn.tl.feature_change(adata, "condition", mask_var="chosen")
    table = dn.get.feature_change(adata)
    assert table.columns.tolist() == ["change", "rank"]
    assert table["change"].iloc[:30].is_monotonic_decreasing
    assert table["rank"].iloc[:30].tolist() == list(range(1, 31))
    assert table.iloc[30:].isna().all(axis=None)
    np.testing.assert_array_equal(table.loc[adata.var_names, "change"], adata.var["feature_change"])


@pytest.mark.parametrize("name", ["feature_change", "feature_diffmap"])
def test_missing_results_are_explained(adata, name):
    with pytest.raises(KeyError, match=rf"run dn\.tl\.{name}\(adata, groupby\) first"):
        getattr(dn.get, name)(adata)
