import numpy as np
import pytest
from reference import disc as plain

import diffnb as dn


def test_vectors_are_eigenvectors_of_the_recipe(adata, two_conditions):
    dn.tl.feature_diffmap(adata, "condition", graph="dense", n_neighbors=6, n_components=2)
    found = dn.get.feature_diffmap(adata)
    for x, group in zip(two_conditions, ("ctrl", "stim"), strict=True):
        theirs = plain.eigenvectors(plain.transition(plain.weights(x, 6)), 1, 2)
        ours = found.loc[found["group"] == group, ["vector_1", "vector_2"]].to_numpy()
        np.testing.assert_allclose(np.abs((ours * theirs).sum(axis=0)), 1.0, atol=1e-8)


def test_shared_groups_show_where_disc_hides_them():
    """Fig. 2(e): diffusion maps see all groups of a condition, differential vectors only its own."""
    adata = dn.datasets.newly_connected(n_obs=2000)
    dn.tl.feature_diffmap(adata, "condition", n_components=4)
    dn.tl.disc(adata, "condition", n_components=2)
    shared = adata.var["block"].astype(str).str.startswith("shared").to_numpy()

    def weight(table):
        vectors = table.loc[table["group"] == "A"].filter(regex=r"^vector_\d").to_numpy()
        return (vectors[shared] ** 2).sum() / (vectors**2).sum()

    assert weight(dn.get.feature_diffmap(adata)) > 0.3
    assert weight(dn.get.disc(adata)) < 0.05


def test_a_copy_is_returned_when_asked(adata):
    copy = dn.tl.feature_diffmap(adata, "condition", n_components=2, copy=True)
    assert "feature_diffmap" in copy.varm
    assert "feature_diffmap" not in adata.varm


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "cosin"}, "Did you mean 'cosine'"),
        ({"graph": "auto"}, "graph='auto' is not an option"),
        ({"neighbors": "aproximate"}, "Did you mean 'approximate'"),
        ({"neighbors": "approximate", "graph": "dense"}, "use graph='knn'"),
        ({"n_components": 39}, "n_components=39"),
        ({"n_neighbors": 40}, "n_neighbors=40"),
    ],
)
def test_bad_input_is_refused(adata, options, words):
    with pytest.raises(ValueError, match=words):
        dn.tl.feature_diffmap(adata, "condition", **options)
    assert "feature_diffmap" not in adata.uns
