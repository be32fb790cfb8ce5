"""Whose slots are whose: results never replace what somebody else has stored, unless they are asked to."""

from __future__ import annotations

from collections.abc import Sequence

from anndata import AnnData

from .._keys import Keys, Slot, is_of_earlier_version, is_recorded, owner_of


def refuse_foreign(adata: AnnData, keys: Keys, slots: Sequence[Slot], /, *, overwrite: bool = False) -> None:
    """Refuse to write to slots that hold what no earlier call under this key has written.

    Slots of another key of this package are refused with `overwrite`, too: its results would be damaged.
    """
    taken = [slot for slot in slots if slot[1] in getattr(adata, slot[0])]
    if not taken:
        return
    entry = adata.uns.get(keys.uns)
    if is_of_earlier_version(entry):
        return
    ours = keys.owned(adata) if is_recorded(entry, keys.key) else []
    for slot in taken:
        if slot in ours:
            continue
        owner = owner_of(adata, slot)
        if owner is not None and owner != keys.key:
            raise ValueError(
                f"{shown(slot)} belongs to the results under key={owner!r}, with which those under {keys.key!r} cannot"
                " share it: give key_added another value."
            )
        if not overwrite:
            raise ValueError(
                f"{shown(slot)} exists and was not written by a call under {keys.key!r}, so that it is not replaced:"
                f" give key_added another value to keep it, or overwrite=True to replace it.{_hint(adata, keys, slot)}"
            )


def _hint(adata: AnnData, keys: Keys, slot: Slot) -> str:
    """Explain a slot that may well be of this package."""
    if slot[0] == "uns" or keys.uns in adata.uns:
        return ""
    return f" (If it is from diffnb, its record adata.uns[{keys.uns!r}] has been removed, as anndata.concat does.)"


def shown(slot: Slot, /) -> str:
    """Write a slot as code."""
    place, name = slot
    return f"adata.{place}[{name!r}]"
