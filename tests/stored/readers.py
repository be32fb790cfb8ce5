"""What all readers return for the results in a stored file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import diffnb as dn

#: results under other keys than the default, with the readers that are asked for them
FURTHER = {
    "disc(paired)": lambda adata: dn.get.disc(adata, key="paired"),
    "disc_replication(paired)": lambda adata: dn.get.disc_replication(adata, key="paired"),
    "sparda(pda)": lambda adata: dn.get.sparda(adata, key="pda"),
    "params(disc)": lambda adata: dn.get.params(adata, key="disc"),
}
#: readers that need arguments of their own, results that are not among those stored, or that make files
LEFT_OUT = {
    "candidate_samples": "takes a column",
    "compare": "takes keys",
    "compare_overlap": "takes keys",
    "params": "takes a key, asked for above",
    "disc_replication": "asked for above",
    "survival": "needs lifelines",
    "survival_groups": "needs lifelines",
    "survival_tests": "needs lifelines",
    "disc_trend": "takes a dose, computed when it is read, by its own tests",
    "effects": "computed when it is read, by its own tests",
    "enrich": "needs gene sets",
    "power": "needs results of tl.power",
    "group_correlations": "takes a group, computed when it is read",
    "group_features": "takes a group, computed when it is read",
    "group_scores": "takes a group, computed when it is read",
    "trend": "needs a dose",
    "preservation": "needs a second data set",
    "projection": "needs a second data set",
    "cytoscape": "writes get.network in another format",
    "graphml": "writes get.network in another format",
    "network": "the edges that get.edges returns",
}

#: readers of what the stored calls did not ask for
WITHOUT_AN_ANSWER = {"informed_gap"}


def read_all(adata: Any) -> dict[str, Any]:
    """Call every reader."""
    asked = {name: getattr(dn.get, name) for name in dn.get.__all__ if name not in LEFT_OUT} | FURTHER
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, reader in asked.items():
            try:
                found[name] = reader(adata)
            except (KeyError, ValueError) as error:
                found[name] = error
    return found


def described(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return type, shape, columns and the sum of all numbers of every answer, to compare with those of another time."""
    return {name: _described(value) for name, value in found.items()}


def _described(value: Any) -> Any:
    if isinstance(value, Exception):
        return {"error": type(value).__name__}
    if isinstance(value, pd.DataFrame):
        numbers = value.select_dtypes("number").to_numpy(dtype=float)
        return {"columns": [str(c) for c in value.columns], "rows": len(value), "sum": _sum(numbers)}
    if isinstance(value, Mapping):
        return {str(key): _described(inner) for key, inner in value.items()}
    if isinstance(value, pd.Series):
        return {"rows": len(value), "values": sorted(set(map(str, value)))[:5]}
    if sp.issparse(value):
        return {"shape": list(value.shape), "sum": _sum(value.toarray())}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "sum": _sum(value) if value.dtype.kind in "iuf" else None}
    return str(value)


def _sum(values: np.ndarray) -> str:
    """Return the sum to six digits: single precision and the rounding of another machine change no more."""
    return f"{float(np.nansum(np.abs(values))):.6g}"
