"""Folds that follow from the values of the observations."""

from __future__ import annotations

import numpy as np
import pytest

from diffnb.core.scorecard.folds import ContentOrder, content_order, numbered, random_folds


def draws(rng):
    """Continuous data, counts with many ties, and binary data in which all rows are equally far from the mean."""
    yield rng.normal(size=(40, 6))
    yield rng.poisson(0.3, size=(200, 4)).astype(float)
    yield np.stack([rng.permutation(np.repeat([0.0, 1.0], 20)) for _ in range(6)], axis=1)


@pytest.mark.parametrize("number", range(3))
def test_rows_come_into_the_same_order_however_they_are_stored(number, rng):
    x = list(draws(rng))[number]
    expected = x[content_order(x).rows]
    shuffled = rng.permutation(x)
    np.testing.assert_array_equal(shuffled[content_order(shuffled).rows], expected)


def test_shifts_scales_and_the_order_of_features_change_nothing(rng):
    x = rng.normal(size=(80, 12))
    expected = content_order(x).rows
    np.testing.assert_array_equal(content_order(3 * x * rng.uniform(1, 9, size=12) - 7).rows, expected)
    np.testing.assert_array_equal(content_order(x[:, rng.permutation(12)]).rows, expected)


def test_every_kind_of_array_gives_the_same_order(array_type, rng):
    x = rng.poisson(0.5, size=(60, 9)).astype(np.float32)
    np.testing.assert_array_equal(x[content_order(array_type(x)).rows], x[content_order(x).rows])


def test_an_extra_number_of_every_row_counts_as_a_feature(rng):
    x = np.repeat(rng.normal(size=(10, 3)), 2, axis=0)
    extra = rng.random(20)
    order = rng.permutation(20)
    first, other = content_order(x, extra).rows, content_order(x[order], extra[order]).rows
    np.testing.assert_array_equal(extra[first], extra[order][other])


def test_folds_share_out_all_rows_in_another_way_at_every_draw_and_in_every_condition():
    order = ContentOrder(np.arange(30)[::-1], (30.0, 0.0, 0.0))
    folds = random_folds(order, 4, 0, 0)
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(30))
    assert sorted(map(len, folds)) == [7, 7, 8, 8]
    np.testing.assert_array_equal(folds[0], random_folds(order, 4, 0, 0)[0])
    assert not np.array_equal(folds[0], random_folds(order, 4, 1, 0)[0])
    assert not np.array_equal(folds[0], random_folds(order, 4, 0, 1)[0])


def test_conditions_are_told_apart_by_what_they_hold(rng):
    x, y = rng.normal(size=(2, 40, 5))
    first, second = content_order(x), content_order(y)
    assert numbered([first, second]) == numbered([second, first])[::-1]
    assert numbered([content_order(rng.permutation(x)), second]) == numbered([first, second])
    assert numbered([content_order(7 * x - 2), second]) == numbered([first, second])
    assert numbered([first, content_order(y[:30])]) == [0, 1]
    balanced = [np.stack([rng.permutation(np.repeat([0.0, 1.0], 20)) for _ in range(4)], axis=1) for _ in range(2)]
    orders = [content_order(own) for own in balanced]  # all rows equally far from the mean
    assert numbered(orders) == numbered(orders[::-1])[::-1]
    assert numbered([first, first]) == [0, 1]
