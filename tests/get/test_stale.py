"""Results that are older than the data: what has changed is said, and nothing is said where nothing has."""

import pickle
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb._keys import Keys
from diffnb.get._stale import collected_staleness

#: each kind of result with a reader and a figure of it
RESULTS = {
    "disc": (lambda a: dn.tl.disc(a, "condition", n_components=2, n_clusters=2), dn.get.disc, "disc_groups"),
    "scorecard": (lambda a: dn.tl.scorecard(a, "condition"), dn.get.scorecard, "scorecard"),
    "sparda": (lambda a: dn.tl.sparda(a, "condition", n_features=4), dn.get.sparda, "sparda"),
    "dufs": (lambda a: dn.tl.dufs(a, n_steps=2, n_features=5), dn.get.dufs, "dufs"),
    "laplacian_score": (lambda a: dn.tl.laplacian_score(a), dn.get.laplacian_score, None),
    "informed": (lambda a: dn.tl.informed_distance(a, n_clusters=3), dn.get.informed_embedding, "informed_embedding"),
    "feature_change": (lambda a: dn.tl.feature_change(a, "condition"), dn.get.feature_change, None),
}


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 40))
    x[:60, :10] += 1.5 * rng.normal(size=(60, 1))
    obs = pd.DataFrame(
        {"condition": np.repeat(["ctrl", "stim"], 60), "age": np.linspace(20, 80, 120)},
        index=[f"cell{i}" for i in range(120)],
    )
    adata = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(40)]))
    adata.layers["double"] = 2 * x
    for call, _, _ in RESULTS.values():
        call(adata)
    return adata


@pytest.fixture
def done(made):
    return made.copy()


def subset_features(adata):
    return adata[:, :30].copy()


def subset_observations(adata):
    return adata[10:].copy()


def replace_x(adata):
    adata.X = adata.X[::-1].copy()
    return adata


def transform_in_place(adata):
    np.log1p(np.abs(adata.X), out=adata.X)
    return adata


def scale(adata):
    adata.X = sp.csr_matrix(adata.X * 1.01)
    return adata


def rename_features(adata):
    adata.var_names = [f"other{i}" for i in range(40)]
    return adata


def relabel(adata):
    adata.obs["condition"] = np.roll(adata.obs["condition"].to_numpy(), 20)
    return adata


def rename_labels(adata):
    adata.obs["condition"] = adata.obs["condition"].map({"ctrl": "control", "stim": "stim"})
    return adata


CHANGES = {
    subset_features: "there were 40 features and are 30",
    subset_observations: "there were 120 observations and are 110",
    replace_x: "adata.X has other values",
    transform_in_place: "adata.X has other values",
    scale: "adata.X has other values",
    rename_features: "features have other names",
}
LABEL_CHANGES = {relabel: r"adata.obs\['condition'\] has other values", rename_labels: "has other values"}
WITH_LABELS = ("disc", "scorecard", "sparda", "feature_change")


@pytest.mark.parametrize("change", list(CHANGES), ids=lambda c: c.__name__)
@pytest.mark.parametrize("key", list(RESULTS))
def test_readers_say_what_has_changed(done, key, change):
    read = RESULTS[key][1]
    read(done)
    changed = change(done)
    with pytest.warns(dn.StaleResultsWarning, match=f"key='{key}' are older than the data: {CHANGES[change]}") as said:
        read(changed)
    assert len(said) == 1, "said once, however many slots are read"
    assert said[0].filename == __file__
    assert CHANGES[change] in dn.get.results(changed).loc[key, "changed"]


@pytest.mark.parametrize("change", list(LABEL_CHANGES), ids=lambda c: c.__name__)
@pytest.mark.parametrize("key", list(RESULTS))
def test_readers_of_conditions_say_when_labels_have_changed(done, key, change):
    changed = change(done)
    if key in WITH_LABELS:
        with pytest.warns(dn.StaleResultsWarning, match=LABEL_CHANGES[change]):
            RESULTS[key][1](changed)
    else:
        RESULTS[key][1](changed)


@pytest.mark.parametrize("key", [key for key, (_, _, figure) in RESULTS.items() if figure])
def test_figures_say_it_once(done, key):
    changed = transform_in_place(done)
    with pytest.warns(dn.StaleResultsWarning, match="adata.X has other values") as said:
        getattr(dn.pl, RESULTS[key][2])(changed)
    assert len([w for w in said if w.category is dn.StaleResultsWarning]) == 1


