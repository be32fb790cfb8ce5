"""Conditions that do not differ: every feature is background, and all figures are drawn."""

import matplotlib.pyplot as plt
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def alike():
    adata = dn.datasets.planted_groups(n_features=60, n_obs=100, group_size=10, n_groups=0, random_state=1)
    dn.tl.disc(adata, "condition", n_permutations=5)
    assert (adata.var[["disc_A", "disc_B"]] == "background").all(axis=None)
    return adata


@pytest.mark.parametrize(
    "name", ["disc_significance", "disc_vectors", "disc_groups", "disc_features", "disc_embedding", "disc_graph"]
)
def test_every_figure_draws(alike, name):
    assert getattr(dn.pl, name)(alike) is not None
    plt.close("all")
