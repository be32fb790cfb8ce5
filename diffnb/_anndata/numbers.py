"""Which matrices can be computed with: real numbers, none of them hidden, none so large or small that squares fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.arrays.ops import ColumnSummary, column_summaries
from ..core.typing import Bools, Floats, Matrix

#: numbers beyond which fourth powers overflow, and spreads below which they vanish
MAX_ABSOLUTE, MIN_RANGE = 1e70, 1e-70
#: integers beyond which float64 has no place for their last digits
MAX_EXACT_INTEGER = 2**53
#: kinds of NumPy types (floats, integers, booleans) that are numbers
NUMBER_KINDS = "fiub"
REMEDIES = {
    "c": "complex numbers; choose what to compare, such as numpy.abs(…) or the real part (….real)",
    "O": "Python objects; convert them with .astype(float)",
    "U": "texts; convert them with .astype(float)",
    "S": "texts; convert them with .astype(float)",
    "V": "records of several fields; choose one field, or make a column of each",
    "M": "dates; convert them to numbers first",
    "m": "durations; convert them to numbers first",
}
#: features that an error names
N_NAMED = 5


def real_numbers(source: Any, shown: str, /) -> Any:
    """Return a matrix of real numbers in a type that can be computed with, or explain what it holds instead."""
    source = _unmasked(source, shown)
    dtype = np.dtype(getattr(source, "dtype", float))
    if dtype.kind not in NUMBER_KINDS:
        what = REMEDIES.get(dtype.kind, "no numbers; convert them with .astype(float)")
        raise TypeError(f"{shown} has dtype {dtype.name}: {what}.")
    if dtype.kind == "b":
        return _converted(source, np.uint8)
    if dtype == np.float16:  # sums would overflow, and sparse products do not exist
        return _converted(source, np.float32)
    return source if dtype.itemsize <= 8 else _converted(source, np.float64)


def _unmasked(source: Any, shown: str) -> Any:
    if not isinstance(source, np.ma.MaskedArray):
        return source
    n_masked = int(np.ma.getmaskarray(source).sum())
    if n_masked:
        raise ValueError(
            f"{shown} is a masked array with {n_masked} masked values, which have to be replaced first:"
            " numpy.ma.filled(x, value) with a value that makes sense, or leave their features out."
        )
    return source.data


def _converted(source: Any, dtype: Any) -> Any:
    # datasets of a backed AnnData have no astype of their own
    source = source.to_memory() if hasattr(source, "to_memory") else source
    return source.astype(dtype) if hasattr(source, "astype") and hasattr(source, "ndim") else np.asarray(source, dtype)


def check_values(matrix: Matrix, names: Any, shown: str, /) -> None:
    """Refuse values of a matrix that no tool can compute with."""
    summaries = column_summaries([matrix])
    check_finite(summaries[0], names, shown, remedy="Impute them, or leave these features out.")
    check_magnitudes(summaries, names, matrix.dtype)


def check_finite(
    summary: ColumnSummary,
    names: Any,
    shown: str,
    /,
    *,
    remedy: str = "Impute them, or leave these features out with mask_var.",
) -> None:
    """Refuse missing and infinite values, and name their features."""
    bad = summary.not_finite
    if bad.any():
        worst = np.flatnonzero(bad)
        listed = ", ".join(f"{names[j]!r} ({bad[j]})" for j in worst[:N_NAMED]) + (
            ", …" if worst.size > N_NAMED else ""
        )
        raise ValueError(
            f"{shown} has NaN or infinite values in {worst.size} feature{'s' * (worst.size != 1)}: {listed}. {remedy}"
        )


def check_magnitudes(summaries: Sequence[ColumnSummary], names: Any, dtype: Any, /) -> None:
    """Refuse numbers whose squares overflow or vanish, and integers that float64 cannot tell apart."""
    low = np.min([summary.low for summary in summaries], axis=0)
    high = np.max([summary.high for summary in summaries], axis=0)
    largest: Floats = np.maximum(np.abs(low), np.abs(high))
    huge, tiny = largest > MAX_ABSOLUTE, (high > low) & (high - low < MIN_RANGE)
    if huge.any():
        _refuse(huge, names, f"values above {MAX_ABSOLUTE:.0e}, whose squares overflow", float(largest.max()))
    if tiny.any():
        _refuse(tiny, names, f"values that differ by less than {MIN_RANGE:.0e}, whose squares vanish", None)
    if np.dtype(dtype).kind in "iu" and (largest > MAX_EXACT_INTEGER).any():
        many = largest > MAX_EXACT_INTEGER
        raise ValueError(
            f"{_listed(many, names)} integers above 2**53, of which float64 keeps no last digits; subtract what they"
            " have in common first."
        )


def _refuse(which: Bools, names: Any, what: str, largest: float | None) -> None:
    advice = "Divide the data by a unit in which numbers are near 1"
    unit = "" if largest is None else f", such as {largest:.0e}"
    raise ValueError(f"{_listed(which, names)} {what} in double precision. {advice}{unit}, or leave them out.")


def _listed(which: Bools, names: Any) -> str:
    found = [repr(str(name)) for name in np.asarray(names)[which]]
    more = ", …" if len(found) > N_NAMED else ""
    n = len(found)
    return f"{n} feature{'s' * (n != 1)} ({', '.join(found[:N_NAMED])}{more}) {'has' if n == 1 else 'have'}"
