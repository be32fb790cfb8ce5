"""Several threads on one AnnData, and what is checked before work begins."""

import threading

import numpy as np
import pytest
from interruptions import held

import diffnb as dn
from diffnb._anndata import Results, ToolCall, guard, locks_of, store
from diffnb._keys import DiscKeys


def together(*functions):
    """Call functions concurrently; return their errors."""
    errors, barrier = [], threading.Barrier(len(functions))

    def run(function):
        barrier.wait()
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


class TestFourThreads:
    def test_that_call_tools_leave_whole_results(self, adata):
        alone = adata.copy()
        dn.tl.scorecard(alone, "condition")
        calls = [lambda i=i: dn.tl.scorecard(adata, "condition", key_added=f"key{i % 2}") for i in range(4)]
        for _ in range(3):
            assert together(*calls) == []
        expected = dn.get.scorecard(alone).drop(columns="kind").select_dtypes("number").to_numpy()
        for i in range(2):
            found = dn.get.scorecard(adata, key=f"key{i}").drop(columns="kind").select_dtypes("number").to_numpy()
            np.testing.assert_array_equal(found, expected)

    def test_that_store_and_read_see_results_of_one_call(self, adata):
        def results(number):
            values = np.full(40, float(number))
            described = {"sigma": np.full((2, 2), float(number)), "groups": ["A"], "group_columns": ["disc_A"]}
            return Results(
                described={**described, "n_leading": [number]},
                var={f"disc_{i}": values for i in range(number % 3 + 1)},
                obsm={f"X_disc{i}": np.full((120, 1), float(number)) for i in range(number % 3 + 1)},
            )

        seen = []

        def write(first):
            for number in range(first, first + 60):
                store(adata, DiscKeys(), results(number), ToolCall("disc", {}))

        def read():
            for _ in range(200):
                with locks_of(adata).slots:
                    if "disc" in adata.uns:
                        number = int(adata.uns["disc"]["n_leading"][0])
                        own = {float(adata.var[c].iloc[0]) for c in adata.var if c.startswith("disc_")}
                        own |= {float(adata.obsm[c][0, 0]) for c in adata.obsm if c.startswith("X_disc")}
                        seen.append(own == {float(number)})

        assert together(lambda: write(0), lambda: write(100), read, read) == []
        assert all(seen)

    def test_look_at_slots_only_while_no_other_replaces_them(self, adata, monkeypatch):
        """Half of the slots of another call once looked like those of somebody else."""
        seen = []
        monkeypatch.setattr(guard, "refuse_foreign", lambda *_, **__: seen.append(held(locks_of(adata).slots)))
        dn.tl.laplacian_score(adata)
        assert seen == [True]

    def test_wait_for_each_other_but_not_for_calls_on_other_data(self, adata):
        other = adata.copy()
        with locks_of(adata).calls:
            waiting = threading.Thread(target=lambda: dn.tl.laplacian_score(adata))
            waiting.start()
            waiting.join(0.2)
            assert waiting.is_alive()
            assert together(lambda: dn.tl.laplacian_score(other)) == []
            dn.tl.laplacian_score(adata, key_added="of the thread that holds the lock")
        waiting.join()
        assert "laplacian_score" in adata.var


def test_locks_end_with_their_adata(adata):
    from diffnb._anndata import locks

    copy = adata.copy()
    assert locks_of(copy) is locks_of(copy)
    assert locks_of(copy) is not locks_of(adata)
    identity = id(copy)
    assert identity in locks._locks
    del copy
    assert identity not in locks._locks


def test_an_adata_with_locks_can_be_pickled_and_copied(adata):
    import pickle

    locks_of(adata)
    assert pickle.loads(pickle.dumps(adata)).shape == adata.copy().shape


def test_what_a_call_sets_for_its_thread_ends_with_it(adata):
    from diffnb.core.runtime import threads

    before = threads._max_workers.get()
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2, n_jobs=1)
    assert threads._max_workers.get() == before


def test_wrong_arguments_are_reported_by_python_itself(adata):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        dn.tl.scorecard(adata, "condition", nonsense=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'groupby'"):
        dn.tl.scorecard(adata)
