"""DiSC against the plain twin and the Gram products it cannot avoid: python benchmarks/speed.py [repeats].

Ratios of medians over repeats that take turns, in one run; wall-clock times are shown for orientation only.
"""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
from _tools import DATA, interleaved, save, table
from twins import disc as plain

from diffnb.core.arrays import gram
from diffnb.core.choose import Request, choose
from diffnb.core.disc import Settings, disc


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
    """Read the ten digits of MNIST, or make noise of the same shape where the data is not at hand."""
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


def against_twin(name, matrices, k, d, repeats):
    settings = Settings(k, (d,) * len(matrices))
    times = interleaved(
        {
            "ours": lambda: disc(matrices, settings),
            "twin": lambda: plain.disc(matrices, k, d, trivial_in_u=True),
        },
        repeats,
    )
    return [name, times["ours"], times["twin"], times["twin"] / times["ours"]]


def against_gram(name, matrices, repeats):
    k, d = 15, 20
    tasks = {"gram": lambda: [gram(x) for x in matrices]}
    for graph in ("dense", "knn"):
        tasks[graph] = lambda graph=graph: disc(matrices, Settings(k, (d,) * len(matrices), graph=graph))
    tasks["defaults"] = lambda: choose(matrices, Request(), Settings(1, ()))
    times = interleaved(tasks, repeats)
    return [
        [f"{name}, {task}", times[task], times["gram"], times[task] / times["gram"]] for task in tasks if task != "gram"
    ]


IMPORT = "import time; import anndata; s = time.perf_counter(); import diffnb; print(time.perf_counter() - s)"


def import_seconds(repeats):
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True) for _ in range(repeats)]
    return float(np.median([float(run.stdout) for run in runs]))


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    twin_rows = [
        against_twin("p=250, n=1000, two conditions", correlated(1000, 250, 2), 30, 20, repeats),
        against_twin("p=784, n=1000, two conditions", correlated(1000, 784, 2), 10, 20, max(3, repeats // 2)),
    ]
    ten, source = digits()
    twin_rows.append(against_twin(f"ten digits, p=784: {source}", ten, 10, 20, 1))
    table("Against the plain twin", ["data", "ours, s", "twin, s", "times faster"], twin_rows)
    gram_rows = against_gram("p=2000, n=1000, two conditions", correlated(1000, 2000, 2), repeats)
    table("Against the Gram products", ["data", "ours, s", "Gram, s", "ours / Gram"], gram_rows)
    seconds = import_seconds(repeats)
    table("Import", ["what", "seconds"], [["diffnb after anndata", seconds]])
    save("speed", {"twin": twin_rows, "gram": gram_rows, "import": seconds})
