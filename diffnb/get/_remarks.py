"""What to know beside a result: whether it was tested, and which units its p-values count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anndata import AnnData

from .._calls import Call
from ._candidates import candidate_samples
from ._disc import disc_significance
from ._disc_evidence import disc_evidence
from ._results import results
from ._sparda import sparda_summary
from ._stale import collected_staleness
from ._stored_call import arguments_of

Kind = Literal["good", "mind", "plain"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence and what it means for the reader."""

    kind: Kind
    text: str


def remarks(adata: AnnData, tool: str, key: str, call: Call | None) -> list[Remark]:
    """Return what to know beside the results of a tool under a key; `call` made them, where it is known."""
    tested = _TESTED.get(tool)
    with collected_staleness():  # said by `stale_remarks`
        found = tested(adata, key, call) if tested else []
    return [*stale_remarks(adata, [key]), *found, *unit_remarks(adata, call)]


def stale_remarks(adata: AnnData, keys: Sequence[str]) -> list[Remark]:
    """Say which results are older than the data that they were computed from."""
    changed = results(adata)["changed"]
    texts = {key: str(changed[key]) for key in keys if key in changed.index and changed[key]}
    return [Remark("mind", f"{key!r} is older than the data: {text} since. Run again.") for key, text in texts.items()]


def unit_remarks(adata: AnnData, call: Call | None) -> list[Remark]:
    """Say which units the p-values of a call count; nothing where the call compares no conditions."""
    arguments: Mapping[str, Any] = {} if call is None else {**call.defaults, **arguments_of(call)}
    if "sample_key" not in arguments or arguments.get("groupby") not in adata.obs.columns:
        return []
    return [unit_remark(adata, str(arguments["groupby"]), arguments["sample_key"])]


def unit_remark(adata: AnnData, groupby: str, sample_key: str | None) -> Remark:
    """Say which units p-values count with this column of samples."""
    if sample_key is not None:
        n = adata.obs[sample_key].nunique() if sample_key in adata.obs.columns else 0
        return Remark("good", f"Units of the p-values: the {n} samples in {sample_key!r}.")
    text = "Units of the p-values: single observations, as if they were independent."
    found = candidate_samples(adata, groupby=groupby)
    likely = found.index[found["likely"]]
    if len(likely):
        why = f"Those of one {likely[0]!r} are alike, so p-values are too small"
        return Remark("mind", f"{text} {why}: use sample_key={likely[0]!r}.")
    why = "Where several come from one donor, subject or recording, p-values are too small"
    return Remark("plain", f"{text} {why}; name that column by sample_key.")


def _disc_tested(adata: AnnData, key: str, _: Call | None) -> list[Remark]:
    evidence = disc_evidence(adata, key=key)
    if evidence["tested"].any():
        drawn = int(evidence["n_permutations"].max())
        found = "; ".join(f"{name} p = {p:.2g}" for name, p in evidence["pval"].items())
        return [Remark("good", f"Tested against {drawn} permutations of the labels: {found}.")]
    pvals = disc_significance(adata, key=key).query("component == 1")["pval"]
    if pvals.notna().any():
        return [Remark("good", f"Tested: p = {pvals.min():.2g} for the first vector at best; groups are not tested.")]
    why = "the number of groups was given, and no permutations were drawn"
    return [Remark("mind", f"Not tested: {why}. What is shown may be chance. Set “clusters” to auto, or permutations.")]


def _sparda_tested(adata: AnnData, key: str, call: Call | None) -> list[Remark]:
    summary = sparda_summary(adata, key=key)
    if summary["pval"].isna().all():
        return [Remark("mind", "Not tested: no permutations were drawn. What is shown may be chance.")]
    first = summary[summary["projection"] == 1].to_dict("records")
    found = "; ".join(f"{row['group']} vs {row['reference']} p = {row['pval']:.2g}" for row in first)
    drawn = "" if call is None else f" against {call.keywords.get('n_permutations')} permutations of the labels"
    return [Remark("good", f"Tested{drawn}: {found}.")]


def _scorecard_tested(adata: AnnData, key: str, _: Call | None) -> list[Remark]:
    return [Remark("good", "Tested: every feature in four ways, with p-values adjusted for the number of features.")]


_TESTED: dict[str, Callable[[AnnData, str, Call | None], list[Remark]]] = {
    "disc": _disc_tested,
    "scorecard": _scorecard_tested,
    "sparda": _sparda_tested,
    "pda": _sparda_tested,
}
