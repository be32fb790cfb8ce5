"""The call that made a result, as a line of code."""

from __future__ import annotations

from typing import Any

from anndata import AnnData

from .._calls import Call
from ._results import params, results


def stored_call(adata: AnnData, key: str) -> Call | None:
    """Return the call that made the results under a key; `None` where it cannot be written as a line of code."""
    tools = results(adata)
    if key not in tools.index or not tools.loc[key, "replayable"]:
        return None
    keywords = params(adata, key=key)
    if keywords.get("use_rep") == "X":  # stored for scanpy, where none was given
        keywords["use_rep"] = None
    positional = (keywords.pop("groupby"),) if "groupby" in keywords else ()
    call = Call(f"dn.tl.{tools.loc[key, 'tool']}", positional, keywords)
    try:
        call.line()
    except TypeError:  # an array was given, such as a mask
        return None
    return call


def arguments_of(call: Call) -> dict[str, Any]:
    """Return all arguments of a call by name."""
    return {**dict(zip(("groupby",), call.positional, strict=False)), **call.keywords}
