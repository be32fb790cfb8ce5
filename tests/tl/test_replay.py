"""Every call can be made again from what it left in `uns`, also after a file."""

import inspect

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import diffnb as dn

pytestmark = pytest.mark.slow

MASK = np.arange(40) < 25
#: calls of every tool with arguments that are not the defaults, of every type that it takes
CALLS = {
    "disc": [
        {"groupby": "condition", "n_permutations": 3, "n_bootstraps": 2, "null": "connectivity", "mask_var": MASK},
        {"groupby": "condition", "groups": ("stim", "ctrl"), "n_eigenvectors": {"ctrl": 3, "stim": 4}, "n_clusters": 3},
        {"groupby": "condition", "n_eigenvectors": [3, 4], "standardize": "within", "mask_var": "chosen", "n_jobs": 1},
        {"groupby": "condition", "sample_key": "subject", "layer": "double", "metric": "correlation"},
        {"groupby": "condition", "covariates": ["age", "three"], "permute_within": "three", "n_permutations": 2},
    ],
    "pda": [
        {"groupby": "condition", "standardize": None, "group": "ctrl", "reference": "stim", "n_projections": 2},
        {"groupby": "condition", "covariates": "three"},
    ],
    "sparda": [
        {"groupby": "condition", "mask_var": list(MASK), "n_features": 4, "n_permutations": 3, "certificate": True},
        {"groupby": "three", "reference": "a", "n_features": "all", "sample_key": "donor", "divergence": "kolmogorov"},
        {"groupby": "condition", "n_features": 3, "covariates": "age", "permute_within": "three", "n_permutations": 2},
    ],
    "dufs": [
        {"n_steps": 5, "adapt_scale": False, "early_stopping": False, "standardize": None, "n_features": 7},
        {"n_steps": 5, "penalty": "warm", "n_features": 3, "batch_size": 50, "gates": "per_feature", "mask_var": MASK},
    ],
    "diverse_features": [
        {"n_features": 7, "neighborhoods": (2, 4), "use_rep": "X_pca", "mask_var": "chosen"},
        {"redundancy": 0.5, "layer": "double", "mask_var": MASK},
    ],
    "laplacian_score": [{"use_rep": "X_pca", "standardize": None, "mask_var": "chosen"}, {"weights": "heat"}],
    "informed_distance": [
        {"n_clusters": 4, "n_components": 2, "full": False, "eigenvalues": "own", "mask_var": MASK},
        {"n_clusters": "pathway", "local": True, "n_neighbors": 30},
        {"use_rep": "X_pca", "informed": False},
        {"n_clusters": 4, "covariates": ("age", "three")},
    ],
    "scorecard": [
        {"groupby": "three", "groups": ["c"], "reference": "a", "mask_var": MASK},
        {"groupby": "condition", "sample_key": "subject", "layer": "double"},
        {"groupby": "condition", "covariates": ["three", "age"]},
    ],
    "feature_diffmap": [{"groupby": "three", "groups": ["c", "a"], "n_components": 3, "mask_var": MASK}],
    "feature_change": [{"groupby": "condition", "graph": "dense", "n_steps": 2, "metric": "cosine", "mask_var": MASK}],
    "survival": [
        {"groupby": "three", "time_key": "age", "event_key": "seen"},
        {"time_key": "age", "event_key": "seen"},
    ],
}
#: tools whose only argument besides the data is the key of another one
WITHOUT_A_CALL = {"enrich", "meta_features", "power", "preservation", "project"}
CASES = [(tool, i) for tool, calls in CALLS.items() for i in range(len(calls))]


@pytest.fixture
def prepared(adata, rng):
    adata.obsm["X_pca"] = rng.normal(size=(120, 4))
    adata.obs["three"] = pd.Categorical(np.tile(["a", "b", "c"], 40))
    adata.obs["donor"] = adata.obs["three"].astype(str) + np.repeat(["1", "2"], 60)
    adata.obs["seen"] = np.arange(120) % 3 > 0
    adata.var["pathway"] = np.repeat(["p", "q", "r", "s"], 10)
    dn.tl.informed_distance(adata, n_clusters=4)
    return adata


