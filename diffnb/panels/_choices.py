"""Controls that several panels have: conditions, layer, samples, features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from ._controls import Control, choice, offer, several

NONE = "none"


def groupby(adata: AnnData, given: Mapping[str, Any]) -> Control:
    """Ask which column holds the conditions; the likeliest unless one was given."""
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
    return choice("groupby", usable, value=wanted if wanted is not None else usable[0])


def levels_of(adata: AnnData, column: str) -> list[str]:
    """Return the conditions of a column, an empty list where it holds none."""
    try:
        return [str(c) for c in validate.conditions(adata, column).categories]
    except ValueError:
        return []


def groups(adata: AnnData, by: Control) -> Control:
    """Ask which conditions to compare; follows the column."""
    control = several("groups", levels_of(adata, by.value), label="conditions")

    def follow(_: object) -> None:
        levels = levels_of(adata, by.value)
        control.widget.options = levels
        control.widget.rows = min(5, max(2, len(levels)))
        control.widget.value = tuple(levels)

    by.widget.observe(follow, "value")
    return control


def level(name: str, adata: AnnData, by: Control, *, empty: str) -> Control:
    """Ask for one condition, or none in particular; follows the column."""
    control = choice(name, [(empty, "auto"), *((v, v) for v in levels_of(adata, by.value))])

    def follow(_: object) -> None:
        offer(control, [(empty, "auto"), *((v, v) for v in levels_of(adata, by.value))])

    by.widget.observe(follow, "value")
    return control


def layer(adata: AnnData) -> Control:
    """Ask for X or a layer."""
    first = [("X", None)] if adata.X is not None else []
    return choice("layer", [*first, *((str(name), str(name)) for name in adata.layers)])


def sample_key(adata: AnnData) -> Control:
    """Ask for the column of samples."""
    obs = adata.obs
    names = [
        str(c) for c in obs.columns if not pd.api.types.is_float_dtype(obs[c]) and 2 <= obs[c].nunique() < len(obs)
    ]
    return choice("sample_key", [(NONE, None), *((n, n) for n in names)], label="samples in")


def mask_var(adata: AnnData) -> Control:
    """Ask for a column that says which features take part."""
    names = [str(c) for c in adata.var.columns if pd.api.types.is_bool_dtype(adata.var[c])]
    return choice("mask_var", [("all", None), *((n, n) for n in names)], label="features")
