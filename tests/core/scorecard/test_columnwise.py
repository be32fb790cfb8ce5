import numpy as np
import pytest
import scipy.sparse as sp

from diffnb.core.scorecard.columnwise import map_column_blocks, with_fast_columns


def test_sparse_matrices_become_csc_and_dense_ones_stay_as_they_are(array_type, rng):
    x = rng.poisson(1.0, size=(5, 4)).astype(float)
    found = with_fast_columns(array_type(x))
    if sp.issparse(array_type(x)):
        assert found.format == "csc"
        np.testing.assert_array_equal(found.toarray(), x)
    else:
        assert found is x


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("width", [1, 3, 7, 100])
def test_blocks_cover_all_columns_in_order_for_any_number_of_jobs(width, n_jobs):
    found = map_column_blocks(lambda where: np.arange(7)[where], 7, width, n_jobs=n_jobs)
    assert max(len(block) for block in found) <= width
    np.testing.assert_array_equal(np.concatenate(found), np.arange(7))
