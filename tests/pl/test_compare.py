import numpy as np
import pytest

import diffnb as dn


@pytest.fixture(scope="module")
def compared():
    adata = dn.datasets.newly_connected(n_obs=60)
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=3)
    dn.tl.scorecard(adata, "condition")
    return adata


def test_each_pair_of_methods_has_a_panel(compared):
    figure = dn.pl.compare_ranks(compared, n_top=20)
    assert len(figure.axes) == 1
    assert figure.axes[0].get_ylabel() == "rank by scorecard"
    assert sum(len(c.get_offsets()) for c in figure.axes[0].collections) == 250


def test_features_found_by_one_method_only_are_labelled(compared):
    table = dn.get.compare(compared, n_top=20)
    figure = dn.pl.compare_ranks(compared, n_top=20, n_labels=3)
    named = [t.get_text() for t in figure.axes[0].texts if t.get_text()]
    assert named
    assert (table.loc[named, "n_methods"] == 1).all()


def test_features_without_a_rank_come_last(compared):
    adata = compared.copy()
    dn.tl.sparda(adata, "condition", n_features=5)
    figure = dn.pl.compare_ranks(adata, n_top=5)
    assert len(figure.axes) == 3
    ranks = np.concatenate([c.get_offsets() for c in figure.axes[0].collections])
    assert (ranks[:, 1] == 400).sum() == 245
    assert "none" in [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert "none" not in [t.get_text() for t in figure.axes[0].get_xticklabels()]


def test_ranks_are_written_as_integers_and_colours_are_named(compared):
    figure = dn.pl.compare_ranks(compared, n_top=20)
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["1", "10", "100"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [
        "first 20 of both",
        "first 20 of one",
        "of neither",
    ]


def test_a_single_method_is_drawn_against_itself(compared):
    adata = compared.copy()
    del adata.uns["scorecard"]
    assert dn.pl.compare_ranks(adata).axes[0].get_ylabel() == "rank by DiSC"


def test_the_overlap_is_written_into_its_cells(compared):
    ax = dn.pl.compare_overlap(compared, n_top=20)
    overlap = dn.get.compare_overlap(compared, n_top=20)
    assert [t.get_text() for t in ax.texts] == [str(v) for v in overlap.to_numpy().ravel()]


def test_the_overlap_takes_axes(compared):
    import matplotlib.pyplot as plt

    ax = plt.figure().add_subplot()
    assert dn.pl.compare_overlap(compared, ax=ax) is ax
