"""Which network each task shows, on simulated subjects: python benchmarks/fmri.py [seeds] [subjects].

DiSC within subjects beside diffusion maps of each task (Figure 5 of the DiSC paper): the network with which |vector|
correlates most. Then the p-values of both tasks, and again without the parcels of the group found in 2-back.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from _tools import save, table

import diffnb as dn

TRUE = {"0-back": "VII", "2-back": "FP"}
ASKED = {"sample_key": "subject", "standardize": "within", "n_components": 5}


def one_seed(seed: int, n_subjects: int) -> dict[str, object]:
    adata = dn.datasets.nback_fmri(n_subjects=n_subjects, random_state=seed)
    networks = pd.get_dummies(adata.var["network"]).astype(float)
    test = {**ASKED, "n_permutations": 99, "null": "connectivity", "random_state": seed}
    dn.tl.disc(adata, "condition", **test)
    found: dict[str, object] = {"seed": seed}
    for task, vector in diffusion_vectors(adata).items():
        found[f"diffusion {task}"] = named(networks.corrwith(vector))
    for task in TRUE:
        found[f"DiSC {task}"] = named(networks.corrwith(dn.get.disc(adata, group=task)["vector_1"].abs()))
        found[f"p {task}"] = first_p(adata, task, "disc")
    rest = (adata.var["disc_2-back"] == "background").to_numpy()
    dn.tl.disc(adata, "condition", mask_var=rest, key_added="rest", **test)
    found |= {f"p {task}, rest": first_p(adata, task, "rest") for task in TRUE}
    return found


def named(correlations: pd.Series) -> str:
    return f"{correlations.idxmax()} {correlations.max():.2f}"


def first_p(adata: object, task: str, key: str) -> float:
    rows = dn.get.disc_significance(adata, key=key)
    return float(rows.loc[(rows["group"] == task) & (rows["component"] == 1), "pval"].iloc[0])


def diffusion_vectors(adata: object) -> dict[str, pd.Series]:
    """First diffusion vector of each task, in absolute value, averaged over subjects."""
    subjects = adata.obs["subject"].cat.categories
    total = dict.fromkeys(TRUE, 0.0)
    for subject in subjects:
        one = adata[adata.obs["subject"] == subject].copy()
        dn.tl.feature_diffmap(one, "condition", n_components=1)
        maps = dn.get.feature_diffmap(one)
        for task in TRUE:
            total[task] = total[task] + maps.loc[maps["group"] == task, "vector_1"].abs()
    return {task: values / len(subjects) for task, values in total.items()}


def main() -> None:
    seeds, n_subjects = (int(a) for a in (*sys.argv[1:], *("10", "16")[len(sys.argv) - 1 :]))
    warnings.simplefilter("ignore")
    rows = [one_seed(seed, n_subjects) for seed in range(seeds)]
    head = list(rows[0])
    table(f"{n_subjects} subjects: network that the first vector shows, and p", head, [list(r.values()) for r in rows])
    right = {
        f"{method} {task}": int(np.sum([str(r[f"{method} {task}"]).startswith(network + " ") for r in rows]))
        for method in ("diffusion", "DiSC")
        for task, network in TRUE.items()
    }
    print("\nright network, of", seeds, ":", right)
    save("fmri", {"subjects": n_subjects, "rows": rows, "right": right})


if __name__ == "__main__":
    main()
