import logging
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.sparda.relaxation import relax

pytestmark = pytest.mark.slow

READERS = (dn.get.sparda, dn.get.sparda_summary, dn.get.sparda_path, dn.get.sparda_projection)


def tables(adata, **options):
    copy = dn.tl.sparda(adata, "condition", copy=True, **{"n_features": 5, **options})
    return [read(copy) for read in READERS]


def assert_same(ours, theirs, atol=1e-8):
    for mine, other in zip(ours, theirs, strict=True):
        if "weight" in mine:  # features without weight stand in no particular order
            mine, other = (t.sort_values(["projection", "rank"])[t["selected"]] for t in (mine, other))
        pd.testing.assert_frame_equal(mine, other, check_exact=False, atol=atol, rtol=0)


def snapshot(adata):
    return (
        sorted(adata.uns),
        sorted(adata.varm),
        sorted(adata.obsm),
        list(adata.var.columns),
        list(adata.obs.columns),
        np.array(adata.X.toarray() if sp.issparse(adata.X) else adata.X),
    )


@pytest.fixture
def sparse_values(adata):
    adata.X = np.where(np.abs(adata.X) > 0.7, adata.X, 0.0)
    return adata


class TestResult:
    def test_returns_none_and_adds_three_things(self, adata):
        assert dn.tl.sparda(adata, "condition", n_projections=2) is None
        assert adata.varm["sparda"].columns.tolist() == ["stim_vs_ctrl_1", "stim_vs_ctrl_2"]
        assert adata.obsm["X_sparda"].shape == (120, 2)
        assert adata.uns["sparda"]["objective"].shape == (1, 2)

    def test_a_copy_leaves_the_original_alone(self, adata):
        before = snapshot(adata)
        copy = dn.tl.pda(adata, "condition", copy=True)
        assert snapshot(adata)[:5] == before[:5]
        assert "pda" in copy.uns

    def test_finds_the_features_that_are_correlated_in_one_condition(self, adata):
        dn.tl.sparda(adata, "condition", n_features=10, n_permutations=19)
        assert adata.varm["sparda"]["stim_vs_ctrl_1"].iloc[10:20].ne(0).sum() >= 9
        assert dn.get.sparda_summary(adata)["pval"].tolist() == [0.05]

    def test_the_largest_weight_is_positive(self, adata):
        for n_features in (3, "auto", "all"):
            weights = tables(adata, n_features=n_features)[0]["weight"]
            assert weights.iloc[0] > 0

    def test_pda_is_sparda_with_all_features(self, adata):
        dn.tl.pda(adata, "condition", key_added="all")
        dn.tl.sparda(adata, "condition", n_features="all")
        pd.testing.assert_frame_equal(dn.get.sparda(adata, key="all"), dn.get.sparda(adata))

    def test_the_choice_is_logged(self, adata, caplog):
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.sparda(adata, "condition")
        chosen = adata.uns["sparda"]["n_features"].item()
        assert f"stim vs ctrl: n_features=[{chosen}]" in caplog.text

    def test_the_same_seed_gives_the_same_bits(self, adata):
        first, second = (tables(adata, n_features="auto", n_permutations=5, random_state=3) for _ in range(2))
        for one, two in zip(first, second, strict=True):
            pd.testing.assert_frame_equal(one, two, check_exact=True)

    def test_results_under_two_keys_are_kept_separately(self, adata):
        dn.tl.sparda(adata, "condition", n_features=3)
        dn.tl.sparda(adata, "condition", n_features=6, key_added="other")
        assert adata.uns["sparda"]["n_features"].item() == 3
        assert adata.uns["other"]["n_features"].item() == 6
        assert "X_other" in adata.obsm

    @pytest.mark.parametrize("divergence", ["wasserstein1", "kolmogorov"])
    def test_other_divergences_find_a_shift(self, adata, divergence):
        adata.X[60:, 25] += 3.0
        dn.tl.sparda(adata, "condition", n_features=1, divergence=divergence)
        assert dn.get.sparda(adata).index[0] == "gene25"
        assert adata.uns["sparda"]["params"]["divergence"] == divergence

    def test_the_relaxation_is_at_hand(self, adata):
        dn.tl.pda(adata[:, 10:20], "condition", solver="relax")
        relaxed = dn.tl.pda(adata[:, 10:20].copy(), "condition", solver="relax", copy=True)
        plain = dn.tl.pda(adata[:, 10:20].copy(), "condition", copy=True)
        heights = [dn.get.sparda_summary(a, key="pda")["objective"].item() for a in (relaxed, plain)]
        assert heights[0] >= heights[1] * (1 - 1e-9)


