import anndata
import numpy as np
import pytest
import scipy.sparse as sp

import diffnb as dn
from diffnb._options import auto_min_features
from diffnb.core.dufs import DufsFit, DufsSettings
from diffnb.tl import _dufs

QUICK = {"n_steps": 4}


@pytest.fixture
def moons():
    return dn.datasets.two_moons(10, random_state=5)


@pytest.mark.parametrize("n_nuisance", [10, 20])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_both_moons_are_found_among_nuisance_features(n_nuisance, seed):
    adata = dn.datasets.two_moons(n_nuisance, random_state=seed)
    dn.tl.dufs(adata, random_state=seed)
    assert adata.var_names[adata.var["dufs"]].tolist() == ["moon_x", "moon_y"]


@pytest.mark.parametrize(
    "options",
    [{"gates": "per_sample"}, {"gates": "per_feature"}, {"optimizer": "adam"}, {"power": 1}, {"power": 3}],
    ids=lambda options: "-".join(map(str, *options.items())),
)
def test_both_moons_come_first_with_every_kind_of_training(options):
    first = 0
    for seed in range(21, 24):
        adata = dn.datasets.two_moons(10, random_state=seed)
        dn.tl.dufs(adata, random_state=seed, **options)
        first += set(dn.get.dufs(adata).index[:2]) == {"moon_x", "moon_y"}
    assert first >= 2


@pytest.mark.parametrize(
    ("options", "steps", "rate"),
    [
        ({}, 200, 0.05),
        ({"gates": "per_feature"}, 1000, 0.01),
        ({"gates": "per_sample", "n_steps": 7}, 7, 0.01),
        ({"optimizer": "sgd", "learning_rate": 2}, 5000, 2.0),
    ],
)
def test_drawn_gates_are_trained_in_more_and_shorter_steps(moons, monkeypatch, options, steps, rate):
    class Seen(Exception):
        pass

    def fit(matrix, options, **_):
        assert (options.n_steps, options.learning_rate) == (steps, rate)
        raise Seen

    monkeypatch.setattr(_dufs, "fit_dufs", fit)
    with pytest.raises(Seen):
        dn.tl.dufs(moons, **options)


@pytest.mark.parametrize("name", ["n_steps", "learning_rate"])
def test_a_word_other_than_auto_is_refused(moons, name):
    with pytest.raises(ValueError, match=f"{name}='many' .*'auto'"):
        dn.tl.dufs(moons, **{name: "many"})


def test_results_have_their_places(moons):
    assert dn.tl.dufs(moons, n_features=3, **QUICK) is None
    assert moons.var["dufs"].dtype == bool
    assert int(moons.var["dufs"].sum()) == 3
    assert moons.varm["dufs"].columns.tolist() == ["gate", "mu"]
    assert moons.uns["dufs"]["params"]["n_features"] == 3
    assert len(moons.uns["dufs"]["training"]["loss"]) == 4
    assert "penalty" not in moons.uns["dufs"]


def test_a_copy_leaves_the_original_alone(moons):
    found = dn.tl.dufs(moons, copy=True, key_added="mine", n_features=3, **QUICK)
    assert "mine" in found.uns
    assert not moons.uns
    assert "mine" not in moons.var


@pytest.mark.filterwarnings("ignore:.*zarr v[23]")
@pytest.mark.parametrize("kind", ["h5ad", "zarr"])
def test_results_come_back_from_a_file(moons, tmp_path, kind):
    dn.tl.dufs(moons, penalty="warm", n_features=2, **QUICK)
    dn.tl.laplacian_score(moons)
    getattr(moons, f"write_{kind}")(tmp_path / f"a.{kind}")
    back = getattr(anndata, f"read_{kind}")(tmp_path / f"a.{kind}")
    for read in (dn.get.dufs, dn.get.dufs_training, dn.get.laplacian_score):
        assert read(back).equals(read(moons))
    np.testing.assert_array_equal(back.uns["dufs"]["warm"]["score"], moons.uns["dufs"]["warm"]["score"])


def test_constant_and_masked_features_are_excluded(moons):
    moons.X[:, 4] = 2.0
    moons.var["used"] = np.arange(12) != 7
    with pytest.warns(UserWarning, match="1 constant feature left out"):
        dn.tl.dufs(moons, mask_var="used", n_features=10, **QUICK)
    gates = moons.varm["dufs"]["gate"]
    assert np.flatnonzero(gates.isna()).tolist() == [4, 7]
    assert not moons.var["dufs"].iloc[[4, 7]].any()
    assert int(moons.var["dufs"].sum()) == 10


def test_layers_are_read(moons):
    moons.layers["other"] = moons.X[:, ::-1].copy()
    dn.tl.dufs(moons, layer="other", n_features=3, **QUICK)
    other = anndata.AnnData(moons.layers["other"])
    dn.tl.dufs(other, n_features=3, **QUICK)
    np.testing.assert_array_equal(moons.varm["dufs"]["mu"], other.varm["dufs"]["mu"])


def test_sparse_and_dense_float32_give_the_same(moons):
    x = np.where(np.abs(moons.X) > 0.5, moons.X, 0).astype(np.float32)
    tables = []
    for kind in (np.asarray, sp.csr_matrix, sp.csc_matrix):
        adata = anndata.AnnData(kind(x), var=moons.var)
        dn.tl.dufs(adata, batch_size=40, n_steps=8)
        assert adata.X.dtype == np.float32
        tables.append(adata.varm["dufs"]["mu"])
    np.testing.assert_allclose(tables[1], tables[0], atol=1e-6)
    np.testing.assert_allclose(tables[2], tables[0], atol=1e-6)


