"""Values of features that are pixels, as an image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.patches import Patch

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats
from ..get._annotations import pixel_positions
from ._canvas import axes_or_new, color_bar, hide_frame
from ._docs import documented_figure
from ._read import colors_for, feature_values, is_categorical
from ._style import (
    MAX_LEGEND_ENTRIES,
    Entry,
    color_limits,
    diverging,
    label_text,
    legend_right,
    medium,
    sequential,
)


@documented_figure
def feature_image(
    adata: AnnData,
    values: object,
    *,
    group: str | None = None,
    key: str = "disc",
    cmap: str | Colormap | None = None,
    shape: Sequence[int] | None = None,
    title: str | None = None,
    width: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a value of every feature as an image; features are pixels.

    Parameters
    ----------
    adata
        Annotated data with `row` and `col` in `var`, as :func:`diffnb.datasets.from_image_pair` makes it.
    values
    group
        The condition, for columns of :func:`diffnb.get.disc`.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    cmap
    shape
        Rows and columns of the image; by default those in `adata.uns["features"]`.
    title
    width
    ax

    Returns
    -------
    The axes. Pixels without a value are left blank.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.hyperspectral_tarp(size=20)
    >>> ax = dn.pl.feature_image(adata, "material")
    >>> ax.images[0].get_array().shape
    (20, 20)
    """
    row, col, size = pixel_positions(adata, shape)
    series, name = feature_values(adata, values, group, key)
    axes = axes_or_new(ax, 4.8, 3.4)
    image = np.full(size, np.nan)
    if is_categorical(series):
        codes = series.cat.codes.to_numpy()
        image[row, col] = np.where(codes < 0, np.nan, codes)
        _show_categories(axes, image, colors_for(adata, series, key))
    else:
        image[row, col] = series.to_numpy(dtype=float)
        _show_numbers(axes, image, cmap)
    axes.set_title(label_text(name, 40), fontsize=medium())
    hide_frame(axes)
    return axes


def _show_numbers(ax: Axes, image: Floats, cmap: str | Colormap | None) -> None:
    low, high, signed = color_limits(image)
    if cmap is None:
        cmap = diverging() if signed else sequential()
    drawn = ax.imshow(np.ma.masked_invalid(image), cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    color_bar(drawn, ax, pad=0.03, shrink=0.8, aspect=22)


def _show_categories(ax: Axes, codes: Floats, colors: dict[str, str]) -> None:
    ax.imshow(
        np.ma.masked_invalid(codes),
        cmap=ListedColormap(list(colors.values())),
        vmin=-0.5,
        vmax=len(colors) - 0.5,
        interpolation="nearest",
    )
    names = sorted(colors, key=lambda name: name == BACKGROUND_GROUP)
    entries: list[Entry] = [(Patch(color=colors[n], lw=0), n) for n in names[:MAX_LEGEND_ENTRIES]]
    if len(names) > MAX_LEGEND_ENTRIES:
        entries.append((Patch(color="none"), f"and {len(names) - MAX_LEGEND_ENTRIES} more"))
    legend_right(ax, entries)
