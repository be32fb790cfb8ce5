import anndata as ad
import numpy as np
import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture
def recording(rng):
    """Two subjects, each 120 frames of rest and then 120 of a task; neighbouring frames correlate with .8."""
    noise = rng.normal(size=(484, 12))
    x = sum(noise[i : 480 + i] for i in range(5))
    obs = pd.DataFrame(
        {
            "condition": np.tile(np.repeat(["rest", "task"], 120), 2),
            "subject": np.repeat(["s1", "s2"], 240),
        },
        index=[f"frame_{i}" for i in range(480)],
    )
    return ad.AnnData(x, obs=obs)


def test_blocks_are_consecutive_frames_of_one_condition_and_subject(recording):
    dn.pp.time_blocks(recording, "condition", sample_key="subject", length=30)
    places = pd.Series(np.arange(480)).groupby(recording.obs["block"].to_numpy())
    assert len(places) == 16
    assert all(len(rows) == rows.max() - rows.min() + 1 for _, rows in places)
    assert recording.obs.groupby("block", observed=True)[["condition", "subject"]].nunique().max().max() == 1


def test_automatic_blocks_are_longer_than_frames_stay_correlated(recording):
    dn.pp.time_blocks(recording, "condition", sample_key="subject")
    record = recording.uns["time_blocks"]
    assert record["lag_1"] == pytest.approx(0.8, abs=0.08)
    assert 3 < record["correlation_time"] < 6.5
    assert record["length"] >= max(20, 10 * record["correlation_time"])
    sizes = recording.obs["block"].value_counts()
    assert sizes.min() >= record["length"]


def test_frames_at_the_end_are_shared_out(recording):
    dn.pp.time_blocks(recording, "condition", sample_key="subject", length=35)
    assert set(recording.obs["block"].value_counts()) == {40}


def test_a_block_ends_where_the_condition_does_if_it_is_full(recording):
    recording.obs["condition"] = np.tile(np.repeat(["rest", "task"], 40), 6)
    dn.pp.time_blocks(recording, "condition", length=35)
    assert set(recording.obs["block"].value_counts()) == {40}


def test_short_periods_of_one_condition_share_a_block(recording):
    recording.obs["condition"] = np.tile(np.repeat(["rest", "task"], 10), 24)
    dn.pp.time_blocks(recording, "condition", length=25)
    assert set(recording.obs["block"].value_counts()) == {30}


def test_a_recording_that_is_too_short_is_refused(recording):
    with pytest.raises(ValueError, match=r"blocks of 70 frames, of which condition 'rest' has 2; at least 4"):
        dn.pp.time_blocks(recording, "condition", length=70)
    with pytest.raises(ValueError, match=r"of which there are 2; at least 4"):
        dn.pp.time_blocks(recording, length=200)
    assert "block" not in recording.obs


def test_frames_without_a_condition_do_not_matter(recording):
    recording.obs.loc[recording.obs_names[:10], "condition"] = np.nan
    dn.pp.time_blocks(recording, "condition", sample_key="subject", length=25)
    assert recording.obs["block"].notna().all()
    assert recording.obs["block"].iloc[:10].str.startswith("no condition").all()


def test_a_copy_leaves_the_original(recording):
    done = dn.pp.time_blocks(recording, "condition", key_added="piece", copy=True)
    assert done.obs["piece"].dtype == "category"
    assert not {"piece", "block"} & set(recording.obs)


def test_blocks_survive_a_file(recording, tmp_path):
    dn.pp.time_blocks(recording, "condition")
    recording.write_h5ad(tmp_path / "blocks.h5ad")
    again = ad.read_h5ad(tmp_path / "blocks.h5ad")
    assert again.obs["block"].tolist() == recording.obs["block"].tolist()
    assert again.uns["time_blocks"]["length"] == recording.uns["time_blocks"]["length"]


@pytest.mark.parametrize("length", [1, "long", 2.5])
def test_a_length_that_is_none_is_refused(recording, length):
    with pytest.raises((TypeError, ValueError), match="length"):
        dn.pp.time_blocks(recording, "condition", length=length)


def test_blocks_keep_the_level_that_frames_do_not():
    """Nothing differs between two halves of smooth series; frames as units find differences, blocks do not."""
    called = {"frames": [], "blocks": []}
    for seed in range(4):
        noise = np.random.default_rng(seed).normal(size=(809, 40))
        x = sum(noise[i : 800 + i] for i in range(10))
        adata = ad.AnnData(x, obs=pd.DataFrame({"half": np.repeat(["a", "b"], 400)}, index=map(str, range(800))))
        with pytest.warns(UserWarning, match="neighbouring rows"):
            dn.tl.scorecard(adata, "half")
        called["frames"].append((dn.get.scorecard(adata)["connectivity_pval_adj"] < 0.05).mean())
        dn.pp.time_blocks(adata, "half")
        with pytest.warns(UserWarning, match="drifts"):
            dn.tl.scorecard(adata, "half", sample_key="block")
        called["blocks"].append((dn.get.scorecard(adata)["connectivity_pval_adj"] < 0.05).mean())
    assert np.mean(called["frames"]) > 0.5
    assert np.mean(called["blocks"]) < 0.05
