"""Data that is read in row blocks gives the products of data in memory, in as few passes as possible."""

import dask
import dask.array as da
import numpy as np
import pytest
from streams import CHUNKINGS, KINDS

from diffnb.core.arrays import distributed
from diffnb.core.arrays.affine import AffineMap
from diffnb.core.arrays.row_chunks import chunked
from diffnb.core.sparda import path as path_module
from diffnb.core.sparda.divergence import DIVERGENCES
from diffnb.core.sparda.labelings import labelings_of
from diffnb.core.sparda.path import PathSettings, best_single_features, fit_path
from diffnb.core.sparda.streamed_operator import (
    MAX_THREADS_PER_PASS,
    StreamedOperator,
    n_sharing_passes,
    run_sharing_passes,
)

N, P = 54, 15
CHUNK_ROWS = 10


@pytest.fixture
def values():
    """Counts of two interleaved populations, with a large mean in one feature and some equal rows."""
    rng = np.random.default_rng(3)
    x = rng.poisson(1.2, size=(N, P)) * rng.uniform(0.5, 2, size=(N, P))
    x[1::2, :3] += rng.poisson(1.0, size=(N // 2, 1)) * rng.uniform(0.5, 2, size=(N // 2, 3))
    x[:, 3] += 50
    x[:6] = x[6:12]
    return x


@pytest.fixture(autouse=True)
def little_memory(set_memory, monkeypatch):
    """Let two columns of all observations fit in memory, and read without threads, which so little data needs not."""
    set_memory(4 * 8 * 2 * N)
    monkeypatch.setattr(distributed, "in_worker", lambda: True)


@pytest.fixture
def counted(values):
    """The data in chunks of ten rows, and the list of the chunks that were read."""
    reads = []

    def read(start):
        reads.append(start)
        return values[start : start + CHUNK_ROWS]

    starts = range(0, N, CHUNK_ROWS)
    shapes = [(min(CHUNK_ROWS, N - start), P) for start in starts]
    blocks = [
        da.from_delayed(dask.delayed(read)(start), shape, values.dtype)
        for start, shape in zip(starts, shapes, strict=True)
    ]
    return chunked(da.concatenate(blocks)), reads


def n_passes(reads):
    return len(reads) / -(-N // CHUNK_ROWS)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("chunking", list(CHUNKINGS))
class TestOperator:
    @pytest.fixture
    def both(self, values, kind, chunking, rng):
        """The operator on two populations with a map each, and the same numbers in memory."""
        read = chunked(KINDS[kind](values, *CHUNKINGS[chunking]))
        rows = np.arange(0, N, 2), np.arange(1, N, 2)
        maps = tuple(AffineMap(rng.normal(size=P), rng.uniform(0.5, 2, size=P)) for _ in rows)
        dense = np.concatenate([mapping.of(values[of_part]) for mapping, of_part in zip(maps, rows, strict=True)])
        return StreamedOperator(tuple(read[of_part] for of_part in rows), maps), dense

    @pytest.mark.parametrize("features", [None, np.array([2, 3, 9])])
    def test_products_are_those_of_numpy(self, both, features, rng):
        operator, dense = both
        if features is not None:
            operator, dense = operator.restricted(features), dense[:, features]
        assert (operator.n_obs, operator.n_features) == dense.shape
        beta, weights = rng.normal(size=(4, dense.shape[1])), rng.normal(size=(3, N))
        np.testing.assert_allclose(operator.matmul(beta), beta @ dense.T, atol=1e-11)
        np.testing.assert_allclose(operator.rmatmul(weights), weights @ dense, atol=1e-11)
        products, squares = operator.rmatmul_with_squares(weights)
        np.testing.assert_allclose(products, weights @ dense, atol=1e-11)
        np.testing.assert_allclose(squares, weights @ dense**2, atol=1e-10)

    def test_rows_and_columns_are_those_of_numpy(self, both):
        operator, dense = both
        some, features = np.array([50, 3, 27, 4]), np.array([8, 1, 3])
        np.testing.assert_allclose(operator.rows(some), dense[some], atol=1e-13)
        np.testing.assert_allclose(operator.columns(features), dense[:, features], atol=1e-13)
        restricted = operator.restricted(features)
        np.testing.assert_allclose(restricted.rows(some), dense[np.ix_(some, features)], atol=1e-13)
        np.testing.assert_allclose(restricted.columns(np.array([2, 0])), dense[:, [3, 8]], atol=1e-13)

    def test_column_blocks_fit_in_memory_and_cover_all_features(self, both):
        operator, dense = both
        blocks = list(operator.column_blocks())
        assert [block.shape[1] for _, block in blocks] == [2] * 7 + [1]
        for where, block in blocks:
            np.testing.assert_allclose(block, dense[:, where], atol=1e-13)


@pytest.mark.parametrize("standardize", ["global", "within", None])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("chunking", list(CHUNKINGS))
def test_products_of_all_labelings_are_those_in_memory(values, chunking, kind, standardize, rng):
    read = chunked(KINDS[kind](values, *CHUNKINGS[chunking]))
    order = np.stack([rng.permutation(N) for _ in range(3)])
    both = [labelings_of(m[np.arange(0, N, 2)], m[np.arange(1, N, 2)], standardize=standardize) for m in (values, read)]
    assert both[0].streamed is None
    assert both[1].streamed is not None
    for permuted in (False, True):
        if permuted:
            both = [m.relabeled(order[:, :20], order[:, 20:], standardize=standardize) for m in both]
        both = [m.deflated_by(np.arange(P) / 10.0) for m in both]
        beta, labeling = rng.normal(size=(4, P)), np.array([0, both[0].n_labelings - 1, 0, 0])
        u, v = both[0].project(beta, labeling)
        for found, expected in zip(both[1].project(beta, labeling), (u, v), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)
        np.testing.assert_allclose(both[1].gradient(u, v, labeling), both[0].gradient(u, v, labeling), atol=1e-10)
        singles = [best_single_features(m, DIVERGENCES["wasserstein2"]) for m in both]
        np.testing.assert_allclose(singles[1][1], singles[0][1], atol=1e-11)
        some = np.array([1, 2, 3, 5, 8])
        few = [m.restricted(some) for m in both]
        assert few[1].streamed is not None
        projected = [m.project(beta[:, :5], labeling) for m in few]
        for found, expected in zip(projected[1], projected[0], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)
        np.testing.assert_allclose(few[1].gradient(u, v, labeling), few[0].gradient(u, v, labeling), atol=1e-10)


def test_a_path_in_working_sets_is_the_one_in_memory(values, monkeypatch):
    for name, value in (
        ("MAX_FEATURES_WITHOUT_WORKING_SET", 3),
        ("MAX_DENSE_SHARE", 1.0),
        ("WORKING_SET_FACTOR", 2),
        ("MAX_DIRECTIONS_WITH_WORKING_SET", 1),
    ):
        monkeypatch.setattr(path_module, name, value)
    read = chunked(KINDS["dense"](values, *CHUNKINGS["uneven"]))
    both = [labelings_of(m[np.arange(0, N, 2)], m[np.arange(1, N, 2)]) for m in (values, read)]
    whole, streamed = (fit_path(labelings, np.array([1, 2, P]), PathSettings()) for labelings in both)
    np.testing.assert_allclose(streamed.objective, whole.objective, rtol=1e-9)
    np.testing.assert_allclose(streamed.weights, whole.weights, atol=1e-8)


class TestSharedPasses:
    @pytest.fixture
    def operator(self, counted):
        return StreamedOperator((counted[0],), (AffineMap(),))

    def test_serve_all_that_run_concurrently(self, operator, counted, rng):
        _, reads = counted
        beta, done = rng.normal(size=(6, P)), []

        def twice(i):
            return operator.rmatmul(operator.matmul(beta[[i]]))

        expected = [twice(i) for i in range(6)]
        assert n_passes(reads) == 12
        reads.clear()
        found = run_sharing_passes(operator, twice, range(6), n_sharing=4, on_done=lambda: done.append(1))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert len(done) == 6
        # first four and then two share what each of six had alone
        assert n_passes(reads) == 4

    def test_work_of_different_lengths_waits_for_no_one_that_has_finished(self, operator, counted, rng):
        _, reads = counted
        beta = rng.normal(size=(1, P))

        def several(n):
            return sum(operator.matmul(i * beta) for i in range(1, n + 1))

        found = run_sharing_passes(operator, several, [1, 3, 2], n_sharing=3, on_done=lambda: None)
        assert n_passes(reads) == 3
        for n, product in zip([1, 3, 2], found, strict=True):
            np.testing.assert_allclose(product, n * (n + 1) / 2 * found[0], rtol=1e-12)

    def test_different_products_are_computed_in_passes_of_their_own(self, operator, values, rng):
        beta, weights = rng.normal(size=(2, P)), rng.normal(size=(3, N))
        work = {
            "matmul": lambda: operator.matmul(beta),
            "rmatmul": lambda: operator.rmatmul(weights),
            "squares": lambda: operator.rmatmul_with_squares(weights)[1],
        }
        found = run_sharing_passes(operator, lambda name: work[name](), list(work), n_sharing=3, on_done=lambda: None)
        for product, expected in zip(found, (beta @ values.T, weights @ values, weights @ values**2), strict=True):
            np.testing.assert_allclose(product, expected, atol=1e-10)

    def test_an_error_reaches_all_and_leaves_the_operator_usable(self, operator):
        def failing(_):
            return operator.matmul(np.ones((1, P + 1)))

        with pytest.raises(ValueError, match="mismatch"):
            run_sharing_passes(operator, failing, range(3), n_sharing=3, on_done=lambda: None)
        assert operator.matmul(np.ones((1, P))).shape == (1, N)

    def test_are_shared_by_as_many_as_fit_in_memory(self, set_memory):
        set_memory(4 * 8 * 100)
        assert [n_sharing_passes(numbers) for numbers in (1, 10, 60, 1000)] == [MAX_THREADS_PER_PASS, 10, 1, 1]

    @pytest.mark.usefixtures("no_threads")
    def test_nothing_is_shared_where_no_thread_can_be_started(self):
        assert n_sharing_passes(1) == 1
