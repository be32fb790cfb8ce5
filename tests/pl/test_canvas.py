from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from diffnb.pl import _canvas
from diffnb.pl._page import page


@pytest.mark.parametrize(("n_panels", "shape"), [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (7, (3, 3))])
def test_a_grid_has_as_many_axes_as_panels_in_as_few_rows_as_possible(n_panels, shape):
    figure, axes = _canvas.grid_of_axes(n_panels, 2.0, 1.5, max_columns=3)
    assert len(axes) == len(figure.axes) == n_panels
    # a figure fills a notebook and not a corner of it
    np.testing.assert_allclose(figure.get_size_inches(), (max(2.0 * shape[1], 6.0), 1.5 * shape[0]))


def test_panels_that_do_not_fit_next_to_each_other_move_below():
    with page(3.5):
        figure, _ = _canvas.grid_of_axes(4, 2.2, 1.5, max_columns=4)
        wide, _ = _canvas.grid_of_axes(2, 3.0, 1.5, max_columns=4)
    np.testing.assert_allclose(figure.get_size_inches(), (3.5, 3.0))
    np.testing.assert_allclose(wide.get_size_inches(), (3.5, 3.0))


def test_panels_are_drawn_into_a_new_figure_or_into_the_given_axes():
    drawn = []
    figure = _canvas.draw_panels(lambda ax, i: drawn.append(i), 2, None, width=2, height=2, max_columns=2)
    assert drawn == [0, 1]
    assert len(figure.axes) == 2
    _, ax = plt.subplots()
    assert _canvas.draw_panels(lambda ax, i: drawn.append(i), 1, ax, width=2, height=2, max_columns=2) is ax
    assert drawn == [0, 1, 0]


def test_given_axes_hold_one_panel():
    _, ax = plt.subplots()
    _canvas.require_one_panel(ax, 1, "condition", "group=")
    _canvas.require_one_panel(None, 3, "condition", "group=")
    with pytest.raises(ValueError, match="ax takes one condition, got 3; choose one with group="):
        _canvas.require_one_panel(ax, 3, "condition", "group=")


def test_many_points_are_drawn_as_small_pixels(rng):
    _, ax = plt.subplots()
    few = _canvas.scatter_points(ax, rng.normal(size=(10, 2)), sizes=(16, 4))
    many = _canvas.scatter_points(ax, rng.normal(size=(_canvas.MAX_VECTOR_POINTS + 1, 2)), sizes=(16, 4))
    part = _canvas.scatter_points(ax, rng.normal(size=(5, 2)), sizes=(16, 4), n_points=10_000)
    assert [c.get_sizes()[0] for c in (few, many, part)] == [16, 4, 4]
    assert [bool(c.get_rasterized()) for c in (few, many, part)] == [False, True, True]


def test_figures_off_screen_are_unknown_to_pyplot():
    with _canvas.off_screen():
        _canvas.new_figure(2, 2)
    assert plt.get_fignums() == []
    _canvas.new_figure(2, 2)
    assert len(plt.get_fignums()) == 1
