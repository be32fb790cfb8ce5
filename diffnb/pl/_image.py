"""Values of features that are pixels, as an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from ..core.typing import Floats
from ._read import colors_for, feature_values, is_categorical
from ._style import BACKGROUND, LISTED, beside, diverging, medium, own_axes, sequential, shown, small


def feature_image(
    adata: AnnData,
    values: object,
    *,
    group: str | None = None,
    key: str = "disc",
    cmap: Any = None,
    shape: Sequence[int] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a value of every feature as an image; features are pixels.

    Parameters
    ----------
    adata
        Annotated data with `row` and `col` in `var`, as :func:`diffnb.datasets.from_image_pair` makes it.
    values
        A column of :func:`diffnb.get.disc` such as `"vector_1"`, `"score"` or `"feature_group"`, a column of
        `adata.var`, or an array with one value for each feature.
    group
        The condition, for columns of :func:`diffnb.get.disc`.
    key
        The `key_added` of :func:`diffnb.tl.disc`.
    cmap
        Colour map of numbers; by default one centred at 0 where there are negative ones.
    shape
        Rows and columns of the image; by default those in `adata.uns["features"]`.
    ax
        Axes to draw into; those of a new figure by default.

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
    row, col, size = _pixels(adata, shape)
    series, title = feature_values(adata, values, group, key)
    axes = own_axes(ax, 4.8, 3.4)
    if is_categorical(series):
        _draw_categories(axes, adata, series, (row, col, size), key)
    else:
        _draw_numbers(axes, _placed(series.to_numpy(dtype=float), row, col, size), cmap)
    axes.set_title(shown(title, 40), fontsize=medium())
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return axes


def _pixels(adata: AnnData, shape: Sequence[int] | None) -> tuple[Any, Any, tuple[int, int]]:
    """Read where each feature lies, and how large the image is."""
    features = adata.uns.get("features", {})
    missing = [name for name in ("row", "col") if name not in adata.var.columns]
    if missing:
        kind = features.get("kind", "not said to be pixels")
        raise ValueError(
            f"features are not pixels: adata.var has no {' and no '.join(map(repr, missing))}"
            f" (features are {kind}). dn.datasets.from_image_pair makes such data."
        )
    row, col = adata.var["row"].to_numpy().astype(int), adata.var["col"].to_numpy().astype(int)
    if shape is None:
        shape = features.get("shape", (row.max() + 1, col.max() + 1))
    size = tuple(int(n) for n in np.asarray(shape))
    if len(size) != 2:
        raise ValueError(f"shape={shape!r} must be the numbers of rows and columns.")
    if row.min() < 0 or col.min() < 0 or row.max() >= size[0] or col.max() >= size[1]:
        raise ValueError(
            f"shape={size} is too small: adata.var has rows up to {row.max()} and columns up to {col.max()}."
        )
    return row, col, (size[0], size[1])


def _placed(values: Floats, row: Any, col: Any, size: tuple[int, int]) -> Floats:
    image = np.full(size, np.nan)
    image[row, col] = values
    return image


def _draw_numbers(ax: Any, image: Floats, cmap: Any) -> None:
    finite = image[np.isfinite(image)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    signed = low < 0 < high
    if signed:
        low, high = -max(-low, high), max(-low, high)
    if cmap is None:
        cmap = diverging() if signed else sequential()
    drawn = ax.imshow(np.ma.masked_invalid(image), cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.03, shrink=0.8, aspect=22)
    bar.ax.tick_params(labelsize=small())
    bar.outline.set_visible(False)


def _draw_categories(
    ax: Any, adata: AnnData, series: pd.Series[Any], pixels: tuple[Any, Any, tuple[int, int]], key: str
) -> None:
    colors = colors_for(adata, series, key)
    codes = series.cat.codes.to_numpy().astype(float)
    codes[codes < 0] = np.nan
    ax.imshow(
        np.ma.masked_invalid(_placed(codes, *pixels)),
        cmap=ListedColormap(list(colors.values())),
        vmin=-0.5,
        vmax=len(colors) - 0.5,
        interpolation="nearest",
    )
    names = sorted(colors, key=lambda name: name == BACKGROUND)
    entries: list[tuple[Any, object]] = [(Patch(color=colors[n], lw=0), n) for n in names[:LISTED]]
    if len(names) > LISTED:
        entries.append((Patch(color="none"), f"and {len(names) - LISTED} more"))
    beside(ax, entries)
