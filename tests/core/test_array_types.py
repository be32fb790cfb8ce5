"""Every method gives the same numbers for every kind of matrix, in memory or read in row blocks."""

from dataclasses import replace

import numpy as np
import pytest

from diffnb.core import disc, dufs, mahalanobis, scorecard, sparda

N_OBS, N_FEATURES = 48, 14
GRAPH = disc.FeatureGraphOptions(kind="dense", n_neighbors=3)
#: bytes: as many as by default, and so few that nothing fits at once
MEMORY = {"whole": 2**30, "in blocks": 16 * 8 * N_FEATURES * 5}


def disc_options(standardize=None):
    return disc.DiscOptions(graph=replace(GRAPH, standardize=standardize), n_eigenvectors=(4, 4), n_components=3)


def disc_on(standardize):
    def run(first, second, _):
        found = disc.fit_disc([first, second], disc_options(standardize))
        return {"vectors": found.vectors, "sigma": found.sigma}

    return run


def disc_significance(first, second, _):
    fit = disc.fit_disc([first, second], disc_options())
    found = disc.permutation_test(fit, [first, second], n_permutations=5, null="labels")
    return {"null": found.null_sigma}


def feature_change(first, second, _):
    return {"distance": disc.diffusion_change(*disc.feature_walks([first, second], GRAPH).walks)}


def scorecard_of(first, second, _):
    found = scorecard.fit_scorecard(first, second)
    return {"stat": found.stat, "pval": found.pval, "pval_adj": found.pval_adj}


def scorecard_by_sample(first, second, _):
    codes = np.arange(N_OBS // 2) % 4
    found = scorecard.fit_scorecard(first, second, samples=(codes, codes + 4))
    return {"stat": found.stat, "pval": found.pval}


def sparda_with(**options):
    def run(first, second, _):
        (found,) = sparda.fit_sparda(first, second, sparda.SpardaOptions(**options)).projections
        return {"weights": found.weights, "objective": np.array(found.objective), "path": found.path}

    return run


def laplacian_score(_, __, whole):
    found = dufs.fit_laplacian_score(whole, dufs.LaplacianScoreOptions(n_neighbors=4))
    return {"graph": found.graph.toarray(), "score": found.scores}


def dufs_gates(_, __, whole):
    found = dufs.fit_dufs(whole, dufs.DufsOptions(n_steps=15, batch_size=N_OBS))
    return {"mu": found.mu, "loss": found.loss}


def informed_with(**options):
    def run(_, __, whole):
        asked = mahalanobis.InformedOptions(n_components=2, n_neighbors=5, full=True, **options)
        return {"distances": mahalanobis.fit_informed(whole, asked).pairwise}

    return run


METHODS = {
    "DiSC": disc_on(None),
    "DiSC, standardised": disc_on("global"),
    "DiSC, standardised within": disc_on("within"),
    "DiSC, permuted": disc_significance,
    "diffusion change": feature_change,
    "scorecard": scorecard_of,
    "scorecard by sample": scorecard_by_sample,
    "PDA": sparda_with(n_features=None),
    "SPARDA": sparda_with(n_features=4),
    "Laplacian score": laplacian_score,
    "DUFS": dufs_gates,
    "informed distance": informed_with(n_clusters=3),
    "local informed distance": informed_with(n_clusters=3, local=True),
}


@pytest.fixture(scope="module")
def counts():
    """Sparse, with features that co-vary in one half of the observations and differ in mean between both."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(N_OBS, N_FEATURES))
    x[: N_OBS // 2, :5] += 2 * rng.gamma(1.0, size=(N_OBS // 2, 1))
    x[N_OBS // 2 :, 9] += 1.0
    return np.where(x > 1.0, x, 0.0)


def results(method, data):
    return METHODS[method](data[: N_OBS // 2], data[N_OBS // 2 :], data)


@pytest.fixture(scope="module")
def dense(counts):
    """What each method finds in the dense matrix, worked out once."""
    found = {}

    def of(method):
        if method not in found:
            found[method] = results(method, counts)
        return found[method]

    return of


@pytest.mark.parametrize("memory", list(MEMORY))
@pytest.mark.parametrize("method", list(METHODS))
def test_results_are_those_of_the_dense_matrix(method, memory, any_array_type, counts, dense, set_memory):
    expected = dense(method)
    set_memory(MEMORY[memory])
    found = results(method, any_array_type(counts))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-10, atol=1e-10, err_msg=name)
