"""The way out: results of a tool become slots of the AnnData, in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from anndata import AnnData

from .._keys import PLACES, Keys, Slot
from .fingerprint import fingerprint
from .locks import locks_of
from .ownership import refuse_foreign
from .params import ToolCall, names
from .slots import Change, change_slots


@dataclass(frozen=True, slots=True)
class Results:
    """What a tool found, by the slot it goes to."""

    #: describes the results as a whole; goes to `uns` under the key, with the parameters
    described: Mapping[str, Any] = field(default_factory=dict)
    obs: Mapping[str, Any] = field(default_factory=dict)
    var: Mapping[str, Any] = field(default_factory=dict)
    obsm: Mapping[str, Any] = field(default_factory=dict)
    varm: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    obsp: Mapping[str, Any] = field(default_factory=dict)
    varp: Mapping[str, Any] = field(default_factory=dict)


def store(adata: AnnData, keys: Keys, results: Results, call: ToolCall, /, *, copy: bool = False) -> AnnData | None:
    """Replace everything under a key by new results; return the AnnData where it is a copy.

    The key owns its slots: what an earlier call left under it goes, whether the new results have such a slot or not.
    What others wrote is replaced only where the call has `overwrite`. All slots change at once.
    """
    # everything that can fail happens before anything changes
    written = _slots(adata, results)
    with locks_of(adata).slots:  # another thread may be replacing what is looked at
        refuse_foreign(adata, keys, [*written, ("uns", keys.uns)], overwrite=call.overwrite)
    record = {**call.described(), "key": keys.key, "slots": _recorded(written)}
    entry = {**results.described, "params": call.encoded(), "call": record, "data": fingerprint(adata, call)}
    written["uns", keys.uns] = _writable(entry)
    adata = adata.copy() if copy else adata
    with locks_of(adata).slots:  # what is owned must not change before it is removed
        change_slots(adata, Change([slot for slot in keys.owned(adata) if slot not in written], written))
    return adata if copy else None


def add(
    adata: AnnData, keys: Keys, results: Results, /, *, copy: bool = False, overwrite: bool = False
) -> AnnData | None:
    """Add results to those under a key; the next `store` under the key removes them."""
    written = _slots(adata, results)
    with locks_of(adata).slots:
        refuse_foreign(adata, keys, list(written), overwrite=overwrite)
        entry = adata.uns[keys.uns]
    call = entry.get("call")
    if call is not None:
        listed = dict.fromkeys([*map(str, np.atleast_1d(call["slots"])), *_recorded(written)])
        # new dicts: those in `uns` may be shared with another AnnData
        written["uns", keys.uns] = {**entry, "call": {**call, "slots": names(listed)}}
    adata = adata.copy() if copy else adata
    change_slots(adata, Change((), written))
    return adata if copy else None


def set_obs_column(adata: AnnData, name: str, values: Any, /) -> None:
    """Write one column of `obs` that belongs to no key, such as a selection of the user."""
    change_slots(adata, Change((), {("obs", name): values}))


def set_var_column(adata: AnnData, name: str, values: Any, /) -> None:
    """Write one column of `var` that belongs to no key, such as a selection of the user."""
    change_slots(adata, Change((), {("var", name): values}))


def _slots(adata: AnnData, results: Results) -> dict[Slot, Any]:
    slots = {(place, name): value for place in PLACES[:-1] for name, value in getattr(results, place).items()}
    return {slot: _fitted(adata, slot[0], value) for slot, value in slots.items()}


def _fitted(adata: AnnData, place: str, value: Any) -> Any:
    """Give tables the names of the AnnData, which may repeat and then cannot be aligned."""
    if isinstance(value, pd.DataFrame):
        return value.set_axis(adata.obs_names if place.startswith("obs") else adata.var_names, axis=0)
    length = adata.n_obs if place.startswith("obs") else adata.n_vars
    if np.shape(value)[0] != length:
        raise ValueError(f"{np.shape(value)[0]} values for {length} rows of adata.{place}.")
    return value


def _recorded(slots: Mapping[Slot, Any]) -> Any:
    return names(f"{place}/{name}" for place, name in slots)


def _writable(value: Any) -> Any:
    """Keep only what survives h5ad and zarr: no None, tuple, set or Series, nested as deep as it goes."""
    if isinstance(value, Mapping):
        return {str(k): _writable(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple | set):
        return np.asarray(list(value))
    if isinstance(value, pd.Series):
        return value.to_numpy()
    if sp.issparse(value) and value.format == "coo":
        return value.tocsr()
    return value
