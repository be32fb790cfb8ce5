"""Populations that differ along few directions: the problems that SPARDA is tried on."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd

from ._blocks import BACKGROUND, Block, assemble, gaussian_toy, require_at_least, require_between, truth_of

DIFFERING = "differing"
#: features that share a covariance in the paper's Figure 1c
BLOCK_SIZE = 3


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
    :math:`e_j`. Every feature has mean 0 and variance 1 in both conditions, so that no feature differs by
    itself, and the leading principal component is of no interest.

    Parameters
    ----------
    n_obs
        Observations in each condition.
    n_features
        All features.
    n_differing
        Features that are correlated in B only; they come first.
    n_nuisance
        Features that share the factor of both conditions.
    rho
        Correlation of the former, from 0 to 1.
    nuisance
        Correlation of the latter, from 0 to 1.
    random_state
        Seed; the same seed gives the same numbers.

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
            f" take at least {max(1, n_differing + n_nuisance)}."
        )
    wanted = [Block(DIFFERING, n_differing, "B"), Block("nuisance", n_nuisance), Block("noise", n_noise)]
    rng = np.random.default_rng(random_state)
    differing, shared = slice(0, n_differing), slice(n_differing, n_differing + n_nuisance)
    matrices = {}
    for condition in "AB":
        x = rng.standard_normal((n_obs, n_features))
        x[:, shared] = _with_factor(x[:, shared], nuisance, rng)
        if condition == "B":
            x[:, differing] = _with_factor(x[:, differing], rho, rng)
        matrices[condition] = x
    adata = assemble(matrices, [block for block in wanted if block.size])
    adata.var["truth"] = np.arange(n_features) < n_differing
    return adata


def differing_block(
    *, n_obs: int = 100, n_features: int = 20, n_differing: int = 3, random_state: int = 0
) -> ad.AnnData:
    r"""Let the covariance of three features differ among many (PDA, Figure 1c).

    Both conditions are Gaussian with mean 0 and a covariance of 3 × 3 blocks :math:`\Sigma = G G^\top`, the
    entries of :math:`G` being :math:`N(0, 1)`: a Wishart draw with three degrees of freedom. The first block
    is drawn for A and B by themselves, every other one for both together; a last block that does not fit is
    cut. The main text of the paper says that the first three features differ, and not in mean; it leaves
    covariances and numbers of observations to its supplement.

    Parameters
    ----------
    n_obs
        Observations in each condition.
    n_features
        All features.
    n_differing
        Features of the block that differs; 0 for two samples of one population.
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
    sizes = [min(BLOCK_SIZE, n_features - start) for start in range(n_differing, n_features, BLOCK_SIZE)]
    own = {condition: [_wishart(n_differing, rng)] if n_differing else [] for condition in "AB"}
    shared = [_wishart(size, rng) for size in sizes]
    blocks = [Block(DIFFERING, n_differing)] if n_differing else []
    blocks += [Block(f"shared_{i + 1}", size) for i, size in enumerate(sizes)]
    covariances = {condition: [*own[condition], *shared] for condition in "AB"}
    adata = gaussian_toy(blocks, covariances, n_obs=n_obs, scale=1.0, rng=rng)
    adata.var["truth"] = np.arange(n_features) < n_differing
    # such a block is particular to both
    both = truth_of("A", [Block(b.name, b.size, "A" if b.name == DIFFERING else "") for b in blocks])
    adata.var["truth_A"] = adata.var["truth_B"] = pd.Categorical(both, categories=[BACKGROUND, DIFFERING])
    return adata


def _with_factor(noise: np.ndarray, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Add one factor so that features correlate by `rho` and keep their variance."""
    return np.asarray(np.sqrt(rho) * rng.standard_normal((len(noise), 1)) + np.sqrt(1 - rho) * noise)


def _wishart(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a Wishart matrix of 3 degrees of freedom, or of as many as a larger block needs to be regular."""
    root = rng.standard_normal((size, max(BLOCK_SIZE, size)))
    return np.asarray(root @ root.T)