class TestNothingIsSaid:
    """No false alarm: warnings are errors here."""

    @pytest.fixture
    def few(self, done):
        """Fewer results: zarr writes a file for each column."""
        for key in ("sparda", "dufs", "scorecard"):
            for place, name in Keys(key).owned(done):
                del getattr(done, place)[name]
        return done

    def read(self, adata):
        for key in dn.get.results(adata).index:
            RESULTS[key][1](adata)
        assert not dn.get.results(adata)["changed"].any()

    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning:zarr")
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    def test_after_a_file(self, few, tmp_path, kind):
        getattr(few, f"write_{kind}")(tmp_path / "a")
        self.read(getattr(anndata, f"read_{kind}")(tmp_path / "a"))

    def test_of_a_backed_file(self, done, tmp_path):
        done.write_h5ad(tmp_path / "a.h5ad")
        self.read(anndata.read_h5ad(tmp_path / "a.h5ad", backed="r"))

    @pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning:zarr")
    @pytest.mark.parametrize("kind", ["h5ad", "zarr"])
    @pytest.mark.slow
    def test_of_data_that_is_read_lazily(self, few, tmp_path, kind):
        path = tmp_path / f"a.{kind}"
        getattr(few, f"write_{kind}")(path)
        self.read(anndata.experimental.read_lazy(path))

    @pytest.mark.parametrize(
        "change",
        [
            lambda a: a.copy(),
            lambda a: a[:],
            lambda a: pickle.loads(pickle.dumps(a)),
            lambda a: a[np.random.default_rng(0).permutation(120)].copy(),
            lambda a: a[:, ::-1].copy(),
        ],
        ids=["copy", "view", "pickle", "observations in another order", "features in another order"],
    )
    def test_of_the_same_data(self, done, change):
        self.read(change(done))

    @pytest.mark.parametrize("convert", [np.float32, sp.csr_matrix, sp.csc_matrix])
    def test_of_another_kind_of_array(self, done, convert):
        done.X = done.X.astype(np.float32) if convert is np.float32 else convert(done.X)
        self.read(done)

    def test_of_a_dask_array(self, done):
        import dask.array as da

        done.X = da.from_array(done.X, chunks=(50, 40))
        self.read(done)

    def test_of_results_of_a_dask_array_in_memory(self, done):
        import dask.array as da

        x = done.X.copy()
        done.X = da.from_array(x, chunks=(50, 40))
        dn.tl.scorecard(done, "condition")
        done.X = x
        self.read(done)

    def test_when_columns_are_added_or_have_another_type(self, done):
        done.obs["more"] = 1
        done.var["more"] = 1
        done.obs["condition"] = pd.Categorical(done.obs["condition"], categories=["stim", "unused", "ctrl"])
        done.layers["more"] = done.X.copy()
        self.read(done)

    def test_of_results_of_earlier_versions(self, done):
        for key in RESULTS:
            del done.uns[key]["data"]
        self.read(subset_features(done))


def test_only_the_layer_that_was_used_counts(done):
    dn.tl.scorecard(done, "condition", layer="double", key_added="of_layer")
    done.X = -done.X
    dn.get.scorecard(done, key="of_layer")
    done.layers["double"] = -done.layers["double"]
    with pytest.warns(dn.StaleResultsWarning, match=r"adata.layers\['double'\] has other values"):
        dn.get.scorecard(done, key="of_layer")


def test_a_metric_of_a_representation_looks_at_the_representation(done):
    done.obsm["X_pca"] = np.random.default_rng(0).normal(size=(120, 5))
    dn.tl.informed_distance(done, use_rep="X_pca", informed=False, key_added="of_pca")
    done.X = -done.X
    dn.get.informed_embedding(done, key="of_pca")
    done.obsm["X_pca"] = done.obsm["X_pca"] + 1
    with pytest.warns(dn.StaleResultsWarning, match=r"adata.obsm\['X_pca'\] has other values"):
        dn.get.informed_embedding(done, key="of_pca")


def test_covariates_count(done):
    dn.tl.scorecard(done, "condition", covariates=["age"], key_added="adjusted")
    done.obs["age"] += np.arange(120) % 2
    with pytest.warns(dn.StaleResultsWarning, match=r"adata.obs\['age'\] has other values"):
        dn.get.scorecard(done, key="adjusted")


