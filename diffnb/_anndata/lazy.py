"""Values of slots that are still in a file, as arrays and tables in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.arrays.row_chunks import is_dask


def in_memory(value: Any, /) -> Any:
    """Read what is lazy, nested as deep as it goes; everything else stays as it is."""
    if is_dask(value):
        value = value.compute()
    elif hasattr(value, "to_memory"):  # tables and sparse arrays of anndata; lazy tables are mappings, too
        value = value.to_memory()
    elif isinstance(value, Mapping):
        return {name: in_memory(inner) for name, inner in value.items()}
    elif hasattr(value, "to_pandas"):  # a column of a lazy table
        value = value.to_pandas()
    if isinstance(value, np.ndarray) and value.dtype.kind == "T":  # texts of zarr
        return value.astype(object)
    return value
