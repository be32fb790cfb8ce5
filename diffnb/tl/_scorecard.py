"""`tl.scorecard`: how every feature differs between conditions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import (
    Pulled,
    Results,
    bound,
    guarded,
    pull,
    pull_counts,
    series_of_blocks,
    store,
    warn_of_depth,
    warn_of_series,
    warn_of_stretches,
    warn_of_units,
)
from .._keys import ScorecardKeys
from ..core.arrays.count_moments import Counts
from ..core.runtime.progress import bar
from ..core.scorecard import (
    KINDS,
    MIN_OBS_FOR_CONNECTIVITY,
    MIN_OBS_PER_SAMPLE,
    Design,
    ScorecardFit,
    design,
    fit_scorecard,
    smallest_pvalue,
)
from ..core.typing import Ints
from ._docs import documented_tool
from ._pairs import known_condition
from ._trend import feature_table, trends


@guarded(ScorecardKeys)
@documented_tool
def scorecard(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[str] | None = None,
    reference: str | Literal["auto"] = "auto",
    trend: bool = False,
    sample_key: str | None = None,
    covariates: Sequence[str] | str | None = None,
    layer: str | None = None,
    counts: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "scorecard",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Test how every feature differs: in mean, spread, whole distribution, or connectivity.

    Each of the four has a statistic, a p-value and a p-value adjusted over features (Benjamini–Hochberg):

    - *mean*: Welch's t, group minus reference;
    - *spread*: Brown–Forsythe as a signed t, whose square is Levene's W around medians;
    - *distribution*: the 1-D Wasserstein distance in pooled standard deviations. Its p-value is that of an
      Anderson–Darling test whose null distribution follows from the ties of the feature, so that it holds
      for counts full of zeros;
    - *connectivity*: the differences in Fisher z of a feature's correlations with all others, each over its
      standard error; the squares are summed as far as they exceed what one partner in all passes by chance,
      and given in standard deviations of the null distribution. That distribution comes from the data:
      observations of each condition are split into two, four or eight folds, and contrasts between folds of the
      same condition, which hold no difference, are put through the same sum. So it holds for correlated features
      and for any marginal distribution. Shifts in mean and spread do not affect it. Folds follow from the values
      of the observations: neither a seed nor the order of rows or conditions changes a p-value.

    Where a condition has fewer than 20 observations, or fewer than 100 and half of the other, the first three
    p-values come from permuted labels, which hold the level for skewed features and many zeros; the log tells the
    smallest one possible. This is not so with `covariates`, nor with `sample_key`, where units are samples.

    `kind` names the difference with the smallest adjusted p-value below 0.05, or `"none"`; it has to be below 0.05
    among all features and kinds together as well. Mean and spread change the distribution, too: `"distribution"` is
    named only where neither of them is significant.

    Parameters
    ----------
    adata
    groupby
    groups
    reference
        ... `"auto"`: every pair of conditions is compared, the later in the order of categories (or of `groups`)
        with the earlier.
    trend
        Take `groupby` for a dose (concentration, time, age: numbers, or categories that are ordered or read as
        numbers) and test whether every feature changes steadily with it, instead of comparing conditions. See
        Notes.
    sample_key
        ... Samples are the units then: Welch's t of sample means and of log-spreads, and F ratios between samples
        for quantile functions and for Fisher z. Samples with both conditions are compared with themselves. Where
        samples are blocks made by :func:`diffnb.pp.time_blocks`, the null distribution of connectivity comes from 99
        permutations of labels between the stretches of time in which the condition stays the same, within subjects or
        runs that have both.
    covariates
        ... Slopes are those within each condition, and conditions are compared at the mean covariates of both. The
        distribution is adjusted at every value instead, so that ties such as zeros stay ties. With `sample_key`,
        slopes are those within samples; a covariate that is constant within samples (age of a donor) is one of the
        comparison of samples.
    layer
    counts
        ... This is for *connectivity* only: corrected correlations over their standard error take the place of Fisher
        z. Mean, spread and distribution are those of `adata.X`, or of `layer`, as before. Features whose counts vary
        no more than counting noise in a condition have no connectivity.
    mask_var
    random_state
        ... It draws the permutations of blocks; elsewhere nothing is drawn at random that the data do not decide.
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `varm[key_added]` (statistics, p-values and kind, a column each for every pair
    of conditions) and `uns[key_added]` (the pairs and parameters). Excluded features are missing values, and so
    is the connectivity of one that is constant in a condition, and of all with fewer than 8 observations in
    one. Read it with :func:`diffnb.get.scorecard`.

    Notes
    -----
    With `trend=True`, *mean* is the slope of the values over the dose, and *spread* that of their distances from the
    median of their level, both with robust errors (HC3); *distribution* is the test above with the centred dose in
    place of the conditions; *connectivity* is that above with the slope of Fisher z over levels of the dose. Levels
    are the distinct doses, or up to eight quantiles of more than twelve. With `sample_key`, samples with several
    doses have a slope each, samples with one dose are regressed on it, and both estimates are averaged where there
    are both. With `covariates`, slopes are those at given covariates. Categories without numbers count as 0, 1, 2, ….

    References
    ----------
    Welch, Biometrika 1947; Brown & Forsythe, J. Am. Stat. Assoc. 1974; Scholz & Stephens, J. Am. Stat. Assoc.
    1987; Hosking & Wallis, Technometrics 1987, for the tail of the null distribution of connectivity; Su et al.,
    Nat. Commun. 2023, for correlations from counts.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> dn.get.scorecard(adata)["kind"].value_counts().index[0] in ("none", "connectivity")
    True
    """
    reference = validate.not_none("reference", reference, "auto")
    call = bound(scorecard, locals())
    validate.flags(copy=copy)
    n_jobs = validate.jobs(n_jobs)
    random_state = validate.seed(random_state)
    keys = ScorecardKeys(key_added)
    if _is_trend(trend, reference, counts):
        found = trends(adata, groupby, groups, sample_key, covariates, layer, mask_var, keys, n_jobs)
        return store(adata, keys, found, call, copy=copy)
    against = known_condition(adata, groupby, "reference", reference)
    chosen = _with_reference(groups, against)
    data = pull(
        adata,
        groupby,
        groups=chosen,
        layer=layer,
        mask_var=mask_var,
        sample_key=sample_key,
        covariates=covariates,
        residuals=False,
    )
    raw = pull_counts(adata, data, counts, covariates=covariates)
    warn_of_units(adata, layer)
    warn_of_depth(adata, data, groupby)
    if sample_key is None:
        warn_of_series(adata, data, groupby)
    warn_of_stretches(adata, data, groupby, sample_key)
    pairs = _pairs(data.groups, against)
    series = series_of_blocks(adata, groupby, sample_key)
    designs = [_samples(data, sample_key, pair, series) for pair in pairs]
    cards = _compare(data, raw, pairs, designs, random_state, n_jobs)
    _log_permuted(data, pairs, cards)
    if raw is not None:
        _log_masked(cards)
    return store(adata, keys, _results(keys, data, pairs, cards), call, copy=copy)


