"""Correlations from counts by other packages, each in its own process: _count_peers.py name data.npz rho.npy."""

from __future__ import annotations

import sys
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import scipy.sparse as sp

#: share of the molecules that memento takes to be captured; simulated counts are Poisson, that is, few of many
CAPTURED = 0.01


def memento(adata: ad.AnnData) -> np.ndarray:
    import memento as package

    names = adata.var_names
    adata.obs["all"], adata.obs["captured"] = 1, CAPTURED
    package.setup_memento(adata, q_column="captured")
    package.create_groups(adata, label_columns=["all"])
    package.compute_1d_moments(adata, min_perc_group=0.9)
    (group,) = adata.uns["memento"]["groups"]
    rho = np.asarray(package.get_corr_matrix(adata, group), dtype=float)
    return pd.DataFrame(rho, adata.var_names, adata.var_names).reindex(index=names, columns=names).to_numpy()


def bigsur(adata: ad.AnnData) -> np.ndarray:
    from BigSur.correlations import calculate_correlations

    calculate_correlations(adata, layer="X", verbose=0, n_jobs=1)
    lower = adata.varm["mcPCCs"]
    lower = lower.toarray() if sp.issparse(lower) else np.asarray(lower)
    return lower + lower.T


def main() -> None:
    name, data, out = sys.argv[1:]
    given = np.load(data)
    counts, order = given["counts"], given["order"]
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(len(counts))])
    var = pd.DataFrame(index=[f"gene{j}" for j in range(counts.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rho = {"memento": memento, "bigsur": bigsur}[name](ad.AnnData(sp.csr_matrix(counts), obs=obs, var=var))
    np.save(out, rho[np.ix_(order, order)])


if __name__ == "__main__":
    main()
