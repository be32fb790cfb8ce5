import anndata as ad
import numpy as np
import pandas as pd

import diffnb as dn


def test_conditions_come_before_samples_and_measurements_are_left_out(adata):
    table = dn.get.candidate_conditions(adata)
    assert table.index[0] == "condition"
    assert set(table.index) == {"condition", "donor", "subject"}


def test_samples_nested_in_conditions_are_found(adata):
    del adata.obs["subject"]
    row = dn.get.candidate_conditions(adata).loc["condition"]
    assert (row["samples"], row["nested"]) == ("donor", True)
    assert "p-values are too small" in row["note"]


def test_samples_that_hold_every_condition_are_found(adata):
    del adata.obs["donor"]
    row = dn.get.candidate_conditions(adata).loc["condition"]
    assert (row["samples"], row["nested"]) == ("subject", False)
    assert "compares within it" in row["note"]


def test_notes_name_what_speaks_against_a_column():
    obs = pd.DataFrame(
        {
            "one": ["x"] * 20,
            "rare": ["a"] * 18 + ["b"] * 2,
            "few": ["a", "b"] * 10,
            "holes": ["a", "b", None, None] * 5,
            "whole": np.repeat([1.0, 2.0], 10),
            "id": [f"cell{i}" for i in range(20)],
            "age": np.linspace(0.5, 3, 20),
        },
        index=[f"c{i}" for i in range(20)],
    )
    table = dn.get.candidate_conditions(ad.AnnData(np.ones((20, 2), dtype=np.float32), obs=obs))
    assert set(table.index) == {"one", "rare", "few", "holes", "whole"}
    assert not table.loc["one", "usable"]
    assert "single level" in table.loc["one", "note"]
    assert not table.loc["rare", "usable"]
    assert "leave it out" in table.loc["rare", "note"]
    assert table.loc["few", "usable"]
    assert "few observations" in table.loc["few", "note"]
    assert "10 observations have no value" in table.loc["holes", "note"]
    assert table.loc["whole", "levels"] == 2


def test_a_column_that_is_all_missing_is_left_out(adata):
    adata.obs["empty"] = pd.Categorical([None] * adata.n_obs, categories=["a"])
    assert "empty" not in dn.get.candidate_conditions(adata).index


def test_data_without_columns_has_none():
    assert dn.get.candidate_conditions(ad.AnnData(np.ones((4, 2), dtype=np.float32))).empty


def test_samples_repeat_and_are_no_measurements(adata):
    adata.obs["cell"] = adata.obs_names
    adata.obs["pair"] = np.repeat(np.arange(60).astype(str), 2)
    table = dn.get.candidate_samples(adata)
    assert set(table.index) == {"condition", "donor", "subject", "pair"}
    assert table.loc["donor"].to_dict() == {"levels": 6, "smallest": 20, "largest": 20}


def test_likely_samples_come_first(adata):
    table = dn.get.candidate_samples(adata, groupby="condition")
    assert table.index.tolist() == ["subject", "donor"]
    assert table[["likely", "nested"]].to_dict("list") == {"likely": [True, True], "nested": [False, True]}


def test_types_of_cells_are_no_samples_though_each_holds_every_condition(adata):
    adata.obs["cell_type"] = adata.obs["subject"]
    adata.obs["batch"] = adata.obs["subject"]
    adata.obs["leiden"] = adata.obs["donor"]
    del adata.obs["subject"], adata.obs["donor"]
    table = dn.get.candidate_samples(adata, groupby="condition")
    assert not table["likely"].any()
    assert dn.get.candidate_conditions(adata).loc["condition", "samples"] == ""


def test_a_column_that_nests_in_conditions_is_likely_whatever_its_name(adata):
    adata.obs["well"] = adata.obs["donor"]
    table = dn.get.candidate_samples(adata, groupby="condition")
    assert table.index.tolist() == ["subject", "donor", "well"], "after those called what samples are called"
    assert table.loc["well", "likely"]


def test_a_donor_for_each_condition_is_not_likely(adata):
    adata.obs["donor"] = adata.obs["condition"].map({"ctrl": "d1", "stim": "d2"})
    assert not dn.get.candidate_samples(adata, groupby="condition").loc["donor", "likely"]


def test_donors_of_whom_some_lack_a_condition_still_are_samples(adata):
    adata.obs["patient"] = np.tile(np.repeat(["a", "b", "c", "d"], 15), 2)
    adata.obs.loc[adata.obs_names[-15:], "patient"] = "c"
    assert dict(dn.get.candidate_samples(adata, groupby="condition")["likely"])["patient"]


def test_columns_with_one_name_are_no_trouble(adata):
    adata.obs.columns = ["condition", "donor", "donor", "age"]
    assert dn.get.candidate_conditions(adata).index.tolist() == ["condition", "donor"]
    assert dn.get.candidate_samples(adata).index.tolist() == ["condition", "donor"]


def test_covariates_are_numbers_that_vary_and_categories_with_few_levels(adata):
    adata.obs["same"] = 1.0
    adata.obs["name"] = adata.obs_names
    adata.obs["missing"] = adata.obs["age"].where(adata.obs["age"] > 30)
    found = dn.get.candidate_covariates(adata)
    assert found["levels"].to_dict() == {"condition": 2, "donor": 6, "subject": 3, "age": 0}
