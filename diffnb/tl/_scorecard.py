"""`tl.scorecard`: by what every feature differs between conditions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, expand, pull, store
from .._keys import ScorecardKeys, plain, unique
from ..core.runtime.progress import bar
from ..core.scorecard import (
    KINDS,
    MIN_OBS_FOR_CONNECTIVITY,
    MIN_OBS_PER_SAMPLE,
    NONE,
    Design,
    ScorecardFit,
    ScorecardOptions,
    design,
    fit_scorecard,
)


def scorecard(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[str] | None = None,
    reference: str | None = None,
    sample_key: str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "scorecard",
    copy: bool = False,
) -> AnnData | None:
    """Say of every feature by what it differs: mean, spread, whole distribution, or connectivity.

    Each of the four has a statistic, a p-value and a p-value adjusted over features (Benjamini–Hochberg):

    - *mean*: Welch's t, group minus reference;
    - *spread*: Brown–Forsythe as a signed t, whose square is Levene's W around medians;
    - *distribution*: the 1-D Wasserstein distance in pooled standard deviations. Its p-value is that of an
      Anderson–Darling test whose null distribution follows from the ties of the feature, so that it holds
      for counts full of zeros;
    - *connectivity*: the differences in Fisher z of a feature's correlations with all others, each over its
      standard error; the squares are summed as far as they exceed what one partner in all passes by chance,
      and given in standard deviations of the null distribution. That distribution comes from the data:
      observations of each condition are dealt into two, four or eight folds, and contrasts between folds of
      the same condition, which hold no difference, are put through the same sum. So it holds for correlated
      features and for any marginal distribution. Shifts in mean and spread do not touch it.

    `kind` names the difference with the smallest adjusted p-value below 0.05, or `"none"`. Mean and spread
    move the distribution too: `"distribution"` is named only where neither of them is significant.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions.
    groups
        Conditions to compare; all by default.
    reference
        Condition that all others are compared with. By default every pair is compared, the later in the order
        of categories (or of `groups`) with the earlier.
    sample_key
        Column of `adata.obs` with the sample (donor, subject, animal) of each observation. Samples are the
        units then: Welch's t of sample means and of log-spreads, and F ratios between samples for quantile
        functions and for Fisher z. Samples seen in both conditions are compared with themselves.
    layer
        Layer to use instead of `adata.X`.
    mask_var
        Boolean column of `adata.var`, or array: the features to use.
    random_state
        Seed of the folds.
    n_jobs
        Threads.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

    Returns
    -------
    `None`, or the copy. Adds `varm[key_added]` (statistics, p-values and kind, a column each for every pair
    of conditions) and `uns[key_added]` (the pairs and parameters). Features that took no part are missing
    values, and so is the connectivity of one that is constant in a condition, and of all with fewer than 8
    observations in one. Read it with :func:`diffnb.get.scorecard`.

    References
    ----------
    Welch, Biometrika 1947; Brown & Forsythe, J. Am. Stat. Assoc. 1974; Scholz & Stephens, J. Am. Stat. Assoc.
    1987; Hosking & Wallis, Technometrics 1987, for the tail of the null distribution of connectivity.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.scorecard(adata, "condition")
    >>> dn.get.scorecard(adata)["kind"].value_counts().index[0] in ("none", "connectivity")
    True
    """
    seed = validate.count("random_state", random_state, at_least=0)
    chosen = _with_reference(adata, groupby, groups, reference)
    data = pull(adata, groupby, groups=chosen, layer=layer, mask_var=mask_var, sample_key=sample_key)
    pairs = _pairs(data.groups, None if reference is None else str(reference))
    designs = [_samples(data, sample_key, pair) for pair in pairs]
    cards = _compare(data, pairs, designs, seed, n_jobs)
    prefixes = unique([f"{plain(data.groups[i])}_vs_{plain(data.groups[j])}" for i, j in pairs])
    tables = [_table(card, data, prefix) for card, prefix in zip(cards, prefixes, strict=True)]
    keys = ScorecardKeys(key_added)
    adata = adata.copy() if copy else adata
    store(
        adata,
        varm={keys.varm: pd.concat(tables, axis=1)},
        uns={
            keys.uns: {
                "pairs": {
                    "group": np.array([data.groups[i] for i, _ in pairs], dtype=object),
                    "reference": np.array([data.groups[j] for _, j in pairs], dtype=object),
                    "columns": np.array(prefixes, dtype=object),
                },
                "params": {
                    "groupby": groupby,
                    "reference": reference,
                    "sample_key": sample_key,
                    "layer": layer,
                    "random_state": random_state,
                },
            }
        },
    )
    return adata if copy else None


def _with_reference(
    adata: AnnData, groupby: str, groups: Sequence[str] | None, reference: str | None
) -> list[object] | None:
    """Return the conditions to take out; the reference is one of them, named in `groups` or not."""
    present = [str(c) for c in validate.conditions(adata, groupby).categories]
    if reference is not None and str(reference) not in present:
        raise ValueError(
            f"reference={reference!r} is not a category of adata.obs[{groupby!r}]"
            f" ({validate.quoted(present)}).{validate.nearest(reference, present)}"
        )
    if groups is None or isinstance(groups, str):
        return groups  # type: ignore[return-value]  # a lone name is refused where all are read
    named = [str(g) for g in groups]
    return list(groups) if reference is None or str(reference) in named else [*groups, str(reference)]


def _pairs(groups: list[str], reference: str | None) -> list[tuple[int, int]]:
    """Positions of group and reference of every comparison."""
    if reference is None:
        return [(later, earlier) for earlier, later in combinations(range(len(groups)), 2)]
    other = groups.index(reference)
    return [(i, other) for i in range(len(groups)) if i != other]


def _samples(data: Pulled, sample_key: str | None, pair: tuple[int, int]) -> Design | None:
    if sample_key is None:
        return None
    codes = [data.samples[i] for i in pair]
    found = design(*codes)
    for i, count in zip(pair, found.sizes, strict=True):
        if count < 2:
            raise ValueError(
                f"sample_key={sample_key!r} leaves {count} sample{'s' * (count != 1)} with {MIN_OBS_PER_SAMPLE} or more"
                f" observations in condition {data.groups[i]!r}; at least 2 are needed in each. Leave the"
                " condition out with groups=[…], or leave sample_key out to compare single observations."
            )
    n_samples = len(np.unique(np.concatenate(codes)))
    n_used = found.sizes[0] if found.paired else sum(found.sizes)
    names = " and ".join(repr(data.groups[i]) for i in pair)
    if n_used < n_samples:
        why = "are not in both conditions or " if found.paired else ""
        warnings.warn(
            f"{n_samples - n_used} of {n_samples} samples {why}have fewer than {MIN_OBS_PER_SAMPLE} observations"
            f" and take no part in the comparison of {names}.",
            UserWarning,
            stacklevel=3,
        )
    log.info(f"scorecard of {names}: {n_used} samples, {'each in both' if found.paired else 'each in one'}")
    return found


def _compare(
    data: Pulled,
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
        fit_scorecard(data.matrices[i], data.matrices[j], ScorecardOptions(seed), samples=samples, n_jobs=n_jobs)
        for (i, j), samples in each
    ]


def _table(card: ScorecardFit, data: Pulled, prefix: str) -> pd.DataFrame:
    """Columns of one pair, all features in their place."""
    columns = {
        f"{prefix}_{kind}_{name}": expand(np.asarray(getattr(card, name))[:, k], data.kept)
        for k, kind in enumerate(KINDS)
        for name in ("stat", "pval", "pval_adj")
    }
    kinds = np.full(data.kept.size, None, dtype=object)
    kinds[data.kept] = card.kind
    table = pd.DataFrame(columns)
    table[f"{prefix}_kind"] = pd.Categorical(kinds, categories=[*KINDS, NONE])
    return table
