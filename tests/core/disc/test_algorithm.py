from dataclasses import replace

import numpy as np
import pytest
from reference import disc as plain

import diffnb as dn
from diffnb.core.disc.algorithm import (
    Settings,
    as_points,
    diffusion_map,
    disc,
    feature_walk,
    limited,
    pooled_moments,
    scores,
)
from diffnb.core.spectral import eigen as spectrum


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
def test_equals_the_recipe_on_every_toy(toy, trivial):
    make, k, d = TOYS[toy]
    matrices = by_condition(make(n_obs=400))
    ours = disc(matrices, Settings(k, (d,) * len(matrices), project_trivial=trivial, n_components=5))
    for m, (sigma, vectors) in enumerate(plain.disc(matrices, k, d, n_components=5, trivial_in_u=trivial)):
        np.testing.assert_allclose(ours.sigma[m], sigma, atol=1e-10)
        cosines = np.linalg.svd(ours.vectors[m].T @ vectors, compute_uv=False)
        assert cosines.min() > 1 - 1e-8


@pytest.mark.parametrize("kernel", ["self_tuning_product", "rbf"])
@pytest.mark.parametrize("density_normalize", [True, False])
def test_equals_the_recipe_for_other_kernels(two_conditions, kernel, density_normalize):
    options = {"kernel": kernel, "density_normalize": density_normalize}
    ours = disc(two_conditions, Settings(6, (4, 4), n_components=3, **options))
    theirs = plain.disc(two_conditions, 6, 4, n_components=3, trivial_in_u=True, **options)
    for m in range(2):
        np.testing.assert_allclose(ours.sigma[m], theirs[m][0], atol=1e-10)


@pytest.mark.parametrize("graph", ["dense", "knn"])
@pytest.mark.parametrize("metric", ["euclidean", "correlation", "cosine"])
@pytest.mark.parametrize("standardize", [None, "global", "within"])
def test_is_the_same_for_every_kind_of_array(array_type, two_conditions, graph, metric, standardize):
    x = [np.where(np.abs(m) > 0.7, m, 0.0) for m in two_conditions]
    settings = Settings(6, (4, 4), graph=graph, metric=metric, standardize=standardize, n_components=3)
    ours, dense = disc([array_type(m) for m in x], settings), disc(x, settings)
    np.testing.assert_allclose(ours.sigma, dense.sigma, atol=1e-10)
    np.testing.assert_allclose(ours.vectors, dense.vectors, atol=1e-8)


def test_float32_is_close(two_conditions):
    settings = Settings(6, (4, 4), n_components=2)
    single = disc([x.astype(np.float32) for x in two_conditions], settings)
    np.testing.assert_allclose(single.sigma, disc(two_conditions, settings).sigma, atol=1e-4)


def test_iterative_and_direct_solvers_agree(monkeypatch, two_conditions):
    settings = Settings(6, (4, 5), n_components=3)
    direct = disc(two_conditions, settings)
    monkeypatch.setattr(spectrum, "MAX_DIRECT_NODES", 0)
    iterative = disc(two_conditions, settings)
    np.testing.assert_allclose(iterative.sigma, direct.sigma, atol=1e-10)
    np.testing.assert_allclose(iterative.vectors, direct.vectors, atol=1e-7)


def test_swapping_conditions_swaps_results(two_conditions):
    settings = Settings(6, (4, 4))
    ours, swapped = disc(two_conditions, settings), disc(two_conditions[::-1], settings)
    np.testing.assert_allclose(ours.sigma, swapped.sigma[::-1], atol=1e-12)


def test_vectors_follow_their_features(two_conditions, rng):
    settings = Settings(6, (4, 4), n_components=2)
    order = rng.permutation(40)
    moved = disc([x[:, order] for x in two_conditions], settings)
    np.testing.assert_allclose(moved.vectors, disc(two_conditions, settings).vectors[:, order], atol=1e-9)


def test_vectors_are_orthonormal_and_off_the_other_conditions(two_conditions):
    settings = Settings(6, (4, 4), n_components=5)
    result = disc(two_conditions, settings)
    np.testing.assert_allclose(result.vectors[0].T @ result.vectors[0], np.eye(5), atol=1e-10)
    other = feature_walk(as_points(two_conditions, None)[1], settings)
    u = spectrum.walk_eigenvectors(other, 4)[1]
    np.testing.assert_allclose(u.T @ result.vectors[0], 0, atol=1e-10)


def test_scale_of_all_data_changes_nothing(two_conditions):
    settings = Settings(6, (4, 4))
    np.testing.assert_allclose(
        disc([1e-3 * x for x in two_conditions], settings).sigma,
        disc(two_conditions, settings).sigma,
        atol=1e-11,
    )


def test_within_standardising_forgets_shifts_and_scales(two_conditions, rng):
    settings = Settings(6, (4, 4), standardize="within")
    other = [two_conditions[0], two_conditions[1] * rng.uniform(0.5, 2, 40) + rng.normal(size=40)]
    np.testing.assert_allclose(disc(other, settings).sigma, disc(two_conditions, settings).sigma, atol=1e-10)


def test_pooled_moments_are_those_of_all_rows(array_type, two_conditions):
    mean, sd = pooled_moments([array_type(x) for x in two_conditions])
    together = np.concatenate(two_conditions)
    np.testing.assert_allclose(mean, together.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(sd, together.std(axis=0), atol=1e-12)


def test_the_new_group_is_found(two_conditions):
    result = disc(two_conditions, Settings(8, (4, 4), n_components=2))
    strongest = np.argsort(-np.abs(result.vectors[1, :, 0]))[:10]
    assert set(strongest) == set(range(10, 20))


def test_components_are_limited_to_what_is_left():
    settings = limited(Settings(3, (5, 8), n_components=10), 12)
    assert settings.n_components == 3


def test_diffusion_maps_leave_the_constant_vector_out(two_conditions):
    values, vectors = diffusion_map(two_conditions[0], 3, Settings(6, ()))
    assert values[0] < 1 - 1e-6
    assert np.ptp(vectors[:, 0]) > 0.1


def test_an_average_feature_scores_one(rng):
    found = scores(rng.normal(size=(50, 3)), np.array([0.5, 0.2, 0.1]))
    assert np.mean(found**2) == pytest.approx(1.0)


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


def test_settings_are_not_changed_by_a_run(two_conditions):
    settings = Settings(6, (4, 4))
    before = replace(settings)
    disc(two_conditions, settings)
    assert settings == before
