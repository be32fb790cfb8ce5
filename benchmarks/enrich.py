"""Over-representation beside decoupler: equality, time, and the level on random sets: python benchmarks/enrich.py."""

from __future__ import annotations

import time

import decoupler as dc
import numpy as np
import pandas as pd
from _tools import table

import diffnb as dn

N_SETS = 1000


def main() -> None:
    rng = np.random.default_rng(0)
    adata = dn.datasets.scrna()
    dn.tl.disc(adata, "condition")
    members = dn.get.gene_sets(adata)
    sizes = rng.integers(10, 200, size=N_SETS)
    sets = {f"s{i}": rng.choice(adata.var_names, n, replace=False).tolist() for i, n in enumerate(sizes)}
    start = time.perf_counter()
    dn.tl.enrich(adata, sets)
    ours = time.perf_counter() - start
    found = dn.get.enrich(adata).set_index(["list", "set"])
    net = pd.DataFrame([(n, f) for n, own in sets.items() for f in own], columns=["source", "target"])
    n_background = int(found["n_background"].iloc[0])
    tested = net[net["target"].isin(adata.var_names[adata.varm["disc"].notna().any(axis=1)])]
    rows, theirs = [], 0.0
    for name, features in members.items():
        start = time.perf_counter()
        expected = dc.mt.query_set(features, tested, n_bg=n_background).set_index("source")
        theirs += time.perf_counter() - start
        own = found.loc[name].loc[expected.index]
        gap = float(np.abs(own["pval"] / expected["pval"] - 1).max())
        levels = [float((own["pval"] <= level).mean()) for level in (0.05, 0.01)]
        rows.append([name, len(features), gap, *levels, int((own["pval_adj"] <= 0.05).sum())])
    head = ["group", "features", "largest relative gap", "p ≤ .05", "p ≤ .01", "adjusted"]
    table(f"{N_SETS} random sets: {ours:.2f} s, decoupler {theirs:.2f} s", head, rows)


if __name__ == "__main__":
    main()
