"""The estimators keep the contract of scikit-learn, and find what the tools find."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import diffnb as dn
from diffnb.sklearn import DUFS, SPARDA, DiSC, InformedDistance

#: all features: choosing their number takes most of the time, and the contract is the same
ESTIMATORS = [DUFS(), SPARDA(n_features="all"), DiSC(), InformedDistance()]
EXACT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS)
def test_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def with_constant(adata):
    """Make one feature constant, which all methods exclude."""
    adata.X[:, 3] = 1.5
    return adata


def tool(call, *args, **options):
    with pytest.warns(UserWarning, match="1 constant feature left out"):
        call(*args, **options)


class TestEqualsTheTool:
    def test_dufs(self):
        adata = dn.datasets.two_moons(12)
        adata.X[:, 3] = 1.5
        tool(dn.tl.dufs, adata)
        found = DUFS().fit(adata.X)
        table = adata.varm["dufs"]
        np.testing.assert_array_equal(found.support_, adata.var["dufs"])
        np.testing.assert_allclose(found.gates_, table["gate"].fillna(0), **EXACT)
        np.testing.assert_allclose(found.mu_, table["mu"].fillna(-np.inf), **EXACT)
        np.testing.assert_allclose(found.loss_, adata.uns["dufs"]["training"]["loss"], **EXACT)

    @pytest.mark.parametrize("standardize", ["global", None])
    def test_sparda(self, adata, standardize):
        options = {"n_features": 6, "n_projections": 2, "n_permutations": 2, "standardize": standardize}
        tool(dn.tl.sparda, with_constant(adata), "condition", **options)
        found = SPARDA(**options).fit(adata.X, adata.obs["condition"])
        table = adata.varm["sparda"]
        assert found.get_feature_names_out().tolist() == table.columns.tolist() == ["stim_vs_ctrl_1", "stim_vs_ctrl_2"]
        np.testing.assert_allclose(found.components_, table.fillna(0).T, **EXACT)
        np.testing.assert_allclose(found.transform(adata.X), adata.obsm["X_sparda"], rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(found.pvalues_, adata.uns["sparda"]["pval"].ravel(), **EXACT)
        np.testing.assert_array_equal(
            found.get_support(), dn.get.sparda(adata)["weight"].groupby(level=0).any()[adata.var_names]
        )

    def test_sparda_of_several_classes_compares_each_with_the_rest(self, adata):
        adata.obs["third"] = np.tile(["a", "b", "c"], 40)
        dn.tl.sparda(adata, "third", n_features=4)
        found = SPARDA(n_features=4).fit(sp.csr_matrix(adata.X), adata.obs["third"])
        assert found.get_feature_names_out().tolist() == adata.varm["sparda"].columns.tolist()
        np.testing.assert_allclose(found.components_, adata.varm["sparda"].T, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("question", ["relations", "any difference"])
    def test_disc(self, adata, question):
        options = {"question": question, "n_components": 4, "n_permutations": 5, "n_bootstraps": 3}
        tool(dn.tl.disc, with_constant(adata), "condition", **options)
        dn.tl.meta_features(adata)
        found = DiSC(**options).fit(adata.X, adata.obs["condition"])
        np.testing.assert_allclose(found.sigma_, adata.uns["disc"]["sigma"], **EXACT)
        np.testing.assert_allclose(found.pvalues_[:, :4], adata.uns["disc"]["pvals"], **EXACT)
        np.testing.assert_allclose(found.transform(adata.X), adata.obsm["X_disc"], rtol=1e-12, atol=1e-11)
        assert found.get_feature_names_out().tolist() == dn.get.meta_features(adata).columns.tolist()
        for m, group in enumerate(["ctrl", "stim"]):
            table = adata.varm["disc"]
            np.testing.assert_array_equal(found.labels_[m], adata.var[f"disc_{group}"].cat.codes)
            np.testing.assert_allclose(found.scores_[m], table[f"{group}_score"].fillna(0), **EXACT)
            np.testing.assert_allclose(found.stability_[m], table[f"{group}_stability"].fillna(0), **EXACT)

    @pytest.mark.parametrize("options", [{}, {"informed": False}, {"n_clusters": 5, "cluster_weight": 0.5}])
    def test_informed_distance(self, options):
        adata = dn.datasets.two_types(n_obs=60)
        adata.X[:, 3] = 1.5
        tool(dn.tl.informed_distance, adata, **options)
        found = InformedDistance(**options).fit(adata.X)
        np.testing.assert_allclose(found.transform(adata.X), adata.obsm["X_informed"], rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(found.pairwise_distances(), adata.obsp["informed_pairwise"], rtol=1e-12, atol=1e-11)
        graph = found.kneighbors_graph() - adata.obsp["informed_distances"]
        assert abs(graph).max() < 1e-11
        if "informed_cluster" in adata.var:
            np.testing.assert_array_equal(found.labels_, adata.var["informed_cluster"].cat.codes)


class TestInPipelines:
    @pytest.fixture
    def labelled(self, adata):
        return adata.X, adata.obs["condition"].to_numpy().astype(str)

    @pytest.mark.parametrize(
        ("step", "grid"),
        [
            (SPARDA(), {"sparda__n_features": [3, "all"]}),
            (DiSC(n_clusters=1), {"disc__n_components": [2, 4]}),
            (DUFS(n_steps=5), {"dufs__n_features": [5, 10]}),
            (InformedDistance(n_clusters=4), {"informeddistance__eigenvalues": ["pca", "floor"]}),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_a_grid_of_options_is_searched(self, labelled, step, grid):
        x, y = labelled
        pipe = make_pipeline(StandardScaler(), step, LogisticRegression())
        search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(x, y)
        assert set(search.best_params_) == set(grid)
        assert 0 <= search.best_score_ <= 1

    @pytest.mark.parametrize(
        "estimator", [SPARDA(n_features=4), DiSC(n_clusters=1), DUFS(n_steps=5), InformedDistance()]
    )
    def test_results_have_names_and_survive_pickle_and_clone(self, labelled, estimator):
        x, y = labelled
        frame = pd.DataFrame(x, columns=[f"gene{i}" for i in range(x.shape[1])])
        fitted = clone(estimator).set_output(transform="pandas").fit(frame, y)
        out = fitted.transform(frame)
        assert out.columns.tolist() == fitted.get_feature_names_out().tolist()
        again = pickle.loads(pickle.dumps(fitted)).transform(frame)
        pd.testing.assert_frame_equal(again, out)
        np.testing.assert_array_equal(clone(fitted).fit(frame, y).transform(frame), out)

    def test_neighbours_of_new_observations_are_those_in_the_coordinates(self, labelled):
        x, y = labelled
        metric = InformedDistance(n_clusters=5, n_neighbors=6).fit(x[::2])
        graph = metric.kneighbors_graph(x[1::2])
        assert (graph.getnnz(axis=1) == 5).all()
        nearest = np.sort(metric.pairwise_distances(x[1::2], x[::2]), axis=1)[:, :5]
        np.testing.assert_allclose(np.sort(graph.toarray(), axis=1)[:, -5:], nearest, rtol=1e-9)
        assert make_pipeline(metric, KNeighborsClassifier()).fit(x, y).predict(x).shape == y.shape

    def test_dufs_takes_the_moons_for_a_classifier(self):
        adata = dn.datasets.two_moons(10)
        names = DUFS().fit(adata.to_df()).get_feature_names_out()
        assert names.tolist() == ["moon_x", "moon_y"]


class TestRefuses:
    @pytest.fixture
    def data(self, rng):
        return rng.normal(size=(20, 5)), np.repeat(["a", "b"], 10)

    @pytest.mark.parametrize("estimator", [SPARDA(), DiSC()])
    def test_classes_that_cannot_be_compared(self, data, estimator):
        x, _ = data
        with pytest.raises(ValueError, match=r"y holds 1 class, .*at least two"):
            estimator.fit(x, np.repeat("a", 20))
        with pytest.raises(ValueError, match=r"class 'b' has 2 observations; at least 3"):
            estimator.fit(x, np.where(np.arange(20) < 18, "a", "b"))
        with pytest.raises(ValueError, match="Unknown label type"):
            estimator.fit(x, np.linspace(0, 1, 20))

    @pytest.mark.parametrize(
        ("estimator", "message"),
        [
            (SPARDA(standardize="within"), r"standardize='within' needs the class.*dn\.tl\.sparda"),
            (SPARDA(solver="relaxed"), "solver='relaxed' is not an option.*'relax'"),
            (SPARDA(n_features=6), "n_features=6 must be between 1 and 5"),
            (DiSC(question="relation"), "question='relation' is not an option"),
            (DiSC(min_obs=9), r"1 of 5 features vary .*at least 2 are needed"),
            (DUFS(gates="open"), "gates='open' is not an option"),
            (InformedDistance(n_clusters="gap"), "n_clusters='gap' is not an option"),
            (InformedDistance(n_clusters=9), "n_clusters=9 must be between 1 and 5"),
            (DUFS(random_state=-1), "random_state=-1 must be between 0 and"),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_options_with_the_remedy(self, data, estimator, message):
        x, y = data
        rare = np.where(np.arange(5) < 4, abs(x) * (np.arange(20)[:, None] % 10 < 5), x)
        with pytest.raises(ValueError, match=message):
            estimator.fit(rare, y)

    def test_features_of_which_too_few_vary(self, data):
        x, _ = data
        x[:, 1:] = 1
        with pytest.raises(ValueError, match=r"1 of 5 features are not constant.*at least 2"):
            DUFS().fit(x)


def test_a_random_state_may_be_a_generator_of_numpy(rng):
    x = rng.normal(size=(30, 6))
    drawn = [
        DUFS(gates="per_feature", n_steps=3, random_state=np.random.RandomState(seed)).fit(x).mu_ for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
