"""`tl.power`: how many observations or samples a group of connected features needs to be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Results, bound, guarded, pull, store
from .._keys import PowerKeys
from ..core.arrays.ops import take_columns
from ..core.runtime.seeds import generator
from ..core.scorecard import MIN_OBS_FOR_CONNECTIVITY, PowerOptions, simulate_power, units_needed
from ._docs import documented_tool
from ._pairs import known_condition

#: sizes of studies that are tried
OBSERVATIONS = (50, 100, 200, 400, 800, 1600)
SAMPLES = (3, 4, 6, 8, 12, 20)
#: features of a simulated study; of more, so many are drawn
MAX_FEATURES = 500
WANTED = 0.8
#: largest study, and most studies of each size
MAX_UNITS, MAX_SIMULATIONS = 100_000, 10_000
MINUTES = "more would take hours"


@guarded(PowerKeys)
@documented_tool
def power(
    adata: AnnData,
    groupby: str,
    *,
    reference: str | Literal["auto"] = "auto",
    group_size: int = 25,
    correlation: float = 0.5,
    n_units: Sequence[int] | Literal["auto"] = "auto",
    n_simulations: int = 20,
    sample_key: str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    key_added: str = "power",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Simulate from pilot data how many observations or samples it takes to find a group of connected features.

    Both conditions of a simulated study are drawn, with replacement, from one condition of the pilot, so that they
    differ in nothing; then some features become a group in one of them: their values are put in the order of Gaussian
    numbers with a common factor, and keep their distributions. Power is the share of the group whose connectivity the
    scorecard calls (adjusted p < .05).

    A group in the sense of DiSC that is found as a whole needs less. Donors are drawn from those of the pilot: few of
    them tell little about the differences between others.

    Parameters
    ----------
    adata
    groupby
    reference
        ... The one whose observations are the pilot; `"auto"`: the first.
    group_size
        Number of features of the group.
    correlation
        Of the Gaussian numbers that order the values. The correlation between counts is lower and is reported as
        `measured`.
    n_units
        Observations or, with `sample_key`, samples in each condition. `"auto"`: 50 to 1600, or 3 to 20.
    n_simulations
        Studies of each size.
    sample_key
        ... Samples are the units then, drawn from those of the pilot with their observations.
    layer
    mask_var
        ... Of more than 500, so many are drawn: a larger number is adjusted for more tests, and has more partners.
    random_state
    n_jobs
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `uns[key_added]`; read it with :func:`diffnb.get.power`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=100)
    >>> dn.tl.power(adata, "condition", n_units=[20, 100], n_simulations=4)
    >>> table = dn.get.power(adata)
    >>> bool(table["power"].iloc[1] > table["power"].iloc[0])
    True
    """
    call = bound(power, locals())
    size = validate.count("group_size", group_size, at_least=2)
    latent = validate.positive("correlation", correlation)
    if latent >= 1:
        raise ValueError(f"correlation={correlation!r} must be between 0 and 1.")
    against = known_condition(adata, groupby, "reference", reference)
    data = pull(adata, groupby, layer=layer, mask_var=mask_var, sample_key=sample_key)
    place = 0 if against is None else data.groups.index(against)
    seed = validate.seed(random_state)
    n_jobs = validate.jobs(n_jobs)
    n_simulations = validate.count("n_simulations", n_simulations, at_least=2, at_most=MAX_SIMULATIONS, why=MINUTES)
    units = _units(n_units, sample_key is not None)
    pilot, n_features = data.matrices[place], data.n_features
    if n_features > MAX_FEATURES:
        drawn = generator(seed, "subsample").choice(n_features, MAX_FEATURES, replace=False)
        pilot = take_columns(pilot, np.isin(np.arange(n_features), drawn))
        log.info(f"{MAX_FEATURES} of {n_features} features are simulated")
    validate.count("group_size", size, at_least=2, at_most=pilot.shape[1], why="so many features are simulated")
    options = PowerOptions(size, latent, units, n_simulations, seed)
    samples = None if sample_key is None else data.samples[place]
    fit = simulate_power(pilot, samples, options, n_jobs=n_jobs)
    needed = units_needed(fit, WANTED)
    what = "observations" if sample_key is None else "samples"
    shown = f"more than {units[-1]}" if np.isnan(needed) else f"about {needed:.0f}"
    log.info(f"{shown} {what} per condition for a power of {WANTED:g}")
    described = {
        "n_units": fit.n_units,
        "power": fit.power,
        "error": fit.error,
        "others": fit.others,
        "measured": fit.measured,
        "needed": needed,
        "units": what,
        "n_pilot": int(pilot.shape[0]) if samples is None else len(np.unique(samples)),
        "n_simulated_features": int(pilot.shape[1]),
    }
    return store(adata, PowerKeys(key_added), Results(described=described), call, copy=copy)


def _units(n_units: object, by_sample: bool) -> tuple[int, ...]:
    if isinstance(n_units, str):
        validate.choice("n_units", n_units, ("auto",))
        return SAMPLES if by_sample else OBSERVATIONS
    listed = np.atleast_1d(np.asarray(n_units, dtype=object)).tolist()
    if not listed:
        raise ValueError(f"n_units={n_units!r} holds no number of units; give one, several, or 'auto'.")
    least = 2 if by_sample else MIN_OBS_FOR_CONNECTIVITY
    return tuple(sorted({validate.count("n_units", n, at_least=least, at_most=MAX_UNITS, why=MINUTES) for n in listed}))
