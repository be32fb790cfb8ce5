"""Values of features that are brain parcels, on a glass brain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from ._read import colors_for, feature_values, is_categorical
from ._style import (
    BACKGROUND,
    ENTRIES,
    LISTED,
    diverging,
    dot,
    is_dark,
    legend,
    medium,
    new_figure,
    sequential,
    shown,
    small,
    text_inches,
)

#: width of the views and height of the figure, in inches
VIEWS, HEIGHT = 7.2, 2.7


def feature_brain(
    adata: AnnData,
    values: object,
    *,
    group: str | None = None,
    key: str = "disc",
    cmap: Any = None,
    size: float = 22.0,
    display_mode: str = "lyrz",
) -> Any:
    """Draw a value of every feature on a glass brain; features are parcels.

    Needs nilearn: `pip install diffnb[brain]`.

    Parameters
    ----------
    adata
        Annotated data with `x`, `y` and `z` in `var`, in millimetres of MNI space, as
        :func:`diffnb.datasets.from_parcels` makes it.
    values
        A column of :func:`diffnb.get.disc` such as `"vector_1"`, `"score"` or `"feature_group"`, a column of
        `adata.var`, or an array with one value for each feature.
    group
        The condition, for columns of :func:`diffnb.get.disc`.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    cmap
        Colour map of numbers; by default one centred at 0 where there are negative ones.
    size
        Area of a marker in square points; the background is drawn smaller.
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
    coordinates = _coordinates(adata)
    plotting = _nilearn_plotting()
    series, title = feature_values(adata, values, group, key)
    if is_categorical(series):
        figure = _draw_categories(plotting, series, colors_for(adata, series, key), coordinates, size, display_mode)
    else:
        figure = _draw_numbers(plotting, series, cmap, coordinates, size, display_mode)
    figure.suptitle(shown(title, 60), fontsize=medium(), y=0.98)
    return figure


def _draw_numbers(
    plotting: Any, series: pd.Series[Any], cmap: Any, coordinates: Any, size: float, display_mode: str
) -> Any:
    figure = _figure(VIEWS + 1.0)
    valid = series.notna().to_numpy()
    numbers = series.to_numpy(dtype=float)[valid]
    low, high = (float(numbers.min()), float(numbers.max())) if valid.any() else (0.0, 1.0)
    signed = low < 0 < high
    reach = max(-low, high)
    order = np.argsort(np.abs(numbers), kind="stable")  # the largest on top
    display = plotting.plot_markers(
        numbers[order],
        coordinates[valid][order],
        node_size=size,
        node_cmap=cmap or (diverging() if signed else sequential()),
        node_vmin=-reach if signed else low,
        node_vmax=reach if signed else high,
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


def _coordinates(adata: AnnData) -> Any:
    missing = [name for name in ("x", "y", "z") if name not in adata.var.columns]
    if missing:
        kind = adata.uns.get("features", {}).get("kind", "not said to be parcels")
        raise ValueError(
            f"features are not parcels with a place: adata.var has no {', '.join(map(repr, missing))}"
            f" (features are {kind}). dn.datasets.from_parcels(..., coordinates=...) makes such data."
        )
    return adata.var[["x", "y", "z"]].to_numpy(dtype=float)


def _nilearn_plotting() -> Any:
    try:
        from nilearn import plotting
    except ImportError as error:
        raise ImportError("dn.pl.feature_brain draws with nilearn: pip install diffnb[brain]") from error
    return plotting


def _figure(width: float) -> Any:
    figure = new_figure(width, HEIGHT)
    figure.set_layout_engine("none")  # nilearn places its views itself
    return figure


def _draw_categories(
    plotting: Any,
    series: pd.Series[Any],
    colors: dict[str, str],
    coordinates: Any,
    size: float,
    display_mode: str,
) -> Any:
    listed = sorted(colors, key=lambda name: name == BACKGROUND)[:LISTED]
    beside = (text_inches([shown(name) for name in listed], small()) + 0.45) * (1 + (len(listed) - 1) // ENTRIES)
    figure = _figure(VIEWS + beside)
    share = VIEWS / (VIEWS + beside)
    display = plotting.plot_glass_brain(
        None,
        display_mode=display_mode,
        figure=figure,
        axes=(0.0, 0.02, share, 0.86),
        annotate=False,
        black_bg=is_dark(),
    )
    names = series.astype(str).to_numpy()
    # the background first, so that it lies under the others
    for name in sorted(colors, key=lambda n: n != BACKGROUND):
        chosen = (names == name) & series.notna().to_numpy()
        if chosen.any():
            quiet = name == BACKGROUND
            display.add_markers(
                coordinates[chosen],
                marker_color=colors[name],
                marker_size=size / 2.5 if quiet else size,
                alpha=0.6 if quiet else 0.95,
            )
    entries: list[tuple[Any, object]] = [(dot(colors[name]), name) for name in listed]
    legend(figure, entries, loc="center left", bbox_to_anchor=(share, 0.47), borderaxespad=0)
    return figure
