"""Arguments of tools that simulate, compare data sets or prepare data: refused in words, before any work."""

import anndata
import numpy as np
import pytest
from interruptions import FAST, example, quiet, reference

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


def scorecard(adata, **options):
    dn.tl.scorecard(adata, "condition", **options)


def trend(adata, **options):
    dn.tl.scorecard(adata, "time", trend=True, **options)


def project(adata, **options):
    dn.tl.project(adata, reference(), **options)


def enrich(adata, **options):
    dn.tl.enrich(adata, "some", key="disc", **options)


def time_blocks(adata, **options):
    dn.pp.time_blocks(adata, "condition", length=4, **options)


STORING = [scorecard, trend, power, preserve, project, enrich, match_depth, time_blocks]


@pytest.mark.parametrize("name", ["overwrite", "copy"])
@pytest.mark.parametrize("call", STORING)
def test_texts_are_no_booleans(result, call, name):
    """`overwrite="no"` once replaced what was not ours."""
    for value in ("no", 0, None, np.array([True, False])):
        with pytest.raises(TypeError, match=f"{name}=.* must be True or False"):
            call(result.copy(), **{name: value})


@pytest.mark.parametrize("call", STORING)
def test_data_without_observations_is_refused(result, call):
    with pytest.raises(ValueError, match="has no observations"):
        call(result[:0].copy())


@pytest.mark.parametrize(
    ("call", "options", "error", "words"),
    [
        (preserve, {"match_variance": "no"}, TypeError, "match_variance='no' must be True or False"),
        (preserve, {"sample_key": ["donor"]}, ValueError, "sample_key=.* is not a column"),
        (power, {"n_units": None}, TypeError, "n_units=None must be an integer"),
        (power, {"n_units": []}, ValueError, "n_units=.* holds no number of units"),
        (power, {"reference": np.array(["A", "B"])}, ValueError, "is not a category"),
        (trend, {"reference": np.array(["A", "B"])}, ValueError, "a trend has none"),
        (trend, {"covariates": 3}, TypeError, "covariates=3 must be a column of adata.obs, or a list"),
        (enrich, {"background": 3}, TypeError, "background=3 must be 'tested', 'all', the names"),
        (edges, {"key": ["disc"]}, TypeError, "must be a text"),
        (effects, {"key": ["disc"]}, TypeError, "must be a text"),
        (edges, {"layer": np.array([1, 2])}, ValueError, "is not a layer of adata"),
    ],
)
def test_arguments_of_another_kind_are_refused_in_words(result, call, options, error, words):
    with pytest.raises(error, match=words):
        call(result.copy(), **options)


@pytest.mark.parametrize("options", [{"keys": 3}, {"title": None}])
def test_reports_take_texts(result, tmp_path, options):
    with pytest.raises(TypeError, match=f"{next(iter(options))}="):
        dn.report(result, tmp_path / "report.html", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [preserve, project, time_blocks])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "NaN or infinite values in 1 feature: 'gene2'"),
        (np.inf, "NaN or infinite values in 1 feature: 'gene2'"),
        (1e200, "squares overflow"),
    ],
)
def test_values_that_cannot_be_computed_with_are_refused(result, call, value, words):
    """A projection of them was missing without a word, and a length of blocks ended in an error of Python's."""
    adata = result.copy()
    adata.X[3, 2] = value
    with pytest.raises(ValueError, match=words):
        call(adata)


@pytest.mark.parametrize("factor", [1e-300, 1e-160])
def test_preservation_refuses_values_whose_squares_vanish(result, factor):
    """They gave other p-values without a word."""
    adata = result.copy()
    adata.X *= factor
    with pytest.raises(ValueError, match="squares vanish"):
        preserve(adata)


def test_preservation_refuses_observations_without_a_sample(result):
    adata = result.copy()
    adata.obs["donor"] = adata.obs["donor"].astype(object)
    adata.obs.iloc[3, adata.obs.columns.get_loc("donor")] = None
    with pytest.raises(ValueError, match=r"sample_key='donor' of the query is missing for 1 observations"):
        preserve(adata, sample_key="donor")


@pytest.mark.parametrize("call", [dn.tl.project, lambda query, reference: dn.tl.preservation(reference, query)])
def test_a_reference_is_an_adata(result, call):
    with pytest.raises(TypeError, match="reference must be an AnnData, got str"):
        call(result.copy(), "disc")


def test_blocks_need_a_feature(result):
    with pytest.raises(ValueError, match="adata has no features"):
        time_blocks(result[:, :0].copy())


def test_ten_thousand_depths_are_refused_at_once(rng):
    adata = anndata.AnnData(rng.poisson(3.0, size=(20_000, 3)).astype(float))
    adata.obs["condition"] = [f"c{i // 2}" for i in range(20_000)]
    with pytest.raises(ValueError, match=r"10,000 conditions; depths of at most 2,000 can be matched"):
        dn.pp.match_depth(adata, "condition", layer=None)


def test_an_empty_x_without_layers_says_so(result):
    adata = result.copy()
    del adata.layers["counts"]
    adata.X = None
    with pytest.raises(ValueError, match=r"adata\.X is empty; it has no layers"):
        scorecard(adata)
