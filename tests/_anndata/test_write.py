"""`store` owns a key: one step removes what earlier calls left under it and writes the new results."""

from dataclasses import replace

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb._anndata import Results, ToolCall, add, set_var_column, store
from diffnb._keys import DiscKeys, DufsKeys, InformedKeys

CALL = ToolCall("disc", {"groupby": "condition", "key_added": "disc"})


def contents(adata):
    """Names in every slot."""
    slots = ("obs", "var", "obsm", "varm", "obsp", "varp", "uns")
    return {slot: sorted(getattr(adata, slot)) for slot in slots}


def everywhere(adata, suffix=""):
    """Results in every slot."""
    n, p = adata.shape
    return Results(
        described={"sigma": np.ones((2, 3))},
        obs={f"disc_side{suffix}": pd.Categorical(["a"] * n)},
        var={f"disc_A{suffix}": np.arange(p)},
        obsm={f"X_disc{suffix}": np.ones((n, 2))},
        varm={f"disc{suffix}": pd.DataFrame({"A_score": np.ones(p)})},
        obsp={f"disc_distances{suffix}": sp.eye(n, format="csr")},
        varp={f"disc_edges{suffix}": sp.eye(p, format="csr")},
    )


class TestStore:
    def test_writes_all_slots_and_the_parameters(self, adata):
        before = contents(adata)
        assert store(adata, DiscKeys(), everywhere(adata), CALL) is None
        written = {slot: set(names) - set(before[slot]) for slot, names in contents(adata).items()}
        assert written == {
            "obs": {"disc_side"},
            "var": {"disc_A"},
            "obsm": {"X_disc"},
            "varm": {"disc"},
            "obsp": {"disc_distances"},
            "varp": {"disc_edges"},
            "uns": {"disc"},
        }
        assert adata.uns["disc"]["params"] == {"groupby": "condition", "key_added": "disc"}
        assert adata.uns["disc"]["call"]["tool"] == "disc"

    def test_lists_what_it_owns(self, adata):
        keys = DiscKeys()
        assert keys.owned(adata) == []
        store(adata, keys, everywhere(adata), CALL)
        assert set(keys.owned(adata)) == {
            ("obs", "disc_side"),
            ("var", "disc_A"),
            ("obsm", "X_disc"),
            ("varm", "disc"),
            ("obsp", "disc_distances"),
            ("varp", "disc_edges"),
            ("uns", "disc"),
        }

    def test_a_second_call_leaves_nothing_of_the_first(self, adata):
        untouched = contents(adata)
        store(adata, DiscKeys(), everywhere(adata), CALL)
        store(adata, DiscKeys(), Results(described={"sigma": np.ones((2, 2))}), CALL)
        assert contents(adata) == {**untouched, "uns": ["disc"]}
        assert adata.uns["disc"]["sigma"].shape == (2, 2)

    def test_another_tool_under_the_same_key_leaves_nothing_of_the_first(self, adata):
        untouched = contents(adata)
        store(adata, DiscKeys("mine"), everywhere(adata), CALL)
        store(adata, DufsKeys("mine"), Results(), ToolCall("dufs", {}))
        assert contents(adata) == {**untouched, "uns": ["mine"]}

    def test_columns_that_stay_keep_their_place(self, adata):
        store(adata, DiscKeys(), Results(var={"disc_A": np.ones(40), "disc_B": np.ones(40)}), CALL)
        adata.var["mine"] = 1
        store(adata, DiscKeys(), Results(var={"disc_A": np.zeros(40)}), CALL)
        assert adata.var.columns.tolist() == ["chosen", "disc_A", "mine"]
        assert not adata.var["disc_A"].any()

    def test_what_others_wrote_under_such_names_stays(self, adata):
        adata.obsm["X_disc"] = np.ones((120, 2))
        adata.var["disc_notes"] = "mine"
        for _ in range(2):
            store(adata, DiscKeys(), Results(var={"disc_A": np.ones(40)}), CALL)
        assert "X_disc" in adata.obsm
        assert "disc_notes" in adata.var

    def test_an_entry_copied_to_another_key_owns_nothing_of_the_original(self, adata):
        store(adata, DiscKeys(), everywhere(adata), CALL)
        adata.uns["kept"] = adata.uns["disc"]
        store(adata, DiscKeys("kept"), Results(), replace(CALL, overwrite=True))
        assert "disc_A" in adata.var
        assert "X_disc" in adata.obsm

    def test_what_the_user_removed_is_no_trouble(self, adata):
        store(adata, DiscKeys(), everywhere(adata), CALL)
        del adata.var["disc_A"], adata.obsm["X_disc"]
        store(adata, DiscKeys(), Results(), CALL)
        assert "disc" in adata.uns

    @pytest.mark.parametrize("entry", [3, "text", {"params": {}}, {"call": {"key": "disc", "slots": ["X/X", "odd"]}}])
    def test_an_entry_that_no_tool_wrote_is_replaced_on_request_only(self, adata, entry):
        adata.uns["disc"] = entry
        with pytest.raises(ValueError, match=r"adata.uns\['disc'\] exists .* key_added .* overwrite=True"):
            store(adata, DiscKeys(), everywhere(adata), CALL)
        assert adata.uns["disc"] is entry
        store(adata, DiscKeys(), everywhere(adata), replace(CALL, overwrite=True))
        assert adata.uns["disc"]["call"]["tool"] == "disc"
        assert adata.X is not None

    @pytest.mark.parametrize(
        "bad",
        [
            Results(var={"disc_A": np.ones(3)}),
            Results(varm={"disc": pd.DataFrame({"A_score": np.ones(7)})}),
            Results(obsm={"X_disc": np.ones((5, 2))}),
            Results(obs={"disc_side": np.ones(1)}),
        ],
    )
    def test_results_that_do_not_fit_change_nothing(self, adata, bad):
        store(adata, DiscKeys(), everywhere(adata), CALL)
        before = contents(adata)
        with pytest.raises(ValueError, match=r"values for|Length mismatch"):
            store(adata, DiscKeys(), bad, CALL)
        assert contents(adata) == before

    def test_a_copy_is_returned_and_the_original_left_alone(self, adata):
        before = contents(adata)
        copy = store(adata, DiscKeys(), everywhere(adata), CALL, copy=True)
        assert contents(adata) == before
        assert "disc" in copy.uns

    def test_a_view_becomes_actual(self, adata):
        view = adata[:50]
        store(view, DiscKeys(), everywhere(view), CALL)
        assert not view.is_view
        assert "disc" in view.uns
        assert "disc" not in adata.uns

    def test_names_that_repeat_are_no_trouble(self, adata):
        adata.var_names = ["same"] * 40
        store(adata, DiscKeys(), everywhere(adata), CALL)
        assert adata.varm["disc"].shape == (40, 1)

    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning")
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    def test_what_is_owned_survives_a_file(self, adata, tmp_path, kind):
        store(adata, DiscKeys(), everywhere(adata, suffix="_CD4∕CD8"), CALL)
        path = tmp_path / f"a.{kind}"
        getattr(adata, f"write_{kind}")(path)
        back = getattr(anndata, f"read_{kind}")(path)
        assert set(DiscKeys().owned(back)) == set(DiscKeys().owned(adata))
        store(back, DiscKeys(), Results(), CALL)
        assert "disc_A_CD4∕CD8" not in back.var


