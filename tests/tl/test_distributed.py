"""The same calls on a dask.distributed cluster of two workers, one of which may die on the way."""

import os
import signal

import dask
import joblib
import numpy as np
import pytest
from streams import dense_chunks, sparse_chunks

import diffnb as dn
from diffnb.core.arrays import distributed as cluster
from diffnb.core.runtime.progress import progress_callback

# dask warns of many things while it shuts down
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.admin.tick.limit": "1h"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def many_runs(set_memory):
    set_memory(4 * 8 * 40 * 10)


@pytest.fixture
def expected(adata):
    """What is found without a cluster, which is left while this is worked out."""
    found = adata.copy()
    dn.tl.disc(found, "condition", n_permutations=4)
    dn.tl.scorecard(found, "condition")
    dn.tl.meta_features(found)
    return found


def assert_same(found, expected):
    np.testing.assert_allclose(found.varm["disc"].to_numpy(), expected.varm["disc"].to_numpy(), atol=1e-8)
    np.testing.assert_allclose(found.uns["disc"]["sigma_null"], expected.uns["disc"]["sigma_null"], atol=1e-8)


def killing_after(client, steps):
    """A listener to progress that kills the process of one worker, as a full memory would, after some steps."""
    client.wait_for_workers(2)  # one that died in an earlier test may not have been replaced yet
    seen = []
    victim = next(iter(client.run(os.getpid).values()))

    def listen(name, done, total):
        seen.append(name)
        if len(seen) == steps:
            os.kill(victim, signal.SIGKILL)

    return listen, seen, victim


@pytest.mark.parametrize("make", [dense_chunks, sparse_chunks])
def test_a_cluster_gives_the_same_answers(adata, expected, client, make):
    adata.X = make(adata.X, 10)
    dn.tl.disc(adata, "condition", n_permutations=4)
    dn.tl.scorecard(adata, "condition")
    dn.tl.meta_features(adata)
    assert_same(adata, expected)
    np.testing.assert_allclose(adata.obsm["X_disc"], expected.obsm["X_disc"], atol=1e-8)
    ours, theirs = dn.get.scorecard(adata), dn.get.scorecard(expected)
    np.testing.assert_allclose(ours["connectivity_stat"], theirs["connectivity_stat"], atol=1e-8)


def test_data_that_lies_on_the_cluster_is_worked_on_there(adata, expected, client):
    adata.X = dense_chunks(adata.X, 10).persist()
    dn.tl.disc(adata, "condition", n_permutations=4)
    assert_same(adata, expected)


def test_a_worker_that_dies_takes_nothing_with_it(adata, expected, client):
    slow = dense_chunks(adata.X, 10).map_blocks(lambda block: (__import__("time").sleep(0.02), block)[1])
    adata.X = slow
    listen, seen, victim = killing_after(client, steps=6)
    with progress_callback(listen):
        dn.tl.disc(adata, "condition", n_permutations=4)
    assert len(seen) > 12, "it was all over before the worker died"
    assert victim not in client.run(os.getpid).values()
    assert_same(adata, expected)


@pytest.mark.parametrize("streamed", [False, True], ids=["in memory", "dask"])
def test_permutations_are_spread_over_workers_by_joblib(adata, expected, client, streamed):
    if streamed:
        adata.X = dense_chunks(adata.X, 10)
    with joblib.parallel_config("dask"):
        dn.tl.disc(adata, "condition", n_permutations=4)
    assert_same(adata, expected)


def test_permutations_survive_the_death_of_a_worker(adata, client):
    expected = adata.copy()
    dn.tl.disc(expected, "condition", n_permutations=30)
    listen, seen, victim = killing_after(client, steps=8)
    with progress_callback(listen), joblib.parallel_config("dask"):
        dn.tl.disc(adata, "condition", n_permutations=30)
    assert seen.count("permutations") > 20
    assert victim not in client.run(os.getpid).values()
    assert_same(adata, expected)


def test_a_pass_within_a_task_stays_there(client):
    assert client.submit(lambda: (cluster.in_worker(), cluster.active_client() is None)).result() == (True, True)
    assert not cluster.in_worker()
    assert cluster.active_client() is client


def test_the_other_tools_run_on_a_cluster_too(adata, client, set_memory):
    set_memory(16 * 8 * 40 * 60)  # two row blocks: PDA reads them often
    streamed = adata.copy()
    streamed.X = dense_chunks(adata.X, 30)
    for data in (adata, streamed):
        dn.tl.pda(data, "condition")
        dn.tl.dufs(data, batch_size=40, n_steps=10)
        dn.tl.informed_distance(data, full=False, n_clusters=4)
    weights = [dn.get.sparda(data, key="pda")["weight"].sort_index() for data in (streamed, adata)]
    np.testing.assert_allclose(*weights, atol=1e-8)
    gates = [dn.get.dufs(data)["gate"].sort_index() for data in (streamed, adata)]
    np.testing.assert_allclose(*gates, atol=1e-8)
    distances = [dn.get.informed_distances(data).toarray() for data in (streamed, adata)]
    np.testing.assert_allclose(*distances, atol=1e-8)
