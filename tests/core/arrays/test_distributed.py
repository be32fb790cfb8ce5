"""Passes over the data on a cluster of dask, here one with two threads in this process."""

import numpy as np
import pytest
from streams import dense_chunks

from diffnb.core.arrays import distributed
from diffnb.core.arrays.ops import gram
from diffnb.core.arrays.row_chunks import chunked

pytestmark = pytest.mark.filterwarnings("default")  # dask warns of many things while it shuts down


@pytest.fixture(scope="module")
def client():
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        yield client


def test_the_client_is_found_where_there_is_one(client):
    assert distributed.active_client() is client
    assert not distributed.in_worker()


def test_a_task_of_the_cluster_starts_no_pass_on_it(client):
    task = client.submit(lambda: (distributed.in_worker(), distributed.active_client()), pure=False)
    assert task.result() == (True, None)


def test_totals_of_all_threads_add_up_to_the_whole(client):
    ticks = []
    totals = list(
        distributed.accumulate(
            client,
            lambda total, value: value + (0 if total is None else total),
            [(value,) for value in range(20)],
            lambda: ticks.append(1),
        )
    )
    assert sum(totals) == sum(range(20))
    assert len(totals) <= 2
    assert len(ticks) == 20


def test_fewer_inputs_than_threads_give_as_many_totals(client):
    assert list(distributed.accumulate(client, lambda total, value: value, [(5,)], lambda: None)) == [5]


def test_results_come_with_the_number_of_their_input(client):
    found = dict(distributed.map_as_completed(client, lambda a, b: a * b, [(i, 10) for i in range(13)]))
    assert found == {i: 10 * i for i in range(13)}


def test_an_error_in_a_task_is_raised_here(client):
    with pytest.raises(ZeroDivisionError):
        list(distributed.map_as_completed(client, lambda a: 1 / a, [(1,), (0,)]))


def test_a_pass_on_the_cluster_gives_what_a_pass_here_gives(client, rng, set_memory):
    x = rng.normal(size=(60, 5))
    set_memory(16 * 8 * 5 * 10)
    data = chunked(dense_chunks(x, 10))
    assert len(data.source.row_blocks) > 1
    np.testing.assert_allclose(gram(data), x.T @ x, rtol=1e-12)
