"""Controls that several panels have: conditions, layer, samples, features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from ._controls import Control, any_of, dropdown, multi_select, set_options


def groupby(adata: AnnData, given: Mapping[str, Any]) -> Control:
    """Make the choice of the column with the conditions, by default the likeliest."""
    wanted = given.get("groupby")
    found = get.candidate_conditions(adata)
    usable = [str(name) for name in found.index[found["usable"]]]
    if wanted is not None:
        validate.obs_column(adata, "groupby", wanted)
        usable = list(dict.fromkeys([*usable, str(wanted)]))
    if not usable:
        raise ValueError(
            "adata.obs has no column that could hold conditions: two levels or more, each with at least 3 observations."
        )
    return dropdown("groupby", usable, value=wanted if wanted is not None else usable[0])


def levels_of(adata: AnnData, column: str) -> list[str]:
    """Return the conditions of a column, an empty list where it holds none."""
    try:
        return [str(c) for c in validate.conditions(adata, column).categories]
    except ValueError:
        return []


#: what DiSC can be asked, as users read it
QUESTIONS = [
    ("connected in one condition only (relations)", "relations"),
    ("any difference (levels and spreads count)", "any difference"),
]
STANDARDIZE = [
    ("as the question asks", "auto"),
    ("within conditions", "within"),
    ("global", "global"),
    ("no", None),
]


def question() -> Control:
    """Make the choice of the question that DiSC answers."""
    control = dropdown("question", QUESTIONS)
    control.widget.add_class("diffnb-wide")
    return control


def groups(adata: AnnData, by: Control) -> Control:
    """Make the choice of the conditions to compare, updated with the column."""
    control = multi_select("groups", levels_of(adata, by.value), label="conditions")

    def update(_: object) -> None:
        levels = levels_of(adata, by.value)
        control.widget.options = levels
        control.widget.rows = min(5, max(2, len(levels)))
        control.widget.value = tuple(levels)

    by.widget.observe(update, "value")
    return control


def level(name: str, adata: AnnData, by: Control, *, default: str) -> Control:
    """Make the choice of one condition or the default of the method, updated with the column."""

    def options() -> list[Any]:
        return [(default, "auto"), *((v, v) for v in levels_of(adata, by.value))]

    control = dropdown(name, options())
    by.widget.observe(lambda _: set_options(control, options()), "value")
    return control


def layer(adata: AnnData) -> Control:
    """Make the choice between X and the layers."""
    first = [("X", None)] if adata.X is not None else []
    return dropdown("layer", [*first, *((name, name) for name in validate.layer_names(adata))])


def counts(adata: AnnData) -> Control:
    """Make the choice of a layer with raw counts, by which correlations are corrected."""
    return dropdown("counts", [("not used", None), *((name, name) for name in validate.layer_names(adata))])


def sample_key(adata: AnnData, by: Control, given: Mapping[str, Any]) -> Control:
    """Make the choice of the column with the samples, the likeliest selected, updated with the conditions."""
    wanted = given.get("sample_key", "auto")
    if wanted not in ("auto", None):
        validate.obs_column(adata, "sample_key", wanted)

    def options() -> tuple[list[Any], str | None]:
        found = get.candidate_samples(adata, groupby=by.value)
        names = list(dict.fromkeys([*found.index, *([wanted] if wanted not in ("auto", None) else [])]))
        likely = found.index[found["likely"]]
        return [("none", None), *((n, n) for n in names)], (likely[0] if len(likely) else None)

    offered, likely = options()
    control = dropdown("sample_key", offered, value=likely if wanted == "auto" else wanted, label="samples in")

    def update(_: object) -> None:
        offered, likely = options()
        kept = control.value
        set_options(control, offered)
        control.put(kept if kept in [value for _, value in offered] and kept is not None else likely)

    by.widget.observe(update, "value")
    return control


def mask_var(adata: AnnData) -> Control:
    """Make the choice of a boolean column that selects the features to analyse."""
    names = [str(c) for c in adata.var.columns if pd.api.types.is_bool_dtype(adata.var[c])]
    return dropdown("mask_var", [("all", None), *((n, n) for n in names)], label="features")


def covariates(adata: AnnData, given: Mapping[str, Any] | None = None, *others: Control) -> Control:
    """Make the choice of columns whose effects are taken out, without those that other controls have selected."""
    candidates = get.candidate_covariates(adata).index.tolist()
    wanted = (given or {}).get("covariates") or []
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        validate.obs_column(adata, "covariates", name)

    def options() -> list[str]:
        taken = [other.value for other in others]
        return [name for name in dict.fromkeys([*candidates, *names]) if name not in taken]

    control = any_of("covariates", options(), label="covariates to take out")
    control.put([name for name in names if name in control.widget.options] or None)

    def update(_: object) -> None:
        kept = [name for name in control.value or [] if name in options()]
        control.widget.options = options()
        control.put(kept or None)

    for other in others:
        other.widget.observe(update, "value")
    return control


def permute_within(adata: AnnData) -> Control:
    """Make the choice of the column within whose levels labels are permuted."""
    found = get.candidate_covariates(adata)
    names = found.index[found["levels"] > 0]
    return dropdown("permute_within", [("all observations", None), *((n, n) for n in names)], label="permute within")
