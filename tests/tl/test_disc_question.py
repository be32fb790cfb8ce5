"""What `tl.disc` is asked, which features can answer, and the evidence that a group needs."""

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn

FIXED = {"n_neighbors": 6, "n_eigenvectors": 4, "n_components": 3, "n_clusters": 3, "n_permutations": 5}


def annotated(x, *, n_donors=6):
    """Two conditions of the same size, donors nested in them."""
    n_obs, n_features = x.shape
    obs = pd.DataFrame(
        {
            "condition": np.repeat(["ctrl", "stim"], n_obs // 2),
            "donor": np.repeat([f"d{i}" for i in range(n_donors)], n_obs // n_donors),
        },
        index=[f"cell{i}" for i in range(n_obs)],
    )
    return anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(n_features)]))


def answers(adata, **options):
    copy = dn.tl.disc(adata, "condition", copy=True, **{**FIXED, **options})
    return dn.get.disc(copy), dn.get.disc_significance(copy)


def assert_equal(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        pd.testing.assert_frame_equal(mine, other, check_exact=True)


def group_of(adata, group):
    return adata.var[f"disc_{group}"].astype(str).to_numpy()


class TestQuestion:
    @pytest.fixture
    def moved(self, two_conditions):
        """Ten features connected in "stim" only, ten others at a higher level there."""
        x = np.concatenate(two_conditions)
        x[60:, 30:40] += 3
        return annotated(x)

    def test_relations_are_the_default(self, moved):
        assert_equal(answers(moved), answers(moved, question="relations"))

    def test_relations_standardize_within_conditions_and_test_connectivity(self, moved):
        explicit = {"standardize": "within", "null": "connectivity"}
        assert_equal(answers(moved, question="relations"), answers(moved, question="any difference", **explicit))

    def test_any_difference_standardizes_nothing_and_permutes_labels(self, moved):
        explicit = {"standardize": None, "null": "labels"}
        assert_equal(answers(moved, question="any difference"), answers(moved, question="relations", **explicit))

    def test_an_explicit_standardization_wins_and_sets_the_null(self, moved):
        explicit = {"standardize": "global", "null": "labels"}
        assert_equal(answers(moved, standardize="global"), answers(moved, question="any difference", **explicit))

    def test_an_explicit_null_wins(self, moved):
        tested, other = (answers(moved, null=null)[1] for null in ("labels", "connectivity"))
        np.testing.assert_array_equal(tested["sigma"], other["sigma"])
        assert (tested["null_median"] != other["null_median"]).all()

    def test_a_change_of_level_answers_any_difference_only(self, moved):
        dn.tl.disc(moved, "condition")
        named = group_of(moved, "stim") != "background"
        assert named[10:20].all()
        assert not named[30:40].any()
        dn.tl.disc(moved, "condition", question="any difference")
        named = group_of(moved, "stim") != "background"
        assert named[10:20].all()
        assert named[30:40].all()

    def test_the_question_is_kept_with_the_parameters(self, moved):
        dn.tl.disc(moved, "condition", question="any difference", **FIXED)
        params = dn.get.params(moved, key="disc")
        assert params["question"] == "any difference"
        assert params["standardize"] == params["null"] == "auto"


class TestRareFeatures:
    @pytest.fixture
    def rare(self, adata):
        """One feature seen in five of the 60 observations of "ctrl", another in six."""
        adata.X[:60, 5] = np.where(np.arange(60) < 5, 1.0, 0.0)
        adata.X[:60, 6] = np.where(np.arange(60) < 6, 1.0, 0.0)
        return adata

    def test_are_excluded_counted_and_warned_of(self, rare):
        with pytest.warns(UserWarning, match=r"1 of 40 features are seen in too few observations.*min_obs='auto'"):
            dn.tl.disc(rare, "condition", **FIXED)
        assert rare.uns["disc"]["n_rare"] == 1
        for group in ("ctrl", "stim"):
            found = dn.get.disc(rare, group=group)
            assert found.index[found["score"].isna()].tolist() == ["gene5"]
            assert found["feature_group"].isna().tolist() == found["score"].isna().tolist()

    def test_give_the_results_of_data_without_them(self, rare):
        with pytest.warns(UserWarning, match="1 of 40 features"):
            table, _ = answers(rare)
        alone, _ = answers(rare[:, [i for i in range(40) if i != 5]].copy())
        pd.testing.assert_frame_equal(table[table.index != "gene5"], alone, check_exact=False, atol=1e-10)

    def test_are_counted_by_a_number_that_is_given(self, rare):
        with pytest.warns(UserWarning, match=r"2 of 40 features.*min_obs=7"):
            dn.tl.disc(rare, "condition", min_obs=7, **FIXED)
        assert rare.uns["disc"]["n_rare"] == 2

    def test_at_the_upper_end_of_their_range_are_rare_too(self, adata):
        adata.X[:60, 5] = np.where(np.arange(60) < 5, -1.0, 7.0)
        with pytest.warns(UserWarning, match="1 of 40 features"):
            dn.tl.disc(adata, "condition", **FIXED)

    def test_are_used_with_a_minimum_of_zero(self, rare):
        dn.tl.disc(rare, "condition", min_obs=0, **FIXED)
        assert rare.uns["disc"]["n_rare"] == 0
        assert dn.get.disc(rare)["score"].notna().all()

    def test_only_are_an_error_that_changes_nothing(self, adata):
        with pytest.raises(ValueError, match=r"40 of 40 features.*nothing is left to compare. Lower min_obs=61"):
            dn.tl.disc(adata, "condition", min_obs=61)
        assert "disc" not in adata.uns


class TestEvidence:
    def test_sigma_far_below_the_permutations_is_explained(self, rng):
        """Features seen in two observations: permuted labels isolate them at random."""
        x = np.zeros((400, 150))
        x[:, :30] = rng.poisson(3, size=(400, 30)) + rng.poisson(3, size=(400, 1))
        for feature in range(30, 150):
            x[rng.choice(400, 2, replace=False), feature] = 1
        with pytest.warns(UserWarning, match="far below all 3 permutations.*raise min_obs") as caught:
            dn.tl.disc(annotated(x, n_donors=4), "condition", min_obs=0)
        assert any("σ of condition 'ctrl'" in str(w.message) for w in caught)

    def test_a_group_of_more_than_a_third_is_a_global_factor(self, rng):
        x = rng.normal(size=(240, 120))
        x[120:, :50] += rng.normal(size=(120, 1))
        adata = annotated(x)
        with pytest.warns(UserWarning, match="group stim1 holds 42% of all features: a global factor"):
            dn.tl.disc(adata, "condition")
        assert dn.get.disc_groups(adata)["global_factor"].tolist() == [True]

    def test_a_group_of_less_than_a_third_is_none(self, rng):
        x = rng.normal(size=(240, 120))
        x[120:, :30] += rng.normal(size=(120, 1))
        adata = annotated(x)
        dn.tl.disc(adata, "condition")
        assert dn.get.disc_groups(adata)["global_factor"].tolist() == [False]

    @pytest.fixture
    def strong(self, rng):
        """Twelve of 60 features are connected in "stim" only."""
        x = rng.normal(size=(120, 60))
        x[:, :10] += 1.5 * rng.normal(size=(120, 1))
        x[60:, 10:22] += 2 * rng.normal(size=(60, 1))
        return x

    def test_two_donors_per_condition_cannot_name_a_group(self, strong):
        adata = annotated(strong, n_donors=4)
        with pytest.warns(UserWarning, match="permuted in 2 other ways: no group can be named"):
            dn.tl.disc(adata, "condition", sample_key="donor")
        assert (group_of(adata, "stim") == "background").all()
        assert adata.uns["disc"]["naming"]["accepted"].tolist() == [False, False]

    def test_three_donors_per_condition_can_name_a_strong_group(self, strong):
        adata = annotated(strong)
        dn.tl.disc(adata, "condition", sample_key="donor")
        assert np.flatnonzero(group_of(adata, "stim") == "stim1").tolist() == list(range(10, 22))
        assert (group_of(adata, "ctrl") == "background").all()
        assert len(adata.uns["disc"]["naming"]["sigma_null"]) == 9

    def test_a_number_of_groups_needs_none(self, strong):
        adata = annotated(strong, n_donors=4)
        dn.tl.disc(adata, "condition", sample_key="donor", n_clusters=2)
        assert "naming" not in adata.uns["disc"]
        assert not dn.get.disc_groups(adata)["tested"].any()

    def test_does_not_replace_the_p_values_of_the_vectors(self, adata):
        dn.tl.disc(adata, "condition")
        untested = dn.get.disc_significance(adata)
        assert untested["pval"].isna().all()
        dn.tl.disc(adata, "condition", n_permutations=19)
        tested = dn.get.disc_significance(adata)
        assert tested["pval"].min() == pytest.approx(0.05)
        np.testing.assert_array_equal(tested["sigma"], untested["sigma"])
