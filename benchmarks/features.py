"""DiSC with 100,000 features: python benchmarks/features.py [few] [sweep] [agree] [far].

- few: where the sieve overtakes plain blocks;
- sweep: seconds to find the 50 nearest of every feature, by plain blocks, by the sieve (exact) and by
  nearest-neighbour descent (approximate), and the share of the exact neighbours that the last one finds;
- agree: what approximate neighbours do to the answer, where both are quick;
- far: `tl.disc` on 100,000 features × 124 observations in each of two conditions.

Each case of `far` and `agree` runs in a separate process: the peak is that of the whole process. Besides the wall-clock
time, the processor time is given, which other work on the machine changes less.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
from _tools import peak_gigabytes, save, table

N_NEIGHBORS = 50
FEATURES = (5000, 10_000, 20_000, 50_000, 100_000, 200_000)
#: plain blocks take four times as long for twice the features: no need to wait for all of it
MOST_FOR_BLOCKS = 20_000
MOST_NUMBERS = 50_000_000
GROUP_SIZE, N_GROUPS = 100, 3
MODES = ("few", "sweep", "agree", "far")


def timed(task):
    clock, busy = time.perf_counter(), time.process_time()
    result = task()
    return result, time.perf_counter() - clock, time.process_time() - busy


def planted(n_features, n_obs=124):
    import diffnb as dn

    return dn.datasets.planted_groups(
        n_features=n_features, n_obs=n_obs, group_size=GROUP_SIZE, n_groups=N_GROUPS, n_shared=N_GROUPS
    )


def in_groups(adata):
    return np.isin(adata.var["block"].astype(str), ["shared_1", "shared_2", "shared_3", "A1", "A2", "A3"])


def recall(found, exact):
    return float(np.mean([np.isin(e, f).mean() for f, e in zip(found, exact, strict=True)]))


def few():
    from diffnb.core.spectral import feature_knn as neighbors
    from diffnb.core.spectral.distances import nearest
    from diffnb.core.spectral.points import points_of

    usual, neighbors.MAX_BLOCKWISE_FEATURES = neighbors.MAX_BLOCKWISE_FEATURES, 0
    rows = []
    for p in (1100, 2000, 3000, 5000):
        points = points_of(np.random.default_rng(0).standard_normal((124, p)))
        tasks = (lambda x=points: nearest(x, N_NEIGHBORS), lambda x=points: neighbors.nearest_features(x, N_NEIGHBORS))
        rows.append([p, *(min(timed(task)[2] for _ in range(4)) for task in tasks)])
    neighbors.MAX_BLOCKWISE_FEATURES = usual
    head = ["p", "blocks, s busy", "sieve, s busy"]
    table(f"The {N_NEIGHBORS} nearest of few features, n = 124", head, rows)
    return {"head": head, "rows": rows}


def sweep():
    from diffnb.core.spectral import feature_knn as neighbors
    from diffnb.core.spectral.distances import nearest
    from diffnb.core.spectral.points import points_of

    rng = np.random.default_rng(0)
    small = rng.standard_normal((4097, 20)).astype(np.float32)
    _, first, _ = timed(lambda: neighbors._descended(small, N_NEIGHBORS + 1, 0))
    _, second, _ = timed(lambda: neighbors._descended(small, N_NEIGHBORS + 1, 0))
    print(f"first use of pynndescent, import and compilation: {first - second:.0f} s", flush=True)
    rows = []
    for n_obs in (124, 1000):
        for p in FEATURES:
            if p * n_obs > MOST_NUMBERS:
                continue
            adata = planted(p, n_obs)
            points, grouped = points_of(adata.X[:n_obs]), in_groups(adata)
            blocks = [np.nan, np.nan]
            if p <= MOST_FOR_BLOCKS:
                blocks = timed(lambda x=points: nearest(x, N_NEIGHBORS))[1:]
            exact, *sieve = timed(lambda x=points: neighbors.nearest_features(x, N_NEIGHBORS))
            found, *descent = timed(lambda x=points: neighbors.nearest_features(x, N_NEIGHBORS, search="approximate"))
            shares = [recall(found.indices[who], exact.indices[who]) for who in (grouped, ~grouped)]
            rows.append([n_obs, p, *blocks, *sieve, *descent, *shares])
            print(rows[-1], flush=True)
    head = ["n", "p", "blocks, s", "busy", "exact, s", "busy", "approximate, s", "busy", "recall in groups", "in noise"]
    table(f"The {N_NEIGHBORS} nearest features", head, rows)
    return {"first_use_seconds": first - second, "head": head, "rows": rows}


def one(p, search):
    """One call of `tl.disc`, printed as a line of JSON; the vectors are saved to `path` if it is given."""
    import diffnb as dn

    adata = planted(int(p))
    before = peak_gigabytes()
    _, seconds, busy = timed(lambda: dn.tl.disc(adata, "condition", graph="knn", neighbors=search))
    from sklearn.metrics import adjusted_rand_score

    found = dn.get.disc(adata)
    figures = {
        "p": int(p),
        "asked": search,
        "taken": adata.uns["disc"]["neighbors"],
        "seconds": seconds,
        "busy": busy,
        "before": before,
        "peak": peak_gigabytes(),
        "sigma": adata.uns["disc"]["sigma"].tolist(),
        "n_clusters": adata.uns["disc"]["n_clusters"].tolist(),
        "n_leading": adata.uns["disc"]["n_leading"].tolist(),
    }
    for group in ("A", "B"):
        figures[f"ari_{group}"] = adjusted_rand_score(adata.var[f"truth_{group}"], adata.var[f"disc_{group}"])
    if "DIFFNB_VECTORS" in os.environ:
        vectors = [found.loc[found["group"] == g].filter(regex=r"^vector_\d").to_numpy() for g in ("A", "B")]
        labels = [adata.var[f"disc_{g}"].cat.codes.to_numpy() for g in ("A", "B")]
        np.savez(os.environ["DIFFNB_VECTORS"], vectors=np.stack(vectors), labels=np.stack(labels))
    print(json.dumps(figures))


def by_itself(p, search, path=None):
    environment = dict(os.environ) | ({"DIFFNB_VECTORS": str(path)} if path else {})
    done = subprocess.run(
        [sys.executable, __file__, "one", str(p), search], capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def agree(p=20_000):
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from sklearn.metrics import adjusted_rand_score

    with TemporaryDirectory() as folder:
        paths = {search: Path(folder) / f"{search}.npz" for search in ("exact", "approximate")}
        figures = {search: by_itself(p, search, path) for search, path in paths.items()}
        exact, found = (np.load(paths[search]) for search in paths)
        rows = []
        for m, group in enumerate(("A", "B")):
            cosines = np.abs((exact["vectors"][m] * found["vectors"][m]).sum(axis=0))
            same = adjusted_rand_score(exact["labels"][m], found["labels"][m])
            own = [figures[search][f"ari_{group}"] for search in paths]
            rows.append([group, *own, same, *(float(c) for c in cosines[:N_GROUPS])])
    head = ["condition", "ARI, exact", "ARI, approximate", "ARI between them", "|cos| 1", "|cos| 2", "|cos| 3"]
    table(f"Exact and approximate neighbours, {p} features × 124", head, rows)
    return {"figures": figures, "head": head, "rows": rows}


def far(p=100_000):
    figures = by_itself(p, "auto")
    head = ["features", "neighbours", "seconds", "busy", "peak before, GB", "peak, GB", "ARI A", "ARI B"]
    keys = ["p", "taken", "seconds", "busy", "before", "peak", "ari_A", "ari_B"]
    table(f"tl.disc, two conditions of 124 × {p}", head, [[figures[k] for k in keys]])
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(*sys.argv[2:])
    else:
        asked = sys.argv[1:] or MODES
        results = {mode: globals()[mode]() for mode in MODES if mode in asked}
        for mode, result in results.items():
            save(f"features_{mode}", result)
