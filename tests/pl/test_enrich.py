from __future__ import annotations

import numpy as np
import pytest

import diffnb as dn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def named(toy):
    adata = toy.copy()
    sets = {f"set_of_features_{i}": adata.var_names[i * 25 : (i + 1) * 25] for i in range(10)}
    dn.tl.enrich(adata, sets)
    return adata


def test_every_set_with_an_overlap_is_a_row(named):
    ax = dn.pl.enrich(named)
    table = dn.get.enrich(named).query("n_overlap > 0")
    assert len(ax.get_yticklabels()) == table["set"].nunique()
    assert sum(len(c.get_offsets()) for c in ax.collections) == len(table)


def test_no_text_overlaps_another(named, texts_of, overlaps):
    assert overlaps(texts_of(dn.pl.enrich(named).figure)) == []


def test_nothing_in_common_is_said(named):
    adata = named.copy()
    adata.uns["enrich"]["n_overlap"] = np.zeros_like(adata.uns["enrich"]["n_overlap"])
    assert "no set" in dn.pl.enrich(adata).texts[0].get_text()
