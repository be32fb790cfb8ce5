import logging
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb.core.disc.feature_groups import matched

FIXED = {"n_neighbors": 6, "n_eigenvectors": 4, "n_components": 3, "n_clusters": 3, "graph": "dense"}


def tables(adata, **options):
    copy = dn.tl.disc(adata, "condition", copy=True, **{**FIXED, **options})
    return dn.get.disc(copy), dn.get.disc_significance(copy)


def assert_same(ours, theirs, atol=1e-8):
    for mine, other in zip(ours, theirs, strict=True):
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


class TestResult:
    def test_returns_none_and_adds_three_things(self, adata):
        assert dn.tl.disc(adata, "condition", **FIXED) is None
        assert adata.varm["disc"].shape == (40, 2 * 4)
        assert adata.var["disc_stim"].cat.categories[0] == "background"
        assert adata.uns["disc"]["sigma"].shape == (2, 3)

    def test_a_copy_leaves_the_original_alone(self, adata):
        before = snapshot(adata)
        copy = dn.tl.disc(adata, "condition", copy=True, **FIXED)
        assert snapshot(adata)[:5] == before[:5]
        assert "disc" in copy.uns

    def test_the_new_group_is_named_after_its_condition(self, adata):
        dn.tl.disc(adata, "condition")
        found = dn.get.disc(adata, group="stim")
        assert (found["feature_group"].iloc[10:20] == "stim1").all()
        assert (found["feature_group"].iloc[20:] == "background").mean() > 0.9

    def test_defaults_that_were_chosen_are_stored_and_logged(self, adata, caplog):
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.disc(adata, "condition")
        stored = adata.uns["disc"]
        assert stored["graph"] in ("dense", "knn")
        assert stored["n_neighbors"] == 8
        assert stored["n_eigenvectors"].tolist() == [3, 3]
        assert "n_neighbors=8" in caplog.text

    def test_the_same_seed_gives_the_same_bits(self, adata):
        first, second = (tables(adata, n_permutations=5, random_state=3) for _ in range(2))
        for one, two in zip(first, second, strict=True):
            pd.testing.assert_frame_equal(one, two, check_exact=True)

    def test_results_under_two_keys_are_kept_separately(self, adata):
        dn.tl.disc(adata, "condition", **FIXED)
        dn.tl.disc(adata, "condition", key_added="other", **{**FIXED, "n_components": 2})
        assert adata.uns["disc"]["sigma"].shape[1] == 3
        assert adata.uns["other"]["sigma"].shape[1] == 2

    def test_one_number_of_eigenvectors_per_condition(self, adata):
        by_list = dn.tl.disc(adata, "condition", copy=True, **{**FIXED, "n_eigenvectors": [3, 5]})
        by_name = dn.tl.disc(adata, "condition", copy=True, **{**FIXED, "n_eigenvectors": {"stim": 5, "ctrl": 3}})
        assert by_list.uns["disc"]["n_eigenvectors"].tolist() == [3, 5]
        np.testing.assert_array_equal(by_list.uns["disc"]["sigma"], by_name.uns["disc"]["sigma"])

    def test_three_conditions_are_each_set_against_the_others(self, rng):
        adata = dn.datasets.three_conditions(n_obs=300)
        dn.tl.disc(adata, "condition", n_clusters=3)
        assert dn.get.disc(adata)["group"].unique().tolist() == ["A", "B", "C"]
        assert adata.uns["disc"]["sigma"].shape == (3, 10)

    def test_groups_choose_and_order_conditions(self):
        adata = dn.datasets.three_conditions(n_obs=100)
        dn.tl.disc(adata, "condition", groups=["C", "A"], n_clusters=3)
        assert adata.uns["disc"]["groups"].tolist() == ["C", "A"]

    def test_a_callable_kernel(self, adata):
        def cauchy(d, s, t):
            return 1 / (1 + d**2 / (s * t))

        dn.tl.disc(adata, "condition", kernel=cauchy, **FIXED)
        assert adata.uns["disc"]["params"]["kernel"].endswith(".cauchy")


