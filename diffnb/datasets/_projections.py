"""Populations that differ along few directions: simulations for SPARDA."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd

from .._keys import BACKGROUND_GROUP
from ._blocks import Block, assemble, gaussian_toy, require_at_least, require_between, truth_of, with_factor
from ._docs import documented_dataset

DIFFERING_BLOCK = "differing"
#: features of a block of the covariance in Figure 1c of the paper
BLOCK_FEATURES = 3


@documented_dataset
def nuisance_factor(
    *,
    n_obs: int = 500,
    n_features: int = 300,
    n_differing: int = 10,
    n_nuisance: int = 20,
    rho: float = 0.4,
    nuisance: float = 0.8,
    random_state: int = 0,
) -> ad.AnnData:
    r"""Hide a difference in correlation behind a stronger factor that is the same in both conditions.

    With independent :math:`e_j, f, g \sim N(0, 1)`, the first `n_differing` features are :math:`e_j` in A and
    :math:`\sqrt{\rho}\, f + \sqrt{1 - \rho}\, e_j` in B; the next `n_nuisance` are
    :math:`\sqrt{\eta}\, g + \sqrt{1 - \eta}\, e_j` in both, :math:`\eta` being `nuisance`; the others are
    :math:`e_j`. Every feature has mean 0 and variance 1 in both conditions, so that no single
    feature differs, and the leading principal component does not differ between conditions.

    Parameters
    ----------
    {n_obs}
    {n_features}
    n_differing
        Features that are correlated in B only; they come first.
    n_nuisance
        Features that share the factor of both conditions.
    rho
        Correlation of the former, from 0 to 1.
    nuisance
        Correlation of the latter, from 0 to 1.
    {random_state}

    Returns
    -------
    Conditions in `obs["condition"]`; in `var`, `block`, whether a feature differs in `truth`, and `truth_A`,
    `truth_B`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=50)
    >>> adata.var["block"].value_counts(sort=False).to_dict()
    {'differing': 10, 'nuisance': 20, 'noise': 270}
    """
    require_at_least(2, n_obs=n_obs)
    require_at_least(0, n_differing=n_differing, n_nuisance=n_nuisance)
    require_between(0.0, 1.0, rho=rho, nuisance=nuisance)
    n_noise = n_features - n_differing - n_nuisance
    if n_noise < 0 or n_features < 1:
        raise ValueError(
            f"n_features={n_features} is too small for n_differing={n_differing} and n_nuisance={n_nuisance};"
            f" choose at least {max(1, n_differing + n_nuisance)}."
        )
    wanted = [Block(DIFFERING_BLOCK, n_differing, "B"), Block("nuisance", n_nuisance), Block("noise", n_noise)]
    rng = np.random.default_rng(random_state)
    differing, shared = slice(0, n_differing), slice(n_differing, n_differing + n_nuisance)
    matrices = {}
    for condition in "AB":
        x = rng.standard_normal((n_obs, n_features))
        x[:, shared] = with_factor(x[:, shared], nuisance, rng)
        if condition == "B":
            x[:, differing] = with_factor(x[:, differing], rho, rng)
        matrices[condition] = x
    adata = assemble(matrices, [block for block in wanted if block.size])
    adata.var["truth"] = np.arange(n_features) < n_differing
    return adata


@documented_dataset
def differing_block(
    *, n_obs: int = 100, n_features: int = 20, n_differing: int = 3, random_state: int = 0
) -> ad.AnnData:
    r"""Let the covariance of three features differ among many (PDA, Figure 1c).

    Both conditions are Gaussian with mean 0 and a covariance of 3 × 3 blocks :math:`\Sigma = G G^\top`, the
    entries of :math:`G` being :math:`N(0, 1)`: a Wishart draw with three degrees of freedom. The first block
    is drawn separately for A and B, every other one once for both; the last block is truncated to fit. In the
    main text of the paper the first three features differ, but not in mean; covariances and numbers of
    observations are left to its supplement.

    Parameters
    ----------
    {n_obs}
    {n_features}
    n_differing
        Number of features of the block that differs; 0 for two samples of one population.
    random_state
        Seed, of covariances and observations; the same seed gives the same numbers.

    Returns
    -------
    Conditions in `obs["condition"]`; in `var`, `block`, whether a feature differs in `truth`, and `truth_A`,
    `truth_B`; the covariances in `varp["covariance_A"]` and `varp["covariance_B"]`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.differing_block(n_features=6)
    >>> adata.var["truth"].tolist()
    [True, True, True, False, False, False]
    """
    require_at_least(1, n_features=n_features)
    require_between(0, n_features, n_differing=n_differing)
    rng = np.random.default_rng(random_state)
    sizes = [min(BLOCK_FEATURES, n_features - start) for start in range(n_differing, n_features, BLOCK_FEATURES)]
    own = {condition: [_wishart(n_differing, rng)] if n_differing else [] for condition in "AB"}
    shared = [_wishart(size, rng) for size in sizes]
    blocks = [Block(DIFFERING_BLOCK, n_differing)] if n_differing else []
    blocks += [Block(f"shared_{i + 1}", size) for i, size in enumerate(sizes)]
    covariances = {condition: [*own[condition], *shared] for condition in "AB"}
    adata = gaussian_toy(blocks, covariances, n_obs=n_obs, scale=1.0, rng=rng)
    adata.var["truth"] = np.arange(n_features) < n_differing
    # the differing block is particular to both conditions
    both = truth_of("A", [Block(b.name, b.size, "A" if b.name == DIFFERING_BLOCK else "") for b in blocks])
    adata.var["truth_A"] = adata.var["truth_B"] = pd.Categorical(both, categories=[BACKGROUND_GROUP, DIFFERING_BLOCK])
    return adata


def _wishart(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a Wishart matrix with 3 degrees of freedom, or as many as a larger block needs to be regular."""
    root = rng.standard_normal((size, max(BLOCK_FEATURES, size)))
    return np.asarray(root @ root.T)
