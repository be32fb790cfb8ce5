"""Two moons among nuisance features: the structure is in two features only."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from ._docs import documented_simulation


@documented_simulation
def two_moons(
    n_nuisance: int = 10,
    *,
    n_obs: int = 100,
    noise: float = 0.05,
    random_state: int = 0,
) -> AnnData:
    """Simulate two interleaved half circles in two features, and Gaussian noise in all others.

    Neither of the two features separates the moons alone, and in the space of all features noise dominates: a
    method has to select the two features to find the structure.

    Parameters
    ----------
    n_nuisance
        Number of features of standard normal noise.
    n_obs
        Number of observations, half of them (rounded down) in the second moon.
    noise
        Standard deviation of the noise around the half circles.
    random_state

    Returns
    -------
    Observations × features; `obs["moon"]` holds the moon, `var["truth"]` the two features that determine it.

    References
    ----------
    The two-moons experiment of Lindenbaum et al., *Differentiable Unsupervised Feature Selection based on a Gated
    Laplacian*, NeurIPS 2021; `n_obs` and `noise` as in the authors' example.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(20)
    >>> adata.shape, int(adata.var["truth"].sum())
    ((100, 22), 2)
    """
    validate.count("n_nuisance", n_nuisance, at_least=0)
    validate.count("n_obs", n_obs, at_least=4)
    if not noise >= 0:
        raise ValueError(f"noise={noise!r} must be 0 or larger: it is a standard deviation.")
    rng = np.random.default_rng(validate.seed(random_state))
    second = np.arange(n_obs) >= n_obs - n_obs // 2
    # evenly along each half circle, so that only the noise and the other features are random
    angle = np.concatenate([np.linspace(0, np.pi, int(k)) for k in ((~second).sum(), second.sum())])
    moons = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    moons[second] = np.array([1.0, 0.5]) - moons[second]
    moons += noise * rng.standard_normal(moons.shape)
    x = np.hstack([moons, rng.standard_normal((n_obs, n_nuisance))])
    obs = pd.DataFrame(
        {"moon": pd.Categorical(np.where(second, "lower", "upper"), categories=["upper", "lower"])},
        index=[f"observation_{i}" for i in range(n_obs)],
    )
    names = ["moon_x", "moon_y", *(f"nuisance_{j}" for j in range(n_nuisance))]
    return AnnData(x, obs=obs, var=pd.DataFrame({"truth": np.arange(len(names)) < 2}, index=names))
