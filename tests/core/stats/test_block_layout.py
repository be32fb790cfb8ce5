"""Which blocks exchange labels."""

from __future__ import annotations

import numpy as np

from diffnb.core.stats.block_layout import BlockLayout


def test_labels_are_exchanged_within_series_that_have_both_conditions():
    labels, series = np.tile([1, 0, 0, 1, 0], 4), np.repeat([0, 1], 10)
    layout = BlockLayout.of(labels, series, np.arange(20))
    drawn = layout.assignments(0)
    assert (drawn[0] == labels).all()
    assert (drawn[:, :10].sum(axis=1) == 4).all()
    assert len(np.unique(drawn, axis=0)) > 90
    assert not layout.confounded


def test_series_of_one_condition_each_exchange_labels_with_each_other():
    labels = np.repeat([1, 0], 6)
    layout = BlockLayout.of(labels, labels + 5, np.arange(12))
    assert len(np.unique(layout.strata)) == 1
    assert layout.assignments(0)[1:, :6].sum(axis=1).std() > 0


def test_blocks_of_one_stretch_keep_a_common_label():
    stretches = np.repeat(np.arange(8), [1, 2, 3, 2, 2, 1, 4, 1])
    labels = (stretches % 2 == 0).astype(int)
    drawn = BlockLayout.of(labels, np.zeros(16, dtype=int), stretches).assignments(3)
    first = np.unique(stretches, return_index=True)[1]
    np.testing.assert_array_equal(drawn, drawn[:, first][:, stretches])
    assert (drawn[:, first].sum(axis=1) == 4).all()


def test_few_stretches_leave_single_blocks_to_be_exchanged_and_are_reported():
    labels, stretches = np.repeat([1, 0], 10), np.repeat([0, 1], 10)
    layout = BlockLayout.of(labels, np.zeros(20, dtype=int), stretches)
    assert layout.confounded
    assert len(np.unique(layout.assignments(0), axis=0)) > 90


def test_one_stretch_per_condition_is_enough_where_there_are_many_series():
    labels, series = np.tile([1, 1, 0, 0], 8), np.repeat(np.arange(8), 4)
    layout = BlockLayout.of(labels, series, np.arange(32) // 2)
    assert not layout.confounded
    drawn = layout.assignments(0)
    np.testing.assert_array_equal(drawn[:, ::2], drawn[:, 1::2])
