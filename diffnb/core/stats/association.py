"""How much of a variable follows another one: explained variance, and the area under the ROC curve."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from ..typing import Floats, Ints


def eta_squared(values: Floats, codes: Ints, /) -> Floats:
    """Share of the variance of each row of values that lies between levels; negative codes are missing."""
    known = codes >= 0
    values, codes = values[:, known], codes[known]
    counts = np.bincount(codes)
    centred = values - values.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(codes, weights=row, minlength=counts.size) for row in centred])
    between = (sums[:, counts > 0] ** 2 / counts[counts > 0]).sum(axis=1)
    return _share(between, (centred**2).sum(axis=1))


def squared_correlation(values: Floats, other: Floats, /) -> Floats:
    """Share of the variance of each row of values that is linear in another variable; NaN of it is missing."""
    known = np.isfinite(other)
    centred = values[:, known] - values[:, known].mean(axis=1, keepdims=True)
    other = other[known] - other[known].mean()
    return _share((centred @ other) ** 2, (centred**2).sum(axis=1) * (other @ other))


def auroc(values: Floats, second: Ints, /) -> Floats:
    """Chance that a value where `second` is 1 exceeds one where it is 0, for each row; negative codes are missing."""
    known = second >= 0
    values, second = values[:, known], second[known] == 1
    n_second, n_first = int(second.sum()), int((~second).sum())
    if not n_second or not n_first:
        return np.full(len(values), np.nan)
    ranks = rankdata(values, axis=1)[:, second].sum(axis=1)
    return np.asarray((ranks - n_second * (n_second + 1) / 2) / (n_first * n_second))


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)
    return share
