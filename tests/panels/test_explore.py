"""The guided path: what is in the data, what to mind, what to ask, and an answer by one click."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.get._annotations import values_of_feature
from diffnb.get._data_remarks import data_remarks
from diffnb.panels._marks import packed
from diffnb.panels._observations import MAX_NAMES_IN_CODE
from diffnb.panels._panels import PANEL_TITLES, QUESTIONS


def texts(remarks):
    return " | ".join(remark.text for remark in remarks)


class TestPath:
    def test_columns_are_proposed_and_the_first_question_is_the_scorecard(self, adata):
        panel = dn.panels.explore(adata)
        assert panel.columns_chosen() == {"groupby": "condition", "sample_key": "subject", "covariates": None}
        assert next(iter(QUESTIONS)) == "scorecard"
        assert panel.questions.children[1].description.startswith("1. How does each feature differ")
        assert panel.tab_names == ["Observations", "Conditions", "Contents", "Code"]
        assert "ctrl: 60 observations of 3 samples" in texts(panel.banner.lines)

    @pytest.mark.slow
    def test_a_click_on_a_question_runs_it_with_these_columns(self, adata):
        panel = dn.panels.explore(adata, sample_key="donor")
        panel._buttons["scorecard"].click()
        (opened,) = panel.below.children
        assert opened.wait(60)
        assert opened.status.state == "done", opened.status.message
        assert dn.get.params(adata, key="scorecard")["sample_key"] == "donor"
        panel.set(covariates=["age"])
        assert 'dn.panels.scorecard(adata, "condition", sample_key="donor", covariates=["age"])' in panel.code
        assert opened.features.table.page["all"] == 40

    @pytest.mark.slow
    def test_a_result_that_is_there_is_shown_and_not_computed_again(self, adata):
        dn.tl.scorecard(adata, "condition", sample_key="subject")
        opened = dn.panels.explore(adata).ask("scorecard")
        assert opened.status.state == "ready"
        assert opened.comparison.value == ("stim", "ctrl")

    @pytest.mark.slow
    def test_every_method_can_be_asked(self, adata):
        panel = dn.panels.explore(adata)
        for name in QUESTIONS:
            assert panel.open_panel(name) is not None, panel.status.message
            assert f"dn.panels.{name}(adata" in panel.code
        assert set(QUESTIONS) == set(PANEL_TITLES) == set(dn.panels.__all__) - {"explore"}

    def test_without_conditions_a_selection_can_become_them(self, rng):
        names = [f"cell{i}" for i in range(30)]
        data = ad.AnnData(rng.normal(size=(30, 5)), obs=pd.DataFrame(index=names))
        data.obsm["X_umap"] = rng.normal(size=(30, 2))
        panel = dn.panels.explore(data)
        assert panel._buttons["scorecard"].disabled
        assert "Select observations with the lasso" in texts(panel.banner.lines)
        assert panel.open_panel("disc") is None
        assert "no column that could hold conditions" in panel.status.message
        panel.observations.map.selection = packed(np.arange(30) < 12)
        panel.observations.save()
        assert data.obs["picked"].value_counts().to_dict() == {"other": 18, "selected": 12}
        assert panel.controls["groupby"].value == "picked"
        assert not panel._buttons["scorecard"].disabled
        other = ad.AnnData(data.X, obs=pd.DataFrame(index=names))
        (line,) = [block for block in panel.code.split("\n\n") if "picked" in block]
        exec(line, {"adata": other})
        assert list(other.obs["picked"]) == list(data.obs["picked"])

    def test_a_column_that_is_not_there_is_refused(self, adata):
        with pytest.raises(ValueError, match="Did you mean 'condition'"):
            dn.panels.explore(adata, "conditions")


class TestObservations:
    @pytest.fixture
    def panel(self, adata, rng):
        adata.obsm["X_pca"] = rng.normal(size=(120, 5))
        adata.obsm["X_umap"] = rng.normal(size=(120, 2))
        return dn.panels.explore(adata)

    def test_the_usual_embedding_is_shown_coloured_by_condition(self, panel, adata):
        view = panel.observations
        assert view.basis.value == "X_umap"
        assert view.map.noun == "observations"
        assert [item["label"] for item in view.map.legend["items"]] == ["ctrl", "stim"]
        points = np.frombuffer(view.map.points, dtype=np.float32).reshape(-1, 2)
        np.testing.assert_allclose(points, adata.obsm["X_umap"], rtol=1e-6)
        view.basis.put("X_pca")
        assert view.map.axes == ["pca 1", "pca 2"]

    def test_a_feature_colours_the_map_until_a_column_does(self, panel):
        view = panel.observations
        view.feature.value = "gene3"
        assert view.map.legend["title"] == "gene3"
        view.color.put("age")
        assert view.map.legend["title"] == "age"
        assert view.feature.value == ""
        view.feature.value = "nonsense"
        assert view.message.value == "There is no feature nonsense."

    def test_nothing_is_saved_without_a_selection(self, panel, adata):
        panel.observations.save()
        assert "picked" not in adata.obs
        assert "lasso" in panel.observations.message.value

    def test_many_names_are_not_written_into_the_code(self, panel, monkeypatch):
        monkeypatch.setattr("diffnb.panels._observations.MAX_NAMES_IN_CODE", 10)
        panel.observations.map.selection = packed(np.arange(120) < 50)
        panel.observations.save()
        assert "50 observations, too many to list" in panel.code
        assert MAX_NAMES_IN_CODE >= 100

    @pytest.mark.slow
    def test_a_quick_pca_is_offered_where_there_is_no_embedding(self, adata):
        panel = dn.panels.explore(adata)
        assert panel.observations.basis.value is None
        panel.pca_button.click()
        assert panel.wait(60)
        assert panel.status.state == "done", panel.status.details
        assert adata.obsm["X_pca"].shape == (120, 10)
        assert panel.observations.basis.value == "X_pca"
        assert "sc.pp.pca(adata, n_comps=10)" in panel.code

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
    def test_values_of_a_feature_are_read_from_any_matrix(self, kind, rng):
        x = rng.poisson(1, size=(6, 4)).astype(float)
        np.testing.assert_array_equal(values_of_feature(ad.AnnData(kind(x)), "2"), x[:, 2])


class TestRemarks:
    def test_one_donor_for_each_condition(self, adata):
        adata.obs["donor"] = adata.obs["condition"].astype(str)
        del adata.obs["subject"]
        assert "Each condition is one 'donor'" in texts(data_remarks(adata, "condition", None))

    def test_few_samples(self, adata):
        adata.obs["donor"] = np.repeat(["a", "b", "c", "d"], 30)
        assert "A condition has 2 samples in 'donor'" in texts(data_remarks(adata, "condition", "donor"))

    def test_missing_labels_and_few_observations(self, adata):
        adata.obs["condition"] = adata.obs["condition"].where(np.arange(120) % 3 > 0)
        found = texts(data_remarks(adata, "condition", None))
        assert "40 observations have no value in 'condition'" in found
        assert "Fewer than 50 observations" in found

    def test_raw_counts_depth_and_rare_features(self, rng):
        depth = np.repeat([1.0, 3.0], 60)[:, None]
        x = rng.poisson(depth, size=(120, 40)).astype(np.float32)
        x[1:, :4] = 0
        obs = pd.DataFrame({"condition": np.repeat(["a", "b"], 60)}, index=[f"c{i}" for i in range(120)])
        found = texts(data_remarks(ad.AnnData(sp.csr_matrix(x), obs=obs), "condition", None))
        assert "adata.X holds raw counts" in found
        assert "Conditions differ in depth by a factor of" in found
        assert "4 of 40 features are not zero in fewer than 2 % of the observations" in found


def test_a_column_that_became_a_measurement_is_explained(adata):
    panel = dn.panels.explore(adata)
    adata.obs["condition"] = np.linspace(0.1, 1, adata.n_obs)
    panel._list_levels()
    assert "bin it into categories first" in panel.levels.value
