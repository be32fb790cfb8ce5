"""Counts as tools read them: of the same observations and features, with size factors."""

import anndata as ad
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from diffnb._anndata import pull, pull_counts


@pytest.fixture
def cells(rng):
    counts = rng.poisson(2.0, size=(40, 6)).astype(np.float32)
    counts[:, 4] = 3
    obs = pd.DataFrame({"condition": pd.Categorical(np.repeat(["A", "B"], 20))}, index=[f"c{i}" for i in range(40)])
    logged = np.log1p(counts)
    return ad.AnnData(logged, obs=obs, layers={"counts": counts})


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, lambda x: da.from_array(x, chunks=(9, -1))])
def test_rows_columns_and_totals_are_those_of_the_conditions(cells, kind):
    whole = cells.layers["counts"].copy()
    cells.layers["counts"] = kind(whole)
    with pytest.warns(UserWarning, match="constant"):
        data = pull(cells, "condition", mask_var=np.array([True, True, False, True, True, True]))
    found = pull_counts(cells, data, "counts")
    totals = whole.sum(axis=1)
    for part, rows in zip(found, data.rows, strict=True):
        matrix = part.matrix.load() if hasattr(part.matrix, "load") else part.matrix
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        np.testing.assert_array_equal(dense, whole[rows][:, [0, 1, 3, 5]])
        np.testing.assert_allclose(part.size, totals[rows] / totals.mean(), rtol=1e-6)


def test_x_may_hold_the_counts(cells):
    cells.X = cells.layers["counts"]
    with pytest.warns(UserWarning, match="constant"):
        data = pull(cells, "condition")
    assert pull_counts(cells, data, "X")[0].shape == (20, 5)
    assert pull_counts(cells, data, None) is None


@pytest.mark.filterwarnings("ignore:1 constant feature")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("value", [0.5, -1.0])
def test_what_is_no_count_is_refused(cells, value, lazy):
    data = pull(cells, "condition")
    cells.layers["counts"][3, 2] = value
    if lazy:
        cells.layers["counts"] = da.from_array(cells.layers["counts"], chunks=(9, -1))
    with pytest.raises(ValueError, match=r"counts='counts' needs raw counts.*negative or not integers"):
        pull_counts(cells, data, "counts")


@pytest.mark.filterwarnings("ignore:1 constant feature")
def test_a_layer_that_is_not_there_is_named_with_those_that_are(cells):
    data = pull(cells, "condition")
    with pytest.raises(ValueError, match=r"counts='count' is not a layer of adata \('counts'\).*Did you mean 'counts'"):
        pull_counts(cells, data, "count")


@pytest.mark.filterwarnings("ignore:1 constant feature")
def test_no_counts_at_all_are_refused(cells):
    data = pull(cells, "condition")
    cells.layers["none"] = np.zeros((40, 6))
    with pytest.raises(ValueError, match="holds no counts"):
        pull_counts(cells, data, "none")