class TestComparisons:
    @pytest.fixture
    def three(self):
        return dn.datasets.three_conditions(n_obs=30)[:, 90:120].copy()

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [("A", "rest"), ("B", "rest"), ("C", "rest")]),
            ({"group": "B"}, [("B", "rest")]),
            ({"reference": "B"}, [("A", "B"), ("C", "B")]),
            ({"group": "C", "reference": "A"}, [("C", "A")]),
        ],
    )
    def test_who_is_compared_with_whom(self, three, options, expected):
        dn.tl.sparda(three, "condition", n_features=3, **options)
        found = dn.get.sparda_summary(three)[["group", "reference"]]
        assert [tuple(row) for row in found.to_numpy()] == expected
        assert three.varm["sparda"].columns.tolist() == [f"{g}_vs_{r}_1" for g, r in expected]
        assert three.obsm["X_sparda"].shape == (90, len(expected))

    def test_of_two_the_later_is_compared_with_the_earlier(self, adata):
        later = tables(adata)
        assert later[1][["group", "reference"]].to_numpy().tolist() == [["stim", "ctrl"]]
        assert_same(tables(adata, group="stim"), later)
        turned = tables(adata, group="ctrl")
        assert turned[1]["objective"].item() == pytest.approx(later[1]["objective"].item())

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_the_rest_is_all_others_together(self, three, kind):
        three.X = kind(three.X)
        three.obs["c"] = np.where(three.obs["condition"] == "B", "B", "other")
        dn.tl.sparda(three, "condition", group="B", n_features=3)
        dn.tl.sparda(three, "c", group="B", n_features=3, key_added="two")
        assert three.uns["sparda"]["objective"].item() == pytest.approx(three.uns["two"]["objective"].item())
        np.testing.assert_allclose(three.obsm["X_sparda"], three.obsm["X_two"], atol=1e-9)