def test_scanpy_takes_the_selection_as_a_mask(moons):
    import scanpy as sc

    dn.tl.dufs(moons)
    sc.pp.pca(moons, n_comps=1, mask_var="dufs")
    loadings = np.abs(moons.varm["PCs"][:, 0])
    assert (loadings[:2] > 0.1).all()
    assert not loadings[2:].any()


def test_the_penalty_that_was_used_is_stored(moons):
    dn.tl.dufs(moons, penalty=0.5, n_features=2, **QUICK)
    assert moons.uns["dufs"]["penalty"] > 0
    assert "warm" not in moons.uns["dufs"]


def test_a_selection_never_collapses_below_min_features(moons):
    with pytest.warns(UserWarning, match="no gate stays open: the 2 features with the largest gates are selected"):
        dn.tl.dufs(moons, penalty=1000.0)
    assert moons.var["dufs"].sum() == 2
    assert dn.get.dufs_summary(moons)["value"].to_dict() == {
        "selected": 2,
        "features": 12,
        "open": 0,
        "min_features": 2,
        "scale": 5.0,
        "edge": "few",
    }
    with pytest.warns(UserWarning, match="only 2 of 12 gates stay open: the 5 features with the largest"):
        dn.tl.dufs(moons, min_features=5)
    leading = dn.get.dufs(moons)
    assert leading["selected"].tolist() == [True] * 5 + [False] * 7


def test_open_gates_of_most_features_give_a_warning(rng):
    adata = anndata.AnnData(rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 120)))
    with pytest.warns(UserWarning, match=r"120 of 120 gates stay open: the gates hardly distinguish"):
        dn.tl.dufs(adata)
    assert dn.get.dufs_summary(adata).loc["edge", "value"] == "most"


def test_open_gates_of_a_few_features_are_no_sign_of_trouble(rng):
    adata = anndata.AnnData(rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 30)))
    dn.tl.dufs(adata)
    assert dn.get.dufs_summary(adata).loc["edge", "value"] == "none"


def test_a_number_that_was_asked_for_needs_no_warning(rng):
    adata = anndata.AnnData(rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 120)))
    dn.tl.dufs(adata, n_features=1)
    assert adata.var["dufs"].sum() == 1
    assert dn.get.dufs_summary(adata).loc["edge", "value"] == "most"


@pytest.mark.parametrize(("n_features", "least"), [(1, 1), (12, 2), (202, 2), (5000, 50)])
def test_one_percent_of_the_features_is_the_least(n_features, least):
    assert auto_min_features(n_features) == least


def test_the_bar_counts_and_grows_when_training_starts_again(moons, monkeypatch):
    counted = []

    def two_trainings(matrix, options, *, progress):
        step = progress(3)
        for _ in range(5):
            step()
            counted.append(1)
        one, p = np.ones(1), matrix.shape[1]
        return DufsFit(DufsSettings(p, p, len(matrix), 5.0, np.nan), np.ones(p), np.ones(p, dtype=bool), one, one, one)

    monkeypatch.setattr(_dufs, "fit_dufs", two_trainings)
    dn.tl.dufs(moons, n_features=12)
    assert len(counted) == 5


def test_nothing_is_written_when_training_fails(moons, monkeypatch):
    def fail(*args, progress, **options):
        progress(3)()
        raise KeyboardInterrupt

    monkeypatch.setattr(_dufs, "fit_dufs", fail)
    with pytest.raises(KeyboardInterrupt):
        dn.tl.dufs(moons)
    assert not moons.uns
    assert "dufs" not in moons.var


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"gates": "random"}, ValueError, "gates='random' is not an option"),
        ({"bandwidth": "mean"}, ValueError, "bandwidth='mean' is not an option"),
        ({"optimizer": "adams"}, ValueError, "Did you mean 'adam'"),
        ({"standardize": "within"}, ValueError, "standardize='within' is not an option"),
        ({"min_features": 13}, ValueError, "min_features=13 must be between 1 and 12"),
        ({"n_features": 13}, ValueError, "n_features=13 must be between 1 and 12"),
        ({"penalty": "cold"}, ValueError, "penalty='cold' is not an option"),
        ({"penalty": "warm"}, ValueError, "give n_features"),
        ({"penalty": -1.0}, ValueError, "penalty=-1.0 must be 0 or larger"),
        ({"scale": 0}, ValueError, "scale=0 must be larger than 0"),
        ({"scale": "5"}, TypeError, "scale='5' must be a number, got str"),
        ({"learning_rate": True}, TypeError, "learning_rate=True must be a number"),
        ({"learning_rate": np.inf}, ValueError, "learning_rate=inf must be larger than 0"),
        ({"power": 4}, ValueError, "power=4 must be between 1 and 3"),
        ({"n_neighbors": 1}, ValueError, "n_neighbors=1 must be between 2 and 100"),
        ({"batch_size": 2}, ValueError, "batch_size=2 must be at least 3"),
        ({"n_steps": 0}, ValueError, "n_steps=0 must be at least 1"),
        ({"n_restarts": 1.5}, TypeError, "n_restarts=1.5 must be an integer"),
        ({"mask_var": "nothing"}, ValueError, "mask_var='nothing' is not a column"),
    ],
)
def test_errors_name_the_argument(moons, options, error, message):
    with pytest.raises(error, match=message):
        dn.tl.dufs(moons, **options)
    assert not moons.uns


def test_too_few_observations_are_refused(moons):
    with pytest.raises(ValueError, match="adata has 2 observations; at least 3 are needed"):
        dn.tl.dufs(moons[:2])
