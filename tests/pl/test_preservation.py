from __future__ import annotations

import numpy as np
import pytest

import diffnb as dn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def query(toy):
    adata = dn.datasets.newly_connected(n_obs=100, random_state=1)
    dn.tl.preservation(toy, adata, n_permutations=39)
    return adata


def test_every_group_is_a_row_with_three_marks(query):
    ax = dn.pl.preservation(query)
    table = dn.get.preservation(query)
    drawn = np.concatenate([c.get_offsets() for c in ax.collections])
    expected = table[["density_z", "connectivity_z", "separability_z"]].to_numpy()
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(expected.ravel()))
    assert [t.get_fontweight() == "bold" for t in ax.get_yticklabels()] == table["preserved"].tolist()


def test_no_text_overlaps_another(query, texts_of, overlaps):
    assert overlaps(texts_of(dn.pl.preservation(query).figure)) == []


def test_nothing_to_draw_is_said(query):
    adata = query.copy()
    adata.uns["preservation"]["density_z"] = np.full(4, np.nan)
    assert "no group" in dn.pl.preservation(adata).texts[0].get_text()