class TestInput:
    def test_every_kind_of_array_gives_the_same(self, adata, array_type):
        adata.X = np.where(np.abs(adata.X) > 0.7, adata.X, 0.0)
        other = anndata.AnnData(array_type(adata.X), obs=adata.obs, var=adata.var)
        assert_same(tables(other, n_permutations=2), tables(adata, n_permutations=2))

    @pytest.mark.parametrize("metric", ["correlation", "cosine"])
    @pytest.mark.parametrize("standardize", ["global", "within"])
    def test_sparse_equals_dense_under_every_option(self, adata, metric, standardize):
        adata.X = np.where(np.abs(adata.X) > 0.7, adata.X, 0.0)
        sparse = anndata.AnnData(sp.csr_matrix(adata.X), obs=adata.obs, var=adata.var)
        options = {"metric": metric, "standardize": standardize, "n_permutations": 2, "null": "connectivity"}
        assert_same(tables(sparse, **options), tables(adata, **options))

    def test_integers_and_single_precision(self, adata):
        adata.X = np.round(3 * adata.X)
        whole = anndata.AnnData(adata.X.astype(np.int32), obs=adata.obs, var=adata.var)
        single = anndata.AnnData(adata.X.astype(np.float32), obs=adata.obs, var=adata.var)
        assert_same(tables(whole), tables(adata), atol=1e-10)
        assert_same(tables(single), tables(adata), atol=1e-4)

    def test_a_view_gives_the_same_and_becomes_a_copy(self, adata):
        both = anndata.concat([adata, adata], index_unique="-")
        view = both[:120, :]
        direct = both[:120].copy()
        dn.tl.disc(view, "condition", **FIXED)
        dn.tl.disc(direct, "condition", **FIXED)
        pd.testing.assert_frame_equal(dn.get.disc(view), dn.get.disc(direct))
        assert "disc" not in both.uns

    def test_read_only_arrays(self, adata):
        expected = tables(adata)
        adata.X.setflags(write=False)
        assert_same(tables(adata), expected)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
    def test_backed_files(self, adata, tmp_path, kind):
        adata.X = np.where(np.abs(adata.X) > 0.7, adata.X, 0.0)
        expected = tables(adata)
        stored = anndata.AnnData(kind(adata.X), obs=adata.obs, var=adata.var)
        stored.write_h5ad(tmp_path / "backed.h5ad")
        backed = anndata.read_h5ad(tmp_path / "backed.h5ad", backed="r")
        dn.tl.disc(backed, "condition", **FIXED)
        assert_same((dn.get.disc(backed), dn.get.disc_significance(backed)), expected)
        backed.file.close()

    def test_layers(self, adata):
        doubled = adata.copy()
        doubled.X = 2 * adata.X
        assert_same(tables(adata, layer="double"), tables(doubled))

    def test_a_mask_leaves_features_out_and_keeps_their_place(self, adata):
        table, _ = tables(adata, mask_var="chosen")
        by_array, _ = tables(adata, mask_var=adata.var["chosen"].to_numpy())
        alone, _ = tables(adata[:, :30].copy())
        pd.testing.assert_frame_equal(table, by_array)
        for group in ("ctrl", "stim"):
            part = table[table["group"] == group]
            assert part.iloc[30:]["score"].isna().all()
            assert part.iloc[30:]["feature_group"].isna().all()
            np.testing.assert_allclose(
                part.iloc[:30]["vector_1"], alone.loc[alone["group"] == group, "vector_1"], atol=1e-12
            )

    def test_constant_features_are_left_out_with_a_warning(self, adata):
        adata.X[:, [4, 7]] = 3.0
        with pytest.warns(UserWarning, match="2 constant features left out .*'gene4', 'gene7'"):
            dn.tl.disc(adata, "condition", **FIXED)
        assert adata.uns["disc"]["n_constant"] == 2
        assert dn.get.disc(adata, group="stim")["score"].isna().sum() == 2

    @pytest.mark.parametrize("options", [{}, {"metric": "correlation"}, {"question": "any difference"}])
    def test_a_feature_constant_in_one_condition_is_used_if_asked(self, adata, options):
        adata.X[:60, 5] = 0.0
        assert np.isfinite(tables(adata, min_obs=0, **options)[0]["score"]).all()

    def test_duplicated_features_are_no_trouble(self, adata):
        adata.X[:, 20:40] = adata.X[:, :1]
        assert np.isfinite(tables(adata, graph="knn")[0]["score"]).all()

    def test_duplicated_names_are_no_trouble(self, adata):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            adata.var_names = ["same"] * 40
            table, _ = tables(adata)
        assert len(table) == 80

    def test_observations_without_a_condition_are_excluded(self, adata):
        expected = tables(adata[10:].copy())
        column = adata.obs["condition"].astype(object)
        column.iloc[:10] = np.nan
        adata.obs["condition"] = pd.Categorical(column)
        assert_same(tables(adata), expected)

    @pytest.mark.parametrize("dtype", [object, "string", bool, int, float])
    def test_conditions_need_not_be_categories(self, adata, dtype):
        stim = (adata.obs["condition"] == "stim").to_numpy()
        adata.obs["other"] = (
            stim.astype(dtype) if dtype in (bool, int, float) else pd.array(np.where(stim, "b", "a"), dtype=dtype)
        )
        dn.tl.disc(adata, "other", **FIXED)
        dn.tl.disc(adata, "condition", key_added="reference", **FIXED)
        np.testing.assert_array_equal(adata.uns["disc"]["sigma"], adata.uns["reference"]["sigma"])

    def test_names_with_slashes_survive_saving(self, adata, tmp_path):
        adata.obs["condition"] = adata.obs["condition"].cat.rename_categories({"stim": "CD4/CD8"})
        dn.tl.disc(adata, "condition", **FIXED)
        adata.write_h5ad(tmp_path / "slash.h5ad")
        back = anndata.read_h5ad(tmp_path / "slash.h5ad")
        pd.testing.assert_frame_equal(dn.get.disc(back, group="CD4/CD8"), dn.get.disc(adata, group="CD4/CD8"))


