"""Which results there are, and the calls that made them."""

import numpy as np
import pytest

import diffnb as dn

QUICK = {"n_components": 2, "n_clusters": 2}


def cauchy(d, s, t):
    return 1 / (1 + d**2 / (s * t))


def test_results_are_listed_with_their_tools(adata):
    dn.tl.disc(adata, "condition", **QUICK)
    dn.tl.pda(adata, "condition", key_added="directions")
    adata.uns["neighbors"] = {"params": {"method": "umap"}}
    adata.uns["title"] = "mine"
    table = dn.get.results(adata)
    assert table["tool"].to_dict() == {"disc": "disc", "directions": "pda"}
    assert table["replayable"].all()
    assert table.index.name == "key"


def test_data_without_results_has_none(adata):
    assert dn.get.results(adata).empty
    assert dn.get.results(adata).columns.tolist() == ["tool", "replayable", "changed"]


def test_a_function_is_kept_by_name_and_marked(adata):
    dn.tl.disc(adata, "condition", kernel=cauchy, **QUICK)
    assert not dn.get.results(adata).loc["disc", "replayable"]
    with pytest.warns(UserWarning, match=r"params\['kernel'\] only describes what was given, '.*test_results.cauchy'"):
        params = dn.get.params(adata, key="disc")
    expected = adata.uns["disc"]["sigma"]
    dn.tl.disc(adata, **{**params, "kernel": cauchy})
    np.testing.assert_array_equal(adata.uns["disc"]["sigma"], expected)


def test_params_are_not_those_in_uns_to_be_changed_by_accident(adata):
    dn.tl.disc(adata, "condition", groups=["stim", "ctrl"], **QUICK)
    dn.get.params(adata, key="disc")["groups"].append("other")
    assert adata.uns["disc"]["params"]["groups"].tolist() == ["stim", "ctrl"]


def test_a_key_without_a_call_is_refused_and_others_named(adata):
    adata.uns["rank_genes_groups"] = {"params": {}}
    with pytest.raises(KeyError, match=r"no call of dn.tl is recorded under key='rank_genes_groups'\."):
        dn.get.params(adata, key="rank_genes_groups")
    dn.tl.scorecard(adata, "condition")
    with pytest.raises(KeyError, match=r"there are 'scorecard'\. Did you mean 'scorecard'"):
        dn.get.params(adata, key="scorecards")


def test_a_copied_entry_is_no_result(adata):
    dn.tl.scorecard(adata, "condition")
    adata.uns["kept"] = adata.uns["scorecard"]
    assert dn.get.results(adata).index.tolist() == ["scorecard"]


def test_calls_that_were_given_sets_or_other_data_say_that_they_cannot_be_repeated():
    adata, other = (dn.datasets.newly_connected(n_obs=60, random_state=i) for i in range(2))
    dn.tl.disc(adata, "condition", n_components=2)
    dn.tl.enrich(adata, {"late": adata.var_names[150:]})
    dn.tl.project(other, adata)
    assert dn.get.results(adata)["replayable"].to_dict() == {"disc": True, "enrich": False}
    with pytest.warns(UserWarning, match=r"\['reference'\] only describes what was given, 'AnnData of 120 × 250'"):
        given = dn.get.params(other, key="projected")
    given["reference"] = adata
    before = other.obsm["X_projected"].copy()
    dn.tl.project(other, **given)
    assert (other.obsm["X_projected"] == before).all()
