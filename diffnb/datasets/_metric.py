"""Observations of hidden points: simulations for the informed Mahalanobis distance."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from ._blocks import numbered_names, require_at_least, require_between
from ._docs import documented_simulation

#: means of the rows of A in Section 3.3 of the paper, one row per cluster
SQUARE_MEANS = np.array([[1 / 3, 1.0], [1 / 3, -1.0], [-1.0, -3.0]])
SQUARE_SD = 0.1
#: size of the smallest cluster of `two_types` relative to the largest, and x of its mean
MIN_CLUSTER_SHARE = 3 / 7
MIN_CLUSTER_X = 0.2
#: standard deviation of the loadings within a cluster of `curved_square`
LOADING_SD = 0.1
HIDDEN_KEY = "hidden"


def hidden_square(*, n_obs: int = 500, n_features: int = 1200, random_state: int = 0) -> ad.AnnData:
    r"""Observe points of a square through a linear map with three clusters of rows (Lahav et al., Section 3.3).

    Hidden points :math:`x` are uniform in the unit square, observations :math:`c = A x`. The rows of
    :math:`A` are Gaussian with covariance .01 I around (1/3, 1), (1/3, −1) and (−1, −3), a third of the
    features each.

    Parameters
    ----------
    n_obs
        Number of observations.
    n_features
        Number of all features, divided into three clusters of equal size as far as possible.
    random_state
        Seed, of the map and of the points; the same seed gives the same numbers.

    Returns
    -------
    Hidden points in `obsm["hidden"]`, the `cluster` of each feature in `var`, and the map in `varm["map"]`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.hidden_square(n_obs=50)
    >>> adata.obsm["hidden"].shape
    (50, 2)
    """
    require_at_least(2, n_obs=n_obs)
    require_at_least(3, n_features=n_features)
    rng = np.random.default_rng(random_state)
    sizes = _sizes(np.ones(3), n_features)
    labels = np.repeat(np.arange(3), sizes)
    rows = SQUARE_MEANS[labels] + SQUARE_SD * rng.standard_normal((n_features, 2))
    hidden = rng.uniform(size=(n_obs, 2))
    adata = _with_clusters(hidden @ rows.T, labels)
    adata.obsm[HIDDEN_KEY] = hidden
    adata.varm["map"] = rows
    return adata


@documented_simulation
def two_types(
    *,
    n_obs: int = 100,
    n_features: int = 900,
    n_clusters: int = 18,
    rho: float = 0.6,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Draw samples of two types over clusters of correlated features (Lahav et al., Section 5).

    A sample is of type A or B with equal probability. Features of a cluster have variance 1 and covariance
    :math:`\rho`, those of different clusters none; the mean of cluster :math:`k` is :math:`5 + 5 x_k^4` in A
    and :math:`5 - 5 x_k^4` in B, with :math:`x` from .2 to 1 in equal steps. Cluster sizes grow evenly, the
    last 7/3 of the first. Means, ρ and the use of different sizes follow the authors' code; the sizes themselves
    are ours.

    Parameters
    ----------
    n_obs
        Number of samples of both types together.
    n_features
    n_clusters
        Number of clusters of features.
    rho
        Covariance within a cluster, from 0 to 1.
    random_state

    Returns
    -------
    The type in `obs["condition"]`, `cluster` of each feature in `var`, and the covariance of all samples
    (Eq. 50) in `varp["covariance"]`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_types(n_obs=40)
    >>> adata.var["cluster"].nunique()
    18
    """
    require_at_least(2, n_obs=n_obs)
    require_at_least(1, n_clusters=n_clusters)
    require_at_least(2 * n_clusters, n_features=n_features)
    require_between(0.0, 1.0, rho=rho)
    rng = np.random.default_rng(random_state)
    sizes = _sizes(np.linspace(MIN_CLUSTER_SHARE, 1.0, n_clusters), n_features)
    labels = np.repeat(np.arange(n_clusters), sizes)
    apart = 5 * np.linspace(MIN_CLUSTER_X, 1.0, n_clusters) ** 4
    is_a = rng.random(n_obs) < 0.5
    means = 5 + np.where(is_a[:, None], apart, -apart)
    shared = np.sqrt(rho) * rng.standard_normal((n_obs, n_clusters))
    own = np.sqrt(1 - rho) * rng.standard_normal((n_obs, n_features))
    adata = _with_clusters((means + shared)[:, labels] + own, labels)
    adata.obs["condition"] = pd.Categorical(np.where(is_a, "A", "B"), categories=["A", "B"])
    blocks = block_diag(*(np.full((s, s), rho) for s in sizes))
    adata.varp["covariance"] = blocks + (1 - rho) * np.eye(n_features) + np.outer(apart[labels], apart[labels])
    return adata


@documented_simulation
def curved_square(
    *,
    n_obs: int = 500,
    n_features: int = 300,
    noise: float = 1.0,
    bend: float = 0.5,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Observe points of a square through a nonlinear map with six clusters of features, and noise.

    Hidden points :math:`x` are uniform in the unit square. Each cluster of features follows one of
    :math:`\sin(b\pi x_1), \cos(b\pi x_1), \sin(b\pi x_2), \cos(b\pi x_2), x_1 x_2, x_1^2 - x_2^2`, three
    times each, with loadings :math:`N(1, .1^2)` and independent noise. The local metric should recover the
    distances between nearby hidden points; the paper has no such simulation.

    Parameters
    ----------
    n_obs
        Number of observations.
    n_features
    noise
        Standard deviation of the noise.
    bend
        Curvature of the surface, the *b* above.
    random_state

    Returns
    -------
    Hidden points in `obsm["hidden"]` and `cluster` of each feature in `var`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.curved_square(n_obs=100)
    >>> adata.var["cluster"].nunique()
    6
    """
    require_at_least(2, n_obs=n_obs)
    require_at_least(6, n_features=n_features)
    require_at_least(0.0, noise=noise)
    rng = np.random.default_rng(random_state)
    hidden = rng.uniform(size=(n_obs, 2))
    first, second = hidden.T
    turn = bend * np.pi
    profiles = 3 * np.stack(
        [
            np.sin(turn * first),
            np.cos(turn * first),
            np.sin(turn * second),
            np.cos(turn * second),
            first * second,
            first**2 - second**2,
        ],
        axis=1,
    )
    labels = np.repeat(np.arange(6), _sizes(np.ones(6), n_features))
    loadings = 1 + LOADING_SD * rng.standard_normal(n_features)
    x = profiles[:, labels] * loadings + noise * rng.standard_normal((n_obs, n_features))
    adata = _with_clusters(x, labels)
    adata.obsm[HIDDEN_KEY] = hidden
    return adata


def _sizes(shares: np.ndarray, total: int) -> np.ndarray:
    """Integers in proportion to `shares` that sum to `total`."""
    edges = np.round(np.cumsum(shares) / np.sum(shares) * total).astype(int)
    return np.diff(edges, prepend=0)


def _with_clusters(x: np.ndarray, labels: np.ndarray) -> ad.AnnData:
    names = numbered_names(["cluster"], [int(labels.max()) + 1])
    var = pd.DataFrame(
        {"cluster": pd.Categorical.from_codes(labels, names)}, index=numbered_names(["feature"], [labels.size])
    )
    return ad.AnnData(x, obs=pd.DataFrame(index=numbered_names(["sample"], [len(x)])), var=var)
