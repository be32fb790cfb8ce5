"""Which results an AnnData holds, without reading them."""

from __future__ import annotations

from anndata import AnnData

from .._keys import DiscKeys

#: an entry of `uns[key]` that only this tool writes
_SIGNATURES = {
    "dn.tl.disc": "sigma",
    "dn.tl.sparda": "objective",
    "dn.tl.dufs": "training",
    "dn.tl.informed_distance": "has_pairwise",
}


def has_key(adata: AnnData, key: str) -> bool:
    """Whether any tool has stored results under this key."""
    return key in adata.uns


def has_results(adata: AnnData, tool: str, key: str) -> bool:
    """Whether this tool has stored results under this key."""
    return _SIGNATURES[tool] in adata.uns.get(key, {})


def has_meta_features(adata: AnnData, key: str) -> bool:
    """Whether `tl.meta_features` has stored meta-features for the results of `tl.disc` under this key."""
    return meta_features_slot(key) in adata.obsm


def meta_features_slot(key: str) -> str:
    """Key of `adata.obsm` that holds the meta-features for the results of `tl.disc` under this key."""
    return DiscKeys(key).obsm
