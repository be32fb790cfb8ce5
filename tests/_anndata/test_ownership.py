"""Results never replace what somebody else has stored, and two keys never share a slot."""

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn

FAST = {"n_components": 2, "n_clusters": 2}
#: what others may have stored, and the call that would replace it
FOREIGN = {
    "obsm of scanpy's PCA": ("obsm", "X_pca", lambda a, **o: dn.tl.pda(a, "condition", key_added="pca", **o)),
    "selection": ("var", "dufs", lambda a, **o: dn.tl.dufs(a, n_steps=2, **o)),
    "entry": ("uns", "disc", lambda a, **o: dn.tl.disc(a, "condition", **FAST, **o)),
    "column of a condition": ("var", "disc_ctrl", lambda a, **o: dn.tl.disc(a, "condition", **FAST, **o)),
    "table": ("varm", "scorecard", lambda a, **o: dn.tl.scorecard(a, "condition", **o)),
    "scores": ("var", "laplacian_score", lambda a, **o: dn.tl.laplacian_score(a, **o)),
    "graph": ("obsp", "informed_distances", lambda a, **o: dn.tl.informed_distance(a, n_clusters=3, **o)),
    "blocks": ("obs", "block", lambda a, **o: dn.pp.time_blocks(a, "condition", length=5, **o)),
    "record of blocks": ("uns", "time_blocks", lambda a, **o: dn.pp.time_blocks(a, "condition", length=5, **o)),
}


def something(adata, place):
    n, p = adata.shape
    values = {"obs": np.arange(n), "var": np.arange(p), "uns": {"mine": 1}, "obsm": np.ones((n, 3))}
    return {**values, "varm": np.ones((p, 3)), "obsp": np.ones((n, n))}[place]


@pytest.mark.parametrize("which", list(FOREIGN))
def test_what_others_stored_is_kept_and_replaced_on_request(adata, which):
    place, name, call = FOREIGN[which]
    getattr(adata, place)[name] = something(adata, place)
    held = set(adata.uns), set(adata.var), set(adata.varm), set(adata.obsm), set(adata.obsp)
    with pytest.raises(ValueError, match=rf"adata\.{place}\['{name}'\] exists .* key_added .* overwrite=True"):
        call(adata)
    np.testing.assert_equal(np.asarray(getattr(adata, place)[name]), np.asarray(something(adata, place)))
    assert held == (set(adata.uns), set(adata.var), set(adata.varm), set(adata.obsm), set(adata.obsp))
    call(adata, overwrite=True)
    call(adata)  # ours now


def test_a_slot_that_every_call_writes_is_refused_before_the_computation(adata, monkeypatch):
    adata.obsm["X_pca"] = np.ones((120, 2))
    monkeypatch.setattr("diffnb.tl._sparda.pull", lambda *_, **__: pytest.fail("the computation has begun"))
    with pytest.raises(ValueError, match=r"adata.obsm\['X_pca'\] exists"):
        dn.tl.pda(adata, "condition", key_added="pca")


def test_counts_matched_by_somebody_else_are_kept(adata):
    adata.layers["counts"] = np.random.default_rng(0).poisson(5.0, size=adata.shape).astype(float)
    adata.obs["match_depth"] = 1
    with pytest.raises(ValueError, match=r"adata.obs\['match_depth'\] exists .* overwrite=True"):
        dn.pp.match_depth(adata, "condition")
    dn.pp.match_depth(adata, "condition", overwrite=True)
    dn.pp.match_depth(adata, "condition")


def test_blocks_of_two_calls_have_two_columns(adata):
    dn.pp.time_blocks(adata, "condition", length=5, key_added="short")
    dn.pp.time_blocks(adata, "condition", length=10, key_added="long")
    dn.pp.time_blocks(adata, "condition", length=6, key_added="short")
    assert adata.obs["short"].nunique() > adata.obs["long"].nunique()