def spoiled(adata, **values):
    for place, value in values.items():
        row, col = (int(i) for i in place[1:].split("_"))
        adata.X[row, col] = value
    return adata


BAD = {
    "a missing column": ({"groupby": "conditon"}, ValueError, "conditon.*Did you mean 'condition'"),
    "candidates are listed": ({"groupby": "zzz"}, ValueError, "'condition' \\(2 levels\\)"),
    "a measurement": ({"groupby": "age"}, ValueError, "age.*not conditions.*pandas.cut"),
    "an unknown group": ({"groups": ["ctrl", "stin"]}, ValueError, "stin.*Did you mean 'stim'"),
    "one condition": ({"groups": ["stim"]}, ValueError, "single condition.*at least two"),
    "a condition twice": ({"groups": ["stim", "stim"]}, ValueError, "names a category twice"),
    "a string of groups": ({"groups": "stim"}, TypeError, "must be a list"),
    "an unknown layer": ({"layer": "doubl"}, ValueError, "layer='doubl'.*Did you mean 'double'"),
    "an unknown mask": ({"mask_var": "chosem"}, ValueError, "mask_var='chosem'.*Did you mean 'chosen'"),
    "an empty mask": ({"mask_var": np.zeros(40, bool)}, ValueError, "selects none of the 40 features"),
    "a mask of numbers": ({"mask_var": np.ones(40)}, TypeError, "must hold booleans"),
    "a short mask": ({"mask_var": np.ones(3, bool)}, ValueError, "shape \\(3,\\).*40 features"),
    "an unknown metric": ({"metric": "euclidian"}, ValueError, "metric='euclidian'.*Did you mean 'euclidean'"),
    "an unknown kernel": ({"kernel": "self_tunning"}, ValueError, "Did you mean 'self_tuning'"),
    "an unknown graph": ({"graph": "kmn"}, ValueError, "graph='kmn'.*Did you mean 'knn'"),
    "an unknown question": (
        {"question": "relation"},
        ValueError,
        "question='relation'.*'relations', 'any difference'.*Did you mean 'relations'",
    ),
    "no question": ({"question": None}, ValueError, "question=None"),
    "half an observation": ({"min_obs": 2.5}, TypeError, "min_obs=2.5 must be an integer"),
    "a negative number of observations": ({"min_obs": -1}, ValueError, "min_obs=-1"),
    "an unknown null": ({"null": "label"}, ValueError, "Did you mean 'labels'"),
    "an unknown standardising": ({"standardize": "withn"}, ValueError, "Did you mean 'within'"),
    "as many eigenvectors as features": ({"n_eigenvectors": 40}, ValueError, "n_eigenvectors=40 .*between 1 and 39"),
    "a wrong number of counts": ({"n_eigenvectors": [2, 3, 4]}, ValueError, "3 numbers for 2 conditions"),
    "a count that is missing": ({"n_eigenvectors": {"ctrl": 3}}, ValueError, "no number for 'stim'"),
    "half a neighbour": ({"n_neighbors": 2.5}, TypeError, "n_neighbors=2.5 must be an integer"),
    "too many neighbours": ({"n_neighbors": 40}, ValueError, "n_neighbors=40 .*between 1 and 39.*40 features"),
    "no components": ({"n_components": 0}, ValueError, "n_components=0 must be at least 1"),
    "one cluster": ({"n_clusters": 1}, ValueError, "n_clusters=1"),
    "negative permutations": ({"n_permutations": -1}, ValueError, "n_permutations=-1"),
    "a misspelt auto": ({"n_neighbors": "atuo"}, ValueError, "Did you mean 'auto'"),
    "an unknown sample column": ({"sample_key": "doner"}, ValueError, "sample_key='doner'.*Did you mean 'donor'"),
}


