from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import diffnb as dn


@pytest.fixture(scope="module")
def cells():
    return dn.datasets.pbmc()


def test_values_are_logarithms_of_counts_scaled_to_ten_thousand(cells):
    assert sparse.issparse(cells.X)
    assert cells.X.format == "csr"
    assert cells.X.dtype == np.float32
    assert cells.X.data.min() > 0
    counts = np.expm1(cells.X.toarray()) * cells.obs["n_counts"].to_numpy()[:, None] / 1e4
    # they are shipped with three decimals
    assert np.abs(counts - np.round(counts)).max() < 0.002 * counts.max()
    few = counts < 5
    assert np.abs(counts - np.round(counts))[few].max() < 0.02


def test_two_thirds_of_the_entries_are_zero(cells):
    assert 1 - cells.X.nnz / np.prod(cells.shape) == pytest.approx(0.674, abs=0.001)


def test_every_cell_has_a_type_and_a_cluster(cells):
    assert cells.obs["bulk_labels"].nunique() == 10
    assert cells.obs["louvain"].nunique() == 11
    assert cells.obs[["bulk_labels", "louvain"]].notna().all(axis=None)


def test_each_type_has_its_marker(cells):
    expression = cells.to_df().groupby(cells.obs["bulk_labels"], observed=True).mean()
    assert expression["CD79A"].idxmax() == "CD19+ B"
    assert expression["NKG7"].idxmax() == "CD56+ NK"
    assert expression["CST3"].drop("Dendritic").idxmax() == "CD14+ Monocyte"


def test_loading_twice_gives_separate_copies(cells):
    again = dn.datasets.pbmc()
    again.X.data[:] = 0
    again.obs["louvain"] = "none"
    assert cells.X.max() > 6
    assert dn.datasets.pbmc().X.max() > 6


def test_embeddings_of_the_cells_are_included(cells):
    assert cells.obsm["X_umap"].shape == (700, 2)


def test_b_cells_and_monocytes_differ_by_their_known_genes(cells):
    adata = cells[cells.obs["bulk_labels"].isin(["CD19+ B", "CD14+ Monocyte"])].copy()
    adata = adata[:, adata.X.getnnz(axis=0) >= 20].copy()
    with pytest.warns(UserWarning, match="conditions differ in depth"):  # monocytes have more molecules
        dn.tl.scorecard(adata, "bulk_labels", groups=["CD19+ B"], reference="CD14+ Monocyte")
    table = dn.get.scorecard(adata)
    assert (table.loc[["CD79A", "CD79B", "MS4A1"], "mean_stat"] > 5).all()
    assert (table.loc[["LYZ", "CST3", "TYROBP"], "mean_stat"] < -5).all()
