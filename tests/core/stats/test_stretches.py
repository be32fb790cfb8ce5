"""Rows that follow each other in one condition."""

from __future__ import annotations

import numpy as np

from diffnb.core.stats.stretches import stretches_of_rows


def test_a_stretch_ends_where_the_series_changes():
    series = np.array([0, 0, 0, 1, 1, 0, 0])
    found = stretches_of_rows(series, np.arange(7))
    np.testing.assert_array_equal(np.unique(found, return_inverse=True)[1], np.array([0, 0, 0, 1, 1, 2, 2]))


def test_a_block_of_several_short_periods_makes_them_one_stretch():
    series = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0])
    blocks = np.array([0, 0, 1, 1, 0, 0, 1, 1, 2, 2])
    found = stretches_of_rows(series, blocks)
    assert len(np.unique(found)) == 3
    assert found[0] == found[4] != found[8]
