"""The sentence beside every p-value: which units it counts."""

from __future__ import annotations

from anndata import AnnData

from .. import get
from ._banner import Line
from ._calls import Call
from ._restore import arguments_of


def units_of(adata: AnnData, call: Call | None) -> list[Line]:
    """Say which units the p-values of a call count; nothing where the call compares no conditions."""
    arguments = {} if call is None else {**call.defaults, **arguments_of(call)}
    if "sample_key" not in arguments or arguments.get("groupby") not in adata.obs.columns:
        return []
    return [unit_line(adata, str(arguments["groupby"]), arguments["sample_key"])]


def unit_line(adata: AnnData, groupby: str, sample_key: str | None) -> Line:
    """Say which units p-values count with this column of samples."""
    if sample_key is not None:
        n = adata.obs[sample_key].nunique() if sample_key in adata.obs.columns else 0
        return Line("good", f"Units of the p-values: the {n} samples in {sample_key!r}.")
    text = "Units of the p-values: single observations, as if they were independent."
    found = get.candidate_samples(adata, groupby)
    likely = found.index[found["likely"]]
    if len(likely):
        why = f"Those of one {likely[0]!r} are alike, so p-values are too small"
        return Line("mind", f"{text} {why}: select {likely[0]!r} under “samples in”.")
    why = "Where several come from one donor, subject or recording, p-values are too small"
    return Line("plain", f"{text} {why}; name that column under “samples in”.")