def _is_trend(trend: object, reference: str, counts: str | None) -> bool:
    """Read `trend`, and refuse what a trend has no place for."""
    validate.flags(trend=trend)
    if trend and not (isinstance(reference, str) and reference == validate.AUTO):
        raise ValueError(f"reference={reference!r} is a condition to compare with; a trend has none, leave it out.")
    if trend and counts is not None:
        raise ValueError(
            f"counts={counts!r} corrects correlations of two conditions; for a trend match depths with pp.match_depth"
            " over the levels of the dose, normalise, and leave counts out."
        )
    return bool(trend)


def _with_reference(groups: Sequence[str] | None, reference: str | None) -> Sequence[object] | None:
    """Return the conditions to read; the reference is one of them, named in `groups` or not."""
    if groups is None or isinstance(groups, str) or reference is None:  # a lone name is refused where all are read
        return groups
    return groups if reference in [str(g) for g in groups] else [*groups, reference]


def _pairs(groups: list[str], reference: str | None) -> list[tuple[int, int]]:
    """Positions of group and reference of every comparison."""
    if reference is None:
        return [(later, earlier) for earlier, later in combinations(range(len(groups)), 2)]
    other = groups.index(reference)
    return [(i, other) for i in range(len(groups)) if i != other]


def _samples(
    data: Pulled, sample_key: str | None, pair: tuple[int, int], series: tuple[Ints, Ints] | None
) -> Design | None:
    if sample_key is None:
        return None
    codes = [data.samples[i] for i in pair]
    found = design(*codes, mixed=not data.covariates)
    for i, count in zip(pair, found.sizes, strict=True):
        if count < 2:
            raise ValueError(
                f"sample_key={sample_key!r} leaves {count} sample{'s' * (count != 1)} with {MIN_OBS_PER_SAMPLE} or more"
                f" observations in condition {data.groups[i]!r}; at least 2 are needed in each. Leave the"
                " condition out with groups=[…], or leave sample_key out to compare single observations."
            )
    n_samples = len(np.unique(np.concatenate(codes)))
    n_used = found.sizes[0] if found.paired else sum(found.sizes) - found.n_mixed_pairs
    names = " and ".join(repr(data.groups[i]) for i in pair)
    if n_used < n_samples:
        why = "are not in both conditions or " if found.paired else ""
        log.warn(
            f"{n_samples - n_used} of {n_samples} samples {why}have fewer than {MIN_OBS_PER_SAMPLE} observations"
            f" and are excluded from the comparison of {names}."
        )
    log.info(f"scorecard of {names}: {n_used} samples, {_described(found)}")
    return found if series is None else _of_blocks(found, data, pair, series)


