import numpy as np
import pytest

import diffnb as dn


@pytest.fixture
def lives():
    adata = dn.datasets.two_types(n_obs=20, n_features=40, n_clusters=3)
    adata.obs["condition"] = np.repeat(["short", "long"], 10)
    adata.obs["time"] = [*range(1, 11), *range(21, 31)]
    adata.obs["event"] = [True] * 14 + [False] * 6
    dn.tl.survival(adata, "condition")
    return adata


def test_medians_are_times_by_which_half_are_gone(lives):
    table = dn.get.survival_groups(lives)
    assert table["median"].to_dict() == {"long": np.inf, "short": 5}
    assert table["n_events"].to_dict() == {"long": 4, "short": 10}


def test_curves_start_at_one_and_count_who_is_at_risk(lives):
    table = dn.get.survival(lives)
    first = table.groupby("group").first()
    assert (first["survival"] == 1).all()
    assert (first["at_risk"] == 10).all()


def test_missing_results_are_explained():
    with pytest.raises(KeyError, match=r"run dn\.tl\.survival"):
        dn.get.survival(dn.datasets.two_types(n_obs=20, n_features=40, n_clusters=3))
