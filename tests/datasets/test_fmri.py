from __future__ import annotations

import numpy as np
import pytest

from diffnb.datasets import nback_fmri
from diffnb.datasets._fmri import DELAY_SCANS, NETWORK_SIZES, T_R_SECONDS, haemodynamic_response

SMALL = {"n_subjects": 2, "n_blocks": 2, "block_length": 20}


@pytest.fixture(scope="module")
def scans():
    return nback_fmri(n_subjects=12)


def coupling(adata, network, condition):
    """Mean correlation within a network, over subjects."""
    parcels = (adata.var["network"] == network).to_numpy()
    levels = []
    for subject in adata.obs["subject"].cat.categories:
        rows = ((adata.obs["subject"] == subject) & (adata.obs["condition"] == condition)).to_numpy()
        correlation = np.corrcoef(adata.X[rows][:, parcels].T)
        levels.append((correlation.sum() - len(correlation)) / (correlation.size - len(correlation)))
    return np.mean(levels)


def test_same_seed_gives_the_same_scans():
    np.testing.assert_array_equal(nback_fmri(**SMALL).X, nback_fmri(**SMALL).X)


def test_another_seed_gives_other_scans_at_the_same_coordinates():
    first, other = nback_fmri(**SMALL, random_state=0), nback_fmri(**SMALL, random_state=1)
    assert not np.isclose(first.X, other.X).all(axis=0).any()
    np.testing.assert_array_equal(first.var[["x", "y", "z"]], other.var[["x", "y", "z"]])


def test_networks_sum_to_268_parcels(scans):
    assert sum(NETWORK_SIZES.values()) == scans.n_vars == 268
    assert scans.var["network"].value_counts().to_dict() == NETWORK_SIZES


def test_fronto_parietal_coupling_is_stronger_in_2_back(scans):
    assert coupling(scans, "FP", "2-back") > coupling(scans, "FP", "0-back") + 0.15


def test_visual_ii_coupling_is_stronger_in_0_back(scans):
    assert coupling(scans, "VII", "0-back") > coupling(scans, "VII", "2-back") + 0.15


@pytest.mark.parametrize("network", [name for name in NETWORK_SIZES if name not in ("FP", "VII")])
def test_other_networks_are_coupled_alike(network, scans):
    assert coupling(scans, network, "0-back") > 0.2
    assert coupling(scans, network, "0-back") == pytest.approx(coupling(scans, network, "2-back"), abs=0.08)


def test_no_contrast_leaves_nothing_to_find():
    adata = nback_fmri(n_subjects=12, contrast=0.0)
    assert coupling(adata, "FP", "2-back") == pytest.approx(coupling(adata, "FP", "0-back"), abs=0.06)
    assert (adata.var["truth_2-back"] == "background").all()


def test_parcels_of_different_networks_are_nearly_unrelated(scans):
    first, second = ((scans.var["network"] == name).to_numpy() for name in ("Mot", "CBL"))
    correlation = np.corrcoef(scans.X[:, first].T, scans.X[:, second].T)[: first.sum(), first.sum() :]
    assert abs(correlation.mean()) < 0.15


def test_truth_is_the_network_of_each_task(scans):
    for task, network in (("0-back", "VII"), ("2-back", "FP")):
        found = scans.var.loc[scans.var[f"truth_{task}"] != "background", "network"]
        assert found.unique().tolist() == [network]


def test_blocks_alternate_and_each_has_one_condition():
    obs = nback_fmri(**SMALL).obs
    by_block = obs.groupby(["subject", "block"], observed=True)["condition"]
    assert (by_block.nunique() == 1).all()
    assert (by_block.size() == 20).all()
    assert by_block.first()["subject_01"].tolist() == ["0-back", "2-back"] * 2
    assert by_block.first()["subject_02"].tolist() == ["2-back", "0-back"] * 2


def test_time_is_in_seconds_and_rests_between_blocks():
    time = nback_fmri(**SMALL).obs.query("subject == 'subject_01'")["time"].to_numpy()
    steps = np.diff(time)
    assert time[0] == pytest.approx(DELAY_SCANS * T_R_SECONDS)
    np.testing.assert_allclose(np.unique(steps.round(6)), [T_R_SECONDS, 11 * T_R_SECONDS])


def test_the_haemodynamic_response_peaks_near_five_seconds_and_undershoots():
    response = haemodynamic_response()
    assert np.argmax(response) * T_R_SECONDS == pytest.approx(5, abs=0.5)
    assert 10 < np.argmin(response) * T_R_SECONDS < 20
    assert response.min() < 0


def test_neighbouring_scans_are_alike_and_distant_ones_are_not():
    series = nback_fmri(n_subjects=1, n_blocks=2, block_length=120, noise=0.0).X[:120]
    lagged = [np.mean([np.corrcoef(x[:-lag], x[lag:])[0, 1] for x in series.T]) for lag in (1, 40)]
    assert lagged[0] > 0.8
    assert abs(lagged[1]) < 0.2


def test_each_subject_is_standardised_separately(scans):
    for subject in scans.obs["subject"].cat.categories:
        x = scans.X[(scans.obs["subject"] == subject).to_numpy()].astype(float)
        np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(x.std(axis=0), 1, atol=1e-5)


def test_parcels_are_mirrored_between_hemispheres(scans):
    right, left = (scans.var[scans.var["hemisphere"] == side] for side in "RL")
    assert (right["x"] > 0).all()
    assert (left["x"] < 0).all()
    places = set(zip(right["x"], right["y"], right["z"], strict=True))
    assert all((-x, y, z) in places for x, y, z in left[["x", "y", "z"]].to_numpy())


def test_parcels_are_within_a_head(scans):
    assert (scans.var[["x", "y", "z"]].abs() <= [66, 100, 75]).all(axis=None)


def test_features_are_recorded_as_parcels(scans):
    assert scans.uns["features"] == {"kind": "parcels"}


def test_too_much_contrast_is_refused():
    with pytest.raises(ValueError, match=r"contrast=1.0 .* between 0.0 and 0.8"):
        nback_fmri(contrast=1.0)
