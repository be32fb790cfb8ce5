"""How fast, and how time grows: python benchmarks/speed.py [repeats] [--only ratios | growth | realistic, --realistic].

`ratios`: DiSC against the reference implementation and the Gram products it cannot avoid, medians over interleaved
repeats in one process; wall-clock times are shown for orientation only. `growth`: exponents of processor time in the
number of observations (features fixed) and of features (observations fixed), by least squares on logarithms over four
sizes, each the faster of two repeats. `realistic`: the calls of a user with sparse cells of six donors, `--cells` by
`--genes` (50,000 x 2,000 by default), each beside what it cannot avoid or another tool, as ratios of processor time in
one run. Set OMP_NUM_THREADS=1 for the seconds of one thread.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import time
import warnings

import numpy as np
from _speed_realistic import realistic
from _tools import DATA, interleaved, save, table
from reference import disc as plain

from diffnb.core.arrays.ops import gram
from diffnb.core.disc.algorithm import fit_disc, refit
from diffnb.core.disc.settings import DiscOptions, DiscSettings, FeatureGraphSettings


def correlated(n, p, conditions, seed=0):
    """Noise with a few groups, different ones in each condition."""
    rng = np.random.default_rng(seed)
    matrices = []
    for m in range(conditions):
        x = rng.normal(size=(n, p))
        for g in range(4):
            group = slice((4 * m + g) * 20 % (p - 20), (4 * m + g) * 20 % (p - 20) + 20)
            x[:, group] += rng.normal(size=(n, 1))
        matrices.append(x)
    return matrices


def digits(n_each=2000):
    """Read the ten digits of MNIST, or make noise of the same shape where the data is missing."""
    folder = DATA / "mnist"
    if not folder.is_dir():
        return correlated(n_each, 784, 10), "simulated (MNIST not found)"
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    # constant pixels have no bandwidth in the recipe: the authors add noise of this size
    noise = np.random.default_rng(0)
    rows = [images[labels == d][:n_each] for d in range(10)]
    return [x + 2e-4 * noise.standard_normal(x.shape) for x in rows], "MNIST"


def against_reference(name, matrices, k, d, repeats):
    settings = DiscSettings(FeatureGraphSettings(k), (d,) * len(matrices))
    times = interleaved(
        {
            "ours": lambda: refit(matrices, settings),
            "reference": lambda: plain.disc(matrices, k, d, trivial_in_u=True),
        },
        repeats,
    )
    return [name, times["ours"], times["reference"], times["reference"] / times["ours"]]


def against_gram(name, matrices, repeats):
    k, d = 15, 20
    tasks = {"gram": lambda: [gram(x) for x in matrices]}
    for kind in ("dense", "knn"):
        settings = DiscSettings(FeatureGraphSettings(k, kind), (d,) * len(matrices))
        tasks[kind] = lambda settings=settings: refit(matrices, settings)
    tasks["defaults"] = lambda: fit_disc(matrices, DiscOptions())
    times = interleaved(tasks, repeats)
    return [
        [f"{name}, {task}", times[task], times["gram"], times[task] / times["gram"]] for task in tasks if task != "gram"
    ]


IMPORT = "import time; import anndata; s = time.perf_counter(); import diffnb; print(time.perf_counter() - s)"


def import_seconds(repeats):
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True) for _ in range(repeats)]
    return float(np.median([float(run.stdout) for run in runs]))


#: numbers of observations (both conditions together) and of features that growth is measured over
MANY_OBS, MANY_FEATURES = (500, 1000, 2000, 4000), (250, 500, 1000, 2000)
FIXED_FEATURES, FIXED_OBS = 300, 500


def calls():
    """Return the public calls whose growth is measured, with as little chosen from the data as they allow."""
    import diffnb as dn

    return {
        "tl.disc": lambda x: dn.tl.disc(x, "condition"),
        "tl.scorecard": lambda x: dn.tl.scorecard(x, "condition"),
        "tl.sparda, 20 features": lambda x: dn.tl.sparda(x, "condition", n_features=20),
        "tl.dufs, batches of 250": lambda x: dn.tl.dufs(x, batch_size=250, n_steps=30, early_stopping=False),
        "tl.informed_distance, local, neighbours only": lambda x: dn.tl.informed_distance(
            x, local=True, full=False, n_clusters=10, n_components=3
        ),
    }


def annotated(n, p):
    import anndata
    import pandas as pd

    x = np.concatenate(correlated(n // 2, p, 2))
    obs = pd.DataFrame({"condition": np.repeat(["a", "b"], n // 2)}, index=[str(i) for i in range(n)])
    return anndata.AnnData(x, obs=obs)


def cpu_seconds(call, adata, runs=2):
    spent = []
    for _ in range(runs):
        copy = adata.copy()
        start = time.process_time()
        call(copy)
        spent.append(time.process_time() - start)
    return min(spent)


def exponent(sizes, seconds):
    """Slope of log time on log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth():
    warnings.simplefilter("ignore")
    rows = []
    for name, call in calls().items():
        call(annotated(200, 100))  # imports and compilers
        in_obs = [cpu_seconds(call, annotated(n, FIXED_FEATURES)) for n in MANY_OBS]
        in_features = [cpu_seconds(call, annotated(FIXED_OBS, p)) for p in MANY_FEATURES]
        rows.append(
            {
                "call": name,
                "n": dict(zip(MANY_OBS, in_obs, strict=True)),
                "p": dict(zip(MANY_FEATURES, in_features, strict=True)),
                "exponent in n": exponent(MANY_OBS, in_obs),
                "exponent in p": exponent(MANY_FEATURES, in_features),
                "exponent in p, upper half": exponent(MANY_FEATURES[-2:], in_features[-2:]),
                "exponent in n, upper half": exponent(MANY_OBS[-2:], in_obs[-2:]),
            }
        )
        print(f"  {name}", file=sys.stderr, flush=True)
    cells = [
        [
            row["call"],
            *(f"{row[f'exponent in {axis}']:.2f} ({row[f'exponent in {axis}, upper half']:.2f})" for axis in "np"),
            " ".join(f"{s:.2f}" for s in row["n"].values()),
            " ".join(f"{s:.2f}" for s in row["p"].values()),
        ]
        for row in rows
    ]
    head = ["call", "exponent in n (last doubling)", "in p (last doubling)"]
    head += [f"CPU s, n = {MANY_OBS}, p = {FIXED_FEATURES}", f"CPU s, p = {MANY_FEATURES}, n = {FIXED_OBS}"]
    table("Growth of processor time", head, cells)
    save("growth", {"rows": rows})


