import anndata as ad
import numpy as np
import scipy.sparse as sp

import diffnb as dn


def test_lists_what_there_is(adata):
    adata.obsm["X_pca"] = np.ones((adata.n_obs, 2))
    adata.layers["counts"] = sp.csr_matrix(np.eye(adata.n_obs, adata.n_vars))
    dn.tl.disc(adata, "condition", n_components=2, n_clusters=2)
    dn.tl.scorecard(adata, "condition", key_added="card")
    facts = dn.get.contents(adata)["value"]
    assert facts["observations"] == "120"
    assert facts["X"] == "dense float64"
    assert facts["layer 'counts'"] == "sparse float64, 0.8 % not zero"
    assert facts["embeddings"] == "'X_pca'"
    assert facts["results"] == "DiSC under 'disc', scorecard under 'card'"


def test_lists_what_is_missing_and_the_kind_of_features():
    adata = ad.AnnData(shape=(3, 2), uns={"features": {"kind": "pixels"}})
    facts = dn.get.contents(adata)["value"]
    assert facts["X"] == "empty"
    assert facts["features"] == "2 (pixels)"
    assert facts["embeddings"] == "none"
    assert facts["results"] == "none yet"


def test_names_that_repeat_are_reported(adata):
    adata.var_names = ["same"] * adata.n_vars
    assert "var_names_make_unique" in dn.get.contents(adata).loc["names", "value"]


def test_other_arrays_are_named(adata):
    class Lazy:
        shape = (120, 40)

    from diffnb.get._contents import _matrix

    assert _matrix(Lazy()) == "Lazy"
