import numpy as np
import pytest

import diffnb as dn


@pytest.fixture
def seen(toy):
    adata = toy.copy()
    dn.tl.meta_features(adata)
    return adata


def test_without_an_embedding_meta_features_are_the_axes(seen):
    figure = dn.pl.disc_observations(seen, group="B")
    assert figure.axes[0].get_xlabel() == "B: meta-feature 1"
    assert figure.axes[0].get_ylabel() == "B: meta-feature 2"
    points = figure.axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 0], dn.get.meta_features(seen)["B_1"])


def test_an_embedding_is_found_or_named(seen, rng):
    seen.obsm["X_pca"] = rng.normal(size=(seen.n_obs, 5))
    assert dn.pl.disc_observations(seen).axes[0].get_xlabel() == "pca 1"
    seen.obsm["X_umap"] = rng.normal(size=(seen.n_obs, 2))
    assert dn.pl.disc_observations(seen).axes[0].get_xlabel() == "umap 1"
    assert dn.pl.disc_observations(seen, basis="X_pca").axes[1].get_ylabel() == "pca 2"


def test_spatial_coordinates_have_equal_scales(seen, rng):
    seen.obsm["spatial"] = rng.normal(size=(seen.n_obs, 2))
    axes = dn.pl.disc_observations(seen, basis="spatial").axes[0]
    assert axes.get_aspect() == 1.0
    assert axes.yaxis_inverted()


def test_values_are_in_standard_deviations_of_the_vector(seen):
    figure = dn.pl.disc_observations(seen, group="B", component=2)
    drawn = np.asarray(figure.axes[1].collections[0].get_array())
    values = dn.get.meta_features(seen)["B_2"].to_numpy()
    np.testing.assert_allclose(np.sort(drawn), np.sort((values - values.mean()) / values.std()), rtol=1e-6)


def test_one_vector_is_enough(seen):
    dn.tl.disc(seen, "condition", n_components=1, n_clusters=2)
    dn.tl.meta_features(seen)
    assert dn.pl.disc_observations(seen).axes[0].get_ylabel() == "A: meta-feature 1"


@pytest.mark.parametrize(
    ("basis", "message"), [("X_umpa", "not in adata.obsm"), ("line", r"two columns are needed to draw")]
)
def test_what_cannot_be_drawn_on_is_refused(seen, basis, message):
    seen.obsm["line"] = np.ones((seen.n_obs, 1))
    with pytest.raises(ValueError, match=message):
        dn.pl.disc_observations(seen, basis=basis)


def test_a_vector_that_was_not_computed_is_refused(seen):
    with pytest.raises(ValueError, match="4 vectors were computed"):
        dn.pl.disc_observations(seen, component=5)


@pytest.mark.filterwarnings("ignore::diffnb.StaleResultsWarning")
def test_observations_without_a_condition_are_faint(seen):
    seen.obs.loc[seen.obs_names[:5], "condition"] = None
    figure = dn.pl.disc_observations(seen)
    colours = figure.axes[0].collections[0].get_facecolors()
    assert len(np.unique(colours.round(3), axis=0)) == 3
