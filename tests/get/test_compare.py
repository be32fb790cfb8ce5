import numpy as np
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def compared():
    import scanpy as sc

    adata = dn.datasets.nuisance_factor(n_obs=80, n_features=40)
    adata.X = abs(adata.X)
    dn.tl.disc(adata, "condition", n_components=3, n_clusters=2)
    dn.tl.sparda(adata, "condition", n_features=6)
    dn.tl.scorecard(adata, "condition")
    sc.tl.rank_genes_groups(adata, "condition", method="wilcoxon", use_raw=False)
    return adata


def test_ranks_are_those_of_each_method(compared):
    table = dn.get.compare(compared, group="B", n_top=5)
    score = dn.get.disc(compared, group="B")["score"]
    assert table["DiSC"].sort_values().index.tolist() == score.sort_values(ascending=False).index.tolist()
    weights = dn.get.sparda(compared).query("selected")
    assert table["SPARDA"].dropna().sort_values().index.tolist() == weights.index.tolist()
    names = [str(n[0]) for n in compared.uns["rank_genes_groups"]["names"][["B"]]]
    sizes = np.abs([s[0] for s in compared.uns["rank_genes_groups"]["scores"][["B"]]])
    best = [names[i] for i in np.argsort(-sizes, kind="stable")[:5]]
    assert set(table["rank_genes_groups"].nsmallest(5).index) == set(best)
    card = dn.get.scorecard(compared).filter(like="pval_adj").min(axis=1)
    assert card[table["scorecard"].idxmin()] == card.min()


def test_found_by_names_the_methods_with_the_feature_among_the_first(compared):
    table = dn.get.compare(compared, n_top=5)
    assert table["found_by"].str.contains("DiSC").sum() == 5
    assert (table["found_by"] == "").sum() == (table["n_methods"] == 0).sum()
    lists = table["found_by"].map(lambda names: len(names.split(", ")) if names else 0)
    assert lists.tolist() == table["n_methods"].tolist()


def test_overlap_counts_what_two_methods_share(compared):
    table = dn.get.compare(compared, n_top=7)
    overlap = dn.get.compare_overlap(compared, n_top=7)
    both = (table["DiSC"] <= 7) & (table["scorecard"] <= 7)
    assert overlap.loc["DiSC", "scorecard"] == overlap.loc["scorecard", "DiSC"] == both.sum()
    assert overlap.loc["SPARDA", "SPARDA"] == 6, "features of weight 0 have no rank"


def test_of_several_conditions_the_best_rank_counts():
    adata = dn.datasets.three_conditions(n_obs=40)
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    table = dn.get.compare(adata)
    best = dn.get.disc(adata)["score"].groupby(level=0).max().loc[adata.var_names]
    assert table["DiSC"].idxmin() == best.idxmax()


def test_excluded_features_have_no_rank(adata):
    dn.tl.disc(adata, "condition", mask_var="chosen", n_components=2, n_clusters=2)
    dn.tl.scorecard(adata, "condition", mask_var="chosen")
    table = dn.get.compare(adata, n_top=10)
    assert table.loc[~adata.var["chosen"], ["DiSC", "scorecard"]].isna().all(axis=None)
    assert table["DiSC"].max() == 30


def test_without_results_the_error_names_the_calls_to_make(adata):
    with pytest.raises(KeyError, match="run two or more of these methods first"):
        dn.get.compare(adata)


def test_keys_may_have_a_prefix(adata):
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2, key_added="my_disc")
    assert dn.get.compare(adata, prefix="my_").columns[0] == "DiSC"
