"""Files with results of every tool, as this release writes them: `python tests/stored/write.py`.

Writes diffnb-<version>.h5ad.tar.xz and diffnb-<version>.zarr.tar.xz beside this script, and expected-<version>.json
with what readers return. Later releases read them in tests/stored/test_stored.py: files of a release are never
written again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

import anndata
import numpy as np
import pandas as pd
from readers import described, read_all

import diffnb as dn

N_FEATURES = 12


def data() -> anndata.AnnData:
    """Two conditions of two donors and twelve features, of which four are connected in one condition."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=(48, N_FEATURES)).astype(np.float32)
    x[24:, :4] += 1.5 * rng.normal(size=(24, 1))
    x[24:, 4] += 2
    obs = pd.DataFrame(
        {
            "condition": pd.Categorical(np.repeat(["ctrl", "stim"], 24)),
            "donor": pd.Categorical(np.tile(np.repeat(["d1", "d2"], 12), 2)),
            "time": np.arange(48.0) + 1,
            "event": np.arange(48) % 3 > 0,
        },
        index=[f"cell{i}" for i in range(48)],
    )
    var = pd.DataFrame(index=[f"gene{i}" for i in range(N_FEATURES)])
    return anndata.AnnData(x, obs=obs, var=var)


def computed() -> anndata.AnnData:
    """Return the data with results of every tool."""
    adata = data()
    small = {"n_components": 2, "n_clusters": 2}
    dn.tl.disc(adata, "condition", n_permutations=3, n_bootstraps=2, **small)
    dn.tl.meta_features(adata)
    dn.tl.disc(adata, "condition", sample_key="donor", key_added="paired", **small)
    dn.tl.sparda(adata, "condition", n_features=3, n_permutations=3, n_projections=2)
    dn.tl.pda(adata, "condition")
    dn.tl.dufs(adata, n_steps=5, n_features=3)
    dn.tl.diverse_features(adata, n_features=4, neighborhoods=(3, 5))
    dn.tl.laplacian_score(adata)
    dn.tl.informed_distance(adata, n_clusters=3, n_neighbors=5)
    dn.tl.scorecard(adata, "condition")
    dn.tl.feature_diffmap(adata, "condition", n_components=2)
    dn.tl.feature_change(adata, "condition")
    return adata


def main() -> None:
    """Write all files of this version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = computed()
    name = f"diffnb-{dn.__version__}"
    with tempfile.TemporaryDirectory() as folder:
        # many small arrays: most of a file is empty, or names
        for kind, write in (("h5ad", adata.write_h5ad), ("zarr", adata.write_zarr)):
            Path(folder, kind).mkdir()
            write(Path(folder, kind, f"data.{kind}"))
            shutil.make_archive(str(HERE / f"{name}.{kind}"), "xztar", Path(folder, kind))
    expected = described(read_all(adata))
    lines = ",\n".join(f"{json.dumps(reader)}: {json.dumps(value)}" for reader, value in expected.items())
    (HERE / f"expected-{dn.__version__}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
