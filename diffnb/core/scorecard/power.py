"""How often a group of connected features would be found, by simulation from pilot data.

Both conditions are drawn from the observations of one (whole samples where these are the units), so that nothing
differs between them; then some features become a group in the first. Their values are put in the order of Gaussian
numbers, within samples, which share a factor in that condition only: every feature keeps its own distribution, with
all its zeros and ties, and what is between samples stays between samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays.ops import dense64, take_rows
from ..runtime.seeds import draws
from ..stats.pvalues import adjusted
from ..stats.resampling import map_draws
from ..typing import Floats, Ints, Matrix
from .by_sample import MIN_OBS_PER_SAMPLE, connectivity_test_by_sample, design
from .connectivity import connectivity_test

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class PowerOptions:
    """The group, and the sizes of the study."""

    group_size: int = 25
    #: of the Gaussian numbers that order the values; the correlation of counts is lower
    correlation: float = 0.5
    #: observations or, with samples, samples per condition
    n_units: tuple[int, ...] = (50, 100, 200, 400, 800)
    n_simulations: int = 20
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PowerFit:
    """Power for every number of units."""

    n_units: Ints
    #: mean share of the group that is called
    power: Floats
    #: its standard error over simulations
    error: Floats
    #: mean share of the other features that is called
    others: Floats
    #: mean correlation between the features of the group as they are measured
    measured: Floats


def simulate_power(
    pilot: Matrix, samples: Ints | None, options: PowerOptions, /, *, n_jobs: int | None = None
) -> PowerFit:
    """Simulate studies of every size, and count the features whose connectivity is called."""
    rows = []
    for n in options.n_units:
        seeds = draws(options.seed, "chance", options.n_simulations, n)

        def study(rng: np.random.Generator, n: int = n) -> Floats:
            return _study(pilot, samples, n, options, rng)

        found = np.array(map_draws(study, seeds, n_jobs=n_jobs, progress=f"power with {n}"))
        rows.append((*found.mean(axis=0), found[:, 0].std(ddof=1) / np.sqrt(len(found))))
    power, others, measured, error = np.array(rows).T
    return PowerFit(np.asarray(options.n_units), power, error, others, measured)


def units_needed(fit: PowerFit, wanted: float, /) -> float:
    """Return the smallest number of units with this power, interpolated on their logarithm; NaN beyond those tried.

    Power grows with the number of units: what simulation error has out of order is put in order first.
    """
    power = np.maximum.accumulate(fit.power)
    if power[-1] < wanted:
        return float("nan")
    if power[0] >= wanted:
        return float(fit.n_units[0])
    return float(np.exp(np.interp(wanted, power, np.log(fit.n_units))))


def _study(pilot: Matrix, samples: Ints | None, n: int, options: PowerOptions, rng: np.random.Generator) -> Floats:
    (group, of_group), (reference, of_reference) = (_drawn(pilot, samples, n, rng) for _ in range(2))
    members = rng.choice(group.shape[1], options.group_size, replace=False)
    group[:, members] = planted_order(group[:, members], of_group, options.correlation, rng)
    # in the reference without a factor: what they were correlated with before is lost in both conditions alike
    reference[:, members] = planted_order(reference[:, members], of_reference, 0.0, rng)
    if samples is None:
        pval = connectivity_test(group, reference).pval
    else:
        pval = connectivity_test_by_sample(group, reference, design(of_group, of_reference + n)).pval
    called = np.nan_to_num(adjusted(pval), nan=1.0) < ALPHA
    others = np.delete(called, members)
    return np.array(
        [called[members].mean(), others.mean() if others.size else 0.0, _mean_correlation(group[:, members])]
    )


def _drawn(pilot: Matrix, samples: Ints | None, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Draw observations, or samples and then observations of each, with replacement; return them by number of unit."""
    if samples is None:
        return _rows(pilot, rng.integers(pilot.shape[0], size=n)), np.zeros(n, dtype=int)
    codes = [code for code in np.unique(samples) if (samples == code).sum() >= MIN_OBS_PER_SAMPLE]
    listed = [np.flatnonzero(samples == code) for code in rng.choice(codes, size=n)]
    rows = [rng.choice(own, size=own.size) for own in listed]
    return _rows(pilot, np.concatenate(rows)), np.repeat(np.arange(n), [own.size for own in rows])


def _rows(pilot: Matrix, rows: Ints) -> Floats:
    return dense64(take_rows(pilot, rows)).copy()


def planted_order(x: Floats, unit: Ints, correlation: float, rng: np.random.Generator, /) -> Floats:
    """Put the values of every column in the order of Gaussian numbers with this correlation, within every unit."""
    ordered = np.empty_like(x)
    for code in np.unique(unit):
        rows = np.flatnonzero(unit == code)
        shape = rows.size, x.shape[1]
        latent = np.sqrt(correlation) * rng.normal(size=(rows.size, 1)) + np.sqrt(1 - correlation) * rng.normal(
            size=shape
        )
        ranks = latent.argsort(axis=0).argsort(axis=0)
        ordered[rows] = np.take_along_axis(np.sort(x[rows], axis=0), ranks, axis=0)
    return ordered


def _mean_correlation(x: Floats) -> float:
    varies = x.std(axis=0) > 0
    if varies.sum() < 2:
        return 0.0
    r: Floats = np.asarray(np.corrcoef(x[:, varies].T))
    return float(r[np.triu_indices(len(r), 1)].mean())