def arrays(value, name=""):
    """All arrays, tables and numbers of nested results."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from arrays(inner, f"{name}/{key}")
    elif isinstance(value, pd.DataFrame):
        yield from (pair for column in value for pair in arrays(value[column], f"{name}/{column}"))
    elif isinstance(value, pd.Series):
        categories = isinstance(value.dtype, pd.CategoricalDtype)  # missing ones are not equal to themselves
        yield name, (value.astype(str) if categories else value).to_numpy()
    else:
        yield name, value.toarray() if sp.issparse(value) else np.asarray(value)


def results(adata):
    """All that is in slots whose name holds the key."""
    slots = {slot: getattr(adata, slot) for slot in ("obs", "var", "obsm", "varm", "obsp", "uns")}
    return {
        f"{slot}/{name}{inner}": array
        for slot, held in slots.items()
        for name in held
        if "mine" in name
        for inner, array in arrays(held[name])
    }


@pytest.mark.parametrize(("tool", "which"), CASES, ids=[f"{tool}-{i}" for tool, i in CASES])
def test_a_call_is_made_again_from_a_file(prepared, tool, which, tmp_path):
    again = prepared.copy()
    getattr(dn.tl, tool)(prepared, **CALLS[tool][which], key_added="mine")
    prepared.write_h5ad(tmp_path / "a.h5ad")
    back = anndata.read_h5ad(tmp_path / "a.h5ad")
    name = dn.get.results(back).loc["mine", "tool"]
    assert name == tool
    assert getattr(dn.tl, name)(again, **dn.get.params(back, key="mine")) is None
    expected, found = results(back), results(again)
    assert sorted(found) == sorted(expected)
    for place, array in expected.items():
        np.testing.assert_array_equal(found[place], array, err_msg=place)


@pytest.mark.parametrize("tool", list(CALLS))
@pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning")
def test_params_hold_every_argument_as_it_was_given(prepared, tool, tmp_path):
    given = CALLS[tool][0]
    getattr(dn.tl, tool)(prepared, **given, key_added="mine")
    prepared.write_zarr(tmp_path / "a.zarr")
    params = dn.get.params(anndata.read_zarr(tmp_path / "a.zarr"), key="mine")
    signature = inspect.signature(getattr(dn.tl, tool))
    assert list(params) == [name for name in signature.parameters if name not in ("adata", "overwrite", "copy")]
    defaults = {name: p.default for name, p in signature.parameters.items()}
    for name, value in params.items():
        expected = {**defaults, **given, "key_added": "mine"}[name]
        if (tool, name) == ("informed_distance", "use_rep"):
            expected = expected or "X"  # scanpy would compute a representation
        np.testing.assert_array_equal(value, list(expected) if isinstance(expected, tuple) else expected, err_msg=name)


def test_every_tool_is_called():
    assert set(CALLS) | WITHOUT_A_CALL == set(dn.tl.__all__)


def test_scanpy_finds_what_it_reads(adata):
    dn.tl.informed_distance(adata, n_clusters=3, n_neighbors=12)
    params = adata.uns["informed"]["params"]
    assert (params["n_neighbors"], params["method"], params["use_rep"]) == (12, "umap", "X")


@pytest.mark.filterwarnings("ignore:.*zarr.*", "ignore::UserWarning")
def test_all_results_of_all_tools_come_back_from_files(prepared, tmp_path):
    for tool, calls in CALLS.items():
        getattr(dn.tl, tool)(prepared, **calls[0], key_added=f"mine_{tool}")
    dn.tl.meta_features(prepared, key="mine_disc")
    expected = results(prepared)
    prepared.write_h5ad(tmp_path / "a.h5ad")
    prepared.write_zarr(tmp_path / "a.zarr")
    for back in (anndata.read_h5ad(tmp_path / "a.h5ad"), anndata.read_zarr(tmp_path / "a.zarr")):
        found = results(back)
        assert sorted(found) == sorted(expected)
        for place, array in expected.items():
            np.testing.assert_array_equal(found[place], array, err_msg=place)
        assert dn.get.results(back)["tool"].to_dict() == dn.get.results(prepared)["tool"].to_dict()