class TestAdd:
    def test_what_is_added_goes_with_the_next_call(self, adata):
        store(adata, DiscKeys(), Results(), CALL)
        add(adata, DiscKeys(), Results(obsm={"X_disc": np.ones((120, 2))}))
        assert ("obsm", "X_disc") in DiscKeys().owned(adata)
        store(adata, DiscKeys(), Results(), CALL)
        assert "X_disc" not in adata.obsm

    def test_an_entry_shared_with_another_adata_is_not_changed(self, adata):
        store(adata, DiscKeys(), Results(), CALL)
        shared = adata.uns["disc"]
        add(adata, DiscKeys(), Results(obsm={"X_disc": np.ones((120, 2))}))
        assert shared["call"]["slots"].size == 0
        assert adata.uns["disc"]["call"]["slots"].tolist() == ["obsm/X_disc"]

    def test_adding_twice_lists_a_slot_once(self, adata):
        store(adata, DiscKeys(), Results(), CALL)
        for _ in range(2):
            add(adata, DiscKeys(), Results(obsm={"X_disc": np.ones((120, 2))}))
        assert adata.uns["disc"]["call"]["slots"].tolist() == ["obsm/X_disc"]


def test_a_column_of_the_user_belongs_to_no_key(adata):
    store(adata, DiscKeys(), Results(), CALL)
    set_var_column(adata, "disc_mine", np.ones(40, dtype=bool))
    store(adata, DiscKeys(), Results(), CALL)
    assert adata.var["disc_mine"].all()


def test_disc_leaves_nothing_of_an_earlier_call_with_more_conditions():
    adata = dn.datasets.three_conditions(n_obs=60)
    options = {"n_components": 2, "n_clusters": 2}
    dn.tl.disc(adata, "condition", groups=["A", "B", "C"], **options)
    dn.tl.meta_features(adata)
    assert dn.get.meta_features(adata).shape == (180, 6)
    dn.tl.disc(adata, "condition", groups=["A", "B"], **options)
    assert "disc_C" not in adata.var
    assert "X_disc" not in adata.obsm
    assert not [c for c in adata.varm["disc"].columns if c.startswith("C_")]
    with pytest.raises(KeyError, match=r"run dn.tl.meta_features\(adata, key='disc'\) first"):
        dn.get.meta_features(adata)
    dn.tl.meta_features(adata)
    assert dn.get.meta_features(adata).shape == (180, 4)


def test_meta_features_of_others_are_not_read(adata):
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    adata.obsm["X_disc"] = np.ones((120, 50))
    with pytest.raises(KeyError, match="no meta-features under key='disc'"):
        dn.get.meta_features(adata)


def test_a_computation_that_fails_leaves_earlier_results(adata, monkeypatch):
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    before, sigma = contents(adata), adata.uns["disc"]["sigma"]

    def stop(*_, **__):
        raise MemoryError

    monkeypatch.setattr("diffnb.tl._disc.results_of", stop)
    with pytest.raises(MemoryError):
        dn.tl.disc(adata, "condition", groups=["stim", "ctrl"])
    assert contents(adata) == before
    assert adata.uns["disc"]["sigma"] is sigma


def test_a_metric_under_a_key_of_disc_replaces_it(adata):
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2, key_added="mine")
    dn.tl.meta_features(adata, key="mine")
    dn.tl.informed_distance(adata, n_clusters=3, key_added="mine", informed=False, local=True)
    assert "mine_stim" not in adata.var
    assert "X_mine" not in adata.obsm
    assert "mine" not in adata.varm
    assert ("obsp", "mine_distances") in InformedKeys("mine").owned(adata)
