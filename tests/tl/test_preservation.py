from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def both():
    reference, query = (dn.datasets.newly_connected(n_obs=150, random_state=i) for i in range(2))
    dn.tl.disc(reference, "condition", n_clusters=3, n_components=2)
    return reference, query


def found(reference, query, **given):
    query = query.copy()
    dn.tl.preservation(reference, query, n_permutations=39, **given)
    return dn.get.preservation(query)


def test_groups_are_there_in_their_condition_only(both):
    reference, query = both
    table = found(reference, query, groupby="condition")
    assert table["preserved"].all()
    assert (table["difference_pval_adj"] <= 0.05).all()
    swapped = query.copy()
    swapped.obs["condition"] = swapped.obs["condition"].cat.rename_categories({"A": "B", "B": "A"})
    exchanged = found(reference, swapped, groupby="condition")
    assert not exchanged["preserved"].any()
    assert (exchanged["difference"] < 0).all()


def test_features_are_matched_by_name_in_any_order(both):
    reference, query = both
    shuffled = query[:, np.random.default_rng(0).permutation(query.n_vars)].copy()
    expected, table = (found(reference, q, groupby="condition") for q in (query, shuffled))
    np.testing.assert_allclose(table["avg_cor"], expected["avg_cor"])
    assert (table["preserved"] == expected["preserved"]).all()


def test_features_that_are_missing_are_counted(both):
    reference, query = both
    members = dn.get.gene_sets(reference)
    kept = ~query.var_names.isin(members["A1"][2:]) & ~query.var_names.isin(members["B1"][:10])
    with pytest.warns(UserWarning, match="'A1'"):
        table = found(reference, query[:, kept].copy(), groupby="condition")
    assert table.loc["A1", "n_matched"] == 2
    assert np.isnan(table.loc["A1", "density_pval"])
    assert not table.loc["A1", "preserved"]
    assert table.loc["B1", "n_matched"] == len(members["B1"]) - 10
    assert table.loc["B1", "preserved"]


def test_groups_from_elsewhere_are_a_column_of_var(both):
    reference, query = both
    reference = reference.copy()
    labels = np.where(np.arange(250) < 30, "noise", "background").astype(object)
    labels[reference.var_names.isin(dn.get.gene_sets(reference)["A1"])] = "module"
    reference.var["modules"] = pd.Categorical(labels)
    table = found(reference, query, key="modules")
    assert table["preserved"].to_dict() == {"module": True, "noise": False}
    assert (table["condition"] == "").all()


def test_samples_are_units_where_given(both):
    reference, query = (adata.copy() for adata in both)
    for adata in (reference, query):
        adata.obs["donor"] = np.tile(np.repeat(["d1", "d2", "d3", "d4", "d5"], 30), 2)
    table = found(reference, query, groupby="condition", sample_key="donor")
    assert (table["n_samples"] == 5).all()
    assert (table["sample_pval"] < 0.01).all()


def test_results_survive_a_file(both, tmp_path):
    import anndata

    reference, query = both
    query = dn.tl.preservation(reference, query, n_permutations=19, copy=True)
    query.write_h5ad(tmp_path / "q.h5ad")
    back = anndata.read_h5ad(tmp_path / "q.h5ad")
    pd.testing.assert_frame_equal(dn.get.preservation(back), dn.get.preservation(query))
    with pytest.warns(UserWarning, match="only describes what was given"):
        assert dn.get.params(back, key="preservation")["n_permutations"] == 19


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (lambda q: q.obs.rename(columns={"condition": "c"}, inplace=True), {"groupby": "condition"}, "groupby"),
        (lambda q: q.obs.__setitem__("other", np.resize(["x", "y"], q.n_obs)), {"groupby": "other"}, "has no 'A'"),
        (lambda q: setattr(q, "var_names", [f"x{i}" for i in range(q.n_vars)]), {}, "0 of 250 features"),
        (lambda q: setattr(q, "var_names", ["x"] * q.n_vars), {}, "are not unique"),
        (lambda q: q.X.__setitem__((0, 0), np.nan), {}, "query has NaN or infinite values in 1 feature"),
    ],
)
@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_what_cannot_be_compared_is_explained(both, change, given, message):
    reference, query = both
    query = query.copy()
    change(query)
    with pytest.raises(ValueError, match=message):
        dn.tl.preservation(reference, query, **given)


def test_a_reference_without_groups_is_explained(both):
    reference, query = both
    with pytest.raises(KeyError, match=r"run dn\.tl\.disc"):
        dn.tl.preservation(query, reference)
    none = reference.copy()
    none.var["modules"] = "background"
    with pytest.raises(ValueError, match="holds no group"):
        dn.tl.preservation(none, query, key="modules")
