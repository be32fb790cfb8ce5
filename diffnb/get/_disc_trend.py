"""How the connectivity of groups of features changes with a dose."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import pull
from .._keys import BACKGROUND_GROUP, DiscKeys
from ..core.scorecard import dose_levels, fit_group_trend
from ..core.typing import Floats
from ._common import entry, holds
from ._docs import documented_reader
from ._gene_sets import gene_sets_by_condition
from ._trend import dose_column

MIN_LEVELS = 2
#: features of a group that have to vary in the data
MIN_FEATURES = 2


@documented_reader
def disc_trend(
    adata: AnnData,
    *,
    dose: str,
    found_in: AnnData | None = None,
    sample_key: str | None = None,
    layer: str | None = None,
    n_permutations: int = 999,
    random_state: int = 0,
    key: str = "disc",
) -> pd.DataFrame:
    """Test whether the groups of features become more, or less, connected with a dose, a time or an age.

    The connectivity of a group at a dose is the mean correlation of all pairs of its features, with the signs that
    they have over all doses. Its trend is the slope over the dose. Means and spreads that follow the dose do not
    affect it: features are standardised at each level, and a dose that varies within a level is taken out.

    A group that was found by comparing doses has a trend on the same observations by construction: `pval` is missing
    there. Name by `found_in` the data in which it was found, and give as `adata` others: the second half of the
    samples, another study.

    Parameters
    ----------
    adata
    dose
        Column of `obs` with the dose: numbers, texts that read as numbers, or an ordered category.
    found_in
        Annotated data that hold the groups; `adata` itself by default. Features are matched by name.
    sample_key
        Column of `obs` with donors, subjects or other samples, which are the units then: samples with several doses
        have a slope each, samples with one dose are regressed on it. Without it, observations are the units.
    layer
        ... `adata.X` by default.
    n_permutations
        Permutations of the doses over observations; samples are compared by t tests.
    random_state
        Seed of the permutations.
    key
        ... That of :func:`diffnb.tl.disc`, or a column of `var` with groups from elsewhere.

    Returns
    -------
    One row per group: `condition` in which it was found, `n_features` and `n_matched` of them that vary here,
    `lowest` and `highest` (mean correlation at the lowest and the highest level of the dose), `slope` for one unit of
    the dose with its 95 % interval (`slope_low`, `slope_high`), `stat` (t), `pval` and `pval_adj` (Benjamini–Hochberg).
    `table.attrs["levels"]` has the mean correlation at every level, `table.attrs["units"]` what was permuted or tested.

    Examples
    --------
    >>> import numpy as np
    >>> import diffnb as dn
    >>> found, other = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(found, "condition")
    >>> other.obs["dose"] = np.where(other.obs["condition"] == "B", 10.0, 0.0)  # a dose that connects what B connects
    >>> dn.get.disc_trend(other, dose="dose", found_in=found)["slope"].gt(0).tolist()
    [False, False, True, True]
    """
    n_permutations = validate.repeats("n_permutations", n_permutations, at_least=19)
    seed = validate.seed(random_state)
    source = adata if found_in is None else found_in
    groups = _groups(source, key)
    names = adata.var_names
    if not names.is_unique:
        raise ValueError("var_names of adata are not unique; make them so with adata.var_names_make_unique().")
    values = dose_column(adata, dose, None, argument="dose")
    levels = _levels(values, dose)
    member = np.asarray(names.isin([feature for _, _, own in groups for feature in own]))
    if not member.any():
        raise ValueError(
            f"no feature of the groups under key={key!r} is in adata ({validate.quoted(names, 3)}); use the same names"
            " in both data sets."
        )
    data = pull(adata, dose, layer=layer, mask_var=member, sample_key=sample_key, levels=levels)
    place = pd.Series(np.arange(int(data.kept.sum())), index=names[data.kept])
    matched = [place.reindex(own).dropna().to_numpy(dtype=int) for _, _, own in groups]
    tested = [n for n, own in enumerate(matched) if own.size >= MIN_FEATURES]
    if not tested:
        raise ValueError(
            f"no group under key={key!r} has {MIN_FEATURES} features that vary in adata: there are no pairs to follow."
        )
    fit = fit_group_trend(
        data.matrices,
        [values[rows] for rows in data.rows],
        [matched[n] for n in tested],
        samples=data.samples or None,
        n_permutations=n_permutations,
        seed=seed,
    )
    index = pd.Index([name for name, _, _ in groups], name="feature_group")
    known = pd.DataFrame(
        {
            "lowest": fit.levels[:, 0],
            "highest": fit.levels[:, -1],
            "slope": fit.slope,
            "slope_low": fit.low,
            "slope_high": fit.high,
            "stat": fit.stat,
            "pval": fit.pval,
            "pval_adj": fit.pval_adj,
        },
        index=index[tested],
    ).reindex(index)
    table = pd.DataFrame(
        {
            "condition": [condition or "" for _, condition, _ in groups],
            "n_features": [len(own) for _, _, own in groups],
            "n_matched": [own.size for own in matched],
        },
        index=index,
    ).join(known)
    if found_in is None and _was_found_by(adata, dose, key):
        log.info(
            f"groups were found by comparing the levels of {dose!r} in these observations, so that their trends have"
            " no p-values; name by found_in the data that found them, and give others as adata"
        )
        table[["pval", "pval_adj"]] = np.nan
    doses = [float(values[rows].mean()) for rows in data.rows]
    table.attrs["levels"] = pd.DataFrame(fit.levels, index=index[tested], columns=doses).reindex(index)
    table.attrs["units"] = (
        f"{fit.n_single} samples with one dose and {fit.n_multiple} with several"
        if data.samples
        else f"{sum(len(rows) for rows in data.rows)} observations"
    )
    return table


def _groups(adata: AnnData, key: str) -> list[tuple[str, str | None, list[str]]]:
    """Return names of the groups, the condition each was found in (or none), and their features."""
    if not holds(adata.uns.get(key), DiscKeys(key)) and key in adata.var.columns:
        column = adata.var[key].astype(str)
        names = [name for name in dict.fromkeys(column) if name not in (BACKGROUND_GROUP, "nan", "None")]
        found = [(name, None, [str(f) for f in adata.var_names[(column == name).to_numpy()]]) for name in names]
        groups: list[tuple[str, str | None, list[str]]] = [*found]
    else:
        entry(adata, DiscKeys(key))
        groups = [(name, condition, features) for name, condition, features in gene_sets_by_condition(adata, None, key)]
    if not groups:
        raise ValueError(f"key={key!r} holds no group of features: there is nothing to follow over the dose.")
    return groups


def _levels(values: Floats, dose: str) -> pd.Categorical:
    known = np.isfinite(values)
    codes = np.full(values.size, -1)
    codes[known] = dose_levels(values[known])
    n_levels = int(codes.max()) + 1
    if n_levels < MIN_LEVELS:
        raise ValueError(
            f"dose={dose!r} has {np.unique(values[known]).size} different values for {int(known.sum())}"
            f" observations: a trend needs {MIN_LEVELS} levels or more, of 8 observations each."
        )
    means = [values[codes == level].mean() for level in range(n_levels)]
    return pd.Categorical.from_codes(codes, [f"{level + 1}: {mean:.4g}" for level, mean in enumerate(means)])


def _was_found_by(adata: AnnData, groupby: str, key: str) -> bool:
    found = adata.uns.get(key)
    return holds(found, DiscKeys(key)) and str(found["params"]["groupby"]) == groupby
