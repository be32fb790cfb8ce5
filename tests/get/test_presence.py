import pytest

import diffnb as dn
from diffnb.get import _presence

CALLS = {
    "dn.tl.disc": lambda adata: dn.tl.disc(adata, "condition", n_components=2, key_added="mine"),
    "dn.tl.sparda": lambda adata: dn.tl.sparda(adata, "condition", n_features=3, key_added="mine"),
    "dn.tl.dufs": lambda adata: dn.tl.dufs(adata, n_steps=2, key_added="mine"),
    "dn.tl.informed_distance": lambda adata: dn.tl.informed_distance(adata, n_clusters=3, key_added="mine"),
}


@pytest.mark.parametrize("tool", list(CALLS))
def test_results_are_recognised_as_those_of_their_tool_and_of_no_other(tool):
    adata = dn.datasets.nuisance_factor(n_obs=30, n_features=32)
    assert not _presence.has_key(adata, "mine")
    assert not _presence.has_results(adata, tool, "mine")
    CALLS[tool](adata)
    assert _presence.has_key(adata, "mine")
    assert [name for name in CALLS if _presence.has_results(adata, name, "mine")] == [tool]


def test_meta_features_are_found_once_they_are_computed():
    adata = dn.datasets.nuisance_factor(n_obs=30, n_features=32)
    dn.tl.disc(adata, "condition", n_components=2)
    assert not _presence.has_meta_features(adata, "disc")
    dn.tl.meta_features(adata)
    assert _presence.has_meta_features(adata, "disc")
    assert _presence.meta_features_slot("disc") in adata.obsm