def test_meta_features_of_somebody_else_are_kept(adata):
    dn.tl.disc(adata, "condition", **FAST)
    adata.obsm["X_disc"] = np.ones((120, 7))
    with pytest.raises(ValueError, match=r"adata.obsm\['X_disc'\] exists"):
        dn.tl.meta_features(adata)
    dn.tl.meta_features(adata, overwrite=True)
    assert dn.get.meta_features(adata).shape == (120, 4)


@pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning:zarr")
@pytest.mark.parametrize("way", ["again", "copy", "view", "h5ad", "zarr", "pickle"])
def test_a_rerun_under_the_same_key_needs_no_permission(adata, way, tmp_path):
    import pickle

    dn.tl.disc(adata, "condition", **FAST)
    dn.tl.meta_features(adata)
    if way == "copy":
        adata = adata.copy()
    elif way == "view":
        adata = adata[:, :30]
    elif way == "pickle":
        adata = pickle.loads(pickle.dumps(adata))
    elif way in ("h5ad", "zarr"):
        getattr(adata, f"write_{way}")(tmp_path / "a")
        adata = getattr(anndata, f"read_{way}")(tmp_path / "a")
    dn.tl.disc(adata, "condition", **FAST)
    dn.tl.meta_features(adata)
    assert adata.varm["disc"].shape[0] == adata.n_vars


def test_results_of_a_version_without_records_are_replaced(adata):
    dn.tl.disc(adata, "condition", **FAST)
    del adata.uns["disc"]["call"], adata.uns["disc"]["data"]
    dn.tl.disc(adata, "condition", **FAST)
    assert "call" in adata.uns["disc"]


def test_results_whose_record_was_removed_are_kept_and_the_error_says_why(adata):
    dn.tl.scorecard(adata, "condition")
    del adata.uns["scorecard"]
    with pytest.raises(ValueError, match=r"its record adata.uns\['scorecard'\] has been removed"):
        dn.tl.scorecard(adata, "condition")


def test_the_permission_is_not_kept_among_the_parameters(adata):
    dn.tl.scorecard(adata, "condition", overwrite=True)
    assert "overwrite" not in dn.get.params(adata, key="scorecard")


class TestTwoKeys:
    def test_with_one_column_for_both_are_refused_and_permission_does_not_help(self, adata):
        adata.obs["first"] = adata.obs["condition"].map({"ctrl": "x_A", "stim": "x_B"})
        adata.obs["second"] = adata.obs["condition"].map({"ctrl": "A", "stim": "B"})
        dn.tl.disc(adata, "first", **FAST)
        before = adata.var["disc_x_A"].copy()
        for overwrite in (False, True):
            with pytest.raises(ValueError, match=r"adata.var\['disc_x_A'\] belongs to the results under key='disc'"):
                dn.tl.disc(adata, "second", key_added="disc_x", overwrite=overwrite, **FAST)
        pd.testing.assert_series_equal(adata.var["disc_x_A"], before)
        dn.tl.disc(adata, "second", key_added="other", **FAST)

    def test_of_two_tools_do_not_share_a_representation(self, adata):
        dn.tl.informed_distance(adata, n_clusters=3)
        with pytest.raises(ValueError, match=r"'X_informed_diffmap'\] belongs to the results under key='informed'"):
            dn.tl.pda(adata, "condition", key_added="informed_diffmap")


@pytest.mark.parametrize("names", [("a/b", "a∕b"), ("A", "A_nested"), ("A_2", "A"), ("a\\b", "a⧵b")])
def test_conditions_with_similar_names_have_separate_columns(adata, names, tmp_path):
    adata.obs["named"] = adata.obs["condition"].map(dict(zip(("ctrl", "stim"), names, strict=True))).astype(str)
    dn.tl.disc(adata, "named", **FAST)
    columns = adata.uns["disc"]["group_columns"].tolist()
    assert len(set(columns)) == 2
    tables = [dn.get.disc(adata, group=name)["feature_group"].astype(str) for name in names]
    for name, table in zip(names, tables, strict=True):
        assert all(group == "background" or group.startswith(name) for group in table)
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = dn.get.disc(anndata.read_h5ad(tmp_path / "a.h5ad"), group=names[1])
    assert back["feature_group"].astype(str).tolist() == tables[1].tolist()
