"""What an AnnData holds besides results: embeddings, the layout of features, matrices over features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .. import _validate as validate
from ..core.typing import Floats, Ints


def embedding_names(adata: AnnData, *, min_columns: int = 1) -> list[str]:
    """Keys of `adata.obsm` that hold matrices with at least `min_columns` columns."""
    shapes = {str(name): np.shape(values) for name, values in adata.obsm.items()}
    return [name for name, shape in shapes.items() if len(shape) == 2 and shape[1] >= min_columns]


def embedding(adata: AnnData, basis: str) -> Floats:
    """Return the first two columns of `adata.obsm[basis]`."""
    if basis not in adata.obsm:
        there = validate.quoted(adata.obsm) or "it has none"
        raise ValueError(f"basis={basis!r} is not in adata.obsm ({there}).{validate.nearest(basis, list(adata.obsm))}")
    values = np.asarray(adata.obsm[basis], dtype=float)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"basis={basis!r} has shape {values.shape}; two columns are needed to draw.")
    return values[:, :2]


def values_of_feature(adata: AnnData, name: str) -> Floats:
    """Return the values of a feature for all observations."""
    values = adata.X[:, int(np.flatnonzero(adata.var_names == name)[0])]
    if hasattr(values, "compute"):
        values = values.compute()
    column = values.toarray() if sp.issparse(values) else values
    return np.asarray(column, dtype=float).ravel()


def feature_matrix(adata: AnnData, name: str) -> pd.DataFrame:
    """Return `adata.varp[name]` with the names of features."""
    if name not in adata.varp:
        raise ValueError(
            f"truth={name!r} is not a key of adata.varp ({validate.quoted(adata.varp) or 'it has none'})."
            f"{validate.nearest(name, adata.varp)}"
        )
    found = adata.varp[name]
    values = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return pd.DataFrame(values, index=adata.var_names, columns=adata.var_names)


def feature_kind(adata: AnnData) -> str:
    """Return what the features are, `"pixels"` or `"parcels"`, or an empty string where it is not recorded."""
    return str(adata.uns.get("features", {}).get("kind", ""))


def pixel_positions(adata: AnnData, shape: Sequence[int] | None) -> tuple[Ints, Ints, tuple[int, int]]:
    """Return the row and column of each feature, and the shape of the image."""
    _require_columns(adata, ("row", "col"), "pixels", "dn.datasets.from_image_pair makes such data.")
    row, col = adata.var["row"].to_numpy().astype(int), adata.var["col"].to_numpy().astype(int)
    if shape is None:
        shape = adata.uns.get("features", {}).get("shape", (row.max() + 1, col.max() + 1))
    size = tuple(int(n) for n in np.asarray(shape))
    if len(size) != 2:
        raise ValueError(f"shape={shape!r} must be the numbers of rows and columns.")
    if row.min() < 0 or col.min() < 0 or row.max() >= size[0] or col.max() >= size[1]:
        raise ValueError(
            f"shape={size} is too small: adata.var has rows up to {row.max()} and columns up to {col.max()}."
        )
    return row, col, (size[0], size[1])


def parcel_coordinates(adata: AnnData) -> Floats:
    """Return the coordinates of each feature in millimetres, features × 3."""
    hint = "dn.datasets.from_parcels(..., coordinates=...) makes such data."
    _require_columns(adata, ("x", "y", "z"), "parcels with coordinates", hint)
    return np.asarray(adata.var[["x", "y", "z"]], dtype=float)


def _require_columns(adata: AnnData, names: Sequence[str], kind: str, hint: str) -> None:
    missing = [name for name in names if name not in adata.var.columns]
    if missing:
        recorded = feature_kind(adata) or "of a kind that is not recorded"
        raise ValueError(
            f"features are not {kind}: adata.var has no {validate.quoted(missing)} (they are {recorded}). {hint}"
        )
