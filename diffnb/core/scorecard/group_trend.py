"""Trend of groups of features: whether the correlation within a group changes steadily with a dose.

With z-scores within a level, the signed sum of the features of a group gives every observation a number whose mean
over the level is the mean signed correlation of all pairs of the group. Its slope over the dose is the trend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ..arrays.ops import dense64, take_columns
from ..arrays.row_chunks import Chunked
from ..runtime.seeds import generator
from ..stats.pvalues import adjusted
from ..typing import Floats, Ints, Matrix
from .effects import CONFIDENCE
from .strata import Strata, compare_numbers_in, effect_in
from .trend_samples import cells_of, trend_units


@dataclass(frozen=True, slots=True)
class GroupTrend:
    """One entry per group; `levels` is groups × levels."""

    slope: Floats
    low: Floats
    high: Floats
    stat: Floats
    pval: Floats
    pval_adj: Floats
    #: mean correlation of all pairs of a group, with the signs that its features have over all levels
    levels: Floats
    #: samples with one dose each, and with several; 0 where observations are the units
    n_single: int = 0
    n_multiple: int = 0


def fit_group_trend(
    matrices: Sequence[Matrix],
    doses: Sequence[Floats],
    groups: Sequence[Ints],
    /,
    *,
    samples: Sequence[Ints] | None = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> GroupTrend:
    """Test groups of columns for a trend; each matrix holds the observations of one level, in the order of the dose.

    Observations are the units, and doses are permuted over them; or `samples` are, given their codes, by t tests.
    """
    if samples is None:
        rows = [[np.arange(own.size)] for own in doses]
        of_level = [pair_correlations(matrices, doses, rows, own) for own in groups]
        levels = np.array([[cell.mean() for cell in cells] for cells in of_level])
        dose = np.concatenate([own[cell] for own, cells in zip(doses, rows, strict=True) for cell in cells])
        rng = generator(seed, "permutations")
        tested = [slope_test(np.concatenate(own), dose, n_permutations, rng) for own in of_level]
        slope, error, df, stat, pval = np.array(tested).T
        return _fit(slope, error, df, stat, pval, levels)
    units = trend_units(cells_of(samples, doses))
    cells = units.cells
    values = np.array(
        [[cell.mean() for cell in pair_correlations(matrices, doses, cells.rows, own)] for own in groups]
    ).T
    level = np.repeat(np.arange(len(cells.rows)), [len(own) for own in cells.rows])
    levels = np.array([_mean(values[level == number]) for number in range(len(cells.rows))]).T
    slope, error, df = _effects(values, units.strata)
    found = compare_numbers_in(values, units.strata)
    return _fit(slope, error, df, found.stat, found.pval, levels, units.n_single, units.n_multiple)


def pair_correlations(
    matrices: Sequence[Matrix], doses: Sequence[Floats], rows: Sequence[Sequence[Ints]], members: Ints, /
) -> list[Floats]:
    """Return, for every cell of rows, what each observation contributes to the mean correlation of all pairs.

    The dose is taken out within cells, so that features whose means follow it are not correlated for that reason.
    """
    values = [
        _z_scores(x[cell], dose[cell])
        for x, dose, own in zip((_dense(x, members) for x in matrices), doses, rows, strict=True)
        for cell in own
    ]
    pooled = np.sum([z.T @ z for z in values], axis=0) / sum(len(z) for z in values)
    signs = _signs(pooled)
    n_pairs = members.size * (members.size - 1)
    # a correlation varies less than the mean product of z-scores: their squares are 1 on average in every cell, and
    # deviations from it are taken out in the proportion in which they move both (the influence function of r)
    share = (signs * (pooled @ signs) - np.diag(pooled)) / n_pairs
    return [
        (np.square(z @ signs) - np.square(z).sum(axis=1)) / n_pairs - (np.square(z) - np.square(z).mean(axis=0)) @ share
        for z in values
    ]


def _dense(matrix: Matrix, members: Ints) -> Floats:
    own = take_columns(matrix, np.isin(np.arange(matrix.shape[1]), members))
    return dense64(own.load() if isinstance(own, Chunked) else own)


def _z_scores(values: Floats, dose: Floats) -> Floats:
    centred = values - values.mean(axis=0)
    own = dose - dose.mean()
    length = float(own @ own)
    if length > 0:
        centred -= np.outer(own, own @ centred) / length
    sd = centred.std(axis=0)
    return np.asarray(np.divide(centred, sd, out=np.zeros_like(centred), where=sd > 1e-12 * np.abs(values).max()))


def _signs(products: Floats) -> Floats:
    """Signs of the features in the leading component of all cells together, which no permutation changes."""
    vector = np.linalg.eigh(products)[1][:, -1]
    return np.where(vector * vector[np.argmax(np.abs(vector))] < 0, -1.0, 1.0)


def slope_test(
    values: Floats, dose: Floats, n_permutations: int, rng: np.random.Generator, /
) -> tuple[float, float, float, float, float]:
    """Return slope, robust error, degrees of freedom, t and the p-value of t under permuted doses."""
    centred, own = values - values.mean(), dose - dose.mean()
    slope, error = _slope(centred, own)
    stat = slope / error
    null = [np.abs(np.divide(*_slope(centred, rng.permutation(own)))) for _ in range(n_permutations)]
    # equal ones count, but for rounding
    n_above = int(np.sum(np.array(null) >= abs(stat) * (1 - 1e-9)))
    return slope, error, float(values.size - 2), stat, (1 + n_above) / (1 + n_permutations)


def _slope(values: Floats, dose: Floats) -> tuple[float, float]:
    """Slope of centred values, and its error for variances that differ between observations (HC3)."""
    square = np.square(dose)
    length = float(square.sum())
    slope = float(dose @ values) / length
    leverage = 1 / values.size + square / length
    residuals = (values - slope * dose) / np.maximum(1 - leverage, 1e-9)
    return slope, max(float(np.sqrt(square @ np.square(residuals))) / length, 1e-300)


def _mean(values: Floats) -> Floats:
    return values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)


def _effects(values: Floats, strata: Strata) -> tuple[Floats, Floats, Floats]:
    slope, error, df = effect_in(values, strata)
    return slope, error, np.broadcast_to(df, slope.shape)


def _fit(
    slope: Floats,
    error: Floats,
    df: Floats,
    stat: Floats,
    pval: Floats,
    levels: Floats,
    n_single: int = 0,
    n_multiple: int = 0,
) -> GroupTrend:
    width = special.stdtrit(df, (1 + CONFIDENCE) / 2) * error
    return GroupTrend(slope, slope - width, slope + width, stat, pval, adjusted(pval), levels, n_single, n_multiple)
