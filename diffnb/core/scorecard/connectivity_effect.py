"""Mean |Δr| of every feature with its partners, with an interval.

The features with which its correlation differs are chosen, with their sign, in one half of the units, and the mean
difference is estimated in the other; both halves take both roles. Without a difference the expectation is 0, which a
mean of absolute differences never has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from ..arrays.ops import dense64, take_columns, take_rows
from ..runtime.seeds import generator
from ..typing import Floats, Ints, Matrix
from .by_sample import Design
from .connectivity import MIN_OBS_FOR_CONNECTIVITY, varying
from .correlation_blocks import MAX_BLOCK_FEATURES
from .interval import Interval

#: standard errors beyond which a feature is a partner: so few of thousands exceed it by chance
MIN_PARTNER_Z = 4.0
#: samples that half of a condition needs, to estimate the difference and its error
MIN_SAMPLES_PER_HALF = 2
CONFIDENCE = 0.95
MAX_CORRELATION = 0.9999


def connectivity_effects(group: Matrix, reference: Matrix, samples: Design | None, /) -> tuple[Interval, Floats]:
    """Return the effect of every feature, and its mean number of partners in both halves.

    NaN where a feature has no partner in a half, or is constant, and for all where units are too few.
    """
    n_features = group.shape[1]
    nothing = np.full(n_features, np.nan)
    varies = varying(group, reference)
    halves = _halves((group.shape[0], reference.shape[0]), samples)
    if halves is None or varies.sum() < 2:
        return Interval(nothing, nothing, nothing), nothing.copy()
    kept = [take_columns(x, varies) for x in (group, reference)]
    units = [[[_unit_columns(x, rows) for rows in half[c]] for c, x in enumerate(kept)] for half in halves]
    first = _effects(units[0], units[1], samples is not None)
    second = _effects(units[1], units[0], samples is not None)
    estimate = (first[0] + second[0]) / 2
    error = np.sqrt(first[1] + second[1]) / 2
    df = first[3] + second[3]
    width = special.stdtrit(df, (1 + CONFIDENCE) / 2) * error
    found = [nothing.copy() for _ in range(4)]
    each = (estimate, estimate - width, estimate + width, (first[2] + second[2]) / 2)
    for values, own in zip(found, each, strict=True):
        values[varies] = own
    return Interval(*found[:3]), found[3]


def _halves(sizes: tuple[int, int], samples: Design | None) -> list[list[list[Ints]]] | None:
    """Split the units of both conditions: halves × conditions × units, or single units of all rows."""
    rng = generator(0, "halves")
    if samples is None:
        if min(sizes) < 2 * MIN_OBS_FOR_CONNECTIVITY:
            return None
        split = [np.array_split(rng.permutation(n), 2) for n in sizes]
        return [[[np.sort(own[half])] for own in split] for half in range(2)]
    listed = (samples.group, samples.reference)
    if min(len(rows) for rows in listed) < 2 * MIN_SAMPLES_PER_HALF:
        return None
    order = rng.permutation(len(listed[0]))
    orders = [order, order if samples.paired else rng.permutation(len(listed[1]))]
    parts = [np.array_split(own, 2) for own in orders]
    return [
        [[rows[i] for i in np.sort(part[half])] for rows, part in zip(listed, parts, strict=True)] for half in range(2)
    ]


def _unit_columns(x: Matrix, rows: Ints) -> Floats:
    """Columns of a unit with mean 0 and mean square 1."""
    u = dense64(take_rows(x, rows)).copy()
    u -= u.mean(axis=0)
    length = np.sqrt(np.mean(u**2, axis=0))
    u /= np.where(length > 0, length, 1.0)
    return u


def _effects(
    chosen_in: Sequence[Sequence[Floats]], measured_in: Sequence[Sequence[Floats]], by_sample: bool
) -> tuple[Floats, Floats, Floats, float]:
    """Choose partners in one half, and return the mean difference in the other, its variance, their number, and df."""
    n_features = chosen_in[0][0].shape[1]
    estimate, variance, number = (np.zeros(n_features) for _ in range(3))
    df = min(len(units) for units in measured_in) - 1.0 if by_sample else min(len(u[0]) for u in measured_in) - 3.0
    for start in range(0, n_features, MAX_BLOCK_FEATURES):
        where = slice(start, min(start + MAX_BLOCK_FEATURES, n_features))
        signs = _partners(chosen_in, where)
        number[where] = np.abs(signs).sum(axis=0)
        weights = signs / np.maximum(number[where], 1)
        parts = [_weighted(units, where, weights, by_sample) for units in measured_in]
        estimate[where] = parts[0][0] - parts[1][0]
        variance[where] = parts[0][1] + parts[1][1]
    none = number == 0
    return np.where(none, np.nan, estimate), variance, number, df


def _partners(units: Sequence[Sequence[Floats]], where: slice) -> Floats:
    """Signs of the differences of all features (rows) with some features that are beyond chance, and 0."""
    z, variance = [], 0.0
    for own in units:
        each = [np.arctanh(np.clip(u.T @ u[:, where] / len(u), -MAX_CORRELATION, MAX_CORRELATION)) for u in own]
        z.append(np.mean(each, axis=0))
        variance += sum(1 / max(len(u) - 3, 1) for u in own) / len(own) ** 2
    difference = z[0] - z[1]
    signs = np.sign(difference) * (np.abs(difference) > MIN_PARTNER_Z * np.sqrt(variance))
    signs[np.arange(where.start, where.stop), np.arange(where.stop - where.start)] = 0.0
    return np.asarray(signs)


def _weighted(units: Sequence[Floats], where: slice, weights: Floats, by_sample: bool) -> tuple[Floats, Floats]:
    """Weight and sum the correlations with the partners; its variance by influence, or between samples."""
    if by_sample:
        sums = np.stack([np.sum(weights * (u.T @ u[:, where] / len(u)), axis=0) for u in units])
        return sums.mean(axis=0), sums.var(axis=0, ddof=1) / len(sums)
    (u,) = units
    own = u[:, where]
    r = weights * (u.T @ own / len(u))
    total = r.sum(axis=0)
    # influence of an observation on r: uv − r (u² + v²)/2
    influence = own * (u @ weights) - 0.5 * (own**2 * total + (u**2) @ r)
    return total, influence.var(axis=0) / (len(u) - 3)
