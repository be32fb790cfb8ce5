"""What a reader that computes needs of an earlier call: its conditions, samples, covariates and layer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Pulled
from .._keys import DiscKeys, ScorecardKeys
from ..core.scorecard import MIN_OBS_PER_SAMPLE, Design, design
from ._common import Entry, entry, holds, known_group


def run_params(adata: AnnData, key: str) -> Mapping[str, Any]:
    """Return the stored arguments of `tl.disc`, or of `tl.scorecard` under the same key."""
    params: Mapping[str, Any] = _run(adata, key)["params"]
    if params.get("trend", False):
        raise ValueError(
            f"key={key!r} holds a trend, which compares no pairs of conditions. Read it with get.scorecard and"
            " get.trend; for pairs and effects, call tl.scorecard on the levels to compare, under another key_added."
        )
    return params


def _run(adata: AnnData, key: str) -> Entry:
    """Return the entry of `tl.disc`, or of `tl.scorecard` under the same key."""
    keys = ScorecardKeys(key)
    return entry(adata, keys if holds(adata.uns.get(key), keys) else DiscKeys(key))


def run_conditions(adata: AnnData, key: str) -> list[str] | None:
    """Names of the conditions in the order of the call."""
    found = _run(adata, key)
    if "groups" in found:
        return [str(name) for name in found["groups"]]
    pairs = found["pairs"]
    named = [str(name) for name in (*pairs["reference"], *pairs["group"])]
    order = [str(c) for c in validate.conditions(adata, found["params"]["groupby"]).categories]
    return [name for name in order if name in named]


def run_layer(params: Mapping[str, Any], layer: str | None) -> str | None:
    """Name the layer to read; `"X"` stands for `adata.X`."""
    chosen = params.get("layer") if layer is None else layer
    return None if isinstance(chosen, str) and chosen == "X" else chosen


def as_names(given: Any) -> list[str] | None:
    """Return stored names as a list."""
    return None if given is None else [str(name) for name in np.atleast_1d(given)]


def compared_pairs(names: list[str], condition: str | None, reference: str | None) -> list[tuple[int, int]]:
    """Positions of condition and reference of every comparison, the later with the earlier unless they are named."""
    for argument, value in (("condition", condition), ("reference", reference)):
        known_group(argument, value, names)
    if condition is not None and condition == reference:
        raise ValueError(f"condition={condition!r} is the reference, too.")
    places = range(len(names))
    if condition is None and reference is None:
        return [(later, earlier) for earlier, later in combinations(places, 2)]
    chosen = places if condition is None else [names.index(str(condition))]
    others = places if reference is None else [names.index(str(reference))]
    return [(i, j) for i in chosen for j in others if i != j]


def pair_design(data: Pulled, pair: tuple[int, int]) -> Design | None:
    """Pair or group the samples of two conditions; `None` where observations are the units."""
    if not data.samples:
        return None
    found = design(*(data.samples[place] for place in pair))
    if min(found.sizes) < 2:
        names = " and ".join(repr(data.groups[place]) for place in pair)
        raise ValueError(
            f"sample_key leaves {min(found.sizes)} samples with {MIN_OBS_PER_SAMPLE} or more observations in {names};"
            " at least 2 are needed in each. Repeat the call without sample_key to take observations as units."
        )
    return found
