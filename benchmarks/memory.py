"""Peak memory of DiSC on two conditions of 3,000 × 20,000: python benchmarks/memory.py.

Each case runs in a process of its own; the peak is what the system counted for it, everything included.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from _tools import peak_gigabytes, save, table

N_OBS, N_FEATURES = 3000, 20_000


def run(kind):
    import anndata
    import pandas as pd
    import scipy.sparse as sp

    import diffnb as dn

    rng = np.random.default_rng(0)
    if kind == "dense float32":
        x = rng.standard_normal((2 * N_OBS, N_FEATURES), dtype=np.float32)
    else:
        x = sp.random(2 * N_OBS, N_FEATURES, density=0.1, format="csr", dtype=np.float32, random_state=0)
    x[N_OBS:, :40] = x[N_OBS:, :40] + rng.standard_normal((N_OBS, 1), dtype=np.float32)
    obs = pd.DataFrame({"condition": np.repeat(["a", "b"], N_OBS)}, index=[str(i) for i in range(2 * N_OBS)])
    adata = anndata.AnnData(x, obs=obs)
    del x
    data = peak_gigabytes()
    start = time.perf_counter()
    dn.tl.disc(adata, "condition", graph="knn", n_clusters=3)
    seconds = time.perf_counter() - start
    peak = peak_gigabytes()
    print(data, peak, seconds)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1])
    else:
        rows = []
        for kind in ("dense float32", "sparse float32, 10 %"):
            done = subprocess.run([sys.executable, __file__, kind], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            rows.append([kind, *(float(v) for v in done.stdout.split())])
            print(rows[-1], flush=True)
        head = ["data", "peak before, GB", "peak, GB", "seconds"]
        table("Two conditions of 3,000 × 20,000, nearest-neighbour graph", head, rows)
        save("memory", {"rows": rows})
