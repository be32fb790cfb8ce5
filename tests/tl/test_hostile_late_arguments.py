"""Arguments of tools that simulate, compare data sets or prepare data: refused in words, before any work."""

import numpy as np
import pytest
from interruptions import FAST, example, quiet

import diffnb as dn


@pytest.fixture(scope="module")
def result():
    adata = example()
    with quiet():  # of different depths, which do not matter here
        dn.tl.disc(adata, "condition", **FAST)
        dn.tl.scorecard(adata, "condition")
    return adata


def preserve(adata, **options):
    dn.tl.preservation(example(), adata, key="some", **options)


def power(adata, **options):
    dn.tl.power(adata, "condition", group_size=3, **options)


def match_depth(adata, **options):
    dn.pp.match_depth(adata, "condition", **options)


def edges(adata, **options):
    dn.get.edges(adata, **options)


def effects(adata, **options):
    dn.get.effects(adata, **options)


@pytest.mark.parametrize("call", [power, preserve, edges, effects])
@pytest.mark.parametrize(
    ("n_jobs", "error", "words"),
    [
        (0, ValueError, "n_jobs=0 would do nothing"),
        ("two", TypeError, "n_jobs='two' must be an integer"),
        (10**9, ValueError, "n_jobs=1000000000 must be between"),
        (np.inf, TypeError, "n_jobs=inf must be an integer"),
    ],
)
def test_numbers_of_threads_are_checked(result, call, n_jobs, error, words):
    with pytest.raises(error, match=words):
        call(result.copy(), n_jobs=n_jobs)


@pytest.mark.parametrize("call", [power, preserve, match_depth])
@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (2**40, ValueError), ("two", TypeError), (1.5, TypeError)]
)
def test_seeds_are_integers_that_can_be_kept(result, call, seed, error):
    with pytest.raises(error, match="random_state="):
        call(result.copy(), random_state=seed)


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (preserve, {"n_permutations": 10**9}),
        (power, {"n_simulations": 10**9}),
        (power, {"n_units": [10**9]}),
        (power, {"n_units": 2**40}),
    ],
)
def test_work_that_would_not_end_is_refused_before_it_begins(result, call, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}="):
        call(result.copy(), **options)


@pytest.mark.parametrize("layer", [[], {}, np.ones(1), 3])
def test_layers_are_named_by_texts(result, layer):
    with pytest.raises(ValueError, match=r"is not in adata\.layers"):
        match_depth(result.copy(), layer=layer)


@pytest.mark.parametrize("given", [3, "edges", [], {}])
def test_a_network_is_made_of_a_table(result, given):
    with pytest.raises(TypeError, match="edges must be a table"):
        dn.get.network(result, edges=given)


def test_detectors_refuse_fewer_pixels_than_covariances_need(result):
    for method in ("difference_rx", "chronochrome", "projected_chronochrome", "ir_mad"):
        with pytest.raises(ValueError, match="12 pixels, and needs more than 48"):
            dn.tl.feature_change(result.copy(), "condition", method=method)
    dn.tl.feature_change(result.copy(), "condition", method="spectral_angle")
