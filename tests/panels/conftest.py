from __future__ import annotations

import threading

import pandas as pd
import pytest

import diffnb as dn


@pytest.fixture(scope="package")
def computed():
    """The toy of the paper after DiSC."""
    adata = dn.datasets.newly_connected(n_obs=100)
    dn.tl.disc(adata, "condition", n_components=3, n_clusters=3)
    dn.tl.meta_features(adata)
    return adata


@pytest.fixture
def toy(computed):
    """A copy of it for one test."""
    return computed.copy()


@pytest.fixture
def fresh():
    return dn.datasets.newly_connected(n_obs=60)


@pytest.fixture
def positive():
    """Few features without negative values, for which scanpy's fold changes are undefined."""
    adata = dn.datasets.nuisance_factor(n_obs=60, n_features=40)
    adata.X = abs(adata.X)
    return adata


EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture
def hostile(fresh):
    """Names that are markup, end strings or look like mathematics."""
    odd = [EVIL, '"); import os; (("', "'''", "$x$", "a\nb", "\\", "</script><script>alert(2)</script>", "\u202egnp"]
    fresh.var_names = pd.Index([f"{odd[i % len(odd)]}{i}" for i in range(fresh.n_vars)])
    fresh.obs["condition"] = fresh.obs["condition"].cat.rename_categories({"A": EVIL, "B": "'); raise Exception('"})
    fresh.obs[EVIL] = fresh.obs["condition"].astype(str).to_numpy()
    return fresh


@pytest.fixture(autouse=True)
def no_thread_stays():
    yield
    left = [t for t in threading.enumerate() if t.name.startswith("diffnb-panel") and t.is_alive()]
    for thread in left:
        thread.join(20)
    assert not [t for t in left if t.is_alive()]


@pytest.fixture
def run():
    """Run a panel to its end."""

    def go(panel, **settings):
        panel.set(**settings)
        panel.run()
        assert panel.wait(120)
        return panel

    return go
