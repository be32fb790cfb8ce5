from __future__ import annotations

import anndata
import pandas as pd
import pytest

import diffnb as dn


def test_a_table_has_a_row_for_every_size_in_order(adata, tmp_path):
    dn.tl.power(adata, "condition", group_size=6, correlation=0.8, n_units=[80, 20], n_simulations=3)
    table = dn.get.power(adata)
    assert table["n_units"].tolist() == [20, 80]
    assert table.attrs["units"] == "observations"
    adata.write_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(dn.get.power(anndata.read_h5ad(tmp_path / "a.h5ad")), table)


def test_samples_are_units_where_given(adata):
    dn.tl.power(adata, "condition", group_size=6, n_units=[2, 3], n_simulations=2, sample_key="donor")
    table = dn.get.power(adata)
    assert table.attrs["units"] == "samples"
    assert adata.uns["power"]["n_pilot"] == 3


def test_the_pilot_is_the_condition_that_is_named(adata):
    given = {"group_size": 6, "n_units": [30], "n_simulations": 2}
    first, named, other = (
        dn.get.power(dn.tl.power(adata, "condition", copy=True, **given, **more))["measured"].item()
        for more in ({}, {"reference": "ctrl"}, {"reference": "stim"})
    )
    assert first == named != other


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"correlation": 1.0}, "between 0 and 1"),
        ({"group_size": 41}, "group_size=41"),
        ({"n_units": [3]}, "n_units=3"),
        ({"n_units": "many"}, "n_units='many'"),
        ({"n_simulations": 1}, "n_simulations=1"),
        ({"reference": "none"}, "reference='none'"),
    ],
)
def test_arguments_that_make_no_sense_are_explained(adata, given, message):
    with pytest.raises(ValueError, match=message):
        dn.tl.power(adata, "condition", **given)
