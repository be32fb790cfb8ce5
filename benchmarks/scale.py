"""Data that does not fit into memory: python benchmarks/scale.py [part …] [--cells 200000] [--genes 5000] [--folder F].

Parts: `memory` (tl.disc and tl.scorecard on a sparse file, peak memory above the baseline, time against a bare read),
`slope` (time against the number of cells, and its extrapolation to ten million), `cluster` (two workers against none).
Every figure comes from a separate process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _tools import peak_gigabytes, save, table

#: cells in a chunk on disk
CHUNK = 1000
MODULE = 40


def cells(start: int, stop: int, n_genes: int) -> sp.csr_matrix:
    """Make log counts of some cells; every other one is stimulated, where a module moves together."""
    rng = np.random.default_rng([start, n_genes])
    levels = np.random.default_rng(0).gamma(0.5, 0.2, n_genes)  # about 8 % of counts are not zero
    levels[:MODULE] = 0.5
    rate = np.repeat(levels[None], stop - start, axis=0)
    stimulated = np.arange(start, stop) % 2 == 1
    rate[stimulated, :MODULE] *= rng.lognormal(-0.5, 1.0, size=(int(stimulated.sum()), 1))
    return sp.csr_matrix(np.log1p(rng.poisson(rate)).astype(np.float32))


def write(path: Path, n_cells: int, n_genes: int) -> None:
    """Write a file chunk by chunk, so that making it needs no memory either."""
    import anndata
    import dask
    import dask.array as da
    import pandas as pd

    blocks = [
        da.from_delayed(
            dask.delayed(cells)(start, min(start + CHUNK, n_cells), n_genes),
            shape=(min(CHUNK, n_cells - start), n_genes),
            dtype=np.float32,
            meta=sp.csr_matrix((0, 0), dtype=np.float32),
        )
        for start in range(0, n_cells, CHUNK)
    ]
    obs = pd.DataFrame(index=[str(i) for i in range(n_cells)])
    obs["condition"] = pd.Categorical(np.where(np.arange(n_cells) % 2 == 1, "stimulated", "control"))
    obs["donor"] = pd.Categorical([f"d{i % 8}" for i in range(n_cells)])
    var = pd.DataFrame(index=[f"gene{j}" for j in range(n_genes)])
    with warnings.catch_warnings(), dask.config.set(scheduler="threads", num_workers=2):
        warnings.simplefilter("ignore")
        anndata.AnnData(da.concatenate(blocks), obs=obs, var=var).write_zarr(path)


def measure(path: Path, what: str, workers: int) -> dict[str, Any]:
    """Run one tool on a file in this process, and return time and memory."""
    from anndata.experimental import read_lazy

    import diffnb as dn

    adata = read_lazy(path)
    client = _client(workers)
    dn.tl.disc, dn.tl.scorecard  # noqa: B018, loaded before the baseline is taken
    before, start, cpu = peak_gigabytes(), time.perf_counter(), time.process_time()
    if what == "read":
        from diffnb.core.arrays.row_chunks import chunked, reduce

        (found,) = reduce([chunked(adata.X)], lambda block, *_: block.nnz, lambda a, b: a + b)
        figures: dict[str, Any] = {"density": found / (adata.n_obs * adata.n_vars)}
    elif what == "disc":
        dn.tl.disc(adata, "condition")
        named = adata.var["disc_stimulated"] == "stimulated1"
        figures = {"module found": int(named[:MODULE].sum()), "others": int(named[MODULE:].sum())}
    else:
        dn.tl.scorecard(adata, "condition", n_jobs=2)
        card = dn.get.scorecard(adata)
        called = card["connectivity_pval_adj"] < 0.05
        figures = {"module found": int(called[:MODULE].sum()), "others": int(called[MODULE:].sum())}
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    if client is not None:
        client.shutdown()
    return {"what": what, "seconds": seconds, "cpu": cpu, "baseline": before, "peak": peak_gigabytes()} | figures


def _client(workers: int) -> Any:
    if not workers:
        return None
    from distributed import Client, LocalCluster

    return Client(LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None))


def in_process(path: Path, what: str, workers: int = 0) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, "--folder", str(path), "--workers", str(workers)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def prepared(folder: Path, n_cells: int, n_genes: int) -> Path:
    path = folder / f"{n_cells}x{n_genes}.zarr"
    if not path.exists():
        write(path, n_cells, n_genes)
    return path


def size_of(path: Path) -> float:
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) / 1e9


def memory(folder: Path, n_cells: int, n_genes: int) -> list[dict[str, Any]]:
    path = prepared(folder, n_cells, n_genes)
    rows = [in_process(path, what) for what in ("read", "disc", "scorecard")]
    bare, bare_cpu = rows[0]["seconds"], rows[0]["cpu"]
    dense, filled = n_cells * n_genes * 4 / 1e9, rows[0]["density"]
    table(
        f"{n_cells} cells × {n_genes} genes, {filled:.1%} filled: {dense:.1f} GB if dense, {size_of(path):.2f} on disk",
        [
            "what",
            "seconds",
            "times a bare read",
            "processor s",
            "times that",
            "baseline GB",
            "peak GB above it",
            "module found",
            "others",
        ],
        [
            [
                r["what"],
                r["seconds"],
                r["seconds"] / bare,
                r["cpu"],
                r["cpu"] / bare_cpu,
                r["baseline"],
                r["peak"] - r["baseline"],
                r.get("module found", ""),
                r.get("others", ""),
            ]
            for r in rows
        ],
    )
    return rows


def slope(folder: Path, n_cells: int, n_genes: int) -> list[dict[str, Any]]:
    """Time against cells and against genes, extrapolated to 10 million × 30,000."""
    sizes = [n_cells // 8, n_cells // 4, n_cells // 2]
    widths = [n_genes // 5, 2 * n_genes // 5, 4 * n_genes // 5]
    rows = []
    for what in ("read", "disc", "scorecard"):
        by_cells = [in_process(prepared(folder, n, widths[1]), what) for n in sizes]
        by_genes = [in_process(prepared(folder, sizes[1], p), what) for p in widths]
        in_n = float(np.polyfit(np.log(sizes), np.log([r["seconds"] for r in by_cells]), 1)[0])
        in_p = float(np.polyfit(np.log(widths), np.log([r["seconds"] for r in by_genes]), 1)[0])
        # the larger of fitted and expected power, so that a small size does not flatter the large one
        per_cell = by_cells[-1]["seconds"] / sizes[-1]
        hours = per_cell * 1e7 * (30_000 / widths[1]) ** max(in_p, 1.0 if what == "read" else 2.0) / 3600
        rows.append(
            {"what": what, "exponent n": in_n, "exponent p": in_p, "hours": hours, "cells": by_cells, "genes": by_genes}
        )
    table(
        f"growth (n = {sizes}, p = {widths}) and a projection to 10,000,000 × 30,000 on this machine",
        ["what", "exponent in n", "exponent in p", *[f"s at n={n}" for n in sizes], "hours at 10 M × 30 k"],
        [[r["what"], r["exponent n"], r["exponent p"], *[c["seconds"] for c in r["cells"]], r["hours"]] for r in rows],
    )
    return rows


def cluster(folder: Path, n_cells: int, n_genes: int) -> list[dict[str, Any]]:
    path = prepared(folder, n_cells // 4, 2 * n_genes // 5)
    rows = [in_process(path, "disc", workers) | {"workers": workers} for workers in (0, 1, 2)]
    table(
        f"tl.disc, {n_cells // 4} × {2 * n_genes // 5}, on dask.distributed: workers share the cores of this machine",
        ["workers", "seconds", "peak GB of the notebook's process"],
        [[r["workers"], r["seconds"], r["peak"]] for r in rows],
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--cells", type=int, default=200_000)
    parser.add_argument("--genes", type=int, default=5000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    if given.measure:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(given.folder, given.measure, given.workers)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        parts = {"memory": memory, "slope": slope, "cluster": cluster}
        chosen = given.parts or list(parts)
        save("scale", {name: parts[name](folder, given.cells, given.genes) for name in chosen})


if __name__ == "__main__":
    main()
