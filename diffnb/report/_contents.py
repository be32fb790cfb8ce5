"""What a report says about data, settings and versions, as tables and lines."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import pandas as pd
from anndata import AnnData

from .. import get
from .._calls import Call
from ..get._remarks import Remark
from ..get._stored_call import arguments_of

PACKAGES = ("diffnb", "anndata", "scanpy", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib")


def conditions_of(adata: AnnData, calls: list[Call]) -> pd.DataFrame:
    """Count observations, and samples where they are known, of every condition that was compared."""
    samples_of: dict[str, dict[str, None]] = {}
    for arguments in map(arguments_of, calls):
        if arguments.get("groupby") in adata.obs.columns:
            known = samples_of.setdefault(str(arguments["groupby"]), {})
            known |= {arguments["sample_key"]: None} if arguments.get("sample_key") in adata.obs.columns else {}
    rows = []
    for by, samples in samples_of.items():
        for name, part in adata.obs.groupby(by, observed=True):
            counts = {f"samples in {key!r}": str(part[key].nunique()) for key in samples}
            rows.append({"column": by, "condition": str(name), "observations": str(len(part)), **counts})
    return pd.DataFrame(rows)


def settings_of(call: Call) -> pd.DataFrame:
    """List all arguments of a call, those that are not the default first."""
    values = {**arguments_of(call), **{n: v for n, v in call.defaults.items() if n not in arguments_of(call)}}
    defaults = call.defaults
    rows = [
        {"argument": name, "value": repr(value), "": "" if name in defaults and defaults[name] == value else "set"}
        for name, value in values.items()
        if name not in ("copy", "key_added")
    ]
    return pd.DataFrame(sorted(rows, key=lambda row: row[""] == ""))


def about_data(adata: AnnData) -> list[Remark]:
    """Return what to mind about columns of conditions."""
    found = get.candidate_conditions(adata)
    return [Remark("plain", f"{name}: {note}.") for name, note in found["note"].items() if note]


def versions() -> pd.DataFrame:
    """List the versions that made the page."""
    rows: list[dict[str, Any]] = [{"package": "Python", "version": platform.python_version()}]
    for name in PACKAGES:
        try:
            rows.append({"package": name, "version": importlib.metadata.version(name)})
        except importlib.metadata.PackageNotFoundError:
            continue
    return pd.DataFrame([*rows, {"package": "system", "version": platform.platform()}])
