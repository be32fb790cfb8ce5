import anndata as ad
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import diffnb as dn


def test_the_tarp_moves_most():
    adata = dn.datasets.hyperspectral_tarp(size=40, n_bands=40)
    dn.tl.feature_change(adata, "condition")
    assert roc_auc_score(adata.var["material"] == "tarp", adata.var["feature_change"]) > 0.8


def test_the_order_of_conditions_does_not_matter(adata):
    dn.tl.feature_change(adata, "condition", groups=["ctrl", "stim"])
    dn.tl.feature_change(adata, "condition", groups=["stim", "ctrl"], key_added="other")
    np.testing.assert_allclose(adata.var["feature_change"], adata.var["other"], atol=1e-10)
    assert adata.uns["other"]["groups"].tolist() == ["stim", "ctrl"]


def test_masked_features_are_missing_and_all_survives_a_file(adata, tmp_path):
    dn.tl.feature_change(adata, "condition", mask_var="chosen", graph="dense", n_neighbors=5, n_steps=2)
    assert adata.var["feature_change"].isna().tolist() == (~adata.var["chosen"]).tolist()
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = ad.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_series_equal(back.var["feature_change"], adata.var["feature_change"])
    assert back.uns["feature_change"]["params"]["n_steps"] == 2


def test_a_copy_is_returned_when_asked(adata):
    copy = dn.tl.feature_change(adata, "condition", copy=True)
    assert "feature_change" in copy.var
    assert "feature_change" not in adata.var


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "cosin"}, "Did you mean 'cosine'"),
        ({"graph": "auto"}, "graph='auto' is not an option"),
        ({"neighbors": "fast"}, "neighbors='fast' is not an option"),
        ({"n_neighbors": 40}, "n_neighbors=40"),
        ({"n_neighbors": "many"}, "n_neighbors='many'"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"n_eigenvectors": 0}, "n_eigenvectors=0"),
    ],
)
def test_bad_input_is_refused(adata, options, words):
    with pytest.raises(ValueError, match=words):
        dn.tl.feature_change(adata, "condition", **options)
    assert "feature_change" not in adata.uns


def test_three_conditions_have_no_single_change(adata):
    with pytest.raises(ValueError, match="has 3"):
        dn.tl.feature_change(adata, "subject")


class TestDetectors:
    @pytest.mark.parametrize(
        "method", ["spectral_angle", "difference_rx", "chronochrome", "projected_chronochrome", "ir_mad"]
    )
    def test_detectors_find_the_tarp_and_survive_a_file(self, method, tmp_path):
        adata = dn.datasets.hyperspectral_tarp(size=40, n_bands=40)
        dn.tl.feature_change(adata, "condition", method=method)
        assert roc_auc_score(adata.var["material"] == "tarp", adata.var["feature_change"]) > 0.9
        adata.write_h5ad(tmp_path / "a.h5ad")
        back = ad.read_h5ad(tmp_path / "a.h5ad")
        pd.testing.assert_frame_equal(dn.get.feature_change(back), dn.get.feature_change(adata))
        assert dn.get.params(back, key="feature_change")["method"] == method

    def test_bands_must_correspond(self, adata):
        with pytest.raises(ValueError, match="one by one, but 'ctrl' has 60 and 'stim' has 59"):
            dn.tl.feature_change(adata[:-1].copy(), "condition", method="chronochrome")

    def test_an_unknown_detector_is_refused(self, adata):
        with pytest.raises(ValueError, match="Did you mean 'chronochrome'"):
            dn.tl.feature_change(adata, "condition", method="chronochrom")

    def test_pvalues_call_the_targets_and_nothing_in_the_null(self):
        rng = np.random.default_rng(0)
        cube = rng.dirichlet(np.ones(3), size=(40, 30)) @ rng.uniform(1, 3, size=(3, 20))
        target = np.zeros((40, 30), dtype=bool)
        target[5:9, 6:10] = True
        cube[target] = rng.uniform(1, 3, size=20)
        called = {}
        for appears in (True, False):
            adata = dn.datasets.semi_synthetic_pair(cube, target, appears=appears, gain=0.1, noise=0.02)
            dn.tl.feature_change(adata, "condition", method="projected_chronochrome")
            found = dn.get.feature_change(adata)
            called[appears] = set(found.index[found["pval_adj"] < 0.05])
        assert len(called[True] ^ set(adata.var_names[adata.var["target"]])) <= 1
        assert len(called[False]) <= 1

    def test_a_later_call_without_pvalues_removes_them(self):
        adata = dn.datasets.hyperspectral_tarp(size=20, n_bands=20)
        dn.tl.feature_change(adata, "condition", method="chronochrome")
        assert dn.get.feature_change(adata).columns.tolist() == ["change", "pval", "pval_adj", "rank"]
        dn.tl.feature_change(adata, "condition")
        assert "feature_change_pval" not in adata.var
        assert dn.get.feature_change(adata).columns.tolist() == ["change", "rank"]
