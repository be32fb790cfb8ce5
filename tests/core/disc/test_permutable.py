"""σ of permuted observations is that of new matrices made of these rows."""

import numpy as np
import pytest
from reference import disc as plain

from diffnb.core.arrays.count_correlations import count_correlations, shrinkage_noise
from diffnb.core.arrays.count_moments import Counts, fit_damping
from diffnb.core.disc.algorithm import fit_walks, refit
from diffnb.core.disc.feature_graph import feature_walk
from diffnb.core.disc.permutable import as_permutable
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings
from diffnb.core.spectral.points import Columns

N_OBS, N_FEATURES = (30, 45), 12
K, D = 3, 3
SAMPLES = [np.arange(30) % 3, 3 + np.arange(45) % 4]


def settings(standardize=None):
    return DiscSettings(FeatureGraphSettings(K, standardize=standardize), (D, D), n_components=4)


@pytest.fixture
def matrices(rng):
    x = [np.where(rng.random((n, N_FEATURES)) < 0.7, rng.normal(size=(n, N_FEATURES)), 0.0) for n in N_OBS]
    x[1][:, :5] += 2 * rng.normal(size=(45, 1))
    return x


@pytest.fixture
def conditions(any_array_type, matrices):
    """Conditions as rows of one array of any type, as they come from an AnnData."""
    whole = any_array_type(np.concatenate(matrices))
    return [whole[: N_OBS[0]], whole[N_OBS[0] :]]


def scaled(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def plain_sigma(matrices, rows, null, standardize):
    """Put the rows together and run the equations; under the null of connectivity, standardise before and after."""
    if null == "connectivity":
        matrices = [scaled(x) for x in matrices]
    everything = np.concatenate(matrices)
    chosen = [everything[r] for r in rows]
    if standardize == "global":
        together = np.concatenate(chosen)
        chosen = [(x - together.mean(axis=0)) / together.std(axis=0) for x in chosen]
    if standardize == "within":
        chosen = [scaled(x) for x in chosen]
    return np.stack([sigma for sigma, _ in plain.disc(chosen, K, D, n_components=4, trivial_in_u=True)])


def permutation(rng):
    return [np.sort(part) for part in np.split(rng.permutation(sum(N_OBS)), N_OBS[:1])]


CASES = [("labels", None), ("labels", "global"), ("labels", "within"), ("connectivity", "within")]


@pytest.mark.parametrize(("null", "standardize"), CASES)
def test_sigma_is_that_of_the_permuted_rows(conditions, matrices, rng, null, standardize):
    observations = as_permutable(conditions, null)
    for _ in range(2):
        rows = permutation(rng)
        found = observations.sigma(rows, settings(standardize))
        np.testing.assert_allclose(found, plain_sigma(matrices, rows, null, standardize), atol=1e-9)


@pytest.mark.parametrize(("null", "standardize"), CASES)
def test_rows_may_be_missing_or_repeated(conditions, matrices, rng, null, standardize):
    rows = [rng.integers(0, sum(N_OBS), size=n) for n in N_OBS]
    found = as_permutable(conditions, null).sigma(rows, settings(standardize))
    np.testing.assert_allclose(found, plain_sigma(matrices, rows, null, standardize), atol=1e-9)


@pytest.mark.parametrize(("null", "standardize"), CASES)
@pytest.mark.parametrize("memory", [2**30, 8 * 6 * N_FEATURES**2], ids=["sums by sample", "sums of rows"])
def test_whole_samples_give_the_sigma_of_their_rows(conditions, matrices, null, standardize, memory, set_memory):
    """Sums of each sample are kept where they fit; otherwise rows are read again."""
    set_memory(memory)
    codes = np.concatenate(SAMPLES)
    rows = [np.flatnonzero(np.isin(codes, chosen)) for chosen in ([0, 4, 6], [1, 2, 3, 5])]
    found = as_permutable(conditions, null, samples=SAMPLES).sigma(rows, settings(standardize))
    np.testing.assert_allclose(found, plain_sigma(matrices, rows, null, standardize), atol=1e-9)


def test_conditions_of_the_original_labels_have_the_sigma_of_the_fit(conditions, matrices):
    from diffnb.core.disc.algorithm import refit

    rows = [np.arange(30), np.arange(30, 75)]
    found = as_permutable(conditions, "labels").sigma(rows, settings())
    np.testing.assert_allclose(found, refit(matrices, settings()).sigma, rtol=1e-10)


class TestCounts:
    @pytest.fixture
    def counts(self, rng):
        found = []
        for n, depth in zip(N_OBS, (2.0, 4.0), strict=True):
            log_z = 0.6 * rng.normal(size=(n, N_FEATURES)) + 1
            log_z[:, :5] += 0.6 * rng.normal(size=(n, 1))
            size = depth * rng.lognormal(0, 0.3, size=n)
            found.append(Counts(rng.poisson(size[:, None] * np.exp(log_z)).astype(float), size))
        return found

    @pytest.fixture
    def of_any_type(self, any_array_type, counts):
        whole = any_array_type(np.concatenate([c.matrix for c in counts]))
        return [Counts(whole[: N_OBS[0]], counts[0].size), Counts(whole[N_OBS[0] :], counts[1].size)]

    @pytest.mark.parametrize("null", ["labels", "connectivity"])
    def test_conditions_of_the_original_labels_have_the_sigma_of_the_fit(self, of_any_type, counts, null):
        rows = np.split(np.arange(sum(N_OBS)), [N_OBS[0]])
        ours = as_permutable(of_any_type, null).sigma(rows, settings("within"))
        np.testing.assert_allclose(ours, refit(counts, settings("within")).sigma, atol=1e-9)

    def test_correlations_are_estimated_again_from_the_permuted_counts(self, of_any_type, counts, rng):
        rows = np.split(rng.permutation(sum(N_OBS)), [N_OBS[0]])
        both = Counts(np.concatenate([c.matrix for c in counts]), np.concatenate([c.size for c in counts]))
        damping = fit_damping(counts)
        noise = shrinkage_noise(counts, damping)
        points = [Columns((count_correlations([both[r]], damping, noise=noise),), within=True) for r in rows]
        expected = fit_walks([feature_walk(c, settings().graph) for c in points], settings()).sigma
        np.testing.assert_allclose(as_permutable(of_any_type, "labels").sigma(rows, settings()), expected, atol=1e-9)

    def test_shifts_and_scales_of_a_condition_do_not_enter_under_the_null_of_connectivity(self, rng):
        z = rng.gamma(2.0, 0.5, size=(2000, N_FEATURES))
        factors = np.linspace(0.5, 5, N_FEATURES)
        given = [Counts(rng.poisson(20 * z[:1000] * f).astype(float), np.ones(1000)) for f in (1.0, factors)]
        rows = np.split(rng.permutation(2000), [1000])
        connected = as_permutable(given, "connectivity").sigma(rows, settings())
        mixed = as_permutable(given, "labels").sigma(rows, settings())
        assert connected[:, 0].max() < mixed[:, 0].max()
