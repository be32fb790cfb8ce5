from __future__ import annotations

import inspect

import anndata as ad
import numpy as np
import pytest
from scipy import sparse

from diffnb import datasets

pytestmark = pytest.mark.slow

SIMULATED = {
    "differing_block": {"n_obs": 4},
    "newly_connected": {"n_obs": 4},
    "nuisance_factor": {"n_obs": 4, "n_features": 40},
    "partial_correlation": {"n_obs": 4},
    "planted_groups": {"n_features": 70, "n_obs": 4, "group_size": 10},
    "split_both_ways": {"n_obs": 4},
    "subsets_of_connected": {"n_obs": 4},
    "three_conditions": {"n_obs": 4},
    "two_moons": {"n_obs": 4},
    "scrna": {"n_cells": 30, "n_genes": 700},
    "nback_fmri": {"n_subjects": 2, "n_blocks": 1, "block_length": 12},
    "hyperspectral_tarp": {"size": 20, "n_bands": 8},
}
#: simulations of a metric: no features that differ between conditions, some without conditions
OF_A_METRIC = {
    "curved_square": {"n_obs": 4, "n_features": 12},
    "hidden_square": {"n_obs": 4, "n_features": 9},
    "two_types": {"n_obs": 40, "n_features": 36},
}
#: shipped by packages that are optional
REAL = ("breast_cancer", "mnist")
#: shipped by packages that diffnb needs
SHIPPED = {"pbmc": datasets.pbmc}
#: arguments that may be positional
FIRST = {"partial_correlation": ["p"], "two_moons": ["n_nuisance"]}
WITHOUT_CONDITIONS = ("two_moons",)
#: columns of obs that can be compared
CONDITIONS = ("condition", "moon", "bulk_labels", "rna:condition")
IMPORTED = {
    "from_image_pair": lambda: datasets.from_image_pair(np.ones((2, 3, 4)), np.ones((2, 3, 4))),
    "from_mudata": lambda: datasets.from_mudata(
        {"rna": (cells := datasets.newly_connected(n_obs=4))[:, :9].copy(), "protein": cells[:, 9:].copy()}
    ),
    "from_parcels": lambda: datasets.from_parcels(np.ones((4, 3)), conditions=list("aabb"), subjects=list("stst")),
    "semi_synthetic_pair": lambda: datasets.semi_synthetic_pair(np.ones((4, 5, 6)), np.eye(4, 5)),
}
MADE = {name: lambda name=name: getattr(datasets, name)(**SIMULATED[name]) for name in SIMULATED} | IMPORTED
MADE |= SHIPPED
MADE |= {name: lambda name=name: getattr(datasets, name)(**OF_A_METRIC[name]) for name in OF_A_METRIC}


@pytest.fixture(params=MADE, scope="module")
def adata(request):
    return MADE[request.param]()


def dense(x):
    return x.toarray() if sparse.issparse(x) else np.asarray(x)


def assert_same(ours, theirs):
    np.testing.assert_array_equal(dense(ours.X), dense(theirs.X))
    assert ours.X.dtype == theirs.X.dtype
    for frame in ("obs", "var"):
        left, right = getattr(ours, frame), getattr(theirs, frame)
        assert left.columns.tolist() == right.columns.tolist()
        assert left.index.tolist() == right.index.tolist()
        for column in left:
            assert left[column].tolist() == right[column].tolist()
            if left[column].dtype == "category":
                assert left[column].cat.categories.tolist() == right[column].cat.categories.tolist()
    assert list(ours.uns) == list(theirs.uns)
    for key, slot in ours.uns.items():
        for name, value in slot.items():
            np.testing.assert_array_equal(value, theirs.uns[key][name])
    for store in ("layers", "varp"):
        assert set(getattr(ours, store)) == set(getattr(theirs, store))
        for key, value in getattr(ours, store).items():
            np.testing.assert_array_equal(dense(value), dense(getattr(theirs, store)[key]))


def test_every_public_function_is_tested_here():
    assert {*MADE, *REAL} == set(datasets.__all__)


def test_comes_back_from_h5ad_unchanged(adata, tmp_path):
    adata.write_h5ad(tmp_path / "data.h5ad")
    assert_same(adata, ad.read_h5ad(tmp_path / "data.h5ad"))


@pytest.mark.filterwarnings("ignore:.*zarr v[23]")  # anndata announces the format of its next release
def test_comes_back_from_zarr_unchanged(adata, tmp_path):
    adata.write_zarr(tmp_path / "data.zarr")
    assert_same(adata, ad.read_zarr(tmp_path / "data.zarr"))


def test_conditions_are_categorical_and_names_unique(adata):
    if "hidden" not in adata.obsm:
        condition = adata.obs[next(c for c in CONDITIONS if c in adata.obs)]
        assert condition.dtype == "category"
        assert condition.nunique() == len(condition.cat.categories) >= 2
    assert adata.obs_names.is_unique
    assert adata.var_names.is_unique


def test_values_are_floating_and_finite(adata):
    assert np.issubdtype(adata.X.dtype, np.floating)
    assert np.isfinite(dense(adata.X)).all()


@pytest.mark.parametrize("name", [name for name in SIMULATED if name not in WITHOUT_CONDITIONS])
def test_simulations_have_a_truth_column_for_each_condition(name):
    adata = MADE[name]()
    for condition in adata.obs["condition"].cat.categories:
        truth = adata.var[f"truth_{condition}"]
        assert truth.cat.categories[0] == "background"


@pytest.mark.parametrize("name", [*SIMULATED, *OF_A_METRIC])
def test_simulations_take_keywords_and_a_seed(name):
    parameters = inspect.signature(getattr(datasets, name)).parameters
    positional = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == FIRST.get(name, [])
    assert parameters["random_state"].default == 0
