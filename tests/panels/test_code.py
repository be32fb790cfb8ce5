"""The lines of the Code tab, run in a fresh Python, give the tables on screen."""

import os
import pickle
import subprocess
import sys

import pandas as pd
import pytest

import diffnb as dn

pytestmark = pytest.mark.slow

RUN = """
import pickle, sys
import matplotlib
matplotlib.use("Agg")
import anndata, matplotlib.pyplot as plt
folder = sys.argv[1]
tables = {}
for name in sys.argv[2:]:
    scope = {"adata": anndata.read_h5ad(f"{folder}/{name}.h5ad")}
    exec(open(f"{folder}/{name}.py").read(), scope)
    plt.close("all")
    tables[name] = {"features": scope["features"], "var": scope["adata"].var}
pickle.dump(tables, open(f"{folder}/tables.pkl", "wb"))
"""


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """Run panels here, and their lines in another process."""
    folder = tmp_path_factory.mktemp("code")
    toy, moved = dn.datasets.newly_connected(n_obs=60), dn.datasets.nuisance_factor(n_obs=200, n_features=40)
    positive = moved.copy()
    positive.X = abs(positive.X)  # scanpy's fold changes are undefined for negative values
    panels = {
        "disc": (toy, dn.panels.disc, {"n_permutations": 5, "n_components": 3, "n_bootstraps": 2, "scorecard": True}),
        "sparda": (moved, dn.panels.sparda, {"n_permutations": 4, "standardize": "within"}),
        "dufs": (dn.datasets.two_moons(10), dn.panels.dufs, {"n_steps": 40}),
        "informed": (dn.datasets.two_types(n_obs=40), dn.panels.informed, {"n_clusters": 18}),
        "compare": (positive, dn.panels.compare, {"n_features": 5, "n_top": 12}),
    }
    here = {}
    for name, (adata, make, settings) in panels.items():
        adata.write_h5ad(folder / f"{name}.h5ad")
        panel = make(adata)
        panel.set(**settings)
        panel.run()
        assert panel.wait(200)
        assert panel.status.state == "done", panel.status.details
        panel.features.select(adata.var_names[[1, 4, 7]])
        panel.features.save()
        (folder / f"{name}.py").write_text(panel.code)
        here[name] = (panel.features.frame, adata.var, panel.code)
    # the last digit depends on how many threads multiply: as many there as conftest allows here
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-c", RUN, str(folder), *panels]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return here, pickle.loads((folder / "tables.pkl").read_bytes())


@pytest.mark.parametrize("name", ["disc", "sparda", "dufs", "informed", "compare"])
def test_the_lines_give_the_tables_on_screen(reproduced, name):
    here, there = reproduced
    frame, var, _ = here[name]
    pd.testing.assert_frame_equal(there[name]["features"][frame.columns], frame, check_exact=True)
    assert there[name]["var"]["selected"].tolist() == var["selected"].tolist()
    assert there[name]["var"]["selected"].sum() == 3


def test_the_lines_are_short(reproduced):
    here, _ = reproduced
    for _, _, code in here.values():
        assert max(map(len, code.splitlines())) <= 110