class TestBadInput:
    @pytest.mark.parametrize("case", list(BAD))
    def test_gets_a_clear_error_and_changes_nothing(self, adata, case):
        options, error, words = BAD[case]
        before = snapshot(adata)
        with pytest.raises(error, match=words):
            dn.tl.disc(adata, **{"groupby": "condition", **options})
        after = snapshot(adata)
        assert after[:5] == before[:5]
        np.testing.assert_array_equal(after[5], before[5])

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
    def test_values_that_are_not_numbers_are_named_and_counted(self, adata, kind):
        adata.X[3, 5] = adata.X[4, 5] = np.nan
        adata.X[5, 7] = np.inf
        adata.X = kind(adata.X)
        with pytest.raises(ValueError, match=r"'ctrl'.*2 features: 'gene5' \(2\), 'gene7' \(1\)"):
            dn.tl.disc(adata, "condition")
        assert "disc" not in adata.uns

    def test_a_condition_with_two_observations(self, adata):
        small = adata[:62].copy()
        with pytest.raises(ValueError, match=r"'stim'.*has 2 observations; at least 3"):
            dn.tl.disc(small, "condition")

    def test_data_without_any_variation(self, adata):
        adata.X = np.ones((120, 40))
        with pytest.raises(ValueError, match="40 of 40 features are constant"):
            dn.tl.disc(adata, "condition")

    def test_an_empty_x(self, adata):
        empty = anndata.AnnData(obs=adata.obs, var=adata.var, layers={"double": adata.layers["double"]})
        with pytest.raises(ValueError, match=r"adata.X is empty; name one of its layers: 'double'"):
            dn.tl.disc(empty, "condition")

    def test_an_interrupted_call_leaves_the_data_as_it_was(self, adata, monkeypatch):
        def stop(*args, **options):
            raise KeyboardInterrupt

        before = snapshot(adata)
        monkeypatch.setattr("diffnb.core.disc.analysis.permutation_test", stop)
        with pytest.raises(KeyboardInterrupt):
            dn.tl.disc(adata, "condition", n_permutations=5, **FIXED)
        assert snapshot(adata)[:5] == before[:5]


class TestSaving:
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::FutureWarning", "ignore::UserWarning")
    def test_all_results_come_back_unchanged(self, adata, tmp_path, kind):
        dn.tl.disc(adata, "condition", n_permutations=5, n_bootstraps=3, **FIXED)
        dn.tl.disc(adata, "condition", sample_key="subject", key_added="each", n_permutations=5, **FIXED)
        dn.tl.meta_features(adata)
        dn.tl.feature_diffmap(adata, "condition", n_components=2)
        path = tmp_path / f"saved.{kind}"
        getattr(adata, f"write_{kind}")(path)
        back = getattr(anndata, f"read_{kind}")(path)
        for key in ("disc", "each"):
            pd.testing.assert_frame_equal(dn.get.disc(back, key=key), dn.get.disc(adata, key=key))
            pd.testing.assert_frame_equal(
                dn.get.disc_significance(back, key=key), dn.get.disc_significance(adata, key=key)
            )
        pd.testing.assert_frame_equal(dn.get.feature_diffmap(back), dn.get.feature_diffmap(adata))
        np.testing.assert_array_equal(back.obsm["X_disc"], adata.obsm["X_disc"])