def test_several_changes_are_listed(done):
    changed = relabel(transform_in_place(done))
    with pytest.warns(
        dn.StaleResultsWarning, match=r"obs\['condition'\] has other values and adata.X has other values"
    ):
        dn.get.scorecard(changed)


def test_a_new_call_ends_the_warning(done):
    changed = transform_in_place(done)
    dn.tl.scorecard(changed, "condition")
    dn.get.scorecard(changed)


def test_meta_features_are_not_computed_from_other_features(done):
    for change in (subset_features, rename_features):
        with (
            pytest.warns(dn.StaleResultsWarning),
            pytest.raises(ValueError, match=r"for other features than adata has now.*run dn.tl.disc"),
        ):
            dn.tl.meta_features(change(done.copy()))


def test_meta_features_of_fewer_observations_are_computed_with_a_warning(done):
    with pytest.warns(dn.StaleResultsWarning, match="there were 120 observations and are 110"):
        dn.tl.meta_features(subset_observations(done))


def test_panels_collect_what_readers_would_warn_of(done):
    changed = transform_in_place(done)
    with collected_staleness() as messages:
        dn.get.scorecard(changed)
        dn.get.scorecard(changed)
    assert len(messages) == 1
    assert "adata.X has other values" in messages[0]


def test_users_can_filter_the_warning(done):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.StaleResultsWarning)
        dn.get.scorecard(subset_features(done))


@pytest.mark.slow
def test_the_fingerprint_of_a_large_matrix_costs_little():
    import time

    from diffnb._anndata import changes, fingerprint
    from diffnb._anndata.params import ToolCall

    rng, n_per_row = np.random.default_rng(0), 100
    indices = np.concatenate([np.sort(rng.choice(5_000, n_per_row, replace=False)) for _ in range(20_000)])
    places = np.arange(0, indices.size + 1, n_per_row)
    x = sp.csr_matrix((rng.random(indices.size), indices, places), shape=(20_000, 5_000))
    obs = pd.DataFrame({"condition": np.arange(20_000) % 2}, index=[f"c{i}" for i in range(20_000)])
    adata = anndata.AnnData(x, obs=obs)
    found = fingerprint(adata, ToolCall("scorecard", {"groupby": "condition"}))
    start = time.process_time()
    for _ in range(5):
        assert changes(adata, found) == []
    assert time.process_time() - start < 1.0  # 5 ms each on a quiet machine


class TestOtherResults:
    """Results that were made of other results."""

    @pytest.fixture
    def enriched(self, made):
        adata = made.copy()
        adata.obs["time"], adata.obs["event"] = np.arange(120.0) + 1, True
        dn.tl.enrich(adata, {"first": adata.var_names[:10]}, key="disc")
        dn.tl.survival(adata)
        return adata

    @pytest.fixture
    def again(self, enriched):
        dn.tl.disc(enriched, "condition", n_components=2, n_clusters=3)
        dn.tl.informed_distance(enriched, n_clusters=5)
        return enriched

    @pytest.mark.parametrize(("read", "key"), [(dn.get.enrich, "disc"), (dn.get.survival, "informed")])
    def test_are_stale_when_those_were_computed_again(self, again, read, key):
        with pytest.warns(dn.StaleResultsWarning, match=f"the results under key='{key}', which they were made of"):
            read(again)

    def test_are_current_as_long_as_those_are_the_same(self, enriched, tmp_path):
        dn.tl.meta_features(enriched)
        dn.tl.scorecard(enriched, "condition")
        dn.tl.disc(enriched, "condition", n_components=2, n_clusters=2)  # the same once more
        enriched.write_h5ad(tmp_path / "a.h5ad")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of zarr's next version
            enriched.write_zarr(tmp_path / "a.zarr")
        for adata in (enriched, anndata.read_h5ad(tmp_path / "a.h5ad"), anndata.read_zarr(tmp_path / "a.zarr")):
            shuffled = adata[::-1, ::-1].copy()
            for each in (adata, shuffled):
                dn.get.enrich(each)
                dn.get.survival(each)

    def test_do_not_matter_where_groups_are_given(self, enriched):
        dn.tl.survival(enriched, "condition", key_added="given")
        dn.tl.informed_distance(enriched, n_clusters=5)
        dn.get.survival(enriched, key="given")
