"""Which results an AnnData holds, without reading them."""

from __future__ import annotations

from anndata import AnnData

from .._keys import DiscKeys, DufsKeys, InformedKeys, ScorecardKeys, SpardaKeys
from ._common import holds

_KEYS = {
    "dn.tl.disc": DiscKeys,
    "dn.tl.scorecard": ScorecardKeys,
    "dn.tl.sparda": SpardaKeys,
    "dn.tl.dufs": DufsKeys,
    "dn.tl.informed_distance": InformedKeys,
}


def has_key(adata: AnnData, key: str) -> bool:
    """Whether any tool has stored results under this key."""
    return key in adata.uns


def has_results(adata: AnnData, tool: str, key: str) -> bool:
    """Whether this tool has stored results under this key."""
    return holds(adata.uns.get(key), _KEYS[tool](key))


def has_meta_features(adata: AnnData, key: str) -> bool:
    """Whether `tl.meta_features` has stored meta-features for the results of `tl.disc` under this key."""
    keys = DiscKeys(key)
    return ("obsm", keys.obsm) in keys.owned(adata)


def meta_features_slot(key: str) -> str:
    """Key of `adata.obsm` that holds the meta-features for the results of `tl.disc` under this key."""
    return DiscKeys(key).obsm
