"""Shared parts of the simulations: Gaussian blocks of features, and the AnnData that holds them and their truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anndata as ad
import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.stats import ortho_group

from .._keys import BACKGROUND_GROUP

#: standard deviation of a feature that belongs to no group
NOISE_SD = 0.8


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive features with one covariance.

    `owner` is the condition that the connectivity of the block is particular to, empty if it is to none.
    """

    name: str
    size: int
    owner: str = ""


def require_at_least(minimum: float, **arguments: float) -> None:
    """Raise a `ValueError` that names the first argument below `minimum`."""
    for name, value in arguments.items():
        if not value >= minimum:
            raise ValueError(f"{name}={value!r} is too small; {name} must be at least {minimum}.")


def require_between(low: float, high: float, **arguments: float) -> None:
    """Raise a `ValueError` that names the first argument outside [`low`, `high`]."""
    for name, value in arguments.items():
        if not low <= value <= high:
            raise ValueError(f"{name}={value!r} is out of range; {name} must be between {low} and {high}.")


def decaying_eigenvalues(size: int, *, decay: float = 1.0) -> np.ndarray:
    """Return λ_i ∝ exp(−i·decay), scaled to sum to `size`."""
    eigenvalues = np.exp(-decay * np.arange(size))
    return np.asarray(eigenvalues * (size / eigenvalues.sum()))


def correlated_covariance(basis: np.ndarray, *, decay: float = 1.0) -> np.ndarray:
    """Covariance C Cᵀ with C = |V diag(λ) Vᵀ| taken entry by entry, V being `basis`.

    The faster λ decays, the closer the covariance is to that of a single factor; without decay it is the identity.
    """
    root = np.abs((basis * decaying_eigenvalues(len(basis), decay=decay)) @ basis.T)
    return np.asarray(root @ root.T)


def random_covariance(size: int, rng: np.random.Generator) -> np.ndarray:
    """Covariance of a correlated block in a random orthogonal basis."""
    return correlated_covariance(random_basis(size, rng))


def random_basis(size: int, rng: np.random.Generator) -> np.ndarray:
    """Uniformly distributed orthogonal matrix."""
    return np.asarray(ortho_group.rvs(size, random_state=rng))


def noise_covariance(size: int) -> np.ndarray:
    """Covariance of independent features."""
    return NOISE_SD**2 * np.eye(size)


def draw_gaussian(covariance: np.ndarray, n_obs: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussian observations Z Σ^½ with the symmetric square root of `covariance`."""
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(rng.standard_normal((n_obs, len(covariance))) @ root)


def with_factor(noise: np.ndarray, rho: float, rng: np.random.Generator) -> np.ndarray:
    """Add one factor so that features have correlation `rho` and unchanged variance."""
    return np.asarray(np.sqrt(rho) * rng.standard_normal((len(noise), 1)) + np.sqrt(1 - rho) * noise)


def gaussian_toy(
    blocks: Sequence[Block],
    covariances: Mapping[str, Sequence[np.ndarray]],
    *,
    n_obs: int,
    scale: float,
    rng: np.random.Generator,
) -> ad.AnnData:
    """Draw every condition from its block covariances, and store these as truth in `varp`."""
    require_at_least(2, n_obs=n_obs)
    matrices = {
        condition: scale * np.hstack([draw_gaussian(sigma, n_obs, rng) for sigma in sigmas])
        for condition, sigmas in covariances.items()
    }
    adata = assemble(matrices, blocks)
    for condition, sigmas in covariances.items():
        adata.varp[f"covariance_{condition}"] = scale**2 * block_diag(*sigmas)
    return adata


def assemble(matrices: Mapping[str, np.ndarray], blocks: Sequence[Block]) -> ad.AnnData:
    """Stack one matrix per condition; write the block and the truth of each feature to `var`."""
    conditions = list(matrices)
    n_obs = [len(matrix) for matrix in matrices.values()]
    n_features = sum(block.size for block in blocks)
    obs = pd.DataFrame(
        {"condition": pd.Categorical(np.repeat(conditions, n_obs), categories=conditions)},
        index=numbered_names(conditions, n_obs),
    )
    var = pd.DataFrame({"block": spread_over_features(blocks)}, index=numbered_names(["feature"], [n_features]))
    for condition in conditions:
        var[f"truth_{condition}"] = truth_of(condition, blocks)
    return ad.AnnData(np.concatenate(list(matrices.values())), obs=obs, var=var)


def numbered_names(prefixes: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Names such as `A_001`, counted from one as in the papers, with leading zeros so that they sort."""
    return [
        f"{prefix}_{i:0{len(str(count))}d}"
        for prefix, count in zip(prefixes, counts, strict=True)
        for i in range(1, count + 1)
    ]


def spread_over_features(blocks: Sequence[Block]) -> pd.Categorical:
    """Name of the block of each feature."""
    names = [block.name for block in blocks]
    labels = np.repeat(names, [block.size for block in blocks])
    return pd.Categorical(labels, categories=list(dict.fromkeys(names)))


def truth_of(condition: str, blocks: Sequence[Block]) -> pd.Categorical:
    """Group of each feature that is particular to `condition`, background for all others."""
    names = [block.name if block.owner == condition else BACKGROUND_GROUP for block in blocks]
    labels = np.repeat(names, [block.size for block in blocks])
    own = [name for name in names if name != BACKGROUND_GROUP]
    return pd.Categorical(labels, categories=[BACKGROUND_GROUP, *own])
