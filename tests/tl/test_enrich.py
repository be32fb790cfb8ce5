from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def toy():
    adata = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(adata, "condition", n_clusters=3, n_components=2)
    adata.var["region"] = pd.Categorical(np.repeat(["left", "middle", "right"], [100, 50, 100]))
    return adata


@pytest.fixture
def sets(toy):
    rng = np.random.default_rng(0)
    named = {f"random{i}": rng.choice(toy.var_names, 30, replace=False).tolist() for i in range(20)}
    return named | {"late": toy.var_names[150:].tolist(), "two": toy.var_names[:2].tolist()}


def enriched(adata, gene_sets, **given):
    return dn.get.enrich(dn.tl.enrich(adata, gene_sets, copy=True, **given))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_equals_decoupler(toy, sets):
    import decoupler as dc

    found = enriched(toy, sets)
    net = pd.DataFrame([(n, f) for n, own in sets.items() for f in own], columns=["source", "target"])
    members = dn.get.gene_sets(toy)
    for name in members:
        expected = dc.mt.query_set(members[name], net, n_bg=toy.n_vars).set_index("source")
        own = found[found["list"] == name].set_index("set").loc[expected.index]
        np.testing.assert_allclose(own["pval"], expected["pval"], rtol=1e-8)
        np.testing.assert_allclose(own["log_odds"], expected["stat"], rtol=1e-8)
    assert set(found["set"]) == set(expected.index)


def test_gmt_files_tables_and_dictionaries_are_the_same(toy, sets, tmp_path):
    expected = enriched(toy, sets)
    path = tmp_path / "sets.gmt"
    path.write_text("".join("\t".join([n, "about", *own]) + "\n" for n, own in sets.items()) + "\n")
    long = pd.DataFrame([(n, f) for n, own in sets.items() for f in own], columns=["source", "target"])
    wide = pd.DataFrame({n: toy.var_names.isin(own) for n, own in sets.items()}, index=toy.var_names)
    for given in (path, str(path), long, wide):
        pd.testing.assert_frame_equal(enriched(toy, given), expected)


def test_categories_of_a_column_are_sets(toy):
    found = enriched(toy, "region")
    assert set(found["set"]) == {"left", "middle", "right"}
    assert found.iloc[0]["set"] == "right"


def test_the_background_is_what_was_tested(sets):
    adata = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(adata, "condition", n_clusters=3, mask_var=np.arange(250) >= 100, n_components=2)
    assert enriched(adata, sets)["n_background"].unique().tolist() == [150]
    assert enriched(adata, sets, background="all")["n_background"].unique().tolist() == [250]
    mask = np.arange(250) >= 130
    by_mask, by_name = (enriched(adata, sets, background=b) for b in (mask, list(adata.var_names[mask])))
    pd.testing.assert_frame_equal(by_mask, by_name)
    assert by_mask["n_background"].unique().tolist() == [120]
    # with features that nobody looked at, the same overlap seems more surprising
    tested, all_features = (
        enriched(adata, sets, **b).set_index(["list", "set"])["pval"] for b in ({}, {"background": "all"})
    )
    assert all_features[("A1", "late")] < tested[("A1", "late")]


def test_lists_of_every_tool(toy, sets):
    adata = toy.copy()
    dn.tl.scorecard(adata, "condition")
    dn.tl.sparda(adata, "condition", n_features=20)
    dn.tl.diverse_features(adata, n_features=20)
    adata.var["mine"] = adata.var_names.isin(sets["late"][:30])
    assert "B vs A: connectivity" in set(enriched(adata, sets, key="scorecard")["list"])
    assert set(enriched(adata, sets, key="sparda")["list"]) == {"B vs A, projection 1"}
    assert set(enriched(adata, sets, key="diverse_features")["list"]) == {"selected"}
    assert enriched(adata, sets, key="mine").iloc[0]["set"] == "late"
    assert set(enriched(adata, sets, key="region")["list"]) == {"left", "middle", "right"}


def test_features_in_both_are_listed(toy, sets):
    row = enriched(toy, sets).iloc[0]
    shared = row["features"].split(";")
    assert len(shared) == row["n_overlap"]
    assert set(shared) <= set(sets[row["set"]])


def test_sets_are_kept_by_their_size_in_the_background(toy, sets):
    assert "two" not in set(enriched(toy, sets)["set"])
    assert set(enriched(toy, sets, min_size=1, max_size=2)["set"]) == {"two"}


def test_results_survive_a_file(toy, sets, tmp_path):
    adata = dn.tl.enrich(toy, sets, copy=True)
    adata.write_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(dn.get.enrich(anndata.read_h5ad(tmp_path / "a.h5ad")), dn.get.enrich(adata))


@pytest.mark.parametrize(
    ("gene_sets", "given", "error", "message"),
    [
        ("nowhere.gmt", {}, FileNotFoundError, "neither a file nor a column"),
        ({"a": ["x1", "x2"]}, {}, ValueError, "same kind of names"),
        (3, {}, TypeError, "path of a GMT file"),
        (pd.DataFrame({"a": [1]}), {}, ValueError, "'source'"),
        ({"a": ["x"]}, {"background": ["x"]}, ValueError, "none of which is a feature"),
        ({"a": ["x"]}, {"background": [True]}, ValueError, "has shape"),
        ({"a": ["x"]}, {"background": "genome"}, ValueError, "background='genome'"),
        ({"a": ["x"]}, {"min_size": 0}, ValueError, "min_size=0"),
    ],
)
def test_what_cannot_be_tested_is_explained(toy, gene_sets, given, error, message):
    with pytest.raises(error, match=message):
        dn.tl.enrich(toy, gene_sets, **given)


def test_a_broken_file_names_its_line(toy, tmp_path):
    (tmp_path / "x.gmt").write_text("a\tb\tc\nonly\n")
    with pytest.raises(ValueError, match="line 2"):
        dn.tl.enrich(toy, tmp_path / "x.gmt")


def test_no_results_and_no_lists_are_explained(toy, sets):
    with pytest.raises(KeyError, match=r"run dn\.tl\.disc"):
        dn.tl.enrich(toy, sets, key="nothing")
    adata = toy.copy()
    adata.var["none"] = "background"
    with pytest.raises(ValueError, match="nothing was found"):
        dn.tl.enrich(adata, sets, key="none")
    adata.var["names"] = adata.var_names
    with pytest.raises(ValueError, match="250 different values"):
        dn.tl.enrich(adata, sets, key="names")
