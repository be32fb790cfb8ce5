"""Trends with a dose, samples being the units.

Every sample is summarised at each of its doses. Samples that hold several doses have a slope each, and slopes are
averaged; those that hold one dose are regressed on it. Where some do and others do not, both estimates are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from ..arrays.ops import take_columns
from ..arrays.residuals import covariate_designs, residuals
from ..typing import Floats, Ints, Matrix
from .by_sample import MIN_OBS_PER_SAMPLE, inner_products, log_spreads, summaries_of
from .columnwise import with_fast_columns
from .connectivity import varying
from .correlation_blocks import RowGroups, sum_over_correlation_blocks
from .marginal import FeatureTest, MarginalTests
from .strata import Strata, compare_numbers_in, compare_vectors_in, effect_in, weight_of_first
from .trend_marginal import MarginalTrends

#: samples of one dose each, and samples of several, that a trend needs at least
MIN_SINGLE_DOSE_SAMPLES, MIN_MULTIPLE_DOSE_SAMPLES = 3, 2
#: lengths below which a vector of doses or covariates is rounding
MIN_LENGTH = 1e-9


@dataclass(frozen=True, slots=True)
class Cells:
    """Observations of one sample at one level, for all samples and levels; levels first, then samples."""

    #: per level, the rows of each cell
    rows: list[list[Ints]]
    #: of each cell, over all levels
    dose: Floats
    sample: Ints
    #: cells × columns: covariates that are constant within cells
    covariates: Floats

    def kept(self, chosen: Ints, /) -> Cells:
        """Return some of the cells, in their order."""
        level = np.repeat(np.arange(len(self.rows)), [len(own) for own in self.rows])
        place = np.arange(level.size) - np.searchsorted(level, level)
        rows: list[list[Ints]] = [[] for _ in self.rows]
        for cell in chosen:
            rows[level[cell]].append(self.rows[level[cell]][place[cell]])
        return Cells(rows, self.dose[chosen], self.sample[chosen], self.covariates[chosen])


@dataclass(frozen=True, slots=True)
class TrendUnits:
    """Cells that are compared, and how."""

    cells: Cells
    strata: Strata
    #: samples with one dose, and with several
    n_single: int
    n_multiple: int


def cells_of(samples: Sequence[Ints], doses: Sequence[Floats], /) -> Cells:
    """Group the observations of every level by sample, given the code of the sample of each."""
    rows: list[list[Ints]] = []
    dose: list[float] = []
    sample: list[int] = []
    for codes, own in zip(samples, doses, strict=True):
        found: dict[int, Ints] = {int(code): np.flatnonzero(codes == code) for code in np.unique(codes)}
        found = {code: where for code, where in found.items() if where.size >= MIN_OBS_PER_SAMPLE}
        rows.append(list(found.values()))
        dose += [float(own[where].mean()) for where in found.values()]
        sample += list(found)
    return Cells(rows, np.array(dose), np.array(sample, dtype=int), np.empty((len(dose), 0)))


def trend_units(cells: Cells, /) -> TrendUnits:
    """Decide which samples are regressed on their dose, and which have slopes of their own."""
    own = [np.flatnonzero(cells.sample == code) for code in np.unique(cells.sample)]
    multiple = [where for where in own if np.ptp(cells.dose[where]) > 0]
    single = [where[:1] for where in own if np.ptp(cells.dose[where]) == 0]
    n_columns = cells.covariates.shape[1]
    has_slopes = len(multiple) >= MIN_MULTIPLE_DOSE_SAMPLES + n_columns
    at_one_dose = np.concatenate(single) if single else np.empty(0, dtype=int)
    regressed = len(single) >= MIN_SINGLE_DOSE_SAMPLES + n_columns and np.ptp(cells.dose[at_one_dose]) > 0
    parts = [*(multiple if has_slopes else []), *([at_one_dose] if regressed else [])]
    if not parts:
        raise ValueError(
            f"a trend over samples needs {MIN_SINGLE_DOSE_SAMPLES + n_columns} or more samples with one dose each, of"
            f" which some differ, or {MIN_MULTIPLE_DOSE_SAMPLES + n_columns} with several doses; there are"
            f" {len(single)} and {len(multiple)} with {MIN_OBS_PER_SAMPLE} or more observations at a dose."
        )
    chosen = np.sort(np.concatenate(parts))
    kept = cells.kept(chosen)
    strata = [_slope_stratum(_within_samples(kept), kept, scale=0.5)] if has_slopes else []
    if regressed:
        is_single = np.isin(chosen, at_one_dose)
        strata.append(_slope_stratum(helmert(int(is_single.sum())) @ np.eye(len(chosen))[is_single], kept))
    return TrendUnits(kept, _averaged(strata), len(single) if regressed else 0, len(multiple) if has_slopes else 0)


def _within_samples(cells: Cells) -> Floats:
    """Return the slope of every sample with several doses as orthonormal weights of the cells."""
    rows = []
    for code in np.unique(cells.sample):
        own = (cells.sample == code).astype(float)
        weights = own * (cells.dose - np.average(cells.dose, weights=own))
        length = np.linalg.norm(weights)
        if length > 0:
            rows.append(weights / length)
    return np.stack(rows)


@dataclass(frozen=True, slots=True)
class _Stratum:
    effect: Floats
    residuals: Floats
    #: number that divides the variance
    size: float
    #: variance of the effect for cells of unit variance, those of one sample correlating with ½
    variance: float


def _slope_stratum(contrasts: Floats, cells: Cells, *, scale: float = 1.0) -> _Stratum:
    """Regress orthonormal contrasts of the cells on those of the dose and of the covariates, without a constant."""
    dose = contrasts @ cells.dose
    others = contrasts @ cells.covariates
    others = others[:, np.linalg.norm(others, axis=0) > MIN_LENGTH * np.linalg.norm(cells.covariates, axis=0)]
    weights = dose - others @ np.linalg.lstsq(others, dose, rcond=None)[0] if others.shape[1] else dose
    size = float(weights @ weights)
    if size <= MIN_LENGTH * float(dose @ dose):
        raise ValueError("covariates determine the dose of the samples: no trend can be told from them. Leave one out.")
    columns = np.column_stack([dose, others])
    basis = np.linalg.qr(columns, mode="complete")[0][:, np.linalg.matrix_rank(columns) :]
    if not basis.shape[1]:
        raise ValueError("covariates leave no degree of freedom between samples. Leave out covariates.")
    return _Stratum(weights @ contrasts / size, basis.T @ contrasts, size, scale / size)


def _averaged(strata: Sequence[_Stratum]) -> Strata:
    if len(strata) == 1:
        (only,) = strata
        return Strata([only.size], only.effect, [only.residuals])
    first, second = strata
    share = weight_of_first(first.variance, second.variance)
    return Strata(
        [first.size / share**2, second.size / (1 - share) ** 2],
        share * first.effect + (1 - share) * second.effect,
        [first.residuals, second.residuals],
    )


def without_covariates(
    matrices: Sequence[Matrix], cells: Cells, covariates: Sequence[Floats], /
) -> tuple[list[Matrix], Cells]:
    """Take covariates that vary within cells out of the observations, and leave the others to the cells."""
    codes = [_cell_of_rows(own, len(z)) for own, z in zip(cells.rows, covariates, strict=True)]
    designs = covariate_designs(covariates, units=codes)
    varies = np.any([own.within.any(axis=0) for own in designs], axis=0)
    constant = [
        own.values[np.ix_([rows[0] for rows in level], ~varies)] if level else np.empty((0, int((~varies).sum())))
        for own, level in zip(designs, cells.rows, strict=True)
    ]
    cells = Cells(cells.rows, cells.dose, cells.sample, np.concatenate(constant))
    if varies.any():
        own = covariate_designs([z[:, varies] for z in covariates], units=codes)
        matrices = residuals(matrices, own, exchangeable=False)
    return list(matrices), cells


def _cell_of_rows(rows: Sequence[Ints], n_obs: int) -> Ints:
    codes = np.full(n_obs, -1)
    for code, own in enumerate(rows):
        codes[own] = code
    return codes


def marginal_trends_by_sample(
    matrices: Sequence[Matrix], units: TrendUnits, /, *, n_jobs: int | None = None
) -> MarginalTrends:
    """Test means, log-spreads and quantile functions of the samples for a trend, feature by feature."""
    summaries = summaries_of(matrices, units.cells.rows, n_jobs)
    quantiles = summaries[:, 3:]
    products = np.einsum("sqj,tqj->jst", quantiles, quantiles, optimize=True)
    within = np.sqrt(summaries[:, 2].mean(axis=0))
    change = np.abs(np.tensordot(units.strata.effect, quantiles, axes=1)).mean(axis=0) * units.cells.dose.std()
    distribution = FeatureTest(
        change / np.where(within > 0, within, 1.0), compare_vectors_in(products, units.strata).pval
    )
    mean = compare_numbers_in(summaries[:, 0], units.strata)
    spread = compare_numbers_in(log_spreads(summaries), units.strata)
    slope, error, df = effect_in(summaries[:, 0], units.strata)
    return MarginalTrends(MarginalTests(mean, spread, distribution), slope, error, np.broadcast_to(df, slope.shape))


def connectivity_trend_by_sample(
    matrices: Sequence[Matrix], units: TrendUnits, /, *, n_jobs: int | None = None
) -> FeatureTest:
    """Test the Fisher z of every feature with all others for a trend over the samples."""
    used = [n for n, own in enumerate(units.cells.rows) if own]
    varies = varying(*(matrices[n] for n in used))
    stat, pval = np.full(varies.size, np.nan), np.full(varies.size, np.nan)
    if varies.sum() > 1:
        levels = [RowGroups(take_columns(with_fast_columns(matrices[n]), varies), units.cells.rows[n]) for n in used]
        products = sum_over_correlation_blocks(levels, inner_products, n_jobs=n_jobs)
        tested = compare_vectors_in(products.transpose(2, 0, 1), units.strata)
        stat[varies], pval[varies] = tested.stat, tested.pval
    return FeatureTest(stat, pval)
