"""Values of features that are brain parcels, on a glass brain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats
from ..get._annotations import parcel_coordinates
from ._canvas import ROW_INCHES, new_figure
from ._docs import documented_figure
from ._page import is_narrow, page_width
from ._read import colors_for, feature_values, is_categorical
from ._style import (
    MAX_LEGEND_ENTRIES,
    MAX_LEGEND_ROWS,
    Entry,
    color_limits,
    diverging,
    dot,
    is_dark,
    label_text,
    legend,
    medium,
    sequential,
    signed_number,
    small,
    text_inches,
)

BRAIN_WIDTH_INCHES, BRAIN_HEIGHT_INCHES = 7.2, 2.7
BAR_INCHES = 0.5


@documented_figure
def feature_brain(
    adata: AnnData,
    values: object,
    *,
    group: str | None = None,
    key: str = "disc",
    cmap: str | Colormap | None = None,
    size: float = 22.0,
    display_mode: str = "lyrz",
    title: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw a value of every feature on a glass brain; features are parcels.

    Needs nilearn: `pip install diffnb[brain]`. There is no `ax`: nilearn draws several views, each on axes that it
    makes itself.

    Parameters
    ----------
    adata
        Annotated data with `x`, `y` and `z` in `var`, in millimetres of MNI space, as
        :func:`diffnb.datasets.from_parcels` makes it.
    values
    group
        The condition, for columns of :func:`diffnb.get.disc`.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    cmap
    size
        Area of a marker in square points; markers of the background are smaller.
    display_mode
        Views, as nilearn names them.
    title
    width

    Returns
    -------
    The figure. Parcels without a value are left out.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nback_fmri(n_subjects=1, n_blocks=1)
    >>> figure = dn.pl.feature_brain(adata, "truth_2-back")
    """
    coordinates = parcel_coordinates(adata)
    plotting = _nilearn_plotting()
    series, name = feature_values(adata, values, group, key)
    if is_categorical(series):
        figure = _mark_categories(plotting, series, colors_for(adata, series, key), coordinates, size, display_mode)
    else:
        figure = _mark_numbers(plotting, series, cmap, coordinates, size, display_mode)
    figure.suptitle(label_text(name, 60), fontsize=medium(), y=0.98)
    return figure


def _nilearn_plotting() -> Any:
    try:
        from nilearn import plotting
    except ImportError as error:
        raise ImportError("dn.pl.feature_brain draws with nilearn: pip install diffnb[brain]") from error
    return plotting


def _scale(usual_width: float) -> float:
    """Size of a brain relative to its usual one."""
    return (page_width() or usual_width) / usual_width


def _brain_figure(width: float, below: float = 0.0) -> Figure:
    figure = new_figure(width, below + BRAIN_HEIGHT_INCHES * _scale(width))
    figure.set_layout_engine("none")  # nilearn places its views itself
    return figure


def _mark_numbers(
    plotting: Any,
    series: pd.Series[Any],
    cmap: str | Colormap | None,
    coordinates: Floats,
    size: float,
    display_mode: str,
) -> Figure:
    usual = BRAIN_WIDTH_INCHES + 1.0
    narrow = is_narrow(usual)
    below = BAR_INCHES if narrow else 0.0
    figure = _brain_figure(BRAIN_WIDTH_INCHES if narrow else usual, below)
    lowest = below / figure.get_size_inches()[1]
    size *= _scale(usual) ** 2
    valid = series.notna().to_numpy()
    numbers = series.to_numpy(dtype=float)[valid]
    low, high, signed = color_limits(numbers)
    order = np.argsort(np.abs(numbers), kind="stable")  # the largest on top
    display = plotting.plot_markers(
        numbers[order],
        coordinates[valid][order],
        node_size=size,
        node_cmap=cmap or (diverging() if signed else sequential()),
        node_vmin=low,
        node_vmax=high,
        display_mode=display_mode,
        figure=figure,
        axes=(0.0, 0.02 + lowest, 0.98, 0.86 * (1 - lowest)),
        annotate=False,
        black_bg=is_dark(),
        alpha=0.9,
        node_kwargs={"linewidths": 0.3, "edgecolors": "#808080"},
        colorbar=not narrow,
    )
    if narrow:
        mapped = ScalarMappable(Normalize(low, high), cmap or (diverging() if signed else sequential()))
        _bar_below(figure, mapped, lowest)
        return figure
    bar = getattr(display, "_colorbar_ax", None)
    if bar is not None:
        bar.tick_params(labelsize=small())
    return figure


def _bar_below(figure: Figure, mapped: ScalarMappable, height: float) -> None:
    """Add a colour bar below a brain, where a narrow page has no space beside it."""
    place = figure.add_axes((0.3, 0.6 * height, 0.4, 0.2 * height))
    bar = figure.colorbar(mapped, cax=place, orientation="horizontal", format=signed_number, ticks=MaxNLocator(4))
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)


def _mark_categories(
    plotting: Any,
    series: pd.Series[Any],
    colors: dict[str, str],
    coordinates: Floats,
    size: float,
    display_mode: str,
) -> Figure:
    listed = sorted(colors, key=lambda name: name == BACKGROUND_GROUP)[:MAX_LEGEND_ENTRIES]
    entry_inches = text_inches([label_text(name) for name in listed], small()) + 0.45
    n_columns = 1 + (len(listed) - 1) // MAX_LEGEND_ROWS
    usual, below = BRAIN_WIDTH_INCHES + entry_inches * n_columns, 0.0
    share = BRAIN_WIDTH_INCHES / usual
    narrow = is_narrow(usual)
    if narrow:  # the legend is below, in as many columns as fit
        usual, share = BRAIN_WIDTH_INCHES, 1.0
        n_columns = max(1, int((page_width() or usual) / entry_inches))
        below = ROW_INCHES * -(-len(listed) // n_columns) + 0.1
    figure = _brain_figure(usual, below)
    lowest = below / figure.get_size_inches()[1]
    size *= _scale(usual) ** 2
    display = plotting.plot_glass_brain(
        None,
        display_mode=display_mode,
        figure=figure,
        axes=(0.0, 0.02 + lowest, share, 0.86 * (1 - lowest)),
        annotate=False,
        black_bg=is_dark(),
    )
    names = series.astype(str).to_numpy()
    # the background is drawn first, below the others
    for name in sorted(colors, key=lambda n: n != BACKGROUND_GROUP):
        chosen = (names == name) & series.notna().to_numpy()
        if chosen.any():
            faint = name == BACKGROUND_GROUP
            display.add_markers(
                coordinates[chosen],
                marker_color=colors[name],
                marker_size=size / 2.5 if faint else size,
                alpha=0.6 if faint else 0.95,
            )
    entries: list[Entry] = [(dot(colors[name]), name) for name in listed]
    if narrow:
        legend(figure, entries, loc="lower center", ncols=n_columns, borderaxespad=0.2)
    else:
        legend(figure, entries, loc="center left", bbox_to_anchor=(share, 0.47), borderaxespad=0)
    return figure