class TestSamples:
    def test_nested_samples_are_permuted_whole(self, adata, monkeypatch):
        permuted = []
        from diffnb.core.disc import significance

        original = significance.permuted_samples

        def watched(samples, rng, **strata):
            rows = original(samples, rng, **strata)
            permuted.append([np.unique(np.concatenate(samples)[r]).tolist() for r in rows])
            return rows

        monkeypatch.setattr(significance, "permuted_samples", watched)
        dn.tl.disc(adata, "condition", sample_key="donor", n_permutations=6, **FIXED)
        assert len(permuted) >= 6
        assert all(len(a) == len(b) == 3 and not set(a) & set(b) for a, b in permuted)

    def test_few_samples_cannot_give_a_small_p_value(self, adata):
        """Six donors, three per condition: the observed labels come up again in one of ten draws."""
        dn.tl.disc(adata, "condition", sample_key="donor", n_permutations=99, **FIXED)
        assert dn.get.disc_significance(adata)["pval"].min() > 0.03

    def test_complete_samples_are_analysed_one_by_one(self, adata):
        dn.tl.disc(adata, "condition", sample_key="subject", n_permutations=9, n_bootstraps=3, **FIXED)
        table = dn.get.disc(adata, group="stim")
        assert {"spread_1", "spread_3", "stability"} <= set(table.columns)
        assert adata.uns["disc"]["sigma_each"].shape == (3, 2, 3)
        assert adata.uns["disc"]["samples"].tolist() == ["s1", "s2", "s3"]
        strongest = np.argsort(-table["vector_1"].abs().to_numpy())[:10]
        assert len(set(strongest) & set(range(10, 20))) >= 8

    def test_incomplete_samples_are_left_out_with_a_warning(self, adata):
        adata.obs["subject"] = adata.obs["subject"].astype(object)
        adata.obs.iloc[0:20, adata.obs.columns.get_loc("subject")] = "lonely"
        with pytest.warns(UserWarning, match="2 of 4 samples lack a condition"):
            dn.tl.disc(adata, "condition", sample_key="subject", **FIXED)

    def test_one_sample_per_condition_is_too_few(self, adata):
        adata.obs["donor"] = adata.obs["condition"].astype(str)
        with pytest.raises(ValueError, match=r"'ctrl' a single sample.*At least two"):
            dn.tl.disc(adata, "condition", sample_key="donor")

    def test_samples_neither_nested_nor_complete(self, adata):
        adata.obs["donor"] = ["mixed"] * 80 + [f"d{i % 2}" for i in range(40)]
        with pytest.raises(ValueError, match="must hold every condition, or one each"):
            dn.tl.disc(adata, "condition", sample_key="donor")


def test_p_values_never_fall_below_one_in_n_plus_one(adata):
    dn.tl.disc(adata, "condition", n_permutations=19, **FIXED)
    pvals = dn.get.disc_significance(adata)["pval"]
    assert pvals.min() == pytest.approx(0.05)


def test_stability_lies_between_zero_and_one(adata):
    dn.tl.disc(adata, "condition", n_bootstraps=5, **FIXED)
    found = dn.get.disc(adata)["stability"]
    assert found.between(0, 1).all()
    assert found.nunique() > 1


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_jobs_do_not_change_the_answer(adata, n_jobs):
    options = {"n_permutations": 4, "n_bootstraps": 3, "null": "connectivity"}
    assert_same(tables(adata, n_jobs=n_jobs, **options), tables(adata, **options), atol=1e-10)