def ratios(repeats):
    reference_rows = [
        against_reference("p=250, n=1000, two conditions", correlated(1000, 250, 2), 30, 20, repeats),
        against_reference("p=784, n=1000, two conditions", correlated(1000, 784, 2), 10, 20, max(3, repeats // 2)),
    ]
    ten, source = digits()
    reference_rows.append(against_reference(f"ten digits, p=784: {source}", ten, 10, 20, 1))
    table("Against the reference implementation", ["data", "ours, s", "reference, s", "times faster"], reference_rows)
    gram_rows = against_gram("p=2000, n=1000, two conditions", correlated(1000, 2000, 2), repeats)
    table("Against the Gram products", ["data", "ours, s", "Gram, s", "ours / Gram"], gram_rows)
    seconds = import_seconds(repeats)
    table("Import", ["what", "seconds"], [["diffnb after anndata", seconds]])
    save("speed", {"reference": reference_rows, "gram": gram_rows, "import": seconds})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", type=int, nargs="?", default=5)
    parser.add_argument("--only", choices=["ratios", "growth", "realistic"])
    parser.add_argument("--cells", type=int, default=50_000)
    parser.add_argument("--genes", type=int, default=2000)
    parser.add_argument("--realistic", dest="only", action="store_const", const="realistic", help="only this part")
    asked = parser.parse_args()
    if asked.only in (None, "ratios"):
        ratios(asked.repeats)
    if asked.only in (None, "growth"):
        growth()
    if asked.only in (None, "realistic"):
        save("speed_realistic", realistic(asked.cells, asked.genes))