def _of_blocks(samples: Design, data: Pulled, pair: tuple[int, int], series: tuple[Ints, Ints]) -> Design:
    """Let labels be exchanged between stretches of the recording."""
    first, second = (data.rows[i] for i in pair)
    of_series, of_stretches = ((codes[first], codes[second]) for codes in series)
    return samples.with_blocks(of_series, of_stretches)


def _described(found: Design) -> str:
    if found.n_mixed_pairs:
        return f"{found.n_mixed_pairs} of them in both conditions"
    return "each in both" if found.paired else "each in one"


def _compare(
    data: Pulled,
    counts: Sequence[Counts] | None,
    pairs: Sequence[tuple[int, int]],
    designs: Sequence[Design | None],
    seed: int,
    n_jobs: int | None,
) -> list[ScorecardFit]:
    few = [g for g, x in zip(data.groups, data.matrices, strict=True) if x.shape[0] < MIN_OBS_FOR_CONNECTIVITY]
    if few and designs[0] is None:
        log.info(f"no connectivity for {validate.quoted(few)}: {MIN_OBS_FOR_CONNECTIVITY} observations are needed")
    each = bar(list(zip(pairs, designs, strict=True)), desc="scorecard", disable=len(pairs) < 4)
    return [
        fit_scorecard(
            data.matrices[i],
            data.matrices[j],
            samples=samples,
            covariates=(data.covariates[i], data.covariates[j]) if data.covariates else None,
            counts=None if counts is None else (counts[i], counts[j]),
            seed=seed,
            n_jobs=n_jobs,
        )
        for (i, j), samples in each
    ]


def _log_permuted(data: Pulled, pairs: Sequence[tuple[int, int]], cards: Sequence[ScorecardFit]) -> None:
    """Log which p-values come from permuted labels, and how small they can be."""
    for (i, j), card in zip(pairs, cards, strict=True):
        if card.settings.permuted:
            n, m = card.settings.n_units
            lowest = smallest_pvalue(n, m)
            log.info(
                f"{n} and {m} observations of {data.groups[i]!r} and {data.groups[j]!r} are few or unequal: p-values of"
                f" mean, spread and distribution come from permuted labels, and none can be below {lowest:.2g}"
            )


def _log_masked(cards: Sequence[ScorecardFit]) -> None:
    """Log how many features have no corrected correlations."""
    for card in cards:
        connectivity = card.pval[:, KINDS.index("connectivity")]
        n_masked = int(np.isnan(connectivity).sum())
        if n_masked:
            log.info(
                f"no connectivity for {n_masked} of {connectivity.size} features: in a condition their counts vary no"
                " more than counting noise"
            )


def _results(
    keys: ScorecardKeys, data: Pulled, pairs: Sequence[tuple[int, int]], cards: Sequence[ScorecardFit]
) -> Results:
    named = [(data.groups[i], data.groups[j]) for i, j in pairs]
    prefixes = keys.prefixes(named)
    tables = [
        feature_table(card, data, keys.columns(prefix, KINDS)) for card, prefix in zip(cards, prefixes, strict=True)
    ]
    compared = {
        "group": np.array([group for group, _ in named], dtype=object),
        "reference": np.array([reference for _, reference in named], dtype=object),
        "columns": np.array(prefixes, dtype=object),
    }
    return Results(varm={keys.varm: pd.concat(tables, axis=1)}, described={"pairs": compared})
