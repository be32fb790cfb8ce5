"""`tl.survival`: whether groups of samples differ in survival."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Results, bound, guarded, store
from .._keys import SurvivalKeys
from ..core.typing import Bools, Floats
from ..get._informed import informed_embedding
from ._docs import documented_tool

SIDES = ("low", "high")


@guarded(SurvivalKeys)
@documented_tool
def survival(
    adata: AnnData,
    groupby: str | None = None,
    *,
    time_key: str = "time",
    event_key: str = "event",
    key: str = "informed",
    key_added: str = "survival",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Compare the survival of groups of samples: Kaplan–Meier curves and log-rank tests.

    Groups are any column of `adata.obs`, such as clusters found on a metric; or, as in the paper, the two sides
    of the first component of the metric's diffusion map. Samples without an event are censored at their last
    time, never dropped. Needs lifelines (`pip install 'diffnb[survival]'`).

    Parameters
    ----------
    adata
    groupby
        Column of `adata.obs` with the groups; `None`: two, by the sign of the first diffusion component of
        :func:`diffnb.tl.informed_distance`.
    time_key
        Column of `adata.obs` with the time of the event, or of the last observation.
    event_key
        Column of `adata.obs` that is true (or 1) where the event occurred, false (or 0) where the sample is
        censored.
    key
        ... That of :func:`diffnb.tl.informed_distance`, where `groupby` is `None`.
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `uns[key_added]` with curves, tests and parameters and, where `groupby` is `None`,
    the groups as `obs[f"{key_added}_group"]`. Read them with :func:`diffnb.get.survival` and
    :func:`diffnb.get.survival_tests`.

    References
    ----------
    Lahav, Talmon & Kluger, *Mahalanobis Distance Informed by Clustering*, 2019, Section 6; their code drops
    the patients who died after 60 months.

    Examples
    --------
    >>> import diffnb as dn
    >>> import numpy as np
    >>> adata = dn.datasets.two_types(n_obs=80)
    >>> rng = np.random.default_rng(0)
    >>> adata.obs["time"] = rng.exponential(np.where(adata.obs["condition"] == "A", 30, 10))
    >>> adata.obs["event"] = adata.obs["time"] < 40
    >>> dn.tl.informed_distance(adata, n_clusters=18)
    >>> dn.tl.survival(adata)
    >>> bool(dn.get.survival_tests(adata)["pval"].iloc[0] < 0.01)
    True
    """
    call = bound(survival, locals())
    times, events = _times(adata, time_key), _events(adata, event_key)
    if groupby is None:
        first = informed_embedding(adata, key=key)["component_1"].to_numpy()
        groups = pd.Categorical.from_codes((first > 0).astype(int), list(SIDES))
    else:
        groups = validate.conditions(adata, groupby)
    used = ~(np.isnan(times) | np.isnan(events)) & (groups.codes >= 0)
    present = [str(g) for g in groups.categories if (used & (groups == g)).any()]
    if len(present) < 2:
        raise ValueError(
            f"groupby={groupby!r} leaves a single group ({validate.quoted(present)}) with known times and events:"
            " at least two are needed."
        )
    members = [used & np.asarray(groups == g) for g in present]
    keys = SurvivalKeys(key_added)
    results = Results(
        obs={keys.obs: groups} if groupby is None else {},
        described={
            "groups": np.array(present, dtype=object),
            "n": np.array([m.sum() for m in members]),
            "n_events": np.array([events[m].sum() for m in members]).astype(int),
            "n_left_out": int((~used).sum()),
            "curves": {str(i): _curve(times[m], events[m]) for i, m in enumerate(members)},
            "tests": _tests(times, events, members, present),
        },
    )
    return store(adata, keys, results, call, copy=copy)


def lifelines() -> Any:
    """Import the survival library, or explain how to install it."""
    try:
        import lifelines
        import lifelines.statistics
    except ImportError:
        raise ImportError("survival needs lifelines; install it with pip install 'diffnb[survival]'.") from None
    return lifelines


def _times(adata: AnnData, time_key: str) -> Floats:
    column = pd.to_numeric(validate.obs_column(adata, "time_key", time_key), errors="coerce")
    values = column.to_numpy(dtype=float, na_value=np.nan)
    if (values < 0).any():
        raise ValueError(f"time_key={time_key!r} has {int((values < 0).sum())} negative times.")
    if np.isnan(values).all():
        raise ValueError(f"time_key={time_key!r} holds no numbers.")
    return np.asarray(values)


def _events(adata: AnnData, event_key: str) -> Floats:
    column = validate.obs_column(adata, "event_key", event_key)
    values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    unknown = ~np.isnan(values) & ~np.isin(values, (0.0, 1.0)) | (np.isnan(values) & column.notna().to_numpy())
    if unknown.any():
        found = validate.quoted(pd.unique(column[unknown]), limit=4)
        raise ValueError(
            f"event_key={event_key!r} must be true or 1 where the event occurred and false or 0 where it did not,"
            f" got {found}."
        )
    return np.asarray(values)


def _curve(times: Floats, events: Floats) -> dict[str, Floats]:
    """Kaplan–Meier estimate with its 95 % interval, and the numbers at risk and censored at each time."""
    fitter = lifelines().KaplanMeierFitter().fit(times, events)
    table = fitter.event_table
    interval = fitter.confidence_interval_survival_function_
    return {
        "time": table.index.to_numpy(dtype=float),
        "survival": fitter.survival_function_.iloc[:, 0].to_numpy(),
        "lower": interval.iloc[:, 0].to_numpy(),
        "upper": interval.iloc[:, 1].to_numpy(),
        "at_risk": table["at_risk"].to_numpy(),
        "events": table["observed"].to_numpy(),
        "censored": table["censored"].to_numpy(),
    }


def _tests(times: Floats, events: Floats, members: list[Bools], names: list[str]) -> dict[str, Any]:
    """Log-rank test of all groups together and, of more than two, of each pair."""
    statistics = lifelines().statistics
    group, reference, statistic, pval = ["all"], ["all"], [], []
    used = np.logical_or.reduce(members)
    labels = np.select(members, range(len(members)), -1)[used]
    found = [statistics.multivariate_logrank_test(times[used], labels, events[used])]
    if len(members) > 2:
        for i, j in combinations(range(len(members)), 2):
            a, b = members[i], members[j]
            found.append(statistics.logrank_test(times[a], times[b], events[a], events[b]))
            group.append(names[i])
            reference.append(names[j])
    for test in found:
        statistic.append(float(test.test_statistic))
        pval.append(float(test.p_value))
    return {
        "group": np.array(group, dtype=object),
        "reference": np.array(reference, dtype=object),
        "statistic": np.array(statistic),
        "pval": np.array(pval),
    }