class TestNeighbors:
    def test_what_was_asked_for_and_what_was_used_is_stored_and_logged(self, adata, caplog):
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.disc(adata, "condition", graph="knn", neighbors="approximate")
        assert adata.uns["disc"]["params"]["neighbors"] == "approximate"
        # 40 features are too few for an approximate search
        assert adata.uns["disc"]["neighbors"] == "exact"
        assert "exact neighbors" in caplog.text

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"neighbors": "exakt"}, "Did you mean 'exact'"),
            ({"neighbors": None}, "neighbors=None is not an option"),
            ({"neighbors": "approximate", "graph": "dense"}, "use graph='knn'"),
        ],
    )
    def test_a_search_that_does_not_exist_is_refused(self, adata, options, words):
        with pytest.raises(ValueError, match=words):
            dn.tl.disc(adata, "condition", **options)
        assert "disc" not in adata.uns

    @pytest.mark.slow
    def test_approximate_neighbours_give_the_groups_of_exact_ones(self, monkeypatch):
        """Easy data: groups of 50 at ρ = .8, of which approximate neighbours are nearly all exact."""
        monkeypatch.setattr("diffnb.core.spectral.feature_knn.MAX_BLOCKWISE_FEATURES", 300)
        adata = dn.datasets.planted_groups(n_features=700, n_obs=124, rho=0.8)
        options = {"graph": "knn", "n_neighbors": 15, "n_clusters": 3}
        for search in ("exact", "approximate"):
            dn.tl.disc(adata, "condition", neighbors=search, key_added=search, **options)
            assert adata.uns[search]["neighbors"] == search
        for group in ("A", "B"):
            exact, approximate = (adata.var[f"{s}_{group}"].cat.codes.to_numpy() for s in ("exact", "approximate"))
            # groups are numbered by their scores, which are nearly the same here: numbers may be swapped
            assert (matched(approximate, exact) == exact).mean() > 0.98
            vectors = [adata.varm[s][[f"{group}_vector_1", f"{group}_vector_2"]] for s in ("exact", "approximate")]
            cosines = np.linalg.svd(vectors[0].to_numpy().T @ vectors[1].to_numpy(), compute_uv=False)
            assert cosines.min() > 0.98


class TestCounts:
    @pytest.fixture
    def cells(self, rng):
        """Counts of fifty features: twelve are connected in B only, twelve in both; the last two hardly vary."""
        counts = []
        for own in (False, True):
            log_z = 0.5 * rng.normal(size=(300, 50)) + 1
            for start, on in ((0, True), (12, own)):
                log_z[:, start : start + 12] += on * 0.8 * rng.normal(size=(300, 1))
            counts.append(rng.poisson(rng.lognormal(0.5, 0.3, size=(300, 1)) * np.exp(log_z)))
        counts = np.concatenate(counts).astype(np.float32)
        counts[:, 48:] = 1 + (rng.random((600, 2)) < 0.1)
        obs = pd.DataFrame({"condition": np.repeat(["A", "B"], 300)}, index=[f"cell{i}" for i in range(600)])
        obs["donor"] = np.tile(np.arange(3), 200).astype(str)
        logged = np.log1p(1e2 * counts / counts.sum(axis=1, keepdims=True))
        return anndata.AnnData(logged, obs=obs, layers={"counts": counts, "sparse": sp.csr_matrix(counts)})

    def test_the_group_of_one_condition_is_found_and_noise_is_excluded(self, cells, caplog):
        with caplog.at_level(logging.INFO, logger="diffnb"):
            dn.tl.disc(cells, "condition", counts="counts", n_permutations=19, null="connectivity")
        assert "2 of 50 features excluded" in caplog.text
        assert cells.var["disc_B"].isna().tolist() == [False] * 48 + [True] * 2
        scores = dn.get.disc(cells, group="B")["score"].reindex(cells.var_names).to_numpy()
        assert np.isin(np.argsort(-scores[:48])[:12], np.arange(12, 24)).mean() > 0.9
        assert dn.get.disc_significance(cells).query("group == 'B' and component == 1")["pval"].item() == 0.05

    def test_neither_the_kind_of_the_layer_nor_x_changes_the_answer(self, cells):
        dn.tl.disc(cells, "condition", counts="counts")
        dn.tl.disc(cells, "condition", counts="sparse", metric="correlation", key_added="sparse")
        assert_same([dn.get.disc(cells, key="sparse")], [dn.get.disc(cells)])

    def test_every_sample_is_analysed_with_its_own_counts(self, cells):
        dn.tl.disc(cells, "condition", counts="counts", sample_key="donor")
        assert cells.uns["disc"]["sigma_each"].shape[0] == 3
