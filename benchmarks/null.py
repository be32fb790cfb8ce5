"""Calibration and power of the permutation tests: python benchmarks/null.py [replicates] [permutations].

With defaults for graph, neighbours and eigenvectors; a data set is rejected when the p-value of σ₁ of a
condition is at most 0.05. Both conditions are counted, each as one test.
"""

from __future__ import annotations

import sys

import numpy as np
from _tools import save, table
from joblib import Parallel, delayed
from scipy.stats import binom

from diffnb.core.disc import DiscOptions, FeatureGraphOptions, fit_disc, permutation_test
from diffnb.core.runtime.threads import thread_limits

N_OBS, N_FEATURES, GROUP = 60, 40, 10
LEVEL = 0.05


def nothing(rng):
    return rng.normal(size=(2, N_OBS, N_FEATURES))


def shared(rng):
    """Two groups that are correlated in both conditions alike."""
    a, b = nothing(rng)
    for x in (a, b):
        for group in (slice(0, GROUP), slice(GROUP, 2 * GROUP)):
            x[:, group] = np.sqrt(0.6) * x[:, group] + np.sqrt(0.4) * rng.normal(size=(N_OBS, 1))
    return a, b


def shifted(rng):
    a, b = shared(rng)
    b[:, 5:15] += 0.7
    return a, b


def scaled(rng):
    a, b = shared(rng)
    b[:, 5:15] *= 1.6
    return a, b


def skewed(rng):
    """Draw counts with many zeros, alike in both conditions."""
    return np.log1p(rng.negative_binomial(1, 0.4, size=(2, N_OBS, N_FEATURES)).astype(float))


def new_group(rng):
    """One group with ρ = 0.3 in the second condition only."""
    a, b = rng.normal(size=(2, 200, N_FEATURES))
    b[:, :GROUP] = np.sqrt(0.7) * b[:, :GROUP] + np.sqrt(0.3) * rng.normal(size=(200, 1))
    return a, b


CASES = {
    "nothing": (nothing, ("labels", "connectivity"), "null"),
    "groups shared by both": (shared, ("labels", "connectivity"), "null"),
    "counts": (skewed, ("labels", "connectivity"), "null"),
    "shifted features": (shifted, ("connectivity",), "null"),
    "scaled features": (scaled, ("connectivity",), "null"),
    "shifted features ": (shifted, ("labels",), "power"),
    "one group with ρ=0.3": (new_group, ("labels", "connectivity"), "power"),
}


def p_values(make, null, seed, n_permutations):
    with thread_limits(0):
        matrices = list(make(np.random.default_rng(seed)))
        graph = FeatureGraphOptions(standardize="within" if null == "connectivity" else None)
        fit = fit_disc(matrices, DiscOptions(graph=graph, n_components=2))
        return permutation_test(fit, matrices, n_permutations=n_permutations, null=null).pvals[:, 0]


def rejection(make, null, replicates, n_permutations):
    found = Parallel(n_jobs=2)(delayed(p_values)(make, null, seed, n_permutations) for seed in range(replicates))
    return (np.array(found) <= LEVEL).mean(axis=0)


if __name__ == "__main__":
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    n_permutations = int(sys.argv[2]) if len(sys.argv) > 2 else 99
    rows = []
    for name, (make, nulls, kind) in CASES.items():
        for null in nulls:
            count = replicates if kind == "null" else min(replicates, 200)
            first, second = rejection(make, null, count, n_permutations)
            rows.append([name.strip(), null, kind, count, float(first), float(second)])
            print(rows[-1], flush=True)
    low, high = (binom.ppf(q, replicates, 0.05) / replicates for q in (0.025, 0.975))
    head = ["data", "null", "measures", "replicates", "rejected, A", "rejected, B"]
    table(
        f"Share of p ≤ 0.05 with {n_permutations} permutations (95 % of an exact test: {low:.3f}–{high:.3f})",
        head,
        rows,
    )
    save("null", {"rows": rows, "n_permutations": n_permutations})
