"""Several modalities of the same cells in one AnnData."""

import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import diffnb as dn

CELLS = [f"c{i}" for i in range(40)]


def modality(rng, n_features, stem, cells=CELLS, factor=1.0):
    x = factor * rng.poisson(1.0, size=(len(cells), n_features)).astype(float)
    obs = pd.DataFrame({"total": x.sum(axis=1)}, index=cells)
    return ad.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"{stem}{i}" for i in range(n_features)]))


@pytest.fixture
def parts(rng):
    return {"rna": modality(rng, 30, "g"), "adt": modality(rng, 5, "p", factor=1000.0)}


def test_no_modality_dominates_by_its_numbers_or_its_features(parts):
    both = dn.datasets.from_mudata(parts)
    variance = pd.Series(both.X.var(axis=0)).groupby(both.var["modality"].to_numpy()).sum()
    np.testing.assert_allclose(variance, 1.0)
    by_feature = dn.datasets.from_mudata(parts, scale="features")
    np.testing.assert_allclose(by_feature.X.var(axis=0), 1.0)
    as_is = dn.datasets.from_mudata(parts, scale="none")
    np.testing.assert_array_equal(as_is.X, np.hstack([parts["rna"].X, parts["adt"].X]))


def test_correlations_and_zeros_stay_what_they_are(parts):
    both, as_is = dn.datasets.from_mudata(parts), dn.datasets.from_mudata(parts, scale="none")
    np.testing.assert_allclose(np.corrcoef(both.X.T), np.corrcoef(as_is.X.T), atol=1e-12)
    np.testing.assert_array_equal(both.X == 0, as_is.X == 0)


def test_sparse_modalities_stay_sparse_and_give_the_same(parts):
    dense = dn.datasets.from_mudata(parts)
    for part in parts.values():
        part.X = sparse.csc_matrix(part.X)
    both = dn.datasets.from_mudata(parts)
    assert sparse.issparse(both.X)
    np.testing.assert_allclose(both.X.toarray(), dense.X, rtol=1e-12)
    parts["adt"].X = parts["adt"].X.toarray()
    np.testing.assert_allclose(dn.datasets.from_mudata(parts).X, dense.X, rtol=1e-12)


def test_constant_features_are_left_alone(parts):
    parts["adt"].X[:, 0] = 7.0
    both = dn.datasets.from_mudata(parts)
    assert np.isfinite(both.X).all()
    assert both.X[:, 30].std() == 0


def test_observations_are_matched_by_name_and_columns_told_apart(rng):
    first, second = modality(rng, 3, "g"), modality(rng, 2, "p", cells=CELLS[:9:-1])
    first.obsm["spatial"] = rng.normal(size=(40, 2))
    both = dn.datasets.from_mudata({"rna": first, "adt": second}, scale="none")
    assert both.obs_names.tolist() == CELLS[10:]
    np.testing.assert_array_equal(both.X[0], [*first["c10"].X[0], *second["c10"].X[0]])
    assert both.obs.columns.tolist() == ["rna:total", "adt:total"]
    assert both.obs.loc["c12", "adt:total"] == second.obs.loc["c12", "total"]
    np.testing.assert_array_equal(both.obsm["spatial"], first.obsm["spatial"][10:])


def test_names_in_several_modalities_get_the_modality_in_front(rng):
    first, second = modality(rng, 3, "g"), modality(rng, 2, "g")
    both = dn.datasets.from_mudata({"rna": first, "adt": second})
    assert both.var_names.tolist() == ["rna:g0", "rna:g1", "g2", "adt:g0", "adt:g1"]


def test_layers_may_differ_between_modalities(parts):
    parts["rna"].layers["counts"] = parts["rna"].X + 1
    both = dn.datasets.from_mudata(parts, layer={"rna": "counts"}, scale="none")
    np.testing.assert_array_equal(both.X[:, :30], parts["rna"].layers["counts"])
    with pytest.raises(ValueError, match=r"layer='counts' is not in modality 'adt'"):
        dn.datasets.from_mudata(parts, layer="counts")


def test_groups_that_span_modalities_are_found_and_reported():
    cells = dn.datasets.newly_connected(n_obs=200)
    adt = np.arange(cells.n_vars) % 5 == 0
    proteins = cells[:, adt].copy()
    proteins.X = 100 * proteins.X
    both = dn.datasets.from_mudata({"rna": cells[:, ~adt].copy(), "adt": proteins})
    dn.tl.disc(both, "rna:condition", n_components=2)
    table = dn.get.disc_groups(both)
    np.testing.assert_allclose(table[["modality_rna", "modality_adt"]], np.tile([0.8, 0.2], (4, 1)))
    dn.tl.disc(cells, "condition", n_components=2)
    assert not dn.get.disc_groups(cells).columns.str.startswith("modality").any()


def test_a_mudata_is_read_with_its_common_columns(parts, rng):
    mudata = pytest.importorskip("mudata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdata = mudata.MuData(parts)
        mdata.obs["donor"] = np.repeat(["a", "b"], 20)
        mdata.obsm["X_umap"] = rng.normal(size=(40, 2))
        both = dn.datasets.from_mudata(mdata)
    assert both.obs["donor"].tolist() == ["a"] * 20 + ["b"] * 20
    assert sorted(both.obs.columns) == ["adt:total", "donor", "rna:total"]
    assert list(both.obsm) == ["X_umap"]
    np.testing.assert_allclose(both.X, dn.datasets.from_mudata(parts).X)


@pytest.mark.parametrize(
    ("change", "given", "error", "message"),
    [
        (lambda p: p["rna"], {}, TypeError, "has one modality already"),
        (lambda p: [p["rna"]], {}, TypeError, "must be a MuData or a dictionary"),
        (lambda p: {"rna": p["rna"]}, {}, ValueError, "give two different ones"),
        (lambda p: p, {"modalities": ["rna", "atd"]}, ValueError, "Did you mean 'adt'"),
        (lambda p: p, {"scale": "all"}, ValueError, "scale='all'"),
        (lambda p: {**p, "adt": renamed(p["adt"], "x")}, {}, ValueError, "no observation is in every modality"),
        (lambda p: {**p, "adt": renamed(p["adt"], None)}, {}, ValueError, "obs_names of modality 'adt' are not unique"),
        (lambda p: {**p, "adt": with_gap(p["adt"])}, {}, ValueError, "not finite"),
        (lambda p: {**p, "adt": ad.AnnData(obs=p["adt"].obs)}, {}, ValueError, "has no X"),
    ],
)
def test_what_cannot_be_stacked_is_refused(parts, change, given, error, message):
    with pytest.raises(error, match=message):
        dn.datasets.from_mudata(change(parts), **given)


def renamed(adata, stem):
    adata.obs_names = [f"{stem}{i}" if stem else "x" for i in range(adata.n_obs)]
    return adata


def with_gap(adata):
    adata.X[0, 0] = np.nan
    return adata
