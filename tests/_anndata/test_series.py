import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from streams import dense_chunks

import diffnb as dn
from diffnb._anndata import pull, row_autocorrelation, warn_of_series


def smooth(rng, n, p=30):
    """Frames that resemble their neighbours."""
    noise = rng.normal(size=(n + 4, p))
    return sum(noise[i : n + i] for i in range(5)) / np.sqrt(5)


def labelled(x, **obs):
    index = [f"row_{i}" for i in range(len(obs["condition"]))]
    return ad.AnnData(x, obs=pd.DataFrame(obs, index=index))


@pytest.fixture
def series(rng):
    return labelled(smooth(rng, 400), condition=np.repeat(["rest", "task"], 200))


@pytest.mark.parametrize("tool", [dn.tl.disc, dn.tl.scorecard])
def test_frames_as_units_are_reported_with_the_remedy(series, tool):
    with pytest.warns(
        UserWarning, match=r"lag-1 correlation 0\.[78].*400 rows count as about.*time_blocks\(adata, 'condi"
    ):
        tool(series, "condition")


@pytest.mark.parametrize("tool", [dn.tl.disc, dn.tl.scorecard])
def test_blocks_as_units_are_not(series, tool):
    series.obs["condition"] = np.tile(np.repeat(["task", "rest"], 40), 5)
    dn.pp.time_blocks(series, "condition", length=40)
    tool(series, "condition", sample_key="block")


@pytest.mark.parametrize("tool", [dn.tl.disc, dn.tl.scorecard])
def test_conditions_that_hardly_alternate_are_warned_of(series, tool):
    dn.pp.time_blocks(series, "condition")
    with pytest.warns(UserWarning, match="few stretches of the recording"):
        tool(series, "condition", sample_key="block")


def test_frames_in_random_order_are_not(series, rng):
    mixed = series[rng.permutation(400)].copy()
    warn_of_series(mixed, pull(mixed, "condition"), "condition")


def test_bands_of_an_image_are_not(rng):
    cube = np.cumsum(rng.normal(size=(6, 6, 80)), axis=2)
    pair = dn.datasets.from_image_pair(cube, cube + 0.1 * rng.normal(size=cube.shape))
    assert row_autocorrelation(pull(pair, "condition").matrices).is_clear
    warn_of_series(pair, pull(pair, "condition"), "condition")


def sorted_cells(rng, **more):
    types = np.tile(np.repeat([0, 1, 2], 100), 2)
    x = 2.0 * types[:, None] * rng.normal(size=30) + rng.normal(size=(600, 30))
    return labelled(x, condition=np.repeat(["ctrl", "stim"], 300), **{k: np.asarray(v)[types] for k, v in more.items()})


def test_cells_sorted_by_a_known_type_are_not(rng):
    cells = sorted_cells(rng, cell_type=["B", "T", "NK"])
    assert row_autocorrelation(pull(cells, "condition").matrices).is_clear
    warn_of_series(cells, pull(cells, "condition"), "condition")


def test_cells_sorted_by_something_unknown_are_told_when_it_does_not_matter(rng):
    cells = sorted_cells(rng)
    with pytest.warns(UserWarning, match="If independent observations were only sorted, ignore this"):
        warn_of_series(cells, pull(cells, "condition"), "condition")


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, lambda x: dense_chunks(x, 37)])
def test_every_kind_of_matrix_gives_the_same_autocorrelation(series, make):
    expected = row_autocorrelation(pull(series, "condition").matrices)
    series.X = make(series.X)
    found = row_autocorrelation(pull(series, "condition").matrices)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-10)


def test_long_series_are_read_in_a_few_runs(rng):
    found = row_autocorrelation([smooth(rng, 20_000, 5)])
    assert found.n_obs == 4096
    assert found.lag_1 == pytest.approx(0.8, abs=0.05)
