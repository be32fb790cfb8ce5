"""Autocorrelation of rows in their order: for how many independent observations the frames of a series count.

Tests that exchange single rows treat them as independent. Frames of a recording are not: neighbours resemble each
other, so that n of them carry as much information as fewer independent ones. That number follows from the
autocorrelations ρ(k) at lags k: for a mean it is n over 1 + 2 Σ ρ(k), for a correlation of two independent series n
over 1 + 2 Σ ρ(k)² (Bartlett 1935).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from ..typing import Floats, Ints

#: share of the longest run that lags go up to; beyond, too few pairs of rows remain
MAX_LAG_SHARE = 0.25
#: variance of a feature, relative to the largest, that is more than rounding
MIN_RELATIVE_VARIANCE = 1e-20
#: neighbouring rows are alike if their correlation is at least this, and many standard errors above zero
MIN_CORRELATION_OF_NEIGHBORS = 0.1
MIN_STANDARD_ERRORS = 4.0
#: and if rows count for half of their number at most
MIN_CORRELATION_TIME = 2.0


@dataclass(frozen=True, slots=True)
class Autocorrelation:
    """Autocorrelation of rows, averaged over features."""

    #: at lags 0, 1, 2, …
    values: Floats
    #: rows from which it was computed
    n_obs: int

    @property
    def lag_1(self) -> float:
        """Correlation of neighbouring rows."""
        return float(self.values[1]) if len(self.values) > 1 else 0.0

    @property
    def time(self) -> float:
        """Rows that count as one: the larger of the factors for means and for correlations, 1 at least."""
        of_means = 2 * _initial_positive_sum(self.values) - 1
        of_correlations = 1 + 2 * float((self.values[1:] ** 2).sum())
        return max(1.0, of_means, of_correlations)

    @property
    def is_clear(self) -> bool:
        """Whether neighbours are alike beyond chance, and so much that it matters."""
        # features may all follow one factor, so that averaging over them does not reduce the standard error 1/√n
        least = max(MIN_CORRELATION_OF_NEIGHBORS, MIN_STANDARD_ERRORS / np.sqrt(self.n_obs))
        return self.lag_1 >= least and self.time >= MIN_CORRELATION_TIME


def autocorrelation(series: Sequence[Sequence[Floats]], /) -> Autocorrelation:
    """Average the autocorrelation over features; every series is one or several runs of consecutive rows.

    The mean of every feature is removed per series, not per run: a drift from run to run is autocorrelation, too.
    """
    runs = [run for parts in series for run in _centered(parts)]
    n_lags = 1 + int(MAX_LAG_SHARE * max(len(run) for run in runs))
    sums = np.sum([_lagged_products(run, n_lags) for run in runs], axis=0)
    squares = np.nan_to_num(sums[0])  # a feature with missing values is left out
    # rounding leaves some variance in a feature that is constant in these rows
    varying = squares > MIN_RELATIVE_VARIANCE * squares.max()
    n_obs = sum(len(run) for run in runs)
    if not varying.any():
        return Autocorrelation(np.eye(1, n_lags)[0], n_obs)
    return Autocorrelation((sums[:, varying] / sums[0, varying]).mean(axis=1), n_obs)


def without_levels(x: Floats, codes: Ints, /) -> Floats:
    """Subtract from every row the mean of its level, for example of its cell type."""
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), x.shape[1]))
    np.add.at(sums, codes, x)
    return np.asarray(x - (sums / np.maximum(counts, 1)[:, None])[codes])


def _centered(parts: Sequence[Floats]) -> list[Floats]:
    mean = np.concatenate(list(parts)).mean(axis=0)
    return [part - mean for part in parts]


def _lagged_products(run: Floats, n_lags: int) -> Floats:
    """Sum of products of rows at every lag, lags × features; 0 where the run is shorter than the lag."""
    n = len(run)
    # twice the length, so that the end of the run does not meet its beginning
    spectrum = fft.rfft(run, fft.next_fast_len(2 * n, real=True), axis=0)
    products = fft.irfft(np.abs(spectrum) ** 2, axis=0)[: min(n, n_lags)]
    return np.pad(products, ((0, n_lags - len(products)), (0, 0)))


def _initial_positive_sum(values: Floats) -> float:
    """Sum pairs of neighbouring lags as long as they are positive (Geyer 1992); noise or oscillation follows."""
    even = len(values) // 2 * 2
    pairs = values[:even].reshape(-1, 2).sum(axis=1) if even else values[:1]
    negative = np.flatnonzero(pairs <= 0)
    return float(pairs[: negative[0] if negative.size else len(pairs)].sum())
