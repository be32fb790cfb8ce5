import numpy as np
import pytest
from reference import disc as plain

import diffnb as dn
from diffnb.core.disc.algorithm import fit_disc, fit_walks, refit, resolve
from diffnb.core.disc.settings import DiscOptions, DiscSettings, FeatureGraphOptions, FeatureGraphSettings
from diffnb.core.spectral import eigen as spectrum

SETTINGS = DiscSettings(FeatureGraphSettings(6), (4, 4))


def by_condition(adata):
    return [adata.X[(adata.obs["condition"] == c).to_numpy()] for c in adata.obs["condition"].cat.categories]


TOYS = {
    "newly": (dn.datasets.newly_connected, 30, 20),
    "subsets": (dn.datasets.subsets_of_connected, 80, 50),
    "both ways": (dn.datasets.split_both_ways, 30, 20),
    "three": (dn.datasets.three_conditions, 30, 20),
}


@pytest.mark.parametrize("toy", list(TOYS))
@pytest.mark.parametrize("trivial", [True, False], ids=["trivial in U", "authors' code"])
def test_equals_the_equations_on_every_toy(toy, trivial):
    make, k, d = TOYS[toy]
    matrices = by_condition(make(n_obs=400))
    settings = DiscSettings(FeatureGraphSettings(k), (d,) * len(matrices), n_components=5, project_trivial=trivial)
    ours = refit(matrices, settings)
    for m, (sigma, vectors) in enumerate(plain.disc(matrices, k, d, n_components=5, trivial_in_u=trivial)):
        np.testing.assert_allclose(ours.sigma[m], sigma, atol=1e-10)
        cosines = np.linalg.svd(ours.vectors[m].T @ vectors, compute_uv=False)
        assert cosines.min() > 1 - 1e-8


@pytest.mark.parametrize("kernel", ["self_tuning_product", "rbf"])
@pytest.mark.parametrize("density_normalize", [True, False])
def test_equals_the_equations_for_other_kernels(two_conditions, kernel, density_normalize):
    options = {"kernel": kernel, "density_normalize": density_normalize}
    ours = refit(two_conditions, DiscSettings(FeatureGraphSettings(6, **options), (4, 4), n_components=3))
    theirs = plain.disc(two_conditions, 6, 4, n_components=3, trivial_in_u=True, **options)
    for m in range(2):
        np.testing.assert_allclose(ours.sigma[m], theirs[m][0], atol=1e-10)


@pytest.mark.parametrize("kind", ["dense", "knn"])
@pytest.mark.parametrize("metric", ["euclidean", "correlation", "cosine"])
@pytest.mark.parametrize("standardize", [None, "global", "within"])
def test_is_the_same_for_every_kind_of_array(array_type, two_conditions, kind, metric, standardize):
    x = [np.where(np.abs(m) > 0.7, m, 0.0) for m in two_conditions]
    settings = DiscSettings(
        FeatureGraphSettings(6, kind, metric=metric, standardize=standardize), (4, 4), n_components=3
    )
    ours, dense = refit([array_type(m) for m in x], settings), refit(x, settings)
    np.testing.assert_allclose(ours.sigma, dense.sigma, atol=1e-10)
    np.testing.assert_allclose(ours.vectors, dense.vectors, atol=1e-8)


def test_float32_is_close(two_conditions):
    single = refit([x.astype(np.float32) for x in two_conditions], SETTINGS)
    np.testing.assert_allclose(single.sigma, refit(two_conditions, SETTINGS).sigma, atol=1e-4)


def test_iterative_and_direct_solvers_agree(monkeypatch, two_conditions):
    settings = DiscSettings(FeatureGraphSettings(6), (4, 5), n_components=3)
    direct = refit(two_conditions, settings)
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", 0)
    iterative = refit(two_conditions, settings)
    np.testing.assert_allclose(iterative.sigma, direct.sigma, atol=1e-10)
    np.testing.assert_allclose(iterative.vectors, direct.vectors, atol=1e-7)


def test_swapping_conditions_swaps_results(two_conditions):
    ours, swapped = refit(two_conditions, SETTINGS), refit(two_conditions[::-1], SETTINGS)
    np.testing.assert_allclose(ours.sigma, swapped.sigma[::-1], atol=1e-12)


def test_vectors_follow_their_features(two_conditions, rng):
    settings = DiscSettings(FeatureGraphSettings(6), (4, 4), n_components=2)
    order = rng.permutation(40)
    moved = refit([x[:, order] for x in two_conditions], settings)
    np.testing.assert_allclose(moved.vectors, refit(two_conditions, settings).vectors[:, order], atol=1e-9)


def test_vectors_are_orthonormal_and_off_the_other_conditions(two_conditions):
    result = refit(two_conditions, DiscSettings(FeatureGraphSettings(6), (4, 4), n_components=5))
    np.testing.assert_allclose(result.vectors[0].T @ result.vectors[0], np.eye(5), atol=1e-10)
    u = spectrum.walk_eigenvectors(result.walks[1], 4)[1]
    np.testing.assert_allclose(u.T @ result.vectors[0], 0, atol=1e-10)


def test_scale_of_all_data_changes_nothing(two_conditions):
    np.testing.assert_allclose(
        refit([1e-3 * x for x in two_conditions], SETTINGS).sigma,
        refit(two_conditions, SETTINGS).sigma,
        atol=1e-11,
    )


