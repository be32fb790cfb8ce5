"""σ of permuted observations is that of new matrices made of these rows."""

import numpy as np
import pytest
from reference import disc as plain

from diffnb.core.disc.permutable import as_permutable
from diffnb.core.disc.settings import DiscSettings, FeatureGraphSettings

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
