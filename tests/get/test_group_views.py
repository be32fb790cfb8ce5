"""One group of features seen from its observations: scores, correlations, what marks a selection."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn


@pytest.fixture(scope="module")
def toy():
    adata = dn.datasets.newly_connected(n_obs=120)
    dn.tl.disc(adata, "condition", n_clusters=3)
    return adata


@pytest.fixture
def group(toy):
    return next(iter(dn.get.gene_sets(toy, group="A")))


def members(toy, group):
    return dn.get.group_features(toy, group=group).index


def test_scores_are_means_of_standardised_features(toy, group):
    x = np.asarray(toy[:, members(toy, group)].X, dtype=float)
    expected = ((x - x.mean(axis=0)) / x.std(axis=0)).mean(axis=1)
    found = dn.get.group_scores(toy, group=group)
    assert found.columns.tolist() == [group]
    np.testing.assert_allclose(found[group], expected, atol=1e-10)


def test_there_is_a_score_for_every_group_and_for_any_features(toy):
    assert dn.get.group_scores(toy).columns.tolist() == list(dn.get.gene_sets(toy))
    name = toy.var_names[3]
    column = np.asarray(toy[:, name].X, dtype=float).ravel()
    found = dn.get.group_scores(toy, members=[name])["score"]
    np.testing.assert_allclose(found, (column - column.mean()) / column.std(), atol=1e-10)


def test_scores_are_those_of_a_projection_on_the_same_data(toy, group):
    copy = toy.copy()
    dn.tl.project(copy, copy, key="disc")
    (projected,) = [copy.obsm[name] for name in copy.obsm if isinstance(copy.obsm[name], pd.DataFrame)]
    np.testing.assert_allclose(dn.get.group_scores(toy, group=group)[group], projected[group], atol=1e-8)


def test_sparse_data_have_the_same_scores(toy, group):
    copy = toy.copy()
    copy.X = sp.csr_matrix(copy.X)
    for read in (dn.get.group_scores, dn.get.group_features):
        pd.testing.assert_frame_equal(read(copy, group=group), read(toy, group=group))


def test_correlations_are_those_of_each_condition(toy, group):
    names = members(toy, group)
    table = dn.get.group_correlations(toy, group=group)
    assert table.columns.tolist() == list(names)
    for condition in ("A", "B"):
        x = np.asarray(toy[toy.obs["condition"] == condition, names].X, dtype=float)
        np.testing.assert_allclose(table.loc[condition], np.corrcoef(x.T), atol=1e-8)
    assert table.attrs["n_obs"] == {"A": 120, "B": 120}


def test_correlations_of_some_observations_are_of_these_alone(toy, group):
    chosen = np.arange(toy.n_obs) % 3 == 0
    table = dn.get.group_correlations(toy, group=group, observations=chosen, max_features=5)
    x = np.asarray(toy[chosen & (toy.obs["condition"] == "B"), table.columns].X, dtype=float)
    np.testing.assert_allclose(table.loc["B"], np.corrcoef(x.T), atol=1e-8)
    by_name = dn.get.group_correlations(toy, group=group, observations=toy.obs_names[chosen], max_features=5)
    pd.testing.assert_frame_equal(by_name, table)


def test_a_condition_with_too_few_of_the_observations_is_left_out(toy, group):
    chosen = np.zeros(toy.n_obs, dtype=bool)
    chosen[:3] = True
    table = dn.get.group_correlations(toy, group=group, observations=chosen)
    assert len(table) == 0
    assert table.attrs["n_obs"] == {"A": 3, "B": 0}


def test_a_feature_that_does_not_vary_among_the_observations_has_no_correlation(toy, group):
    copy = toy.copy()
    first = members(toy, group)[0]
    chosen = np.arange(copy.n_obs) < 50
    copy.X[np.ix_(chosen, copy.var_names == first)] = 0.0
    with pytest.warns(dn.StaleResultsWarning):
        table = dn.get.group_correlations(copy, group=group, observations=chosen)
    assert table.loc["A"][first].isna().all()
    assert table.loc["A"].drop(columns=first).drop(index=first).notna().all(axis=None)


def test_features_are_described_by_how_they_mark_a_selection(toy, group):
    chosen = toy.obs["condition"] == "A"
    table = dn.get.group_features(toy, group=group, observations=chosen)
    x = pd.DataFrame(np.asarray(toy.X, dtype=float), columns=toy.var_names)[table.index]
    a, rest = x[chosen.to_numpy()], x[~chosen.to_numpy()]
    np.testing.assert_allclose(table["mean"], a.mean(), atol=1e-10)
    np.testing.assert_allclose(table["mean_rest"], rest.mean(), atol=1e-10)
    np.testing.assert_allclose(table["difference"], (a.mean() - rest.mean()) / x.std(ddof=0), atol=1e-8)
    everything = dn.get.group_features(toy, group=group, observations=np.ones(toy.n_obs, dtype=bool))
    assert everything["mean_rest"].isna().all()


@pytest.mark.parametrize("read", [dn.get.group_correlations, dn.get.group_features])
def test_a_wrong_group_or_selection_is_refused(toy, group, read):
    with pytest.raises(ValueError, match=r"group='Z9' is not a feature group; there are"):
        read(toy, group="Z9")
    with pytest.raises(ValueError, match=r"observations has shape \(3,\), but adata has 240 observations"):
        read(toy, group=group, observations=[True, False, True])
    with pytest.raises(ValueError, match=r"'nobody' are not in adata\.obs_names"):
        read(toy, group=group, observations=["nobody"])


def test_a_feature_that_is_not_there_is_refused(toy):
    with pytest.raises(ValueError, match=r"members='feature_9999' are not in adata\.var_names"):
        dn.get.group_scores(toy, members=["feature_9999"])


def test_the_first_group_is_the_default(toy):
    first = next(iter(dn.get.gene_sets(toy)))
    pd.testing.assert_frame_equal(dn.get.group_features(toy), dn.get.group_features(toy, group=first))


def test_without_groups_there_is_nothing_to_read(toy):
    copy = toy.copy()
    for name in ("disc_A", "disc_B"):
        copy.var[name] = pd.Categorical(["background"] * copy.n_vars)
    with pytest.raises(
        ValueError, match=r"no feature group was named under key='disc'; dn\.get\.disc_evidence says why"
    ):
        dn.get.group_correlations(copy)
    assert dn.get.group_scores(copy).shape == (copy.n_obs, 0)
