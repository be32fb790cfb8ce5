"""Blood cells, shipped by scanpy."""

from __future__ import annotations

import anndata as ad
import numpy as np
from scipy import sparse


def pbmc() -> ad.AnnData:
    """Load log-normalised expression of 765 genes in 700 blood cells of one donor (Zheng et al. 2017).

    A subset of 10x Genomics' 68,000 mononuclear cells that scanpy ships as
    :func:`scanpy.datasets.pbmc68k_reduced`; nothing is downloaded. There, `X` is scaled to unit variance and
    clipped, which removes the spread of every gene and makes zeros negative. Here `X` holds the values that
    scanpy stores in `raw`: log1p of counts scaled to 10,000 per cell, with zeros. The total of a cell is over
    all genes, of which these 765 are a subset.

    All cells come from one donor, so there is no `sample_key`: p-values treat cells as independent and hold for
    this donor only.

    Returns
    -------
    `X` is CSR float32. `obs` has the cell type in `bulk_labels`, by similarity to sorted cells, and clusters in
    `louvain`, besides `n_genes`, `n_counts`, `percent_mito`, `S_score`, `G2M_score` and `phase`. `obsm` has
    scanpy's `X_pca` and `X_umap`, computed from the scaled values.

    References
    ----------
    Zheng et al., *Massively parallel digital transcriptional profiling of single cells*, Nature
    Communications 2017.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.pbmc()
    >>> adata.shape
    (700, 765)
    >>> int((adata.obs["bulk_labels"] == "CD19+ B").sum())
    95
    """
    try:
        import scanpy as sc
    except ImportError as error:
        raise ImportError(f"the cells are shipped by scanpy ({error}); install it with pip install scanpy.") from None

    shipped = sc.datasets.pbmc68k_reduced()
    values = sparse.csr_matrix(shipped.raw.X, dtype=np.float32)
    embeddings = {name: np.asarray(shipped.obsm[name]) for name in ("X_pca", "X_umap")}
    return ad.AnnData(values, obs=shipped.obs.copy(), var=shipped.raw.var[[]].copy(), obsm=embeddings)
