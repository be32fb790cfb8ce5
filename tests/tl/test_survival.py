import builtins

import anndata
import numpy as np
import pandas as pd
import pytest

import diffnb as dn


def kaplan_meier(times, events):
    """Π (1 − d/n) over the times at which something happened."""
    survival, found = 1.0, []
    for t in np.unique(times):
        n, d = (times >= t).sum(), ((times == t) & events).sum()
        survival *= 1 - d / n
        found.append((t, survival))
    return np.array(found)


def log_rank(times, events, first):
    """Observed less expected events of one group, squared, over the hypergeometric variance."""
    apart, variance = 0.0, 0.0
    for t in np.unique(times[events]):
        n, d = (times >= t).sum(), ((times == t) & events).sum()
        n1, d1 = ((times >= t) & first).sum(), ((times == t) & events & first).sum()
        apart += d1 - d * n1 / n
        variance += d * n1 / n * (1 - n1 / n) * (n - d) / (n - 1) if n > 1 else 0
    return apart**2 / variance


@pytest.fixture
def lives(rng):
    adata = dn.datasets.two_types(n_obs=80, n_features=60, n_clusters=5)
    time = rng.exponential(np.where(adata.obs["condition"] == "A", 30, 8))
    censored = rng.uniform(0, 50, 80)
    adata.obs["time"], adata.obs["event"] = np.minimum(time, censored), time <= censored
    adata.obs["third"] = np.array(["x", "y", "z"])[np.arange(80) % 3]
    return adata


def test_curves_are_those_of_kaplan_and_meier(lives):
    dn.tl.survival(lives, "condition")
    curves = dn.get.survival(lives)
    for group in "AB":
        mine = (lives.obs["condition"] == group).to_numpy()
        expected = kaplan_meier(lives.obs["time"].to_numpy()[mine], lives.obs["event"].to_numpy()[mine])
        found = curves[(curves["group"] == group) & (curves["time"] > 0)]
        np.testing.assert_allclose(found[["time", "survival"]], expected, atol=1e-12)
        assert (found["lower"] <= found["survival"]).all()


def test_the_test_is_the_log_rank_test(lives):
    dn.tl.survival(lives, "condition")
    first = (lives.obs["condition"] == "A").to_numpy()
    expected = log_rank(lives.obs["time"].to_numpy(), lives.obs["event"].to_numpy(), first)
    tests = dn.get.survival_tests(lives)
    assert tests["statistic"].item() == pytest.approx(expected)
    assert tests["pval"].item() < 0.01


def test_the_sides_of_the_metric_are_groups(lives):
    dn.tl.informed_distance(lives, n_clusters=5)
    dn.tl.survival(lives)
    side = dn.get.informed_embedding(lives)["component_1"] > 0
    assert ((lives.obs["survival_group"] == "high") == side).all()
    assert dn.get.survival_groups(lives)["n"].sum() == 80


def test_more_groups_are_compared_in_pairs(lives):
    dn.tl.survival(lives, "third")
    tests = dn.get.survival_tests(lives)
    assert tests[["group", "reference"]].to_numpy().tolist() == [["all", "all"], ["x", "y"], ["x", "z"], ["y", "z"]]
    assert "survival_group" not in lives.obs


def test_the_censored_are_not_dropped(lives):
    """Dropping them, as the authors' code does with late deaths, changes the estimate."""
    dn.tl.survival(lives, "condition")
    kept = dn.get.survival_groups(lives)
    dn.tl.survival(lives[lives.obs["event"]].copy(), "condition")
    assert kept["n"].sum() == 80 > kept["n_events"].sum()
    curve = dn.get.survival(lives).query("group == 'A'")
    assert curve["censored"].sum() == (kept["n"] - kept["n_events"])["A"]


def test_samples_without_time_or_event_are_excluded(lives):
    lives.obs.loc[lives.obs_names[:5], "time"] = np.nan
    lives.obs["event"] = lives.obs["event"].astype(object)
    lives.obs.loc[lives.obs_names[5:7], "event"] = None
    dn.tl.survival(lives, "condition")
    assert lives.uns["survival"]["n_left_out"] == 7
    assert dn.get.survival_groups(lives)["n"].sum() == 73


@pytest.mark.parametrize("kind", [int, float, bool, "boolean"])
def test_events_may_be_numbers(lives, kind):
    dn.tl.survival(lives, "condition")
    expected = dn.get.survival_tests(lives)
    lives.obs["event"] = lives.obs["event"].astype(kind)
    dn.tl.survival(lives, "condition")
    pd.testing.assert_frame_equal(dn.get.survival_tests(lives), expected)


def test_a_copy_leaves_the_original_alone(lives):
    found = dn.tl.survival(lives, "condition", copy=True)
    assert "survival" in found.uns
    assert "survival" not in lives.uns


def test_results_come_back_from_a_file(lives, tmp_path):
    dn.tl.survival(lives, "third")
    lives.write_h5ad(tmp_path / "lives.h5ad")
    back = anndata.read_h5ad(tmp_path / "lives.h5ad")
    for read in (dn.get.survival, dn.get.survival_tests, dn.get.survival_groups):
        pd.testing.assert_frame_equal(read(back), read(lives))


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"time_key": "tme"}, "time_key='tme'.*Did you mean 'time'"),
        ({}, {"event_key": "evnt"}, "event_key='evnt'.*Did you mean 'event'"),
        ({"time": -1.0}, {}, "time_key='time' has 80 negative"),
        ({"time": "long"}, {}, "time_key='time' holds no numbers"),
        ({"event": 2}, {}, "event_key='event' must be true or 1.*got 2"),
        ({"event": "dead"}, {}, "event_key='event' must be true or 1.*got 'dead'"),
        ({"condition": "A"}, {}, "leaves a single group"),
    ],
)
def test_bad_input_gets_a_clear_error(lives, change, options, words):
    for column, value in change.items():
        lives.obs[column] = value
    with pytest.raises(ValueError, match=words):
        dn.tl.survival(lives, "condition", **options)
    assert "survival" not in lives.uns


def test_without_a_metric_groups_are_needed(lives):
    with pytest.raises(KeyError, match=r"run dn\.tl\.informed_distance"):
        dn.tl.survival(lives)


def test_a_missing_library_is_named(lives, monkeypatch):
    usual = builtins.__import__

    def without(name, *args, **options):
        if name.split(".")[0] == "lifelines":
            raise ImportError(name)
        return usual(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'diffnb\[survival\]'"):
        dn.tl.survival(lives, "condition")
    assert "survival" not in lives.uns