class TestInput:
    @pytest.mark.parametrize("n_features", [4, "auto"])
    def test_every_kind_of_array_gives_the_same(self, sparse_values, array_type, n_features):
        other = anndata.AnnData(array_type(sparse_values.X), obs=sparse_values.obs, var=sparse_values.var)
        options = {"n_features": n_features, "n_permutations": 3}
        assert_same(tables(other, **options), tables(sparse_values, **options))

    @pytest.mark.parametrize("standardize", ["global", "within", None])
    def test_sparse_equals_dense_under_every_standardising(self, sparse_values, standardize):
        sparse = anndata.AnnData(sp.csr_matrix(sparse_values.X), obs=sparse_values.obs, var=sparse_values.var)
        options = {"standardize": standardize, "n_permutations": 3, "n_projections": 2, "certificate": True}
        assert_same(tables(sparse, **options), tables(sparse_values, **options))

    @pytest.mark.parametrize("standardize", ["global", "within"])
    def test_large_sparse_data_finds_the_same_without_being_made_dense(self, sparse_values, standardize, set_memory):
        expected = tables(sparse_values, standardize=standardize)
        set_memory(1)
        sparse = anndata.AnnData(sp.csr_matrix(sparse_values.X), obs=sparse_values.obs, var=sparse_values.var)
        found = tables(sparse, standardize=standardize)
        assert set(found[0].index[:5]) == set(expected[0].index[:5])
        np.testing.assert_allclose(found[1]["objective"], expected[1]["objective"], rtol=1e-4)

    def test_integers_and_single_precision(self, adata):
        adata.X = np.round(3 * adata.X)
        whole = anndata.AnnData(adata.X.astype(np.int32), obs=adata.obs, var=adata.var)
        single = anndata.AnnData(adata.X.astype(np.float32), obs=adata.obs, var=adata.var)
        assert_same(tables(whole), tables(adata), atol=1e-10)
        assert_same(tables(single), tables(adata), atol=1e-4)

    def test_a_view_gives_the_same_and_becomes_a_copy(self, adata):
        both = anndata.concat([adata, adata], index_unique="-")
        view, direct = both[:120, :], both[:120].copy()
        for data in (view, direct):
            dn.tl.sparda(data, "condition", n_features=4)
        pd.testing.assert_frame_equal(dn.get.sparda(view), dn.get.sparda(direct))
        assert "sparda" not in both.uns

    def test_read_only_arrays(self, adata):
        expected = tables(adata)
        adata.X.setflags(write=False)
        assert_same(tables(adata), expected)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
    def test_backed_files(self, sparse_values, tmp_path, kind):
        expected = tables(sparse_values, group="stim", reference="ctrl")
        stored = anndata.AnnData(kind(sparse_values.X), obs=sparse_values.obs, var=sparse_values.var)
        stored.write_h5ad(tmp_path / "backed.h5ad")
        backed = anndata.read_h5ad(tmp_path / "backed.h5ad", backed="r")
        dn.tl.sparda(backed, "condition", n_features=5)
        assert_same([read(backed) for read in READERS], expected)
        backed.file.close()

    def test_layers(self, adata):
        adata.layers["other"] = adata.X[::-1].copy()
        turned = adata.copy()
        turned.X = adata.X[::-1].copy()
        assert_same(tables(adata, layer="other"), tables(turned))

    def test_scales_of_features_do_not_matter_unless_asked(self, adata):
        expected = tables(adata)
        adata.X = adata.X * np.linspace(0.1, 30, 40)
        assert_same(tables(adata), expected)
        assert tables(adata, standardize=None)[1]["objective"].item() > 10 * expected[1]["objective"].item()

    def test_a_mask_leaves_features_out_and_keeps_their_place(self, adata):
        dn.tl.sparda(adata, "condition", n_features=5, mask_var="chosen")
        alone = adata[:, :30].copy()
        dn.tl.sparda(alone, "condition", n_features=5)
        np.testing.assert_allclose(adata.varm["sparda"].iloc[:30], alone.varm["sparda"], atol=1e-12)
        assert adata.varm["sparda"].iloc[30:].isna().all(axis=None)
        np.testing.assert_allclose(adata.obsm["X_sparda"], alone.obsm["X_sparda"])

    def test_constant_features_are_left_out_with_a_warning(self, adata):
        adata.X[:, [4, 7]] = 3.0
        with pytest.warns(UserWarning, match="2 constant features left out .*'gene4', 'gene7'"):
            dn.tl.sparda(adata, "condition", n_features=4)
        assert adata.uns["sparda"]["n_constant"] == 2
        assert dn.get.sparda(adata)["weight"].isna().sum() == 2

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("standardize", ["global", "within", None])
    def test_a_feature_constant_in_one_condition_is_used(self, adata, standardize, kind):
        adata.X[:60, 5] = 0.0
        adata.X = kind(adata.X)
        found = tables(adata, n_features="all", standardize=standardize, n_permutations=2)[0]
        assert np.isfinite(found["weight"]).all()
        if standardize == "within":
            assert found.loc["gene5", "weight"] == 0

    def test_duplicated_features_and_names_are_no_trouble(self, adata):
        adata.X[:, 20:40] = adata.X[:, :1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            adata.var_names = ["same"] * 40
            found = tables(adata)[0]
        assert found["selected"].sum() == 5

    def test_observations_without_a_condition_are_excluded(self, adata):
        part = adata[10:].copy()
        expected = tables(part)
        column = adata.obs["condition"].astype(object)
        column.iloc[:10] = np.nan
        adata.obs["condition"] = pd.Categorical(column)
        ours = tables(adata)
        assert_same(ours[:3], expected[:3])
        assert ours[3]["side"].isna().sum() == 10

    @pytest.mark.parametrize("dtype", [object, "string", bool, int, float])
    def test_conditions_need_not_be_categories(self, adata, dtype):
        stim = (adata.obs["condition"] == "stim").to_numpy()
        adata.obs["other"] = (
            stim.astype(dtype) if dtype in (bool, int, float) else pd.array(np.where(stim, "b", "a"), dtype=dtype)
        )
        dn.tl.sparda(adata, "other", n_features=3)
        dn.tl.sparda(adata, "condition", n_features=3, key_added="reference")
        np.testing.assert_array_equal(adata.obsm["X_sparda"], adata.obsm["X_reference"])
        assert dn.get.sparda_projection(adata)["side"].notna().all()

    def test_a_single_feature(self, adata):
        dn.tl.sparda(adata, "condition", mask_var=np.arange(40) == 12, n_permutations=3)
        assert dn.get.sparda(adata)["selected"].sum() == 1

    def test_few_observations_are_chosen_from_with_fewer_folds(self, adata):
        small = adata[:63].copy()
        with (
            pytest.warns(UserWarning, match="'stim' has 3 observations.*3 folds instead of 5"),
            pytest.warns(UserWarning, match="no more than with permuted labels"),
        ):
            dn.tl.sparda(small, "condition")
        assert np.isfinite(small.uns["sparda"]["path"]["held_out"]).all()
        dn.tl.sparda(small, "condition", n_features=4)


class TestEqualGroups:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    @pytest.mark.parametrize("n_features", ["auto", 5, "all"])
    def test_have_objective_zero_and_p_value_one(self, adata, kind, n_features, caplog):
        adata.X[60:] = adata.X[:60][::-1]
        adata.X = kind(adata.X)
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.sparda(adata, "condition", n_features=n_features, n_permutations=9, n_projections=2)
        found = dn.get.sparda_summary(adata)
        assert found["objective"].tolist() == [0, 0]
        assert found["share"].tolist() == [0, 0]
        assert found["pval"].tolist() == [1, 1]
        assert found["n_features"].tolist() == [0, 0]
        assert "the two are equal along every direction" in caplog.text


BAD = {
    "a missing column": ({"groupby": "conditon"}, ValueError, "conditon.*Did you mean 'condition'"),
    "a measurement": ({"groupby": "age"}, ValueError, "age.*not conditions.*pandas.cut"),
    "an unknown group": ({"group": "stin"}, ValueError, "group='stin'.*Did you mean 'stim'"),
    "an unknown reference": ({"reference": "control"}, ValueError, "reference='control'.*Did you mean 'ctrl'"),
    "an unused category": ({"group": "unused"}, ValueError, "group='unused' is not a category"),
    "a condition with itself": ({"group": "stim", "reference": "stim"}, ValueError, "both 'stim'"),
    "an unknown layer": ({"layer": "doubl"}, ValueError, "layer='doubl'.*Did you mean 'double'"),
    "an unknown mask": ({"mask_var": "chosem"}, ValueError, "mask_var='chosem'.*Did you mean 'chosen'"),
    "an empty mask": ({"mask_var": np.zeros(40, bool)}, ValueError, "selects none of the 40 features"),
    "more features than there are": ({"n_features": 41}, ValueError, "n_features=41 .*between 1 and 40.*40 features"),
    "no features": ({"n_features": 0}, ValueError, "n_features=0"),
    "half a feature": ({"n_features": 2.5}, TypeError, "n_features=2.5 must be an integer"),
    "a misspelt auto": ({"n_features": "atuo"}, ValueError, "Did you mean 'auto'"),
    "no projections": ({"n_projections": 0}, ValueError, "n_projections=0"),
    "an unknown standardising": ({"standardize": "withn"}, ValueError, "Did you mean 'within'"),
    "an unknown divergence": ({"divergence": "wasserstein"}, ValueError, "Did you mean 'wasserstein"),
    "an unknown solver": ({"solver": "tigthen"}, ValueError, "Did you mean 'tighten'"),
    "a certificate of another": ({"certificate": True, "divergence": "kolmogorov"}, ValueError, "certificate=True"),
    "negative permutations": ({"n_permutations": -1}, ValueError, "n_permutations=-1"),
    "a negative seed": ({"random_state": -1}, ValueError, "random_state=-1"),
    "an unknown sample column": ({"sample_key": "doner"}, ValueError, "sample_key='doner'.*Did you mean 'donor'"),
}


class TestBadInput:
    @pytest.mark.parametrize("case", list(BAD))
    def test_gets_a_clear_error_and_changes_nothing(self, adata, case):
        options, error, words = BAD[case]
        before = snapshot(adata)
        with pytest.raises(error, match=words):
            dn.tl.sparda(adata, **{"groupby": "condition", **options})
        after = snapshot(adata)
        assert after[:5] == before[:5]
        np.testing.assert_array_equal(after[5], before[5])

    def test_one_condition(self, adata):
        with pytest.raises(ValueError, match=r"single condition.*at least two"):
            dn.tl.sparda(adata[:60].copy(), "condition")

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_missing_values_are_named(self, adata, kind):
        adata.X[3, 5] = adata.X[4, 5] = np.nan
        adata.X = kind(adata.X)
        with pytest.raises(ValueError, match=r"'ctrl'.*1 feature: 'gene5' \(2\)"):
            dn.tl.sparda(adata, "condition")
        assert "sparda" not in adata.uns

    def test_a_condition_with_two_observations(self, adata):
        with pytest.raises(ValueError, match=r"'stim'.*has 2 observations; at least 3"):
            dn.tl.sparda(adata[:62].copy(), "condition")

    def test_the_relaxation_takes_no_more_than_500_features(self, rng):
        wide = anndata.AnnData(rng.normal(size=(12, 501)))
        wide.obs["c"] = list("ab") * 6
        with pytest.raises(ValueError, match=r"solver='relax'.*at most 500 features, got 501.*solver='tighten'"):
            dn.tl.pda(wide, "c", solver="relax")

    def test_an_interrupted_call_leaves_the_data_as_it_was(self, adata, monkeypatch):
        def stop(*args, **options):
            raise KeyboardInterrupt

        before = snapshot(adata)
        monkeypatch.setattr("diffnb.core.sparda.significance._null_objectives", stop)
        with pytest.raises(KeyboardInterrupt):
            dn.tl.sparda(adata, "condition", n_features=3, n_permutations=5)
        assert snapshot(adata)[:5] == before[:5]


class TestSaving:
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::FutureWarning", "ignore::UserWarning")
    def test_all_results_come_back_unchanged(self, adata, tmp_path, kind):
        adata.obs["condition"] = adata.obs["condition"].cat.rename_categories({"stim": "CD4/CD8"})
        dn.tl.sparda(adata, "condition", n_permutations=3, n_projections=2, certificate=True)
        dn.tl.pda(adata, "condition", sample_key="donor", key_added="all", mask_var="chosen")
        path = tmp_path / f"saved.{kind}"
        getattr(adata, f"write_{kind}")(path)
        back = getattr(anndata, f"read_{kind}")(path)
        for key in ("sparda", "all"):
            for read in READERS:
                pd.testing.assert_frame_equal(read(back, key=key), read(adata, key=key), check_column_type=False)
        pd.testing.assert_frame_equal(dn.get.sparda(back, group="CD4/CD8"), dn.get.sparda(adata, group="CD4/CD8"))


class TestSamples:
    def test_nested_samples_are_permuted_whole(self, adata, monkeypatch):
        from diffnb.core.sparda import significance

        permuted, original = [], significance.permuted_samples

        def watched(samples, rng, **strata):
            rows = original(samples, rng, **strata)
            permuted.append([np.unique(np.concatenate(samples)[r]).tolist() for r in rows])
            return rows

        monkeypatch.setattr(significance, "permuted_samples", watched)
        dn.tl.sparda(adata, "condition", sample_key="donor", n_permutations=6, n_features=3)
        assert len(permuted) == 6
        assert all(len(a) == len(b) == 3 and not set(a) & set(b) for a, b in permuted)

    def test_few_samples_cannot_give_a_small_p_value(self, adata):
        """Six donors, three per condition: the observed labels come up again in one of ten draws."""
        dn.tl.sparda(adata, "condition", sample_key="donor", n_permutations=99, n_features=5)
        assert dn.get.sparda_summary(adata)["pval"].min() > 0.03

    def test_samples_of_unequal_size(self, adata):
        adata.obs["donor"] = np.repeat([f"d{i}" for i in range(6)], [10, 20, 30, 35, 15, 10])
        dn.tl.sparda(adata, "condition", sample_key="donor", n_permutations=9)
        assert 0.1 <= dn.get.sparda_summary(adata)["pval"].item() <= 1

    def test_samples_with_both_conditions(self, adata):
        dn.tl.sparda(adata, "condition", sample_key="subject", n_permutations=19, n_features=5)
        assert dn.get.sparda_summary(adata)["pval"].item() >= 0.05

    def test_one_sample_per_condition_is_too_few(self, adata):
        adata.obs["donor"] = adata.obs["condition"].astype(str)
        with pytest.raises(ValueError, match=r"'stim' a single sample.*At least two"):
            dn.tl.sparda(adata, "condition", sample_key="donor")

    def test_samples_neither_nested_nor_complete(self, adata):
        adata.obs["donor"] = ["mixed"] * 80 + [f"d{i % 2}" for i in range(40)]
        with pytest.raises(ValueError, match="must hold both, or one each"):
            dn.tl.sparda(adata, "condition", sample_key="donor")


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs_do_not_change_the_answer(adata, n_jobs):
    options = {"n_features": "auto", "n_permutations": 4}
    assert_same(tables(adata, n_jobs=n_jobs, **options), tables(adata, **options), atol=1e-10)


class TestChoice:
    """How decided the number of features is, in the log and in the summary."""

    def compared(self, x, y):
        obs = pd.DataFrame({"condition": np.repeat(["A", "B"], [len(x), len(y)])})
        return anndata.AnnData(np.concatenate([x, y]), obs=obs.set_index(obs.index.astype(str)))

    def test_features_that_all_differ_are_not_all_kept_silently(self, rng):
        shift = 1.2 * 0.92 ** np.arange(40)
        adata = self.compared(rng.normal(size=(300, 40)), rng.normal(size=(300, 40)) + shift)
        with pytest.warns(
            UserWarning, match=r"B vs A: n_features=\d+ reaches 95 % .* rises with most of the 40 features"
        ):
            dn.tl.sparda(adata, "condition")
        summary = dn.get.sparda_summary(adata)
        assert summary["n_features"].item() < 20
        assert "no number is singled out" in summary["note"].item()
        assert summary["held_out_pval"].item() == 0.025

    def test_equal_populations_are_reported_as_such(self):
        x, y = np.random.default_rng(5).normal(size=(2, 80, 20))
        adata = self.compared(x, y)
        with pytest.warns(UserWarning, match="no more than with permuted labels, whatever the number of features"):
            dn.tl.sparda(adata, "condition")
        assert dn.get.sparda_summary(adata)["held_out_pval"].item() > 0.05

    def test_a_clear_choice_is_silent(self, rng):
        y = rng.normal(size=(200, 20))
        y[:, :4] += 1.5
        adata = self.compared(rng.normal(size=(200, 20)), y)
        dn.tl.sparda(adata, "condition")
        summary = dn.get.sparda_summary(adata)
        assert (summary["n_features"].item(), summary["note"].item()) == (4, "")

    def test_samples_are_not_judged_by_permuted_observations(self, rng):
        """Observations of one sample are alike, so that permuting them would call any sample different."""
        adata = self.compared(*rng.normal(size=(2, 60, 12)))
        adata.X += np.repeat(rng.normal(size=(12, 12)), 10, axis=0)
        adata.obs["donor"] = np.repeat([f"d{i}" for i in range(12)], 10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dn.tl.sparda(adata, "condition", sample_key="donor")
        assert dn.get.sparda_summary(adata)["held_out_pval"].isna().all()

    def test_survives_a_file(self, rng, tmp_path):
        adata = self.compared(*np.random.default_rng(5).normal(size=(2, 80, 20)))
        with pytest.warns(UserWarning, match="permuted labels"):
            dn.tl.sparda(adata, "condition")
        adata.write_h5ad(tmp_path / "found.h5ad")
        back = anndata.read_h5ad(tmp_path / "found.h5ad")
        pd.testing.assert_frame_equal(dn.get.sparda_summary(back), dn.get.sparda_summary(adata))


class TestRelaxation:
    def test_without_tightening_weights_are_those_of_the_relaxed_matrix(self, adata):
        dn.tl.pda(adata, "condition", solver="relax", tighten=False)
        found = dn.get.sparda(adata, key="pda")["weight"].reindex(adata.var_names).to_numpy()
        x = (adata.X - adata.X.mean(axis=0)) / adata.X.std(axis=0)
        is_stim = (adata.obs["condition"] == "stim").to_numpy()
        expected = relax(x[is_stim], x[~is_stim]).weights
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)

    def test_tightening_raises_the_objective_of_the_same_number_of_features(self, adata):
        objectives = []
        for tighten in (False, True):
            dn.tl.sparda(adata, "condition", n_features=4, solver="relax", tighten=tighten)
            assert (dn.get.sparda(adata)["weight"] != 0).sum() <= 4
            objectives.append(dn.get.sparda_summary(adata)["objective"].iloc[0])
        assert objectives[0] <= objectives[1]

    def test_the_number_of_features_can_be_chosen_without_tightening(self, adata):
        dn.tl.sparda(adata, "condition", solver="relax", tighten=False, n_permutations=9)
        assert dn.get.sparda_summary(adata)["pval"].iloc[0] == pytest.approx(0.1)

    def test_a_penalty_concentrates_the_weights(self, adata):
        sizes = []
        for penalty in (0.0, 0.05):
            dn.tl.pda(adata, "condition", solver="relax", tighten=False, penalty=penalty)
            sizes.append(float(dn.get.sparda(adata, key="pda")["weight"].abs().sum()))
        assert sizes[1] < 0.95 * sizes[0]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"penalty": 0.1}, "penalty=0.1 is about the relaxation; use solver='relax'"),
            ({"tighten": False}, "tighten=False is about the relaxation"),
            ({"penalty": -1.0, "solver": "relax"}, "penalty"),
        ],
    )
    def test_what_belongs_to_the_relaxation_is_refused_elsewhere(self, adata, options, message):
        with pytest.raises(ValueError, match=message):
            dn.tl.pda(adata, "condition", **options)