def test_standardising_within_conditions_removes_shifts_and_scales(two_conditions, rng):
    settings = DiscSettings(FeatureGraphSettings(6, standardize="within"), (4, 4))
    other = [two_conditions[0], two_conditions[1] * rng.uniform(0.5, 2, 40) + rng.normal(size=40)]
    np.testing.assert_allclose(refit(other, settings).sigma, refit(two_conditions, settings).sigma, atol=1e-10)


def test_the_new_group_is_found(two_conditions):
    result = refit(two_conditions, DiscSettings(FeatureGraphSettings(8), (4, 4), n_components=2))
    strongest = np.argsort(-np.abs(result.vectors[1, :, 0]))[:10]
    assert set(strongest) == set(range(10, 20))


def stochastic_blocks(sizes, rng, inside=0.5, outside=0.1):
    member = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(member[:, None] == member, inside, outside)
    upper = np.triu(rng.uniform(size=chance.shape) < chance, 1)
    return (upper | upper.T).astype(float)


@pytest.mark.parametrize("alpha", [0.7, 0.8])
def test_third_eigenvalue_of_two_block_models_grows_as_the_theory_says(alpha):
    """Sec. 3.3 and App. E.6: λ₃ of W_B is proportional to s = l^α."""
    lengths = np.array([200, 400, 800])
    grown = []
    for length in lengths:
        s = round(length**alpha)
        values = [
            np.linalg.eigvalsh(stochastic_blocks([length, length, s], np.random.default_rng(seed)))[-3]
            for seed in (0, 1)
        ]
        grown.append(np.mean(values))
    slope = np.polyfit(np.log(lengths), np.log(grown), 1)[0]
    assert slope == pytest.approx(alpha, abs=0.12)


def test_the_split_off_block_comes_closer_to_its_indicator_as_blocks_grow():
    """Lemmas 1 and 2: the distance of the leading vector to the block's indicator falls with l for s = l^α."""
    distances, errors = [], []
    for length in (50, 150, 450):
        s = round(length**0.7)
        found = [split_off(length, s, seed) for seed in range(4)]
        distances.append(np.mean([np.linalg.norm(v - truth / np.sqrt(s)) for v, truth in found]))
        errors.append(np.mean([((v > 1 / (2 * np.sqrt(s))) != truth).sum() / s for v, truth in found]))
    assert distances[0] > distances[1] > distances[2]
    assert errors[2] < 0.02


def split_off(length, s, seed):
    rng = np.random.default_rng(seed)
    w_a = stochastic_blocks([length, length + s], rng)
    w_b = stochastic_blocks([length, length, s], rng)
    u = np.linalg.eigh(w_a)[1][:, -2:]
    q = np.eye(len(u)) - u @ u.T
    v = np.linalg.eigh(q @ w_b @ q)[1][:, -1]
    truth = np.arange(len(v)) >= 2 * length
    return v * np.sign(v[truth].sum()), truth


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("kind", ["auto", "knn"])
def test_a_fit_is_the_refit_with_its_settings(two_conditions, kind, trivial):
    """Eigenpairs that were computed to resolve the options give the same vectors as new ones."""
    fit = fit_disc(
        two_conditions, DiscOptions(graph=FeatureGraphOptions(kind=kind), n_components=3, project_trivial=trivial)
    )
    again = refit(two_conditions, fit.settings)
    np.testing.assert_allclose(fit.sigma, again.sigma, rtol=1e-12)
    np.testing.assert_allclose(fit.vectors, again.vectors, atol=1e-10)


OPTIONS = {
    "all open": DiscOptions(),
    "given": DiscOptions(graph=FeatureGraphOptions(kind="knn", n_neighbors=7), n_eigenvectors=(3, 5)),
    "without the trivial vector": DiscOptions(project_trivial=False, n_components=100),
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_resolving_gives_the_settings_of_the_fit(two_conditions, options):
    assert resolve(two_conditions, options) == fit_disc(two_conditions, options).settings


def test_given_numbers_are_not_resolved(two_conditions, monkeypatch):
    monkeypatch.setattr("diffnb.core.disc.algorithm.feature_walk", None)  # no graph is needed
    settings = resolve(two_conditions, OPTIONS["given"])
    assert (settings.graph.kind, settings.graph.n_neighbors, settings.n_eigenvectors) == ("knn", 7, (3, 5))


@pytest.mark.parametrize("trivial", [True, False])
def test_the_trivial_vector_counts_when_it_is_projected(two_conditions, trivial):
    settings = resolve(two_conditions, DiscOptions(project_trivial=trivial))
    assert settings.n_eigenvectors == ((3, 3) if trivial else (2, 2))


def test_components_are_limited_to_the_dimensions_that_remain(two_conditions):
    assert fit_disc(two_conditions, DiscOptions(n_eigenvectors=(30, 35))).sigma.shape == (2, 4)


def test_a_fit_has_the_walks_and_eigenvalues_of_every_condition(two_conditions):
    fit = fit_disc(two_conditions, DiscOptions())
    for walk, values in zip(fit.walks, fit.eigenvalues, strict=True):
        np.testing.assert_allclose(values[:3], spectrum.walk_eigenvectors(walk, 3)[0], atol=1e-12)
    np.testing.assert_array_equal(fit_walks(fit.walks, fit.settings).sigma, refit(two_conditions, fit.settings).sigma)


def test_a_fit_without_walks_keeps_everything_else(two_conditions):
    fit = fit_disc(two_conditions, DiscOptions())
    light = fit.without_walks()
    assert light.walks == []
    assert light.sigma is fit.sigma
    assert light.vectors is fit.vectors
    assert light.settings == fit.settings
