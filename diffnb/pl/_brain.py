"""Values of features that are brain parcels, on a glass brain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.colors import Colormap
from matplotlib.figure import Figure

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats
from ..get._annotations import parcel_coordinates
from ._canvas import new_figure
from ._docs import documented_figure
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
    small,
    text_inches,
)

BRAIN_WIDTH_INCHES, BRAIN_HEIGHT_INCHES = 7.2, 2.7


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
) -> Figure:
    """Draw a value of every feature on a glass brain; features are parcels.

    Needs nilearn: `pip install diffnb[brain]`. There is no `ax`: nilearn draws several views, each on axes that it
    makes itself.

    Parameters
    ----------
    adata
        Annotated data with `x`, `y` and `z` in `var`, in millimetres of MNI space, as
        :func:`diffnb.datasets.from_parcels` makes it.
    {values}
    {group_of_values}
    {key_disc}
    {cmap}
    size
        Area of a marker in square points; markers of the background are smaller.
    display_mode
        Views, as nilearn names them.

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
    series, title = feature_values(adata, values, group, key)
    if is_categorical(series):
        figure = _mark_categories(plotting, series, colors_for(adata, series, key), coordinates, size, display_mode)
    else:
        figure = _mark_numbers(plotting, series, cmap, coordinates, size, display_mode)
    figure.suptitle(label_text(title, 60), fontsize=medium(), y=0.98)
    return figure


def _nilearn_plotting() -> Any:
    try:
        from nilearn import plotting
    except ImportError as error:
        raise ImportError("dn.pl.feature_brain draws with nilearn: pip install diffnb[brain]") from error
    return plotting


def _brain_figure(width: float) -> Figure:
    figure = new_figure(width, BRAIN_HEIGHT_INCHES)
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
    figure = _brain_figure(BRAIN_WIDTH_INCHES + 1.0)
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
        axes=(0.0, 0.02, 0.98, 0.86),
        annotate=False,
        black_bg=is_dark(),
        alpha=0.9,
        node_kwargs={"linewidths": 0.3, "edgecolors": "#808080"},
    )
    bar = getattr(display, "_colorbar_ax", None)
    if bar is not None:
        bar.tick_params(labelsize=small())
    return figure


def _mark_categories(
    plotting: Any,
    series: pd.Series[Any],
    colors: dict[str, str],
    coordinates: Floats,
    size: float,
    display_mode: str,
) -> Figure:
    listed = sorted(colors, key=lambda name: name == BACKGROUND_GROUP)[:MAX_LEGEND_ENTRIES]
    n_columns = 1 + (len(listed) - 1) // MAX_LEGEND_ROWS
    legend_inches = (text_inches([label_text(name) for name in listed], small()) + 0.45) * n_columns
    figure = _brain_figure(BRAIN_WIDTH_INCHES + legend_inches)
    share = BRAIN_WIDTH_INCHES / (BRAIN_WIDTH_INCHES + legend_inches)
    display = plotting.plot_glass_brain(
        None,
        display_mode=display_mode,
        figure=figure,
        axes=(0.0, 0.02, share, 0.86),
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
    legend(figure, entries, loc="center left", bbox_to_anchor=(share, 0.47), borderaxespad=0)
    return figure
