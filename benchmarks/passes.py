"""How often data on disk is read: python benchmarks/passes.py [--cells 20000] [--features 500] [--only WORD …].

The data is a dask array whose chunks count how often they are asked for. Chunks read over chunks there are is the
number of passes; it need not be an integer, since reading a few rows counts as the chunks that were read.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
import warnings
from typing import Any

import anndata
import dask
import dask.array as da
import numpy as np
import pandas as pd
from _tools import save, table

import diffnb as dn

#: rows in a chunk
CHUNK = 1000
DONORS = 8
MODULE = 20


class Counted:
    """Rows in memory in place of a file: every chunk that is read is counted."""

    def __init__(self, x: np.ndarray) -> None:
        self.x, self.read, self._lock = x, 0, threading.Lock()

    def chunk(self, start: int) -> np.ndarray:
        """Read a chunk."""
        with self._lock:
            self.read += 1
        return self.x[start : start + CHUNK]

    def as_dask(self) -> da.Array:
        """Return all chunks as a dask array."""
        shapes = [(min(CHUNK, len(self.x) - start), self.x.shape[1]) for start in range(0, len(self.x), CHUNK)]
        blocks = [
            # named by hand: dask would read the data to make a name of it
            da.from_delayed(dask.delayed(self.chunk, pure=False, traverse=False)(number * CHUNK), shape, self.x.dtype)
            for number, shape in enumerate(shapes)
        ]
        return da.concatenate(blocks)

    @property
    def passes(self) -> float:
        """Chunks read over chunks there are."""
        return self.read / -(-len(self.x) // CHUNK)


def drawn(n_cells: int, n_features: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Noise of eight donors, four in each condition; a module moves together in one, another's mean differs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_cells, n_features))
    donor = np.arange(n_cells) % DONORS
    treated = donor >= DONORS // 2
    x[treated, :MODULE] += rng.normal(size=(int(treated.sum()), 1))
    x[treated, MODULE : 2 * MODULE] += 0.3
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.where(treated, "treated", "control")),
            "donor": pd.Categorical([f"d{i}" for i in donor]),
        },
        index=[str(i) for i in range(n_cells)],
    )
    return x, obs


def calls() -> dict[str, Any]:
    """Every tool, with what decides how often it reads."""
    given = {"n_features": MODULE}
    return {
        "disc": lambda a: dn.tl.disc(a, "condition"),
        "disc, 19 permutations of cells": lambda a: dn.tl.disc(a, "condition", n_permutations=19),
        "disc, 19 permutations of donors": lambda a: dn.tl.disc(a, "condition", n_permutations=19, sample_key="donor"),
        "scorecard": lambda a: dn.tl.scorecard(a, "condition"),
        "scorecard, donors": lambda a: dn.tl.scorecard(a, "condition", sample_key="donor"),
        "feature_diffmap": lambda a: dn.tl.feature_diffmap(a, "condition"),
        "feature_change": lambda a: dn.tl.feature_change(a, "condition"),
        "dufs, batches of 250": lambda a: dn.tl.dufs(a, batch_size=250),
        "laplacian_score": dn.tl.laplacian_score,
        "informed_distance": lambda a: dn.tl.informed_distance(a, full=False, n_clusters=10),
        "informed_distance, local": lambda a: dn.tl.informed_distance(
            a, full=False, n_clusters=10, local=True, n_components=3
        ),
        "pda": lambda a: dn.tl.pda(a, "condition"),
        "sparda, k given": lambda a: dn.tl.sparda(a, "condition", **given),
        "sparda, k given, 19 permutations": lambda a: dn.tl.sparda(a, "condition", n_permutations=19, **given),
        "sparda, k chosen": lambda a: dn.tl.sparda(a, "condition"),
    }


def counted(call: Any, x: np.ndarray, obs: pd.DataFrame) -> dict[str, float]:
    source = Counted(x)
    adata = anndata.AnnData(source.as_dask(), obs=obs)
    start, cpu = time.perf_counter(), time.process_time()
    call(adata)
    return {"passes": source.passes, "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def after_disc(x: np.ndarray, obs: pd.DataFrame) -> dict[str, float]:
    """Count what `meta_features` reads, without the DiSC before it."""
    source = Counted(x)
    adata = anndata.AnnData(source.as_dask(), obs=obs)
    dn.tl.disc(adata, "condition")
    source.read, start, cpu = 0, time.perf_counter(), time.process_time()
    dn.tl.meta_features(adata)
    return {"passes": source.passes, "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="calls whose name has one of these")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    x, obs = drawn(asked.cells, asked.features)
    rows = []
    tried = {name: lambda call=call: counted(call, x, obs) for name, call in calls().items()}
    tried["meta_features"] = lambda: after_disc(x, obs)
    for name, work in tried.items():
        if any(word in name for word in asked.only):
            rows.append({"call": name} | work())
            print(f"  {name}: {rows[-1]['passes']:.2f}", file=sys.stderr, flush=True)
    cells = [[r["call"], f"{r['passes']:.2f}", f"{r['seconds']:.1f}", f"{r['cpu']:.1f}"] for r in rows]
    title = f"Passes over {asked.cells} × {asked.features} dense numbers of eight bytes, read in chunks of {CHUNK} rows"
    table(title, ["call", "passes", "seconds", "processor s"], cells)
    save("passes", {"cells": asked.cells, "features": asked.features, "rows": rows})


if __name__ == "__main__":
    main()
