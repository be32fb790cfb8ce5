from __future__ import annotations

import numpy as np
import pytest

import diffnb as dn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def planned(toy):
    adata = toy[:, :60].copy()
    dn.tl.power(adata, "condition", group_size=10, n_units=[20, 60], n_simulations=2)
    return adata


def test_the_curve_is_that_of_the_table(planned, texts_of, overlaps):
    ax = dn.pl.power(planned)
    np.testing.assert_allclose(ax.containers[0].lines[0].get_ydata(), dn.get.power(planned)["power"])
    assert overlaps(texts_of(ax.figure)) == []


def test_the_title_says_what_is_needed(planned):
    assert dn.pl.power(planned).get_title(loc="left").startswith("10 features, ρ = 0.5: ")
    adata = planned.copy()
    adata.uns["power"]["needed"] = np.nan
    assert "more than 60 observations" in dn.pl.power(adata).get_title(loc="left")
